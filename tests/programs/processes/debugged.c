// A child that launches under a debugger: its parent stops it at each system call, and on each
// signal, and lets it go on. What it does is what it does alone.
// link: amdhip64
#include "launching.h"
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAUNCHES = 3000, EXIT = 5 };

static int child(void)
{
    struct co_kernel kernel = {"debugged", ""};
    hipModule_t module;
    hipFunction_t f;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
        return 3;
    raise(SIGSTOP);
    if (hipModuleLoadData(&module, co_module(&kernel, 1)) || hipModuleGetFunction(&f, module, "debugged"))
        return 4;
    for (int i = 0; i < LAUNCHES; i++)
        if (hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL))
            return 2;
    return EXIT;
}

int main(void)
{
    int status = 0;
    pid_t pid = fork();
    if (!pid)
        exit(child());
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        int is_ours = WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP;
        if (ptrace(PTRACE_SYSCALL, pid, NULL, is_ours ? 0 : WSTOPSIG(status)))
            return 2;
    }
    printf("exited %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
