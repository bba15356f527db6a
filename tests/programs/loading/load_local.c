// A program without HIP opens a HIP plug-in with RTLD_NOW | RTLD_LOCAL, as ggml and CPython do.
// link: none
#include "plugin.h"

int main(void)
{
    printf("failed %d\n", run_plugin(open_plugin(RTLD_NOW | RTLD_LOCAL), 5));
    return 0;
}
