// Matmuls of hipBLASLt that differ in one thing each: how many results the heuristic may return,
// the workspace, the alignment of the pointers, which result the program takes.
// link: amdhip64 hipblaslt
#include "../api/hipblaslt_ext.h"
#include <stdio.h>

enum { BYTES = 4 << 20, ROOM = 64 << 20, MOST = 1024 };
enum take { FIRST, SECOND, HUNGRIEST };

static const struct choice {
    const char *name;
    int requested;
    size_t room, offset;
    enum take take;
} CHOICES[] = {
    {"1 result", 1, 0, 0, FIRST},
    {"128 results", 128, 0, 0, FIRST},
    {"the second of 128", 128, 0, 0, SECOND},
    {"64 MiB", 128, ROOM, 0, FIRST},
    {"misaligned", 1, 0, 2, FIRST},
    {"all, no workspace", MOST, 0, 0, HUNGRIEST},
    {"all, 64 MiB", MOST, ROOM, 0, HUNGRIEST},
};

static hipblasLtHandle_t handle;
static char *a, *b, *c, *workspace;

// The result that needs the most workspace.
static int hungriest(const hipblasLtMatmulHeuristicResult_t *results, int count)
{
    int most = 0;
    for (int i = 1; i < count; i++)
        if (results[i].workspaceSize > results[most].workspaceSize) most = i;
    return most;
}

static void multiply(const struct choice *choice, hipDataType type, int m, int n, int k)
{
    static hipblasLtMatmulHeuristicResult_t results[MOST];
    const float one = 1, zero = 0;
    const hipblasOperation_t transposed = HIPBLAS_OP_T;
    hipblasLtMatrixLayout_t a_layout, b_layout, c_layout;
    hipblasLtMatmulPreference_t preference;
    hipblasLtMatmulDesc_t product;
    int count = 0;
    hipblasLtMatrixLayoutCreate(&a_layout, type, k, m, k);
    hipblasLtMatrixLayoutCreate(&b_layout, type, k, n, k);
    hipblasLtMatrixLayoutCreate(&c_layout, type, m, n, m);
    hipblasLtMatmulDescCreate(&product, HIPBLAS_COMPUTE_32F, HIP_R_32F);
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(int32_t));
    hipblasLtMatmulPreferenceCreate(&preference);
    hipblasLtMatmulPreferenceSetAttribute(preference, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &choice->room, sizeof choice->room);
    hipblasLtMatmulAlgoGetHeuristic(handle, product, a_layout, b_layout, c_layout, c_layout, preference, choice->requested, results, &count);
    int take = choice->take == HUNGRIEST ? hungriest(results, count) : choice->take == SECOND;
    char *to = c + choice->offset;
    int status = hipblasLtMatmul(handle, product, &one, a + choice->offset, a_layout, b + choice->offset, b_layout, &zero, to, c_layout, to, c_layout, &results[take].algo, workspace, choice->room, NULL);
    printf("%s: %d results, %d runs, needs %zu: %d\n", choice->name, count, hipblaslt_ext_getIndexFromAlgo(&results[take].algo), results[take].workspaceSize, status);
    hipblasLtMatmulPreferenceDestroy(preference), hipblasLtMatmulDescDestroy(product);
    hipblasLtMatrixLayoutDestroy(a_layout), hipblasLtMatrixLayoutDestroy(b_layout), hipblasLtMatrixLayoutDestroy(c_layout);
}

int main(void)
{
    hipMalloc((void **)&a, BYTES), hipMalloc((void **)&b, BYTES), hipMalloc((void **)&c, BYTES);
    hipMalloc((void **)&workspace, ROOM);
    if (hipblasLtCreate(&handle)) return 1;
    for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES; i++) {
        // With 8-bit integers some algorithms for such sizes need workspace on gfx1201.
        if (CHOICES[i].take == HUNGRIEST) multiply(&CHOICES[i], HIP_R_8I, 513, 257, 259);
        else multiply(&CHOICES[i], HIP_R_16F, 512, 16, 256);
    }
    hipDeviceSynchronize();
    hipblasLtDestroy(handle);
    return 0;
}
