// A GEMM of each type and transposition, with the number of solutions that rocBLAS has for it. Each
// type has an m of its own.
// link: amdhip64 rocblas
#include "../api/rocblas.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As in rocblas-types.h; the stand-ins do without some of them.
enum { F16 = 150, F32 = 151, F64 = 152, F32C = 154, F64C = 155, I8 = 160, I32 = 162, BF16 = 168 };

static const struct { const char *name; int m, in, out, compute; } TYPES[] = {
    {"f16", 129, F16, F16, F16}, {"f16/f32", 137, F16, F16, F32}, {"bf16/f32", 145, BF16, BF16, F32},
    {"f16>f32", 153, F16, F32, F32}, {"f32", 161, F32, F32, F32}, {"f64", 169, F64, F64, F64},
    {"f32c", 177, F32C, F32C, F32C}, {"i8/i32", 185, I8, I32, I32},
};

// argv[1]: only the type of this name.
int main(int argc, char **argv)
{
    const rocblas_operation operations[] = {rocblas_operation_none, rocblas_operation_transpose};
    const int n = 72, k = 96;
    rocblas_handle handle;
    // One, in every type that alpha and beta may have.
    double scalar[2] = {1, 0};
    float single[2] = {1, 0};
    int whole = 1;
    uint16_t half = 0x3c00;
    void *a, *b, *c;
    hipMalloc(&a, 1 << 20), hipMalloc(&b, 1 << 20), hipMalloc(&c, 1 << 20);
    if (rocblas_create_handle(&handle)) return 1;
    for (unsigned type = 0; type < sizeof TYPES / sizeof *TYPES; type++) {
        if (argc > 1 && strcmp(argv[1], TYPES[type].name)) continue;
        const int m = TYPES[type].m, compute = TYPES[type].compute;
        const rocblas_datatype in = TYPES[type].in, out = TYPES[type].out;
        const void *one = compute == F16 ? (void *)&half : compute == I32 ? (void *)&whole :
                          compute == F32 || compute == F32C ? (void *)single : (void *)scalar;
        for (int at = 0; at < 4; at++) {
            const rocblas_operation left = operations[at / 2], right = operations[at % 2];
            const int lda = at / 2 ? k : m, ldb = at % 2 ? n : k;
            rocblas_int count = -1;
            int status = rocblas_gemm_ex(handle, left, right, m, n, k, one, a, in, lda, b, in, ldb, one, c, out, m, c, out, m, compute, 0, 0, 0);
            rocblas_gemm_ex_get_solutions(handle, left, right, m, n, k, one, a, in, lda, b, in, ldb, one, c, out, m, c, out, m, compute, 0, 0, NULL, &count);
            printf("%c%c %dx%dx%d %d %d\n", "NT"[at / 2], "NT"[at % 2], m, n, k, status, count);
            fflush(stdout);
        }
    }
    hipDeviceSynchronize();
    rocblas_destroy_handle(handle);
    return 0;
}
