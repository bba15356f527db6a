// Modules inside the HIP stand-in.
#ifndef MODULE_H
#define MODULE_H

#include "code_object.h"
#include "standin.h"
#include <pthread.h>

struct ihipModule_t {
    hipError_t status;      // for a fat binary: hipErrorNoBinaryForGpu if it has nothing for this device
    char *names;            // every kernel name, each ended by NUL
    size_t names_len;
    hipFunction_t handles;  // number of handles in use
    struct ihipModule_t *next_free;
};
extern pthread_mutex_t standin_modules_lock; // held by the callers of these
hipError_t standin_read_image(struct ihipModule_t *m, const unsigned char *image);
struct ihipModule_t *standin_new_module(void);
void standin_drop_module(struct ihipModule_t *m);
const char *standin_find_name(const struct ihipModule_t *m, const char *name);
void standin_stub_put(const void *host_function, hipFunction_t handle);

// These take the lock themselves.
hipError_t standin_load(hipModule_t *module, const void *image);
hipError_t standin_load_file(hipModule_t *module, const char *fname);
hipError_t standin_unload(hipModule_t module);
hipError_t standin_function(hipFunction_t *function, hipModule_t module, const char *kname);

#endif
