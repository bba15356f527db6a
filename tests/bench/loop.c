// The workload of scripts/bench: bursts of calls that fit a tracer's buffer, with pauses in which
// it can be emptied.
//   loop FORM MODE BURSTS CALLS THREADS PAUSE_US
//   loop clock                                     prints `clock TICKS_PER_US NS_PER_READ` of the time-stamp counter
//
// FORM is module (hipModuleLaunchKernel), args6 and args16 (the same, with so many arguments),
// paced (the same, each followed by a microsecond of other work), stub (hipLaunchKernel), gemm
// (rocblas_gemm_ex, which launches one kernel), timed (a launch in which the loop asks the tracer
// as HIP does where GPU times are requested) or report (the report of a dispatch). MODE is time: a
// line `burst NS_PER_CALL GAUGE` for each burst, where GAUGE is what a fixed amount of work took
// around the burst, ns: when it is more than elsewhere, the machine was slower. Or tail: each call
// is timed by itself, and one line `tail P50 P99 P99.9 MAX` in ns, in which the two reads of the
// clock are included. Then, in both modes: `usage FAULTS BLOCKED PREEMPTED`, page faults and
// context switches of the threads while they were timed, and `events N`, what a tracer must have
// recorded.
//
// kernel: 0 by_stub by_stub -
#define _GNU_SOURCE
#include "code_object.h"
#include "rocblas.h"
#include "loop.fatbin.h"
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { FIRST_BURSTS = 4, WARM_CALLS = 100, WARM_NS = 1000000, PACE_STEPS = 1000, GAUGE_STEPS = 12000, THREADS_MAX = 64 };

static unsigned long bursts, calls, threads, pause_us;
static unsigned long waiting, round_now; // of the barrier
static int tails, may_spin;
static double ns_per_tick;
static hipFunction_t function, of_six, of_sixteen;

struct thread {
    pthread_t id;
    struct burst {
        double ns, gauge;
    } *bursts;
    unsigned *ticks; // of each call, in tail mode
    long faults, blocked, preempted;
};

static unsigned long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ul + t.tv_nsec;
}

static void spin(unsigned long ns)
{
    for (unsigned long start = now(); now() - start < ns;)
        continue;
}

// The pause between bursts. A core that slept resumes at a lower clock, so this one stays busy if
// another is left for the tracer, and otherwise gets some time to return to full speed.
static void rest(void)
{
    if (may_spin)
        return spin(pause_us * 1000);
    usleep(pause_us);
    spin(WARM_NS);
}

// Holds the threads until all have arrived. It spins, so that they leave together.
static void together(void)
{
    unsigned long round = __atomic_load_n(&round_now, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&waiting, 1, __ATOMIC_ACQ_REL) == threads) {
        __atomic_store_n(&waiting, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&round_now, round + 1, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&round_now, __ATOMIC_ACQUIRE) == round)
        _mm_pause();
}

// A chain of dependent multiplications: work that takes time.
static inline unsigned long chain(unsigned long x, unsigned long steps)
{
    for (unsigned long i = 0; i < steps; i++)
        __asm__ volatile("imul %0, %0" : "+r"(x));
    return x;
}

// The core's current speed: independent additions. Their time shows its clock, and whether it is
// shared with another hardware thread, which a dependent chain would not show.
static double gauge(void)
{
    unsigned long start = now(), a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    for (int i = 0; i < GAUGE_STEPS; i++)
        __asm__ volatile("add $3, %0; add $3, %1; add $3, %2; add $3, %3; add $3, %4; add $3, %5" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    return now() - start;
}

static inline void launch_module(unsigned long i) { hipModuleLaunchKernel(function, i + 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL); }

// As many pointers and numbers as kernels take: three of each, or four pointers and twelve numbers.
static inline void launch_with(hipFunction_t f, unsigned long i, int pointers, int numbers)
{
    void *buffers[4] = {&buffers[0], &buffers[1], &buffers[2], &buffers[3]}, *params[16];
    int values[12] = {i, i + 1, 4096};
    for (int at = 0; at < pointers; at++)
        params[at] = &buffers[at];
    for (int at = 0; at < numbers; at++)
        params[pointers + at] = &values[at];
    hipModuleLaunchKernel(f, i + 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL);
}

static inline void launch_six(unsigned long i) { launch_with(of_six, i, 3, 3); }
static inline void launch_sixteen(unsigned long i) { launch_with(of_sixteen, i, 4, 12); }

// The work after a launch depends on its result, the next launch does not.
static __thread unsigned long worked;
static inline void launch_paced(unsigned long i)
{
    hipError_t status = hipModuleLaunchKernel(function, i + 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    worked = chain(worked + status, PACE_STEPS);
}

static inline void launch_stub(unsigned long i) { hipLaunchKernel(&by_stub, (dim3){i + 1, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL); }

static void *data;
static __thread rocblas_handle handle;

static inline void multiply(unsigned long i)
{
    static const float one = 1, zero = 0;
    rocblas_gemm_ex(handle, rocblas_operation_none, rocblas_operation_none, 128, i + 1, 32, &one, data, rocblas_datatype_f32_r, 128, data, rocblas_datatype_f32_r, 32,
                    &zero, data, rocblas_datatype_f32_r, 128, data, rocblas_datatype_f32_r, 128, rocblas_datatype_f32_r, rocblas_gemm_algo_standard, 0, 0);
}

// What HIP 7.2 asks and reports where GPU times are requested.
enum { HIP_OPS = 2, HIP_API = 3, DISPATCH = 0, DATA_WORDS = 194, LAST_API = 449 };
static uint32_t api;
static uint64_t call_data[DATA_WORDS];

static void begins(void *unused)
{
    (void)unused;
    standin_tracer_t tracer = standin_tracer();
    if (tracer) {
        tracer(HIP_API, api, call_data);
        tracer(HIP_OPS, DISPATCH, NULL);
    }
}

// A name as long as those of ggml's kernels.
static const char kernel_name[] = "_ZL13mul_mat_vec_qIL9ggml_type2ELi1ELb1ELb0ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj15HIP_vector_typeIjLj3EEjjjS7_jjjS7_jjjj";

static inline void report(unsigned long i)
{
    struct {
        uint32_t domain, kind, op;
        uint64_t correlation, begin, end;
        int device;
        uint64_t queue;
        const char *name;
    } record = {HIP_OPS, 0x11f0, DISPATCH, call_data[0], 1000 * i, 1000 * i + 900, 1, 2, kernel_name};
    standin_tracer_t tracer = standin_tracer();
    if (tracer)
        tracer(HIP_OPS, DISPATCH, &record);
}

// The loops of one form. A call's arguments vary from call to call, as in a program.
#define LOOPS(form, call, per_call, new_handle) \
    static void form##_run(unsigned long n) \
    { \
        for (unsigned long i = 0; i < n; i++) \
            call(i); \
    } \
    static void form##_tail(unsigned long n, unsigned *ticks) \
    { \
        for (unsigned long i = 0; i < n; i++) { \
            unsigned long before = __rdtsc(); \
            call(i); \
            ticks[i] = __rdtsc() - before; \
        } \
    } \
    enum { form##_events = per_call, form##_handle = new_handle };

LOOPS(module, launch_module, 1, 0)
LOOPS(args6, launch_six, 1, 0)
LOOPS(args16, launch_sixteen, 1, 0)
LOOPS(paced, launch_paced, 1, 0)
LOOPS(stub, launch_stub, 1, 0)
LOOPS(gemm, multiply, 2, 1)
LOOPS(timed, launch_module, 1, 0)
LOOPS(report, report, 1, 0)

static const struct form {
    const char *name;
    void (*run)(unsigned long);
    void (*tail)(unsigned long, unsigned *);
    unsigned long events;
    int needs_handle;
} FORMS[] = {
#define FORM(form) {#form, form##_run, form##_tail, form##_events, form##_handle}
    FORM(module), FORM(args6), FORM(args16), FORM(paced), FORM(stub), FORM(gemm), FORM(timed), FORM(report),
}, *form;

static void add_usage(struct thread *t, long sign)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    t->faults += sign * (usage.ru_minflt + usage.ru_majflt);
    t->blocked += sign * usage.ru_nvcsw;
    t->preempted += sign * usage.ru_nivcsw;
}

static void *work(void *arg)
{
    struct thread *t = arg;
    if (form->needs_handle)
        rocblas_create_handle(&handle);
    for (int lap = 0; lap < 2; lap++) { // enough that a ring of 1 MiB wraps once: from then on it stays as it is
        form->run(FIRST_BURSTS * calls);
        for (int i = 0; i < 3; i++)
            rest();
    }
    for (unsigned long b = 0; b < bursts; b++) {
        rest();
        together();
        form->run(WARM_CALLS);
        add_usage(t, -1);
        double before = gauge();
        unsigned long start = now();
        if (tails)
            form->tail(calls, t->ticks + b * calls);
        else
            form->run(calls);
        t->bursts[b].ns = (double)(now() - start) / calls;
        double after = gauge();
        t->bursts[b].gauge = before > after ? before : after;
        add_usage(t, 1);
    }
    return NULL;
}

static int by_value(const void *a, const void *b) { return (*(const unsigned *)a > *(const unsigned *)b) - (*(const unsigned *)a < *(const unsigned *)b); }

static void print_tail(const struct thread *all)
{
    unsigned long each = bursts * calls, n = each * threads;
    unsigned *ticks = malloc(n * sizeof *ticks);
    for (unsigned long i = 0; i < threads; i++)
        memcpy(ticks + i * each, all[i].ticks, each * sizeof *ticks);
    qsort(ticks, n, sizeof *ticks, by_value);
    printf("tail %.1f %.1f %.1f %.1f\n", ticks[n / 2] * ns_per_tick, ticks[n - n / 100 - 1] * ns_per_tick, ticks[n - n / 1000 - 1] * ns_per_tick, ticks[n - 1] * ns_per_tick);
}

static double measure_tick(void)
{
    unsigned long ns = now(), ticks = __rdtsc();
    while (now() - ns < 2000000)
        continue;
    return (double)(now() - ns) / (__rdtsc() - ticks);
}

static int print_clock(void)
{
    enum { READS = 10000, TRIES = 100 };
    double tick = measure_tick();
    unsigned long best = -1;
    for (int try = 0; try < TRIES; try++) {
        unsigned long start = __rdtsc(), ticks;
        for (int i = 0; i < READS; i++)
            __rdtsc();
        ticks = __rdtsc() - start;
        best = ticks < best ? ticks : best;
    }
    printf("clock %.3f %.2f\n", 1000 / tick, best * tick / READS);
    return 0;
}

int main(int argc, char **argv)
{
    struct co_kernel kernels[] = {{"by_module", ""}, {"of_six", "pppiii"}, {"of_sixteen", "ppppiiiiiiiiiiii"}};
    hipModule_t module;
    if (argc == 2 && !strcmp(argv[1], "clock"))
        return print_clock();
    for (size_t i = 0; argc == 7 && i < sizeof FORMS / sizeof *FORMS; i++)
        if (!strcmp(argv[1], FORMS[i].name))
            form = &FORMS[i];
    if (!form || (bursts = strtoul(argv[3], NULL, 10)) < 1 || (calls = strtoul(argv[4], NULL, 10)) < 1 || (threads = strtoul(argv[5], NULL, 10)) < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: %s module|args6|args16|paced|stub|gemm|timed|report time|tail BURSTS CALLS THREADS PAUSE_US, or %s clock\n", argv[0], argv[0]);
        return 2;
    }
    tails = !strcmp(argv[2], "tail");
    pause_us = strtoul(argv[6], NULL, 10);
    cpu_set_t cpus;
    may_spin = !sched_getaffinity(0, sizeof cpus, &cpus) && CPU_COUNT(&cpus) > (int)threads;
    if (hipModuleLoadData(&module, co_module(kernels, 3)) || hipModuleGetFunction(&function, module, "by_module") || hipMalloc(&data, 1 << 20) ||
        hipModuleGetFunction(&of_six, module, "of_six") || hipModuleGetFunction(&of_sixteen, module, "of_sixteen"))
        return 1;
    for (uint32_t id = 1; id <= LAST_API; id++)
        if (!strcmp(hipApiName(id), "hipModuleLaunchKernel"))
            api = id;
    if (!strcmp(form->name, "timed"))
        standin_on_launch(begins, NULL);
    ns_per_tick = tails ? measure_tick() : 0;

    struct thread all[THREADS_MAX] = {{0}};
    for (unsigned long i = 0; i < threads; i++) {
        all[i].bursts = calloc(bursts, sizeof *all[i].bursts);
        if (tails) // written now: no page fault of ours during a timed call
            memset(all[i].ticks = malloc(bursts * calls * sizeof *all[i].ticks), 1, bursts * calls * sizeof *all[i].ticks);
        if (i)
            pthread_create(&all[i].id, NULL, work, &all[i]);
    }
    work(&all[0]);
    for (unsigned long i = 1; i < threads; i++)
        pthread_join(all[i].id, NULL);

    long faults = 0, blocked = 0, preempted = 0;
    for (unsigned long i = 0; i < threads; i++) {
        faults += all[i].faults, blocked += all[i].blocked, preempted += all[i].preempted;
        for (unsigned long b = 0; !tails && b < bursts; b++)
            printf("burst %.3f %.0f\n", all[i].bursts[b].ns, all[i].bursts[b].gauge);
    }
    if (tails)
        print_tail(all);
    printf("usage %ld %ld %ld\n", faults, blocked, preempted);
    printf("events %lu\n", threads * (2 * FIRST_BURSTS * calls + bursts * (WARM_CALLS + calls)) * form->events);
    return 0;
}
