//! Load, first call, fork, exit: when recording begins, for whom, and how it ends.
//!
//! ```text
//!   IDLE ──first hooked call──► STARTING ──► ON ──exit──► ENDED
//!    ▲                              └──no file can be made──► OFF
//!    └──fork, in the child───────────────────────┘
//! ```
#![allow(unsafe_code)] // C calls at the four moments, and the leaked process's address

use crate::bound;
use crate::collector;
use crate::config::Config;
use crate::process::{Message, Process};
use crate::row::{Door, Table};
use crate::thread;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::time::Duration;

const IDLE: u8 = 0;
const STARTING: u8 = 1;
const ON: u8 = 2;
const OFF: u8 = 3;
const ENDED: u8 = 4;

/// Where this process is in the drawing above.
static STATE: AtomicU8 = AtomicU8::new(IDLE);
/// The process being recorded, leaked: threads may look at it until the very end. Release: after it was made.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());
/// In a forked child: the parent's process, whose names the child inherits when it begins.
static PARENT: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

/// Bytes of the collector's stack, of which it touches little: demangling a name of a template library is deep recursion.
const COLLECTOR_STACK: usize = 2 << 20;

/// How long `exit` waits for the collector to write what is left.
const EXIT_PATIENCE: Duration = Duration::from_secs(10);

fn config() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| Config::read(|name| std::env::var(name).ok()))
}

/// When the library is loaded: reads the variables and hears of forks. Starts no thread, opens no file.
#[ctor::ctor(unsafe)]
fn load() {
    // SAFETY: no preconditions.
    let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    if secure || config().off {
        STATE.store(OFF, Relaxed);
        return;
    }
    if config().stopped {
        bound::begin_stopped();
    }
    // This library has its own copy of Rust's runtime: the hook is ours alone, and must not print.
    std::panic::set_hook(Box::new(|panic| config().report(&format!("internal error: {panic}"))));
    // SAFETY: `in_child` is a function of this library, which is never unloaded (it was preloaded).
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

/// In the child of a fork: nothing of the parent's is written to again; recording begins anew at the next hooked call.
unsafe extern "C" fn in_child() {
    thread::forget();
    let parent = PROCESS.swap(std::ptr::null_mut(), Acquire);
    if !parent.is_null() {
        PARENT.store(parent, Relaxed);
    }
    // SAFETY: NULL or the leaked `Process` of the parent, whose memory this child has a copy of.
    if let Some(parent) = unsafe { parent.as_ref() }.filter(|_| bound::is_stopped()) {
        bound::forget(&parent.table);
    }
    if STATE.load(Relaxed) != OFF {
        STATE.store(IDLE, Relaxed);
    }
}

/// The process being recorded, if it is.
fn current() -> Option<&'static Process> {
    // SAFETY: the address is NULL or that of a leaked `Process`, stored with release when it was whole.
    unsafe { PROCESS.load(Acquire).as_ref() }
}

/// True when what `door` gives out is to lead to us.
pub(crate) fn is_open(door: Door) -> bool {
    STATE.load(Relaxed) != OFF && config().doors & door as u8 != 0
}

/// True while the process is recorded, be it that recording is stopped.
pub(crate) fn is_on() -> bool {
    STATE.load(Acquire) == ON
}

/// True once the process is at its end.
pub(crate) fn has_ended() -> bool {
    STATE.load(Relaxed) == ENDED
}

/// Does `work` with the process being recorded. A panic ends there, `errno` comes back as it was.
pub(crate) fn guarded(work: impl FnOnce(&Process)) {
    let Some(process) = current() else { return };
    keeping_errno(|| caught(|| work(process)));
}

/// Does `work`; `None` when it panicked. No panic of ours ever unwinds into the program.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

pub(crate) fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: glibc's address of this thread's errno is valid as long as the thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let result = work();
    // SAFETY: as above.
    unsafe { *errno = before };
    result
}

/// The process, begun now if this is its first hooked call, of a function in `table`; `None` when nothing is recorded.
pub(crate) fn process(table: fn() -> Table) -> Option<&'static Process> {
    loop {
        match STATE.load(Acquire) {
            ON | ENDED => return current(),
            OFF => return None,
            IDLE if STATE.compare_exchange(IDLE, STARTING, Acquire, Relaxed).is_ok() => return start(table),
            // Another thread begins, which takes under a millisecond.
            _ => std::thread::yield_now(),
        }
    }
}

fn start(table: fn() -> Table) -> Option<&'static Process> {
    // SAFETY: NULL or the leaked `Process` of the parent, whose memory this child has a copy of.
    let parent = unsafe { PARENT.load(Relaxed).as_ref() };
    let table = table();
    table.iter().for_each(|hook| hook.reset());
    bound::begin(&table, |name| config().records(name));
    match caught(|| Process::start(config(), table.clone(), parent)) {
        Some(Ok(process)) => {
            let process: &'static Process = Box::leak(Box::new(process));
            PROCESS.store(std::ptr::from_ref(process).cast_mut(), Release);
            STATE.store(ON, Release);
            start_collector(process);
            Some(process)
        }
        failed => {
            if let Some(Err(error)) = failed {
                config().report(&format!("no trace file can be made: {error}; nothing is recorded"));
            }
            bound::begin(&table, |_| false);
            STATE.store(OFF, Release);
            None
        }
    }
}

/// Starts the collector with every signal blocked: the program's signals are the program's threads' business.
fn start_collector(process: &'static Process) {
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `all` is a place for a signal set.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: `all` was filled; `before` is a place for the old set.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    let work = move || {
        thread::off();
        if caught(|| collector::run(process)).is_none() {
            process.config.report("the collector failed; what is recorded stays in the ring files");
        }
    };
    let spawned = std::thread::Builder::new().name("rocshim".into()).stack_size(COLLECTOR_STACK).spawn(work);
    // SAFETY: `before` was filled by the call above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    if let Err(error) = spawned {
        process
            .config
            .report(&format!("no collector thread: {error}; what is recorded stays in the ring files"));
    }
}

/// At exit, after every handler and destructor of the program and its libraries: lets the collector write what is left.
extern "C" fn at_exit() {
    let Some(process) = current() else { return };
    if STATE.swap(ENDED, Relaxed) != ON {
        return;
    }
    caught(|| {
        let (answer, answered) = crossbeam_channel::bounded(1);
        if process.to_collector.send(Message::Stop(answer)).is_ok() {
            // What it has not written by then stays in the ring files.
            let _ = answered.recv_timeout(EXIT_PATIENCE);
        }
    });
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;
