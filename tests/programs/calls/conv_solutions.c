// Convolutions by handle: Find 2.0 in all three directions, with the run's own descriptors and the
// problem's, a softmax, a fused problem, a solution that was saved and loaded; fusion plans with
// and without a convolution; a fused run.
// link: amdhip64 rocblas MIOpen
#include "miopen.h"
#include <stdio.h>
#include <stdlib.h>

static miopenHandle_t handle;
static char x[1 << 16], w[1 << 16], y[1 << 16], work[1 << 20];
static const float one = 1;

static miopenTensorDescriptor_t tensor(int n, int c, int h, int w)
{
    miopenTensorDescriptor_t t;
    miopenCreateTensorDescriptor(&t);
    miopenSet4dTensorDescriptor(t, miopenFloat, n, c, h, w);
    return t;
}

static miopenConvolutionDescriptor_t convolution(int pad)
{
    miopenConvolutionDescriptor_t conv;
    miopenCreateConvolutionDescriptor(&conv);
    miopenInitConvolutionDescriptor(conv, miopenConvolution, pad, pad, 1, 1, 1, 1);
    return conv;
}

static void find_and_run(const char *name, miopenProblem_t problem, miopenTensorDescriptor_t other)
{
    miopenSolution_t solutions[4];
    size_t found = 0;
    printf("%s: find %d", name, miopenFindSolutions(handle, problem, NULL, solutions, &found, 4));
    printf(" (%zu)\n", found);
    for (size_t i = 0; i < found; i++) {
        uint64_t id = 0;
        miopenTensorArgument_t args[] = {{miopenTensorConvolutionX, NULL, x}, {miopenTensorConvolutionW, NULL, w}, {miopenTensorConvolutionY, NULL, y}};
        printf("  run %d", miopenRunSolution(handle, solutions[i], 3, args, work, sizeof work));
        if (other) { // a descriptor of the run's own
            args[0].descriptor = &other;
            printf(", with its own x %d", miopenRunSolution(handle, solutions[i], 3, args, work, sizeof work));
        }
        printf(", solver %d", miopenGetSolutionSolverId(solutions[i], &id));
        printf(" %lu\n", (unsigned long)id);
    }
    for (size_t i = 0; i < found; i++)
        miopenDestroySolution(solutions[i]);
}

static miopenProblem_t problem(miopenProblemDirection_t direction, miopenTensorDescriptor_t x, miopenTensorDescriptor_t w, miopenTensorDescriptor_t y, int pad)
{
    miopenProblem_t problem;
    miopenConvolutionDescriptor_t conv = convolution(pad);
    miopenCreateConvProblem(&problem, conv, direction);
    miopenDestroyConvolutionDescriptor(conv); // it was copied
    miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX, x);
    miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionW, w);
    miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionY, y);
    return problem;
}

static void save_and_load(miopenProblem_t p)
{
    miopenSolution_t solution, loaded;
    size_t found = 0, size = 0;
    char data[4096];
    miopenFindSolutions(handle, p, NULL, &solution, &found, 1);
    int sized = miopenGetSolutionSize(solution, &size);
    int saved = miopenSaveSolution(solution, data), read = miopenLoadSolution(&loaded, data, size);
    printf("size %d, save %d, load %d", sized, saved, read);
    miopenTensorArgument_t args[] = {{miopenTensorConvolutionX, NULL, x}, {miopenTensorConvolutionW, NULL, w}, {miopenTensorConvolutionY, NULL, y}};
    printf(", run %d\n", miopenRunSolution(handle, loaded, 3, args, work, sizeof work));
    printf("run of nothing %d\n", miopenRunSolution(handle, NULL, 3, args, work, sizeof work));
    miopenDestroySolution(solution), miopenDestroySolution(loaded);
}

static void plans(miopenTensorDescriptor_t xD, miopenTensorDescriptor_t wD, miopenTensorDescriptor_t yD)
{
    miopenFusionPlanDescriptor_t plan, other;
    miopenFusionOpDescriptor_t op, bias, activation;
    miopenConvolutionDescriptor_t conv = convolution(1);
    miopenOperatorArgs_t args;
    miopenCreateOperatorArgs(&args);
    printf("plan %d", miopenCreateFusionPlan(&plan, miopenVerticalFusion, xD));
    printf(", convolution %d", miopenCreateOpConvForward(plan, &op, conv, wD));
    printf(", compile %d", miopenCompileFusionPlan(handle, plan)); // too little for a plan
    printf(", bias %d", miopenCreateOpBiasForward(plan, &bias, yD));
    printf(", activation %d", miopenCreateOpActivationForward(plan, &activation, miopenActivationRELU));
    printf(", compile %d", miopenCompileFusionPlan(handle, plan));
    printf(", arguments %d %d %d", miopenSetOpArgsConvForward(args, op, &one, &one, w), miopenSetOpArgsBiasForward(args, bias, &one, &one, x), miopenSetOpArgsActivForward(args, activation, &one, &one, 0, 0, 0));
    printf(", execute %d", miopenExecuteFusionPlan(handle, plan, xD, x, yD, y, args));
    printf(", without output %d\n", miopenExecuteFusionPlan(handle, plan, xD, x, NULL, y, args));
    printf("other plan %d", miopenCreateFusionPlan(&other, miopenVerticalFusion, xD));
    printf(", batch norm %d", miopenCreateOpBatchNormInference(other, &op, miopenBNSpatial, xD));
    printf(", activation %d", miopenCreateOpActivationForward(other, &activation, miopenActivationRELU));
    printf(", compile %d", miopenCompileFusionPlan(handle, other));
    printf(", execute %d\n", miopenExecuteFusionPlan(handle, other, xD, x, yD, y, args));
    printf("bias and activation %d\n", miopenConvolutionBiasActivationForward(handle, &one, xD, x, wD, w, conv, miopenConvolutionFwdAlgoDirect, work, sizeof work, &one, NULL, NULL, NULL, NULL, NULL, yD, y));
    miopenDestroyFusionPlan(plan), miopenDestroyFusionPlan(other);
    miopenDestroyOperatorArgs(args);
    miopenDestroyConvolutionDescriptor(conv);
}

int main(void)
{
    hipStream_t stream;
    miopenProblem_t p, softmax, bias;
    miopenTensorDescriptor_t xD = tensor(2, 3, 8, 8), wD = tensor(4, 3, 3, 3), yD = tensor(2, 4, 8, 8), big = tensor(2, 3, 8, 8);
    hipStreamCreate(&stream);
    printf("create %d\n", miopenCreateWithStream(&handle, stream));
    find_and_run("forward", p = problem(miopenProblemDirectionForward, xD, wD, yD, 1), big);
    miopenDestroyProblem(p); // the next problem may reuse its handle, and its solutions theirs
    find_and_run("backward", p = problem(miopenProblemDirectionBackward, xD, wD, yD, 1), NULL);
    miopenDestroyProblem(p);
    find_and_run("backward weights", p = problem(miopenProblemDirectionBackwardWeights, xD, wD, yD, 1), NULL);
    miopenDestroyProblem(p);
    find_and_run("shapes that do not fit", p = problem(miopenProblemDirectionForward, xD, wD, yD, 0), NULL);
    miopenDestroyProblem(p);
    miopenCreateSoftmaxProblem(&softmax, NULL, miopenProblemDirectionForward);
    find_and_run("softmax", softmax, NULL);
    miopenDestroyProblem(softmax);
    p = problem(miopenProblemDirectionForward, xD, wD, yD, 1);
    save_and_load(p);
    miopenCreateBiasProblem(&bias, miopenProblemDirectionForward);
    printf("fuse %d\n", miopenFuseProblems(p, bias));
    find_and_run("fused", p, NULL);
    miopenDestroyProblem(p), miopenDestroyProblem(bias);
    plans(xD, wD, yD);
    printf("destroy %d\n", miopenDestroy(handle));
    return 0;
}
