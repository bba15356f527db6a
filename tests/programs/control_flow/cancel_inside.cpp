// Threads that end inside a launch (by pthread_exit, by cancellation), also inside a launch inside
// a GEMM; and one with a pending cancellation at its first launch, which is not a cancellation
// point.
// link: amdhip64 rocblas
// kernel: 0 ended _Z5endedv -
#include "cancel_inside.fatbin.h"
extern "C" {
#include "rocblas.h"
}
#include <cstdio>
#include <initializer_list>
#include <pthread.h>
#include <unistd.h>

static int destroyed;
struct Witness {
    ~Witness() { __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED); }
};
static __thread int how; // 1 exits, 2 is cancelled

static void callback(void *)
{
    Witness witness;
    if (how == 1)
        pthread_exit(reinterpret_cast<void *>(41L));
    if (how == 2) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
}

static int launch() { return hipLaunchKernel(reinterpret_cast<const void *>(&ended), {1, 1, 1}, {64, 1, 1}, nullptr, 0, nullptr); }

static int gemm()
{
    static float one = 1, zero = 0, matrix[64];
    rocblas_handle handle;
    rocblas_create_handle(&handle);
    return rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, 8, 8, 8, &one, matrix, 8, matrix, 8, &zero, matrix, 8);
}

static void *ends(void *arg)
{
    long what = reinterpret_cast<long>(arg);
    Witness witness;
    launch();
    how = what % 10;
    what < 10 ? launch() : gemm();
    return nullptr;
}

static void *cancelled_before(void *)
{
    Witness witness;
    int launched = 0;
    pthread_cancel(pthread_self());
    for (int i = 0; i < 10; i++)
        launched += !launch();
    printf("launched %d\n", launched);
    pthread_testcancel();
    return nullptr;
}

static void run(void *(*what)(void *), long arg)
{
    pthread_t thread;
    void *result;
    pthread_create(&thread, nullptr, what, reinterpret_cast<void *>(arg));
    pthread_join(thread, &result);
    if (result == PTHREAD_CANCELED)
        puts("cancelled");
    else
        printf("ended with %ld\n", reinterpret_cast<long>(result));
}

int main()
{
    run(cancelled_before, 0);
    standin_on_launch(callback, nullptr);
    for (int i = 0; i < 20; i++)
        for (long what : {1, 2, 11, 12})
            run(ends, what);
    standin_on_launch(nullptr, nullptr);
    run(cancelled_before, 0);
    printf("after: %d, destroyed %d\n", launch(), destroyed);
    return 0;
}
