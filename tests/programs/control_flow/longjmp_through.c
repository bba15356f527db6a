// A longjmp out of a launch, and out of a launch inside a GEMM; launching continues, far more often
// than calls may nest.
// link: amdhip64 rocblas
// kernel: 0 jumper _Z6jumperv -
#include "longjmp_through.fatbin.h"
#include "rocblas.h"
#include <setjmp.h>
#include <stdio.h>

static jmp_buf out;
static void jump(void *arg) { (void)arg, longjmp(out, 1); }
static int launch(void) { return hipLaunchKernel(&jumper, (dim3){1, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL); }

int main(void)
{
    static float one = 1, zero = 0, matrix[64];
    static volatile int jumps, i;
    static rocblas_handle handle;
    rocblas_create_handle(&handle);
    printf("before: %d\n", launch());
    for (i = 0; i < 200; i++) {
        standin_on_launch(jump, NULL);
        if (!setjmp(out)) {
            if (i % 2)
                rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, 8, 8, 8, &one, matrix, 8, matrix, 8, &zero, matrix, 8);
            else
                launch();
            puts("not reached");
        } else {
            jumps++;
        }
        standin_on_launch(NULL, NULL);
        if (launch())
            puts("failed");
    }
    printf("jumps %d, after: %d\n", jumps, launch());
    return 0;
}
