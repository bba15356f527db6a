// Threads that launch and allocate, in a program that brings its own malloc: own_allocator. It is
// linked with an allocator, which the shim, the C library and HIP then use as well; the child of a
// fork launches too.
// link: amdhip64
#include "launching.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, LAUNCHES = 500 };
static hipFunction_t f;

static void *work(void *arg)
{
    for (int i = 0; i < LAUNCHES; i++) {
        char *piece = malloc(64 + i * 37);
        memset(piece, i, 64);
        launch(f, 1);
        free(realloc(piece, 32));
    }
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];
    int status;
    f = kernel("beside_malloc");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (!child) {
        work(NULL);
        exit(failed);
    }
    waitpid(child, &status, 0);
    printf("failed %d, child %d\n", failed, WEXITSTATUS(status));
    return failed != 0;
}
