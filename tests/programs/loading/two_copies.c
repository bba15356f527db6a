// Two copies of HIP in one process: the system's under plugin.so, a wheel's under plugin_wheel.so,
// both RTLD_LOCAL.
//   two_copies plt      each plug-in calls the copy that it is linked to, in turns and from two threads
//   two_copies dlsym [FOLDER]
//                       the program calls each copy through dlsym on its handle; the wheel's is FOLDER/libamdhip64.so
// link: none
#include "code_object.h"
#include "hip.h"
#include "plugin.h"
#include <pthread.h>

static void *run_often(void *plugin)
{
    long failed = 0;
    for (int i = 0; i < 20; i++)
        failed += run_plugin(plugin, 5);
    return (void *)failed;
}

static int by_plt(void)
{
    void *system = open_plugin(RTLD_NOW | RTLD_LOCAL), *wheel = open_beside("plugin_wheel.so", RTLD_NOW | RTLD_LOCAL), *threads_failed;
    pthread_t thread;
    int failed = 0;
    for (int i = 1; i <= 3; i++)
        failed += run_plugin(system, i) + run_plugin(wheel, i);
    pthread_create(&thread, NULL, run_often, system);
    failed += (long)run_often(wheel);
    pthread_join(thread, &threads_failed);
    return failed + (long)threads_failed;
}

static int launch_through(void *hip, const char *name, int n)
{
    __typeof__(&hipModuleLoadData) load = (__typeof__(load))dlsym(hip, "hipModuleLoadData");
    __typeof__(&hipModuleGetFunction) get = (__typeof__(get))dlsym(hip, "hipModuleGetFunction");
    __typeof__(&hipModuleLaunchKernel) launch = (__typeof__(launch))dlsym(hip, "hipModuleLaunchKernel");
    struct co_kernel kernel = {name, ""};
    hipModule_t module;
    hipFunction_t f;
    int failed = !!load(&module, co_module(&kernel, 1)) + !!get(&f, module, name);
    for (int i = 1; i <= n; i++)
        failed += !!launch(f, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    return failed;
}

static int by_dlsym(const char *folder)
{
    char path[100];
    snprintf(path, sizeof path, "../%s/libamdhip64.so", folder);
    void *system = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL), *wheel = open_beside(path, RTLD_NOW | RTLD_LOCAL);
    int failed = 0;
    for (int i = 1; i <= 3; i++)
        failed += launch_through(system, "of_the_system", i) + launch_through(wheel, "of_the_wheel", 2 * i);
    return failed;
}

int main(int argc, char **argv)
{
    printf("failed %d\n", argc > 1 && !strcmp(argv[1], "dlsym") ? by_dlsym(argc > 2 ? argv[2] : "wheel") : by_plt());
    return 0;
}
