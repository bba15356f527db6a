// A plug-in that comes between a process and its wall clock, which it sets an hour back and forth
// at every look.
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
