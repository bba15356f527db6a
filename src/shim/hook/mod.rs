//! Interception of calls. The macro `hooks!` declares the entry points of a table of rows; the
//! function `intercept` wraps a call, and is the only place that does.
//!
//! ```text
//!   program ─► exported function or trampoline ─► intercept ─► event stored as the row describes
//!                                                     └──────► real function ─► event published
//! ```
//!
//! Layers, lowest first: `thread`; `tracer`; `entry_points`; `slow_path`; `first_calls`; this file;
//! `spans`.
#![allow(unsafe_code)] // calls the real function through its address

pub(crate) mod entry_points;
pub(crate) mod first_calls;
mod slow_path;
mod thread;
pub(crate) mod tracer;
#[macro_use]
pub(crate) mod spans;

use crate::abi::{
    hip::hipErrorNotSupported, hipblas::HIPBLAS_STATUS_NOT_SUPPORTED, hipfft::HIPFFT_NOT_IMPLEMENTED,
    hiprand::HIPRAND_STATUS_NOT_IMPLEMENTED, hipsparse::HIPSPARSE_STATUS_NOT_SUPPORTED,
    miopen::miopenStatusNotImplemented, rocblas::rocblas_status_not_implemented,
    rocfft::rocfft_status_failure, rocrand::ROCRAND_STATUS_INTERNAL_ERROR,
    rocsparse::rocsparse_status_not_implemented,
};
use crate::hook::entry_points::revalidate;
use crate::hook::slow_path::{Request, slow_path};
use crate::platform::tls::{self, ThreadState};
use crate::table::row::{Hook, id_of, is_runtime};
use rocshim_ring::payload::Payload;
use rocshim_ring::{CallGuard, Producer, clock};
use std::ffi::c_void;

/// The return type of a hooked function.
pub(crate) trait ReturnValue: Copy {
    /// Returned by a hook of library `of` when no loaded library has the real function.
    fn missing(of: &str) -> Self;
    /// Returns the status to record; 0 is success.
    fn status(self) -> i32;
}

impl ReturnValue for () {
    fn missing(_of: &str) {}
    #[inline(always)]
    fn status(self) -> i32 {
        0
    }
}

impl<T> ReturnValue for *mut T {
    fn missing(_of: &str) -> *mut T {
        std::ptr::null_mut()
    }
    #[inline(always)]
    fn status(self) -> i32 {
        0
    }
}

/// Every status type is a C int, and each library has its own value for "not implemented".
impl ReturnValue for i32 {
    fn missing(of: &str) -> i32 {
        match of {
            "librocblas.so" | "librocsolver.so" => rocblas_status_not_implemented,
            "libhipblas.so" | "libhipblaslt.so" => HIPBLAS_STATUS_NOT_SUPPORTED,
            "libMIOpen.so" => miopenStatusNotImplemented,
            "librocfft.so" => rocfft_status_failure,
            "libhipfft.so" => HIPFFT_NOT_IMPLEMENTED,
            "librocrand.so" => ROCRAND_STATUS_INTERNAL_ERROR,
            "libhiprand.so" => HIPRAND_STATUS_NOT_IMPLEMENTED,
            "librocsparse.so" => rocsparse_status_not_implemented,
            "libhipsparse.so" => HIPSPARSE_STATUS_NOT_SUPPORTED,
            _ => hipErrorNotSupported,
        }
    }
    #[inline(always)]
    fn status(self) -> i32 {
        self
    }
}

/// What a row records of a call.
pub(crate) trait Intercept<R>: Sized {
    /// True when the call is state-only: it makes no event (registrations and lookups, which only
    /// emit definitions).
    const STATE_ONLY: bool = false;
    /// True when the call has side state: `finish` must run even when the event is lost.
    const HAS_SIDE_STATE: bool = false;
    /// True when the call has more to do than to record its event.
    const BEYOND_EVENT: bool = Self::STATE_ONLY || Self::HAS_SIDE_STATE || Self::REBINDS;
    /// True when an unrecorded call may have to be tracked while recording is paused.
    const TRACKED_WHILE_PAUSED: bool = Self::BEYOND_EVENT;
    /// True when `enter` itself detects nesting: that the HIP runtime makes the call inside one of
    /// its own.
    const DETECTS_NESTING: bool = false;
    /// True when the call rebinds: a caller of a newly loaded copy of the library needs no other
    /// call before this one, so this one has to notice the copy.
    const REBINDS: bool = Self::STATE_ONLY || Self::HAS_SIDE_STATE;

    /// Runs after a state-only call, with the address of the real function.
    fn called(&self, _real: *mut c_void) {}

    /// Stores the event, before the real call.
    #[inline(always)]
    fn enter(&self, _thread: Producer, _hook: u16) -> Option<CallGuard> {
        None
    }

    /// Completes the event and emits what only the result shows, after the real call.
    fn finish(self, span: Option<CallGuard>, returned: u64, result: R);
}

/// A payload is complete before the call.
impl<R: ReturnValue, P: Payload> Intercept<R> for P {
    const DETECTS_NESTING: bool = P::RESERVED;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        first_calls::enter(thread, hook, self)
    }

    #[inline(always)]
    fn finish(self, span: Option<CallGuard>, returned: u64, result: R) {
        if let Some(span) = span {
            span.leave(returned, result.status());
        }
    }
}

/// Constants of a row, known when it is compiled.
#[derive(Clone, Copy)]
pub(crate) struct RowInfo {
    id: u16,
    is_runtime: bool,
}

impl RowInfo {
    pub(crate) const fn new(id: u16, of: &str) -> RowInfo {
        RowInfo { id, is_runtime: is_runtime(of) }
    }
}

/// Intercepts a call through the exported function, entry point 0. Handles the common case, in
/// which a call only records its event, and leaves the rest to `otherwise`. Here everything is a
/// constant for the compiler, which keeps the state in registers.
///
/// # Safety
/// As [`intercept`]; `otherwise` calls it with the same arguments.
#[inline(always)]
pub(crate) unsafe fn intercept_exported<R: ReturnValue, I: Intercept<R>>(
    hook: &'static Hook,
    info: RowInfo,
    handler: I,
    call: impl FnOnce(*mut c_void) -> R,
    otherwise: impl FnOnce() -> R,
) -> R {
    match (hook.entry_points[0].real(), tls::state()) {
        (real, ThreadState::Recording(thread))
            if !real.is_null() && !I::BEYOND_EVENT && (!I::TRACKED_WHILE_PAUSED || hook.records()) =>
        {
            call_recorded(info, 0, real, thread, handler, call)
        }
        _ => otherwise(),
    }
}

/// Calls the real function of `hook` exactly once, whatever happens to the recording, and returns
/// its result unchanged. The call came through entry point number `entry`.
///
/// # Safety
/// `call` casts the address that it is given to the real function's type, and calls it with the
/// program's own arguments.
#[inline(always)]
pub(crate) unsafe fn intercept<R: ReturnValue, I: Intercept<R>>(
    hook: &'static Hook,
    info: RowInfo,
    entry: usize,
    handler: I,
    call: impl FnOnce(*mut c_void) -> R,
) -> R {
    if I::REBINDS {
        revalidate(hook.table);
    }
    let (entry, real, thread) = match (hook.entry_points[entry].real(), tls::state()) {
        (real, ThreadState::Recording(thread)) if !real.is_null() => (entry, real, Some(thread)),
        (real, ThreadState::Off) if !real.is_null() => (entry, real, None),
        _ => slow_path(
            hook,
            entry,
            Request {
                ring: !I::STATE_ONLY,
                every_call: I::BEYOND_EVENT,
                while_paused: I::TRACKED_WHILE_PAUSED,
            },
        ),
    };
    if real.is_null() {
        return R::missing(hook.of);
    }
    match thread {
        _ if I::STATE_ONLY => call_state_only(hook, entry, real, handler, call),
        Some(thread) if hook.records() => call_recorded(info, entry, real, thread, handler, call),
        _ => call_unrecorded(real, handler, call),
    }
}

/// Calls the real function and records the call on `thread`.
#[inline(always)]
fn call_recorded<R: ReturnValue, I: Intercept<R>>(
    RowInfo { id, is_runtime }: RowInfo,
    entry: usize,
    real: *mut c_void,
    thread: Producer,
    handler: I,
    call: impl FnOnce(*mut c_void) -> R,
) -> R {
    if is_runtime && !I::DETECTS_NESTING && thread.is_inside_runtime() {
        return call(real);
    }
    let span = handler.enter(thread, id_of(id, entry));
    let result = call(real);
    if let Some(returned) =
        span.as_ref().map(CallGuard::now).or_else(|| I::HAS_SIDE_STATE.then(|| thread.now()))
    {
        handler.finish(span, returned, result);
    }
    result
}

/// Calls the real function without recording the call.
#[inline(always)]
fn call_unrecorded<R: ReturnValue, I: Intercept<R>>(
    real: *mut c_void,
    handler: I,
    call: impl FnOnce(*mut c_void) -> R,
) -> R {
    let result = call(real);
    if I::TRACKED_WHILE_PAUSED {
        handler.finish(None, clock::now(), result);
    }
    result
}

/// Calls the real function of a state-only row.
#[inline(always)]
fn call_state_only<R: ReturnValue, I: Intercept<R>>(
    hook: &'static Hook,
    entry: usize,
    real: *mut c_void,
    handler: I,
    call: impl FnOnce(*mut c_void) -> R,
) -> R {
    let Some(_inside) = tls::enter_row(hook.id) else { return call(real) };
    hook.entry_points[entry].count();
    let result = call(real);
    handler.called(real);
    handler.finish(None, clock::now(), result);
    result
}

/// First instructions of an exported function: jump to the bypass target if there is one, else note
/// the caller's frame and jump to `$body`.
macro_rules! entry {
    ($name:ident, $body:path) => {
        core::arch::naked_asm!(
            "mov r11, [rip + {rows} + {bypass}]",
            "test r11, r11",
            "jnz 2f",
            "mov r11, qword ptr [rip + rocshim_frame@GOTTPOFF]",
            "mov qword ptr fs:[r11], rsp",
            "jmp {body}",
            "2:",
            "jmp r11",
            rows = sym HOOKS,
            bypass = const Row::$name as usize * size_of::<$crate::table::row::Hook>() + $crate::table::row::BYPASS_OFFSET,
            body = sym $body,
        )
    };
}
pub(crate) use entry;

/// Declares rows: the C signature as in the vendor's header, and what to record of a call.
///
/// `$first` is the id of the first row. The rows generate the exports, the trampolines for the
/// other interception points, the table, and the text for `rocshim hooks`.
macro_rules! hooks {
    ($of:literal, from $first:expr; $(
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $ret:ty => $handler:expr;
    )*) => {
        #[allow(non_camel_case_types, clippy::enum_variant_names)]
        enum Row { $($name),* }

        /// Id of the first row.
        const FIRST: u16 = $first;

        /// The rows of this library.
        pub(crate) static HOOKS: [$crate::table::row::Hook; [$(stringify!($name)),*].len()] = [
            $($crate::table::row::Hook::new(FIRST + Row::$name as u16, stringify!($name), $of, $name::TRAMPOLINES, super::table)),*
        ];

        const TABLE: &str = concat!(
            $($of, "\t", stringify!($name), "\t", stringify!(($($arg: $type),*) -> $ret), "\x1e"),*
        );
        rocshim_section!(".rocshim.hooks", TABLE);

        $(
            #[doc = concat!("Hook of `", stringify!($name), "`.\n\n# Safety\nAs the real function.")]
            #[allow(clippy::too_many_arguments)]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C-unwind" fn $name($($arg: $type),*) -> $ret {
                $crate::hook::entry!($name, $name::body::<0>)
            }

            #[allow(clippy::too_many_arguments)]
            mod $name {
                use super::*;

                const INFO: $crate::hook::RowInfo = $crate::hook::RowInfo::new(FIRST + Row::$name as u16, $of);

                /// Trampolines for the other interception points.
                pub(super) const TRAMPOLINES: [*const std::ffi::c_void; $crate::table::row::ENTRY_POINTS - 1] =
                    [trampoline::<1> as *const _, trampoline::<2> as *const _, trampoline::<3> as *const _, trampoline::<4> as *const _];

                #[unsafe(naked)]
                unsafe extern "C-unwind" fn trampoline<const ENTRY: usize>($($arg: $type),*) -> $ret {
                    core::arch::naked_asm!(
                        "mov r11, qword ptr [rip + rocshim_frame@GOTTPOFF]",
                        "mov qword ptr fs:[r11], rsp",
                        "jmp {body}",
                        body = sym body::<ENTRY>,
                    )
                }

                /// Body of entry point `ENTRY`, reached by a tail jump.
                pub(super) unsafe extern "C-unwind" fn body<const ENTRY: usize>($($arg: $type),*) -> $ret {
                    // SAFETY: the entry jumped here with the registers and stack of the program's
                    // call, so these are the program's own arguments, valid for the real function.
                    let otherwise = || unsafe { any(ENTRY, $($arg),*) };
                    if ENTRY != 0 {
                        return otherwise();
                    }
                    // SAFETY: `real_fn` gives the real function its declared type, and the
                    // arguments are the program's own, passed on unchanged.
                    let call = |real: *mut std::ffi::c_void| unsafe { real_fn(real)($($arg),*) };
                    // SAFETY: `call` casts the address by `real_fn` and passes the program's own
                    // arguments; `otherwise` calls `any`, whose closure does the same.
                    unsafe { $crate::hook::intercept_exported(&HOOKS[Row::$name as usize], INFO, $handler, call, otherwise) }
                }

                /// Body of the trampolines, and of the exported function outside the common case.
                /// Kept out of line, so that all entry points share it.
                #[inline(never)]
                unsafe fn any(entry: usize, $($arg: $type),*) -> $ret {
                    // SAFETY: `real_fn` gives the real function its declared type, and the
                    // arguments are the program's own, passed on unchanged.
                    let call = |real: *mut std::ffi::c_void| unsafe { real_fn(real)($($arg),*) };
                    // SAFETY: `call` casts the address by `real_fn` to the row's type and passes
                    // the program's own arguments.
                    unsafe { $crate::hook::intercept(&HOOKS[Row::$name as usize], INFO, entry, $handler, call) }
                }

                type Real = unsafe extern "C-unwind" fn($($type),*) -> $ret;

                /// Casts the real function's address to the row's type. The program answers for the
                /// validity of its arguments.
                #[inline(always)]
                fn real_fn(real: *mut std::ffi::c_void) -> Real {
                    // SAFETY: `real` is the address of the library's function of this name, and the
                    // row states its C type.
                    unsafe { std::mem::transmute(real) }
                }
            }
        )*
    };
}
