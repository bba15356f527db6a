// A plug-in is opened, run and closed three times: its kernels, and HIP itself if nothing else
// holds it, are unloaded and loaded again.
//   reload            at whatever address
//   reload moved      HIP comes back at another address: a kept address of its functions leads into nowhere
//   reload dlsym      the same, but the program opens HIP itself, looks it up, launches and closes it
//   reload thread     the same, closed by another thread, while a third one launches through a second plug-in
// link: none
#include "code_object.h"
#include "hip.h"
#include "plugin.h"
#include <pthread.h>
#include <sys/mman.h>

// Occupies HIP's previous address range, so that it is not loaded there again.
static void *hip_base(void)
{
    void *hip = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
    Dl_info info = {0};
    if (hip)
        dladdr(dlsym(hip, "hipGetErrorName"), &info);
    if (hip)
        dlclose(hip);
    return info.dli_fbase;
}

static void block(void *base)
{
    if (!hip_base() && base)
        mmap(base, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static void once(int i)
{
    void *plugin = open_plugin(RTLD_NOW | RTLD_LOCAL);
    printf("time %d: failed %d", i, run_plugin(plugin, i));
    printf(", closed %d\n", dlclose(plugin));
}

static void once_moved(int i, void *before)
{
    void *plugin = open_plugin(RTLD_NOW | RTLD_LOCAL), *base = hip_base();
    printf("time %d: failed %d", i, run_plugin(plugin, i));
    printf(", moved %d, closed %d", before && base != before, dlclose(plugin));
    printf(", gone %d\n", !hip_base());
    block(base);
    if (i < 3)
        once_moved(i + 1, base);
}

static void once_by_dlsym(int i, void *before)
{
    void *hip = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL), *base = hip_base();
    __typeof__(&hipModuleLoadData) load = (__typeof__(load))dlsym(hip, "hipModuleLoadData");
    __typeof__(&hipModuleGetFunction) get = (__typeof__(get))dlsym(hip, "hipModuleGetFunction");
    __typeof__(&hipModuleLaunchKernel) launch = (__typeof__(launch))dlsym(hip, "hipModuleLaunchKernel");
    struct co_kernel kernel = {"reloaded", ""};
    hipModule_t module;
    hipFunction_t f;
    int failed = !!load(&module, co_module(&kernel, 1)) + !!get(&f, module, "reloaded");
    for (int n = 1; n <= 5; n++)
        failed += !!launch(f, n, i, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    printf("time %d: failed %d, moved %d, closed %d", i, failed, before && base != before, dlclose(hip));
    printf(", gone %d\n", !hip_base());
    block(base);
    if (i < 3)
        once_by_dlsym(i + 1, base);
}

static void *close_it(void *plugin) { return (void *)(long)dlclose(plugin); }

static void *run_the_other(void *plugin)
{
    long failed = 0;
    for (int i = 0; i < 200; i++)
        failed += run_plugin(plugin, 3);
    return (void *)failed;
}

static void closed_elsewhere(void)
{
    void *other = open_beside("plugin_wheel.so", RTLD_NOW | RTLD_LOCAL), *result, *base = NULL;
    pthread_t closer, runner;
    pthread_create(&runner, NULL, run_the_other, other);
    for (int i = 1; i <= 10; i++) {
        void *plugin = open_plugin(RTLD_NOW | RTLD_LOCAL), *before = base;
        base = hip_base();
        printf("time %d: failed %d, moved %d", i, run_plugin(plugin, i), before && base != before);
        pthread_create(&closer, NULL, close_it, plugin);
        pthread_join(closer, &result);
        printf(", closed %ld, gone %d\n", (long)result, !hip_base());
        block(base);
    }
    pthread_join(runner, &result);
    printf("the other: failed %ld\n", (long)result);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "dlsym"))
        once_by_dlsym(1, NULL);
    else if (!strcmp(how, "thread"))
        closed_elsewhere();
    else if (!strcmp(how, "moved"))
        once_moved(1, NULL);
    else
        for (int i = 1; i <= 3; i++)
            once(i);
    return 0;
}
