/*
 * rocshim.h: lets a program mark its phases and moments in its trace, and wait for the trace file.
 *
 *     rocshim_phase_begin("forward");
 *     ...
 *     rocshim_phase_end();
 *
 * There is nothing to link: the functions are in librocshim.so, which is preloaded or not. If not,
 * each call costs a load and a comparison. C from C89 on (with GNU inline assembly) and C++;
 * x86-64 Linux. On other systems the functions do nothing.
 *
 * Phases and marks cost as much as a roctx range (some 50 ns), and are recorded alike: as records
 * of type `mark`, with the actions `push`, `pop` and `mark`. Up to 432 bytes of a text are
 * recorded; it is copied before the call returns.
 */
#ifndef ROCSHIM_H
#define ROCSHIM_H

#if defined(__x86_64__) && defined(__linux__) && !defined(__ILP32__)
/* The address of a function of librocshim.so, from the GOT entry that the loader fills in: NULL
 * if the library is not loaded. Not a weak declaration, which the linker resolves to NULL for
 * good in programs that are not position-independent. */
#define ROCSHIM_FIND(address, name)                                      \
    __asm__(".weak " name "\n\t"                                         \
            "mov{q}\t{" name "@GOTPCREL(%%rip), %0|%0, qword ptr " name "@GOTPCREL[rip]}" \
            : "=r"(address))
#else
#define ROCSHIM_FIND(address, name) ((void)((address) = 0))
#endif

/* The names that a program uses. Their implementations are in the program and must not be
 * confused with the library's functions of these names. */
#define rocshim_phase_begin rocshim_inline_phase_begin
#define rocshim_phase_end rocshim_inline_phase_end
#define rocshim_mark rocshim_inline_mark
#define rocshim_flush rocshim_inline_flush
#define rocshim_recording rocshim_inline_recording

#ifdef __cplusplus
extern "C" {
#endif

/* Begins a phase of the calling thread, nested in its open phases. Returns how many are open
 * around it; -1 without librocshim.so. */
static __inline__ int rocshim_phase_begin(const char *name)
{
    int (*call)(const char *);
    ROCSHIM_FIND(call, "rocshim_phase_begin");
    return call ? call(name) : -1;
}

/* Ends the innermost phase of the calling thread. Returns how many remain open; -1 if there was
 * none, and without librocshim.so. */
static __inline__ int rocshim_phase_end(void)
{
    int (*call)(void);
    ROCSHIM_FIND(call, "rocshim_phase_end");
    return call ? call() : -1;
}

/* Marks a moment with a name. */
static __inline__ void rocshim_mark(const char *text)
{
    void (*call)(const char *);
    ROCSHIM_FIND(call, "rocshim_mark");
    if (call)
        call(text);
}

/* Waits until everything recorded before is in the trace file: some milliseconds, at most about
 * a second. (A trace does not need it: what is not in its file yet survives the program's death
 * too.) Returns 0, also if nothing is recorded; else an errno: EIO, the trace cannot be written
 * now; ETIMEDOUT, it was not done within a second and continues; ENOTSUP, the process is a
 * flight recorder (ROCSHIM_FULL=overwrite). Not for signal handlers. */
static __inline__ int rocshim_flush(void)
{
    int (*call)(void);
    ROCSHIM_FIND(call, "rocshim_flush");
    return call ? call() : 0;
}

/* 1 if calls are recorded, or will be from the first one on; 0 if not: librocshim.so is not
 * loaded, this program is excluded, or recording is stopped. */
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
