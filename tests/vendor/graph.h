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
// Logs a call with its status last, sets the last error, and is the status.
#define CALLED(status, ...) standin_called(__func__, status, __VA_ARGS__)
hipError_t standin_called(const char *api, hipError_t status, const char *format, ...) __attribute__((format(printf, 3, 4)));

struct nodes {
    hipGraphNode_t *at;
    size_t n;
};
void standin_push(struct nodes *list, hipGraphNode_t node); // unless it is there

struct standin_copy { // rows of `width` bytes; a pitch leads from row to row, a slice from plane to plane
    void *dst;
    const void *src;
    size_t dpitch, spitch, dslice, sslice, width, height, depth;
    hipMemcpyKind kind;
};
struct standin_set { // `width` elements a row
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
        hipKernelNodeParams kernel; // the argument pointers are not kept
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
    struct nodes last; // what the next node depends on
    int origin;        // the capture began here
    pthread_t owner;
    struct ihipStream_t *next;
};
extern pthread_mutex_t standin_streams_lock;
extern struct ihipStream_t *standin_streams; // all that live
extern int standin_captures;                 // how many captures are going on

// The stream behind a handle: NULL for the legacy one. `per_thread`: the null stream is the
// thread's. Sets `*status` when there is none.
struct ihipStream_t *standin_stream(hipStream_t stream, int per_thread, hipError_t *status);
// A node at the end of a capturing stream, or NULL where nothing is captured; `*status` when the
// capture is broken.
hipGraphNode_t standin_captured(hipStream_t stream, int per_thread, hipGraphNodeType type, hipError_t *status);

// What breaks captures that are going on; hipSuccess when there are none in the way.
hipError_t standin_sync_now(hipError_t error);  // work for the legacy stream, or a wait for everything
hipError_t standin_unsafe_now(void);            // an allocation and the like
hipError_t standin_wait_now(hipStream_t stream, int per_thread); // a wait for this stream

#endif
