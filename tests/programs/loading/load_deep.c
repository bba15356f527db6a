// A program without HIP opens a HIP plug-in with RTLD_DEEPBIND: its calls bind to its own libraries
// first.
//   load_deep           HIP comes with the plug-in, and is bound as deeply
//   load_deep first     HIP was opened before, as usual
// link: none
#include "plugin.h"

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1 && !dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL))
        return fprintf(stderr, "%s\n", dlerror()), 1;
    printf("failed %d\n", run_plugin(open_plugin(RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND), 5));
    return 0;
}
