// A program without HIP opens a HIP plug-in with RTLD_DEEPBIND: its calls go to its own libraries first.
// link: none
#include "plugin.h"

int main(void)
{
    printf("failed %d\n", run_plugin(open_plugin(RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND), 5));
    return 0;
}
