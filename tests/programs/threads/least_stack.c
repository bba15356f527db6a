// Threads with the smallest stack that the system allows launch: least_stack [THREADS]. The process
// has launched before: the first launch of all takes 100 KiB in the real HIP.
// link: amdhip64
#define _GNU_SOURCE
#include "launching.h"
#include <limits.h>
#include <pthread.h>

static hipFunction_t f;

static void *work(void *arg)
{
    launch(f, 100);
    return arg;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 20, started = 0;
    pthread_attr_t attributes;
    f = kernel("on_little_stack");
    launch(f, 1);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN))
        return 1;
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        if (!pthread_create(&thread, &attributes, work, NULL))
            started += !pthread_join(thread, NULL);
    }
    printf("started %d, failed %d\n", started, failed);
    return 0;
}
