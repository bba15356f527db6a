// Children that no fork handler sees, and that launch while their parent does.
// unseen_children HOW CHILDREN
//   HOW   fork | clone: by the system call · _Fork: by the C library's function of that name
//         thread: by SYS_fork; a thread of the child launches, then the child itself
//         again: by SYS_fork; the child has a child of the same kind
// link: amdhip64
#include "launching.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAUNCHES = 200 };
static hipFunction_t in_parent, in_child, in_thread;
static int is_over;

static pid_t child_by(const char *how)
{
    pid_t (*without_handlers)(void) = (pid_t(*)(void))dlsym(RTLD_DEFAULT, "_Fork");
    if (!strcmp(how, "_Fork") && without_handlers)
        return without_handlers();
    if (!strcmp(how, "clone"))
        return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    return syscall(SYS_fork);
}

static void *of_child(void *arg)
{
    (void)arg;
    launch(in_thread, LAUNCHES);
    return NULL;
}

static void *of_parent(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        launch(in_parent, 10);
        usleep(1000);
    }
    return NULL;
}

static int ended_well(pid_t pid)
{
    int status;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void be_child(const char *how)
{
    int generations = !strcmp(how, "again") ? 2 : 0;
    launch(in_child, LAUNCHES);
    while (generations--) {
        pid_t pid = child_by(how);
        if (pid) {
            failed += !ended_well(pid);
            break;
        }
        launch(in_child, LAUNCHES);
    }
    if (!strcmp(how, "thread")) {
        pthread_t thread;
        failed += !!pthread_create(&thread, NULL, of_child, NULL);
        pthread_join(thread, NULL);
        launch(in_child, LAUNCHES);
    }
    _exit(failed != 0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fork";
    int children = argc > 2 ? atoi(argv[2]) : 5, well = 0;
    struct co_kernel kernels[] = {{"in_parent", ""}, {"in_child", ""}, {"in_thread", ""}};
    hipModule_t module;
    pthread_t thread;
    failed += hipModuleLoadData(&module, co_module(kernels, 3)) || hipModuleGetFunction(&in_parent, module, "in_parent")
        || hipModuleGetFunction(&in_child, module, "in_child") || hipModuleGetFunction(&in_thread, module, "in_thread");
    launch(in_parent, LAUNCHES);
    pthread_create(&thread, NULL, of_parent, NULL);
    for (int i = 0; i < children; i++) {
        launch(in_parent, LAUNCHES);
        pid_t pid = child_by(how);
        if (!pid)
            be_child(how);
        launch(in_parent, LAUNCHES);
        well += ended_well(pid);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    printf("children %d, ended well %d, failed %d\n", children, well, failed);
    return 0;
}
