//! Load, first call, fork, exit: when recording begins, for whom, and how it ends.
//!
//! ```text
//!   IDLE ──first hooked call──► STARTING ──► ON ──exit──► ENDED
//!    ▲                              └──no file can be made──► OFF
//!    └──fork, in the child───────────────────────┘
//! ```
#![allow(unsafe_code)] // C calls at the four moments, and the leaked process's address

use crate::collector;
use crate::platform::descriptors::{Table as Descriptors, unshare};
use crate::platform::fork;
use crate::platform::memory;
use crate::platform::objects;
use crate::platform::sched;
use crate::platform::signals::{keeping_errno, quietly, without_signals};
use crate::platform::tls;
use crate::session::collector_state::Collector;
use crate::session::process::{Message, Process};
use crate::symbols::binding;
use crate::table::config::Config;
use crate::table::row::{InterceptionPoint, Table};
use crossbeam_channel::RecvTimeoutError;
use rocshim_ring::failure::{self, Lack};
use rocshim_ring::sandbox;
use std::ffi::CStr;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::time::{Duration, Instant};

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

/// Bytes that it needs at least.
const COLLECTOR_MEMORY: usize = 8 << 20;

/// Bytes without which nothing is begun: the runtime takes what it knows a thread by from the C library itself, not from our
/// reserve, and ends the process where it gets none.
const LITTLE: usize = 1 << 12;

/// How long `exit` waits for the collector to write what is left.
const EXIT_PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks whether it will.
const EXIT_LOOK: Duration = Duration::from_millis(50);

fn config() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| {
        // Of a program with more rights than its user has, the environment is the user's: nothing is read from it.
        // SAFETY: no preconditions.
        let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
        let mut config = Config::read(|name| std::env::var(name).ok().filter(|_| !secure));
        config.off = secure || config.off || config.leaves_out(objects::names);
        config
    })
}

/// When the library is loaded: reads the variables and hears of forks. Starts no thread, opens no file.
#[ctor::ctor(unsafe)]
fn load() {
    keeping_errno(|| {
        // This library has its own copy of Rust's runtime: the hook is ours alone, and must not print.
        std::panic::set_hook(Box::new(|panic| config().report(&format!("internal error: {panic}"))));
        if config().off {
            STATE.store(OFF, Relaxed);
            return;
        }
        if config().stopped {
            binding::begin_paused();
        }
        tls::arm();
        // The program's first thread: those that it starts later may have a filter of another's.
        sandbox::begin_thread();
        fork::heed(in_child);
    });
}

/// In the child of a fork: nothing of the parent's is written to again; recording begins anew at the next hooked call.
unsafe extern "C" fn in_child() {
    tls::forget();
    leave_parent();
}

/// Makes this process, a child, begin at its next hooked call.
fn leave_parent() {
    sandbox::begin_child();
    let parent = PROCESS.swap(std::ptr::null_mut(), Acquire);
    if !parent.is_null() {
        PARENT.store(parent, Relaxed);
    }
    // SAFETY: NULL or the leaked `Process` of the parent, whose memory this child has a copy of.
    if let Some(parent) = unsafe { parent.as_ref() }.filter(|_| binding::is_paused()) {
        binding::unbind_all(&parent.table);
    }
    if STATE.load(Relaxed) != OFF {
        STATE.store(IDLE, Relaxed);
    }
}

/// A thread of this process is about to begin it anew.
static IS_BEGINNING: AtomicBool = AtomicBool::new(false);

/// In a child that no fork handler has seen, does what the handlers do.
#[inline]
pub(crate) fn notice_child() {
    if tls::is_child() {
        quietly(begin_child);
    }
}

#[cold]
fn begin_child() {
    if IS_BEGINNING.swap(true, Acquire) {
        // Another thread does it.
        while tls::is_child() {
            fork::nap();
        }
        return;
    }
    if tls::is_child() {
        let is_recorded = tls::begin_generation();
        leave_parent();
        // A lock of ours that another thread of the parent's held is never freed here.
        if !fork::begin_child() || !is_recorded {
            STATE.store(OFF, Relaxed);
        }
        tls::end_generation();
    }
    IS_BEGINNING.store(false, Release);
}

/// The process being recorded, if it is.
pub(crate) fn current() -> Option<&'static Process> {
    notice_child();
    // SAFETY: the address is NULL or that of a leaked `Process`, stored with release when it was whole.
    unsafe { PROCESS.load(Acquire).as_ref() }
}

/// True when what `point` gives out is to lead to us.
pub(crate) fn is_enabled(point: InterceptionPoint) -> bool {
    STATE.load(Relaxed) != OFF && config().points & point as u8 != 0
}

/// True while the process is recorded, be it that recording is stopped.
pub(crate) fn is_on() -> bool {
    STATE.load(Acquire) == ON
}

/// True while calls are recorded, or would be from the first one on.
pub(crate) fn is_recording() -> bool {
    !matches!(STATE.load(Relaxed), OFF | ENDED) && !binding::is_paused()
}

/// True once the process is at its end.
pub(crate) fn has_ended() -> bool {
    STATE.load(Relaxed) == ENDED
}

/// Does `work` with the process being recorded. A panic ends there, `errno` comes back as it was. (Signals do not wait for
/// it: what takes a lock sees to that itself.)
pub(crate) fn guarded(work: impl FnOnce(&Process)) {
    let Some(process) = current().filter(|_| !memory::is_short()) else { return };
    keeping_errno(|| caught(|| work(process)));
}

/// Does `work`; `None` when it panicked. No panic of ours ever unwinds into the program.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The process, begun now if this is its first hooked call, of a function in `table`; `None` when nothing is recorded.
pub(crate) fn process(table: fn() -> Table) -> Option<&'static Process> {
    notice_child();
    loop {
        match STATE.load(Acquire) {
            ON | ENDED => return current(),
            OFF => return None,
            IDLE if STATE.compare_exchange(IDLE, STARTING, Acquire, Relaxed).is_ok() => return start(table),
            // Another thread begins, which takes under a millisecond. (To yield would be no rest from a lower priority.)
            _ => fork::nap(),
        }
    }
}

fn start(table: fn() -> Table) -> Option<&'static Process> {
    let table = table();
    let is_free = !sandbox::is_new();
    if !is_free || !memory::has(LITTLE) || !has_keys() {
        if is_free {
            report_failure(Lack::Memory);
        }
        binding::begin(&table, |_| false);
        STATE.store(OFF, Release);
        return None;
    }
    // SAFETY: NULL or the leaked `Process` of the parent, whose memory this child has a copy of.
    let parent = unsafe { PARENT.load(Relaxed).as_ref() };
    table.iter().for_each(|hook| hook.reset());
    binding::begin(&table, |name| config().records(name));
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
                report_failure(match error.kind() {
                    ErrorKind::OutOfMemory => Lack::Memory,
                    _ => Lack::File(error.raw_os_error().unwrap_or(0)),
                });
                config().report(&format!("no trace file can be made: {error}; nothing is recorded"));
            }
            binding::begin(&table, |_| false);
            STATE.store(OFF, Release);
            None
        }
    }
}

/// Says to `rocshim run`, if it started the program, what this process lacked to record.
fn report_failure(lack: Lack) {
    // SAFETY: a C string.
    let name = unsafe { libc::getenv(c"ROCSHIM_RUN".as_ptr()) };
    if !name.is_null() {
        // SAFETY: a C string of the environment, which nothing changes before this function returns.
        let name = unsafe { CStr::from_ptr(name) };
        failure::report(name.to_str().unwrap_or_default(), lack);
    }
}

/// True when the runtime would get the key that it needs for thread-local values. Where it gets none, it ends the process.
fn has_keys() -> bool {
    // One, and another if that is number 0.
    let mut keys = [0; 2];
    let are_made = keys.each_mut().map(|key| {
        // SAFETY: a place for the new key, which has no destructor.
        unsafe { libc::pthread_key_create(key, None) == 0 }
    });
    for (key, _) in keys.iter().zip(are_made).filter(|(_, is_made)| *is_made) {
        // SAFETY: it was made just now, and nobody uses it.
        unsafe { libc::pthread_key_delete(*key) };
    }
    are_made == [true; 2]
}

/// Starts the collector. Where no thread can be had, the process records on, and collects what its rings hold at exit.
fn start_collector(process: &'static Process) {
    let work = move || {
        tls::off();
        sandbox::begin_thread();
        process.rest.begin();
        let table = unshare(process.config.log.as_deref() == Some("stderr"));
        // Dropped with the thread: until then the process is known to live.
        let _held = (table == Descriptors::Own).then(|| process.hold_folder());
        sched::be_short();
        memory::may_rest();
        if caught(|| collector::run(process, table)).is_none() {
            process.collector.set(Collector::Failed);
            process.config.report("the collector failed; what is recorded stays in the ring files");
            loop {
                std::thread::park();
            }
        }
    };
    let thread = std::thread::Builder::new().name("rocshim".into()).stack_size(COLLECTOR_STACK);
    let start = || if memory::has(LITTLE) { thread.spawn(work) } else { Err(ErrorKind::OutOfMemory.into()) };
    let started = without_signals(|| caught(start)).unwrap_or_else(|| Err(ErrorKind::Other.into()));
    if let Err(error) = started {
        process.collector.set(Collector::None);
        let what = format!("no collector thread: {error}; what the rings hold is written at exit");
        process.config.report(&what);
    }
}

/// At exit, after every handler and destructor of the program and its libraries: lets the collector write what is left.
extern "C" fn at_exit() {
    // In a sandbox of the program's, what may be asked is not known.
    if sandbox::is_new() {
        STATE.store(ENDED, Relaxed);
        return;
    }
    // A child that was not made by `fork` has its parent's memory, and no collector.
    let Some(process) = current().filter(|process| process.pid == std::process::id()) else { return };
    if STATE.swap(ENDED, Relaxed) != ON {
        return;
    }
    quietly(|| caught(|| end(process)));
}

fn end(process: &'static Process) {
    if !memory::has(LITTLE) {
        return;
    }
    let (answer, answered) = crossbeam_channel::bounded(1);
    if process.to_collector.send(Message::Stop(answer)).is_err() {
        return;
    }
    process.alarm.ring();
    match process.collector.get() {
        // What it has not written by then stays in the ring files.
        Collector::Thread => {
            let since = Instant::now();
            let is_waiting = || since.elapsed() < EXIT_PATIENCE && !memory::is_resting();
            while answered.recv_timeout(EXIT_LOOK) == Err(RecvTimeoutError::Timeout) && is_waiting() {}
        }
        Collector::None if memory::has(COLLECTOR_MEMORY) => collector::run(process, Descriptors::Shared),
        Collector::None | Collector::Failed => {}
    }
    // Ring files can be recovered; what lay in memory of the process alone is gone.
    if process.folder.is_none() && !process.is_written.load(Relaxed) {
        report_failure(Lack::Room);
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;
