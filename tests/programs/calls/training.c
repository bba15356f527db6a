// Steps of a training as PyTorch makes them: forward on the main thread, backward on another that
// stays, the optimiser on the main thread, and the loss read back at the end of each step:
//   training [STEPS [ranges] [quiet]] `ranges` puts the parts of a step into ranges of roctx,
//   `quiet` reads no loss back. It prints what it launched and called in each part.
// link: amdhip64 rocblas hipblaslt MIOpen roctx64
// kernel: 0 add _ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_ is
// kernel: 0 relu _ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_19launch_clamp_scalarERNS_18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EEEEviT0_T1_ is
// kernel: 0 relu_gradient _ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_21threshold_kernel_implERNS_18TensorIteratorBaseEffEUlffE_St5arrayIPcLm3EEEEviT0_T1_ is
// kernel: 1 sum _ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_11sum_functorIfEEEEEEvT1_ s
// kernel: 1 softmax _ZN12_GLOBAL__N_120softmax_warp_forwardIfffLi4ELb1ELb0EEEvPT0_PKT_iiiPKbib ppiiipii
// kernel: 1 softmax_backward _ZN12_GLOBAL__N_121softmax_warp_backwardIfffLi4ELb1ELb0EEEvPT0_PKT_S5_iiiPKb pppiiip
// kernel: 1 loss _ZN2at6native12_GLOBAL__N_138nll_loss_forward_reduce_cuda_kernel_2dIfflEEvPT_S4_PKS3_PKT1_S6_bS7_S7_S7_S7_ pppppillll
// kernel: 1 loss_backward _ZN2at6native12_GLOBAL__N_139nll_loss_backward_reduce_cuda_kernel_2dIflEEvPT_PKS3_PKT0_S6_S6_biiS7_S7_ pppppiiill
// kernel: 2 count_step _ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi1EEENS1_21BinaryOpScalarFunctorIfLi1ELi1ELi0EEEJfEEEvT_T0_DpT1_ ssi
// kernel: 2 adam _ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_32FusedOptimizerTensorListMetadataILi4EEENS1_20FusedAdamMathFunctorIfLi4ELNS1_9ADAM_MODEE0ELb0EEEJPKfddEEEvT_T0_DpT1_ sspll
#include "training.fatbin.h"
#include "hipblaslt.h"
#include "miopen.h"
#include "roctx.h"
// The names of types and transposes differ between rocBLAS and hipBLASLt.
#include "rocblas.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 8, CHANNELS = 16, SIDE = 32, HIDDEN = 128, CLASSES = 10, PIXELS = CHANNELS * SIDE * SIDE };

static miopenHandle_t miopen;
static rocblas_handle blas;
static hipblasLtHandle_t lt;
static miopenTensorDescriptor_t images, activations, first_weights, second_weights;
static miopenConvolutionDescriptor_t conv;
static char *memory;
static float loss_value;
static int failed, has_ranges;
static struct { int launches, gemms, matmuls, convolutions; } done; // of the current part

// ---- the calls of a part ----

static void launch(const void *kernel, unsigned blocks, unsigned threads)
{
    static char zeros[64];
    void *params[12];
    for (int i = 0; i < 12; i++)
        params[i] = zeros;
    failed += !!hipLaunchKernel(kernel, (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, params, 0, NULL);
    done.launches++;
}

static void gemm(rocblas_operation ta, rocblas_operation tb, int m, int n, int k)
{
    const float one = 1, zero = 0;
    const rocblas_datatype f32 = rocblas_datatype_f32_r;
    int lda = ta == rocblas_operation_none ? m : k, ldb = tb == rocblas_operation_none ? k : n;
    failed += !!rocblas_gemm_ex(blas, ta, tb, m, n, k, &one, memory, f32, lda, memory, f32, ldb, &zero, memory, f32, m, memory, f32, m, f32, rocblas_gemm_algo_standard, 0, 0);
    done.gemms++;
}

static hipblasLtMatrixLayout_t layout(int rows, int columns)
{
    hipblasLtMatrixLayout_t made;
    hipblasLtMatrixLayoutCreate(&made, HIP_R_32F, rows, columns, rows);
    return made;
}

static void matmul(int ta, int tb, int m, int n, int k, uint32_t epilogue)
{
    const float one = 1, zero = 0;
    const int32_t a = ta ? HIPBLAS_OP_T : HIPBLAS_OP_N, b = tb ? HIPBLAS_OP_T : HIPBLAS_OP_N;
    hipblasLtMatmulDesc_t product;
    hipblasLtMatrixLayout_t la = layout(ta ? k : m, ta ? m : k), lb = layout(tb ? n : k, tb ? k : n), lc = layout(m, n);
    hipblasLtMatmulDescCreate(&product, HIPBLAS_COMPUTE_32F, HIP_R_32F);
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a);
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b);
    hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    if (epilogue & HIPBLASLT_EPILOGUE_BIAS)
        hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_BIAS_POINTER, &memory, sizeof memory);
    failed += !!hipblasLtMatmul(lt, product, &one, memory, la, memory, lb, &zero, memory, lc, memory, lc, NULL, NULL, 0, NULL);
    hipblasLtMatmulDescDestroy(product);
    hipblasLtMatrixLayoutDestroy(la), hipblasLtMatrixLayoutDestroy(lb), hipblasLtMatrixLayoutDestroy(lc);
    done.matmuls++;
}

// Immediate mode: a solution is chosen and compiled on first use. NUMBER identifies the
// convolution.
#define CONVOLVE(DIR, NUMBER, iD, jD, oD) do { \
        static miopenConvSolution_t chosen[2]; \
        size_t found = 0; \
        if (!chosen[NUMBER].solution_id) { \
            failed += !!miopenConvolution##DIR##GetSolution(miopen, iD, jD, conv, oD, 1, &found, &chosen[NUMBER]); \
            failed += !!miopenConvolution##DIR##CompileSolution(miopen, iD, jD, conv, oD, chosen[NUMBER].solution_id); \
        } \
        failed += !!miopenConvolution##DIR##Immediate(miopen, iD, memory, jD, memory, conv, oD, memory, memory, 1 << 20, chosen[NUMBER].solution_id); \
        done.convolutions++; \
    } while (0)

// ---- the parts ----

static void forward(void)
{
    CONVOLVE(Forward, 0, first_weights, images, activations);
    launch(&relu, BATCH * PIXELS / 1024, 256);
    CONVOLVE(Forward, 1, second_weights, activations, activations);
    launch(&add, BATCH * PIXELS / 1024, 256);
    launch(&relu, BATCH * PIXELS / 1024, 256);
    gemm(rocblas_operation_transpose, rocblas_operation_none, HIDDEN, BATCH, PIXELS);
    launch(&add, 1, 256);
    matmul(1, 0, CLASSES, BATCH, HIDDEN, HIPBLASLT_EPILOGUE_BIAS);
    launch(&softmax, 1, 128);
    launch(&loss, 1, 32);
}

static void backward(void)
{
    launch(&loss_backward, 1, 32);
    launch(&softmax_backward, 1, 128);
    matmul(0, 0, HIDDEN, BATCH, CLASSES, HIPBLASLT_EPILOGUE_DEFAULT);
    matmul(0, 1, HIDDEN, CLASSES, BATCH, HIPBLASLT_EPILOGUE_DEFAULT);
    launch(&sum, 1, 512);
    gemm(rocblas_operation_none, rocblas_operation_none, PIXELS, BATCH, HIDDEN);
    gemm(rocblas_operation_none, rocblas_operation_transpose, PIXELS, HIDDEN, BATCH);
    launch(&relu_gradient, BATCH * PIXELS / 1024, 256);
    CONVOLVE(BackwardData, 1, activations, second_weights, activations);
    CONVOLVE(BackwardWeights, 1, activations, activations, second_weights);
    launch(&relu_gradient, BATCH * PIXELS / 1024, 256);
    CONVOLVE(BackwardWeights, 0, activations, images, first_weights);
}

static void optimise(void)
{
    launch(&count_step, 1, 512);
    launch(&adam, 64, 512);
    launch(&adam, 3, 512);
}

// ---- the backward thread ----

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static enum { REST, GO, END } asked;

static void *go_backward(void *unused)
{
    pthread_mutex_lock(&turn);
    for (;;) {
        while (asked == REST)
            pthread_cond_wait(&turned, &turn);
        if (asked == END)
            break;
        backward();
        asked = REST;
        pthread_cond_broadcast(&turned);
    }
    pthread_mutex_unlock(&turn);
    return unused;
}

static void ask(int what)
{
    pthread_mutex_lock(&turn);
    asked = what;
    pthread_cond_broadcast(&turned);
    while (asked == GO)
        pthread_cond_wait(&turned, &turn);
    pthread_mutex_unlock(&turn);
}

static void backward_elsewhere(void)
{
    ask(GO);
}

// ---- steps ----

static void part(int step, const char *name, void (*work)(void))
{
    memset(&done, 0, sizeof done);
    if (has_ranges)
        roctxRangePushA(name);
    work();
    if (has_ranges)
        roctxRangePop();
    printf("step %d %s: %d launches, %d gemms, %d matmuls, %d convolutions\n", step, name, done.launches, done.gemms, done.matmuls, done.convolutions);
}

static miopenTensorDescriptor_t tensor(int n, int c, int side)
{
    miopenTensorDescriptor_t made;
    miopenCreateTensorDescriptor(&made);
    miopenSet4dTensorDescriptor(made, miopenFloat, n, c, side, side);
    return made;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 3, is_quiet = 0;
    for (int i = 2; i < argc; i++)
        has_ranges |= !strcmp(argv[i], "ranges"), is_quiet |= !strcmp(argv[i], "quiet");
    pthread_t thread;
    failed += !!hipMalloc((void **)&memory, 64 << 20);
    failed += !!miopenCreate(&miopen) + !!rocblas_create_handle(&blas) + !!hipblasLtCreate(&lt);
    images = tensor(BATCH, 3, SIDE), activations = tensor(BATCH, CHANNELS, SIDE);
    first_weights = tensor(CHANNELS, 3, 3), second_weights = tensor(CHANNELS, CHANNELS, 3);
    miopenCreateConvolutionDescriptor(&conv);
    miopenInitConvolutionDescriptor(conv, miopenConvolution, 1, 1, 1, 1, 1, 1);
    pthread_create(&thread, NULL, go_backward, NULL);
    for (int step = 1; step <= steps; step++) {
        part(step, "forward", forward);
        part(step, "backward", backward_elsewhere);
        part(step, "optimizer", optimise);
        if (!is_quiet) { // loss.item()
            failed += !!hipMemcpyAsync(&loss_value, memory, sizeof loss_value, hipMemcpyDeviceToHost, NULL) + !!hipStreamSynchronize(NULL);
            printf("step %d item: 1 copy\n", step);
        }
    }
    ask(END);
    pthread_join(thread, NULL);
    failed += !!hipDeviceSynchronize();
    miopenDestroy(miopen), rocblas_destroy_handle(blas), hipblasLtDestroy(lt);
    printf("failed %d\n", failed);
    return failed != 0;
}
