// Fat binaries of the HIP stand-in: a program's own kernels, and their host stubs.
#include "module.h"

// __hipRegisterFatBinary returns a pointer to this; the module is read at once.
struct fatbin {
    struct ihipModule_t *module;
    struct stub {
        const void *host_function;
        struct ihipModuleSymbol_t handle;
        char *name;
        struct stub *next;
    } *stubs;
};

PUBLIC void **__hipRegisterFatBinary(const void *data)
{
    const struct hip_fatbin_wrapper *wrapper = data;
    if (wrapper->magic != HIP_FATBIN_MAGIC || wrapper->version != 1)
        abort();
    struct fatbin *fatbin = calloc(1, sizeof *fatbin);
    pthread_mutex_lock(&standin_modules_lock);
    fatbin->module = standin_new_module();
    fatbin->module->status = standin_read_image(fatbin->module, wrapper->binary);
    pthread_mutex_unlock(&standin_modules_lock);
    return (void **)fatbin;
}

PUBLIC void __hipRegisterFunction(void **modules, const void *hostFunction, char *deviceFunction, const char *deviceName, unsigned threadLimit, void *tid, void *bid, dim3 *blockDim, dim3 *gridDim, int *wSize)
{
    (void)deviceFunction, (void)threadLimit, (void)tid, (void)bid, (void)blockDim, (void)gridDim, (void)wSize;
    struct fatbin *fatbin = (struct fatbin *)modules;
    struct stub *s = calloc(1, sizeof *s);
    s->host_function = hostFunction;
    s->name = strdup(deviceName);
    s->next = fatbin->stubs;
    pthread_mutex_lock(&standin_modules_lock);
    hipError_t status = fatbin->module->status;
    if (!status && !standin_find_name(fatbin->module, deviceName))
        status = hipErrorInvalidDeviceFunction;
    s->handle = (struct ihipModuleSymbol_t){fatbin->module, s->name, status, NULL};
    fatbin->stubs = s;
    standin_stub_put(hostFunction, &s->handle);
    pthread_mutex_unlock(&standin_modules_lock);
}

PUBLIC void __hipRegisterVar(void **modules, void *var, char *hostVar, char *deviceVar, int ext, size_t size, int constant, int global)
{
    (void)modules, (void)var, (void)hostVar, (void)deviceVar, (void)ext, (void)size, (void)constant, (void)global;
}

PUBLIC void __hipUnregisterFatBinary(void **modules)
{
    struct fatbin *fatbin = (struct fatbin *)modules;
    pthread_mutex_lock(&standin_modules_lock);
    for (struct stub *s = fatbin->stubs, *next; s; s = next) {
        next = s->next;
        standin_stub_put(s->host_function, NULL);
        free(s->name);
        free(s);
    }
    standin_drop_module(fatbin->module);
    pthread_mutex_unlock(&standin_modules_lock);
    free(fatbin);
}
