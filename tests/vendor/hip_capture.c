// Stream capture of the HIP stand-in: during a capture, work submitted to a stream becomes nodes of
// a graph.
#include "graph.h"

int standin_captures;
static __thread hipStreamCaptureMode thread_mode = hipStreamCaptureModeGlobal;

hipGraphNode_t standin_captured(hipStream_t stream, int per_thread, hipGraphNodeType type, hipError_t *status)
{
    if (!__atomic_load_n(&standin_captures, __ATOMIC_RELAXED))
        return NULL;
    hipError_t gone = hipSuccess;
    struct ihipStream_t *s = standin_stream(stream, per_thread, &gone);
    if (s && s->status == hipStreamCaptureStatusInvalidated)
        *status = hipErrorStreamCaptureInvalidated;
    if (!s || s->status != hipStreamCaptureStatusActive)
        return NULL;
    hipGraphNode_t node = standin_add_node(s->graph, type, s->last.at, s->last.n);
    s->last.n = 0;
    standin_push(&s->last, node);
    return node;
}

// Invalidates every capture that `in_the_way` selects; returns their number.
static int invalidate(int (*in_the_way)(const struct ihipStream_t *))
{
    int n = 0;
    if (!__atomic_load_n(&standin_captures, __ATOMIC_RELAXED))
        return 0;
    pthread_mutex_lock(&standin_streams_lock);
    for (struct ihipStream_t *s = standin_streams; s; s = s->next)
        if (s->origin && in_the_way(s))
            s->status = hipStreamCaptureStatusInvalidated, n++;
    pthread_mutex_unlock(&standin_streams_lock);
    return n;
}

static int any(const struct ihipStream_t *s) { return (void)s, 1; }
static int of_this_thread(const struct ihipStream_t *s) { return s->mode != hipStreamCaptureModeRelaxed && pthread_equal(s->owner, pthread_self()); }
static int global(const struct ihipStream_t *s) { return s->mode == hipStreamCaptureModeGlobal; }

hipError_t standin_sync_now(hipError_t error) { return invalidate(any) ? error : hipSuccess; }

hipError_t standin_unsafe_now(void)
{
    if (thread_mode == hipStreamCaptureModeRelaxed)
        return hipSuccess;
    return invalidate(of_this_thread) || (thread_mode == hipStreamCaptureModeGlobal && invalidate(global)) ? hipErrorStreamCaptureUnsupported : hipSuccess;
}

hipError_t standin_wait_now(hipStream_t stream, int per_thread)
{
    hipError_t status = hipSuccess;
    struct ihipStream_t *s = standin_stream(stream, per_thread, &status);
    if (s && s->status != hipStreamCaptureStatusNone) {
        s->status = hipStreamCaptureStatusInvalidated;
        status = hipErrorStreamCaptureUnsupported;
    }
    return status;
}

static hipError_t begin(const char *api, hipStream_t stream, hipStreamCaptureMode mode, hipGraph_t graph, const hipGraphNode_t *after, size_t n, int per_thread)
{
    static unsigned long long last_capture;
    hipError_t status = hipSuccess;
    struct ihipStream_t *s = standin_stream(stream, per_thread, &status);
    if (!status)
        status = !s ? hipErrorStreamCaptureUnsupported : mode > hipStreamCaptureModeRelaxed ? hipErrorInvalidValue : s->status == hipStreamCaptureStatusActive ? hipErrorIllegalState : hipSuccess;
    if (!status) {
        s->graph = graph ? graph : standin_new_graph();
        s->had = s->graph->nodes.n;
        s->mode = mode;
        s->capture = __atomic_add_fetch(&last_capture, 1, __ATOMIC_RELAXED);
        s->origin = 1;
        s->owner = pthread_self();
        s->last.n = 0;
        for (size_t i = 0; i < n; i++)
            standin_push(&s->last, after[i]);
        s->status = hipStreamCaptureStatusActive;
        __atomic_add_fetch(&standin_captures, 1, __ATOMIC_RELAXED);
    }
    return standin_called(api, status, "stream=%#lx mode=%d graph=%#lx", HEX(stream), mode, HEX(graph));
}

PUBLIC hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) { return begin(__func__, stream, mode, NULL, NULL, 0, 0); }
PUBLIC hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode) { return begin(__func__, stream, mode, NULL, NULL, 0, 1); }

PUBLIC hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *dependencies, const hipGraphEdgeData *dependencyData, size_t numDependencies, hipStreamCaptureMode mode)
{
    if (dependencyData)
        return standin_fail(hipErrorNotSupported);
    if (!graph || !dependencies != !numDependencies)
        return standin_fail(hipErrorInvalidValue);
    return begin(__func__, stream, mode, graph, dependencies, numDependencies, 0);
}

// True if some node without dependents is not one that the origin stream continues from: a stream
// that was not joined.
static int unjoined(const struct ihipStream_t *origin)
{
    for (size_t i = origin->had; i < origin->graph->nodes.n; i++) {
        hipGraphNode_t node = origin->graph->nodes.at[i];
        size_t j = 0;
        while (j < origin->last.n && origin->last.at[j] != node)
            j++;
        if (!node->to.n && j == origin->last.n)
            return 1;
    }
    return 0;
}

static hipError_t end(const char *api, hipStream_t stream, hipGraph_t *graph, int per_thread)
{
    hipError_t status = graph ? hipSuccess : hipErrorInvalidValue;
    struct ihipStream_t *s = status ? NULL : standin_stream(stream, per_thread, &status);
    if (!status)
        status = !s || s->status == hipStreamCaptureStatusNone                                                     ? hipErrorIllegalState
                 : !s->origin                                                                                       ? hipErrorStreamCaptureUnmatched
                 : s->mode != hipStreamCaptureModeRelaxed && !pthread_equal(s->owner, pthread_self())               ? hipErrorStreamCaptureWrongThread
                                                                                                                    : hipSuccess;
    if (!status) {
        status = s->status == hipStreamCaptureStatusInvalidated ? hipErrorStreamCaptureInvalidated : unjoined(s) ? hipErrorStreamCaptureUnjoined : hipSuccess;
        *graph = status ? NULL : s->graph;
        if (status == hipErrorStreamCaptureInvalidated)
            standin_drop_graph(s->graph);
        unsigned long long capture = s->capture;
        pthread_mutex_lock(&standin_streams_lock);
        for (struct ihipStream_t *each = standin_streams; each; each = each->next)
            if (each->capture == capture)
                each->status = hipStreamCaptureStatusNone, each->capture = 0, each->origin = 0, each->graph = NULL, each->last.n = 0;
        pthread_mutex_unlock(&standin_streams_lock);
        __atomic_sub_fetch(&standin_captures, 1, __ATOMIC_RELAXED);
    }
    return standin_called(api, status, "stream=%#lx graph=%#lx nodes=%zu", HEX(stream), status ? 0 : HEX(*graph), status ? 0 : (*graph)->nodes.n);
}

PUBLIC hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph) { return end(__func__, stream, pGraph, 0); }
PUBLIC hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t *pGraph) { return end(__func__, stream, pGraph, 1); }

static hipError_t info(hipStream_t stream, hipStreamCaptureStatus *status_out, unsigned long long *id, hipGraph_t *graph, const hipGraphNode_t **nodes, size_t *n, int per_thread)
{
    hipError_t status = status_out ? hipSuccess : hipErrorInvalidValue;
    struct ihipStream_t *s = status ? NULL : standin_stream(stream, per_thread, &status);
    if (!status && !s && invalidate(global))
        status = hipErrorStreamCaptureImplicit;
    if (status)
        return standin_fail(status);
    *status_out = s ? s->status : hipStreamCaptureStatusNone;
    if (!s || s->status != hipStreamCaptureStatusActive)
        return hipSuccess;
    if (id)
        *id = s->capture;
    if (graph)
        *graph = s->graph;
    if (nodes)
        *nodes = s->last.at;
    if (n)
        *n = s->last.n;
    return hipSuccess;
}

PUBLIC hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus) { return info(stream, pCaptureStatus, NULL, NULL, NULL, NULL, 0); }
PUBLIC hipError_t hipStreamIsCapturing_spt(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus) { return info(stream, pCaptureStatus, NULL, NULL, NULL, NULL, 1); }
PUBLIC hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus, unsigned long long *pId) { return info(stream, pCaptureStatus, pId, NULL, NULL, NULL, 0); }
PUBLIC hipError_t hipStreamGetCaptureInfo_spt(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus, unsigned long long *pId) { return info(stream, pCaptureStatus, pId, NULL, NULL, NULL, 1); }

PUBLIC hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *captureStatus_out, unsigned long long *id_out, hipGraph_t *graph_out, const hipGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    return info(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out, 0);
}

PUBLIC hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t stream, hipStreamCaptureStatus *captureStatus_out, unsigned long long *id_out, hipGraph_t *graph_out, const hipGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    return info(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out, 1);
}

PUBLIC hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *dependencies, size_t numDependencies, unsigned flags)
{
    hipError_t status = flags > hipStreamSetCaptureDependencies || (numDependencies && !dependencies) ? hipErrorInvalidValue : hipSuccess;
    struct ihipStream_t *s = status ? NULL : standin_stream(stream, 0, &status);
    if (!status && (!s || s->status == hipStreamCaptureStatusNone))
        status = hipErrorIllegalState;
    if (!status && flags == hipStreamSetCaptureDependencies)
        s->last.n = 0;
    for (size_t i = 0; !status && i < numDependencies; i++)
        standin_push(&s->last, dependencies[i]);
    return CALLED(status, "stream=%#lx nodes=%zu flags=%u", HEX(stream), numDependencies, flags);
}

PUBLIC hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode)
{
    if (!mode || *mode > hipStreamCaptureModeRelaxed)
        return standin_fail(hipErrorInvalidValue);
    hipStreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return hipSuccess;
}
