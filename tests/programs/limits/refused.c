// Runs another program under a filter that was there before it, which refuses system calls.
// refused ERRNO NAME[,NAME]… PROGRAM [ARG]…    NAME: those of CALLS
// refused list                                  prints them
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define C(name) {#name, SYS_##name},
static const struct { const char *name; int number; } CALLS[] = {
    C(close_range) C(unshare) C(madvise) C(timer_create) C(timer_settime) C(sched_setattr)
    C(sched_getattr) C(fallocate) C(prctl) C(statx) C(newfstatat) C(ftruncate)
    C(sched_getaffinity) C(pwrite64) C(pread64) C(rt_sigtimedwait) C(rt_sigprocmask) C(gettid)
    C(unlink) C(unlinkat) C(mkdir) C(rmdir) C(readlink) C(getrandom) C(openat) C(lseek)
    C(getdents64) C(fstatfs) C(flock) C(munmap) C(mremap) C(mprotect) C(prlimit64) C(clone3)
    C(clock_nanosleep) C(nanosleep) C(sched_yield) C(tgkill) C(geteuid) C(getcwd)
    C(set_robust_list) C(rseq) C(sigaltstack) C(close) C(writev)
};

int main(int argc, char **argv)
{
    struct sock_filter rules[64];
    int n = 0;
    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
            puts(CALLS[i].name);
        return 0;
    }
    if (argc < 4)
        return 2;
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (char *name = strtok(argv[2], ","); name; name = strtok(NULL, ",")) {
        int number = -1;
        for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
            if (!strcmp(name, CALLS[i].name))
                number = CALLS[i].number;
        if (number < 0 || n > 60)
            return fprintf(stderr, "refused: unknown call %s\n", name), 2;
        rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
        rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | atoi(argv[1]));
    }
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {n, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter))
        return perror("refused: no filter"), 2;
    execv(argv[3], argv + 3);
    return perror(argv[3]), 2;
}
