// Convolutions in all three directions: find and run, then immediate mode by solution id; 2-d,
// grouped, 1x1 and 3-d.
// link: amdhip64 rocblas MIOpen
#include "miopen.h"
#include <stdio.h>
#include <stdlib.h>

static miopenHandle_t handle;
static char x[1 << 16], w[1 << 16], y[1 << 16], work[1 << 20];
static const float one = 1, zero = 0;

static miopenTensorDescriptor_t tensor(int dims, const int *lens)
{
    miopenTensorDescriptor_t t;
    miopenCreateTensorDescriptor(&t);
    miopenSetTensorDescriptor(t, miopenFloat, dims, lens, NULL);
    return t;
}

#define FIND_AND_RUN(DIR, aD, a, bD, b, oD, o) do { \
        miopenConvAlgoPerf_t perf[4]; \
        int n = 0, found = miopenFindConvolution##DIR##Algorithm(handle, aD, a, bD, b, conv, oD, o, 4, &n, perf, work, sizeof work, false); \
        printf("%s " #DIR ": find %d", name, found); \
        for (int i = 0; i < n; i++) \
            printf(", algorithm %d run %d", perf[i].algo, miopenConvolution##DIR(handle, &one, aD, a, bD, b, conv, perf[i].algo, &zero, oD, o, work, sizeof work)); \
        puts(""); \
    } while (0)

#define IMMEDIATE(DIR, aD, a, bD, b, oD, o) do { \
        miopenConvSolution_t all[4]; \
        size_t count = 0, n = 0, size = 0; \
        int counted = miopenConvolution##DIR##GetSolutionCount(handle, aD, bD, conv, oD, &count); \
        int got = miopenConvolution##DIR##GetSolution(handle, aD, bD, conv, oD, 4, &n, all); \
        printf("%s " #DIR ": count %d (%zu), get %d", name, counted, count, got); \
        for (size_t i = 0; i < n; i++) { \
            int room = miopenConvolution##DIR##GetSolutionWorkspaceSize(handle, aD, bD, conv, oD, all[i].solution_id, &size); \
            int compiled = miopenConvolution##DIR##CompileSolution(handle, aD, bD, conv, oD, all[i].solution_id); \
            int ran = miopenConvolution##DIR##Immediate(handle, aD, a, bD, b, conv, oD, o, work, sizeof work, all[i].solution_id); \
            printf(", solution %lu workspace %d (%zu) compile %d run %d", all[i].solution_id, room, size, compiled, ran); \
        } \
        printf(", unknown id %d\n", miopenConvolution##DIR##Immediate(handle, aD, a, bD, b, conv, oD, o, work, sizeof work, 9999)); \
    } while (0)

static void both_ways(const char *name, int dims, const int *xs, const int *ws, const int *ys, int pad, int groups)
{
    miopenTensorDescriptor_t xD = tensor(dims, xs), wD = tensor(dims, ws), yD = tensor(dims, ys);
    miopenConvolutionDescriptor_t conv;
    int pads[] = {pad, pad, pad}, ones[] = {1, 1, 1};
    miopenCreateConvolutionDescriptor(&conv);
    miopenInitConvolutionNdDescriptor(conv, dims - 2, pads, ones, ones, miopenConvolution);
    miopenSetConvolutionGroupCount(conv, groups);
    FIND_AND_RUN(Forward, xD, x, wD, w, yD, y);
    FIND_AND_RUN(BackwardData, yD, y, wD, w, xD, x);
    FIND_AND_RUN(BackwardWeights, yD, y, xD, x, wD, w);
    IMMEDIATE(Forward, wD, w, xD, x, yD, y); // forward, immediate mode takes the filter first
    IMMEDIATE(BackwardData, yD, y, wD, w, xD, x);
    IMMEDIATE(BackwardWeights, yD, y, xD, x, wD, w);
    miopenDestroyConvolutionDescriptor(conv);
    miopenDestroyTensorDescriptor(xD), miopenDestroyTensorDescriptor(wD), miopenDestroyTensorDescriptor(yD);
}

int main(void)
{
    hipStream_t stream;
    hipStreamCreate(&stream);
    printf("create %d\n", miopenCreate(&handle));
    printf("set stream %d\n", miopenSetStream(handle, stream));
    both_ways("3x3", 4, (int[]){2, 3, 8, 8}, (int[]){4, 3, 3, 3}, (int[]){2, 4, 8, 8}, 1, 1);
    both_ways("3x3 in 2 groups", 4, (int[]){1, 4, 8, 8}, (int[]){6, 2, 3, 3}, (int[]){1, 6, 8, 8}, 1, 2);
    both_ways("1x1", 4, (int[]){1, 8, 4, 4}, (int[]){16, 8, 1, 1}, (int[]){1, 16, 4, 4}, 0, 1);
    both_ways("3-d", 5, (int[]){1, 2, 4, 4, 4}, (int[]){3, 2, 3, 3, 3}, (int[]){1, 3, 4, 4, 4}, 1, 1);
    both_ways("channels differ", 4, (int[]){1, 5, 4, 4}, (int[]){3, 2, 1, 1}, (int[]){1, 3, 4, 4}, 0, 1);
    printf("destroy %d\n", miopenDestroy(handle));
    return 0;
}
