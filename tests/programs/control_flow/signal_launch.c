// A timer's handler launches, whatever it interrupts: launches, looked-up kernels, the very first
// call. How it goes on after:
//   return   it returns      altstack   the same on a stack of its own      jump   every third time it jumps out of what it interrupted
//   first    the timer runs before the first call of all; what the handler launches then is no kernel, and fails
// signal_launch HOW [SECONDS/10]. Keeps count by itself, and prints only what does not depend on
// time.
// link: amdhip64
#include "launching.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static hipFunction_t f, in_handler;
static volatile unsigned long made, made_in_handler, handled, jumps, may_jump, wrong;
static sigjmp_buf out;
static int jumping;

static void one(hipFunction_t kernel, volatile unsigned long *count)
{
    if (hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL) != (kernel ? hipSuccess : hipErrorInvalidHandle))
        wrong++;
    (*count)++;
}

static void handler(int signal)
{
    (void)signal;
    handled++;
    one(in_handler, &made_in_handler);
    if (jumping && may_jump && handled % 3 == 0) {
        jumps++;
        siglongjmp(out, 1);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    double end = now() + (argc > 2 ? atoi(argv[2]) : 5) / 10.0;
    struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | (strcmp(how, "altstack") ? 0 : SA_ONSTACK)};
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    struct co_kernel kernels[] = {{"interrupted", ""}, {"in_handler", ""}};
    hipModule_t module;
    jumping = !strcmp(how, "jump");
    sigaltstack(&stack, NULL);
    sigaction(SIGALRM, &action, NULL);
    if (!strcmp(how, "first")) {
        setitimer(ITIMER_REAL, &every, NULL);
        while (!handled) {
        }
    }
    if (hipModuleLoadData(&module, co_module(kernels, 2)) || hipModuleGetFunction(&f, module, "interrupted") || hipModuleGetFunction(&in_handler, module, "in_handler"))
        return 2;
    setitimer(ITIMER_REAL, &every, NULL);
    sigsetjmp(out, 1);
    while (now() < end) {
        may_jump = 1;
        for (int i = 0; i < 1000; i++)
            one(f, &made);
        may_jump = 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    fprintf(stderr, "made %lu, in the handler %lu, jumps %lu\n", made, made_in_handler, jumps);
    printf("handled %s, jumped %s, wrong %lu\n", handled ? "yes" : "no", jumps ? "yes" : "no", wrong);
    return 0;
}
