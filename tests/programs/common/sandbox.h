// A seccomp sandbox of the program: opening, creating or removing a file, or starting a thread or a
// process, kills it or fails.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int FORBIDDEN[] = {SYS_open, SYS_openat, SYS_creat, SYS_mkdir, SYS_mkdirat, SYS_unlink, SYS_unlinkat, SYS_rmdir, SYS_rename, SYS_ftruncate, SYS_fallocate,
                                SYS_pwrite64, SYS_clone, SYS_clone3, SYS_fork, SYS_vfork, SYS_execve, SYS_readlink, SYS_readlinkat, SYS_getcwd, SYS_stat, SYS_newfstatat, SYS_statx};
enum { COUNT = sizeof FORBIDDEN / sizeof *FORBIDDEN };

// Applies the filter to this thread, or to all threads; 0 on success.
static int lock_in(int kills, int all)
{
    struct sock_filter rules[2 * COUNT + 8];
    int n = 0;
    unsigned answer = kills ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | 1;
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT; i++) {
        rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FORBIDDEN[i], 0, 1);
        rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
    }
    // Private memory may be mapped, but not a file.
    rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3);
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4]));
    rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffff, 1, 0);
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {n, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, all ? SECCOMP_FILTER_FLAG_TSYNC : 0, &filter);
}
