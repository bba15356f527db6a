// Ranges of libroctx64 around launches: nested, unbalanced, across threads, with texts of every
// length.
// link: amdhip64 roctx64
#include "code_object.h"
#include "hip.h"
#include "roctx.h"
#include <pthread.h>

static void *stops(void *range)
{
    roctxRangeStop((roctx_range_id_t)range);
    return NULL;
}

int main(void)
{
    struct co_kernel kernel = {"k", "pi"};
    void *p = NULL, *params[] = {&p, &p};
    static char exact[433], wide[600];
    hipModule_t module;
    hipFunction_t f;
    pthread_t thread;
    printf("load %d\n", hipModuleLoadData(&module, co_module(&kernel, 1)));
    printf("function %d\n", hipModuleGetFunction(&f, module, "k"));

    printf("pop without push %d\n", roctxRangePop());
    printf("push %d\n", roctxRangePushA("prefill"));
    printf("push %d\n", roctxRangePushA("layer 0: \"quoted\", \n and a tab\t"));
    printf("launch %d\n", hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    printf("pop %d\n", roctxRangePop());
    printf("pop %d\n", roctxRangePop());
    roctxMarkA("");
    roctxMarkA(NULL);
    memset(exact, 'x', 432);
    roctxMarkA(exact);
    memset(wide, 'y', 431); // truncation splits a character of two bytes
    strcpy(wide + 431, "äöü");
    roctxMarkA(wide);
    roctxMarkA("not \xff UTF-8");
    roctx_range_id_t range = roctxRangeStartA("across threads");
    printf("start %lu\n", (unsigned long)range);
    pthread_create(&thread, NULL, stops, (void *)range);
    pthread_join(thread, NULL);
    return 0;
}
