//! GPU times: the HIP runtime reports when each command began and ended on the GPU, to the one function that is registered
//! for it. That is ours where GPU times are asked for; whoever else registers gets every report through us, and is asked
//! what it would be asked.
//!
//! ```text
//!   a call begins        f(3, function, data)  ─► given the number of the hooked call that it is
//!   a command is made    f(2, kind, NULL)      ─► wanted
//!   a command is done    f(2, kind, record)    ─► an event of the thread that reports, with that number
//! ```
//!
//! A report takes no lock, allocates nothing, makes no system call and calls nothing of HIP; but the first one of a thread
//! gets it a ring, and the first one of a kernel tells its name.
//!
//! Layers, lowest first: `layout`; `clock`; `names`; this file.
#![allow(unsafe_code)] // what the runtime hands over, and its functions

mod clock;
mod layout;
mod names;

use crate::hook::thread;
use crate::lifecycle::{caught, current, has_ended, is_on};
use crate::platform::objects::{self, Object};
use crate::platform::signals::quietly;
use crate::platform::tls::{self, State};
use crate::session::process::Process;
use crate::symbols::binding;
use layout::*;
use rocshim_ring::clock::now;
use rocshim_ring::definition::Definition;
use rocshim_ring::gpu::{Correlation, DISPATCH, GpuTime, LINK, MOVE, Report, UNREAD};
use rocshim_ring::{Frame, Producer};
use std::ffi::{CStr, c_void};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release as Publish};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, AtomicUsize};

/// The row that others register by.
const ROW: &str = "hipRegisterTracerCallback";
/// Copies of the runtime that can be asked at once.
const COPIES: usize = 4;

/// A copy of the runtime.
struct Runtime {
    /// Its function to register by; NULL: the place is free.
    register: AtomicPtr<c_void>,
    /// What somebody else has registered; NULL: nothing.
    next: AtomicPtr<c_void>,
    /// Ours is registered.
    is_asked: AtomicBool,
    /// The process that was told of it.
    told: AtomicU32,
    /// Where the functions stand that belong to a call's phases; 0: its layout is not known. Release: after `working`.
    phases_at: AtomicUsize,
    /// Its functions that give the GPU work, a bit each.
    working: [AtomicU64; MOST_APIS as usize / 64],
}

static RUNTIMES: [Runtime; COPIES] = [const { Runtime::new() }; COPIES];
/// Ours, one for each copy.
const CALLBACKS: [Callback; COPIES] = [reported::<0>, reported::<1>, reported::<2>, reported::<3>];

/// GPU times are wanted.
static WANTED: AtomicBool = AtomicBool::new(false);
/// The process and the loader's count for which all copies were asked.
static ARMED: AtomicU64 = AtomicU64::new(0);
/// The id of [`ROW`], by which reports are told.
static HOOK: AtomicU16 = AtomicU16::new(0);

/// Before a call of the runtime: asks every copy of it that is loaded, where GPU times are wanted.
pub(crate) fn arm(process: &Process) {
    process.turn_gpu_time.get_or_init(|| turn);
    if process.config.gpu_time && ARMED.load(Relaxed) == 0 {
        WANTED.store(true, Relaxed);
    }
    if WANTED.load(Relaxed) {
        ask_all(process);
    }
}

/// GPU times are wanted from now on, or are not any more.
fn turn(process: &Process, on: bool) {
    WANTED.store(on, Relaxed);
    ARMED.store(1, Relaxed);
    if on {
        return ask_all(process);
    }
    for runtime in RUNTIMES.iter().filter(|runtime| runtime.is_asked.swap(false, Relaxed)) {
        let register = runtime.register.load(Relaxed);
        runtime.told.store(0, Relaxed);
        runtime.hand_back();
        if let Some(object) = objects::holder(register) {
            let told = GpuTime { path: object.path.into(), ..GpuTime::default() };
            process.define(now(), Definition::GpuTime(told));
        }
    }
}

/// Somebody has registered `function` by the runtime's own `register`.
pub(crate) fn registered(register: *mut c_void, function: *const c_void) {
    let Some((copy, runtime)) = Runtime::at(register) else { return };
    if function == CALLBACKS[copy] as *const c_void {
        return;
    }
    // Release: what it has set up before it registered.
    runtime.next.store(function.cast_mut(), Publish);
    if runtime.is_asked.load(Relaxed) {
        runtime.ask(copy);
    }
}

fn ask_all(process: &Process) {
    let armed = objects::generation() << 24 ^ u64::from(process.pid) | 2;
    if ARMED.swap(armed, Relaxed) == armed {
        return;
    }
    let row = process.table.iter().find(|row| row.name == ROW);
    HOOK.store(row.map_or(0, |row| row.id), Relaxed);
    clock::begin();
    let copies = objects::objects().into_iter().filter(|object| object.is("libamdhip64.so"));
    for object in copies {
        let why = match objects::symbol(&object, ROW).map(|register| (register, Runtime::at(register))) {
            None => format!("it has no {ROW}"),
            _ if loses_names(&object) => format!(
                "it reads the names of a graph's kernels after the graph was destroyed, which ends the program, unless it is \
                 started with {NAMES_OF_GRAPHS}=0 (`rocshim run --gpu-time` does that)"
            ),
            Some((_, None)) => format!("{COPIES} other copies of the runtime are asked already"),
            Some((_, Some((copy, runtime)))) => {
                runtime.begin(process, copy, &object);
                continue;
            }
        };
        let told = GpuTime { path: object.path.into(), why: Some(why.into()), ..GpuTime::default() };
        process.define(now(), Definition::GpuTime(told));
    }
}

/// To be registered with this copy of the runtime is not safe.
fn loses_names(object: &Object) -> bool {
    let is_off = std::env::var(NAMES_OF_GRAPHS).is_ok_and(|value| value == "0");
    !is_off && objects::symbol(object, SINCE).is_some()
}

impl Runtime {
    const fn new() -> Runtime {
        let [register, next] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 2];
        let (is_asked, told) = (AtomicBool::new(false), AtomicU32::new(0));
        let working = [const { AtomicU64::new(0) }; MOST_APIS as usize / 64];
        Runtime { register, next, is_asked, told, phases_at: AtomicUsize::new(0), working }
    }

    /// The copy whose function `register` is, with its place; a free one where it is new. `None` where there is none left.
    fn at(register: *mut c_void) -> Option<(usize, &'static Runtime)> {
        let null = std::ptr::null_mut();
        let known = RUNTIMES.iter().position(|runtime| runtime.register.load(Acquire) == register);
        let mut take = || {
            RUNTIMES.iter().position(|runtime| {
                let taken = runtime.register.compare_exchange(null, register, Acquire, Acquire);
                taken.is_ok() || taken == Err(register)
            })
        };
        known.or_else(&mut take).or_else(take_unloaded(register)).map(|copy| (copy, &RUNTIMES[copy]))
    }

    /// Asks this copy, which lies in `object`, and tells how.
    fn begin(&self, process: &Process, copy: usize, object: &Object) {
        if self.told.swap(process.pid, Relaxed) == process.pid {
            return self.ask(copy);
        }
        let name = objects::symbol(object, "hipApiName");
        let mut why = None;
        let mut told = GpuTime { path: object.path.as_str().into(), on: true, ..GpuTime::default() };
        let mut phases_at = 0;
        if let Some(name) = name {
            // SAFETY: the runtime's function of this name, which has this type.
            let name: ApiName = unsafe { std::mem::transmute(name) };
            // SAFETY: as above.
            let list = unsafe { list(name) };
            for (id, _) in &list.working {
                self.working[*id as usize / 64].fetch_or(1 << (id % 64), Relaxed);
            }
            let release = Release::of(list.list);
            phases_at = release.map_or(0, Release::phases_at);
            told.apis = list.list;
            told.release = release.map(|release| release.name.into());
            told.functions = list.working.into_iter().map(|(id, name)| (id, name.into())).collect();
        }
        if phases_at == 0 {
            why = Some("its release is not known, so that its reports do not name their calls".into());
        }
        // Release: whoever finds where they stand finds the functions.
        self.phases_at.store(phases_at, Publish);
        (told.why, told.shared) = (why, !self.next.load(Relaxed).is_null());
        // Before the first report.
        process.define(now(), Definition::GpuTime(told));
        self.ask(copy);
    }

    /// Registers ours.
    fn ask(&self, copy: usize) {
        self.is_asked.store(true, Relaxed);
        self.register(CALLBACKS[copy] as *const c_void);
    }

    /// Registers what somebody else had, or nothing.
    fn hand_back(&self) {
        self.register(self.next.load(Relaxed));
    }

    fn register(&self, function: *const c_void) {
        // SAFETY: the runtime's function of this name, which has this type.
        let register: Register = unsafe { std::mem::transmute(self.register.load(Relaxed)) };
        // SAFETY: it stores the address.
        unsafe { register(function) };
    }

    /// What the one that somebody else has registered answers; `None` where there is none.
    fn next(&self, domain: u32, operation: u32, data: *mut c_void) -> Option<i32> {
        // Acquire: what it had set up before it registered.
        let next = self.next.load(Acquire);
        if next.is_null() {
            return None;
        }
        // SAFETY: it was registered as such a function.
        let next: Callback = unsafe { std::mem::transmute(next) };
        // SAFETY: what the runtime passes, or a record of that form.
        Some(unsafe { next(domain, operation, data) })
    }

    /// The runtime calls.
    fn called(&self, domain: u32, operation: u32, data: *mut c_void) -> i32 {
        match domain {
            HIP_OPS if data.addr() < LOWEST => {
                let others = self.next(domain, operation, data);
                let is_ours = operation <= u32::from(MOVE) && is_recording();
                if others == Some(YES) || is_ours { YES } else { others.unwrap_or(NO) }
            }
            HIP_OPS => self.done(operation, data.cast()),
            HIP_API => self.begins(operation, data),
            _ => self.next(domain, operation, data).unwrap_or(NO),
        }
    }

    /// A call begins: gives it the number of the hooked call that it is.
    fn begins(&self, function: u32, data: *mut c_void) -> i32 {
        let others = self.next(HIP_API, function, data);
        let phases_at = self.phases_at.load(Acquire);
        if data.is_null() || phases_at == 0 || !self.is_working(function) || !is_recording() {
            return others.unwrap_or(NO);
        }
        let number = data.cast::<u64>();
        let call = call_that_is_made(function);
        if others == Some(YES) {
            // SAFETY: in every known layout the number stands first, and they have set it.
            let theirs = Correlation::Other(unsafe { number.read() });
            if let (Some(thread), Correlation::Call { .. }) = (this_thread(), call) {
                let link = Report {
                    op: LINK,
                    correlation: call.number(),
                    begin: theirs.number(),
                    ..Report::default()
                };
                thread.report(HOOK.load(Relaxed), &link, now());
            }
            return YES;
        }
        // SAFETY: `data` is the runtime's trace data, whose first word is the correlation id.
        unsafe { number.write(call.number()) };
        // SAFETY: `phases_at` is inside the trace data of this release.
        let callbacks = unsafe { data.byte_add(phases_at) }.cast::<[usize; 2]>();
        // SAFETY: two function pointers are stored there, and NULL is "no callback".
        unsafe { callbacks.write_unaligned([0; 2]) };
        YES
    }

    fn is_working(&self, function: u32) -> bool {
        let word = self.working.get(function as usize / 64);
        word.is_some_and(|word| word.load(Relaxed) >> (function % 64) & 1 != 0)
    }

    /// A command is done: the runtime hands over its record.
    fn done(&self, operation: u32, record: *const Record) -> i32 {
        if WANTED.load(Relaxed) {
            // SAFETY: the runtime's record, which lives until this returns.
            store(operation, unsafe { &*record });
        }
        // They are asked again: ours may be what this command was reported for.
        if self.next(HIP_OPS, operation, std::ptr::null_mut()) == Some(YES) {
            // SAFETY: as above.
            let mut copy = unsafe { record.read() };
            if matches!(
                Correlation::of(copy.correlation_id),
                Correlation::Call { .. } | Correlation::Unhooked { .. }
            ) {
                copy.correlation_id = 0;
            }
            self.next(HIP_OPS, operation, (&raw mut copy).cast());
        }
        YES
    }
}

/// A place whose copy of the runtime is not loaded any more, taken for the one that has `register`.
fn take_unloaded(register: *mut c_void) -> impl FnMut() -> Option<usize> {
    move || {
        let gone =
            RUNTIMES.iter().position(|known| objects::holder(known.register.load(Relaxed)).is_none())?;
        RUNTIMES[gone].next.store(std::ptr::null_mut(), Relaxed);
        RUNTIMES[gone].told.store(0, Relaxed);
        RUNTIMES[gone].register.store(register, Publish);
        Some(gone)
    }
}

/// The function that copy number `COPY` of the runtime calls.
unsafe extern "C" fn reported<const COPY: usize>(domain: u32, operation: u32, data: *mut c_void) -> i32 {
    caught(|| RUNTIMES[COPY].called(domain, operation, data)).unwrap_or(NO)
}

fn is_recording() -> bool {
    WANTED.load(Relaxed) && is_on() && !binding::is_stopped()
}

/// The hooked call that the calling thread is in, or the runtime's function itself.
fn call_that_is_made(function: u32) -> Correlation {
    let State::Recording(thread) = tls::state() else {
        return Correlation::Unhooked { tid: 0, api: function };
    };
    match here(thread).runtime_call_in_flight() {
        Some(id) => Correlation::Call { tid: thread.tid(), id },
        None => Correlation::Unhooked { tid: thread.tid(), api: function },
    }
}

/// For an event in the calling thread's present frame.
fn here(thread: Producer) -> Producer {
    let frame = 0_u8;
    thread.at(Frame::at((&raw const frame).addr() as u64))
}

/// The calling thread, which gets a ring where it has none. Without one, what it would store is counted as lost.
fn this_thread() -> Option<Producer> {
    match tls::state() {
        State::Recording(thread) => Some(here(thread)),
        State::Unknown if !has_ended() => {
            let process = current()?;
            quietly(|| thread::begin(process)).map(here)
        }
        state => {
            let had_ring = matches!(state, State::Unknown | State::Ended);
            if let Some(process) = current().filter(|_| !matches!(state, State::Off)) {
                thread::count_unrecorded(process, had_ring);
            }
            None
        }
    }
}

fn store(operation: u32, record: &Record) {
    let Some(process) = current().filter(|_| is_on() || has_ended()) else { return };
    let Some(thread) = this_thread() else { return };
    // Copies and barriers for which the runtime had no times may begin after their end.
    let begin =
        if operation == u32::from(DISPATCH) { record.begin_ns } else { record.begin_ns.min(record.end_ns) };
    let is_known = record.domain == HIP_OPS && record.op == operation && begin <= record.end_ns;
    if !is_known || operation >= u32::from(LINK) {
        let unread = Report { op: UNREAD, ..Report::default() };
        return thread.report(HOOK.load(Relaxed), &unread, now());
    }
    let op = operation as u8;
    let name = (record.what as *const std::ffi::c_char).is_null();
    let what = match op {
        DISPATCH if name => 0,
        // SAFETY: of a dispatch it is the kernel's name, which lives until this returns.
        DISPATCH => names::number(process, unsafe { CStr::from_ptr(record.what as *const _) }),
        _ => record.what,
    };
    let read = clock::read();
    let report = Report {
        op,
        kind: record.kind,
        correlation: record.correlation_id,
        begin,
        dur: record.end_ns - begin,
        age: read.since(record.end_ns),
        before: 0,
        width: read.width,
        device: record.device_id as u32,
        queue: record.queue_id,
        what,
    };
    thread.report(HOOK.load(Relaxed), &report, read.stamp);
}
