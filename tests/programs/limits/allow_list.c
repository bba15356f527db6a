// Locks itself in with a list of the few system calls that it needs itself; any other ends it.
// allow_list HOW WHO
//   HOW   prctl | seccomp: by which the filter is installed      WHO   thread | all
// link: amdhip64
#include "launching.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int ALLOWED[] = {SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_brk, SYS_mmap, SYS_munmap, SYS_newfstatat, SYS_fstat};
enum { COUNT = sizeof ALLOWED / sizeof *ALLOWED };

int main(int argc, char **argv)
{
    int by_prctl = argc > 1 && !strcmp(argv[1], "prctl"), all = argc > 2 && !strcmp(argv[2], "all");
    struct sock_filter rules[COUNT + 4];
    int n = 0;
    struct co_kernel kernels[] = {{"early", ""}, {"late", ""}};
    hipModule_t module;
    hipFunction_t early, late;
    failed += hipModuleLoadData(&module, co_module(kernels, 2)) || hipModuleGetFunction(&early, module, "early");
    launch(early, 1000);
    usleep(30000); // who works beside it has something to do
    launch(early, 1000);
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT; i++)
        rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ALLOWED[i], COUNT - i, 0);
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {n, rules};
    long result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    // As libraries do that ask first what there is: without a filter nothing is installed.
    result |= syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == 0;
    if (by_prctl)
        result |= prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    else
        result |= syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, all ? SECCOMP_FILTER_FLAG_TSYNC : 0, &filter);
    launch(early, 1000);
    failed += !!hipModuleGetFunction(&late, module, "late");
    launch(late, 1000);
    for (volatile long i = 0; i < 60000000; i++) // time in which others may do something that ends it
        ;
    launch(late, 1000);
    printf("result %ld, failed %d\n", result, failed);
    return 7;
}
