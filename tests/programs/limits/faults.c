// A second preload, which fails requests that librocshim.so makes of the system, and no other
// requests: those that return into it. It counts them and fails the FAULT_ATth, FAULT_FOR of them
// in a row (unset: all from then on). 0: it fails none.
//   FAULT_CALL  only requests of this name are counted       FAULT_ERRNO  what they fail with
//   FAULT_SHORT the one before the first that fails does half of what is asked
//   FAULT_LOG   a file: the name of each that failed, or was halved; where none is to fail, of each that was counted
// shared
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long word;
typedef word function(word, word, word, word, word, word);

static uintptr_t shim_begins, shim_ends;
static const char *only, *path;
static unsigned long at, times = ~0ul, count;
static int with = EIO, is_short;

static int find_shim(struct dl_phdr_info *object, size_t size, void *data)
{
    const char *name = strrchr(object->dlpi_name, '/');
    (void)size, (void)data;
    if (!name || strcmp(name, "/librocshim.so"))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            shim_begins = object->dlpi_addr + segment->p_vaddr;
            shim_ends = shim_begins + segment->p_memsz;
        }
    }
    return 1;
}

static void tell(const char *name)
{
    int before = errno;
    long file = path ? syscall(SYS_open, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    char line[64];
    size_t length = strlen(name);
    memcpy(line, name, length);
    line[length] = '\n';
    if (file >= 0) {
        syscall(SYS_write, file, line, length + 1);
        syscall(SYS_close, file);
    }
    errno = before;
}

// The outcome of a request.
enum fate { GOES_ON, HALVED, FAILS };

static enum fate decide(const char *name, const void *caller)
{
    if ((uintptr_t)caller - shim_begins >= shim_ends - shim_begins || (only && strcmp(only, name)))
        return GOES_ON;
    unsigned long number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    enum fate fate = GOES_ON;
    if (at && is_short && number == at)
        fate = HALVED;
    else if (at && number >= at + is_short && number - at - is_short < times)
        fate = FAILS;
    if (fate != GOES_ON || !at)
        tell(name);
    return fate;
}

// `failed` is the return value of a failed request, and `real` performs it; if it `writes`, its
// third argument is a number of bytes.
#define REQUEST(name, real, failed, writes, also)                                           \
    __attribute__((visibility("default"))) function fault_##name __asm__(#name);            \
    word fault_##name(word a, word b, word c, word d, word e, word f)                       \
    {                                                                                       \
        enum fate fate = decide(#name, __builtin_return_address(0));                        \
        if (fate == FAILS) {                                                                \
            also;                                                                           \
            errno = with;                                                                   \
            return failed;                                                                  \
        }                                                                                   \
        return real(a, b, fate == HALVED && writes && c > 1 ? c / 2 : c, d, e, f);          \
    }

// The C library's own.
#define NEXT(name)                                                                          \
    static function *next_##name;                                                           \
    static word do_##name(word a, word b, word c, word d, word e, word f)                   \
    {                                                                                       \
        if (!next_##name)                                                                   \
            next_##name = (function *)dlsym(RTLD_NEXT, #name);                              \
        return next_##name(a, b, c, d, e, f);                                               \
    }
#define CALL(name, failed, writes) NEXT(name) REQUEST(name, do_##name, failed, writes, (void)0)
// A close always closes, whatever it returns.
#define CLOSE(name) NEXT(name) REQUEST(name, do_##name, -1, 0, do_##name(a, b, c, d, e, f))

#define CALLS                                                                               \
    CALL(open64, -1, 0) CALL(openat64, -1, 0) CALL(read, -1, 1) CALL(pread64, -1, 1)        \
    CALL(lseek64, -1, 0) CALL(write, -1, 1) CALL(pwrite64, -1, 1) CALL(writev, -1, 0)       \
    CALL(ftruncate64, -1, 0) CALL(posix_fallocate, with, 0) CALL(fstat64, -1, 0)            \
    CALL(fstatfs, -1, 0) CALL(madvise, -1, 0) CALL(flock, -1, 0) CALL(shmat, -1, 0)         \
    CALL(stat64, -1, 0) CALL(lstat64, -1, 0) CALL(statx, -1, 0) CALL(opendir, 0, 0)         \
    CALL(fdopendir, 0, 0) CALL(readdir64, 0, 0) CALL(mkdir, -1, 0) CALL(rmdir, -1, 0)       \
    CALL(unlink, -1, 0) CALL(unlinkat, -1, 0) CALL(readlink, -1, 0) CALL(realpath, 0, 0)    \
    CALL(getcwd, 0, 0) CALL(mmap, -1, 0) CALL(mmap64, -1, 0) CALL(mprotect, -1, 0)          \
    CALL(munmap, -1, 0) CALL(mremap, -1, 0) CALL(getrandom, -1, 0) CALL(getrlimit, -1, 0)                       \
    CALL(pthread_create, with, 0) CALL(pthread_attr_init, with, 0)                          \
    CALL(pthread_attr_setstacksize, with, 0) CALL(pthread_key_create, with, 0)
CALLS
CLOSE(close) CLOSE(closedir)

__attribute__((constructor)) static void begin(void)
{
    const char *text;
#undef CALL
#undef CLOSE
#define CALL(name, failed, writes) next_##name = (function *)dlsym(RTLD_NEXT, #name);
    CALLS
    CALL(close, , ) CALL(closedir, , )
    only = getenv("FAULT_CALL");
    path = getenv("FAULT_LOG");
    is_short = !!getenv("FAULT_SHORT");
    if ((text = getenv("FAULT_FOR")))
        times = strtoul(text, NULL, 10);
    if ((text = getenv("FAULT_ERRNO")))
        with = atoi(text);
    if ((text = getenv("FAULT_AT")))
        at = strtoul(text, NULL, 10);
    dl_iterate_phdr(find_shim, NULL);
}
