// A library to preload that moves the process's wall clock an hour back and forth at every reading.
// link: none
// shared
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long looks;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(SYS_clock_gettime, clock, now);
    if (!result && clock == CLOCK_REALTIME)
        now->tv_sec += __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED) % 2 ? -3600 : 3600;
    return result;
}
