//! The tables of system requests: what the shim requests, which of them may fail, and with which
//! errors.

pub(crate) const EINTR: i32 = 4;
pub(crate) const EIO: i32 = 5;
pub(crate) const EAGAIN: i32 = 11;
pub(crate) const ENOMEM: i32 = 12;
pub(crate) const EACCES: i32 = 13;
pub(crate) const EMFILE: i32 = 24;
pub(crate) const ENOSPC: i32 = 28;

/// The shim's requests to the system, and their possible errors, by subject: files, folders,
/// memory, threads.
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
    ("flock", &[EINTR, ENOMEM]),
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
    ("mmap", &[ENOMEM, EAGAIN]),
    ("mmap64", &[ENOMEM, EAGAIN]),
    ("mremap", &[ENOMEM]),
    ("munmap", &[ENOMEM]),
    ("madvise", &[ENOMEM, EAGAIN]),
    ("mprotect", &[ENOMEM]),
    ("shmat", &[ENOMEM, EACCES]),
    ("getrandom", &[EINTR]),
    ("getrlimit", &[EIO]),
    ("pthread_create", &[EAGAIN]),
    ("pthread_attr_init", &[ENOMEM]),
    ("pthread_attr_setstacksize", &[ENOMEM]),
    ("pthread_key_create", &[EAGAIN, ENOMEM]),
];

/// The other C library functions that the shim uses: they cannot fail, only read the process's
/// state, or release something. `malloc` is not one of them: the shim has its own memory.
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
    "getauxval",
    "getenv",
    "geteuid",
    "getpid",
    "gettid",
    "mem",
    "pause",
    "poll",
    "program_invocation_name",
    "pthread_attr_destroy",
    "pthread_attr_get",
    "pthread_detach",
    "pthread_getattr_np",
    "pthread_getspecific",
    "pthread_key_delete",
    "pthread_self",
    "pthread_set",
    "pthread_sigmask",
    "sched_yield",
    "shmdt",
    "sig",
    "str",
    "syscall",
    "sysconf",
];

/// Those that may be done partially.
pub(crate) const HALVED: [&str; 3] = ["read", "pread64", "pwrite64"];

/// The first two key requests only test whether there are any.
pub(crate) const KEYS: &str = "pthread_key_create";

/// Which requests of a kind may fail, beside all: the runtime aborts a process that has no TLS key.
/// The shim tests for that before it begins, and can do no more.
pub(crate) const FIRST: [(&str, usize); 1] = [(KEYS, 2)];
