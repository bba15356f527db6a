// libMIOpen stand-in: problems and solutions (Find 2.0). Descriptors are copied when they are
// passed, as in the real library.
#include "miopen_descriptors.h"

struct miopenProblem {
    bool is_convolution;
    enum direction direction;
    struct miopenTensorDescriptor tensors[3]; // x, w, y; without dimensions while they are not given
    struct miopenConvolutionDescriptor conv;
};
struct miopenSolution {
    struct miopenProblem problem;
    struct candidate candidate;
};
enum { SOFTMAX_SOLVER = 157 };

// The convolution of `p`, with its tensors in the order of their names.
static struct problem convolution(struct miopenProblem *p, miopenHandle_t handle)
{
    miopenTensorDescriptor_t t[3];
    for (int i = 0; i < 3; i++)
        t[i] = p->tensors[i].dims ? &p->tensors[i] : NULL;
    return (struct problem){p->direction, handle, t[0], t[1], t[2], &p->conv};
}

static miopenStatus_t softmax(miopenHandle_t handle)
{
    void *p = NULL, *params[] = {&p, &p};
    hipFunction_t f = miopen_kernel("SoftmaxForward", "pp");
    return f && !hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, handle->stream, params, NULL) ? miopenStatusSuccess : miopenStatusInternalError;
}

PUBLIC miopenStatus_t miopenCreateConvProblem(miopenProblem_t *problem, miopenConvolutionDescriptor_t operatorDesc, miopenProblemDirection_t direction)
{
    if (!problem || !operatorDesc)
        return FAILS();
    *problem = calloc(1, sizeof **problem);
    **problem = (struct miopenProblem){.is_convolution = true, .direction = (enum direction)direction, .conv = *operatorDesc};
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenCreateBiasProblem(miopenProblem_t *problem, miopenProblemDirection_t direction)
{
    (void)direction;
    return *problem = calloc(1, sizeof **problem), miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenCreateSoftmaxProblem(miopenProblem_t *problem, miopenSoftmaxDescriptor_t operatorDesc, miopenProblemDirection_t direction)
{
    (void)operatorDesc;
    return miopenCreateBiasProblem(problem, direction);
}

PUBLIC miopenStatus_t miopenSetProblemTensorDescriptor(miopenProblem_t problem, miopenTensorArgumentId_t id, miopenTensorDescriptor_t descriptor)
{
    if (!problem || !descriptor)
        return FAILS();
    if (id >= miopenTensorConvolutionX && id <= miopenTensorConvolutionY)
        problem->tensors[id - miopenTensorConvolutionX] = *descriptor;
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenFuseProblems(miopenProblem_t problem1, miopenProblem_t problem2)
{
    if (!problem1->is_convolution)
        *problem1 = *problem2;
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenDestroyProblem(miopenProblem_t problem) { return free(problem), miopenStatusSuccess; }

PUBLIC miopenStatus_t miopenFindSolutions(miopenHandle_t handle, miopenProblem_t problem, miopenFindOptions_t options, miopenSolution_t *solutions, size_t *numSolutions, size_t maxSolutions)
{
    struct problem p = convolution(problem, handle);
    struct candidate both[2] = {{SOFTMAX_SOLVER, -1, 0.25f, 0}, {0}};
    size_t n = 0, room = 1 << 20;
    miopenStatus_t status = miopenStatusSuccess;
    (void)options;
    if (problem->is_convolution && !problem_is_valid(&p))
        status = FAILS();
    else if (problem->is_convolution)
        problem_candidates(&p, both);
    for (size_t i = 0; !status && n < maxSolutions && i < 2 && both[i].id; i++) {
        status = problem->is_convolution ? problem_run(&p, both[i].id, solutions, solutions, solutions, solutions, room) : softmax(handle);
        solutions[n] = calloc(1, sizeof **solutions);
        *solutions[n++] = (struct miopenSolution){*problem, both[i]};
    }
    if (numSolutions)
        *numSolutions = n;
    if (problem->is_convolution)
        problem_log(__func__, &p, -1, 0, 0, status);
    return status;
}

PUBLIC miopenStatus_t miopenRunSolution(miopenHandle_t handle, miopenSolution_t solution, size_t nInputs, const miopenTensorArgument_t *tensors, void *workspace, size_t workspaceSize)
{
    if (!solution)
        return FAILS();
    struct miopenProblem run = solution->problem;
    void *buffers[3] = {NULL};
    for (size_t i = 0; i < nInputs; i++) {
        unsigned place = tensors[i].id - miopenTensorConvolutionX;
        if (place < 3) {
            buffers[place] = tensors[i].buffer;
            if (tensors[i].descriptor)
                run.tensors[place] = **tensors[i].descriptor;
        }
    }
    if (!run.is_convolution)
        return softmax(handle);
    struct problem p = convolution(&run, handle);
    static const int ORDER[][3] = {{0, 1, 2}, {2, 1, 0}, {2, 0, 1}}; // what is read first and second, what is written
    const int *order = ORDER[p.direction];
    miopenStatus_t status = problem_run(&p, solution->candidate.id, buffers[order[0]], buffers[order[1]], buffers[order[2]], workspace, workspaceSize);
    problem_log(__func__, &p, -1, solution->candidate.id, workspaceSize, status);
    return status;
}

PUBLIC miopenStatus_t miopenDestroySolution(miopenSolution_t solution) { return free(solution), miopenStatusSuccess; }

PUBLIC miopenStatus_t miopenGetSolutionSize(miopenSolution_t solution, size_t *size)
{
    return solution ? (*size = sizeof *solution, miopenStatusSuccess) : FAILS();
}

PUBLIC miopenStatus_t miopenSaveSolution(miopenSolution_t solution, char *data) { return memcpy(data, solution, sizeof *solution), miopenStatusSuccess; }

PUBLIC miopenStatus_t miopenLoadSolution(miopenSolution_t *solution, const char *data, size_t size)
{
    if (!data || size != sizeof **solution)
        return FAILS();
    return memcpy(*solution = malloc(size), data, size), miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenGetSolutionWorkspaceSize(miopenSolution_t solution, size_t *workspaceSize)
{
    CALLED();
    return solution ? (*workspaceSize = solution->candidate.workspace, miopenStatusSuccess) : FAILS();
}

PUBLIC miopenStatus_t miopenGetSolutionTime(miopenSolution_t solution, float *time)
{
    CALLED();
    return solution ? (*time = solution->candidate.time, miopenStatusSuccess) : FAILS();
}

PUBLIC miopenStatus_t miopenGetSolutionSolverId(miopenSolution_t solution, uint64_t *solverId)
{
    CALLED();
    return solution ? (*solverId = solution->candidate.id, miopenStatusSuccess) : FAILS();
}
