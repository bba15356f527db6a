// libMIOpen stand-in: every convolution has two solvers, a naive kernel of MIOpen's and a rocBLAS
// GEMM.
#include "miopen_descriptors.h"

static const uint64_t NAIVE[] = {85, 86, 87};      // ConvDirectNaiveConv{Fwd,Bwd,Wrw}
static const uint64_t GEMM_1X1[] = {88, 96, 101};  // GemmFwd1x1_0_1, GemmBwd1x1_stride1, GemmWrw1x1_stride1
static const uint64_t GEMM_REST[] = {91, 97, 102}; // GemmFwdRest, GemmBwdRest, GemmWrwUniversal

// The tensors as x, w, y, from the order in which Find passes them.
static struct problem problem_of(enum direction direction, miopenHandle_t handle, miopenConvolutionDescriptor_t conv, miopenTensorDescriptor_t a, miopenTensorDescriptor_t b, miopenTensorDescriptor_t o)
{
    switch (direction) {
    case Forward:
        return (struct problem){direction, handle, a, b, o, conv};
    case BackwardData:
        return (struct problem){direction, handle, o, b, a, conv};
    default:
        return (struct problem){direction, handle, b, o, a, conv};
    }
}

bool problem_is_valid(const struct problem *p)
{
    return p->handle && p->conv && p->conv->spatial && p->x && p->w && p->y && p->x->dims == p->conv->spatial + 2 && p->w->dims == p->x->dims && p->y->dims == p->x->dims &&
           p->x->lens[1] == p->w->lens[1] * p->conv->groups && p->y->lens[1] == p->w->lens[0] && p->x->lens[0] == p->y->lens[0];
}

static int product(const int *lens, int n)
{
    int all = 1;
    while (n-- > 0)
        all *= lens[n];
    return all;
}

static bool is_1x1(const struct problem *p)
{
    bool one = product(p->w->lens + 2, p->conv->spatial) == 1;
    for (int i = 0; i < p->conv->spatial; i++)
        one = one && !p->conv->pad[i] && p->conv->stride[i] == 1;
    return one;
}

static size_t element(const struct problem *p) { return p->x->type == miopenHalf || p->x->type == miopenBFloat16 ? 2 : 4; }
static uint64_t gemm_id(const struct problem *p) { return (is_1x1(p) ? GEMM_1X1 : GEMM_REST)[p->direction]; }

// The GEMM needs workspace for the unfolded image.
static size_t gemm_workspace(const struct problem *p)
{
    return is_1x1(p) ? 0 : element(p) * product(p->w->lens + 1, p->conv->spatial + 1) * product(p->y->lens + 2, p->conv->spatial);
}

static hipFunction_t naive_kernel(const struct problem *p)
{
    static const char *const DIRECTIONS[] = {"fwd", "bwd", "wrw"}, *const LAYOUTS[] = {"nchw", "ncdhw"}, *const TYPES[] = {"float_double_float", "half_double_half", "ushort_double_ushort"};
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char names[18][80];
    static hipModule_t module;
    hipFunction_t f = NULL;
    pthread_mutex_lock(&lock);
    if (!module) {
        struct co_kernel kernels[18];
        for (int i = 0; i < 18; i++) {
            snprintf(names[i], sizeof names[i], "naive_conv_ab_nonpacked_%s_%s_%s", DIRECTIONS[i / 6], LAYOUTS[i / 3 % 2], TYPES[i % 3]);
            kernels[i] = (struct co_kernel){names[i], "pppiiiiiiiiiiiiiiii:48:0"};
        }
        unsigned char *code = co_module(kernels, 18);
        hipModuleLoadData(&module, code);
        free(code);
    }
    if (module)
        hipModuleGetFunction(&f, module, names[p->direction * 6 + (p->conv->spatial == 3) * 3 + (p->x->type == miopenHalf ? 1 : p->x->type == miopenBFloat16 ? 2 : 0)]);
    pthread_mutex_unlock(&lock);
    return f;
}

static miopenStatus_t run_naive(const struct problem *p, const void *a, const void *b, void *o)
{
    const int *x = p->x->lens, *w = p->w->lens, *y = p->y->lens;
    struct { const void *a, *b, *o; int32_t i[16]; } args = {a, b, o, {x[2], x[3], x[0], w[0] / p->conv->groups, w[1], y[2], y[3], p->conv->stride[0], p->conv->stride[1], p->conv->dilation[0], p->conv->dilation[1], p->conv->pad[0], p->conv->pad[1], w[2], w[3], p->conv->groups}};
    size_t size = sizeof args;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    uint32_t blocks = p->direction == BackwardWeights ? w[0] : x[0] * (p->direction == Forward ? w[0] : x[1]);
    hipFunction_t f = naive_kernel(p);
    return f && !hipExtModuleLaunchKernel(f, blocks * 256, 1, 1, 256, 1, 1, 0, p->handle->stream, NULL, extra, NULL, NULL, 0) ? miopenStatusSuccess : miopenStatusInternalError;
}

static miopenStatus_t run_gemm(const struct problem *p, const void *a, const void *b, void *o)
{
    static const float ONE = 1, ZERO = 0;
    rocblas_datatype t = p->x->type == miopenHalf ? rocblas_datatype_f16_r : p->x->type == miopenBFloat16 ? rocblas_datatype_bf16_r : rocblas_datatype_f32_r;
    int groups = p->conv->groups, K = p->w->lens[0] / groups, CRS = product(p->w->lens + 1, p->conv->spatial + 1), HW = product(p->y->lens + 2, p->conv->spatial) * p->x->lens[0];
    rocblas_operation N = rocblas_operation_none, T = rocblas_operation_transpose, ta = N, tb = N;
    int m = HW, n = K, k = CRS; // forward: y[HW x K] = im2col(x)[HW x CRS] * w[CRS x K]
    if (p->direction == BackwardData)
        m = HW, n = CRS, k = K, tb = T; // im2col(dx) = dy * w'
    else if (p->direction == BackwardWeights)
        m = CRS, n = K, k = HW, ta = T; // dw = im2col(x)' * dy
    int lda = ta == N ? m : k, ldb = tb == N ? k : n;
    rocblas_datatype f32 = rocblas_datatype_f32_r;
    rocblas_status status =
        groups == 1 ? rocblas_gemm_ex(p->handle->blas, ta, tb, m, n, k, &ONE, a, t, lda, b, t, ldb, &ZERO, o, t, m, o, t, m, f32, rocblas_gemm_algo_standard, 0, 0)
                    : rocblas_gemm_strided_batched_ex(p->handle->blas, ta, tb, m, n, k, &ONE, a, t, lda, (int64_t)m * k, b, t, ldb, (int64_t)k * n, &ZERO, o, t, m, (int64_t)m * n, o, t, m, (int64_t)m * n, groups, f32, rocblas_gemm_algo_standard, 0, 0);
    return status ? miopenStatusInternalError : miopenStatusSuccess;
}

void problem_log(const char *api, const struct problem *p, int algo, uint64_t solution_id, size_t workspace, miopenStatus_t status)
{
    char text[3][80] = {"-", "-", "-"}, numbers[3][40] = {"-", "-", "-"};
    const miopenTensorDescriptor_t tensors[] = {p->x, p->w, p->y};
    if (!standin_logging())
        return;
    for (int t = 0; t < 3; t++)
        for (int i = 0, n = 0; tensors[t] && i < tensors[t]->dims; i++)
            n += sprintf(text[t] + n, "%s%d", i ? "x" : "", tensors[t]->lens[i]);
    for (int t = 0; t < 3; t++)
        for (int i = 0, n = 0; p->conv && i < p->conv->spatial; i++)
            n += sprintf(numbers[t] + n, "%s%d", i ? "x" : "", (t == 0 ? p->conv->pad : t == 1 ? p->conv->stride : p->conv->dilation)[i]);
    standin_log(STANDIN_CONV, api, "x=%s w=%s y=%s data_type=%d pad=%s stride=%s dilation=%s groups=%d mode=%d algo=%d solution_id=%lu workspace=%zu\t%#lx\t%d", text[0], text[1], text[2],
                p->x ? (int)p->x->type : -1, numbers[0], numbers[1], numbers[2], p->conv ? p->conv->groups : 0, p->conv ? (int)p->conv->mode : -1, algo, solution_id, workspace,
                p->handle ? (unsigned long)p->handle->stream : 0, status);
}

static miopenStatus_t find(const char *api, const struct problem *p, const void *a, const void *b, void *o, int request, int *returned, miopenConvAlgoPerf_t *results, void *work, size_t size)
{
    miopenStatus_t status = problem_is_valid(p) && returned && results && request > 0 ? run_naive(p, a, b, o) : miopenStatusBadParm;
    bool gemm = !status && gemm_workspace(p) <= size && (work || !gemm_workspace(p)); // too little room: not a candidate
    if (gemm)
        status = run_gemm(p, a, b, o);
    if (!status) {
        *returned = 0;
        if (gemm)
            results[(*returned)++] = (miopenConvAlgoPerf_t){miopenConvolutionFwdAlgoGEMM, 0.05f, gemm_workspace(p)};
        if (*returned < request)
            results[(*returned)++] = (miopenConvAlgoPerf_t){miopenConvolutionFwdAlgoDirect, 0.5f, 0};
    }
    problem_log(api, p, -1, 0, size, status);
    return status;
}

static miopenStatus_t run(const char *api, const struct problem *p, const void *a, const void *b, void *o, int algo, uint64_t id, void *work, size_t size)
{
    miopenStatus_t status = miopenStatusBadParm;
    if (problem_is_valid(p) && (algo == miopenConvolutionFwdAlgoDirect || id == NAIVE[p->direction]))
        status = run_naive(p, a, b, o);
    else if (problem_is_valid(p) && (algo == miopenConvolutionFwdAlgoGEMM || id == gemm_id(p)) && gemm_workspace(p) <= size && (work || !gemm_workspace(p)))
        status = run_gemm(p, a, b, o);
    problem_log(api, p, algo, id, size, status);
    return status;
}

static miopenStatus_t solutions(const char *api, const struct problem *p, size_t max, size_t *count, miopenConvSolution_t *out)
{
    miopenStatus_t status = problem_is_valid(p) && count ? miopenStatusSuccess : miopenStatusBadParm;
    if (!status) {
        miopenConvSolution_t both[] = {{0.05f, gemm_workspace(p), gemm_id(p), miopenConvolutionFwdAlgoGEMM}, {0.5f, 0, NAIVE[p->direction], miopenConvolutionFwdAlgoDirect}};
        *count = max < 2 ? max : 2;
        if (out)
            memcpy(out, both, *count * sizeof *out);
    }
    problem_log(api, p, -1, 0, 0, status);
    return status;
}

static miopenStatus_t one_solution(const char *api, const struct problem *p, uint64_t id, size_t *size)
{
    bool gemm = problem_is_valid(p) && id == gemm_id(p);
    miopenStatus_t status = gemm || (problem_is_valid(p) && id == NAIVE[p->direction]) ? miopenStatusSuccess : miopenStatusBadParm;
    if (!status && size)
        *size = gemm ? gemm_workspace(p) : 0;
    else if (!status && !gemm) // CompileSolution: the code is loaded now
        naive_kernel(p);
    problem_log(api, p, -1, id, 0, status);
    return status;
}

void problem_candidates(const struct problem *p, struct candidate both[2])
{
    both[0] = (struct candidate){gemm_id(p), miopenConvolutionFwdAlgoGEMM, 0.05f, gemm_workspace(p)};
    both[1] = (struct candidate){NAIVE[p->direction], miopenConvolutionFwdAlgoDirect, 0.5f, 0};
}

miopenStatus_t problem_run(const struct problem *p, uint64_t id, const void *a, const void *b, void *o, const void *work, size_t size)
{
    if (problem_is_valid(p) && id == NAIVE[p->direction])
        return run_naive(p, a, b, o);
    bool has_room = problem_is_valid(p) && gemm_workspace(p) <= size && (work || !gemm_workspace(p));
    return has_room && id == gemm_id(p) ? run_gemm(p, a, b, o) : miopenStatusBadParm;
}

static miopenStatus_t workspace(const char *api, const struct problem *p, size_t *size)
{
    miopenStatus_t status = problem_is_valid(p) && size ? (*size = gemm_workspace(p), miopenStatusSuccess) : miopenStatusBadParm;
    problem_log(api, p, -1, 0, 0, status);
    return status;
}

PUBLIC miopenStatus_t miopenConvolutionForwardGetWorkSpaceSize(miopenHandle_t handle, miopenTensorDescriptor_t wDesc, miopenTensorDescriptor_t xDesc, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t yDesc, size_t *workSpaceSize)
{
    return workspace(__func__, &(struct problem){Forward, handle, xDesc, wDesc, yDesc, convDesc}, workSpaceSize);
}

PUBLIC miopenStatus_t miopenConvolutionBackwardDataGetWorkSpaceSize(miopenHandle_t handle, miopenTensorDescriptor_t dyDesc, miopenTensorDescriptor_t wDesc, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t dxDesc, size_t *workSpaceSize)
{
    return workspace(__func__, &(struct problem){BackwardData, handle, dxDesc, wDesc, dyDesc, convDesc}, workSpaceSize);
}

PUBLIC miopenStatus_t miopenConvolutionBackwardWeightsGetWorkSpaceSize(miopenHandle_t handle, miopenTensorDescriptor_t dyDesc, miopenTensorDescriptor_t xDesc, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t dwDesc, size_t *workSpaceSize)
{
    return workspace(__func__, &(struct problem){BackwardWeights, handle, xDesc, dwDesc, dyDesc, convDesc}, workSpaceSize);
}

// Immediate mode passes (w, x, y) forward, but (dy, w, dx) and (dy, x, dw) backward, as Find does.
#define PROBLEM(DIR, aD, bD, oD) struct problem p = problem_of(DIR, handle, convDesc, aD, bD, oD)
#define DEFINE(DIR, aD, a, bD, b, oD, o, iD, i, jD, j, algo_t) \
    PUBLIC miopenStatus_t miopenFindConvolution##DIR##Algorithm(miopenHandle_t handle, miopenTensorDescriptor_t aD, const void *a, miopenTensorDescriptor_t bD, const void *b, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, void *o, int requestAlgoCount, int *returnedAlgoCount, miopenConvAlgoPerf_t *perfResults, void *workSpace, size_t workSpaceSize, bool exhaustiveSearch) \
    { \
        PROBLEM(DIR, aD, bD, oD); \
        (void)exhaustiveSearch; \
        return find(__func__, &p, a, b, o, requestAlgoCount, returnedAlgoCount, perfResults, workSpace, workSpaceSize); \
    } \
    PUBLIC miopenStatus_t miopenConvolution##DIR(miopenHandle_t handle, const void *alpha, miopenTensorDescriptor_t aD, const void *a, miopenTensorDescriptor_t bD, const void *b, miopenConvolutionDescriptor_t convDesc, algo_t algo, const void *beta, miopenTensorDescriptor_t oD, void *o, void *workSpace, size_t workSpaceSize) \
    { \
        PROBLEM(DIR, aD, bD, oD); \
        (void)alpha, (void)beta; \
        return run(__func__, &p, a, b, o, algo, 0, workSpace, workSpaceSize); \
    } \
    PUBLIC miopenStatus_t miopenConvolution##DIR##GetSolutionCount(miopenHandle_t handle, miopenTensorDescriptor_t iD, miopenTensorDescriptor_t jD, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, size_t *solutionCount) \
    { \
        PROBLEM(DIR, aD, bD, oD); \
        return solutions(__func__, &p, 2, solutionCount, NULL); \
    } \
    PUBLIC miopenStatus_t miopenConvolution##DIR##GetSolution(miopenHandle_t handle, miopenTensorDescriptor_t iD, miopenTensorDescriptor_t jD, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, size_t maxSolutionCount, size_t *solutionCount, miopenConvSolution_t *out) \
    { \
        PROBLEM(DIR, aD, bD, oD); \
        return solutions(__func__, &p, maxSolutionCount, solutionCount, out); \
    } \
    PUBLIC miopenStatus_t miopenConvolution##DIR##GetSolutionWorkspaceSize(miopenHandle_t handle, miopenTensorDescriptor_t iD, miopenTensorDescriptor_t jD, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, uint64_t solution_id, size_t *workSpaceSize) \
    { \
        PROBLEM(DIR, aD, bD, oD); \
        return one_solution(__func__, &p, solution_id, workSpaceSize); \
    } \
    PUBLIC miopenStatus_t miopenConvolution##DIR##CompileSolution(miopenHandle_t handle, miopenTensorDescriptor_t iD, miopenTensorDescriptor_t jD, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, uint64_t solution_id) \
    { \
        PROBLEM(DIR, aD, bD, oD); \
        return one_solution(__func__, &p, solution_id, NULL); \
    } \
    PUBLIC miopenStatus_t miopenConvolution##DIR##Immediate(miopenHandle_t handle, miopenTensorDescriptor_t iD, const void *i, miopenTensorDescriptor_t jD, const void *j, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, void *o, void *workSpace, size_t workSpaceSize, uint64_t solution_id) \
    { \
        PROBLEM(DIR, aD, bD, oD); \
        return run(__func__, &p, a, b, o, -1, solution_id, workSpace, workSpaceSize); \
    }
MIOPEN_DIRECTIONS(DEFINE)
