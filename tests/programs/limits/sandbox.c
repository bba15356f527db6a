// A program that locks itself into a sandbox: what opens, makes or removes a file, or starts a
// thread or a process, ends it (kill) or fails (errno). sandbox WHEN HOW [WHO] WHEN  before | after
// its first launch
//   WHO   thread: its first thread alone · all: every thread of the process
// link: amdhip64
#include "launching.h"
#include "sandbox.h"
#include <pthread.h>

static hipFunction_t early, late;
static pthread_barrier_t locked;

static void *first_launch_inside(void *arg)
{
    pthread_barrier_wait(&locked);
    if (arg) // in a thread that is in the sandbox too
        launch(early, 100);
    return NULL;
}

int main(int argc, char **argv)
{
    int before = argc > 1 && !strcmp(argv[1], "before"), kills = argc > 2 && !strcmp(argv[2], "kill"), all = argc > 3 && !strcmp(argv[3], "all");
    pthread_t thread;
    struct co_kernel kernels[] = {{"early", ""}, {"late", ""}};
    const void *image = co_module(kernels, 2); // allocated before: it takes memory
    hipModule_t module;
    setvbuf(stdout, malloc(BUFSIZ), _IOFBF, BUFSIZ);
    printf("in");
    pthread_barrier_init(&locked, NULL, 2);
    pthread_create(&thread, NULL, first_launch_inside, all ? &locked : NULL);
    if (!before) {
        failed += hipModuleLoadData(&module, image) || hipModuleGetFunction(&early, module, "early");
        launch(early, 1000);
        usleep(50000);
    }
    if (lock_in(kills, all))
        return printf("no sandbox\n"), 2;
    if (before)
        failed += hipModuleLoadData(&module, image) || hipModuleGetFunction(&early, module, "early");
    launch(early, 1000);
    failed += !!hipModuleGetFunction(&late, module, "late");
    launch(late, 1000);
    pthread_barrier_wait(&locked);
    pthread_join(thread, NULL);
    usleep(50000); // whatever else looks now and then has looked
    launch(late, 1000);
    printf(" the sandbox: failed %d\n", failed);
    return 7;
}
