// The API of rocshim.h: phases, nested and on two threads, marks, a flush; then it waits for its
// end of input.
// link: amdhip64
#include "code_object.h"
#include "hip.h"
#include "rocshim.h"
#include <pthread.h>

static void *other(void *unused)
{
    (void)unused;
    rocshim_phase_begin("backward");
    rocshim_phase_end();
    return NULL;
}

int main(int argc, char **argv)
{
    struct co_kernel kernel = {"k", "pi"};
    void *p = NULL, *params[] = {&p, &p};
    static char wide[600];
    hipModule_t module;
    hipFunction_t f;
    pthread_t thread;
    int levels[6];

    levels[0] = rocshim_phase_end();
    levels[1] = rocshim_phase_begin("step");
    printf("load %d\n", hipModuleLoadData(&module, co_module(&kernel, 1)));
    printf("function %d\n", hipModuleGetFunction(&f, module, "k"));
    levels[2] = rocshim_phase_begin("forward");
    printf("launch %d\n", hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    levels[3] = rocshim_phase_end();
    rocshim_mark("half-way");
    rocshim_mark(NULL);
    memset(wide, 'y', sizeof wide - 1);
    rocshim_mark(wide);
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    levels[4] = rocshim_phase_end();
    levels[5] = rocshim_phase_end();
    printf("flush %d\n", rocshim_flush());
    fflush(stdout);
    if (argc > 1) { // "wait": with the results that only a program with the shim gets
        printf("recording %d, levels %d %d %d %d %d %d\n", rocshim_recording(), levels[0], levels[1], levels[2], levels[3], levels[4], levels[5]);
        fflush(stdout);
        if (strcmp(argv[1], "wait") == 0)
            getchar();
    }
    return 0;
}
