// Shared by the files of the HIP stand-in: the log, the settings, function handles and the last
// error.
#ifndef STANDIN_H
#define STANDIN_H

#include "hip.h"

#define PUBLIC __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)

// Kinds of log line; each thread numbers each kind from 1.
enum standin_kind {
    STANDIN_LAUNCH,
    STANDIN_GEMM,
    STANDIN_CONV,
    STANDIN_CAPTURED, // a launch that became a node of a graph
    STANDIN_REPLAY,   // a kernel node that was executed
    STANDIN_CALL,     // any other call
    STANDIN_KINDS,
};

struct standin_settings {
    const char *log;     // STANDIN_LOG: absolute path, or NULL
    int log_sync;        // STANDIN_LOG_SYNC: every line is written at once
    int set_errno;       // STANDIN_ERRNO: launches set errno to this value; 0 = leave it
    unsigned long die_at; // STANDIN_DIE_AT: SIGKILL inside the n-th launch of the process; 0 = never
    int devices;         // STANDIN_DEVICES: number of GPUs, default 1
    int watched;         // true if a launch does anything beyond its checks
};
extern struct standin_settings standin;

// Writes one line: `KIND \t tid \t number \t api \t <format>`. Exported to the other stand-ins.
// Keeps errno.
PUBLIC void standin_log(enum standin_kind kind, const char *api, const char *format, ...) __attribute__((format(printf, 3, 4)));
PUBLIC int standin_logging(void);
void standin_log_flush(void); // this thread's lines

// hipFunction_t and the target of a host stub.
struct ihipModuleSymbol_t {
    struct ihipModule_t *module; // NULL once unloaded
    const char *name;
    hipError_t status; // why it cannot be launched, or hipSuccess
    struct ihipModuleSymbol_t *next;
};

extern __thread const char *standin_through; // the API function that continues in another exported one, or NULL

int standin_device(void);                                      // the thread's
hipFunction_t standin_stub(const void *host_function); // NULL when not registered
hipError_t standin_fail(hipError_t error);             // sets the thread's last error

#endif
