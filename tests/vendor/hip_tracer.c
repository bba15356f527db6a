// The reports of the HIP stand-in: the registered callbacks, and the runtime's list of functions.
// It reports nothing by itself: programs play the runtime's role (../programs/gpu).
#include "standin.h"
#include <stdlib.h>

static standin_tracer_t registered;

PUBLIC void hipRegisterTracerCallback(standin_tracer_t function) { __atomic_store_n(&registered, function, __ATOMIC_RELEASE); }

PUBLIC standin_tracer_t standin_tracer(void) { return __atomic_load_n(&registered, __ATOMIC_ACQUIRE); }

#define A(number, name) [number] = #name,
static const char *const apis[] = {
#include "hip_apis.def"
};

// STANDIN_APIS=unknown: the list of an unknown release.
PUBLIC const char *hipApiName(uint32_t id)
{
    const char *which = getenv("STANDIN_APIS");
    if (id < sizeof apis / sizeof *apis && apis[id])
        return which && id == 3 ? "hipOfAnotherRelease" : apis[id];
    return "unknown";
}
