// Uses descriptor numbers as a program may that is alone with its files, while another thread
// launches, and counts what it gets that it would not get alone. descriptor_numbers HOW ROUNDS
//   zero      closes 0 and opens: gets 0
//   all       closes everything from 3 up and opens three files: gets 3, 4 and 5, and closes them
//   ask       whether a thread may have a descriptor table of its own here
// link: amdhip64
#include "launching.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

static int is_over, is_launching;

static void *launches(void *f)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        launch(f, 100);
        __atomic_store_n(&is_launching, 1, __ATOMIC_RELEASE);
        usleep(100);
    }
    return NULL;
}

static void close_from(int first)
{
    if (syscall(SYS_close_range, first, ~0U, 0))
        for (int fd = first; fd < 1024; fd++)
            close(fd);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "ask"))
        return syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_UNSHARE) ? 1 : 0;
    int all = argc > 1 && !strcmp(argv[1], "all"), rounds = argc > 2 ? atoi(argv[2]) : 1000;
    int wrong = 0, unclosed = 0, right = 0;
    hipFunction_t f = kernel("of_another_thread");
    pthread_t thread;
    pthread_create(&thread, NULL, launches, f);
    while (!__atomic_load_n(&is_launching, __ATOMIC_ACQUIRE))
        usleep(100);
    for (int round = 0; round < rounds; round++) {
        int first = all ? 3 : 0, fds = all ? 3 : 1;
        if (all)
            close_from(3);
        else
            close(0);
        for (int fd = first; fd < first + fds; fd++) {
            int got = open("/dev/null", O_RDWR);
            wrong += got != fd;
            right += got == fd;
        }
        for (int fd = first; all && fd < first + fds; fd++)
            unclosed += close(fd) != 0;
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    printf("right numbers %d, wrong %d, not closed %d, failed %d\n", right, wrong, unclosed, failed);
    return 0;
}
