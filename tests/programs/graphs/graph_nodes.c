// A graph built by hand: kernels, copies, fills, host functions, a child graph; then changed after
// instantiation.
// link: amdhip64
// kernel: 0 one _Z3onePf p
// kernel: 0 two _Z3twoPf p
#include "code_object.h"
#include "graph_nodes.fatbin.h"
#include "hip_memory.h"

static void on_host(void *count) { ++*(int *)count; }

int main(void)
{
    struct co_kernel kernel = {"of_a_module", "p"};
    float *x, *y;
    int failed = 0, on_host_calls = 0;
    hipGraph_t graph, child, inner;
    hipGraphNode_t nodes[16], kernel_node, function_node, child_node, inner_node, copy_node, set_node, host_node, empty_node;
    hipGraphExec_t exec;
    hipModule_t module;
    hipFunction_t f;
    size_t n = 16;
    failed += !!hipMalloc((void **)&x, 1024) + !!hipMalloc((void **)&y, 1024) + !!hipModuleLoadData(&module, co_module(&kernel, 1)) + !!hipModuleGetFunction(&f, module, "of_a_module");
    void *args[] = {&x};
    hipKernelNodeParams by_stub = {.func = (void *)&one, .gridDim = {1, 2, 3}, .blockDim = {64, 1, 1}, .kernelParams = args, .sharedMemBytes = 32}, got;
    hipKernelNodeParams by_function = {.func = f, .gridDim = {4, 1, 1}, .blockDim = {128, 1, 1}, .kernelParams = args};
    hipMemsetParams set = {.dst = x, .elementSize = 4, .width = 16, .height = 1, .value = 7};
    hipHostNodeParams host = {on_host, &on_host_calls};
    hipGraphNodeParams any = {.type = hipGraphNodeTypeKernel, .kernel = by_stub};
    any.kernel.gridDim.x = 9;

    failed += !!hipGraphCreate(&child, 0) + !!hipGraphAddKernelNode(&inner_node, child, NULL, 0, &by_function);
    failed += !!hipGraphCreate(&graph, 0) + !!hipGraphAddKernelNode(&kernel_node, graph, NULL, 0, &by_stub);
    failed += !!hipGraphAddMemcpyNode1D(&copy_node, graph, &kernel_node, 1, y, x, 256, hipMemcpyDeviceToDevice);
    failed += !!hipGraphAddMemsetNode(&set_node, graph, &kernel_node, 1, &set);
    failed += !!hipGraphAddEmptyNode(&empty_node, graph, (hipGraphNode_t[]){copy_node, set_node}, 2);
    failed += !!hipGraphAddChildGraphNode(&child_node, graph, &empty_node, 1, child);
    failed += !!hipGraphAddHostNode(&host_node, graph, &child_node, 1, &host) + !!hipGraphAddKernelNode(&function_node, graph, NULL, 0, &by_function);
    failed += !!hipGraphAddNode(&nodes[0], graph, &function_node, 1, &any) + !!hipGraphAddDependencies(graph, &host_node, &function_node, 1);
    failed += !!hipGraphGetNodes(graph, nodes, &n);
    printf("nodes %zu, of types", n);
    for (size_t i = 0; i < n; i++) {
        hipGraphNodeType type = -1;
        failed += !!hipGraphNodeGetType(nodes[i], &type);
        printf(" %d", type);
    }
    failed += !!hipGraphKernelNodeGetParams(kernel_node, &got);
    printf("\ngot func %d, grid %u %u %u, shared %u; of a copy %d\n", got.func == &one, got.gridDim.x, got.gridDim.y, got.gridDim.z, got.sharedMemBytes, hipGraphKernelNodeGetParams(copy_node, &got));

    failed += !!hipGraphInstantiateWithParams(&exec, graph, &(hipGraphInstantiateParams){.flags = hipGraphInstantiateFlagUpload});
    failed += !!hipGraphLaunch(exec, NULL) + !!hipGraphUpload(exec, NULL);
    by_stub.func = (void *)&two, by_stub.gridDim.x = 11;
    failed += !!hipGraphExecKernelNodeSetParams(exec, kernel_node, &by_stub) + !!hipGraphNodeSetEnabled(exec, function_node, 0) + !!hipGraphLaunch(exec, NULL);
    failed += !!hipGraphChildGraphNodeGetGraph(child_node, &inner);
    n = 1;
    failed += !!hipGraphGetNodes(inner, &inner_node, &n);
    by_function.gridDim.y = 12;
    failed += !!hipGraphExecKernelNodeSetParams(exec, inner_node, &by_function) + !!hipGraphNodeSetEnabled(exec, function_node, 1) + !!hipGraphLaunch(exec, NULL);
    // The graph itself: the executable keeps its contents until it is instantiated again.
    failed += !!hipGraphKernelNodeSetParams(kernel_node, &by_function) + !!hipGraphLaunch(exec, NULL) + !!hipGraphExecDestroy(exec);
    failed += !!hipGraphInstantiate(&exec, graph, NULL, NULL, 0) + !!hipGraphLaunch(exec, NULL) + !!hipGraphExecDestroy(exec) + !!hipGraphDestroy(graph) + !!hipGraphDestroy(child);
    printf("host calls %d, set to %d, failed %d\n", on_host_calls, ((int *)x)[15], failed);
    return failed;
}
