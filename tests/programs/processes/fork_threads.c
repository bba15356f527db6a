// Forks while four threads launch into full rings and two others look kernels up. Each child loads
// a library, reads the loader's list and launches; one that hangs is killed by its alarm.
// fork_threads [CHILDREN]
// link: amdhip64
#include "launching.h"
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static hipFunction_t hot, cold;
static int stop;

static void *launches(void *arg)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        launch(hot, 100);
    return arg;
}

static void *looks_up(void *module)
{
    hipFunction_t f;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        if (hipGetProcAddress("hipLaunchKernel", (void **)&f, 602, 0, NULL))
            __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
    return module;
}

static int each(struct dl_phdr_info *info, size_t size, void *count) { return (void)info, (void)size, ++*(int *)count, 0; }

static int child(void)
{
    int objects = 0;
    alarm(20);
    failed = 0;
    void *library = dlopen("libm.so.6", RTLD_NOW);
    dl_iterate_phdr(each, &objects);
    launch(hot, 5);
    launch(cold, 20);
    return !library || !objects || dlclose(library) || failed;
}

int main(int argc, char **argv)
{
    int children = argc > 1 ? atoi(argv[1]) : 100, well = 0, status;
    pthread_t threads[6];
    hot = kernel("in_parent");
    cold = kernel("in_child");
    for (int t = 0; t < 6; t++)
        pthread_create(&threads[t], NULL, t < 4 ? launches : looks_up, NULL);
    usleep(20000);
    for (int i = 0; i < children; i++) {
        pid_t pid = fork();
        if (!pid)
            exit(child());
        waitpid(pid, &status, 0);
        well += WIFEXITED(status) && !WEXITSTATUS(status);
        if (!WIFEXITED(status))
            break;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int t = 0; t < 6; t++)
        pthread_join(threads[t], NULL);
    printf("children %d, ended well %d, failed %d\n", children, well, failed);
    return well != children;
}
