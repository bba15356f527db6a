// The part of the MIOpen API that the stand-ins provide, with its own names and signatures.
#ifndef MIOPEN_H
#define MIOPEN_H

#include "hip.h"
#include <stdbool.h>

typedef struct miopenHandle *miopenHandle_t;
typedef struct miopenTensorDescriptor *miopenTensorDescriptor_t;
typedef struct miopenConvolutionDescriptor *miopenConvolutionDescriptor_t;
typedef struct miopenProblem *miopenProblem_t;
typedef struct miopenFindOptions *miopenFindOptions_t;
typedef struct miopenSolution *miopenSolution_t;
typedef struct miopenFusionPlan *miopenFusionPlanDescriptor_t;
typedef struct miopenFusionOp *miopenFusionOpDescriptor_t;
typedef struct miopenOperatorArgs *miopenOperatorArgs_t;
typedef struct miopenSoftmaxDescriptor *miopenSoftmaxDescriptor_t;
typedef struct miopenActivationDescriptor *miopenActivationDescriptor_t;
typedef hipStream_t miopenAcceleratorQueue_t;
typedef enum { miopenStatusSuccess = 0, miopenStatusNotInitialized = 1, miopenStatusInvalidValue = 2, miopenStatusBadParm = 3, miopenStatusInternalError = 5, miopenStatusUnknownError = 7, miopenStatusUnsupportedOp = 8 } miopenStatus_t;
typedef enum { miopenHalf = 0, miopenFloat = 1, miopenInt32 = 2, miopenInt8 = 3, miopenBFloat16 = 5, miopenDouble = 6 } miopenDataType_t;
typedef enum { miopenConvolution = 0, miopenTranspose = 1 } miopenConvolutionMode_t;
typedef enum { miopenConvolutionFwdAlgoGEMM = 0, miopenConvolutionFwdAlgoDirect = 1 } miopenConvFwdAlgorithm_t;
typedef enum { miopenConvolutionBwdDataAlgoGEMM = 0, miopenConvolutionBwdDataAlgoDirect = 1 } miopenConvBwdDataAlgorithm_t;
typedef enum { miopenConvolutionBwdWeightsAlgoGEMM = 0, miopenConvolutionBwdWeightsAlgoDirect = 1 } miopenConvBwdWeightsAlgorithm_t;
typedef struct { int algo; float time; size_t memory; } miopenConvAlgoPerf_t;
typedef struct { float time; size_t workspace_size; uint64_t solution_id; int algorithm; } miopenConvSolution_t;

typedef enum { miopenProblemDirectionForward = 0, miopenProblemDirectionBackward = 1, miopenProblemDirectionBackwardWeights = 2 } miopenProblemDirection_t;
typedef enum { miopenTensorConvolutionX = 1, miopenTensorConvolutionW = 2, miopenTensorConvolutionY = 3, miopenTensorSoftmaxX = 44, miopenTensorSoftmaxY = 45 } miopenTensorArgumentId_t;
typedef struct { miopenTensorArgumentId_t id; miopenTensorDescriptor_t *descriptor; void *buffer; } miopenTensorArgument_t;
typedef enum { miopenVerticalFusion = 0, miopenHorizontalFusion = 1 } miopenFusionDirection_t;
typedef enum { miopenActivationPASTHRU = 0, miopenActivationRELU = 3 } miopenActivationMode_t;
typedef enum { miopenBNPerActivation = 0, miopenBNSpatial = 1 } miopenBatchNormMode_t;

const char *miopenGetErrorString(miopenStatus_t error);
miopenStatus_t miopenGetVersion(size_t *major, size_t *minor, size_t *patch);
miopenStatus_t miopenCreate(miopenHandle_t *handle);
miopenStatus_t miopenCreateWithStream(miopenHandle_t *handle, miopenAcceleratorQueue_t stream);
miopenStatus_t miopenDestroy(miopenHandle_t handle);
miopenStatus_t miopenSetStream(miopenHandle_t handle, miopenAcceleratorQueue_t streamID);
miopenStatus_t miopenGetStream(miopenHandle_t handle, miopenAcceleratorQueue_t *streamID);

miopenStatus_t miopenCreateTensorDescriptor(miopenTensorDescriptor_t *tensorDesc);
miopenStatus_t miopenDestroyTensorDescriptor(miopenTensorDescriptor_t tensorDesc);
miopenStatus_t miopenSet4dTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int n, int c, int h, int w);
miopenStatus_t miopenGet4dTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t *dataType, int *n, int *c, int *h, int *w, int *nStride, int *cStride, int *hStride, int *wStride);
miopenStatus_t miopenSetTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int nbDims, const int *dimsA, const int *stridesA);
miopenStatus_t miopenGetTensorDescriptorSize(miopenTensorDescriptor_t tensorDesc, int *size);
miopenStatus_t miopenGetTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t *dataType, int *dimsA, int *stridesA);

miopenStatus_t miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t *convDesc);
miopenStatus_t miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc);
miopenStatus_t miopenInitConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc, miopenConvolutionMode_t c_mode, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h, int dilation_w);
miopenStatus_t miopenInitConvolutionNdDescriptor(miopenConvolutionDescriptor_t convDesc, int spatialDim, const int *padA, const int *strideA, const int *dilationA, miopenConvolutionMode_t c_mode);
miopenStatus_t miopenGetConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc, miopenConvolutionMode_t *c_mode, int *pad_h, int *pad_w, int *stride_h, int *stride_w, int *dilation_h, int *dilation_w);
miopenStatus_t miopenGetConvolutionNdDescriptor(miopenConvolutionDescriptor_t convDesc, int requestedSpatialDim, int *spatialDim, int *padA, int *strideA, int *dilationA, miopenConvolutionMode_t *c_mode);
miopenStatus_t miopenGetConvolutionSpatialDim(miopenConvolutionDescriptor_t convDesc, int *spatialDim);
miopenStatus_t miopenGetConvolutionGroupCount(miopenConvolutionDescriptor_t convDesc, int *groupCount);
miopenStatus_t miopenSetConvolutionGroupCount(miopenConvolutionDescriptor_t convDesc, int groupCount);

miopenStatus_t miopenCreateConvProblem(miopenProblem_t *problem, miopenConvolutionDescriptor_t operatorDesc, miopenProblemDirection_t direction);
miopenStatus_t miopenCreateBiasProblem(miopenProblem_t *problem, miopenProblemDirection_t direction);
miopenStatus_t miopenCreateSoftmaxProblem(miopenProblem_t *problem, miopenSoftmaxDescriptor_t operatorDesc, miopenProblemDirection_t direction);
miopenStatus_t miopenSetProblemTensorDescriptor(miopenProblem_t problem, miopenTensorArgumentId_t id, miopenTensorDescriptor_t descriptor);
miopenStatus_t miopenFuseProblems(miopenProblem_t problem1, miopenProblem_t problem2);
miopenStatus_t miopenDestroyProblem(miopenProblem_t problem);
miopenStatus_t miopenFindSolutions(miopenHandle_t handle, miopenProblem_t problem, miopenFindOptions_t options, miopenSolution_t *solutions, size_t *numSolutions, size_t maxSolutions);
miopenStatus_t miopenRunSolution(miopenHandle_t handle, miopenSolution_t solution, size_t nInputs, const miopenTensorArgument_t *tensors, void *workspace, size_t workspaceSize);
miopenStatus_t miopenDestroySolution(miopenSolution_t solution);
miopenStatus_t miopenLoadSolution(miopenSolution_t *solution, const char *data, size_t size);
miopenStatus_t miopenSaveSolution(miopenSolution_t solution, char *data);
miopenStatus_t miopenGetSolutionSize(miopenSolution_t solution, size_t *size);
miopenStatus_t miopenGetSolutionWorkspaceSize(miopenSolution_t solution, size_t *workspaceSize);
miopenStatus_t miopenGetSolutionTime(miopenSolution_t solution, float *time);
miopenStatus_t miopenGetSolutionSolverId(miopenSolution_t solution, uint64_t *solverId);

miopenStatus_t miopenCreateFusionPlan(miopenFusionPlanDescriptor_t *fusePlanDesc, miopenFusionDirection_t fuseDirection, miopenTensorDescriptor_t inputDesc);
miopenStatus_t miopenDestroyFusionPlan(miopenFusionPlanDescriptor_t fusePlanDesc);
miopenStatus_t miopenCreateOpConvForward(miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *convOp, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t wDesc);
miopenStatus_t miopenCreateOpBiasForward(miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *biasOp, miopenTensorDescriptor_t bDesc);
miopenStatus_t miopenCreateOpActivationForward(miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *activFwdOp, miopenActivationMode_t mode);
miopenStatus_t miopenCreateOpBatchNormInference(miopenFusionPlanDescriptor_t fusePlanDesc, miopenFusionOpDescriptor_t *bnOp, miopenBatchNormMode_t bn_mode, miopenTensorDescriptor_t bnScaleBiasMeanVarDesc);
miopenStatus_t miopenCreateOperatorArgs(miopenOperatorArgs_t *args);
miopenStatus_t miopenDestroyOperatorArgs(miopenOperatorArgs_t args);
miopenStatus_t miopenSetOpArgsConvForward(miopenOperatorArgs_t args, miopenFusionOpDescriptor_t convOp, const void *alpha, const void *beta, const void *w);
miopenStatus_t miopenSetOpArgsBiasForward(miopenOperatorArgs_t args, miopenFusionOpDescriptor_t biasOp, const void *alpha, const void *beta, const void *bias);
miopenStatus_t miopenSetOpArgsActivForward(miopenOperatorArgs_t args, miopenFusionOpDescriptor_t activFwdOp, const void *alpha, const void *beta, double activAlpha, double activBeta, double activGamma);
miopenStatus_t miopenCompileFusionPlan(miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc);
miopenStatus_t miopenExecuteFusionPlan(miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc, miopenTensorDescriptor_t inputDesc, const void *input, miopenTensorDescriptor_t outputDesc, void *output, miopenOperatorArgs_t args);
miopenStatus_t miopenConvolutionBiasActivationForward(miopenHandle_t handle, const void *alpha1, miopenTensorDescriptor_t xDesc, const void *x, miopenTensorDescriptor_t wDesc, const void *w, miopenConvolutionDescriptor_t convDesc, miopenConvFwdAlgorithm_t algo, void *workspace, size_t workspaceSizeInBytes, const void *alpha2, miopenTensorDescriptor_t zDesc, const void *z, miopenTensorDescriptor_t biasDesc, const void *bias, miopenActivationDescriptor_t activationDesc, miopenTensorDescriptor_t yDesc, void *y);

miopenStatus_t miopenSoftmaxForward(miopenHandle_t handle, const void *alpha, miopenTensorDescriptor_t xDesc, const void *x, const void *beta, miopenTensorDescriptor_t yDesc, void *y);
miopenStatus_t miopenBatchNormalizationForwardTraining(miopenHandle_t handle, miopenBatchNormMode_t bn_mode, void *alpha, void *beta, miopenTensorDescriptor_t xDesc, const void *x, miopenTensorDescriptor_t yDesc, void *y, miopenTensorDescriptor_t bnScaleBiasMeanVarDesc, void *bnScale, void *bnBias, double expAvgFactor, void *resultRunningMean, void *resultRunningVariance, double epsilon, void *resultSaveMean, void *resultSaveInvVariance);
miopenStatus_t miopenFusedAdam(miopenHandle_t handle, miopenTensorDescriptor_t paramDesc, void *param, miopenTensorDescriptor_t gradDesc, const void *grad, miopenTensorDescriptor_t expAvgDesc, void *expAvg, miopenTensorDescriptor_t expAvgSqDesc, void *expAvgSq, miopenTensorDescriptor_t maxExpAvgSqDesc, void *maxExpAvgSq, miopenTensorDescriptor_t stateStepDesc, void *stateStep, unsigned int state_step, float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, bool adamw, miopenTensorDescriptor_t gradScaleDesc, const void *gradScale, miopenTensorDescriptor_t foundInfDesc, const void *foundInf);

miopenStatus_t miopenConvolutionForwardGetWorkSpaceSize(miopenHandle_t handle, miopenTensorDescriptor_t wDesc, miopenTensorDescriptor_t xDesc, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t yDesc, size_t *workSpaceSize);
miopenStatus_t miopenConvolutionBackwardDataGetWorkSpaceSize(miopenHandle_t handle, miopenTensorDescriptor_t dyDesc, miopenTensorDescriptor_t wDesc, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t dxDesc, size_t *workSpaceSize);
miopenStatus_t miopenConvolutionBackwardWeightsGetWorkSpaceSize(miopenHandle_t handle, miopenTensorDescriptor_t dyDesc, miopenTensorDescriptor_t xDesc, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t dwDesc, size_t *workSpaceSize);

// The three directions have the same shape: of the tensors (x, w, y), two are read and one is
// written. `o` is the written one.
#define MIOPEN_DIRECTIONS(FOR) \
    FOR(Forward, xDesc, x, wDesc, w, yDesc, y, wDesc, w, xDesc, x, miopenConvFwdAlgorithm_t) \
    FOR(BackwardData, dyDesc, dy, wDesc, w, dxDesc, dx, dyDesc, dy, wDesc, w, miopenConvBwdDataAlgorithm_t) \
    FOR(BackwardWeights, dyDesc, dy, xDesc, x, dwDesc, dw, dyDesc, dy, xDesc, x, miopenConvBwdWeightsAlgorithm_t)
// aD, a, bD, b: the inputs in the order of Find and run. iD, i, jD, j: in the order of immediate
// mode (Forward swaps them).
#define MIOPEN_PROTOTYPES(DIR, aD, a, bD, b, oD, o, iD, i, jD, j, algo_t) \
    miopenStatus_t miopenFindConvolution##DIR##Algorithm(miopenHandle_t handle, miopenTensorDescriptor_t aD, const void *a, miopenTensorDescriptor_t bD, const void *b, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, void *o, int requestAlgoCount, int *returnedAlgoCount, miopenConvAlgoPerf_t *perfResults, void *workSpace, size_t workSpaceSize, bool exhaustiveSearch); \
    miopenStatus_t miopenConvolution##DIR(miopenHandle_t handle, const void *alpha, miopenTensorDescriptor_t aD, const void *a, miopenTensorDescriptor_t bD, const void *b, miopenConvolutionDescriptor_t convDesc, algo_t algo, const void *beta, miopenTensorDescriptor_t oD, void *o, void *workSpace, size_t workSpaceSize); \
    miopenStatus_t miopenConvolution##DIR##GetSolutionCount(miopenHandle_t handle, miopenTensorDescriptor_t iD, miopenTensorDescriptor_t jD, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, size_t *solutionCount); \
    miopenStatus_t miopenConvolution##DIR##GetSolution(miopenHandle_t handle, miopenTensorDescriptor_t iD, miopenTensorDescriptor_t jD, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, size_t maxSolutionCount, size_t *solutionCount, miopenConvSolution_t *solutions); \
    miopenStatus_t miopenConvolution##DIR##GetSolutionWorkspaceSize(miopenHandle_t handle, miopenTensorDescriptor_t iD, miopenTensorDescriptor_t jD, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, uint64_t solution_id, size_t *workSpaceSize); \
    miopenStatus_t miopenConvolution##DIR##CompileSolution(miopenHandle_t handle, miopenTensorDescriptor_t iD, miopenTensorDescriptor_t jD, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, uint64_t solution_id); \
    miopenStatus_t miopenConvolution##DIR##Immediate(miopenHandle_t handle, miopenTensorDescriptor_t iD, const void *i, miopenTensorDescriptor_t jD, const void *j, miopenConvolutionDescriptor_t convDesc, miopenTensorDescriptor_t oD, void *o, void *workSpace, size_t workSpaceSize, uint64_t solution_id);
MIOPEN_DIRECTIONS(MIOPEN_PROTOTYPES)

#endif
