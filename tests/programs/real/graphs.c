// Graphs on the real HIP, captured and built by hand, updated and changed: graphs
// PATH-OF-vectors-gfx1100.co
// link: amdhip64
#include "graph.h"
#include <stdio.h>
#include <stdlib.h>

static hipFunction_t add, scale;
static void *a, *b, *c;
static int n = 1024, failed;
static hipStream_t first, second;
static void *add_arguments[] = {&a, &b, &c, &n}, *scale_arguments[] = {&a, &n};

static int launch_add(unsigned blocks, hipStream_t stream) { return hipModuleLaunchKernel(add, blocks, 1, 1, 256, 1, 1, 0, stream, add_arguments, NULL); }

// Two streams: the second joins by an event, copies, fills and comes back. One launch is in
// work-items.
static hipGraph_t captured(unsigned blocks)
{
    hipGraph_t graph = NULL;
    hipEvent_t forked, joined;
    failed += !!hipEventCreate(&forked) + !!hipEventCreate(&joined);
    failed += !!hipStreamBeginCapture(first, hipStreamCaptureModeRelaxed);
    failed += !!launch_add(blocks, first) + !!hipEventRecord(forked, first) + !!hipStreamWaitEvent(second, forked, 0);
    failed += !!hipExtModuleLaunchKernel(scale, 512, 1, 1, 128, 1, 1, 64, second, scale_arguments, NULL, NULL, NULL, 0);
    failed += !!hipMemcpyAsync(b, a, 4096, hipMemcpyDeviceToDevice, second);
    failed += !!hipMemsetAsync(c, 0, 4096, second) + !!hipEventRecord(joined, second);
    failed += !!launch_add(blocks + 1, first) + !!hipStreamWaitEvent(first, joined, 0) + !!launch_add(blocks + 2, first);
    failed += !!hipStreamEndCapture(first, &graph);
    failed += !!hipEventDestroy(forked) + !!hipEventDestroy(joined);
    return graph;
}

static hipKernelNodeParams params(hipFunction_t f, unsigned blocks, unsigned threads)
{
    return (hipKernelNodeParams){.func = f, .gridDim = {blocks, 1, 1}, .blockDim = {threads, 1, 1}, .kernelParams = f == add ? add_arguments : scale_arguments};
}

// A kernel, a copy, a child graph of two kernels, a kernel.
static void built(void)
{
    hipGraph_t graph, child;
    hipGraphNode_t node, of_child[2], copy, child_node, last;
    hipGraphExec_t exec;
    hipKernelNodeParams one = params(add, 30, 64), two = params(scale, 31, 32);
    failed += !!hipGraphCreate(&child, 0) + !!hipGraphAddKernelNode(&of_child[0], child, NULL, 0, &one) + !!hipGraphAddKernelNode(&of_child[1], child, of_child, 1, &two);
    failed += !!hipGraphCreate(&graph, 0) + !!hipGraphAddKernelNode(&node, graph, NULL, 0, &two);
    failed += !!hipGraphAddMemcpyNode1D(&copy, graph, &node, 1, b, a, 4096, hipMemcpyDeviceToDevice);
    failed += !!hipGraphAddChildGraphNode(&child_node, graph, &copy, 1, child) + !!hipGraphAddKernelNode(&last, graph, &child_node, 1, &one);
    failed += !!hipGraphInstantiateWithFlags(&exec, graph, 0) + !!hipGraphLaunch(exec, first) + !!hipGraphLaunch(exec, first);
    one = params(add, 32, 64);
    failed += !!hipGraphExecKernelNodeSetParams(exec, last, &one) + !!hipGraphNodeSetEnabled(exec, node, 0) + !!hipGraphLaunch(exec, first);
    failed += !!hipGraphNodeSetEnabled(exec, node, 1) + !!hipGraphLaunch(exec, first) + !!hipStreamSynchronize(first);
    failed += !!hipGraphExecDestroy(exec) + !!hipGraphDestroy(graph) + !!hipGraphDestroy(child);
}

int main(int argc, char **argv)
{
    hipModule_t module;
    hipGraphExec_t exec;
    hipGraphNode_t error;
    int result = -1, last_error;
    failed += !!hipMalloc(&a, 4096) + !!hipMalloc(&b, 4096) + !!hipMalloc(&c, 4096) + !!hipModuleLoad(&module, argc > 1 ? argv[1] : "vectors-gfx1100.co");
    failed += !!hipModuleGetFunction(&add, module, "vector_add") + !!hipModuleGetFunction(&scale, module, "_Z12vector_scaleILi2EEvPfi");
    failed += !!hipStreamCreate(&first) + !!hipStreamCreate(&second) + !!launch_add(1, first);
    hipGraph_t graph = captured(10), wider = captured(20);
    failed += !!launch_add(2, first) + !!launch_add(3, second);
    printf("an error to remember %d\n", hipStreamEndCapture(first, &(hipGraph_t){NULL}));
    int instantiated = hipGraphInstantiate(&exec, graph, NULL, NULL, 0);
    last_error = hipGetLastError();
    printf("instantiate %d, last error %d\n", instantiated, last_error);
    for (int i = 0; i < 5; i++)
        failed += !!hipGraphLaunch(exec, first);
    printf("update %d", hipGraphExecUpdate(exec, wider, &error, &result));
    printf(", result %d\n", result);
    failed += !!hipGraphLaunch(exec, second) + !!hipGraphLaunch(exec, second) + !!hipDeviceSynchronize();
    failed += !!hipGraphExecDestroy(exec) + !!hipGraphDestroy(graph) + !!hipGraphDestroy(wider);
    built();
    printf("failed %d\n", failed);
    return failed;
}
