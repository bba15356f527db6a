// A program without HIP opens a HIP plug-in with RTLD_LAZY | RTLD_GLOBAL.
// link: none
#include "plugin.h"

int main(void)
{
    printf("failed %d\n", run_plugin(open_plugin(RTLD_LAZY | RTLD_GLOBAL), 5));
    return 0;
}
