// Runs another program under a filter that was there before it, which refuses system calls.
// refused ERRNO NAME[,NAME]… PROGRAM [ARG]…    NAME: close_range, unshare, …
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

static const struct { const char *name; int number; } CALLS[] = {
    {"close_range", SYS_close_range}, {"unshare", SYS_unshare}, {"madvise", SYS_madvise}, {"timer_create", SYS_timer_create},
    {"sched_setattr", SYS_sched_setattr}, {"fallocate", SYS_fallocate}, {"prctl", SYS_prctl}, {"statx", SYS_statx},
    {"ftruncate", SYS_ftruncate}, {"sched_getaffinity", SYS_sched_getaffinity}, {"pwrite64", SYS_pwrite64},
    {"rt_sigtimedwait", SYS_rt_sigtimedwait}, {"gettid", SYS_gettid}, {"unlink", SYS_unlink}, {"mkdir", SYS_mkdir},
    {"readlink", SYS_readlink}, {"getrandom", SYS_getrandom},
};

int main(int argc, char **argv)
{
    struct sock_filter rules[64];
    int n = 0;
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
