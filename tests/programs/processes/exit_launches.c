// Launches while things end: in a thread-specific destructor, in an atexit handler, and in a static
// destructor.
// link: amdhip64
// kernel: 0 in_main in_main -
// kernel: 0 in_key_destructor in_key_destructor -
// kernel: 0 in_atexit in_atexit -
// kernel: 0 in_destructor in_destructor -
#include "exit_launches.fatbin.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_key_t key;

static void launch(const char *where, const void *kernel)
{
    int failed = 0;
    for (int i = 1; i <= 10; i++)
        failed += !!hipLaunchKernel(kernel, (dim3){i, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL);
    printf("%s: failed %d\n", where, failed);
}

// Launches in each round of destructors of a thread, so after all other destructors.
static void key_destructor(void *round)
{
    launch("key destructor", &in_key_destructor);
    if ((char *)round < (char *)4)
        pthread_setspecific(key, (char *)round + 1);
}

static void *thread_main(void *arg)
{
    pthread_setspecific(key, (void *)1);
    launch("thread", &in_main);
    return arg;
}

static void at_exit(void) { launch("atexit", &in_atexit); }
__attribute__((destructor(65535))) static void destructor(void) { launch("destructor", &in_destructor); }

int main(void)
{
    pthread_t thread;
    atexit(at_exit);
    pthread_key_create(&key, key_destructor);
    launch("main", &in_main);
    pthread_create(&thread, NULL, thread_main, NULL);
    pthread_join(thread, NULL);
    return 0;
}
