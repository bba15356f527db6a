// A stream is destroyed and the next one gets the same handle.
// link: amdhip64
#include "code_object.h"
#include "hip.h"

int main(void)
{
    struct co_kernel kernel = {"k", ""};
    hipModule_t module;
    hipFunction_t f;
    hipStream_t streams[3];
    int failed = !!hipModuleLoadData(&module, co_module(&kernel, 1)) + !!hipModuleGetFunction(&f, module, "k");
    for (int i = 0; i < 3; i++) {
        failed += !!hipStreamCreate(&streams[i]);
        for (int n = 0; n < 2; n++)
            failed += !!hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, streams[i], NULL, NULL);
        failed += !!hipStreamDestroy(streams[i]);
    }
    printf("failed %d, handles %s\n", failed, streams[0] == streams[1] && streams[1] == streams[2] ? "reused" : "differ");
    return 0;
}
