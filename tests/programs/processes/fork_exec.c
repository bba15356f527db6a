// A process launches, then starts itself again by posix_spawn, by fork and exec, and last by exec
// in place.
// link: amdhip64
#define _GNU_SOURCE
#include "code_object.h"
#include "hip.h"
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
    const char *who = argc > 1 ? argv[1] : "first";
    struct co_kernel kernel = {"by_", ""};
    char name[64];
    hipModule_t module;
    hipFunction_t f;
    int failed = 0, status = -1;
    pid_t pid;
    snprintf(name, sizeof name, "by_%s", who);
    kernel.name = name;
    failed += !!hipModuleLoadData(&module, co_module(&kernel, 1)) + !!hipModuleGetFunction(&f, module, name);
    for (int i = 1; i <= 100; i++)
        failed += !!hipModuleLaunchKernel(f, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    printf("%s: failed %d\n", who, failed);
    fflush(stdout);
    if (argc > 1)
        return failed;
    if (!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, (char *[]){argv[0], "spawned", NULL}, environ))
        waitpid(pid, &status, 0);
    printf("spawned ended with %d\n", status);
    fflush(stdout);
    if (!(pid = fork())) {
        execl("/proc/self/exe", argv[0], "forked", NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    printf("forked ended with %d\n", status);
    fflush(stdout);
    execl("/proc/self/exe", argv[0], "replaced", NULL);
    return 127;
}
