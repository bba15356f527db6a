// Launches on a thread whose stack is watched: small_stack [before]. Prints how many bytes of it
// the thread has used, for the process's first call or, with `before`, for the thread's first.
// link: amdhip64
#include "launching.h"
#include <pthread.h>

enum { BYTES = 1 << 18, UNUSED = 0xa5 };

static hipFunction_t f;
static _Alignas(4096) unsigned char stack[BYTES];

static void *work(void *arg)
{
    if (!f)
        f = kernel("deep");
    launch(f, 100);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_attr_t attributes;
    pthread_t thread;
    unsigned long untouched = 0;
    (void)argv;
    if (argc > 1)
        f = kernel("deep");
    memset(stack, UNUSED, sizeof stack);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, sizeof stack) || pthread_create(&thread, &attributes, work, NULL))
        return 1;
    pthread_join(thread, NULL);
    while (untouched < BYTES && stack[untouched] == UNUSED)
        untouched++;
    printf("%lu\n", BYTES - untouched);
    return failed != 0;
}
