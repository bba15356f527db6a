// libMIOpen stand-in: a few layers. Each logs all its arguments and launches one kernel.
#include "miopen_descriptors.h"

#define SHOWN(format, ...) standin_log(STANDIN_CALL, __func__, "arguments=" format "\t0", __VA_ARGS__)

static miopenStatus_t launch(miopenHandle_t handle, const char *name)
{
    void *p = NULL, *params[] = {&p, &p};
    hipFunction_t f = handle ? miopen_kernel(name, "pp") : NULL;
    return f && !hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, handle->stream, params, NULL) ? miopenStatusSuccess : miopenStatusBadParm;
}

PUBLIC miopenStatus_t miopenSoftmaxForward(miopenHandle_t handle, const void *alpha, miopenTensorDescriptor_t xDesc, const void *x, const void *beta, miopenTensorDescriptor_t yDesc, void *y)
{
    SHOWN("%d,%d,%d,%d,%d,%d", !alpha, !xDesc, !x, !beta, !yDesc, !y);
    return launch(handle, "SoftmaxForward");
}

PUBLIC miopenStatus_t miopenBatchNormalizationForwardTraining(miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha, void *beta, miopenTensorDescriptor_t xDesc, const void *x, miopenTensorDescriptor_t yDesc, void *y, miopenTensorDescriptor_t bnScaleBiasMeanVarDesc, void *bnScale, void *bnBias, double expAvgFactor, void *resultRunningMean, void *resultRunningVariance, double epsilon, void *resultSaveMean, void *resultSaveInvVariance)
{
    SHOWN("%d,%p,%p,%d,%p,%d,%p,%d,%p,%p,%g,%p,%p,%g,%p,%p", bn_mode, alpha, beta, !xDesc, x, !yDesc, y, !bnScaleBiasMeanVarDesc, bnScale, bnBias, expAvgFactor, resultRunningMean, resultRunningVariance, epsilon, resultSaveMean, resultSaveInvVariance);
    return launch(handle, "MIOpenBatchNormFwdTrainSpatial");
}

PUBLIC miopenStatus_t miopenFusedAdam(miopenHandle_t handle, miopenTensorDescriptor_t paramDesc, void *param, miopenTensorDescriptor_t gradDesc, const void *grad, miopenTensorDescriptor_t expAvgDesc, void *expAvg, miopenTensorDescriptor_t expAvgSqDesc, void *expAvgSq, miopenTensorDescriptor_t maxExpAvgSqDesc, void *maxExpAvgSq, miopenTensorDescriptor_t stateStepDesc, void *stateStep, unsigned int state_step, float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, bool adamw, miopenTensorDescriptor_t gradScaleDesc, const void *gradScale, miopenTensorDescriptor_t foundInfDesc, const void *foundInf)
{
    SHOWN("%d,%p,%d,%p,%d,%p,%d,%p,%d,%p,%d,%p,%u,%g,%g,%g,%g,%g,%d,%d,%d,%d,%p,%d,%p", !paramDesc, param, !gradDesc, grad, !expAvgDesc, expAvg, !expAvgSqDesc, expAvgSq, !maxExpAvgSqDesc, maxExpAvgSq, !stateStepDesc, stateStep, state_step, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, adamw, !gradScaleDesc, gradScale, !foundInfDesc, foundInf);
    return launch(handle, "AdamPacked");
}
