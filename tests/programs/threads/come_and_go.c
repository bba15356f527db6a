// Threads that come, launch and go, streams that are made and destroyed, now and then a child:
// come_and_go SECONDS.
// link: amdhip64
#include "code_object.h"
#include "hip.h"
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 4, CALLS = 50, CHILD_EVERY = 100, CHILD_CALLS = 2000 };

static hipFunction_t f;

static void launch(unsigned n, hipStream_t stream)
{
    void *pointer = &f;
    int number = 7;
    void *params[] = {&pointer, &number};
    for (unsigned i = 1; i <= n; i++)
        hipModuleLaunchKernel(f, i, 1, 1, 64, 1, 1, 0, stream, params, NULL);
}

static void *work(void *arg)
{
    hipStream_t stream = NULL;
    hipStreamCreate(&stream);
    launch(CALLS, stream);
    hipStreamDestroy(stream);
    return arg;
}

int main(int argc, char **argv)
{
    struct co_kernel kernel = {"passer_by", "pi"};
    time_t end = time(NULL) + (argc > 1 ? atol(argv[1]) : 1);
    hipModule_t module;
    hipModuleLoadData(&module, co_module(&kernel, 1));
    hipModuleGetFunction(&f, module, "passer_by");
    for (unsigned round = 1; time(NULL) < end; round++) {
        pthread_t threads[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++)
            pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < AT_ONCE; i++)
            pthread_join(threads[i], NULL);
        if (round % CHILD_EVERY == 0) {
            pid_t child = fork();
            if (!child) {
                launch(CHILD_CALLS, NULL);
                exit(0);
            }
            waitpid(child, NULL, 0);
        }
        usleep(5000);
    }
    return 0;
}
