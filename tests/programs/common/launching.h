// Shared by the programs of situations: kernels by name, launched a given number of times, with
// failures counted.
#ifndef LAUNCHING_H
#define LAUNCHING_H

#include "code_object.h"
#include "hip.h"
#include "status.h"

static int failed; // failed calls

static inline hipFunction_t kernel(const char *name)
{
    struct co_kernel k = {name, ""};
    hipModule_t module;
    hipFunction_t f = NULL;
    if (hipModuleLoadData(&module, co_module(&k, 1)) || hipModuleGetFunction(&f, module, name))
        __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
    return f;
}

static inline void launch(hipFunction_t f, int times)
{
    for (int i = 1; i <= times; i++)
        if (hipModuleLaunchKernel(f, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL))
            __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
}

#endif
