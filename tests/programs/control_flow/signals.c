// A program that blocks every signal and takes them by signalfd and sigtimedwait while it launches;
// for a while, a child of its own traces it with ptrace.
// link: amdhip64
#include "launching.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    sigset_t all, before, after;
    struct signalfd_siginfo info;
    struct timespec second = {5, 0};
    int by_fd = 0, by_wait = 0, status = -1;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    sigprocmask(SIG_SETMASK, NULL, &before);
    int fd = signalfd(-1, &all, 0);
    hipFunction_t f = kernel("unsignalled");
    for (int i = 0; i < 200; i++) {
        launch(f, 100);
        kill(getpid(), SIGUSR1);
        by_fd += read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1;
        kill(getpid(), SIGTERM);
        by_wait += sigtimedwait(&all, NULL, &second) == SIGTERM;
    }
    sigprocmask(SIG_SETMASK, NULL, &after);
    printf("by signalfd %d, by sigtimedwait %d, mask kept %d\n", by_fd, by_wait, !memcmp(&before, &after, 8));
    // Nothing happens for a while; then two signals arrive for which it does not wait yet.
    siginfo_t received = {0};
    struct timespec at_once = {0, 0};
    usleep(1600000);
    for (int i = 1; i <= SIGRTMAX; i++)
        if (sigismember(&all, i) && i != SIGKILL && i != SIGSTOP)
            kill(getpid(), i);
    usleep(300000);
    for (int which; (which = sigtimedwait(&all, &received, &at_once)) > 0;)
        printf("waited: %d of %d, from here %d\n", which, received.si_code, received.si_pid == getpid());
    fflush(stdout);
    int pipe_to[2];
    if (pipe(pipe_to))
        return 2;
    pid_t tracer = fork();
    if (!tracer) {
        char go;
        if (read(pipe_to[0], &go, 1) != 1 || ptrace(PTRACE_SEIZE, getppid(), NULL, NULL))
            _exit(1);
        usleep(20000);
        if (ptrace(PTRACE_INTERRUPT, getppid(), NULL, NULL) || waitpid(getppid(), &status, __WALL) < 0)
            _exit(2);
        _exit(!!ptrace(PTRACE_DETACH, getppid(), NULL, NULL));
    }
    prctl(PR_SET_PTRACER, tracer);
    if (write(pipe_to[1], "x", 1) != 1)
        return 3;
    for (int i = 0; i < 100; i++, usleep(1000))
        launch(f, 100);
    while (waitpid(tracer, &status, 0) < 0 && errno == EINTR) {
    }
    printf("traced by its child: %d, failed %d\n", status, failed);
    return 0;
}
