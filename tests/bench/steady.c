// A program that launches at a given rate for a while, for the sections sustained, growth, memory
// and idleness of scripts/bench.
//   steady ARGUMENTS RATE CALLS THREADS KERNELS SLEEP_MS
//
// Each of THREADS threads makes CALLS calls of hipModuleLaunchKernel, at most RATE a second (0: as
// fast as they go), of KERNELS kernels in turn, each with ARGUMENTS (0 or 6) arguments. Afterwards
// the program rests, and then sleeps for SLEEP_MS. It prints
//
//   calls N SECONDS                what was made, those that warm up left out, and how long the slowest thread took
//   ns P50 P99 P99.9 MAX MEAN      of a call, timed by itself: two reads of the clock are included
//   memory BEFORE WITH             resident KiB of the process, before there are threads and while all wait at their end
//   idle CPU_NS SECONDS            what the process used while it slept
//   events N                       what a tracer must have recorded
#define _GNU_SOURCE
#include "code_object.h"
#include "hip.h"
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { WARM_CALLS = 100, SETTLE_US = 5000, REST_US = 1500000, SLEEP_FROM_NS = 300000, LATE_NS = 100000, MODULE_KERNELS = 1000, STEPS = 32, BUCKETS = 64 * STEPS };

static unsigned long arguments, rate, calls, threads, kernels, sleep_ms;
static double ns_per_tick;
static hipFunction_t *functions;
static pthread_barrier_t all_here;

struct thread {
    pthread_t id;
    double seconds, total;
    unsigned long most, first_kernel;
    unsigned buckets[BUCKETS]; // of ticks, 32 to an octave
};

static unsigned long now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000ul + t.tv_nsec;
}

static double measure_tick(void)
{
    unsigned long ns = now(CLOCK_MONOTONIC), ticks = __rdtsc();
    while (now(CLOCK_MONOTONIC) - ns < 20000000)
        continue;
    return (double)(now(CLOCK_MONOTONIC) - ns) / (__rdtsc() - ticks);
}

static unsigned bucket(unsigned long ticks)
{
    int octave = 63 - __builtin_clzl(ticks | STEPS);
    return (octave - 4) * STEPS + (ticks >> (octave - 5)) - STEPS;
}

static double middle_of(unsigned bucket) { return bucket < STEPS ? bucket : (bucket % STEPS + STEPS + 0.5) * (1ul << (bucket / STEPS - 1)); }

static inline void launch(hipFunction_t f, unsigned long i)
{
    void *buffers[3] = {&buffers[0], &buffers[1], &buffers[2]};
    int values[3] = {i, i + 1, 4096};
    void *params[6] = {&buffers[0], &buffers[1], &buffers[2], &values[0], &values[1], &values[2]};
    hipModuleLaunchKernel(f, (i & 1023) + 1, 1, 1, 64, 1, 1, 0, NULL, arguments ? params : NULL, NULL);
}

// Waits until a call's time has come: asleep while it is far away, so that others can use the core.
// Returns the time from which the next is counted: this one, unless the thread resumed late; then
// it does not catch up.
static unsigned long until(unsigned long tick)
{
    unsigned long t;
    while ((long)(tick - (t = __rdtsc())) > 0) {
        double ns = (tick - t) * ns_per_tick;
        if (ns > SLEEP_FROM_NS)
            usleep((ns - SLEEP_FROM_NS / 2) / 1000);
        else
            _mm_pause();
    }
    return (t - tick) * ns_per_tick > LATE_NS ? t : tick;
}

static void *work(void *arg)
{
    struct thread *t = arg;
    unsigned long kernel = t->first_kernel, interval = rate ? 1e9 / rate / ns_per_tick : 0;
    for (unsigned long i = 0; i < WARM_CALLS; i++)
        launch(functions[kernel], i);
    usleep(SETTLE_US);
    pthread_barrier_wait(&all_here);
    unsigned long start = now(CLOCK_MONOTONIC), due = __rdtsc();
    for (unsigned long i = 0; i < calls; i++) {
        hipFunction_t f = functions[kernel];
        kernel = kernel + 1 < kernels ? kernel + 1 : 0;
        if (interval)
            due = until(due + interval);
        unsigned long before = __rdtsc();
        launch(f, i);
        unsigned long ticks = __rdtsc() - before;
        t->buckets[bucket(ticks)]++;
        t->total += ticks;
        t->most = ticks > t->most ? ticks : t->most;
    }
    t->seconds = (now(CLOCK_MONOTONIC) - start) / 1e9;
    pthread_barrier_wait(&all_here);
    pthread_barrier_wait(&all_here); // main reads the memory
    return NULL;
}

static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * 4;
}

static int load_kernels(void)
{
    static struct co_kernel list[MODULE_KERNELS];
    static char names[MODULE_KERNELS][24];
    functions = calloc(kernels, sizeof *functions);
    for (unsigned long first = 0; first < kernels; first += MODULE_KERNELS) {
        unsigned long here = kernels - first < MODULE_KERNELS ? kernels - first : MODULE_KERNELS;
        hipModule_t module;
        for (unsigned long i = 0; i < here; i++) {
            snprintf(names[i], sizeof names[i], "kernel_%lu", first + i);
            list[i] = (struct co_kernel){names[i], arguments ? "pppiii" : ""};
        }
        if (hipModuleLoadData(&module, co_module(list, here)))
            return 1;
        for (unsigned long i = 0; i < here; i++)
            if (hipModuleGetFunction(&functions[first + i], module, names[i]))
                return 1;
    }
    return 0;
}

static double percentile(const unsigned *buckets, unsigned long n, double share)
{
    unsigned long seen = 0, wanted = n * share;
    for (unsigned b = 0; b < BUCKETS; b++)
        if ((seen += buckets[b]) > wanted)
            return middle_of(b) * ns_per_tick;
    return 0;
}

static void print_calls(const struct thread *all)
{
    static unsigned buckets[BUCKETS];
    unsigned long n = threads * calls, most = 0;
    double seconds = 0, total = 0;
    for (unsigned long i = 0; i < threads; i++) {
        for (unsigned b = 0; b < BUCKETS; b++)
            buckets[b] += all[i].buckets[b];
        seconds = all[i].seconds > seconds ? all[i].seconds : seconds;
        most = all[i].most > most ? all[i].most : most;
        total += all[i].total;
    }
    printf("calls %lu %.6f\n", n, seconds);
    printf("ns %.1f %.1f %.1f %.1f %.1f\n", percentile(buckets, n, .5), percentile(buckets, n, .99), percentile(buckets, n, .999), most * ns_per_tick, total / n * ns_per_tick);
}

int main(int argc, char **argv)
{
    unsigned long *numbers[] = {&arguments, &rate, &calls, &threads, &kernels, &sleep_ms};
    for (int i = 0; argc == 7 && i < 6; i++)
        *numbers[i] = strtoul(argv[i + 1], NULL, 10);
    if (!threads || !kernels || !calls) {
        fprintf(stderr, "usage: %s ARGUMENTS RATE CALLS THREADS KERNELS SLEEP_MS\n", argv[0]);
        return 2;
    }
    ns_per_tick = measure_tick();
    if (load_kernels())
        return 1;
    struct thread *all = calloc(threads, sizeof *all);
    memset(all, 1, threads * sizeof *all), memset(all, 0, threads * sizeof *all); // no page fault of ours later
    pthread_barrier_init(&all_here, NULL, threads + 1);
    launch(functions[0], 0);
    usleep(SETTLE_US);
    long before = resident();
    for (unsigned long i = 0; i < threads; i++) {
        all[i].first_kernel = i * (kernels / threads) % kernels;
        pthread_create(&all[i].id, NULL, work, &all[i]);
    }
    pthread_barrier_wait(&all_here);
    pthread_barrier_wait(&all_here);
    long with = resident();
    if (sleep_ms)
        usleep(REST_US);
    unsigned long used = now(CLOCK_PROCESS_CPUTIME_ID), start = now(CLOCK_MONOTONIC);
    usleep(sleep_ms * 1000);
    used = now(CLOCK_PROCESS_CPUTIME_ID) - used;
    double slept = (now(CLOCK_MONOTONIC) - start) / 1e9;
    pthread_barrier_wait(&all_here);
    for (unsigned long i = 0; i < threads; i++)
        pthread_join(all[i].id, NULL);
    print_calls(all);
    printf("memory %ld %ld\nidle %lu %.3f\nevents %lu\n", before, with, used, slept, 1 + threads * (WARM_CALLS + calls));
    return 0;
}
