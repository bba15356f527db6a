// Decode steps as llama.cpp runs them: a step is captured into a graph, run repeatedly, updated if
// the next capture has the same shape, and instantiated again if not.
// link: amdhip64
// kernel: 0 norm _Z4normPfi pi
// kernel: 0 matvec _Z6matvecPfS_i ppi
// kernel: 0 rope _Z4ropePfi pi
#include "code_object.h"
#include "graph_capture.fatbin.h"
#include "hip_memory.h"

static float *x, *y;
static int n = 7, failed;
static hipStream_t stream;
static hipFunction_t tail;

// One step: `layers` times three kernels and a copy, then a set and a module's kernel.
static void step(int layers, unsigned width)
{
    void *one[] = {&x, &n}, *two[] = {&x, &y, &n};
    for (int i = 0; i < layers; i++) {
        failed += !!hipLaunchKernel(&norm, (dim3){1, 1, 1}, (dim3){width, 1, 1}, one, 128, stream);
        failed += !!hipLaunchKernel(&matvec, (dim3){width, 1, 1}, (dim3){32, 8, 1}, two, 0, stream);
        failed += !!hipLaunchKernel(&rope, (dim3){i + 1, 1, 1}, (dim3){64, 1, 1}, one, 0, stream);
        failed += !!hipMemcpyAsync(y, x, 256, hipMemcpyDeviceToDevice, stream);
    }
    failed += !!hipMemsetAsync(x, 1, 256, stream);
    failed += !!hipModuleLaunchKernel(tail, 2, 1, 1, width, 1, 1, 0, stream, NULL, NULL);
}

static hipGraph_t capture(int layers, unsigned width)
{
    hipStreamCaptureStatus status = -1;
    hipGraph_t graph = NULL;
    failed += !!hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed) + !!hipStreamIsCapturing(stream, &status) + (status != hipStreamCaptureStatusActive);
    step(layers, width);
    failed += !!hipStreamEndCapture(stream, &graph) + !!hipStreamIsCapturing(stream, &status) + (status != hipStreamCaptureStatusNone);
    return graph;
}

int main(void)
{
    struct co_kernel kernel = {"tail", ""};
    hipModule_t module;
    hipGraphExec_t exec, other;
    hipGraphNode_t error;
    hipGraphExecUpdateResult result;
    size_t nodes = 0;
    failed += !!hipMalloc((void **)&x, 1024) + !!hipMalloc((void **)&y, 1024) + !!hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);
    failed += !!hipModuleLoadData(&module, co_module(&kernel, 1)) + !!hipModuleGetFunction(&tail, module, "tail");
    step(2, 64); // the first step runs without a graph
    hipGraph_t graph = capture(2, 64);
    failed += !!hipGraphGetNodes(graph, NULL, &nodes) + !!hipGraphInstantiate(&exec, graph, NULL, NULL, 0);
    printf("nodes %zu, failed %d\n", nodes, failed);
    for (int i = 0; i < 5; i++)
        failed += !!hipGraphLaunch(exec, stream) + !!hipStreamSynchronize(stream);

    hipGraph_t wider = capture(2, 128); // the same shape
    printf("update %d", hipGraphExecUpdate(exec, wider, &error, &result));
    printf(", result %d\n", result);
    failed += !!hipGraphLaunch(exec, stream) + !!hipGraphLaunch(exec, stream);

    hipGraph_t longer = capture(3, 128);
    printf("update %d", hipGraphExecUpdate(exec, longer, &error, &result));
    printf(", result %d\n", result);
    failed += !!hipGraphExecDestroy(exec) + !!hipGraphInstantiateWithFlags(&exec, longer, hipGraphInstantiateFlagAutoFreeOnLaunch);
    failed += !!hipGraphDestroy(longer); // the executable lives on
    failed += !!hipGraphLaunch(exec, stream);
    failed += !!hipGraphInstantiate(&other, graph, NULL, NULL, 0) + !!hipGraphLaunch_spt(other, NULL) + !!hipGraphLaunch(exec, NULL);
    failed += !!hipGraphExecDestroy(exec) + !!hipGraphExecDestroy(other) + !!hipGraphDestroy(graph) + !!hipGraphDestroy(wider);
    printf("launch of nothing %d, failed %d\n", hipGraphLaunch(NULL, stream), failed);
    return failed;
}
