// librocblas stand-in: every GEMM launches the kernel that Tensile would name, in the same way.
#include "rocblas_gemm.h"
#include "standin.h"
#include "tensile.h"
#include <dlfcn.h>
#include <pthread.h>

struct _rocblas_handle {
    hipStream_t stream;
    rocblas_pointer_mode pointer_mode;
    rocblas_atomics_mode atomics_mode;
    rocblas_math_mode math_mode;
    rocblas_performance_metric metric;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hipModule_t modules[1 + TENSILE_TYPES * TENSILE_LAYOUTS];
static bool tried[1 + TENSILE_TYPES * TENSILE_LAYOUTS];
static int loaded[1 + TENSILE_TYPES * TENSILE_LAYOUTS], loaded_count; // in the order of loading

static void load(int file)
{
    char name[128], path[4096];
    const char *dir = getenv("ROCBLAS_TENSILE_LIBPATH");
    const struct tensile_type *t = &TENSILE[(file - 1) / TENSILE_LAYOUTS];
    int layout = (file - 1) % TENSILE_LAYOUTS;
    size_t len;
    Dl_info here;
    if (file)
        tensile_file(name, sizeof name, t, layout, co_gfx());
    else
        tensile_beta_file(name, sizeof name, co_gfx());
    dladdr((void *)rocblas_gemm_ex, &here);
    if (dir)
        snprintf(path, sizeof path, "%s/%s", dir, name);
    else
        snprintf(path, sizeof path, "%.*s/rocblas/library/%s", (int)(strrchr(here.dli_fname, '/') - here.dli_fname), here.dli_fname, name);
    unsigned char *code = NULL;
    FILE *in = fopen(path, "rbe");
    if (in && !fseek(in, 0, SEEK_END)) {
        len = ftell(in);
        code = calloc(1, len + 64);
        rewind(in);
        if (fread(code, 1, len, in) != len)
            free(code), code = NULL;
    }
    if (in)
        fclose(in);
    if (!code)
        code = file ? tensile_code(t, layout, co_gfx(), &len) : tensile_beta_code(co_gfx(), &len);
    if (!hipModuleLoadData(&modules[file], code))
        loaded[loaded_count++] = file;
    tried[file] = true;
    free(code);
}

// Looks in every loaded module, oldest first, then loads the file that has it.
static hipFunction_t find(const char *kernel, int file)
{
    static struct {
        char name[320];
        hipFunction_t f;
    } known[64];
    hipFunction_t f = NULL;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < 64 && known[i].f && strcmp(known[i].name, kernel))
        i++;
    if (i < 64 && known[i].f) {
        f = known[i].f;
    } else {
        if (!tried[0])
            load(0);
        if (!tried[file])
            load(file);
        for (int j = 0; j < loaded_count && !f; j++)
            if (hipModuleGetFunction(&f, modules[loaded[j]], kernel)) {
                f = NULL;
                (void)hipGetLastError();
            }
        if (f && i < 64) {
            snprintf(known[i].name, sizeof known[i].name, "%s", kernel);
            known[i].f = f;
        }
    }
    pthread_mutex_unlock(&lock);
    return f;
}

static rocblas_status start(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, hipStream_t stream, void *args, size_t size)
{
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    return hipExtModuleLaunchKernel(f, gx, gy, gz, 256, 1, 1, 0, stream, NULL, extra, NULL, NULL, 0) ? rocblas_status_internal_error : rocblas_status_success;
}

static rocblas_status run(const struct gemm *g, const char **kernel)
{
    static __thread char name[320];
    const struct tensile_type *t = TENSILE;
    int compute = (int)g->compute_type == rocblas_compute_type_f32 ? (int)rocblas_datatype_f32_r : (int)g->compute_type;
    int layout = (g->ta != rocblas_operation_none) + 2 * (g->tb != rocblas_operation_none), rows, columns;
    if (!g->handle)
        return rocblas_status_invalid_handle;
    if (g->ta < 111 || g->ta > 113 || g->tb < 111 || g->tb > 113)
        return rocblas_status_invalid_value;
    if (g->m < 0 || g->n < 0 || g->k < 0 || g->batch < 0 || g->ldc < g->m || g->ldd < g->m || g->lda < (layout & 1 ? g->k : g->m) || g->ldb < (layout & 2 ? g->n : g->k))
        return rocblas_status_invalid_size;
    if (!g->m || !g->n || !g->batch)
        return rocblas_status_success;
    if (!g->alpha || !g->beta || !g->a || !g->b || !g->c || !g->d)
        return rocblas_status_invalid_pointer;
    while (t < TENSILE + TENSILE_TYPES && (t->ab != (int)g->a_type || t->ab != (int)g->b_type || t->cd != (int)g->c_type || t->cd != (int)g->d_type || t->compute != compute))
        t++;
    if (t == TENSILE + TENSILE_TYPES)
        return rocblas_status_not_implemented;

    // Solutions other than the first are used only if requested by index, which counts from 1.
    int solution = g->algo == rocblas_gemm_algo_solution_index && g->solution_index > 0 ? (g->solution_index - 1) % TENSILE_SOLUTIONS : 0;
    const char *beta = getenv("STANDIN_ROCBLAS_BETA");
    if (beta && *beta == '1') {
        struct { void *d; const void *c; uint32_t other[8]; } args = {g->d, g->c, {g->ldd, 0, g->ldc, 0, g->m, g->n, g->batch, 0}};
        hipFunction_t f = find((char[]){'C', 'i', 'j', 'k', '_', t->kernel[0], 0}, 0);
        rocblas_status status = f ? start(f, (g->m + 7) / 8 * 256, (g->n + 7) / 8, g->batch, g->handle->stream, &args, sizeof args) : rocblas_status_internal_error;
        if (status)
            return status;
    }
    tensile_kernel(name, sizeof name, t, layout, g->pointers, solution, co_gfx());
    tensile_tile(solution, &rows, &columns);
    struct {
        uint64_t sizes[3];
        const void *d, *c, *a, *b;
        float alpha, beta;
        uint32_t strides[8], i, j, k, l;
    } args = {{(uint64_t)g->ldc * g->n, (uint64_t)g->lda * g->k, (uint64_t)g->ldb * g->n}, g->d, g->c, g->a, g->b, 1, 0,
              {g->ldd, g->sd, g->ldc, g->sc, g->lda, g->sa, g->ldb, g->sb}, g->m, g->n, g->batch, g->k};
    hipFunction_t f = find(name, 1 + (t - TENSILE) * TENSILE_LAYOUTS + layout);
    if (!f)
        return rocblas_status_internal_error;
    *kernel = name;
    return start(f, (g->m + rows - 1) / rows * 256, (g->n + columns - 1) / columns, g->batch, g->handle->stream, &args, sizeof args);
}

#define HEX(pointer) ((unsigned long)(pointer))

rocblas_status standin_gemm(const struct gemm *g)
{
    const char *kernel = "-";
    rocblas_status status = run(g, &kernel);
    if (standin_logging())
        standin_log(STANDIN_GEMM, g->api,
                    "handle=%#lx transA=%d transB=%d m=%ld n=%ld k=%ld alpha=%#lx a=%#lx a_type=%d lda=%ld stride_a=%ld b=%#lx b_type=%d ldb=%ld stride_b=%ld beta=%#lx "
                    "c=%#lx c_type=%d ldc=%ld stride_c=%ld d=%#lx d_type=%d ldd=%ld stride_d=%ld batch_count=%ld compute_type=%d algo=%d solution_index=%d flags=%u\t%#lx\t%s\t%d",
                    HEX(g->handle), g->ta, g->tb, g->m, g->n, g->k, HEX(g->alpha), HEX(g->a), g->a_type, g->lda, g->sa, HEX(g->b), g->b_type, g->ldb, g->sb, HEX(g->beta), HEX(g->c), g->c_type, g->ldc, g->sc,
                    HEX(g->d), g->d_type, g->ldd, g->sd, g->batch, g->compute_type, g->algo, g->solution_index, g->flags, HEX(g->handle ? g->handle->stream : NULL), kernel, status);
    return status;
}

PUBLIC rocblas_status rocblas_gemm_ex(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_int lda, const void *b, rocblas_datatype b_type, rocblas_int ldb, const void *beta, const void *c, rocblas_datatype c_type, rocblas_int ldc, void *d, rocblas_datatype d_type, rocblas_int ldd, rocblas_datatype compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags)
{
    return standin_gemm(&(struct gemm){"rocblas_gemm_ex", handle, transA, transB, m, n, k, alpha, a, b, beta, c, d, a_type, b_type, c_type, d_type, compute_type, lda, ldb, ldc, ldd, 1, 0, 0, 0, 0, algo, solution_index, flags, false});
}

PUBLIC rocblas_status rocblas_gemm_batched_ex(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_int lda, const void *b, rocblas_datatype b_type, rocblas_int ldb, const void *beta, const void *c, rocblas_datatype c_type, rocblas_int ldc, void *d, rocblas_datatype d_type, rocblas_int ldd, rocblas_int batch_count, rocblas_datatype compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags)
{
    return standin_gemm(&(struct gemm){"rocblas_gemm_batched_ex", handle, transA, transB, m, n, k, alpha, a, b, beta, c, d, a_type, b_type, c_type, d_type, compute_type, lda, ldb, ldc, ldd, batch_count, 0, 0, 0, 0, algo, solution_index, flags, true});
}

PUBLIC rocblas_status rocblas_gemm_strided_batched_ex(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_int lda, rocblas_stride stride_a, const void *b, rocblas_datatype b_type, rocblas_int ldb, rocblas_stride stride_b, const void *beta, const void *c, rocblas_datatype c_type, rocblas_int ldc, rocblas_stride stride_c, void *d, rocblas_datatype d_type, rocblas_int ldd, rocblas_stride stride_d, rocblas_int batch_count, rocblas_datatype compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags)
{
    return standin_gemm(&(struct gemm){"rocblas_gemm_strided_batched_ex", handle, transA, transB, m, n, k, alpha, a, b, beta, c, d, a_type, b_type, c_type, d_type, compute_type, lda, ldb, ldc, ldd, batch_count, stride_a, stride_b, stride_c, stride_d, algo, solution_index, flags, false});
}

PUBLIC rocblas_status rocblas_create_handle(rocblas_handle *handle)
{
    int devices = 0;
    if (!handle)
        return rocblas_status_invalid_handle;
    if (hipGetDeviceCount(&devices) || !devices)
        return rocblas_status_internal_error;
    *handle = calloc(1, sizeof **handle);
    return rocblas_status_success;
}

PUBLIC rocblas_status rocblas_destroy_handle(rocblas_handle handle)
{
    free(handle);
    return handle ? rocblas_status_success : rocblas_status_invalid_handle;
}

PUBLIC rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream)
{
    return handle ? (handle->stream = stream, rocblas_status_success) : rocblas_status_invalid_handle;
}

PUBLIC rocblas_status rocblas_get_stream(rocblas_handle handle, hipStream_t *stream)
{
    return handle ? (*stream = handle->stream, rocblas_status_success) : rocblas_status_invalid_handle;
}

PUBLIC rocblas_status rocblas_set_pointer_mode(rocblas_handle handle, rocblas_pointer_mode pointer_mode)
{
    return handle ? (handle->pointer_mode = pointer_mode, rocblas_status_success) : rocblas_status_invalid_handle;
}

PUBLIC rocblas_status rocblas_get_pointer_mode(rocblas_handle handle, rocblas_pointer_mode *pointer_mode)
{
    return handle ? (*pointer_mode = handle->pointer_mode, rocblas_status_success) : rocblas_status_invalid_handle;
}

PUBLIC rocblas_status rocblas_set_atomics_mode(rocblas_handle handle, rocblas_atomics_mode atomics_mode)
{
    return handle ? (handle->atomics_mode = atomics_mode, rocblas_status_success) : rocblas_status_invalid_handle;
}

PUBLIC rocblas_status rocblas_set_performance_metric(rocblas_handle handle, rocblas_performance_metric metric)
{
    return handle ? (handle->metric = metric, rocblas_status_success) : rocblas_status_invalid_handle;
}

PUBLIC rocblas_status rocblas_set_math_mode(rocblas_handle handle, rocblas_math_mode math_mode)
{
    return handle ? (handle->math_mode = math_mode, rocblas_status_success) : rocblas_status_invalid_handle;
}

// Loads every library file, as the real library does: loaded is not used.
PUBLIC void rocblas_initialize(void)
{
    pthread_mutex_lock(&lock);
    for (int file = 0; file <= TENSILE_TYPES * TENSILE_LAYOUTS; file++)
        if (!tried[file])
            load(file);
    pthread_mutex_unlock(&lock);
}

static const char VERSION[] = "4.3.0.0-standin";

PUBLIC rocblas_status rocblas_get_version_string_size(size_t *len) { return *len = sizeof VERSION, rocblas_status_success; }

PUBLIC rocblas_status rocblas_get_version_string(char *buf, size_t len)
{
    if (!buf || len < sizeof VERSION)
        return buf ? rocblas_status_invalid_size : rocblas_status_invalid_pointer;
    memcpy(buf, VERSION, sizeof VERSION);
    return rocblas_status_success;
}

PUBLIC const char *rocblas_status_to_string(rocblas_status status)
{
    switch (status) {
#define NAME(s) case s: return #s;
        NAME(rocblas_status_success) NAME(rocblas_status_invalid_handle) NAME(rocblas_status_not_implemented) NAME(rocblas_status_invalid_pointer)
        NAME(rocblas_status_invalid_size) NAME(rocblas_status_internal_error) NAME(rocblas_status_invalid_value)
#undef NAME
    }
    return "<undefined rocblas_status value>";
}
