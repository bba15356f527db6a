// A program linked to the system's HIP opens a plug-in with a wheel's copy: the global scope comes
// first, so without RTLD_DEEPBIND (two_copies_linked deep) the plug-in's calls reach the system's
// copy.
// link: amdhip64
// kernel: 0 of_the_program of_the_program -
#include "plugin.h"
#include "two_copies_linked.fatbin.h"

int main(int argc, char **argv)
{
    void *wheel = open_beside("plugin_wheel.so", RTLD_NOW | RTLD_LOCAL | (argc > 1 && !strcmp(argv[1], "deep") ? RTLD_DEEPBIND : 0));
    int failed = 0;
    for (int i = 1; i <= 4; i++) {
        failed += run_plugin(wheel, i);
        failed += !!hipLaunchKernel(&of_the_program, (dim3){i, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL);
    }
    printf("failed %d\n", failed);
    return 0;
}
