// Launches as hipcc wrote them before 2020: hipConfigureCall, hipSetupArgument, hipLaunchByPtr.
// link: amdhip64
// kernel: 0 add _Z3addPfS_i ppi
// kernel: 0 plain _Z5plainv -
#include "by_ptr.fatbin.h"
#include <stdio.h>

int main(void)
{
    void *x = NULL;
    static char never_registered;
    int n = 7, failed = 0;
    for (int i = 1; i <= 10; i++) {
        failed += !!hipConfigureCall((dim3){i, 2, 1}, (dim3){64, 1, 1}, 128 * i, NULL);
        failed += !!hipSetupArgument(&x, 8, 0) + !!hipSetupArgument(&x, 8, 8) + !!hipSetupArgument(&n, 4, 16);
        failed += !!hipLaunchByPtr(&add);
        failed += !!hipLaunchKernel(&plain, (dim3){1, i, 1}, (dim3){32, 1, 1}, NULL, 0, NULL);
    }
    hipConfigureCall((dim3){1, 1, 1}, (dim3){64, 1, 1}, 0, NULL);
    printf("failed %d, of no kernel %d", failed, hipLaunchByPtr(&never_registered));
    printf(", without a configuration %d\n", hipLaunchByPtr(&add));
    return 0;
}
