// A fat binary is registered, launched from, unregistered, and registered again under the same host
// stubs.
// link: amdhip64
// kernel: 0 here _Z4herev -
// kernel: 1 there _Z5therev -
#define FATBIN_BY_HAND
#include "unregister.fatbin.h"
#include <stdio.h>

static void launch(const char *when)
{
    dim3 one = {1, 1, 1}, block = {64, 1, 1};
    printf("%s: %d", when, hipLaunchKernel(&here, one, block, NULL, 0, NULL));
    printf(" %d\n", hipLaunchKernel(&there, one, block, NULL, 0, NULL));
}

int main(void)
{
    launch("before");
    hip_register();
    launch("registered");
    hip_unregister();
    launch("unregistered");
    hip_register();
    launch("again");
    hip_unregister();
    return 0;
}
