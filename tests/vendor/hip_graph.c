// Graphs and their nodes in the HIP stand-in.
#include "graph.h"
#include <stdarg.h>

hipError_t standin_called(const char *api, hipError_t status, const char *format, ...)
{
    if (standin.log) {
        char text[1024];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        standin_log(STANDIN_CALL, api, "%s\t%d", text, status);
    }
    return status ? standin_fail(status) : hipSuccess;
}

void standin_push(struct nodes *list, hipGraphNode_t node)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i] == node)
            return;
    list->at = realloc(list->at, (list->n + 1) * sizeof *list->at);
    list->at[list->n++] = node;
}

hipGraph_t standin_new_graph(void) { return calloc(1, sizeof(struct ihipGraph)); }

hipGraphNode_t standin_add_node(hipGraph_t graph, hipGraphNodeType type, const hipGraphNode_t *from, size_t n)
{
    hipGraphNode_t node = calloc(1, sizeof *node);
    node->graph = graph;
    node->type = type;
    node->enabled = 1;
    for (size_t i = 0; i < n; i++) {
        standin_push(&node->from, from[i]);
        standin_push(&from[i]->to, node);
    }
    graph->nodes.at = realloc(graph->nodes.at, (graph->nodes.n + 1) * sizeof *graph->nodes.at);
    return graph->nodes.at[graph->nodes.n++] = node;
}

static size_t place(const struct nodes *list, const struct hipGraphNode *node)
{
    size_t i = 0;
    while (i < list->n && list->at[i] != node)
        i++;
    return i;
}

// Roots first, in the order in which they were added; then nodes whose dependencies are done, in
// the order of their last edge.
int standin_order(hipGraph_t graph, struct nodes *out)
{
    size_t all = graph->nodes.n, *waits = calloc(all + 1, sizeof *waits);
    out->at = calloc(all + 1, sizeof *out->at);
    out->n = 0;
    for (size_t i = 0; i < all; i++)
        if (!(waits[i] = graph->nodes.at[i]->from.n))
            out->at[out->n++] = graph->nodes.at[i];
    for (size_t done = 0; done < out->n; done++)
        for (size_t i = 0; i < out->at[done]->to.n; i++)
            if (!--waits[place(&graph->nodes, out->at[done]->to.at[i])])
                out->at[out->n++] = out->at[done]->to.at[i];
    free(waits);
    return out->n == all;
}

hipGraph_t standin_clone(hipGraph_t graph)
{
    hipGraph_t clone = standin_new_graph();
    for (size_t i = 0; i < graph->nodes.n; i++) {
        hipGraphNode_t old = graph->nodes.at[i], new = standin_add_node(clone, old->type, NULL, 0);
        *new = *old;
        new->graph = clone;
        new->of = old;
        new->from = new->to = (struct nodes){NULL, 0};
        if (old->type == hipGraphNodeTypeGraph)
            new->as.child = standin_clone(old->as.child);
    }
    for (size_t i = 0; i < graph->nodes.n; i++)
        for (size_t j = 0; j < graph->nodes.at[i]->to.n; j++) {
            hipGraphNode_t to = clone->nodes.at[place(&graph->nodes, graph->nodes.at[i]->to.at[j])];
            standin_push(&clone->nodes.at[i]->to, to);
            standin_push(&to->from, clone->nodes.at[i]);
        }
    return clone;
}

void standin_drop_graph(hipGraph_t graph)
{
    for (size_t i = 0; i < graph->nodes.n; i++) {
        hipGraphNode_t node = graph->nodes.at[i];
        if (node->type == hipGraphNodeTypeGraph)
            standin_drop_graph(node->as.child);
        free(node->from.at);
        free(node->to.at);
        free(node);
    }
    free(graph->nodes.at);
    free(graph);
}

static int copy_of(const hipMemcpy3DParms *p, struct standin_copy *c)
{
    if (!p || p->srcArray || p->dstArray || !p->srcPtr.ptr || !p->dstPtr.ptr)
        return 0;
    size_t depth = p->extent.depth ? p->extent.depth : 1, height = p->extent.height ? p->extent.height : 1;
    *c = (struct standin_copy){p->dstPtr.ptr, p->srcPtr.ptr, p->dstPtr.pitch, p->srcPtr.pitch, p->dstPtr.pitch * p->dstPtr.ysize, p->srcPtr.pitch * p->srcPtr.ysize, p->extent.width, height, depth, p->kind};
    return 1;
}

hipError_t standin_set_params(hipGraphNode_t node, const hipGraphNodeParams *p)
{
    switch (p->type) {
    case hipGraphNodeTypeKernel:
        if (!p->kernel.func)
            return hipErrorInvalidValue;
        node->as.kernel = p->kernel;
        node->as.kernel.kernelParams = node->as.kernel.extra = NULL;
        return hipSuccess;
    case hipGraphNodeTypeMemcpy:
        return copy_of(&p->memcpy.copyParams, &node->as.copy) ? hipSuccess : hipErrorInvalidValue;
    case hipGraphNodeTypeMemset:
        node->as.set = (struct standin_set){p->memset.dst, p->memset.value, p->memset.elementSize, p->memset.width, p->memset.height, p->memset.pitch};
        return p->memset.dst ? hipSuccess : hipErrorInvalidValue;
    case hipGraphNodeTypeHost:
        node->as.host = p->host;
        return p->host.fn ? hipSuccess : hipErrorInvalidValue;
    case hipGraphNodeTypeGraph:
        if (!p->graph)
            return hipErrorInvalidValue;
        node->as.child = standin_clone(p->graph);
        return hipSuccess;
    case hipGraphNodeTypeEmpty:
        return hipSuccess;
    default:
        return hipErrorNotSupported;
    }
}

static hipError_t add(const char *api, hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *from, size_t n, const hipGraphNodeParams *p)
{
    hipError_t status = !out || !graph || (n && !from) || !p ? hipErrorInvalidValue : hipSuccess;
    struct hipGraphNode tried = {0};
    if (!status)
        status = standin_set_params(&tried, p);
    if (!status) {
        *out = standin_add_node(graph, p->type, from, n);
        (*out)->as = tried.as;
    }
    return standin_called(api, status, "graph=%#lx node=%#lx type=%d after=%zu", HEX(graph), status ? 0 : HEX(*out), p ? (int)p->type : -1, n);
}

PUBLIC hipError_t hipGraphAddNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies, hipGraphNodeParams *nodeParams)
{
    return add(__func__, pGraphNode, graph, pDependencies, numDependencies, nodeParams);
}

// The forms for one type of node each.
#define ADD(name, params, missing, ...)                                                                                        \
    PUBLIC hipError_t name params                                                                                              \
    {                                                                                                                          \
        return add(__func__, pGraphNode, graph, pDependencies, numDependencies, missing ? NULL : &(hipGraphNodeParams){__VA_ARGS__}); \
    }
#define COMMON hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies
ADD(hipGraphAddKernelNode, (COMMON, const hipKernelNodeParams *p), !p, .type = hipGraphNodeTypeKernel, .kernel = *p)
ADD(hipGraphAddMemcpyNode, (COMMON, const hipMemcpy3DParms *p), !p, .type = hipGraphNodeTypeMemcpy, .memcpy = {.copyParams = *p})
ADD(hipGraphAddMemcpyNode1D, (COMMON, void *dst, const void *src, size_t count, hipMemcpyKind kind), !count, .type = hipGraphNodeTypeMemcpy,
    .memcpy = {.copyParams = {.srcPtr = {(void *)src, count, count, 1}, .dstPtr = {dst, count, count, 1}, .extent = {count, 1, 1}, .kind = kind}})
ADD(hipGraphAddMemsetNode, (COMMON, const hipMemsetParams *p), !p, .type = hipGraphNodeTypeMemset, .memset = *p)
ADD(hipGraphAddHostNode, (COMMON, const hipHostNodeParams *p), !p, .type = hipGraphNodeTypeHost, .host = *p)
ADD(hipGraphAddEmptyNode, (COMMON), 0, .type = hipGraphNodeTypeEmpty)
ADD(hipGraphAddChildGraphNode, (COMMON, hipGraph_t childGraph), 0, .type = hipGraphNodeTypeGraph, .graph = childGraph)

PUBLIC hipError_t hipGraphCreate(hipGraph_t *pGraph, unsigned flags)
{
    if (pGraph && !flags)
        *pGraph = standin_new_graph();
    return CALLED(pGraph && !flags ? hipSuccess : hipErrorInvalidValue, "graph=%#lx", pGraph ? HEX(*pGraph) : 0);
}

PUBLIC hipError_t hipGraphDestroy(hipGraph_t graph)
{
    hipError_t status = CALLED(graph ? hipSuccess : hipErrorInvalidValue, "graph=%#lx", HEX(graph));
    if (graph)
        standin_drop_graph(graph);
    return status;
}

PUBLIC hipError_t hipGraphClone(hipGraph_t *pGraphClone, hipGraph_t originalGraph)
{
    if (pGraphClone && originalGraph)
        *pGraphClone = standin_clone(originalGraph);
    return CALLED(pGraphClone && originalGraph ? hipSuccess : hipErrorInvalidValue, "graph=%#lx of=%#lx", pGraphClone ? HEX(*pGraphClone) : 0, HEX(originalGraph));
}

PUBLIC hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t numDependencies)
{
    hipError_t status = graph && (!numDependencies || (from && to)) ? hipSuccess : hipErrorInvalidValue;
    for (size_t i = 0; !status && i < numDependencies; i++) {
        standin_push(&from[i]->to, to[i]);
        standin_push(&to[i]->from, from[i]);
    }
    return CALLED(status, "graph=%#lx edges=%zu", HEX(graph), numDependencies);
}

// With an array, fills as many as fit and sets the rest to NULL; without one, returns the number.
static hipError_t list(const struct nodes *have, hipGraphNode_t *nodes, size_t *n)
{
    for (size_t i = 0; nodes && i < *n; i++)
        nodes[i] = i < have->n ? have->at[i] : NULL;
    if (!nodes || *n > have->n)
        *n = have->n;
    return hipSuccess;
}

PUBLIC hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *numNodes)
{
    struct nodes order = {NULL, 0};
    hipError_t status = graph && numNodes && standin_order(graph, &order) ? list(&order, nodes, numNodes) : hipErrorInvalidValue;
    free(order.at);
    return status ? standin_fail(status) : hipSuccess;
}

PUBLIC hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *pDependencies, size_t *pNumDependencies)
{
    return node && pNumDependencies ? list(&node->from, pDependencies, pNumDependencies) : standin_fail(hipErrorInvalidValue);
}

PUBLIC hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *pType)
{
    return node && pType ? (*pType = node->type, hipSuccess) : standin_fail(hipErrorInvalidValue);
}

PUBLIC hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *pGraph)
{
    return node && pGraph && node->type == hipGraphNodeTypeGraph ? (*pGraph = node->as.child, hipSuccess) : standin_fail(hipErrorInvalidValue);
}

PUBLIC hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *pNodeParams)
{
    return node && pNodeParams && node->type == hipGraphNodeTypeKernel ? (*pNodeParams = node->as.kernel, hipSuccess) : standin_fail(hipErrorInvalidValue);
}

PUBLIC hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *pNodeParams)
{
    hipError_t status = node && pNodeParams && node->type == hipGraphNodeTypeKernel ? standin_set_params(node, &(hipGraphNodeParams){.type = node->type, .kernel = *pNodeParams}) : hipErrorInvalidValue;
    return CALLED(status, "node=%#lx", HEX(node));
}

PUBLIC hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *pNodeParams)
{
    if (!node || !pNodeParams || node->type != hipGraphNodeTypeMemset)
        return standin_fail(hipErrorInvalidValue);
    *pNodeParams = (hipMemsetParams){node->as.set.dst, node->as.set.element, node->as.set.height, node->as.set.pitch, node->as.set.value, node->as.set.width};
    return hipSuccess;
}

PUBLIC hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams *nodeParams)
{
    hipError_t status = node && nodeParams && node->type == nodeParams->type ? standin_set_params(node, nodeParams) : hipErrorInvalidValue;
    return CALLED(status, "node=%#lx", HEX(node));
}
