//! Life cycle of recording in a process: load, first hooked call, fork, exit.
//!
//! ```text
//!   IDLE ──first hooked call──► STARTING ──► ON ──exit──► ENDED
//!    ▲                              └──no file could be created──► OFF
//!    └──fork, in the child───────────────────────┘
//! ```
#![allow(unsafe_code)] // C functions, and the address of the leaked process

use crate::collector;
use crate::platform::descriptors::{Table as Descriptors, unshare};
use crate::platform::fork;
use crate::platform::memory;
use crate::platform::objects;
use crate::platform::sched;
use crate::platform::signals::{keeping_errno, with_signals_blocked, with_signals_deferred};
use crate::platform::tls;
use crate::session::collector_state::CollectorState;
use crate::session::process::{Message, Process};
use crate::symbols::binding;
use crate::table::config::Config;
use crate::table::row::{InterceptionPoint, Table};
use crossbeam_channel::{Receiver, TryRecvError};
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

/// State of this process, as in the drawing above.
static STATE: AtomicU8 = AtomicU8::new(IDLE);
/// The process being recorded; leaked, because threads may use it until the very end. Stored with
/// release when it is complete.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());
/// In a forked child: the parent's process, whose definitions the child inherits when it starts.
static PARENT: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

/// Size of the collector's stack in bytes. Demangling template names recurses deeply; otherwise
/// little of it is touched.
const COLLECTOR_STACK: usize = 2 << 20;

/// Memory in bytes that the collector needs at least.
const COLLECTOR_MEMORY: usize = 8 << 20;

/// Memory in bytes without which nothing is started: what is in progress when the arena is
/// exhausted gets it from the reserve.
const MIN_MEMORY: usize = 1 << 12;

/// How long `exit` waits for the collector to write what remains.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);
/// First and longest interval at which a thread looks for the collector's answer.
const POLLS: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

fn config() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| {
        // The environment of a set-user-ID program is not trusted: nothing is read from it.
        // SAFETY: has no preconditions.
        let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
        let mut config = Config::read(|name| std::env::var(name).ok().filter(|_| !secure));
        config.off = secure || config.off || config.leaves_out(objects::names);
        config
    })
}

/// Constructor: reads the variables and registers fork handlers. Starts no thread, opens no file.
#[ctor::ctor(unsafe)]
fn load() {
    keeping_errno(|| {
        // Affects this library alone, which has its own copy of Rust's runtime. Must not print.
        std::panic::set_hook(Box::new(|panic| config().report(&format!("internal error: {panic}"))));
        if config().off {
            STATE.store(OFF, Relaxed);
            return;
        }
        if config().stopped {
            binding::begin_paused();
        }
        tls::arm();
        // For the program's first thread. Later ones inherit the filter of the thread that starts
        // them.
        sandbox::begin_thread();
        fork::register_atfork(in_child);
    });
}

/// Fork handler in the child: detaches it from the parent's files. Recording restarts at the next
/// hooked call.
unsafe extern "C" fn in_child() {
    tls::reset();
    leave_parent();
}

/// Detaches a child from its parent's recording, so that it starts its own at its next hooked call.
fn leave_parent() {
    sandbox::begin_child();
    let parent = PROCESS.swap(std::ptr::null_mut(), Acquire);
    if !parent.is_null() {
        PARENT.store(parent, Relaxed);
    }
    // SAFETY: null, or the parent's leaked `Process`, of which this child has a copy.
    if let Some(parent) = unsafe { parent.as_ref() }.filter(|_| binding::is_paused()) {
        binding::unbind_all(&parent.table);
    }
    if STATE.load(Relaxed) != OFF {
        STATE.store(IDLE, Relaxed);
    }
}

/// True while a thread resets the state of an unseen child.
static IS_RESTARTING: AtomicBool = AtomicBool::new(false);

/// In a child for which no fork handler ran, does what the handlers do.
#[inline]
pub(crate) fn detect_unseen_child() {
    if tls::is_unseen_child() {
        with_signals_deferred(restart_unseen_child);
    }
}

#[cold]
fn restart_unseen_child() {
    if IS_RESTARTING.swap(true, Acquire) {
        // Another thread is doing it.
        while tls::is_unseen_child() {
            sched::sleep_briefly();
        }
        return;
    }
    if tls::is_unseen_child() {
        let is_recorded = tls::begin_generation();
        leave_parent();
        // A lock that another thread of the parent held is never released here.
        if !fork::begin_child() || !is_recorded {
            STATE.store(OFF, Relaxed);
        }
        tls::end_generation();
    }
    IS_RESTARTING.store(false, Release);
}

/// Returns the process being recorded, if any.
pub(crate) fn current() -> Option<&'static Process> {
    detect_unseen_child();
    // SAFETY: null, or the address of a leaked `Process`, stored with release when complete.
    unsafe { PROCESS.load(Acquire).as_ref() }
}

/// Returns true when `point` must return the shim's entry points.
pub(crate) fn is_enabled(point: InterceptionPoint) -> bool {
    STATE.load(Relaxed) != OFF && config().points & point as u8 != 0
}

/// Returns true while the process is recorded, even if recording is paused.
pub(crate) fn is_on() -> bool {
    STATE.load(Acquire) == ON
}

/// Returns true while calls are recorded, or would be once the first arrives.
pub(crate) fn is_recording() -> bool {
    !matches!(STATE.load(Relaxed), OFF | ENDED) && !binding::is_paused()
}

/// Returns true once `exit` has run.
pub(crate) fn has_ended() -> bool {
    STATE.load(Relaxed) == ENDED
}

/// Runs `work` with the process being recorded; catches panics and restores `errno`. (Signals are
/// not deferred: code that takes a lock does that itself.)
pub(crate) fn guarded(work: impl FnOnce(&Process)) {
    let Some(process) = current().filter(|_| !memory::is_short()) else { return };
    keeping_errno(|| caught(|| work(process)));
}

/// Runs `work` and returns `None` if it panics. No panic of the shim unwinds into the program.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Returns the process, starting it at the first hooked call, of a function in `table`; `None` when
/// nothing is recorded.
pub(crate) fn process(table: fn() -> Table) -> Option<&'static Process> {
    detect_unseen_child();
    loop {
        match STATE.load(Acquire) {
            ON | ENDED => return current(),
            OFF => return None,
            IDLE if STATE.compare_exchange(IDLE, STARTING, Acquire, Relaxed).is_ok() => return start(table),
            // Another thread starts it, in under a millisecond. Sleeps, because `sched_yield` would
            // not let a thread of lower priority run.
            _ => sched::sleep_briefly(),
        }
    }
}

/// Starts recording. Its frame of 9 KiB is not part of a thread's first call, whose stack may be as
/// small as the system allows.
#[cold]
#[inline(never)]
fn start(table: fn() -> Table) -> Option<&'static Process> {
    let table = table();
    let is_free = !sandbox::is_new();
    if !is_free || !memory::has(MIN_MEMORY) || !has_keys() {
        if is_free {
            report_failure(Lack::Memory);
        }
        binding::begin(&table, |_| false);
        STATE.store(OFF, Release);
        return None;
    }
    // SAFETY: null, or the parent's leaked `Process`, of which this child has a copy.
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
                config().report(&format!("no trace file could be created: {error}; nothing is recorded"));
            }
            binding::begin(&table, |_| false);
            STATE.store(OFF, Release);
            None
        }
    }
}

/// Reports to `rocshim run`, if it started the program, why this process is not recorded.
fn report_failure(lack: Lack) {
    // SAFETY: the name is a C string.
    let name = unsafe { libc::getenv(c"ROCSHIM_RUN".as_ptr()) };
    if !name.is_null() {
        // SAFETY: a C string of the environment, used only before this function returns.
        let name = unsafe { CStr::from_ptr(name) };
        failure::report(name.to_str().unwrap_or_default(), lack);
    }
}

/// Returns true when a `pthread` key is free. Rust's runtime needs one for thread-local values, and
/// aborts the process without it.
fn has_keys() -> bool {
    // Two, because the runtime discards key 0 and takes another.
    let mut keys = [0; 2];
    let are_made = keys.each_mut().map(|key| {
        // SAFETY: `key` receives the new key, which has no destructor.
        unsafe { libc::pthread_key_create(key, None) == 0 }
    });
    for (key, _) in keys.iter().zip(are_made).filter(|(_, is_made)| *is_made) {
        // SAFETY: the key was created above and is not used.
        unsafe { libc::pthread_key_delete(*key) };
    }
    are_made == [true; 2]
}

/// Starts the collector. If no thread can be started, the process still records, and the rings are
/// written at exit.
fn start_collector(process: &'static Process) {
    let work = move || {
        tls::set_off();
        sandbox::begin_thread();
        process.quiesce.set_collector();
        let table = unshare(process.config.log.as_deref() == Some("stderr"));
        // Dropped with the thread: until then other PID namespaces see that the process is alive.
        let _held = (table == Descriptors::Own).then(|| process.hold_folder());
        sched::request_short_slice();
        memory::may_park();
        if caught(|| collector::run(process, table)).is_none() {
            process.collector.set(CollectorState::Failed);
            process.config.report("the collector failed; what is recorded stays in the ring files");
            loop {
                std::thread::park();
            }
        }
    };
    let thread = std::thread::Builder::new().name("rocshim".into()).stack_size(COLLECTOR_STACK);
    let start =
        || if memory::has(MIN_MEMORY) { thread.spawn(work) } else { Err(ErrorKind::OutOfMemory.into()) };
    let started = with_signals_blocked(|| caught(start)).unwrap_or_else(|| Err(ErrorKind::Other.into()));
    if let Err(error) = started {
        process.collector.set(CollectorState::NoThread);
        let what = format!("no collector thread: {error}; what the rings hold is written at exit");
        process.config.report(&what);
    }
}

/// Runs at exit, after every handler and destructor of the program and its libraries: lets the
/// collector write what remains.
extern "C" fn at_exit() {
    // In a sandbox it is not known which system calls are allowed.
    if sandbox::is_new() {
        STATE.store(ENDED, Relaxed);
        return;
    }
    // A `vfork` child shares its parent's memory, and has no collector.
    let Some(process) = current().filter(|process| process.pid == std::process::id()) else { return };
    if STATE.swap(ENDED, Relaxed) != ON {
        return;
    }
    with_signals_deferred(|| caught(|| end(process)));
}

fn end(process: &'static Process) {
    if !memory::has(MIN_MEMORY) {
        return;
    }
    let (answer, answered) = crossbeam_channel::bounded(1);
    if process.to_collector.send(Message::Stop(answer)).is_err() {
        return;
    }
    process.waker.wake();
    match process.collector.get() {
        // What the collector has not written by then stays in the ring files.
        CollectorState::Running => {
            await_answer(&answered, EXIT_TIMEOUT);
        }
        CollectorState::NoThread if memory::has(COLLECTOR_MEMORY) => {
            collector::run(process, Descriptors::Shared)
        }
        CollectorState::NoThread | CollectorState::Failed => {}
    }
    // Ring files can be recovered; rings in private memory are gone.
    if process.folder.is_none() && !process.is_written.load(Relaxed) {
        report_failure(Lack::Room);
    }
}

/// Waits for the collector's answer, at most `timeout`; `None` without one. Sleeps, because a
/// channel's own wait first yields the processor several times, and the thread gets it back only
/// after others' slices.
pub(crate) fn await_answer<T>(answered: &Receiver<T>, timeout: Duration) -> Option<T> {
    let (since, mut poll) = (Instant::now(), POLLS.0);
    loop {
        match answered.try_recv() {
            Ok(answer) => return Some(answer),
            Err(TryRecvError::Empty) if since.elapsed() < timeout && !memory::is_parked() => {
                sched::sleep(poll);
                poll = (poll + poll / 4).min(POLLS.1);
            }
            Err(_) => return None,
        }
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;
