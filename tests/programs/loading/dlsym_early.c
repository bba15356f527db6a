// Looks HIP up in a constructor, before main, and then from many threads at once, with failed
// lookups between.
// link: none
#include "code_object.h"
#include "hip.h"
#include "plugin.h"
#include <pthread.h>

static void *hip;
static __typeof__(&hipModuleLaunchKernel) early;
static hipFunction_t f;
static int failed;

__attribute__((constructor)) static void look_up(void)
{
    hip = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
    early = hip ? (__typeof__(early))dlsym(hip, "hipModuleLaunchKernel") : NULL;
}

static void *look_up_often(void *number)
{
    int wrong = 0;
    for (int i = 1; i <= 200; i++) {
        __typeof__(&hipModuleLaunchKernel) launch = (__typeof__(launch))dlsym(hip, "hipModuleLaunchKernel");
        wrong += launch != early || dlerror() != NULL;
        wrong += dlsym(hip, "hipNoSuchFunction") != NULL || dlerror() == NULL;
        wrong += !!launch(f, i, 1 + (long)number, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    }
    __atomic_add_fetch(&failed, wrong, __ATOMIC_RELAXED);
    return NULL;
}

int main(void)
{
    struct co_kernel kernel = {"looked_up_early", ""};
    pthread_t threads[8];
    hipModule_t module;
    if (!early)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    failed += !!((__typeof__(&hipModuleLoadData))dlsym(hip, "hipModuleLoadData"))(&module, co_module(&kernel, 1));
    failed += !!((__typeof__(&hipModuleGetFunction))dlsym(hip, "hipModuleGetFunction"))(&f, module, "looked_up_early");
    for (long i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, look_up_often, (void *)i);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    printf("failed %d\n", failed);
    return failed;
}
