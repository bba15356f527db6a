// Prints errno after a launch: the previous value, or what the library sets under STANDIN_ERRNO.
// link: amdhip64
#include "code_object.h"
#include "hip.h"
#include <errno.h>
#include <pthread.h>

static hipFunction_t f;

static void *launch(void *who)
{
    const char *set = getenv("STANDIN_ERRNO");
    int expected = set ? atoi(set) : 77, kept = 0;
    for (int i = 1; i <= 1000; i++) {
        errno = 77;
        hipModuleLaunchKernel(i % 10 ? f : NULL, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL); // every tenth fails
        kept += errno == expected;
    }
    printf("%s: errno is %d after %d launches of 1000\n", (char *)who, expected, kept);
    return NULL;
}

int main(void)
{
    struct co_kernel kernel = {"quiet", ""};
    hipModule_t module;
    pthread_t thread;
    hipModuleLoadData(&module, co_module(&kernel, 1));
    hipModuleGetFunction(&f, module, "quiet");
    launch("main thread");
    pthread_create(&thread, NULL, launch, "other thread");
    pthread_join(thread, NULL);
    return 0;
}
