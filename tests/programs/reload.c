// A plug-in is opened, run and closed three times: its kernels, and HIP itself when nothing holds it, go and come back.
// link: none
#include "plugin.h"

int main(void)
{
    for (int i = 1; i <= 3; i++) {
        void *plugin = open_plugin(RTLD_NOW | RTLD_LOCAL);
        printf("time %d: failed %d", i, run_plugin(plugin, i));
        printf(", closed %d\n", dlclose(plugin));
    }
    return 0;
}
