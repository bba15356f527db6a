// Graphs and stream capture of the HIP API, with ROCm's own names, layouts and signatures.
#ifndef HIP_GRAPH_H
#define HIP_GRAPH_H

#include "hip.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed } hipStreamCaptureMode;
typedef enum { hipStreamCaptureStatusNone, hipStreamCaptureStatusActive, hipStreamCaptureStatusInvalidated } hipStreamCaptureStatus;
typedef enum {
    hipGraphNodeTypeKernel, hipGraphNodeTypeMemcpy, hipGraphNodeTypeMemset, hipGraphNodeTypeHost, hipGraphNodeTypeGraph,
    hipGraphNodeTypeEmpty, hipGraphNodeTypeWaitEvent, hipGraphNodeTypeEventRecord, hipGraphNodeTypeExtSemaphoreSignal,
    hipGraphNodeTypeExtSemaphoreWait, hipGraphNodeTypeMemAlloc, hipGraphNodeTypeMemFree,
} hipGraphNodeType;
typedef enum {
    hipGraphExecUpdateSuccess, hipGraphExecUpdateError, hipGraphExecUpdateErrorTopologyChanged, hipGraphExecUpdateErrorNodeTypeChanged,
    hipGraphExecUpdateErrorFunctionChanged, hipGraphExecUpdateErrorParametersChanged, hipGraphExecUpdateErrorNotSupported,
    hipGraphExecUpdateErrorUnsupportedFunctionChange,
} hipGraphExecUpdateResult;
typedef enum { hipGraphInstantiateSuccess, hipGraphInstantiateError } hipGraphInstantiateResult;
enum { hipGraphInstantiateFlagAutoFreeOnLaunch = 1, hipGraphInstantiateFlagUpload = 2, hipGraphInstantiateFlagDeviceLaunch = 4, hipGraphInstantiateFlagUseNodePriority = 8 };
enum { hipStreamAddCaptureDependencies = 0, hipStreamSetCaptureDependencies = 1 };

typedef struct { dim3 blockDim; void **extra; void *func; dim3 gridDim; void **kernelParams; unsigned int sharedMemBytes; } hipKernelNodeParams;
typedef struct { void *dst; unsigned int elementSize; size_t height, pitch; unsigned int value; size_t width; } hipMemsetParams;
typedef void (*hipHostFn_t)(void *userData);
typedef struct { hipHostFn_t fn; void *userData; } hipHostNodeParams;
typedef struct hipArray *hipArray_t;
typedef struct { size_t x, y, z; } hipPos;
typedef struct { size_t width, height, depth; } hipExtent;
typedef struct { void *ptr; size_t pitch, xsize, ysize; } hipPitchedPtr;
typedef struct hipMemcpy3DParms { hipArray_t srcArray; hipPos srcPos; hipPitchedPtr srcPtr; hipArray_t dstArray; hipPos dstPos; hipPitchedPtr dstPtr; hipExtent extent; hipMemcpyKind kind; } hipMemcpy3DParms;
typedef struct { int flags, reserved[3]; hipMemcpy3DParms copyParams; } hipMemcpyNodeParams;
typedef struct {
    hipGraphNodeType type;
    int reserved0[3];
    union { long long reserved1[29]; hipKernelNodeParams kernel; hipMemcpyNodeParams memcpy; hipMemsetParams memset; hipHostNodeParams host; hipGraph_t graph; };
    long long reserved2;
} hipGraphNodeParams;
typedef struct { hipGraphNode_t errNode_out; unsigned long long flags; hipGraphInstantiateResult result_out; hipStream_t uploadStream; } hipGraphInstantiateParams;
typedef struct { unsigned char from_port, reserved[5], to_port, type; } hipGraphEdgeData;

// Capture. The _spt forms take the thread's default stream for the null stream.
#define HIP_AND_SPT(name, ...) hipError_t name(__VA_ARGS__); hipError_t name##_spt(__VA_ARGS__)
HIP_AND_SPT(hipStreamBeginCapture, hipStream_t stream, hipStreamCaptureMode mode);
HIP_AND_SPT(hipStreamEndCapture, hipStream_t stream, hipGraph_t *pGraph);
HIP_AND_SPT(hipStreamIsCapturing, hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus);
HIP_AND_SPT(hipStreamGetCaptureInfo, hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus, unsigned long long *pId);
HIP_AND_SPT(hipStreamGetCaptureInfo_v2, hipStream_t stream, hipStreamCaptureStatus *captureStatus_out, unsigned long long *id_out, hipGraph_t *graph_out, const hipGraphNode_t **dependencies_out, size_t *numDependencies_out);
HIP_AND_SPT(hipGraphLaunch, hipGraphExec_t graphExec, hipStream_t stream);
hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *dependencies, const hipGraphEdgeData *dependencyData, size_t numDependencies, hipStreamCaptureMode mode);
hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *dependencies, size_t numDependencies, unsigned int flags);
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode);

// Graphs and nodes.
hipError_t hipGraphCreate(hipGraph_t *pGraph, unsigned int flags);
hipError_t hipGraphDestroy(hipGraph_t graph);
hipError_t hipGraphClone(hipGraph_t *pGraphClone, hipGraph_t originalGraph);
hipError_t hipGraphAddNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies, hipGraphNodeParams *nodeParams);
hipError_t hipGraphAddKernelNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies, const hipKernelNodeParams *pNodeParams);
hipError_t hipGraphAddMemcpyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies, const hipMemcpy3DParms *pCopyParams);
hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies, void *dst, const void *src, size_t count, hipMemcpyKind kind);
hipError_t hipGraphAddMemsetNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies, const hipMemsetParams *pMemsetParams);
hipError_t hipGraphAddHostNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies, const hipHostNodeParams *pNodeParams);
hipError_t hipGraphAddEmptyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies);
hipError_t hipGraphAddChildGraphNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies, hipGraph_t childGraph);
hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t numDependencies);
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *numNodes);
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *pType);
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *pDependencies, size_t *pNumDependencies);
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *pGraph);
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *pNodeParams);
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *pNodeParams);
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *pNodeParams);
hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams *nodeParams);

// Executable graphs: a copy, changed through the nodes of the original.
hipError_t hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph, hipGraphNode_t *pErrorNode, char *pLogBuffer, size_t bufferSize);
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *pGraphExec, hipGraph_t graph, unsigned long long flags);
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *pGraphExec, hipGraph_t graph, hipGraphInstantiateParams *instantiateParams);
hipError_t hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph, hipGraphNode_t *hErrorNode_out, hipGraphExecUpdateResult *updateResult_out);
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node, const hipKernelNodeParams *pNodeParams);
hipError_t hipGraphExecNodeSetParams(hipGraphExec_t graphExec, hipGraphNode_t node, hipGraphNodeParams *nodeParams);
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node, hipGraph_t childGraph);
hipError_t hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int isEnabled);
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int *isEnabled);
hipError_t hipGraphUpload(hipGraphExec_t graphExec, hipStream_t stream);
hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec);

#ifdef __cplusplus
}
#endif
#endif
