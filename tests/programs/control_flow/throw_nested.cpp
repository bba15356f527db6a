// Exceptions through launches inside launches inside GEMMs, caught at every depth in turn; and
// jumps at the same places.
// link: amdhip64 rocblas
// kernel: 0 nested _Z6nestedv -
#include "throw_nested.fatbin.h"
extern "C" {
#include "rocblas.h"
}
#include <csetjmp>
#include <cstdio>

static int depth, catch_at, deepest, caught, jumped;
static bool jumping;
static jmp_buf out;
static rocblas_handle handle;

static int launch() { return hipLaunchKernel(reinterpret_cast<const void *>(&nested), {1, 1, 1}, {64, 1, 1}, nullptr, 0, nullptr); }

static int gemm()
{
    static float one = 1, zero = 0, matrix[64];
    return rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, 8, 8, 8, &one, matrix, 8, matrix, 8, &zero, matrix, 8);
}

static void callback(void *)
{
    int own = ++depth;
    if (own >= deepest) {
        depth = 0;
        if (jumping)
            longjmp(out, 1);
        throw own;
    }
    try {
        own % 2 ? launch() : gemm();
    } catch (int from) {
        if (own != catch_at)
            throw;
        caught += from;
    }
}

int main()
{
    rocblas_create_handle(&handle);
    for (deepest = 1; deepest < 12; deepest++)
        for (catch_at = 0; catch_at < deepest; catch_at++) {
            standin_on_launch(callback, nullptr);
            depth = 0, jumping = false;
            try {
                deepest % 2 ? launch() : gemm();
            } catch (int from) {
                caught += 100 * from;
            }
            depth = 0, jumping = true;
            if (!setjmp(out))
                deepest % 2 ? gemm() : launch();
            else
                jumped++;
            standin_on_launch(nullptr, nullptr);
            if (launch())
                puts("failed");
        }
    printf("caught %d, jumped %d, after: %d\n", caught, jumped, launch());
    return 0;
}
