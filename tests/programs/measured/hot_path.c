// After its first launch a thread launches in a sandbox that allows no system call, and counts its
// page faults in another. Prints the result; a system call in the sandbox kills the process.
// link: amdhip64
#define _GNU_SOURCE
#include "code_object.h"
#include "hip.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LAUNCHES = 3000 };
static hipFunction_t f, with_arguments;
static int launched, sandboxed;

static void launch(int times)
{
    void *buffer = &buffer, *params[] = {&buffer, &times};
    for (int i = 0; i < times; i++)
        launched += !hipModuleLaunchKernel(with_arguments, 2, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
    for (int i = 0; i < times; i++)
        launched += !hipModuleLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

static void *in_a_sandbox(void *arg)
{
    launch(1);
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), // the system call's number
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog sandbox = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &sandbox))
        return arg;
    sandboxed = 1;
    launch(LAUNCHES);
    syscall(SYS_exit, 0); // this thread alone; exit() would make other system calls
    return arg;
}

static void *counting_faults(void *arg)
{
    struct rusage before, after;
    launch(1);
    getrusage(RUSAGE_THREAD, &before);
    launch(LAUNCHES);
    getrusage(RUSAGE_THREAD, &after);
    printf("page faults %ld, waits %ld\n", after.ru_minflt - before.ru_minflt, after.ru_nvcsw - before.ru_nvcsw);
    return arg;
}

int main(void)
{
    struct co_kernel kernels[] = {{"hot", ""}, {"hot_with_arguments", "pi"}};
    hipModule_t module;
    pthread_t thread;
    hipModuleLoadData(&module, co_module(kernels, 2));
    hipModuleGetFunction(&f, module, "hot");
    hipModuleGetFunction(&with_arguments, module, "hot_with_arguments");
    pthread_create(&thread, NULL, counting_faults, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, in_a_sandbox, NULL);
    pthread_join(thread, NULL);
    printf("launched %d, sandboxed %d\n", launched, sandboxed);
    return 0;
}
