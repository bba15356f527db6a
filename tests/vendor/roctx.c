// libroctx64 and, with SDK, librocprofiler-sdk-roctx stand-ins: without a profiler they count
// levels and ids, as the real ones do.
#include "roctx.h"
#include <stdatomic.h>
#include <stddef.h>

#define PUBLIC __attribute__((visibility("default")))

static _Thread_local int level;
static atomic_ulong ranges;

PUBLIC void roctxMarkA(const char *message) { (void)message; }

PUBLIC int roctxRangePushA(const char *message)
{
    (void)message;
    return level++;
}

PUBLIC int roctxRangePop(void) { return level ? --level : -1; }

PUBLIC roctx_range_id_t roctxRangeStartA(const char *message)
{
    (void)message;
    return atomic_fetch_add(&ranges, 1) + 1;
}

PUBLIC void roctxRangeStop(roctx_range_id_t id) { (void)id; }

#ifdef SDK
PUBLIC int roctxProfilerPause(roctx_thread_id_t tid) { return tid == 13 ? -13 : 0; }
PUBLIC int roctxProfilerResume(roctx_thread_id_t tid) { return tid == 13 ? -13 : 0; }
PUBLIC int roctxNameOsThread(const char *name) { return name ? 0 : -1; }
PUBLIC int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent) { return name && agent ? 0 : -1; }
PUBLIC int roctxNameHipDevice(const char *name, int device_id) { return name ? device_id : -1; }
PUBLIC int roctxNameHipStream(const char *name, const struct ihipStream_t *stream) { return name && stream ? 0 : -1; }
#endif
