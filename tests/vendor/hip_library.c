// Libraries and kernels of the HIP stand-in (ROCm 7.2): modules and functions under other names.
#include "module.h"

#define OPTIONS int *jitOptions, void **jitOptionsValues, unsigned numJitOptions, int *libraryOptions, void **libraryOptionValues, unsigned numLibraryOptions
#define NO_OPTIONS (void)jitOptions, (void)jitOptionsValues, (void)numJitOptions, (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions

PUBLIC hipError_t hipLibraryLoadData(hipLibrary_t *library, const void *code, OPTIONS) { return NO_OPTIONS, standin_load((hipModule_t *)library, code); }
PUBLIC hipError_t hipLibraryLoadFromFile(hipLibrary_t *library, const char *fileName, OPTIONS) { return NO_OPTIONS, standin_load_file((hipModule_t *)library, fileName); }
PUBLIC hipError_t hipLibraryUnload(hipLibrary_t library) { return standin_unload((hipModule_t)library); }
PUBLIC hipError_t hipLibraryGetKernel(hipKernel_t *pKernel, hipLibrary_t library, const char *name) { return standin_function((hipFunction_t *)pKernel, (hipModule_t)library, name); }

static hipError_t count(unsigned *out, hipModule_t module)
{
    if (!out || !module || module->status)
        return standin_fail(hipErrorInvalidValue);
    *out = 0;
    for (const char *at = module->names; at < module->names + module->names_len; at += strlen(at) + 1)
        ++*out;
    return hipSuccess;
}

PUBLIC hipError_t hipLibraryGetKernelCount(unsigned *n, hipLibrary_t library) { return count(n, (hipModule_t)library); }
PUBLIC hipError_t hipModuleGetFunctionCount(unsigned *n, hipModule_t mod) { return count(n, mod); }

PUBLIC hipError_t hipLibraryEnumerateKernels(hipKernel_t *kernels, unsigned numKernels, hipLibrary_t library)
{
    hipModule_t module = (hipModule_t)library;
    if (!kernels || !module || module->status)
        return standin_fail(hipErrorInvalidValue);
    const char *at = module->names;
    for (unsigned i = 0; i < numKernels && at < module->names + module->names_len; i++, at += strlen(at) + 1)
        standin_function((hipFunction_t *)&kernels[i], module, at);
    return hipSuccess;
}

PUBLIC hipError_t hipKernelGetName(const char **name, hipKernel_t kernel)
{
    hipFunction_t f = (hipFunction_t)kernel;
    return name && f && f->module ? (*name = f->name, hipSuccess) : standin_fail(hipErrorInvalidValue);
}

PUBLIC hipError_t hipKernelGetLibrary(hipLibrary_t *library, hipKernel_t kernel)
{
    hipFunction_t f = (hipFunction_t)kernel;
    return library && f && f->module ? (*library = (hipLibrary_t)f->module, hipSuccess) : standin_fail(hipErrorInvalidValue);
}

PUBLIC hipError_t hipGetFuncBySymbol(hipFunction_t *functionPtr, const void *symbolPtr)
{
    hipFunction_t f = standin_stub(symbolPtr);
    return functionPtr && f ? (*functionPtr = f, hipSuccess) : standin_fail(hipErrorInvalidDeviceFunction);
}
