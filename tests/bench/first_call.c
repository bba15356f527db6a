// Opens the real libamdhip64, as ggml and Python do, and times that and its first call, which
// initialises the device: `open NS`, `call NS`.
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(void)
{
    double start = now(), opened;
    void *hip = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
    int (*copy)(void *, const void *, size_t, int) = hip ? (int (*)(void *, const void *, size_t, int))dlsym(hip, "hipMemcpy") : NULL;
    int from = 1, to = 0, status;
    if (!copy)
        return fprintf(stderr, "first_call: %s\n", dlerror()), 1;
    opened = now();
    if ((status = copy(&to, &from, sizeof to, 0)) || to != from)
        return fprintf(stderr, "first_call: hipMemcpy: status %d\n", status), 1;
    printf("open %.0f\ncall %.0f\n", opened - start, now() - opened);
    return 0;
}
