// A program that makes CALLS launches, a few microseconds apart as in a real one, and then ends as
// asked: endings HOW CALLS COUNTS.
//
// HOW is exit, _exit, quick_exit, abort, uncaught (an exception), segv, kill, memory (all that its
// group of processes has), late (half of the calls in a destructor at exit), fork (the child makes
// as many as its parent), spawn (so does a program that it starts), exec (the program that takes
// its place makes the second half), threads (four threads share the calls), short (a thousand do,
// four at a time), reload (a plug-in makes them, which is opened and closed ten times), busy (they
// go on for ever, and SIGKILL comes in the middle), or moment (the same after CALLS microseconds).
// again is what exec and spawn start.
// COUNTS is a file in which each thread counts the calls that have returned, so that it holds after
// any end.
#define _GNU_SOURCE
#include "code_object.h"
#include "deaths.h"
#include "hip.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, STRIDE = 64, PACE_STEPS = 2000, SHORT_ROUNDS = 250, RELOADS = 10 };

void launch_all(hipFunction_t function, unsigned long *counts, unsigned long n, int thread)
{
    for (unsigned long i = 0; i < n; i++) {
        hipModuleLaunchKernel(function, i + 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
        __atomic_fetch_add(&counts[thread * STRIDE / sizeof *counts], 1, __ATOMIC_RELAXED);
        for (unsigned long step = 0, x = i; step < PACE_STEPS; step++)
            __asm__ volatile("imul %0, %0" : "+r"(x));
    }
}

#ifndef PLUGIN // of which no more are available

static hipFunction_t function;
static unsigned long calls, *counts;
static const char *how;
extern char **environ;

static int is(const char *name) { return !strcmp(how, name); }

static void launch(unsigned long n, int thread) { launch_all(function, counts, n, thread); }

static void *work(void *arg)
{
    launch(is("busy") || is("moment") ? -1ul : is("short") ? calls / THREADS / SHORT_ROUNDS : calls / THREADS, (int)(long)arg);
    return NULL;
}

static void threads_work(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    if (is("busy") || is("moment")) {
        usleep(is("busy") ? 200000 : calls);
        raise(SIGKILL);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static int reload(const char *program)
{
    char path[4096];
    snprintf(path, sizeof path, "%s-plugin.so", program);
    for (int i = 0; i < RELOADS; i++) {
        void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        __typeof__(&launch_all) launch_there = (__typeof__(launch_there))(plugin ? dlsym(plugin, "launch_all") : NULL);
        if (!launch_there)
            return 1;
        launch_there(function, counts, calls / RELOADS, 0);
        dlclose(plugin);
    }
    return 0;
}

static __attribute__((destructor)) void at_the_end(void)
{
    if (how && is("late"))
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
    how = argv[1], calls = strtoul(argv[2], NULL, 10);
    int file = open(argv[3], O_RDWR | O_CREAT | (is("again") ? 0 : O_TRUNC), 0600);
    if (file < 0 || ftruncate(file, 4096) || (counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) == MAP_FAILED ||
        hipModuleLoadData(&module, co_module(&kernel, 1)) || hipModuleGetFunction(&function, module, "ending"))
        return 1;
    char half[32], *again[] = {argv[0], "again", argv[2], argv[3], NULL};
    snprintf(half, sizeof half, "%lu", calls / 2);
    pid_t child = 0;
    if (is("fork")) {
        child = fork();
        launch(calls, child == 0);
        if (child)
            waitpid(child, NULL, 0);
    } else if (is("spawn")) {
        if (posix_spawn(&child, argv[0], NULL, NULL, again, environ))
            return 1;
        launch(calls, 0);
        waitpid(child, NULL, 0);
    } else if (is("exec")) {
        launch(calls / 2, 0);
        again[2] = half;
        execv(argv[0], again);
        return 1;
    } else if (is("threads") || is("busy") || is("moment")) {
        threads_work();
    } else if (is("short")) {
        for (int i = 0; i < SHORT_ROUNDS; i++)
            threads_work();
    } else if (is("reload")) {
        return reload(argv[0]);
    } else {
        launch(is("late") ? calls / 2 : calls, is("again"));
    }
    if (is("_exit"))
        _exit(0);
    if (is("quick_exit"))
        quick_exit(0);
    if (is("abort"))
        abort();
    if (is("uncaught"))
        throw_uncaught();
    if (is("memory"))
        take_all_memory();
    if (is("segv"))
        raise(SIGSEGV);
    if (is("kill"))
        raise(SIGKILL);
    exit(0);
}
#endif
