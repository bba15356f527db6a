// Streams, captures and graphs inside the HIP stand-in.
#ifndef GRAPH_H
#define GRAPH_H

#include "hip_memory.h"
#include "standin.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEX(pointer) ((unsigned long)(pointer))
// Logs a call with its status last, sets the last error, and returns the status.
#define CALLED(status, ...) standin_called(__func__, status, __VA_ARGS__)
hipError_t standin_called(const char *api, hipError_t status, const char *format, ...) __attribute__((format(printf, 3, 4)));

struct nodes {
    hipGraphNode_t *at;
    size_t n;
};
void standin_push(struct nodes *list, hipGraphNode_t node); // unless it is in the list

struct standin_copy { // rows of `width` bytes; pitch: row to row, slice: plane to plane
    void *dst;
    const void *src;
    size_t dpitch, spitch, dslice, sslice, width, height, depth;
    hipMemcpyKind kind;
};
struct standin_set { // `width` elements per row
    void *dst;
    uint32_t value;
    size_t element, width, height, pitch;
};
void standin_copy(const struct standin_copy *c);
void standin_set(const struct standin_set *s);

struct hipGraphNode {
    hipGraph_t graph;
    hipGraphNodeType type;
    int enabled;
    struct nodes from, to;         // its edges
    const struct hipGraphNode *of; // what it is a clone of
    union {
        hipKernelNodeParams kernel; // argument pointers are not kept
        struct standin_copy copy;
        struct standin_set set;
        hipHostNodeParams host;
        hipGraph_t child;
    } as;
};
struct ihipGraph { struct nodes nodes; };

hipGraph_t standin_new_graph(void);
hipGraphNode_t standin_add_node(hipGraph_t graph, hipGraphNodeType type, const hipGraphNode_t *from, size_t n);
int standin_order(hipGraph_t graph, struct nodes *out); // by dependency; 0 when it has a cycle
hipGraph_t standin_clone(hipGraph_t graph);
void standin_drop_graph(hipGraph_t graph);
hipError_t standin_set_params(hipGraphNode_t node, const hipGraphNodeParams *params);

struct ihipStream_t {
    unsigned flags;
    int device, priority;
    unsigned long long id;
    hipStreamCaptureStatus status;
    // While it captures:
    hipStreamCaptureMode mode;
    unsigned long long capture; // shared by the streams that joined
    hipGraph_t graph;
    size_t had;        // nodes of the graph before the capture began
    struct nodes last; // dependencies of the next node
    int origin;        // the capture began here
    pthread_t owner;
    struct ihipStream_t *next;
};
extern pthread_mutex_t standin_streams_lock;
extern struct ihipStream_t *standin_streams; // all live streams
extern int standin_captures;                 // number of active captures

// The stream of a handle: NULL for the legacy one. `per_thread`: the null stream is the thread's.
// Sets `*status` if there is none.
struct ihipStream_t *standin_stream(hipStream_t stream, int per_thread, hipError_t *status);
// Adds a node at the end of a capturing stream, or returns NULL if it does not capture; sets
// `*status` if the capture is invalidated.
hipGraphNode_t standin_captured(hipStream_t stream, int per_thread, hipGraphNodeType type, hipError_t *status);

// Invalidates active captures; hipSuccess if none is in the way.
hipError_t standin_sync_now(hipError_t error);  // work on the legacy stream, or a wait for the device
hipError_t standin_unsafe_now(void);            // an allocation and the like
hipError_t standin_wait_now(hipStream_t stream, int per_thread); // a wait for this stream

#endif
