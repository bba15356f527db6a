// A program that locks itself into a sandbox: what opens, makes or removes a file, or starts a thread or a process, ends it
// (kill) or fails (errno). sandbox WHEN HOW [WHO]
//   WHEN  before | after its first launch
//   WHO   thread: its first thread alone · all: every thread of the process
// link: amdhip64
#include "launching.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int FORBIDDEN[] = {SYS_open, SYS_openat, SYS_creat, SYS_mkdir, SYS_mkdirat, SYS_unlink, SYS_unlinkat, SYS_rmdir, SYS_rename, SYS_ftruncate, SYS_fallocate,
                                SYS_pwrite64, SYS_clone, SYS_clone3, SYS_fork, SYS_vfork, SYS_execve, SYS_readlink, SYS_readlinkat, SYS_getcwd, SYS_stat, SYS_newfstatat, SYS_statx};
enum { COUNT = sizeof FORBIDDEN / sizeof *FORBIDDEN };

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
    // Memory may be had, but not a file's.
    rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3);
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4]));
    rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffff, 1, 0);
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {n, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, all ? SECCOMP_FILTER_FLAG_TSYNC : 0, &filter);
}

static hipFunction_t early, late;
static pthread_barrier_t locked;

static void *first_launch_inside(void *arg)
{
    pthread_barrier_wait(&locked);
    if (arg) // of a thread that the sandbox holds as well
        launch(early, 100);
    return NULL;
}

int main(int argc, char **argv)
{
    int before = argc > 1 && !strcmp(argv[1], "before"), kills = argc > 2 && !strcmp(argv[2], "kill"), all = argc > 3 && !strcmp(argv[3], "all");
    pthread_t thread;
    struct co_kernel kernels[] = {{"early", ""}, {"late", ""}};
    const void *image = co_module(kernels, 2); // made before: it takes memory
    hipModule_t module;
    setvbuf(stdout, malloc(BUFSIZ), _IOFBF, BUFSIZ);
    printf("in");
    pthread_barrier_init(&locked, NULL, 2);
    pthread_create(&thread, NULL, first_launch_inside, all ? &locked : NULL);
    if (!before) {
        failed += hipModuleLoadData(&module, image) || hipModuleGetFunction(&early, module, "early");
        launch(early, 1000);
        usleep(50000);
    }
    if (lock_in(kills, all))
        return printf("no sandbox\n"), 2;
    if (before)
        failed += hipModuleLoadData(&module, image) || hipModuleGetFunction(&early, module, "early");
    launch(early, 1000);
    failed += !!hipModuleGetFunction(&late, module, "late");
    launch(late, 1000);
    pthread_barrier_wait(&locked);
    pthread_join(thread, NULL);
    usleep(50000); // whatever else looks now and then has looked
    launch(late, 1000);
    printf(" the sandbox: failed %d\n", failed);
    return 7;
}
