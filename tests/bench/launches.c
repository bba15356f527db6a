// Launches on the real HIP, module kernels and graphs of 20 of them: launches LIBRARY CODE-OBJECT.
// Prints `launch NS` and `graph NS`, the median of bursts that nothing waits in, and `rss KIB`.
#include "hip.h"
#include "hip_graph.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BURSTS = 101, LAUNCHES = 200, GRAPHS = 20, NODES = 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int ascending(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

static double median(double *values)
{
    qsort(values, BURSTS, sizeof *values, ascending);
    return values[BURSTS / 2];
}

static long peak(void)
{
    char line[256];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %ld", &kib);
    return kib;
}

#define FUNCTION(name) __typeof__(&name) p_##name = (__typeof__(&name))dlsym(hip, #name)

int main(int argc, char **argv)
{
    void *hip = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!hip)
        return fprintf(stderr, "launches: %s\n", argc > 2 ? dlerror() : "LIBRARY CODE-OBJECT"), 1;
    FUNCTION(hipModuleLoad);
    FUNCTION(hipModuleGetFunction);
    FUNCTION(hipMalloc);
    FUNCTION(hipStreamCreate);
    FUNCTION(hipStreamSynchronize);
    FUNCTION(hipModuleLaunchKernel);
    FUNCTION(hipStreamBeginCapture);
    FUNCTION(hipStreamEndCapture);
    FUNCTION(hipGraphInstantiate);
    FUNCTION(hipGraphLaunch);
    hipModule_t module;
    hipFunction_t scale;
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    void *data;
    int n = 256, failed = 0;
    void *arguments[] = {&data, &n};
    double direct[BURSTS], by_graph[BURSTS];
    failed += !!p_hipModuleLoad(&module, argv[2]) + !!p_hipModuleGetFunction(&scale, module, "_Z12vector_scaleILi2EEvPfi");
    failed += !!p_hipMalloc(&data, 4096) + !!p_hipStreamCreate(&stream);
    failed += !!p_hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed);
    for (int i = 0; i < NODES; i++)
        failed += !!p_hipModuleLaunchKernel(scale, 1, 1, 1, 256, 1, 1, 0, stream, arguments, NULL);
    failed += !!p_hipStreamEndCapture(stream, &graph) + !!p_hipGraphInstantiate(&exec, graph, NULL, NULL, 0);
    for (int burst = 0; burst < BURSTS; burst++) {
        double start = now();
        for (int i = 0; i < LAUNCHES; i++)
            failed += !!p_hipModuleLaunchKernel(scale, 1, 1, 1, 256, 1, 1, 0, stream, arguments, NULL);
        direct[burst] = (now() - start) / LAUNCHES;
        failed += !!p_hipStreamSynchronize(stream);
        start = now();
        for (int i = 0; i < GRAPHS; i++)
            failed += !!p_hipGraphLaunch(exec, stream);
        by_graph[burst] = (now() - start) / GRAPHS;
        failed += !!p_hipStreamSynchronize(stream);
    }
    if (failed)
        return fprintf(stderr, "launches: %d calls failed\n", failed), 1;
    printf("launch %.1f\ngraph %.1f\nrss %ld\n", median(direct), median(by_graph), peak());
    return 0;
}
