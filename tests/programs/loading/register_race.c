// One thread opens a plug-in, whose constructor registers its fat binaries, while others make the
// process's first API calls and look names up: the first of them builds HIP's dispatch tables, the
// others wait for it.
// link: amdhip64
#include "hip.h"
#include "plugin.h"
#include <pthread.h>

static pthread_barrier_t barrier;
static int failed;

static void *call(void *arg)
{
    void *hip = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
    int devices = 0;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 50; i++)
        __atomic_add_fetch(&failed, (hipGetDeviceCount(&devices) || devices != 1) + !dlsym(hip, "hipLaunchKernel"), __ATOMIC_RELAXED);
    dlclose(hip);
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    alarm(60); // a deadlock ends here
    pthread_barrier_init(&barrier, NULL, 4);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, call, NULL);
    pthread_barrier_wait(&barrier);
    void *plugin = open_plugin(RTLD_NOW | RTLD_LOCAL);
    failed += run_plugin(plugin, 5);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("failed %d\n", failed);
    return failed;
}
