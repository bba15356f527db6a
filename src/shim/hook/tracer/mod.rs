//! GPU times from the HIP runtime, which reports to one registered callback when each command began
//! and ended on the GPU. With GPU times requested, that callback is ours. If another tool registers
//! one, ours forwards every report and query to it.
//!
//! ```text
//!   a call begins      f(3, function, data)  ─► correlation id: the id of the hooked call
//!   a command is made  f(2, kind, NULL)      ─► result: report it
//!   a command is done  f(2, kind, record)    ─► an event of the reporting thread, with that id
//! ```
//!
//! A report takes no lock, allocates nothing, makes no system call and calls no HIP function. Two
//! exceptions: a thread's first report gets it a ring, and a kernel's first report emits its name.
//!
//! Layers, lowest first: `layout`; `clock`; `names`; this file.
#![allow(unsafe_code)] // the runtime's functions and the data that it passes

mod clock;
mod layout;
mod names;

use crate::hook::thread;
use crate::lifecycle::{caught, current, has_ended, is_on};
use crate::platform::objects::{self, Object};
use crate::platform::signals::with_signals_deferred;
use crate::platform::tls::{self, ThreadState};
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

/// Row of the function by which other tools register.
const ROW: &str = "hipRegisterTracerCallback";
/// Limit of the loaded copies of the runtime that are traced at once.
const MAX_COPIES: usize = 4;

/// A loaded copy of the runtime.
struct Runtime {
    /// Its registration function; NULL: the slot is free.
    register: AtomicPtr<c_void>,
    /// Callback that another tool registered; NULL: none.
    next: AtomicPtr<c_void>,
    /// Our callback is registered.
    is_registered: AtomicBool,
    /// The other tool has assigned a number of the shim's form: reports with one are tied to no
    /// call.
    is_imitated: AtomicBool,
    /// Pid of the process that has emitted this copy's definition.
    emitted: AtomicU32,
    /// Offset of the two callbacks in a call's data; 0: layout unknown. Stored with release, after
    /// `working`.
    callbacks_at: AtomicUsize,
    /// Bit set of its functions that submit work to the GPU.
    submitting: [AtomicU64; MAX_APIS as usize / 64],
}

static RUNTIMES: [Runtime; MAX_COPIES] = [const { Runtime::new() }; MAX_COPIES];
/// Our callbacks, one for each copy.
const CALLBACKS: [Callback; MAX_COPIES] = [reported::<0>, reported::<1>, reported::<2>, reported::<3>];

/// GPU times are requested.
static REQUESTED: AtomicBool = AtomicBool::new(false);
/// Process id and loader generation at which we last registered with every loaded copy.
static REGISTERED_FOR: AtomicU64 = AtomicU64::new(0);
/// Id of [`ROW`], the hook of the reports' events.
static HOOK: AtomicU16 = AtomicU16::new(0);

/// Registers with every loaded copy of the runtime, if GPU times are requested. Called before a
/// call of the runtime.
pub(crate) fn arm(process: &Process) {
    process.switch_gpu_time.get_or_init(|| set_requested);
    if process.config.gpu_time && REGISTERED_FOR.load(Relaxed) == 0 {
        REQUESTED.store(true, Relaxed);
    }
    if REQUESTED.load(Relaxed) {
        register_all(process);
    }
}

/// Turns GPU times on or off.
fn set_requested(process: &Process, on: bool) {
    REQUESTED.store(on, Relaxed);
    REGISTERED_FOR.store(1, Relaxed);
    if on {
        return register_all(process);
    }
    for runtime in RUNTIMES.iter().filter(|runtime| runtime.is_registered.swap(false, Relaxed)) {
        let register = runtime.register.load(Relaxed);
        runtime.emitted.store(0, Relaxed);
        runtime.restore();
        if let Some(object) = objects::holder(register) {
            let emitted = GpuTime { path: object.path.into(), ..GpuTime::default() };
            process.define(now(), Definition::GpuTime(emitted));
        }
    }
}

/// Notes that another tool has registered `function` through the runtime's `register`.
pub(crate) fn registered(register: *mut c_void, function: *const c_void) {
    let Some((copy, runtime)) = Runtime::at(register) else { return };
    if function == CALLBACKS[copy] as *const c_void {
        return;
    }
    // Release: publishes what the tool set up before it registered.
    runtime.next.store(function.cast_mut(), Publish);
    if runtime.is_registered.load(Relaxed) {
        runtime.register_ours(copy);
    }
}

fn register_all(process: &Process) {
    let registered_for = objects::generation() << 24 ^ u64::from(process.pid) | 2;
    if REGISTERED_FOR.swap(registered_for, Relaxed) == registered_for {
        return;
    }
    let row = process.table.iter().find(|row| row.name == ROW);
    HOOK.store(row.map_or(0, |row| row.id), Relaxed);
    clock::begin();
    let copies = objects::objects().into_iter().filter(|object| object.is("libamdhip64.so"));
    for object in copies {
        let why = match objects::symbol(&object, ROW).map(|register| (register, Runtime::at(register))) {
            None => format!("it has no {ROW}"),
            _ if has_name_defect(&object) => format!(
                "it reads the names of a graph's kernels after the graph was destroyed, which ends the \
                 program, unless it is started with {GRAPH_NAMES_VARIABLE}=0 (`rocshim run --gpu-time` does that)"
            ),
            Some((_, None)) => {
                format!("{MAX_COPIES} other copies of the runtime are registered with already")
            }
            Some((_, Some((copy, runtime)))) => {
                runtime.begin(process, copy, &object);
                continue;
            }
        };
        let emitted = GpuTime { path: object.path.into(), why: Some(why.into()), ..GpuTime::default() };
        process.define(now(), Definition::GpuTime(emitted));
    }
}

/// Returns true when registering with this copy of the runtime could end the program: see
/// [`GRAPH_NAMES_VARIABLE`].
fn has_name_defect(object: &Object) -> bool {
    let is_off = std::env::var(GRAPH_NAMES_VARIABLE).is_ok_and(|value| value == "0");
    !is_off && objects::symbol(object, DEFECT_MARKER).is_some()
}

impl Runtime {
    const fn new() -> Runtime {
        let [register, next] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 2];
        let [is_registered, is_imitated] = [const { AtomicBool::new(false) }; 2];
        let emitted = AtomicU32::new(0);
        let submitting = [const { AtomicU64::new(0) }; MAX_APIS as usize / 64];
        let callbacks_at = AtomicUsize::new(0);
        Runtime { register, next, is_registered, is_imitated, emitted, callbacks_at, submitting }
    }

    /// Returns the slot of the copy whose registration function is `register`, claiming a free one
    /// if it is new; `None` when no slot is left.
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

    /// Registers with this copy, loaded as `object`, and emits its definition.
    fn begin(&self, process: &Process, copy: usize, object: &Object) {
        if self.emitted.swap(process.pid, Relaxed) == process.pid {
            return self.register_ours(copy);
        }
        let name = objects::symbol(object, "hipApiName");
        let mut why = None;
        let mut emitted = GpuTime { path: object.path.as_str().into(), on: true, ..GpuTime::default() };
        let mut callbacks_at = 0;
        if let Some(name) = name {
            // SAFETY: `name` is the runtime's `hipApiName`, whose C type is `ApiName`.
            let name: ApiName = unsafe { std::mem::transmute(name) };
            // SAFETY: `name` is the runtime's `hipApiName`.
            let list = unsafe { list(name) };
            for (id, _) in &list.submitting {
                self.submitting[*id as usize / 64].fetch_or(1 << (id % 64), Relaxed);
            }
            let release = Release::of(list.list);
            callbacks_at = release.map_or(0, Release::callbacks_at);
            emitted.apis = list.list;
            emitted.release = release.map(|release| release.name.into());
            emitted.functions = list.submitting.into_iter().map(|(id, name)| (id, name.into())).collect();
        }
        if callbacks_at == 0 {
            why = Some("its release is unknown, so its reports cannot be tied to calls".into());
        }
        // Release: a thread that reads the offset also sees `working`.
        self.callbacks_at.store(callbacks_at, Publish);
        (emitted.why, emitted.shared) = (why, !self.next.load(Relaxed).is_null());
        // Emitted before the first report.
        process.define(now(), Definition::GpuTime(emitted));
        self.register_ours(copy);
    }

    /// Registers our callback.
    fn register_ours(&self, copy: usize) {
        self.is_registered.store(true, Relaxed);
        self.register(CALLBACKS[copy] as *const c_void);
    }

    /// Registers the other tool's callback, or none.
    fn restore(&self) {
        self.register(self.next.load(Relaxed));
    }

    fn register(&self, function: *const c_void) {
        // SAFETY: `register` is the runtime's `hipRegisterTracerCallback`, whose C type is
        // `Register`.
        let register: Register = unsafe { std::mem::transmute(self.register.load(Relaxed)) };
        // SAFETY: the function only stores the address: NULL, our callback, or one that a tool
        // passed to it.
        unsafe { register(function) };
    }

    /// Calls the other tool's callback and returns its result; `None` without one.
    fn next(&self, domain: u32, operation: u32, data: *mut c_void) -> Option<i32> {
        // Acquire: pairs with the release store in `registered`.
        let next = self.next.load(Acquire);
        if next.is_null() {
            return None;
        }
        // SAFETY: a tool registered `next` as a tracer callback, which has type `Callback`.
        let next: Callback = unsafe { std::mem::transmute(next) };
        // SAFETY: the arguments are what the runtime passed, or NULL or a record that lives until
        // this returns, which the callback accepts in their place.
        Some(unsafe { next(domain, operation, data) })
    }

    /// Handles a call by the runtime.
    fn called(&self, domain: u32, operation: u32, data: *mut c_void) -> i32 {
        match domain {
            HIP_OPS if data.addr() < LOWEST_RECORD => {
                let others = self.next(domain, operation, data);
                let is_ours = operation <= u32::from(MOVE) && is_recording();
                if others == Some(YES) || is_ours { YES } else { others.unwrap_or(NO) }
            }
            HIP_OPS => self.command_done(operation, data.cast()),
            HIP_API => self.call_begins(operation, data),
            _ => self.next(domain, operation, data).unwrap_or(NO),
        }
    }

    /// Handles the begin of a call: sets its correlation id to the id of the hooked call.
    fn call_begins(&self, function: u32, data: *mut c_void) -> i32 {
        let others = self.next(HIP_API, function, data);
        let callbacks_at = self.callbacks_at.load(Acquire);
        if data.is_null() || callbacks_at == 0 || !self.is_submitting(function) || !is_recording() {
            return others.unwrap_or(NO);
        }
        let correlation_id = data.cast::<u64>();
        let call = current_call(function);
        if others == Some(YES) {
            // SAFETY: `data` is not NULL, and the correlation id is the first word in every known
            // layout. The other tool's callback has set it.
            let theirs = unsafe { correlation_id.read() };
            if Correlation::is_ours(theirs) {
                self.is_imitated.store(true, Relaxed);
                return YES;
            }
            if let (Some(thread), Correlation::Call { .. }) = (this_thread(), call) {
                let link =
                    Report { op: LINK, correlation: call.number(), begin: theirs, ..Report::default() };
                thread.report(HOOK.load(Relaxed), &link, now());
            }
            return YES;
        }
        // SAFETY: `data` is not NULL and points to the runtime's trace data, whose first word is
        // the correlation id, writable by the callback.
        unsafe { correlation_id.write(call.number()) };
        // SAFETY: `phases_at` is within the trace data of this release, whose size its entry
        // states.
        let callbacks = unsafe { data.byte_add(callbacks_at) }.cast::<[usize; 2]>();
        // SAFETY: two function pointers are stored there, which the callback may set; NULL is
        // "none".
        unsafe { callbacks.write_unaligned([0; 2]) };
        YES
    }

    fn is_submitting(&self, function: u32) -> bool {
        let word = self.submitting.get(function as usize / 64);
        word.is_some_and(|word| word.load(Relaxed) >> (function % 64) & 1 != 0)
    }

    /// Handles the end of a command, with the runtime's record.
    fn command_done(&self, operation: u32, record: *const Record) -> i32 {
        let is_imitated = self.is_imitated.load(Relaxed);
        if REQUESTED.load(Relaxed) {
            // SAFETY: in this domain, a pointer that is not a query points to a record, which lives
            // until this returns and is not written meanwhile.
            store_report(operation, unsafe { &*record }, is_imitated);
        }
        // Queried again: the command may have been reported only for us.
        if self.next(HIP_OPS, operation, std::ptr::null_mut()) == Some(YES) {
            // SAFETY: `record` points to the runtime's record, which lives until this returns; it
            // is plain data, so a copy is valid.
            let mut copy = unsafe { record.read() };
            if Correlation::is_ours(copy.correlation_id) && !is_imitated {
                copy.correlation_id = 0;
            }
            self.next(HIP_OPS, operation, (&raw mut copy).cast());
        }
        YES
    }
}

/// Claims the slot of a copy that is unloaded, for the copy whose registration function is
/// `register`.
fn take_unloaded(register: *mut c_void) -> impl FnMut() -> Option<usize> {
    move || {
        let gone =
            RUNTIMES.iter().position(|known| objects::holder(known.register.load(Relaxed)).is_none())?;
        RUNTIMES[gone].next.store(std::ptr::null_mut(), Relaxed);
        RUNTIMES[gone].emitted.store(0, Relaxed);
        RUNTIMES[gone].register.store(register, Publish);
        Some(gone)
    }
}

/// Our callback for copy number `COPY` of the runtime.
unsafe extern "C" fn reported<const COPY: usize>(domain: u32, operation: u32, data: *mut c_void) -> i32 {
    caught(|| RUNTIMES[COPY].called(domain, operation, data)).unwrap_or(NO)
}

fn is_recording() -> bool {
    REQUESTED.load(Relaxed) && is_on() && !binding::is_paused()
}

/// Returns the hooked call in progress on the calling thread, or else the runtime's function.
fn current_call(function: u32) -> Correlation {
    let ThreadState::Recording(thread) = tls::state() else {
        return Correlation::Unhooked { tid: 0, api: function };
    };
    match in_present_frame(thread).runtime_call_in_flight() {
        Some(id) => Correlation::Call { tid: thread.tid(), id },
        None => Correlation::Unhooked { tid: thread.tid(), api: function },
    }
}

/// Returns the producer for an event in the calling thread's present frame.
fn in_present_frame(thread: Producer) -> Producer {
    let frame = 0_u8;
    thread.at(Frame::at((&raw const frame).addr() as u64))
}

/// Returns the calling thread's producer, with a new ring if it has none. `None` without memory for
/// one: the report is counted as lost.
fn this_thread() -> Option<Producer> {
    match tls::state() {
        ThreadState::Recording(thread) => Some(in_present_frame(thread)),
        ThreadState::Unknown if !has_ended() => {
            let process = current()?;
            with_signals_deferred(|| thread::begin(process)).map(in_present_frame)
        }
        state => {
            let had_ring = matches!(state, ThreadState::Unknown | ThreadState::Ended);
            if let Some(process) = current().filter(|_| !matches!(state, ThreadState::Off)) {
                thread::count_unrecorded(process, had_ring);
            }
            None
        }
    }
}

fn store_report(operation: u32, record: &Record, is_imitated: bool) {
    let Some(process) = current().filter(|_| is_on() || has_ended()) else { return };
    let Some(thread) = this_thread() else { return };
    // Copies and barriers without times from the runtime may begin after their end.
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
        // SAFETY: of a dispatch `what` is the kernel's name, not NULL here, a C string that lives
        // until this returns.
        DISPATCH => names::definition_number(process, unsafe { CStr::from_ptr(record.what as *const _) }),
        _ => record.what,
    };
    let read = clock::read();
    let report = Report {
        op,
        kind: record.kind,
        correlation: match record.correlation_id {
            number if is_imitated && Correlation::is_ours(number) => 0,
            number => number,
        },
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
