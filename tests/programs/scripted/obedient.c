// Threads that launch continuously, and a main thread that reads commands, line by line, and
// answers "ok NUMBER": obedient [THREADS [PAUSE]]. A thread launches 20 kernels, then sleeps for
// PAUSE microseconds; the grid is the launch's number, the block identifies the thread.
//   launch N   launches "commanded" N times       load NAME   loads a module with a kernel NAME; launch uses that from then on
//   capture    begins a capture, in which another stream joins     end        ends it, launches the graph once
//   halt       the threads launch no more                          fork       a child does what follows; the parent waits for it
//   product    a matrix product
//   sandbox    locks all threads into a sandbox, in which nothing is opened or made
//
// At the end of its input it prints how often each thread launched.
// link: amdhip64 rocblas
#include "code_object.h"
#include "hip.h"
#include "hip_graph.h"
#include "hip_memory.h"
#include "rocblas.h"
#include "sandbox.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 16, BURST = 20 };
static hipFunction_t work, commanded;
static unsigned long counts[THREADS];
static int halted, begun, pause_us = 500;

static void *launch_without_end(void *number)
{
    unsigned long thread = (unsigned long)number, count = 0;
    while (!__atomic_load_n(&halted, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < BURST; i++)
            count += !hipModuleLaunchKernel(work, count + 1, 1, 1, thread + 1, 1, 1, 0, NULL, NULL, NULL);
        if (count == BURST)
            __atomic_add_fetch(&begun, 1, __ATOMIC_RELEASE);
        if (pause_us)
            usleep(pause_us);
    }
    counts[thread] = count;
    return NULL;
}

static hipFunction_t load(const char *name)
{
    struct co_kernel kernel = {strdup(name), ""};
    hipFunction_t function = NULL;
    hipModule_t module;
    if (!hipModuleLoadData(&module, co_module(&kernel, 1)))
        hipModuleGetFunction(&function, module, kernel.name);
    return function;
}

static hipStream_t first, second;

static void capture(void)
{
    hipEvent_t event;
    hipStreamCreate(&first), hipStreamCreate(&second), hipEventCreate(&event);
    hipStreamBeginCapture(first, hipStreamCaptureModeRelaxed);
    hipEventRecord(event, first);
    hipStreamWaitEvent(second, event, 0);
}

static void end_capture(void)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipEvent_t event;
    hipModuleLaunchKernel(commanded, 7, 1, 1, 64, 1, 1, 0, second, NULL, NULL);
    hipEventCreate(&event), hipEventRecord(event, second), hipStreamWaitEvent(first, event, 0);
    hipStreamEndCapture(first, &graph);
    hipGraphInstantiate(&exec, graph, NULL, NULL, 0);
    hipGraphLaunch(exec, first);
}

static void product(void)
{
    static float one = 1, zero = 0, matrix[64];
    static rocblas_handle handle;
    if (!handle)
        rocblas_create_handle(&handle);
    rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, 8, 8, 8, &one, matrix, 8, matrix, 8, &zero, matrix, 8);
}

int main(int argc, char **argv)
{
    unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, launched = 0, done = 0;
    pthread_t ids[THREADS];
    char line[256];
    pause_us = argc > 2 ? atoi(argv[2]) : pause_us;
    work = load("work"), commanded = load("commanded");
    for (unsigned long t = 0; t < threads && t < THREADS; t++)
        pthread_create(&ids[t], NULL, launch_without_end, (void *)t);
    while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < (int)threads)
        usleep(100);
    setvbuf(stdin, NULL, _IONBF, 0); // unbuffered, so that the parent does not read lines meant for a forked child
    printf("ready %d\n", getpid());
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        char what[32] = "", name[128] = "";
        sscanf(line, "%31s %127s", what, name);
        if (!strcmp(what, "launch"))
            for (unsigned long i = strtoul(name, NULL, 10); i; i--)
                launched += !hipModuleLaunchKernel(commanded, launched + 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
        if (!strcmp(what, "load"))
            commanded = load(name);
        if (!strcmp(what, "capture"))
            capture();
        if (!strcmp(what, "end"))
            end_capture();
        if (!strcmp(what, "product"))
            product();
        if (!strcmp(what, "sandbox") && lock_in(0, 1))
            return printf("no sandbox\n"), 2;
        if (!strcmp(what, "halt")) {
            __atomic_store_n(&halted, 1, __ATOMIC_RELEASE);
            for (; threads; threads--)
                pthread_join(ids[threads - 1], NULL);
        }
        pid_t child = !strcmp(what, "fork") ? fork() : 0;
        if (child > 0) {
            waitpid(child, NULL, 0);
            break;
        }
        if (!strcmp(what, "fork"))
            threads = 0; // only the forking thread exists in the child
        printf("ok %lu %d\n", ++done, getpid());
        fflush(stdout);
    }
    __atomic_store_n(&halted, 1, __ATOMIC_RELEASE);
    for (; threads; threads--)
        pthread_join(ids[threads - 1], NULL);
    printf("launched %lu", launched);
    for (int t = 0; t < THREADS; t++)
        printf(" %lu", counts[t]);
    printf("\n");
    return 0;
}
