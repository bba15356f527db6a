// libMIOpen stand-in: fusion plans and the fused convolution. A plan compiles if it has more than
// one operation, which it tests once; it is a single kernel. Descriptors are copied when they are
// passed, as in the real library.
#include "miopen_descriptors.h"

enum { CONV, BIAS, ACTIVATION, BATCH_NORM, OPERATIONS };

struct miopenFusionOp { int kind; };
struct miopenFusionPlan {
    struct miopenFusionOp ops[OPERATIONS];
    bool has[OPERATIONS], is_compiled;
    struct miopenTensorDescriptor input, filter;
    struct miopenConvolutionDescriptor conv;
};
struct miopenOperatorArgs { const void *of[OPERATIONS]; };

// The convolution of a plan that runs on these tensors.
static struct problem convolution(miopenFusionPlanDescriptor_t plan, miopenHandle_t handle, miopenTensorDescriptor_t in, miopenTensorDescriptor_t out)
{
    return (struct problem){Forward, handle, in, &plan->filter, out, &plan->conv};
}

static miopenStatus_t launch(miopenHandle_t handle, bool has_conv, const struct miopenTensorDescriptor *in, const void *x, const void *w, const void *bias, const void *y)
{
    hipFunction_t f = has_conv ? miopen_kernel("miopenGcnAsmConv1x1U", "iiiiiiiippppp:64:0") : miopen_kernel("MIOpenBatchNormActivInferSpatialEst", "iiiiiiiippppp:32:0");
    struct { int32_t i[8]; const void *x, *w, *y, *unused, *bias; } args = {{in->lens[0], in->lens[1], in->lens[2], in->lens[3]}, x, w, y, NULL, bias};
    size_t size = sizeof args;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    return f && !hipExtModuleLaunchKernel(f, in->lens[1] * 64, in->lens[0], 1, 64, 1, 1, 0, handle->stream, NULL, extra, NULL, NULL, 0) ? miopenStatusSuccess : miopenStatusInternalError;
}

PUBLIC miopenStatus_t miopenCreateFusionPlan(miopenFusionPlanDescriptor_t *fusePlanDesc, miopenFusionDirection_t fuseDirection, miopenTensorDescriptor_t inputDesc)
{
    if (!fusePlanDesc || !inputDesc || fuseDirection != miopenVerticalFusion)
        return FAILS();
    *fusePlanDesc = calloc(1, sizeof **fusePlanDesc);
    (*fusePlanDesc)->input = *inputDesc;
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenDestroyFusionPlan(miopenFusionPlanDescriptor_t fusePlanDesc) { return free(fusePlanDesc), miopenStatusSuccess; }

static bool add(miopenFusionPlanDescriptor_t plan, miopenFusionOpDescriptor_t *op, int kind)
{
    if (!plan || !op || plan->has[kind])
        return false;
    plan->has[kind] = true;
    plan->ops[kind].kind = kind;
    *op = &plan->ops[kind];
    return true;
}

PUBLIC miopenStatus_t miopenCreateOpConvForward(miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *convOp, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t wDesc)
{
    if (!convDesc || !wDesc || !add(fusePlanDesc, convOp, CONV))
        return FAILS();
    fusePlanDesc->conv = *convDesc;
    fusePlanDesc->filter = *wDesc;
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenCreateOpBiasForward(miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *biasOp, miopenTensorDescriptor_t bDesc)
{
    return bDesc && add(fusePlanDesc, biasOp, BIAS) ? miopenStatusSuccess : FAILS();
}

PUBLIC miopenStatus_t miopenCreateOpActivationForward(miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *activFwdOp, miopenActivationMode_t mode)
{
    (void)mode;
    return add(fusePlanDesc, activFwdOp, ACTIVATION) ? miopenStatusSuccess : FAILS();
}

PUBLIC miopenStatus_t miopenCreateOpBatchNormInference(miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *bnOp, miopenBatchNormMode_t bn_mode, miopenTensorDescriptor_t bnScaleBiasMeanVarDesc)
{
    (void)bn_mode;
    return bnScaleBiasMeanVarDesc && add(fusePlanDesc, bnOp, BATCH_NORM) ? miopenStatusSuccess : FAILS();
}

PUBLIC miopenStatus_t miopenCompileFusionPlan(miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc)
{
    if (!handle || !fusePlanDesc)
        return FAILS();
    int operations = 0;
    for (int kind = 0; kind < OPERATIONS; kind++)
        operations += fusePlanDesc->has[kind];
    if (operations < 2)
        return FAILS(), miopenStatusUnsupportedOp;
    fusePlanDesc->is_compiled = true;
    return launch(handle, fusePlanDesc->has[CONV], &fusePlanDesc->input, NULL, NULL, NULL, NULL);
}

PUBLIC miopenStatus_t miopenCreateOperatorArgs(miopenOperatorArgs_t *args) { return *args = calloc(1, sizeof **args), miopenStatusSuccess; }
PUBLIC miopenStatus_t miopenDestroyOperatorArgs(miopenOperatorArgs_t args) { return free(args), miopenStatusSuccess; }

static miopenStatus_t set(miopenOperatorArgs_t args, miopenFusionOpDescriptor_t op, int kind, const void *value)
{
    return args && op && op->kind == kind ? (args->of[kind] = value, miopenStatusSuccess) : miopenStatusBadParm;
}

PUBLIC miopenStatus_t miopenSetOpArgsConvForward(miopenOperatorArgs_t args, miopenFusionOpDescriptor_t convOp, const void *alpha, const void *beta, const void *w) { return (void)alpha, (void)beta, set(args, convOp, CONV, w); }
PUBLIC miopenStatus_t miopenSetOpArgsBiasForward(miopenOperatorArgs_t args, miopenFusionOpDescriptor_t biasOp, const void *alpha, const void *beta, const void *bias) { return (void)alpha, (void)beta, set(args, biasOp, BIAS, bias); }
PUBLIC miopenStatus_t miopenSetOpArgsActivForward(miopenOperatorArgs_t args, miopenFusionOpDescriptor_t activFwdOp, const void *alpha, const void *beta, double activAlpha, double activBeta, double activGamma) { return (void)alpha, (void)beta, (void)activAlpha, (void)activBeta, (void)activGamma, set(args, activFwdOp, ACTIVATION, NULL); }

PUBLIC miopenStatus_t miopenExecuteFusionPlan(miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc, miopenTensorDescriptor_t inputDesc, const void *input, miopenTensorDescriptor_t outputDesc, void *output, miopenOperatorArgs_t args)
{
    if (!fusePlanDesc || !fusePlanDesc->is_compiled || !inputDesc || !outputDesc || !args || (fusePlanDesc->has[CONV] && !args->of[CONV]))
        return FAILS();
    bool has_conv = fusePlanDesc->has[CONV];
    miopenStatus_t status = launch(handle, has_conv, inputDesc, input, args->of[CONV], args->of[BIAS], output);
    struct problem p = convolution(fusePlanDesc, handle, inputDesc, outputDesc);
    if (has_conv)
        problem_log(__func__, &p, -1, 0, 0, status);
    return status;
}

PUBLIC miopenStatus_t miopenConvolutionBiasActivationForward(miopenHandle_t handle, const void *alpha1, miopenTensorDescriptor_t xDesc, const void *x, miopenTensorDescriptor_t wDesc, const void *w, miopenConvolutionDescriptor_t convDesc, miopenConvFwdAlgorithm_t algo, void *workspace, size_t workspaceSizeInBytes, const void *alpha2, miopenTensorDescriptor_t zDesc, const void *z, miopenTensorDescriptor_t biasDesc, const void *bias, miopenActivationDescriptor_t activationDesc, miopenTensorDescriptor_t yDesc, void *y)
{
    struct problem p = {Forward, handle, xDesc, wDesc, yDesc, convDesc};
    (void)alpha1, (void)alpha2, (void)zDesc, (void)z, (void)biasDesc, (void)activationDesc, (void)workspace;
    if (!problem_is_valid(&p))
        return FAILS();
    miopenStatus_t status = launch(handle, true, xDesc, x, w, bias, y);
    problem_log(__func__, &p, algo, 0, workspaceSizeInBytes, status);
    return status;
}
