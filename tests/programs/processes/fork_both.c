// A process launches, forks, and both keep launching: fork_both [LAUNCHES-EACH]; the child ends
// first.
// link: amdhip64
#include "code_object.h"
#include "hip.h"
#include <sys/wait.h>
#include <unistd.h>

static hipFunction_t before, parent, child;

static int launch(hipFunction_t f, int n)
{
    int failed = 0;
    for (int i = 1; i <= n; i++)
        failed += !!hipModuleLaunchKernel(f, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    return failed;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000, status = -1;
    struct co_kernel kernels[] = {{"before_fork", ""}, {"in_parent", ""}, {"in_child", ""}};
    hipModule_t module;
    hipModuleLoadData(&module, co_module(kernels, 3));
    hipModuleGetFunction(&before, module, "before_fork");
    hipModuleGetFunction(&parent, module, "in_parent");
    hipModuleGetFunction(&child, module, "in_child");
    int failed = launch(before, n);
    pid_t pid = fork();
    if (!pid)
        exit(launch(child, n));
    failed += launch(parent, n);
    waitpid(pid, &status, 0);
    failed += launch(parent, n);
    printf("parent failed %d, child ended with %d\n", failed, status);
    return failed;
}
