/*
 * rocshim.h: what a program may tell rocshim about itself: its phases, its marks, and when all is to be written.
 *
 *     rocshim_phase_begin("forward");
 *     ...
 *     rocshim_phase_end();
 *
 * There is nothing to link: the functions are in librocshim.so, which is preloaded or is not. Where it is not, each of these is
 * a load and a comparison. C from C89 on (with GNU's inline assembly) and C++; x86-64 Linux. On other systems they do nothing.
 *
 * Phases and marks cost what a range of roctx costs (some 50 ns), and are recorded in the same way: as records of type `mark`,
 * with the actions `push`, `pop` and `mark`. Up to 432 bytes of a text are kept; it is copied before the call returns.
 */
#ifndef ROCSHIM_H
#define ROCSHIM_H

#if defined(__x86_64__) && defined(__linux__) && !defined(__ILP32__)
/* The address of a function of librocshim.so, from the table that the loader fills in: NULL where the library is not there.
   Not by a weak declaration, of which a linker makes NULL for good in programs that are not position-independent. */
#define ROCSHIM_FIND(address, name)                                      \
    __asm__(".weak " name "\n\t"                                         \
            "mov{q}\t{" name "@GOTPCREL(%%rip), %0|%0, qword ptr " name "@GOTPCREL[rip]}" \
            : "=r"(address))
#else
#define ROCSHIM_FIND(address, name) ((void)((address) = 0))
#endif

/* The names that a program uses. The functions behind them lie in the program and must not be taken for the library's own,
   which have these names. */
#define rocshim_phase_begin rocshim_inline_phase_begin
#define rocshim_phase_end rocshim_inline_phase_end
#define rocshim_mark rocshim_inline_mark
#define rocshim_flush rocshim_inline_flush
#define rocshim_recording rocshim_inline_recording

#ifdef __cplusplus
extern "C" {
#endif

/* A phase of the calling thread begins, inside those that it has begun and not ended. Returns how many these are; -1 without
   librocshim.so. */
static __inline__ int rocshim_phase_begin(const char *name)
{
    int (*call)(const char *);
    ROCSHIM_FIND(call, "rocshim_phase_begin");
    return call ? call(name) : -1;
}

/* The innermost phase of the calling thread ends. Returns how many go on; -1 where there was none, and without librocshim.so. */
static __inline__ int rocshim_phase_end(void)
{
    int (*call)(void);
    ROCSHIM_FIND(call, "rocshim_phase_end");
    return call ? call() : -1;
}

/* A moment that has a name. */
static __inline__ void rocshim_mark(const char *text)
{
    void (*call)(const char *);
    ROCSHIM_FIND(call, "rocshim_mark");
    if (call)
        call(text);
}

/* Waits until everything that was recorded before is in the trace file: some milliseconds, never more than about a second.
   (A trace needs it for nothing: what is not in its file yet survives the program's death too.) Returns 0, also where nothing is
   recorded; else an errno: EIO, the trace cannot be written now; ETIMEDOUT, it was not done within a second and goes on;
   ENOTSUP, the process is a flight recorder (ROCSHIM_FULL=overwrite). Not for signal handlers. */
static __inline__ int rocshim_flush(void)
{
    int (*call)(void);
    ROCSHIM_FIND(call, "rocshim_flush");
    return call ? call() : 0;
}

/* 1 where calls are recorded, or will be from the first one on; 0 where they are not: there is no librocshim.so, it is told to
   leave this program alone, or recording is stopped for now. */
static __inline__ int rocshim_recording(void)
{
    int (*call)(void);
    ROCSHIM_FIND(call, "rocshim_recording");
    return call ? call() : 0;
}

#ifdef __cplusplus
}
#endif

#undef ROCSHIM_FIND
#endif
