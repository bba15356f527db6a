// A program that forks while it records, for the section forks of scripts/bench.
//   forks FORKS LAUNCHES
//
// It launches, and then makes FORKS children in turn, each of which launches LAUNCHES times (0: it
// calls nothing) and exits. It prints
//
//   fork_ms MS        a fork with its child's life, the median of all
//   cpu_ms MS         CPU time that it and its child took for one, the mean
//   events N          what a tracer must have recorded
#include "code_object.h"
#include "hip.h"
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static double used(int who)
{
    struct rusage r;
    getrusage(who, &r);
    return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e3 + (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e3;
}

static int order(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

int main(int argc, char **argv)
{
    int forks = argc > 1 ? atoi(argv[1]) : 200, launches = argc > 2 ? atoi(argv[2]) : 0;
    struct co_kernel k = {"before_and_after_a_fork", ""};
    hipModule_t module;
    hipFunction_t f;
    double *ms = calloc(forks, sizeof *ms);
    if (hipModuleLoadData(&module, co_module(&k, 1)) || hipModuleGetFunction(&f, module, k.name))
        return 1;
    for (int i = 0; i < 100; i++)
        hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    usleep(50000); // its collector has begun
    double before = used(RUSAGE_SELF) + used(RUSAGE_CHILDREN);
    for (int i = 0; i < forks; i++) {
        double begun = now();
        pid_t child = fork();
        if (!child) {
            for (int j = 0; j < launches; j++)
                hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
            exit(0);
        }
        waitpid(child, NULL, 0);
        ms[i] = now() - begun;
    }
    double cpu = used(RUSAGE_SELF) + used(RUSAGE_CHILDREN) - before;
    qsort(ms, forks, sizeof *ms, order);
    printf("fork_ms %.4f\ncpu_ms %.4f\nevents %d\n", ms[forks / 2], cpu / forks, 101 + forks * launches);
    return 0;
}
