// A short inference and training run on the stand-in libraries, for the demonstration: a prompt of
// 27 tokens and 8 decode steps with ggml's kernel names and argument lists, three GEMMs, a
// convolution found and one by solution id.
// link: amdhip64 rocblas MIOpen
// kernel: 0 mul_mat_q _ZL9mul_mat_qIL9ggml_type2ELi32ELb0EEvPKcPKiS4_S4_PfS5_iiiiiiiiiiiiiiiii ppppppiiiiiiiiiiiiiiiii:168:40448
// kernel: 0 quantize_mmq_q8_1 _ZL17quantize_mmq_q8_1IL18mmq_q8_1_ds_layout1EEvPKfPKiPvlllllii ppplllllii
// kernel: 0 mul_mat_vec_q _ZL13mul_mat_vec_qIL9ggml_type2ELi1ELb0ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj15HIP_vector_typeIjLj3EEjjjS8_jjjS8_jjjj pppspitiiitiiitiiii:48:0
// kernel: 0 quantize_q8_1 _ZL13quantize_q8_1PKfPvlllllj15HIP_vector_typeIjLj3EE pplllllit
// kernel: 1 rms_norm_f32 _ZL12rms_norm_f32ILi1024ELb1ELb0EEvPKfPfilllfS1_lll15HIP_vector_typeIjLj3EES4_S4_S4_S1_lllS4_S4_S4_S4_ ppillliplllttttpllltttt:24:128
// kernel: 1 rope_norm _ZL9rope_normILb1ELb0EffEvPKT1_PT2_iiiiiPKifff14rope_corr_dimsfPKfPKli ppiiiiipiiiwippi
// kernel: 1 k_set_rows _ZL10k_set_rowsIfl6__halfEvPKT_PKT0_PT1_lllllllllllll15HIP_vector_typeIjLj3EESA_SA_SA_SA_ ppplllllllllllllttttt
// kernel: 1 flash_attn_tile _ZL15flash_attn_tileILi128ELi128ELi32ELi1ELb0EEvPKcS1_S1_S1_S1_PKiPfP15HIP_vector_typeIfLj2EEffffjfiS5_IjLj3EEiiiiiiiiiiiliiliiiiil ppppppppiiiiiiitiiiiiiiiiiiliiliiiiil:128:18432
// kernel: 1 flash_attn_ext_vec _ZL18flash_attn_ext_vecILi128ELi1EL9ggml_type1ELS0_1ELb0EEvPKcS2_S2_S2_S2_PKiPfP15HIP_vector_typeIfLj2EEffffjfiS6_IjLj3EEiiiiiiiiiiiliiliiiiil ppppppppiiiiiiitiiiiiiiiiiiliiliiiiil:96:4352
#include "demo.fatbin.h"
#include "miopen.h"
#include "rocblas.h"
#include <stdio.h>
#include <string.h>

enum { LAYERS = 4, WIDTH = 4096, HEADS = 32, PROMPT = 27, STEPS = 8 };

static hipStream_t stream;
static char *memory;
static int launches, failed;

// Arguments by position: all zero except those that the caller names. No kernel has more than 48.
static union { void *p; int32_t i; int64_t l; char bytes[32]; } values[48];
static void *params[48];

static void launch(const void *kernel, dim3 grid, dim3 block, unsigned shared)
{
    failed += !!hipLaunchKernel(kernel, grid, block, params, shared, stream);
    launches++;
    memset(values, 0, sizeof values);
}

static void norm(int tokens)
{
    values[2].i = WIDTH;
    launch(&rms_norm_f32, (dim3){tokens, 1, 1}, (dim3){1024, 1, 1}, 128);
}

// weights[rows x WIDTH] * activations[WIDTH x tokens]: MMQ for a prompt, MMVQ for one token, as
// ggml chooses.
static void mul_mat(int rows, int tokens)
{
    if (tokens == 1) {
        values[2].l = values[3].l = values[6].l = WIDTH, values[7].i = 1;
        launch(&quantize_q8_1, (dim3){WIDTH / 256, 1, 1}, (dim3){256, 1, 1}, 0);
        values[0].p = memory, values[5].i = WIDTH, values[7].i = WIDTH / 32, values[9].i = rows;
        launch(&mul_mat_vec_q, (dim3){rows, 1, 1}, (dim3){32, 4, 1}, 0);
        return;
    }
    values[3].l = values[7].l = WIDTH, values[8].i = tokens, values[9].i = 1;
    launch(&quantize_mmq_q8_1, (dim3){tokens, WIDTH / 512, 1}, (dim3){128, 1, 1}, 0);
    values[0].p = memory, values[6].i = WIDTH, values[7].i = rows, values[8].i = tokens, values[9].i = WIDTH / 32;
    values[10].i = tokens, values[11].i = rows, values[22].i = tokens;
    launch(&mul_mat_q, (dim3){rows / 128, (tokens + 31) / 32, 1}, (dim3){32, 8, 1}, 28992);
}

static void tokens_through_model(int tokens)
{
    for (int layer = 0; layer < LAYERS; layer++) {
        norm(tokens);
        for (int i = 0; i < 3; i++) // q, k, v
            mul_mat(WIDTH, tokens);
        for (int i = 0; i < 2; i++)
            launch(&rope_norm, (dim3){tokens * HEADS, 1, 1}, (dim3){1, 256, 1}, 0);
        for (int i = 0; i < 2; i++)
            launch(&k_set_rows, (dim3){tokens * WIDTH / 256, 1, 1}, (dim3){256, 1, 1}, 0);
        if (tokens == 1)
            launch(&flash_attn_ext_vec, (dim3){1, 1, HEADS}, (dim3){32, 4, 1}, 0);
        else
            launch(&flash_attn_tile, (dim3){(tokens + 31) / 32, 1, HEADS}, (dim3){32, 8, 1}, 0);
        mul_mat(WIDTH, tokens);
        norm(tokens);
        mul_mat(2 * WIDTH, tokens);
        mul_mat(WIDTH, tokens);
    }
    norm(tokens);
    mul_mat(8 * WIDTH, 1); // logits of the last token
    hipMemcpyAsync(memory, memory + 4096, 4096, hipMemcpyDeviceToHost, stream);
    hipStreamSynchronize(stream);
}

static void gemms(void)
{
    const rocblas_operation N = rocblas_operation_none, T = rocblas_operation_transpose;
    const rocblas_datatype f16 = rocblas_datatype_f16_r, f32 = rocblas_datatype_f32_r;
    const float one = 1, zero = 0;
    void *m = memory;
    rocblas_handle handle;
    failed += !!rocblas_create_handle(&handle) + !!rocblas_set_stream(handle, stream);
    failed += !!rocblas_gemm_ex(handle, T, N, 512, PROMPT, 128, &one, m, f16, 128, m, f16, 128, &zero, m, f16, 512, m, f16, 512, f32, rocblas_gemm_algo_standard, 0, 0);
    failed += !!rocblas_gemm_ex(handle, N, N, 256, 256, 64, &one, m, f32, 256, m, f32, 64, &zero, m, f32, 256, m, f32, 256, f32, rocblas_gemm_algo_standard, 0, 0);
    failed += !!rocblas_gemm_strided_batched_ex(handle, T, N, 64, PROMPT, 128, &one, m, f16, 128, 8192, m, f16, 128, 3456, &zero, m, f32, 64, 1728, m, f32, 64, 1728, HEADS, f32, rocblas_gemm_algo_standard, 0, 0);
    rocblas_destroy_handle(handle);
}

static unsigned long convolutions(void)
{
    const float one = 1, zero = 0;
    miopenHandle_t handle;
    miopenTensorDescriptor_t x, w, y;
    miopenConvolutionDescriptor_t conv;
    miopenConvAlgoPerf_t perf[2];
    miopenConvSolution_t solution = {0};
    size_t count = 0, work = 1 << 16;
    int found = 0;
    char *m = memory;
    failed += !!miopenCreateWithStream(&handle, stream);
    miopenCreateTensorDescriptor(&x), miopenCreateTensorDescriptor(&w), miopenCreateTensorDescriptor(&y);
    miopenCreateConvolutionDescriptor(&conv);
    miopenInitConvolutionDescriptor(conv, miopenConvolution, 1, 1, 1, 1, 1, 1);
    miopenSet4dTensorDescriptor(x, miopenFloat, 1, 16, 8, 8);
    miopenSet4dTensorDescriptor(w, miopenFloat, 32, 16, 3, 3);
    miopenSet4dTensorDescriptor(y, miopenFloat, 1, 32, 8, 8);
    failed += !!miopenFindConvolutionForwardAlgorithm(handle, x, m, w, m, conv, y, m, 2, &found, perf, m, work, false);
    failed += !!miopenConvolutionForward(handle, &one, x, m, w, m, conv, perf[0].algo, &zero, y, m, m, work);
    failed += !!miopenConvolutionForwardGetSolution(handle, w, x, conv, y, 1, &count, &solution);
    failed += !!miopenConvolutionForwardCompileSolution(handle, w, x, conv, y, solution.solution_id);
    failed += !!miopenConvolutionForwardImmediate(handle, w, m, x, m, conv, y, m, m, work, solution.solution_id);
    miopenDestroyConvolutionDescriptor(conv);
    miopenDestroyTensorDescriptor(x), miopenDestroyTensorDescriptor(w), miopenDestroyTensorDescriptor(y);
    miopenDestroy(handle);
    return solution.solution_id;
}

int main(void)
{
    for (int i = 0; i < 48; i++)
        params[i] = &values[i];
    hipStreamCreate(&stream);
    failed += !!hipMalloc((void **)&memory, 1 << 20) + !!hipMemsetAsync(memory, 0, 1 << 20, stream);
    tokens_through_model(PROMPT);
    printf("prompt: %d tokens, %d launches\n", PROMPT, launches);
    launches = 0;
    for (int step = 0; step < STEPS; step++)
        tokens_through_model(1);
    printf("decode: %d steps, %d launches\n", STEPS, launches);
    gemms();
    unsigned long id = convolutions();
    hipDeviceSynchronize();
    printf("training: 3 GEMMs, a convolution found, another by solution %lu; failed calls: %d\n", id, failed);
    hipFree(memory), hipStreamDestroy(stream);
    return failed != 0;
}
