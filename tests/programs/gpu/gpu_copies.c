// Two copies of the HIP runtime report to their own callbacks: gpu_copies SITUATION.
//   both      the system's and the wheel's, in turns; each copy has its own list of callbacks
//   reloaded  the system's, which is closed and opened again elsewhere
// link: none
#include "code_object.h"
#include "hip.h"
#include "plugin.h"
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

enum { DISPATCH, HIP_OPS = 2, HIP_API = 3 };

// activity_record_t
struct record {
    uint32_t domain, kind, op;
    uint64_t correlation, begin, end;
    int device;
    uint64_t queue, what;
};

struct copy {
    void *handle;
    __typeof__(&hipModuleLaunchKernel) launch;
    __typeof__(&standin_tracer) tracer;
    hipFunction_t kernel;
    const char *name;
    uint64_t length;
};

static struct copy *launching;
static uint64_t id;

// A call of the runtime begins.
static void begins(void *unused)
{
    (void)unused;
    __typeof__(&hipApiName) api_name = (__typeof__(api_name))dlsym(launching->handle, "hipApiName");
    uint64_t data[194] = {0}; // hip_api_trace_data_t
    uint32_t api = 1;
    while (strcmp(api_name(api), "hipModuleLaunchKernel"))
        ++api;
    standin_tracer_t tracer = launching->tracer();
    id = tracer && tracer(HIP_API, api, data) == 0 ? data[0] : 0;
}

static struct copy open_copy(void *handle, const char *name, uint64_t length)
{
    struct copy copy = {handle, (__typeof__(copy.launch))dlsym(handle, "hipModuleLaunchKernel"), (__typeof__(copy.tracer))dlsym(handle, "standin_tracer"), NULL, name, length};
    __typeof__(&hipModuleLoadData) load = (__typeof__(load))dlsym(handle, "hipModuleLoadData");
    __typeof__(&hipModuleGetFunction) get = (__typeof__(get))dlsym(handle, "hipModuleGetFunction");
    __typeof__(&standin_on_launch) on_launch = (__typeof__(on_launch))dlsym(handle, "standin_on_launch");
    struct co_kernel kernel = {name, ""};
    hipModule_t module;
    if (load(&module, co_module(&kernel, 1)) || get(&copy.kernel, module, name))
        exit(3);
    on_launch(begins, NULL);
    return copy;
}

// A launch, and its report as the command ends.
static int launched_and_reported(struct copy *copy)
{
    struct timespec time;
    launching = copy;
    int failed = copy->launch(copy->kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    clock_gettime(CLOCK_BOOTTIME, &time);
    uint64_t end = time.tv_sec * 1000000000ull + time.tv_nsec;
    struct record record = {HIP_OPS, 0x11f0, DISPATCH, id, end - copy->length, end, 0, 1, (uint64_t)copy->name};
    standin_tracer_t tracer = copy->tracer();
    if (tracer)
        tracer(HIP_OPS, DISPATCH, &record);
    return failed;
}

static void *open_system(void) { return dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL); }

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc > 1 && !strcmp(argv[1], "reloaded")) {
        struct copy first = open_copy(open_system(), "before", 1000);
        failed += launched_and_reported(&first);
        Dl_info info = {0};
        dladdr((void *)first.tracer, &info);
        int closed = dlclose(first.handle);
        // Its old address stays in use.
        int is_gone = !dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
        mmap(info.dli_fbase, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        struct copy second = open_copy(open_system(), "after", 2000);
        failed += launched_and_reported(&second);
        printf("failed %d, closed %d, gone %d, moved %d\n", failed, closed, is_gone, second.tracer != first.tracer);
    } else {
        struct copy system = open_copy(open_system(), "of_the_system", 1000);
        struct copy wheel = open_copy(open_beside("../wheel/libamdhip64.so", RTLD_NOW | RTLD_LOCAL), "of_the_wheel", 2000);
        for (int i = 0; i < 3; i++)
            failed += launched_and_reported(&system) + launched_and_reported(&wheel);
        printf("failed %d, callbacks %d\n", failed, (system.tracer() != NULL) + (wheel.tracer() != NULL) + (system.tracer() != wheel.tracer()));
    }
    return 0;
}
