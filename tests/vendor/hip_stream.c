// Streams, events and synchronisation of the HIP stand-in: everything is done at once, unless it is
// captured.
#include "graph.h"
#include <time.h>

pthread_mutex_t standin_streams_lock = PTHREAD_MUTEX_INITIALIZER;
struct ihipStream_t *standin_streams;
static struct ihipStream_t *spare; // destroyed last: its handle is reused first
static __thread struct ihipStream_t *per_thread_stream;

struct ihipEvent_t {
    struct timespec at;
    hipStream_t stream;         // the capturing one that recorded it last
    unsigned long long capture; // in that capture; 0 = none
    struct nodes before;        // the nodes it refers to there
};

static struct ihipStream_t *new_stream(unsigned flags, int priority)
{
    static unsigned long long last_id;
    pthread_mutex_lock(&standin_streams_lock);
    struct ihipStream_t *s = spare ? memset(spare, 0, sizeof *s) : calloc(1, sizeof *s);
    spare = NULL;
    s->flags = flags;
    s->priority = priority;
    s->device = standin_device();
    s->id = ++last_id;
    s->next = standin_streams;
    standin_streams = s;
    pthread_mutex_unlock(&standin_streams_lock);
    return s;
}

struct ihipStream_t *standin_stream(hipStream_t stream, int per_thread, hipError_t *status)
{
    if (stream == hipStreamPerThread || (per_thread && (!stream || stream == hipStreamLegacy)))
        return per_thread_stream ? per_thread_stream : (per_thread_stream = new_stream(hipStreamNonBlocking, 0));
    if (!stream || stream == hipStreamLegacy)
        return NULL;
    pthread_mutex_lock(&standin_streams_lock);
    struct ihipStream_t *s = standin_streams;
    while (s && s != stream)
        s = s->next;
    pthread_mutex_unlock(&standin_streams_lock);
    if (!s)
        *status = hipErrorContextIsDestroyed;
    return s;
}

static hipError_t create(const char *api, hipStream_t *stream, unsigned flags, int priority)
{
    hipError_t status = !stream || flags > hipStreamNonBlocking ? hipErrorInvalidValue : hipSuccess;
    if (!status)
        *stream = new_stream(flags, priority);
    return standin_called(api, status, "stream=%#lx flags=%u priority=%d device=%d", status ? 0 : HEX(*stream), flags, priority, status ? -1 : (*stream)->device);
}

PUBLIC hipError_t hipStreamCreate(hipStream_t *stream) { return create(__func__, stream, 0, 0); }
PUBLIC hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) { return create(__func__, stream, flags, 0); }
PUBLIC hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority) { return create(__func__, stream, flags, priority); }
PUBLIC hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t cuMaskSize, const uint32_t *cuMask) { return create(__func__, cuMaskSize && cuMask ? stream : NULL, 0, 0); }

PUBLIC hipError_t hipStreamDestroy(hipStream_t stream)
{
    hipError_t status = stream == hipStreamPerThread || stream == hipStreamLegacy || !stream ? hipErrorInvalidHandle : hipSuccess;
    struct ihipStream_t *s = status ? NULL : standin_stream(stream, 0, &status);
    if (s) {
        pthread_mutex_lock(&standin_streams_lock);
        struct ihipStream_t **link = &standin_streams;
        while (*link != s)
            link = &(*link)->next;
        *link = s->next;
        pthread_mutex_unlock(&standin_streams_lock);
    }
    CALLED(status, "stream=%#lx", HEX(stream));
    if (s) {
        free(s->last.at);
        pthread_mutex_lock(&standin_streams_lock);
        free(spare);
        spare = s;
        pthread_mutex_unlock(&standin_streams_lock);
    }
    return status;
}

// A property of a stream; `legacy` is that of the null stream.
#define GET(name, type, out, field, legacy)                                                                                    \
    PUBLIC hipError_t name(hipStream_t stream, type *out)                                                                      \
    {                                                                                                                          \
        hipError_t status = out ? hipSuccess : hipErrorInvalidValue;                                                           \
        struct ihipStream_t *s = status ? NULL : standin_stream(stream, 0, &status);                                           \
        if (!status)                                                                                                           \
            *out = s ? s->field : legacy;                                                                                      \
        return status ? standin_fail(status) : hipSuccess;                                                                     \
    }
GET(hipStreamGetDevice, int, device, device, standin_device())
GET(hipStreamGetFlags, unsigned, flags, flags, 0)
GET(hipStreamGetPriority, int, priority, priority, 0)
GET(hipStreamGetId, unsigned long long, streamId, id, 0)

PUBLIC int hipGetStreamDeviceId(hipStream_t stream)
{
    hipError_t status = hipSuccess;
    struct ihipStream_t *s = standin_stream(stream, 0, &status);
    return status ? -1 : s ? s->device : standin_device();
}

static hipError_t wait(const char *api, hipStream_t stream, int per_thread) { return standin_called(api, standin_wait_now(stream, per_thread), "stream=%#lx", HEX(stream)); }
PUBLIC hipError_t hipStreamSynchronize(hipStream_t stream) { return wait(__func__, stream, 0); }
PUBLIC hipError_t hipStreamSynchronize_spt(hipStream_t stream) { return wait(__func__, stream, 1); }
PUBLIC hipError_t hipStreamQuery(hipStream_t stream) { return wait(__func__, stream, 0); }
PUBLIC hipError_t hipStreamQuery_spt(hipStream_t stream) { return wait(__func__, stream, 1); }
PUBLIC hipError_t hipDeviceSynchronize(void) { return CALLED(standin_sync_now(hipErrorStreamCaptureUnsupported), "device=%d", standin_device()); }

static hipError_t create_event(const char *api, hipEvent_t *event, unsigned flags)
{
    if (event)
        *event = calloc(1, sizeof **event);
    return standin_called(api, event ? hipSuccess : hipErrorInvalidValue, "event=%#lx flags=%u", event ? HEX(*event) : 0, flags);
}

PUBLIC hipError_t hipEventCreate(hipEvent_t *event) { return create_event(__func__, event, 0); }
PUBLIC hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) { return create_event(__func__, event, flags); }

PUBLIC hipError_t hipEventDestroy(hipEvent_t event)
{
    hipError_t status = CALLED(event ? hipSuccess : hipErrorInvalidHandle, "event=%#lx", HEX(event));
    if (event)
        free(event->before.at);
    free(event);
    return status;
}

static hipError_t record(const char *api, hipEvent_t event, hipStream_t stream, int per_thread)
{
    hipError_t status = event ? hipSuccess : hipErrorInvalidHandle;
    struct ihipStream_t *s = status ? NULL : standin_stream(stream, per_thread, &status);
    int captured = s && s->status == hipStreamCaptureStatusActive;
    if (!status) {
        event->stream = s;
        event->capture = captured ? s->capture : 0;
        event->before.n = 0;
        for (size_t i = 0; captured && i < s->last.n; i++)
            standin_push(&event->before, s->last.at[i]);
        clock_gettime(CLOCK_MONOTONIC, &event->at);
    }
    return standin_called(api, status, "event=%#lx stream=%#lx captured=%d", HEX(event), HEX(stream), captured);
}

PUBLIC hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) { return record(__func__, event, stream, 0); }
PUBLIC hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream) { return record(__func__, event, stream, 1); }
PUBLIC hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned flags) { return record(__func__, flags ? NULL : event, stream, 0); }

// Whether the event was recorded in an active capture; returns the stream that recorded it.
static struct ihipStream_t *capturing(hipEvent_t event, int *in_it)
{
    hipError_t status = hipSuccess;
    struct ihipStream_t *s = event->stream ? standin_stream(event->stream, 0, &status) : NULL;
    if (!s || s->status != hipStreamCaptureStatusActive)
        return NULL;
    *in_it = event->capture == s->capture;
    return s;
}

static hipError_t wait_event(const char *api, hipStream_t stream, hipEvent_t event, unsigned flags, int per_thread)
{
    int in_it = 0;
    hipError_t status = event ? hipSuccess : hipErrorInvalidHandle;
    struct ihipStream_t *s = status ? NULL : standin_stream(stream, per_thread, &status), *from = status ? NULL : capturing(event, &in_it);
    if (from && !in_it)
        status = hipErrorStreamCaptureIsolation;
    else if (from && !s)
        status = hipErrorInvalidHandle;
    else if (from) { // the stream joins the capture
        if (!s->origin) {
            s->status = hipStreamCaptureStatusActive;
            s->graph = from->graph;
            s->capture = from->capture;
            s->mode = from->mode;
        }
        for (size_t i = 0; i < event->before.n; i++)
            standin_push(&s->last, event->before.at[i]);
    }
    return standin_called(api, status, "stream=%#lx event=%#lx flags=%u captured=%d", HEX(stream), HEX(event), flags, from && !status);
}

PUBLIC hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) { return wait_event(__func__, stream, event, flags, 0); }
PUBLIC hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned flags) { return wait_event(__func__, stream, event, flags, 1); }

static hipError_t event_now(const char *api, hipEvent_t event)
{
    int in_it = 0;
    struct ihipStream_t *s = event ? capturing(event, &in_it) : NULL;
    if (s)
        s->status = hipStreamCaptureStatusInvalidated;
    return standin_called(api, !event ? hipErrorInvalidHandle : s ? hipErrorCapturedEvent : hipSuccess, "event=%#lx", HEX(event));
}

PUBLIC hipError_t hipEventSynchronize(hipEvent_t event) { return event_now(__func__, event); }
PUBLIC hipError_t hipEventQuery(hipEvent_t event) { return event_now(__func__, event); }

PUBLIC hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop)
{
    if (!ms || !start || !stop)
        return standin_fail(ms ? hipErrorInvalidHandle : hipErrorInvalidValue);
    *ms = (stop->at.tv_sec - start->at.tv_sec) * 1e3f + (stop->at.tv_nsec - start->at.tv_nsec) / 1e6f;
    return hipSuccess;
}
