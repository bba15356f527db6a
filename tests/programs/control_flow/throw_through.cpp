// A C++ exception thrown inside a launch unwinds through it to the caller, also through a GEMM, and
// launching continues.
// link: amdhip64 rocblas
// kernel: 0 thrower _Z7throwerv -
#include "throw_through.fatbin.h"
extern "C" {
#include "rocblas.h"
}
#include <cstdio>
#include <stdexcept>

static int destroyed;
struct Witness {
    ~Witness() { destroyed++; }
};

static void throw_it(void *what)
{
    Witness witness;
    throw std::runtime_error(static_cast<const char *>(what));
}

static int launch() { return hipLaunchKernel(&thrower, {1, 1, 1}, {64, 1, 1}, nullptr, 0, nullptr); }

int main()
{
    static char from_launch[] = "from a launch", from_gemm[] = "from a GEMM";
    float one = 1, zero = 0, matrix[64] = {};
    rocblas_handle handle;
    rocblas_create_handle(&handle);
    printf("before: %d\n", launch());
    for (int i = 0; i < 3; i++) {
        standin_on_launch(throw_it, from_launch);
        try {
            Witness witness;
            printf("not reached %d\n", launch());
        } catch (const std::exception &e) {
            printf("caught: %s\n", e.what());
        }
        standin_on_launch(throw_it, from_gemm);
        try {
            printf("not reached %d\n", rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, 8, 8, 8, &one, matrix, 8, matrix, 8, &zero, matrix, 8));
        } catch (const std::exception &e) {
            printf("caught: %s\n", e.what());
        }
        standin_on_launch(nullptr, nullptr);
        printf("after: %d\n", launch());
    }
    printf("destroyed %d\n", destroyed);
    return 0;
}
