// libhipblaslt stand-in: every GEMM launches the kernel that TensileLite would name, in the same
// way.
#include "hipblaslt_ext.h"
#include "standin.h"
#include "tensilelite.h"
#include <dlfcn.h>
#include <pthread.h>

#define HEX(pointer) ((unsigned long)(pointer))

struct hipblasLtMatrixLayout { uint64_t rows, cols; int64_t ld, stride; hipDataType type; int32_t batch, order; };
struct hipblasLtMatmulDesc { hipblasOperation_t trans[2]; hipblasLtEpilogue_t epilogue; void *bias, *scales[4], *aux; int64_t aux_ld; hipDataType bias_type, scale; hipblasComputeType_t compute; int32_t pointer_mode; };
struct hipblasLtMatmulPreference { uint64_t workspace; };

struct product {
    hipblasLtHandle_t handle;
    hipblasLtMatmulDesc_t desc;
    const void *alpha, *a, *b, *beta, *c;
    hipblasLtMatrixLayout_t la, lb, lc, ld;
    void *d;
    hipblasLtMatmulAlgo_t algo;
    int has_algo;
    size_t workspace;
};

static int layout_of(const struct product *p) { return (p->desc->trans[0] != HIPBLAS_OP_N) + 2 * (p->desc->trans[1] != HIPBLAS_OP_N); }

static int type_of(const struct product *p)
{
    int t = 0;
    while (t < LITE_TYPES && (LITE[t].ab != (int)p->la->type || LITE[t].ab != (int)p->lb->type || LITE[t].cd != (int)p->lc->type || LITE[t].cd != (int)p->ld->type))
        t++;
    return t;
}

static uint64_t inner(const struct product *p) { return p->desc->trans[0] == HIPBLAS_OP_N ? p->la->cols : p->la->rows; }

// A solution's index: the first four bytes of an algorithm's data, from 1000 on.
static int index_of(const hipblasLtMatmulAlgo_t *algo)
{
    int index;
    memcpy(&index, algo->data, sizeof index);
    return index;
}
static hipblasLtMatmulAlgo_t algo_of(int type, int layout, int solution)
{
    hipblasLtMatmulAlgo_t algo = {.max_workspace_bytes = 32 << 20};
    int index = 1000 + (type * LITE_LAYOUTS + layout) * LITE_SOLUTIONS + solution;
    memcpy(algo.data, &index, sizeof index);
    return algo;
}

static hipFunction_t find(int type, int layout, int solution, char *name, size_t room)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static hipModule_t modules[LITE_TYPES * LITE_LAYOUTS];
    hipModule_t *module = &modules[type * LITE_LAYOUTS + layout];
    char file[256], path[4096];
    const char *dir = getenv("HIPBLASLT_TENSILE_LIBPATH");
    hipFunction_t f = NULL;
    Dl_info here;
    dladdr((void *)hipblasLtMatmul, &here);
    lite_file(file, sizeof file, type, layout, co_gfx());
    if (dir)
        snprintf(path, sizeof path, "%s/%s", dir, file);
    else
        snprintf(path, sizeof path, "%.*s/hipblaslt/library/%s", (int)(strrchr(here.dli_fname, '/') - here.dli_fname), here.dli_fname, file);
    lite_kernel(name, room, type, layout, solution, co_gfx());
    pthread_mutex_lock(&lock);
    if ((*module || !hipModuleLoad(module, path)) && hipModuleGetFunction(&f, *module, name))
        f = NULL;
    pthread_mutex_unlock(&lock);
    return f;
}

static hipblasStatus_t run(const struct product *p, hipStream_t stream, char *name, size_t room)
{
    if (!p->handle || !p->desc || !p->la || !p->lb || !p->lc || !p->ld || !p->alpha || !p->beta || !p->a || !p->b || !p->c || !p->d)
        return HIPBLAS_STATUS_INVALID_VALUE;
    int type = type_of(p), layout = layout_of(p), rows, columns;
    if (type == LITE_TYPES)
        return HIPBLAS_STATUS_NOT_SUPPORTED;
    int solution = p->has_algo ? index_of(&p->algo) - 1000 - (type * LITE_LAYOUTS + layout) * LITE_SOLUTIONS : 0;
    if (solution < 0 || solution >= LITE_SOLUTIONS)
        return HIPBLAS_STATUS_INVALID_VALUE;
    hipFunction_t f = find(type, layout, solution, name, room);
    if (!f)
        return HIPBLAS_STATUS_NOT_SUPPORTED;
    lite_tile(solution, &rows, &columns);
    struct { uint32_t gemms, sizes[4], other[3]; const void *d, *c, *a, *b; uint32_t strides[8]; const void *epilogue[5]; } args = {1, {p->ld->rows, p->ld->cols, p->ld->batch, inner(p)}, {0}, p->d, p->c, p->a, p->b, {p->ld->ld}, {p->desc->bias}};
    size_t size = sizeof args;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    uint32_t gx = (p->ld->rows + rows - 1) / rows * 128, gy = (p->ld->cols + columns - 1) / columns;
    return hipExtModuleLaunchKernel(f, gx, gy, p->ld->batch, 128, 1, 1, 0, stream, NULL, extra, NULL, NULL, 0) ? HIPBLAS_STATUS_NOT_INITIALIZED : HIPBLAS_STATUS_SUCCESS;
}

static hipblasStatus_t multiply(const char *api, const struct product *p, hipStream_t stream)
{
    static const struct hipblasLtMatrixLayout NO_LAYOUT;
    static const struct hipblasLtMatmulDesc NO_DESC;
    char kernel[320] = "-";
    hipblasStatus_t status = run(p, stream, kernel, sizeof kernel);
    const struct hipblasLtMatrixLayout *a = p->la ? p->la : &NO_LAYOUT, *b = p->lb ? p->lb : &NO_LAYOUT, *c = p->lc ? p->lc : &NO_LAYOUT, *d = p->ld ? p->ld : &NO_LAYOUT;
    const struct hipblasLtMatmulDesc *e = p->desc ? p->desc : &NO_DESC;
    if (standin_logging())
        standin_log(STANDIN_GEMM, api,
                    "handle=%#lx transA=%d transB=%d m=%lu n=%lu k=%lu alpha=%#lx a=%#lx a_type=%d lda=%ld stride_a=%ld b=%#lx b_type=%d ldb=%ld stride_b=%ld beta=%#lx "
                    "c=%#lx c_type=%d ldc=%ld stride_c=%ld d=%#lx d_type=%d ldd=%ld stride_d=%ld batch_count=%d compute_type=%d epilogue=%d bias=%#lx solution_index=%d workspace=%zu\t%#lx\t%s\t%d",
                    HEX(p->handle), e->trans[0], e->trans[1], d->rows, d->cols, p->desc && p->la ? inner(p) : 0, HEX(p->alpha), HEX(p->a), a->type, a->ld, a->stride, HEX(p->b), b->type, b->ld, b->stride, HEX(p->beta),
                    HEX(p->c), c->type, c->ld, c->stride, HEX(p->d), d->type, d->ld, d->stride, d->batch, e->compute, e->epilogue, HEX(e->bias), p->has_algo ? index_of(&p->algo) : -1, p->workspace, HEX(stream), kernel, status);
    return status;
}

PUBLIC hipblasStatus_t hipblasLtMatmul(hipblasLtHandle_t handle, hipblasLtMatmulDesc_t matmulDesc, const void *alpha, const void *A, hipblasLtMatrixLayout_t Adesc, const void *B, hipblasLtMatrixLayout_t Bdesc, const void *beta, const void *C, hipblasLtMatrixLayout_t Cdesc, void *D, hipblasLtMatrixLayout_t Ddesc, const hipblasLtMatmulAlgo_t *algo, void *workspace, size_t workspaceSizeInBytes, hipStream_t stream)
{
    (void)workspace;
    struct product p = {handle, matmulDesc, alpha, A, B, beta, C, Adesc, Bdesc, Cdesc, Ddesc, D, algo ? *algo : (hipblasLtMatmulAlgo_t){{0}, 0}, !!algo, workspaceSizeInBytes};
    return multiply(__func__, &p, stream);
}

PUBLIC hipblasStatus_t hipblasLtMatmulAlgoGetHeuristic(hipblasLtHandle_t handle, hipblasLtMatmulDesc_t matmulDesc, hipblasLtMatrixLayout_t Adesc, hipblasLtMatrixLayout_t Bdesc, hipblasLtMatrixLayout_t Cdesc, hipblasLtMatrixLayout_t Ddesc, hipblasLtMatmulPreference_t pref, int requestedAlgoCount, hipblasLtMatmulHeuristicResult_t heuristicResultsArray[], int *returnAlgoCount)
{
    struct product p = {.handle = handle, .desc = matmulDesc, .la = Adesc, .lb = Bdesc, .lc = Cdesc, .ld = Ddesc};
    if (!handle || !matmulDesc || !Adesc || !Bdesc || !Cdesc || !Ddesc || !pref || requestedAlgoCount < 1 || !heuristicResultsArray || !returnAlgoCount)
        return HIPBLAS_STATUS_INVALID_VALUE;
    int type = type_of(&p), found = type < LITE_TYPES ? LITE_SOLUTIONS : 0;
    *returnAlgoCount = found < requestedAlgoCount ? found : requestedAlgoCount;
    for (int i = 0; i < *returnAlgoCount; i++)
        heuristicResultsArray[i] = (hipblasLtMatmulHeuristicResult_t){.algo = algo_of(type, layout_of(&p), i), .state = HIPBLAS_STATUS_SUCCESS, .wavesCount = 1};
    return found ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_NOT_SUPPORTED;
}

// Adds and reorders; it launches nothing here.
PUBLIC hipblasStatus_t hipblasLtMatrixTransform(hipblasLtHandle_t lightHandle, hipblasLtMatrixTransformDesc_t transformDesc, const void *alpha, const void *A, hipblasLtMatrixLayout_t Adesc, const void *beta, const void *B, hipblasLtMatrixLayout_t Bdesc, void *C, hipblasLtMatrixLayout_t Cdesc, hipStream_t stream)
{
    (void)transformDesc, (void)beta, (void)B, (void)Bdesc, (void)stream;
    return lightHandle && alpha && A && Adesc && C && Cdesc ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_INVALID_VALUE;
}

// hipblaslt_ext::Gemm: the problem follows the object's first word.
PUBLIC void hipblaslt_ext_Gemm(struct hipblaslt_gemm *self, hipblasLtHandle_t handle, hipblasLtMatmulDesc_t matmulDesc, const void *alpha, const void *A, hipblasLtMatrixLayout_t matA, const void *B, hipblasLtMatrixLayout_t matB, const void *beta, const void *C, hipblasLtMatrixLayout_t matC, void *D, hipblasLtMatrixLayout_t matD)
{
    struct product *p = malloc(sizeof *p);
    *p = (struct product){handle, matmulDesc, alpha, A, B, beta, C, matA, matB, matC, matD, D, {{0}, 0}, 0, 0};
    self->room[0] = p;
}

PUBLIC hipblasStatus_t hipblaslt_ext_setProblem_described(struct hipblaslt_gemm *self, hipblasLtMatmulDesc_t matmul_descr, const void *alpha, const void *A, hipblasLtMatrixLayout_t matA, const void *B, hipblasLtMatrixLayout_t matB, const void *beta, const void *C, hipblasLtMatrixLayout_t matC, void *D, hipblasLtMatrixLayout_t matD)
{
    struct product *p = self->room[0];
    *p = (struct product){p->handle, matmul_descr, alpha, A, B, beta, C, matA, matB, matC, matD, D, {{0}, 0}, 0, 0};
    return HIPBLAS_STATUS_SUCCESS;
}

// Sizes only: types and operations keep their values, the object gets its own layouts.
PUBLIC hipblasStatus_t hipblaslt_ext_setProblem(struct hipblaslt_gemm *self, int64_t m, int64_t n, int64_t k, int64_t batch_count, int64_t lda, int64_t ldb, int64_t ldc, int64_t ldd, int64_t strideA, int64_t strideB, int64_t strideC, int64_t strideD, void *epilogue, void *inputs, void *problemtype)
{
    struct product *p = self->room[0];
    struct hipblasLtMatrixLayout *own = calloc(4, sizeof *own);
    int ta = p->desc->trans[0] != HIPBLAS_OP_N, tb = p->desc->trans[1] != HIPBLAS_OP_N, batch = batch_count;
    (void)epilogue, (void)inputs, (void)problemtype;
    own[0] = (struct hipblasLtMatrixLayout){ta ? k : m, ta ? m : k, lda, strideA, p->la->type, batch, 0};
    own[1] = (struct hipblasLtMatrixLayout){tb ? n : k, tb ? k : n, ldb, strideB, p->lb->type, batch, 0};
    own[2] = (struct hipblasLtMatrixLayout){m, n, ldc, strideC, p->lc->type, batch, 0};
    own[3] = (struct hipblasLtMatrixLayout){m, n, ldd, strideD, p->ld->type, batch, 0};
    p->la = &own[0], p->lb = &own[1], p->lc = &own[2], p->ld = &own[3];
    return HIPBLAS_STATUS_SUCCESS;
}

PUBLIC hipblasStatus_t hipblaslt_ext_copyMatmul(hipblasLtMatmulDesc_t src, hipblasLtMatmulDesc_t dst) { return src && dst ? (*dst = *src, HIPBLAS_STATUS_SUCCESS) : HIPBLAS_STATUS_INVALID_VALUE; }

PUBLIC hipblasStatus_t hipblaslt_ext_initialize(struct hipblaslt_gemm *self, const hipblasLtMatmulAlgo_t *algo, void *workspace, _Bool useUserArgs, hipStream_t stream)
{
    struct product *p = self->room[0];
    (void)workspace, (void)useUserArgs, (void)stream;
    p->algo = *algo;
    p->has_algo = 1;
    return HIPBLAS_STATUS_SUCCESS;
}

PUBLIC hipblasStatus_t hipblaslt_ext_run(struct hipblaslt_gemm *self, hipStream_t stream, hipEvent_t start, hipEvent_t stop)
{
    (void)start, (void)stop;
    return multiply("_ZN13hipblaslt_ext12GemmInstance3runEP12ihipStream_tP11ihipEvent_tS4_", self->room[0], stream);
}

PUBLIC hipblasStatus_t hipblaslt_ext_run_60(struct hipblaslt_gemm *self, hipStream_t stream) { return multiply("_ZN13hipblaslt_ext12GemmInstance3runEP12ihipStream_t", self->room[0], stream); }
PUBLIC hipblasStatus_t hipblaslt_ext_run_grouped(struct hipblaslt_gemm *self, void *deviceUserArgs, hipStream_t stream) { return (void)deviceUserArgs, multiply("_ZN13hipblaslt_ext11GroupedGemm3runEPvP12ihipStream_t", self->room[0], stream); }
PUBLIC int hipblaslt_ext_getIndexFromAlgo(hipblasLtMatmulAlgo_t *algo) { return index_of(algo) < 0 ? -1 : index_of(algo); }

PUBLIC hipblasStatus_t hipblasLtGetVersion(hipblasLtHandle_t handle, int *version) { return handle && version ? (*version = 1000, HIPBLAS_STATUS_SUCCESS) : HIPBLAS_STATUS_INVALID_VALUE; }

// Creates and destroys an object; `with` is its initial contents.
#define MAKE(out, with) (!(out) ? HIPBLAS_STATUS_INVALID_VALUE : (*(out) = malloc(sizeof **(out)), **(out) = with, HIPBLAS_STATUS_SUCCESS))
PUBLIC hipblasStatus_t hipblasLtCreate(hipblasLtHandle_t *handle) { return handle ? (*handle = calloc(1, 64), HIPBLAS_STATUS_SUCCESS) : HIPBLAS_STATUS_INVALID_VALUE; }
PUBLIC hipblasStatus_t hipblasLtDestroy(const hipblasLtHandle_t handle) { return free(handle), handle ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_NOT_INITIALIZED; }
PUBLIC hipblasStatus_t hipblasLtMatrixLayoutCreate(hipblasLtMatrixLayout_t *matLayout, hipDataType type, uint64_t rows, uint64_t cols, int64_t ld) { return MAKE(matLayout, ((struct hipblasLtMatrixLayout){rows, cols, ld, 0, type, 1, 0})); }
PUBLIC hipblasStatus_t hipblasLtMatrixLayoutDestroy(const hipblasLtMatrixLayout_t matLayout) { return free(matLayout), HIPBLAS_STATUS_SUCCESS; }
PUBLIC hipblasStatus_t hipblasLtMatmulDescCreate(hipblasLtMatmulDesc_t *matmulDesc, hipblasComputeType_t computeType, hipDataType scaleType) { return MAKE(matmulDesc, ((struct hipblasLtMatmulDesc){.trans = {HIPBLAS_OP_N, HIPBLAS_OP_N}, .epilogue = HIPBLASLT_EPILOGUE_DEFAULT, .scale = scaleType, .compute = computeType})); }
PUBLIC hipblasStatus_t hipblasLtMatmulDescDestroy(const hipblasLtMatmulDesc_t matmulDesc) { return free(matmulDesc), HIPBLAS_STATUS_SUCCESS; }
PUBLIC hipblasStatus_t hipblasLtMatmulPreferenceCreate(hipblasLtMatmulPreference_t *pref) { return MAKE(pref, ((struct hipblasLtMatmulPreference){0})); }
PUBLIC hipblasStatus_t hipblasLtMatmulPreferenceDestroy(const hipblasLtMatmulPreference_t pref) { return free(pref), HIPBLAS_STATUS_SUCCESS; }

// An attribute: its address and width.
struct attribute { void *at; size_t size; };
#define AT(field) (struct attribute){&(field), sizeof(field)}

static struct attribute of_layout(hipblasLtMatrixLayout_t l, int attr)
{
    const struct attribute all[] = {AT(l->batch), AT(l->stride), AT(l->type), AT(l->order), AT(l->rows), AT(l->cols), AT(l->ld)};
    return attr >= 0 && attr < 7 ? all[attr] : (struct attribute){NULL, 0};
}

static struct attribute of_desc(hipblasLtMatmulDesc_t d, int attr)
{
    const struct attribute none = {NULL, 0}, all[] = {AT(d->trans[0]), AT(d->trans[1]), AT(d->epilogue), AT(d->bias), AT(d->bias_type), AT(d->scales[0]), AT(d->scales[1]), AT(d->scales[2]), AT(d->scales[3]), none, AT(d->aux), AT(d->aux_ld), none, AT(d->pointer_mode)};
    return attr >= 0 && attr < (int)(sizeof all / sizeof *all) ? all[attr] : none;
}

static hipblasStatus_t set(struct attribute a, const void *buf, size_t size)
{
    return a.at && buf && size >= a.size ? (memcpy(a.at, buf, a.size), HIPBLAS_STATUS_SUCCESS) : HIPBLAS_STATUS_INVALID_VALUE;
}

static hipblasStatus_t get(struct attribute a, void *buf, size_t size, size_t *written)
{
    if (!a.at || (size && size < a.size) || (!size && !written))
        return HIPBLAS_STATUS_INVALID_VALUE;
    if (written)
        *written = a.size;
    return size ? (memcpy(buf, a.at, a.size), HIPBLAS_STATUS_SUCCESS) : HIPBLAS_STATUS_SUCCESS;
}

PUBLIC hipblasStatus_t hipblasLtMatrixLayoutSetAttribute(hipblasLtMatrixLayout_t l, hipblasLtMatrixLayoutAttribute_t attr, const void *buf, size_t size) { return l ? set(of_layout(l, attr), buf, size) : HIPBLAS_STATUS_INVALID_VALUE; }
PUBLIC hipblasStatus_t hipblasLtMatrixLayoutGetAttribute(hipblasLtMatrixLayout_t l, hipblasLtMatrixLayoutAttribute_t attr, void *buf, size_t size, size_t *written) { return l ? get(of_layout(l, attr), buf, size, written) : HIPBLAS_STATUS_INVALID_VALUE; }
PUBLIC hipblasStatus_t hipblasLtMatmulDescSetAttribute(hipblasLtMatmulDesc_t d, hipblasLtMatmulDescAttributes_t attr, const void *buf, size_t size) { return d ? set(of_desc(d, attr), buf, size) : HIPBLAS_STATUS_INVALID_VALUE; }
PUBLIC hipblasStatus_t hipblasLtMatmulDescGetAttribute(hipblasLtMatmulDesc_t d, hipblasLtMatmulDescAttributes_t attr, void *buf, size_t size, size_t *written) { return d ? get(of_desc(d, attr), buf, size, written) : HIPBLAS_STATUS_INVALID_VALUE; }
PUBLIC hipblasStatus_t hipblasLtMatmulPreferenceSetAttribute(hipblasLtMatmulPreference_t pref, hipblasLtMatmulPreferenceAttributes_t attr, const void *buf, size_t size) { return pref && attr == HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? set(AT(pref->workspace), buf, size) : HIPBLAS_STATUS_INVALID_VALUE; }
