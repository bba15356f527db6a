// Plays the HIP runtime's role: calls the registered callbacks as HIP 6 and 7 do, and in unusual
// ways: gpu_times SITUATION.
// link: amdhip64
// kernel: 0 gpu_times_kernel gpu_times_kernel -
#include "hip.h"
#include "gpu_times.fatbin.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DISPATCH, COPY, BARRIER, API_LAUNCH = 169 };

// activity_record_t
struct record {
    uint32_t domain, kind, op;
    uint64_t correlation, begin, end;
    int device;
    uint64_t queue, what;
};

static hipFunction_t kernel;
static uint64_t ids[64];
static int launches, wanted, dirty;
static uint32_t api;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

// A call of the runtime begins, and creates a command.
static void begins(void *unused)
{
    (void)unused;
    uint64_t data[194]; // hip_api_trace_data_t: the two functions are last
    memset(data, 0xaa, sizeof data);
    standin_tracer_t tracer = standin_tracer();
    if (!tracer)
        return;
    int is_reported = tracer(3, api, data) == 0;
    ids[launches++] = is_reported ? data[0] : 0;
    dirty += is_reported && (data[192] || data[193]);
    wanted += tracer(2, DISPATCH, NULL) == 0 && tracer(2, DISPATCH, (void *)1) == 0 && tracer(2, BARRIER, NULL) != 0;
}

static void launch(void)
{
    hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
}

static void report(uint32_t op, uint32_t kind, uint64_t id, uint64_t begin, uint64_t length, const void *what)
{
    struct record record = {2, kind, op, id, begin, begin + length, 1, 5, (uint64_t)what};
    standin_tracer_t tracer = standin_tracer();
    if (tracer)
        tracer(2, op, &record);
}

static void kernel_report(uint64_t id, uint64_t length)
{
    char name[64]; // freed on return, as the runtime's may be
    strcpy(name, "gpu_times_kernel");
    report(DISPATCH, 0x11f0, id, now() - 5000, length, name);
    memset(name, 'x', sizeof name - 1);
}

static void *reports(void *number)
{
    kernel_report(ids[(long)number], 1000 + (long)number);
    return NULL;
}

static void at_exit(void) { kernel_report(ids[0], 4000); }

// The reports to another tracer: its calls, its numbers, reports.
static unsigned long others_apis, others_reports, others_ids, others_queries;
enum { COUNTED, ZERO, SAME, IMITATED } others_numbers;
static int other(uint32_t domain, uint32_t operation, void *data)
{
    if (domain == 3) {
        if (operation != API_LAUNCH)
            return 1;
        uint64_t *words = data;
        ++others_apis;
        words[0] = others_numbers == ZERO ? 0 : others_numbers == SAME ? 7000 : 7000 + others_apis + (others_numbers == IMITATED ? 1ull << 63 : 0);
        words[192] = words[193] = 0;
        return 0;
    }
    if ((uintptr_t)data < 4096)
        return others_queries++, operation == DISPATCH ? 0 : -1;
    others_reports++;
    others_ids += ((struct record *)data)->correlation;
    return 0;
}

int main(int argc, char **argv)
{
    const char *situation = argc > 1 ? argv[1] : "order";
    hipModule_t module;
    for (uint32_t id = 1; id < 450; id++)
        if (!strcmp(hipApiName(id), "hipModuleLaunchKernel"))
            api = id;
    others_numbers = !strcmp(situation, "other_zero") ? ZERO : !strcmp(situation, "other_same") ? SAME : !strcmp(situation, "other_imitates") ? IMITATED : COUNTED;
    if (!strcmp(situation, "other_first") || others_numbers)
        hipRegisterTracerCallback(other);
    if (hipModuleLoadData(&module, hip_fatbin_0) || hipModuleGetFunction(&kernel, module, "gpu_times_kernel"))
        return 3;
    standin_on_launch(begins, NULL);
    if (!strcmp(situation, "other_last") || !strcmp(situation, "null"))
        hipRegisterTracerCallback(other);
    if (!strcmp(situation, "null"))
        hipRegisterTracerCallback(NULL);
    for (int i = 0; i < 4; i++)
        launch();
    printf("reported %d, wanted %d, dirty %d\n", launches, wanted, dirty);
    if (!strcmp(situation, "order")) {
        pthread_t threads[4];
        for (long i = 3; i >= 0; i--) { // from many threads, the last first
            pthread_create(&threads[i], NULL, reports, (void *)i);
            pthread_join(threads[i], NULL);
        }
    } else if (!strcmp(situation, "strange")) {
        uint64_t data[256];
        uint32_t unknown[] = {0, 450, 1023, 1024, 5000, UINT32_MAX}; // functions of no known release
        memset(data, 0xaa, sizeof data);
        for (unsigned i = 0; i < sizeof unknown / sizeof *unknown; i++)
            if (standin_tracer()(3, unknown[i], data) == 0 || data[0] != 0xaaaaaaaaaaaaaaaa)
                return 4;
        struct record record = {2, 0x11f0, DISPATCH, ids[0], 20, 10, 1, 5, (uint64_t) "ends before it begins"};
        standin_tracer()(2, DISPATCH, &record);
        record = (struct record){9, 0x11f0, DISPATCH, ids[0], 10, 20, 1, 5, (uint64_t) "of another form"};
        standin_tracer()(2, DISPATCH, &record);
        kernel_report(ids[0], 1000);
        kernel_report(ids[0], 1000); // twice
        report(DISPATCH, 0x11f0, 0, now() - 5000, 10, "past_every_hook");
        report(DISPATCH, 0x11f0, 0, now() - 5000, 10, "__amd_rocclr_fillBufferAligned");
        report(DISPATCH, 0x11f0, 0, now() - 5000, 10, NULL);
        report(COPY, 0x11f3, 0, now() - 5000, 30, (void *)4096);
        report(DISPATCH, 0x11f0, ids[1], now() - 9000000000ull, 5000000000ull, "gpu_times_kernel"); // long, and late
        hipModuleUnload(module); // as hipDeviceReset does it
        kernel_report(ids[2], 1000);
        atexit(at_exit);
    } else if (!strcmp(situation, "past")) {
        begins(NULL); // a call that no hook intercepted
        kernel_report(ids[4], 1000);
        for (int i = 0; i < 4; i++)
            kernel_report(ids[i], 1000);
    } else if (!strcmp(situation, "fork")) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            kernel_report(ids[0], 1000); // the parent's
            launch();
            kernel_report(ids[4], 1000);
            exit(0);
        }
        waitpid(child, NULL, 0);
        for (int i = 0; i < 4; i++)
            kernel_report(ids[i], 1000);
    } else {
        for (int i = 0; i < 4; i++)
            kernel_report(ids[i], 1000);
        printf("the other: %lu calls, %lu reports, numbers %lu\n", others_apis, others_reports, others_ids);
    }
    return 0;
}
