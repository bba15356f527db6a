//! The tables: what the shim asks of the system, what of that may fail, and with what.

pub(crate) const EINTR: i32 = 4;
pub(crate) const EIO: i32 = 5;
pub(crate) const EAGAIN: i32 = 11;
pub(crate) const ENOMEM: i32 = 12;
pub(crate) const EACCES: i32 = 13;
pub(crate) const EMFILE: i32 = 24;
pub(crate) const ENOSPC: i32 = 28;

/// What the shim asks of the system, and what that may fail with. By what it is about: files, folders, memory, threads.
pub(crate) const REQUESTS: &[(&str, &[i32])] = &[
    ("open64", &[EMFILE, EINTR, EACCES, ENOSPC, EIO]),
    ("openat64", &[EMFILE, EIO]),
    ("read", &[EINTR, EIO]),
    ("pread64", &[EINTR, EIO]),
    ("lseek64", &[EIO]),
    ("write", &[EINTR, EIO, ENOSPC]),
    ("writev", &[EINTR, EIO, ENOSPC]),
    ("pwrite64", &[ENOSPC, EINTR, EIO]),
    ("ftruncate64", &[EIO, EINTR]),
    ("posix_fallocate", &[ENOSPC, EINTR, EIO]),
    ("fstat64", &[EIO]),
    ("fstatfs", &[EIO, EACCES]),
    ("stat64", &[EIO, EACCES]),
    ("lstat64", &[EIO, EACCES]),
    ("statx", &[EIO, EACCES]),
    ("readlink", &[EACCES, EIO]),
    ("realpath", &[EACCES, EIO]),
    ("getcwd", &[EACCES]),
    ("unlink", &[EIO, EACCES]),
    ("unlinkat", &[EIO, EACCES]),
    ("close", &[EIO, EINTR]),
    ("mkdir", &[ENOSPC, EACCES, EIO]),
    ("rmdir", &[EIO, EACCES]),
    ("opendir", &[EMFILE, EACCES, ENOMEM]),
    ("fdopendir", &[ENOMEM]),
    ("readdir64", &[EIO]),
    ("closedir", &[EINTR]),
    ("malloc", &[ENOMEM]),
    ("calloc", &[ENOMEM]),
    ("realloc", &[ENOMEM]),
    ("mmap", &[ENOMEM, EAGAIN]),
    ("mmap64", &[ENOMEM, EAGAIN]),
    ("munmap", &[ENOMEM]),
    ("madvise", &[ENOMEM, EAGAIN]),
    ("mprotect", &[ENOMEM]),
    ("getrandom", &[EINTR]),
    ("getrlimit", &[EIO]),
    ("pthread_create", &[EAGAIN]),
    ("pthread_attr_init", &[ENOMEM]),
    ("pthread_attr_setstacksize", &[ENOMEM]),
    ("pthread_key_create", &[EAGAIN, ENOMEM]),
];

/// What else the shim has of the C library: it cannot fail, only looks at what the process has, or gives something back.
pub(crate) const NEVER_FAIL: &[&str] = &[
    "ZSTD_",
    "_ITM_",
    "_Unwind_",
    "__cxa_",
    "__errno_location",
    "__gmon_start__",
    "__register_atfork",
    "__tls_get_addr",
    "__xpg_strerror_r",
    "_r_debug",
    "abort",
    "bcmp",
    "clock_gettime",
    "clock_nanosleep",
    "dirfd",
    "dl_iterate_phdr",
    "dlerror",
    "environ",
    "free",
    "getauxval",
    "getenv",
    "geteuid",
    "getpid",
    "gettid",
    "mem",
    "pause",
    "poll",
    "posix_memalign",
    "program_invocation_name",
    "pthread_attr_destroy",
    "pthread_attr_get",
    "pthread_detach",
    "pthread_getattr_np",
    "pthread_key_delete",
    "pthread_self",
    "pthread_set",
    "pthread_sigmask",
    "sched_yield",
    "sig",
    "str",
    "syscall",
    "sysconf",
];

/// Those that may be done by half.
pub(crate) const HALVED: [&str; 3] = ["read", "pread64", "pwrite64"];

/// Of these there are thousands.
pub(crate) const MEMORY: [&str; 3] = ["malloc", "calloc", "realloc"];

/// The first two requests for a key only look whether there are any.
pub(crate) const KEYS: &str = "pthread_key_create";

/// Which of a kind may fail, beside all: the runtime ends a process in which it has no key, or no memory to tell a thread of
/// its own from others. The shim looks whether there is some, before it begins and before it ends, and can do no more.
pub(crate) const FIRST: [(&str, usize); 4] =
    [(KEYS, 2), (MEMORY[0], 1024), (MEMORY[1], 1024), (MEMORY[2], 1024)];
