// Launches and shell commands, in turn: steps WORD...: a number launches as many kernels, one after
// the other numbered by their grid, with /MICROSECONDS behind it at that pace; with a T before it,
// on a thread of its own; any other word is a command.
// link: amdhip64
#include "code_object.h"
#include "hip.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static hipFunction_t f;
static unsigned long done, pace_us;

static unsigned long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000ul + now.tv_nsec / 1000;
}

static void *launch(void *number)
{
    for (unsigned long i = 0, begun = now_us(); i < (unsigned long)number; i++) {
        while (pace_us && now_us() < begun + i * pace_us)
            ;
        hipModuleLaunchKernel(f, ++done, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct co_kernel kernel = {"step", ""};
    hipModule_t module;
    hipModuleLoadData(&module, co_module(&kernel, 1));
    hipModuleGetFunction(&f, module, "step");
    for (int i = 1; i < argc; i++) {
        char *rest, *number = argv[i] + (*argv[i] == 'T');
        unsigned long n = strtoul(number, &rest, 10);
        pthread_t thread;
        pace_us = *rest == '/' && rest != number ? strtoul(rest + 1, &rest, 10) : 0;
        if (rest == number || *rest) {
            fflush(stdout);
            if (system(argv[i]))
                printf("failed: %s\n", argv[i]);
        } else if (number == argv[i])
            launch((void *)n);
        else if (!pthread_create(&thread, NULL, launch, (void *)n))
            pthread_join(thread, NULL);
    }
    printf("launched %lu\n", done);
    return 0;
}
