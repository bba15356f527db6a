// Convolutions on the real MIOpen: find and run, then immediate mode by solution id, in all three
// directions; 3x3 and 1x1. Then Find 2.0: each solution is run once, and the ids of their solvers
// are printed in order.
// link: amdhip64 MIOpen
#include "../api/miopen.h"
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 8 << 20, AT_MOST = 16 };

static miopenHandle_t handle;
static void *x, *w, *y, *work;
static const float one = 1, zero = 0;

static miopenTensorDescriptor_t tensor(const int *lengths)
{
    miopenTensorDescriptor_t made;
    miopenCreateTensorDescriptor(&made);
    miopenSet4dTensorDescriptor(made, miopenFloat, lengths[0], lengths[1], lengths[2], lengths[3]);
    return made;
}

// The order depends on how fast a solver was, so it is not printed.
#define FIND_AND_RUN(DIR, aD, a, bD, b, oD, o) do { \
        miopenConvAlgoPerf_t found[AT_MOST]; \
        int count = 0, worst = 0, find = miopenFindConvolution##DIR##Algorithm(handle, aD, a, bD, b, conv, oD, o, AT_MOST, &count, found, work, ROOM, false); \
        for (int i = 0; i < count; i++) \
            worst |= miopenConvolution##DIR(handle, &one, aD, a, bD, b, conv, found[i].algo, &zero, oD, o, work, ROOM); \
        printf("%s " #DIR ": find %d, found %s, runs %d\n", name, find, count > 0 ? "some" : "none", worst); \
    } while (0)

#define IMMEDIATE(DIR, aD, a, bD, b, oD, o) do { \
        miopenConvSolution_t solutions[AT_MOST]; \
        size_t count = 0; \
        int worst = 0, get = miopenConvolution##DIR##GetSolution(handle, aD, bD, conv, oD, AT_MOST, &count, solutions); \
        for (size_t i = 0; i < count; i++) { \
            worst |= miopenConvolution##DIR##CompileSolution(handle, aD, bD, conv, oD, solutions[i].solution_id); \
            worst |= miopenConvolution##DIR##Immediate(handle, aD, a, bD, b, conv, oD, o, work, ROOM, solutions[i].solution_id); \
        } \
        printf("%s " #DIR ": solutions %d, got %s, runs %d\n", name, get, count > 0 ? "some" : "none", worst); \
    } while (0)

static void all_ways(const char *name, const int *xs, const int *ws, const int *ys, int pad)
{
    miopenTensorDescriptor_t xD = tensor(xs), wD = tensor(ws), yD = tensor(ys);
    miopenConvolutionDescriptor_t conv;
    miopenCreateConvolutionDescriptor(&conv);
    miopenInitConvolutionDescriptor(conv, miopenConvolution, pad, pad, 1, 1, 1, 1);
    FIND_AND_RUN(Forward, xD, x, wD, w, yD, y);
    FIND_AND_RUN(BackwardData, yD, y, wD, w, xD, x);
    FIND_AND_RUN(BackwardWeights, yD, y, xD, x, wD, w);
    IMMEDIATE(Forward, wD, w, xD, x, yD, y); // forward, immediate mode takes the filter first
    IMMEDIATE(BackwardData, yD, y, wD, w, xD, x);
    IMMEDIATE(BackwardWeights, yD, y, xD, x, wD, w);
    miopenDestroyConvolutionDescriptor(conv);
    miopenDestroyTensorDescriptor(xD), miopenDestroyTensorDescriptor(wD), miopenDestroyTensorDescriptor(yD);
}

static int by_number(const void *a, const void *b) { return *(const uint64_t *)a < *(const uint64_t *)b ? -1 : 1; }

static void by_handle(const int *xs, const int *ws, const int *ys)
{
    miopenTensorDescriptor_t descriptors[] = {tensor(xs), tensor(ws), tensor(ys)};
    miopenTensorArgument_t arguments[] = {{miopenTensorConvolutionX, NULL, x}, {miopenTensorConvolutionW, NULL, w}, {miopenTensorConvolutionY, NULL, y}};
    miopenConvolutionDescriptor_t conv;
    miopenProblem_t problem;
    miopenSolution_t solutions[AT_MOST];
    uint64_t ids[AT_MOST];
    size_t count = 0;
    int worst = 0;
    miopenCreateConvolutionDescriptor(&conv);
    miopenInitConvolutionDescriptor(conv, miopenConvolution, 1, 1, 1, 1, 1, 1);
    miopenCreateConvProblem(&problem, conv, miopenProblemDirectionForward);
    for (int i = 0; i < 3; i++)
        miopenSetProblemTensorDescriptor(problem, arguments[i].id, descriptors[i]);
    int find = miopenFindSolutions(handle, problem, NULL, solutions, &count, AT_MOST);
    for (size_t i = 0; i < count; i++) {
        worst |= miopenRunSolution(handle, solutions[i], 3, arguments, work, ROOM);
        worst |= miopenGetSolutionSolverId(solutions[i], &ids[i]);
        worst |= miopenDestroySolution(solutions[i]);
    }
    qsort(ids, count, sizeof *ids, by_number);
    printf("solvers");
    for (size_t i = 0; i < count; i++)
        printf(" %lu", (unsigned long)ids[i]);
    printf(": find %d, runs %d\n", find, worst);
    miopenDestroyProblem(problem);
    miopenDestroyConvolutionDescriptor(conv);
    for (int i = 0; i < 3; i++)
        miopenDestroyTensorDescriptor(descriptors[i]);
}

int main(void)
{
    hipMalloc(&x, ROOM), hipMalloc(&w, ROOM), hipMalloc(&y, ROOM), hipMalloc(&work, ROOM);
    printf("create %d\n", miopenCreate(&handle));
    all_ways("3x3", (int[]){2, 16, 28, 28}, (int[]){32, 16, 3, 3}, (int[]){2, 32, 28, 28}, 1);
    all_ways("1x1", (int[]){1, 64, 14, 14}, (int[]){32, 64, 1, 1}, (int[]){1, 32, 14, 14}, 0);
    by_handle((int[]){2, 16, 28, 28}, (int[]){32, 16, 3, 3}, (int[]){2, 32, 28, 28});
    printf("synchronize %d\n", hipDeviceSynchronize());
    printf("destroy %d\n", miopenDestroy(handle));
    return 0;
}
