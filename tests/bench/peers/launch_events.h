// LTTng-UST's two events of a launch: its fields on entry, its result on exit.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER hip
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "launch_events.h"

#if !defined(LAUNCH_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LAUNCH_EVENTS_H

#include <lttng/tracepoint.h>

// clang-format off
LTTNG_UST_TRACEPOINT_EVENT(hip, launch_entry,
    LTTNG_UST_TP_ARGS(void *, f, unsigned, gx, unsigned, gy, unsigned, gz, unsigned, bx, unsigned, by, unsigned, bz, unsigned, shared, void *, stream),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer_hex(uintptr_t, function, (uintptr_t)f)
        lttng_ust_field_integer(unsigned, gridDimX, gx)
        lttng_ust_field_integer(unsigned, gridDimY, gy)
        lttng_ust_field_integer(unsigned, gridDimZ, gz)
        lttng_ust_field_integer(unsigned, blockDimX, bx)
        lttng_ust_field_integer(unsigned, blockDimY, by)
        lttng_ust_field_integer(unsigned, blockDimZ, bz)
        lttng_ust_field_integer(unsigned, sharedMemBytes, shared)
        lttng_ust_field_integer_hex(uintptr_t, stream, (uintptr_t)stream)))

LTTNG_UST_TRACEPOINT_EVENT(hip, launch_exit,
    LTTNG_UST_TP_ARGS(int, status),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, status, status)))
// clang-format on

#endif

#include <lttng/tracepoint-event.h>
