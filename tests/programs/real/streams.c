// Launches on four streams in turn, a copy and a fill on each: streams PATH-OF-vectors-gfx1100.co
// link: amdhip64
#include "../api/hip.h"
#include <stdio.h>

enum { STREAMS = 4, TURNS = 8 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "vectors-gfx1100.co";
    int n = 1024, result = 0;
    static int sent[1024];
    hipModule_t module;
    hipFunction_t scale;
    hipStream_t streams[STREAMS];
    void *data[STREAMS];
    result |= hipModuleLoad(&module, path);
    result |= hipModuleGetFunction(&scale, module, "_Z12vector_scaleILi2EEvPfi");
    for (int i = 0; i < STREAMS; i++) {
        result |= hipStreamCreate(&streams[i]);
        result |= hipMalloc(&data[i], sizeof sent);
        result |= hipMemcpyAsync(data[i], sent, sizeof sent, hipMemcpyHostToDevice, streams[i]);
        result |= hipMemsetAsync(data[i], 0, sizeof sent, streams[i]);
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < STREAMS; i++) {
            void *arguments[] = {&data[i], &n};
            result |= hipModuleLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 0, streams[i], arguments, NULL);
        }
    for (int i = 0; i < STREAMS; i++)
        result |= hipStreamSynchronize(streams[i]);
    printf("%d launches, %d\n", STREAMS * TURNS, result);
    return 0;
}
