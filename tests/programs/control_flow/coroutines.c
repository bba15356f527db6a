// Coroutines that launch, and go on now in one thread, now in another.
// link: amdhip64
#include "launching.h"
#include <pthread.h>
#include <ucontext.h>

enum { COROUTINES = 16, TURNS = 200, STACK = 64 << 10 };
static ucontext_t scheduler[2], coroutine[COROUTINES];
static int runs_in[COROUTINES], turns;
static hipFunction_t f;
static pthread_barrier_t barrier;

static void body(int which)
{
    for (int turn = 0; turn < TURNS; turn++) {
        launch(f, 3);
        swapcontext(&coroutine[which], &scheduler[runs_in[which]]);
    }
}

// In each round a thread runs half of the coroutines, in the next the other half.
static void *run(void *number)
{
    int thread = (int)(intptr_t)number;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = (turn + thread) % 2; i < COROUTINES; i += 2) {
            runs_in[i] = thread;
            swapcontext(&scheduler[thread], &coroutine[i]);
            __atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED);
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    f = kernel("of_a_coroutine");
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&coroutine[i]);
        coroutine[i].uc_stack.ss_sp = malloc(STACK);
        coroutine[i].uc_stack.ss_size = STACK;
        makecontext(&coroutine[i], (void (*)(void))body, 1, i);
    }
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, run, (void *)1);
    run(NULL);
    pthread_join(thread, NULL);
    printf("turns %d, failed %d\n", turns, failed);
    return 0;
}
