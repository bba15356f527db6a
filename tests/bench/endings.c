// A program that makes CALLS launches, a few microseconds apart as in a real one, and then ends as asked: endings HOW CALLS COUNTS.
//
// HOW is exit, _exit, quick_exit, abort, segv, kill, late (half of the calls in a destructor at exit), fork (the child makes as
// many as its parent), threads (four threads share the calls), or busy (they go on for ever, and SIGKILL comes in the middle).
// COUNTS is a file in which each thread counts the calls that have returned, so that it holds after any end.
#define _GNU_SOURCE
#include "code_object.h"
#include "hip.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, STRIDE = 64, PACE_STEPS = 2000 };

static hipFunction_t function;
static unsigned long calls, *counts;
static const char *how;

static void launch(unsigned long n, int thread)
{
    for (unsigned long i = 0; i < n; i++) {
        hipModuleLaunchKernel(function, i + 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
        __atomic_fetch_add(&counts[thread * STRIDE / sizeof *counts], 1, __ATOMIC_RELAXED);
        for (unsigned long step = 0, x = i; step < PACE_STEPS; step++)
            __asm__ volatile("imul %0, %0" : "+r"(x));
    }
}

static void *work(void *arg)
{
    launch(!strcmp(how, "busy") ? -1ul : calls / THREADS, (int)(long)arg);
    return NULL;
}

static __attribute__((destructor)) void at_the_end(void)
{
    if (how && !strcmp(how, "late"))
        launch(calls / 2, 0);
}

int main(int argc, char **argv)
{
    struct co_kernel kernel = {"ending", ""};
    hipModule_t module;
    if (argc != 4) {
        fprintf(stderr, "usage: %s HOW CALLS COUNTS\n", argv[0]);
        return 2;
    }
    calls = strtoul(argv[2], NULL, 10);
    int file = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, 4096) || (counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) == MAP_FAILED ||
        hipModuleLoadData(&module, co_module(&kernel, 1)) || hipModuleGetFunction(&function, module, "ending"))
        return 1;
    how = argv[1];
    if (!strcmp(how, "fork")) {
        pid_t child = fork();
        launch(calls, child == 0);
        if (child)
            waitpid(child, NULL, 0);
        return 0;
    }
    if (!strcmp(how, "threads") || !strcmp(how, "busy")) {
        pthread_t threads[THREADS];
        for (long i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, work, (void *)i);
        if (!strcmp(how, "busy")) {
            usleep(200000);
            raise(SIGKILL);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        return 0;
    }
    launch(!strcmp(how, "late") ? calls / 2 : calls, 0);
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "quick_exit"))
        quick_exit(0);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "segv"))
        raise(SIGSEGV);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    exit(0);
}
