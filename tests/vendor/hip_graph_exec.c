// Executable graphs of the HIP stand-in: a copy of a graph, changed through the nodes of the
// original, launched any number of times.
#include "graph.h"

struct hipGraphExec {
    hipGraph_t graph; // a clone
    struct nodes order;
};

static hipError_t instantiate(const char *api, hipGraphExec_t *out, hipGraph_t graph, unsigned long long flags)
{
    hipError_t status = out && graph ? hipSuccess : hipErrorInvalidValue;
    if (!status) {
        *out = calloc(1, sizeof **out);
        (*out)->graph = standin_clone(graph);
        if (!standin_order((*out)->graph, &(*out)->order))
            status = hipErrorInvalidValue;
    }
    return standin_called(api, status, "exec=%#lx graph=%#lx flags=%llu nodes=%zu", status ? 0 : HEX(*out), HEX(graph), flags, status ? 0 : (*out)->order.n);
}

PUBLIC hipError_t hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph, hipGraphNode_t *pErrorNode, char *pLogBuffer, size_t bufferSize)
{
    (void)pErrorNode, (void)pLogBuffer, (void)bufferSize;
    return instantiate(__func__, pGraphExec, graph, 0);
}

PUBLIC hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *pGraphExec, hipGraph_t graph, unsigned long long flags)
{
    int known = !flags || flags == hipGraphInstantiateFlagAutoFreeOnLaunch || flags == hipGraphInstantiateFlagUseNodePriority;
    return instantiate(__func__, known ? pGraphExec : NULL, graph, flags);
}

PUBLIC hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *pGraphExec, hipGraph_t graph, hipGraphInstantiateParams *instantiateParams)
{
    if (!instantiateParams)
        return standin_fail(hipErrorInvalidValue);
    hipError_t status = instantiate(__func__, instantiateParams->flags <= hipGraphInstantiateFlagUseNodePriority ? pGraphExec : NULL, graph, instantiateParams->flags);
    instantiateParams->result_out = status ? hipGraphInstantiateError : hipGraphInstantiateSuccess;
    if (!status)
        instantiateParams->errNode_out = NULL;
    return status;
}

PUBLIC hipError_t hipGraphUpload(hipGraphExec_t graphExec, hipStream_t stream) { return CALLED(graphExec ? hipSuccess : hipErrorInvalidValue, "exec=%#lx stream=%#lx", HEX(graphExec), HEX(stream)); }

PUBLIC hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec)
{
    hipError_t status = CALLED(graphExec ? hipSuccess : hipErrorInvalidValue, "exec=%#lx", HEX(graphExec));
    if (graphExec) {
        standin_drop_graph(graphExec->graph);
        free(graphExec->order.at);
        free(graphExec);
    }
    return status;
}

// The kernel of a node's `func`: a host stub or the function itself.
static const char *kernel_name(const hipKernelNodeParams *p)
{
    hipFunction_t f = standin_stub(p->func);
    return hipKernelNameRef(f ? f : (hipFunction_t)p->func);
}

// Executes the enabled nodes, in order; returns the number of nodes that were not empty.
static int run(const char *api, hipGraphExec_t exec, const struct nodes *order, hipStream_t stream)
{
    int done = 0;
    for (size_t i = 0; i < order->n; i++) {
        hipGraphNode_t node = order->at[i];
        struct nodes inner = {NULL, 0};
        const hipKernelNodeParams *p = &node->as.kernel;
        if (!node->enabled)
            continue;
        done += node->type != hipGraphNodeTypeEmpty && node->type != hipGraphNodeTypeGraph;
        switch (node->type) {
        case hipGraphNodeTypeKernel:
            standin_log(STANDIN_REPLAY, api, "%s\t%u %u %u\t%u %u %u\t%u\t%#lx\t0\t%#lx", kernel_name(p), p->gridDim.x, p->gridDim.y, p->gridDim.z, p->blockDim.x, p->blockDim.y, p->blockDim.z, p->sharedMemBytes, HEX(stream), HEX(exec));
            break;
        case hipGraphNodeTypeMemcpy:
            standin_copy(&node->as.copy);
            break;
        case hipGraphNodeTypeMemset:
            standin_set(&node->as.set);
            break;
        case hipGraphNodeTypeHost:
            node->as.host.fn(node->as.host.userData);
            break;
        case hipGraphNodeTypeGraph:
            standin_order(node->as.child, &inner);
            done += run(api, exec, &inner, stream);
            free(inner.at);
            break;
        default:
            break;
        }
    }
    return done;
}

static hipError_t launch(const char *api, hipGraphExec_t exec, hipStream_t stream, int per_thread)
{
    hipError_t status = exec ? hipSuccess : hipErrorInvalidValue;
    if (!status)
        standin_stream(stream, per_thread, &status);
    int done = status ? 0 : run(api, exec, &exec->order, stream);
    return standin_called(api, status, "exec=%#lx stream=%#lx nodes=%d", HEX(exec), HEX(stream), done);
}

PUBLIC hipError_t hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream) { return launch(__func__, graphExec, stream, 0); }
PUBLIC hipError_t hipGraphLaunch_spt(hipGraphExec_t graphExec, hipStream_t stream) { return launch(__func__, graphExec, stream, 1); }

// The executable's copy of a node, also of one in a child graph.
static hipGraphNode_t own(hipGraph_t graph, hipGraphNode_t node)
{
    for (size_t i = 0; i < graph->nodes.n; i++) {
        hipGraphNode_t mine = graph->nodes.at[i], inner = NULL;
        if (mine->of == node)
            return mine;
        if (mine->type == hipGraphNodeTypeGraph && (inner = own(mine->as.child, node)))
            return inner;
    }
    return NULL;
}

static hipError_t change(const char *api, hipGraphExec_t exec, hipGraphNode_t node, const hipGraphNodeParams *p)
{
    hipGraphNode_t mine = exec && node && p ? own(exec->graph, node) : NULL;
    hipError_t status = mine && mine->type == p->type ? standin_set_params(mine, p) : hipErrorInvalidValue;
    return standin_called(api, status, "exec=%#lx node=%#lx", HEX(exec), HEX(node));
}

PUBLIC hipError_t hipGraphExecNodeSetParams(hipGraphExec_t graphExec, hipGraphNode_t node, hipGraphNodeParams *nodeParams) { return change(__func__, graphExec, node, nodeParams); }

PUBLIC hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node, const hipKernelNodeParams *pNodeParams)
{
    return change(__func__, hGraphExec, node, pNodeParams ? &(hipGraphNodeParams){.type = hipGraphNodeTypeKernel, .kernel = *pNodeParams} : NULL);
}

PUBLIC hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node, hipGraph_t childGraph)
{
    return change(__func__, hGraphExec, node, &(hipGraphNodeParams){.type = hipGraphNodeTypeGraph, .graph = childGraph});
}

PUBLIC hipError_t hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned isEnabled)
{
    hipGraphNode_t mine = hGraphExec && hNode ? own(hGraphExec->graph, hNode) : NULL;
    hipError_t status = mine && mine->type <= hipGraphNodeTypeMemset ? hipSuccess : hipErrorInvalidValue;
    if (!status)
        mine->enabled = isEnabled;
    return CALLED(status, "exec=%#lx node=%#lx enabled=%u", HEX(hGraphExec), HEX(hNode), isEnabled);
}

PUBLIC hipError_t hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned *isEnabled)
{
    hipGraphNode_t mine = hGraphExec && hNode && isEnabled ? own(hGraphExec->graph, hNode) : NULL;
    return mine && mine->type <= hipGraphNodeTypeMemset ? (*isEnabled = mine->enabled, hipSuccess) : standin_fail(hipErrorInvalidValue);
}

// Copies the parameters of `graph` to the executable, if it has the same shape.
PUBLIC hipError_t hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph, hipGraphNode_t *hErrorNode_out, hipGraphExecUpdateResult *updateResult_out)
{
    struct nodes order = {NULL, 0};
    hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
    if (!hGraphExec || !hGraph || !hErrorNode_out || !updateResult_out)
        return CALLED(hipErrorInvalidValue, "exec=%#lx graph=%#lx result=-1", HEX(hGraphExec), HEX(hGraph));
    standin_order(hGraph, &order);
    if (order.n != hGraphExec->order.n) {
        result = hipGraphExecUpdateErrorTopologyChanged;
        *hErrorNode_out = NULL;
    }
    for (size_t i = 0; !result && i < order.n; i++) {
        hipGraphNode_t new = order.at[i], mine = hGraphExec->order.at[i];
        if (new->type != mine->type)
            result = hipGraphExecUpdateErrorNodeTypeChanged;
        else if (new->type == hipGraphNodeTypeMemcpy && new->as.copy.kind != mine->as.copy.kind)
            result = hipGraphExecUpdateErrorParametersChanged;
        else if (new->from.n != mine->from.n)
            result = hipGraphExecUpdateErrorTopologyChanged;
        if (result)
            *hErrorNode_out = new;
        else if (new->type == hipGraphNodeTypeGraph)
            standin_drop_graph(mine->as.child), mine->as.child = standin_clone(new->as.child);
        else
            mine->as = new->as;
    }
    free(order.at);
    *updateResult_out = result;
    return CALLED(result ? hipErrorGraphExecUpdateFailure : hipSuccess, "exec=%#lx graph=%#lx result=%d", HEX(hGraphExec), HEX(hGraph), result);
}
