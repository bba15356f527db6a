// Launches, then becomes a classic daemon: forks twice, in its own session, in the root folder,
// with every file descriptor closed; and launches there. The first process, which adopts the
// daemon, prints how it ended.
// link: amdhip64
#include "launching.h"
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int status, ended = 0, sum = 0;
    pid_t pid;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    launch(kernel("before_the_daemon"), 100);
    printf("failed %d\n", failed);
    fflush(stdout);
    if (!fork()) {
        setsid();
        if (fork())
            _exit(1);
        umask(0);
        if (chdir("/"))
            _exit(100);
        for (int fd = 0; fd < 1024; fd++)
            close(fd);
        launch(kernel("in_the_daemon"), 100);
        usleep(100000);
        int fd = open("/dev/null", O_RDWR); // the first that it opens itself
        launch(kernel("later_in_the_daemon"), 100);
        exit(fd != 0 ? 101 : failed ? 102 : 2);
    }
    while ((pid = wait(&status)) > 0) {
        ended++;
        sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
    }
    printf("ended %d, with codes that add up to %d\n", ended, sum);
    return 0;
}
