// The real launch faults, and the SIGSEGV handler jumps out of it, on the thread's stack and on one
// of its own; launching continues, far more often than calls may nest.
// link: amdhip64
#include "launching.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

enum { FAULTS = 200 };
static sigjmp_buf out;
static char *forbidden;
static hipFunction_t f;

static void jump(int signal) { (void)signal, siglongjmp(out, 1); }
static void fault(void *arg) { (void)arg, *(volatile char *)forbidden = 1; }
static int launch_f(void) { return hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL); }

int main(void)
{
    static volatile int jumps, i, failed;
    struct co_kernel kernel = {"beside_faults", ""};
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    hipModule_t module;
    forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaltstack(&stack, NULL);
    if (hipModuleLoadData(&module, co_module(&kernel, 1)) || hipModuleGetFunction(&f, module, "beside_faults"))
        return 2;
    for (i = 0; i < FAULTS; i++) {
        struct sigaction action = {.sa_handler = jump, .sa_flags = i % 2 ? SA_ONSTACK : 0};
        sigaction(SIGSEGV, &action, NULL);
        standin_on_launch(fault, NULL);
        if (!sigsetjmp(out, 1))
            launch_f(), puts("not reached");
        else
            jumps++;
        standin_on_launch(NULL, NULL);
        failed += launch_f() != hipSuccess;
    }
    printf("jumps %d, failed %d\n", jumps, failed);
    return 0;
}
