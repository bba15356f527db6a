// Captures over several streams and threads, into an existing graph, and captures that fail.
// link: amdhip64
// kernel: 0 one _Z3onev -
// kernel: 0 two _Z3twov -
#include "graph_fork.fatbin.h"
#include "hip_memory.h"
#include <pthread.h>
#include <stdio.h>

static hipStream_t a, b, c;
static hipEvent_t forked, joined;
static int failed;

static int launch(const void *kernel, unsigned x, hipStream_t stream) { return hipLaunchKernel(kernel, (dim3){x, 1, 1}, (dim3){64, 1, 1}, NULL, 0, stream); }

static size_t end(const char *what, hipStream_t stream)
{
    hipGraph_t graph = NULL;
    hipGraphExec_t exec = NULL;
    size_t nodes = 0;
    hipError_t error = hipStreamEndCapture(stream, &graph);
    if (graph) {
        hipGraphGetNodes(graph, NULL, &nodes);
        failed += !!hipGraphInstantiate(&exec, graph, NULL, NULL, 0) + !!hipGraphLaunch(exec, c) + !!hipGraphExecDestroy(exec) + !!hipGraphDestroy(graph);
    }
    printf("%s: ended with %d, nodes %zu\n", what, error, nodes);
    return nodes;
}

static void *end_elsewhere(void *stream)
{
    end("of another thread", stream);
    return NULL;
}

static void *capture_alone(void *number)
{
    hipStream_t mine;
    hipGraph_t graph = NULL;
    hipGraphExec_t exec;
    int wrong = !!hipStreamCreate(&mine);
    for (int i = 1; i <= 20; i++) {
        wrong += !!hipStreamBeginCapture(mine, hipStreamCaptureModeThreadLocal);
        for (int j = 0; j < i; j++)
            wrong += !!launch(&one, 1 + (long)number, mine);
        wrong += !!hipStreamEndCapture(mine, &graph) + !!hipGraphInstantiate(&exec, graph, NULL, NULL, 0);
        wrong += !!hipGraphLaunch(exec, mine) + !!hipGraphExecDestroy(exec) + !!hipGraphDestroy(graph);
    }
    __atomic_add_fetch(&failed, wrong, __ATOMIC_RELAXED);
    return NULL;
}

// a forks to b and comes back.
static void fork_and_join(int join)
{
    failed += !!launch(&one, 1, a) + !!hipEventRecord(forked, a) + !!hipStreamWaitEvent(b, forked, 0);
    failed += !!launch(&two, 2, b) + !!launch(&one, 3, a) + !!launch(&two, 4, b);
    failed += !!launch(&two, 5, c); // an unrelated stream: it runs
    failed += !!hipEventRecord(joined, b);
    if (join)
        failed += !!hipStreamWaitEvent(a, joined, 0) + !!launch(&one, 6, a);
}

int main(void)
{
    hipStreamCaptureStatus status;
    unsigned long long id = 0, id_of_b = 0;
    const hipGraphNode_t *last;
    hipGraph_t graph, into;
    hipGraphNode_t first;
    pthread_t threads[3];
    size_t n = 0;
    void *p;
    failed += !!hipStreamCreate(&a) + !!hipStreamCreate(&b) + !!hipStreamCreate(&c) + !!hipEventCreate(&forked) + !!hipEventCreate(&joined);
    failed += !!hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed);
    fork_and_join(1);
    failed += !!hipStreamGetCaptureInfo(b, &status, &id_of_b) + !!hipStreamGetCaptureInfo_v2(a, &status, &id, &graph, &last, &n);
    printf("the same capture %d, goes on from %zu\n", id == id_of_b && id, n);
    printf("ended on the other stream: %d\n", hipStreamEndCapture(b, &graph));
    end("forked and joined", a);

    failed += !!hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed);
    fork_and_join(0);
    end("never joined", a);

    failed += !!hipGraphCreate(&into, 0) + !!hipGraphAddEmptyNode(&first, into, NULL, 0);
    failed += !!hipStreamBeginCaptureToGraph(a, into, &first, NULL, 1, hipStreamCaptureModeGlobal) + !!launch(&one, 7, a);
    end("into a graph", a);

    failed += !!hipStreamBeginCapture_spt(NULL, hipStreamCaptureModeThreadLocal) + !!hipLaunchKernel_spt(&one, (dim3){8, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL) + !!launch(&one, 9, hipStreamPerThread);
    end("the thread's own stream", hipStreamPerThread);

    failed += !!hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed) + !!launch(&one, 10, a);
    pthread_create(&threads[0], NULL, end_elsewhere, a);
    pthread_join(threads[0], NULL);
    failed += !!hipStreamBeginCapture(a, hipStreamCaptureModeGlobal) + !!launch(&one, 11, a);
    pthread_create(&threads[0], NULL, end_elsewhere, a);
    pthread_join(threads[0], NULL);
    end("then of its own", a);

    // What invalidates a capture.
    failed += !!hipStreamBeginCapture(a, hipStreamCaptureModeGlobal) + !!launch(&one, 12, a);
    printf("a second time %d, ", hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
    printf("allocation %d", hipMalloc(&p, 64));
    printf(", then a launch %d\n", launch(&one, 13, a));
    end("after an allocation", a);
    failed += !!hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed) + !!launch(&one, 14, a);
    printf("wait %d\n", hipStreamSynchronize(a));
    end("after a wait", a);
    failed += !!hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed);
    printf("wait for the device %d\n", hipDeviceSynchronize());
    end("after a wait for the device", a);
    printf("the null stream %d, none %d\n", hipStreamBeginCapture(NULL, hipStreamCaptureModeGlobal), hipStreamEndCapture(a, &graph));
    (void)hipGetLastError();

    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, capture_alone, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("failed %d\n", failed);
    return failed;
}
