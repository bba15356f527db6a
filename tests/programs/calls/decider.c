// A program whose decisions have known causes: for each argument one GEMM, of 64, 65, … rows, that
// asks for solution 2 instead of 1 where its word says so:
//   always, never
//   set:A,B    all of these variables are 1
//   chance     a coin
//   count:N    every N runs in turn; the file `runs` counts them
//   clock      the clock's nanoseconds
//   rows       the number of rows is odd
// and what happens to the program itself:
//   crash:A, hang:A, exit:A    the variable is 1: SIGSEGV, waits for ever, exit code 5
//   skip:A                     the variable is 1: the GEMM is not made
// link: amdhip64 rocblas
#include "rocblas.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool all_set(const char *names)
{
    char copy[256], *rest = copy, *name;
    snprintf(copy, sizeof copy, "%s", names);
    while ((name = strsep(&rest, ","))) {
        const char *value = getenv(name);
        if (!value || strcmp(value, "1"))
            return false;
    }
    return true;
}

static bool coin(void)
{
    unsigned char byte = 0;
    FILE *in = fopen("/dev/urandom", "rbe");
    if (in && fread(&byte, 1, 1, in) != 1)
        abort();
    fclose(in);
    return byte & 1;
}

static int count_run(void)
{
    int runs = 0;
    FILE *file = fopen("runs", "re");
    if (file) {
        if (fscanf(file, "%d", &runs) != 1)
            abort();
        fclose(file);
    }
    file = fopen("runs", "we");
    fprintf(file, "%d", runs + 1);
    fclose(file);
    return runs;
}

int main(int argc, char **argv)
{
    const rocblas_operation N = rocblas_operation_none;
    const rocblas_datatype f32 = rocblas_datatype_f32_r;
    rocblas_handle handle;
    float one = 1, zero = 0;
    void *a, *b, *c;
    int runs = count_run();
    hipMalloc(&a, 1 << 20), hipMalloc(&b, 1 << 20), hipMalloc(&c, 1 << 20);
    rocblas_create_handle(&handle);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *colon = strchr(word, ':'), *rest = colon ? colon + 1 : "";
        int rows = 63 + i;
        bool second = false;
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (!strcmp(word, "always"))
            second = true;
        else if (!strcmp(word, "chance"))
            second = coin();
        else if (!strcmp(word, "clock"))
            second = now.tv_nsec / 64 & 1;
        else if (!strcmp(word, "rows"))
            second = rows & 1;
        else if (!strncmp(word, "set:", 4))
            second = all_set(rest);
        else if (!strncmp(word, "count:", 6))
            second = runs / atoi(rest) & 1;
        else if (!strncmp(word, "crash:", 6) && all_set(rest))
            raise(SIGSEGV);
        else if (!strncmp(word, "hang:", 5) && all_set(rest))
            for (;;)
                pause();
        else if (!strncmp(word, "exit:", 5) && all_set(rest))
            return 5;
        if (!strncmp(word, "skip:", 5) && all_set(rest))
            continue;
        rocblas_gemm_ex(handle, N, N, rows, 64, 32, &one, a, f32, rows, b, f32, 32, &zero, c, f32, rows, c, f32, rows, f32, 1, 1 + second, 0);
    }
    rocblas_destroy_handle(handle);
    return 0;
}
