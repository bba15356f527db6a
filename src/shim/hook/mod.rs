//! The `hooks!` macro, which declares, and `observe`, which does: the one place where a call is wrapped.
//!
//! ```text
//!   program ─► exported function, or one that an interception point gave out ─► observe ─► what the row says, staged ─► the real function ─► completed, published
//! ```
//!
//! Layers, lowest first: `entry_points`; `thread`; `tracer`; `slow_path`; this file; `spans`.
#![allow(unsafe_code)] // calls the real function through its address

pub(crate) mod entry_points;
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
use crate::hook::entry_points::freshen;
use crate::hook::slow_path::{Wants, prepare};
use crate::platform::tls::{self, State};
use crate::table::row::{Hook, id_of, is_runtime};
use rocshim_ring::payload::Payload;
use rocshim_ring::{CallGuard, Producer, clock};
use std::ffi::c_void;

/// What a hooked function returns.
pub(crate) trait Answer: Copy {
    /// What a hook of library `of` returns when no library has the real function.
    fn missing(of: &str) -> Self;
    /// The status for the record; 0 is success.
    fn code(self) -> i32;
}

impl Answer for () {
    fn missing(_of: &str) {}
    #[inline(always)]
    fn code(self) -> i32 {
        0
    }
}

impl<T> Answer for *mut T {
    fn missing(_of: &str) -> *mut T {
        std::ptr::null_mut()
    }
    #[inline(always)]
    fn code(self) -> i32 {
        0
    }
}

/// The status types are all C ints; each library has its own word for "not implemented".
impl Answer for i32 {
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
    fn code(self) -> i32 {
        self
    }
}

/// What a row tells of its call.
pub(crate) trait Observed<R>: Sized {
    /// True when the call makes no event of its own (registrations and look-ups: they only define names).
    const SILENT: bool = false;
    /// True when the call tells of more than its event: it must be finished even when the event is lost.
    const TELLS: bool = false;
    /// True when there is more to the call than its event.
    const IS_MORE: bool = Self::SILENT || Self::TELLS || Self::FRESHENS;
    /// True when something may have to be learned from a call that is not recorded, though it usually tells nothing.
    const FOLLOWS: bool = Self::IS_MORE;
    /// True when entering the call notices by itself that the HIP runtime makes it, inside a call of its own.
    const SEES_INSIDE: bool = false;
    /// False when a caller of a new copy of the library needs another call before this one: then only that one has to
    /// notice the copy.
    const FRESHENS: bool = Self::SILENT || Self::TELLS;

    /// After the call of a row that makes no event: which function that was.
    fn called(&self, _real: *mut c_void) {}

    /// Before the call: stores the event.
    #[inline(always)]
    fn enter(&self, _thread: Producer, _hook: u16) -> Option<CallGuard> {
        None
    }

    /// After the call: completes the event, tells what is known only now.
    fn finish(self, span: Option<CallGuard>, returned: u64, answer: R);
}

/// A payload that is complete before the call.
impl<R: Answer, P: Payload> Observed<R> for P {
    const SEES_INSIDE: bool = P::RESERVED;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, self)
    }

    #[inline(always)]
    fn finish(self, span: Option<CallGuard>, returned: u64, answer: R) {
        if let Some(span) = span {
            span.leave(returned, answer.code());
        }
    }
}

/// What is known of a row when it is compiled.
#[derive(Clone, Copy)]
pub(crate) struct Fixed {
    id: u16,
    is_runtime: bool,
}

impl Fixed {
    pub(crate) const fn new(id: u16, of: &str) -> Fixed {
        Fixed { id, is_runtime: is_runtime(of) }
    }
}

/// A call of the exported function, way 0: as [`observe`], which is left to `otherwise` where more is to be done than to
/// record. Of the usual call the compiler knows everything here, and keeps what it needs in registers.
///
/// # Safety
/// As [`observe`]; `otherwise` calls it.
#[inline(always)]
pub(crate) unsafe fn observe_exported<R: Answer, O: Observed<R>>(
    hook: &'static Hook,
    fixed: Fixed,
    observed: O,
    call: impl FnOnce(*mut c_void) -> R,
    otherwise: impl FnOnce() -> R,
) -> R {
    match (hook.ways[0].real(), tls::state()) {
        (real, State::Recording(thread))
            if !real.is_null() && !O::IS_MORE && (!O::FOLLOWS || hook.records()) =>
        {
            record(fixed, 0, real, thread, observed, call)
        }
        _ => otherwise(),
    }
}

/// Calls the real function of `hook` exactly once, whatever happens to the recording, and returns its answer untouched.
/// The program came in by way number `way`.
///
/// # Safety
/// `call` casts the address it is given to the real function's type and calls it with the program's own arguments.
#[inline(always)]
pub(crate) unsafe fn observe<R: Answer, O: Observed<R>>(
    hook: &'static Hook,
    fixed: Fixed,
    way: usize,
    observed: O,
    call: impl FnOnce(*mut c_void) -> R,
) -> R {
    if way == 0 && O::FRESHENS {
        freshen(hook.table);
    }
    let (way, real, thread) = match (hook.ways[way].real(), tls::state()) {
        (real, State::Recording(thread)) if !real.is_null() => (way, real, Some(thread)),
        (real, State::Off) if !real.is_null() => (way, real, None),
        _ => prepare(hook, way, Wants { ring: !O::SILENT, every_call: O::IS_MORE, follows: O::FOLLOWS }),
    };
    if real.is_null() {
        return R::missing(hook.of);
    }
    match thread {
        _ if O::SILENT => silently(hook, way, real, observed, call),
        Some(thread) if hook.records() => record(fixed, way, real, thread, observed, call),
        _ => unrecorded(real, observed, call),
    }
}

/// Records the call on `thread`.
#[inline(always)]
fn record<R: Answer, O: Observed<R>>(
    Fixed { id, is_runtime }: Fixed,
    way: usize,
    real: *mut c_void,
    thread: Producer,
    observed: O,
    call: impl FnOnce(*mut c_void) -> R,
) -> R {
    if is_runtime && !O::SEES_INSIDE && thread.is_inside_runtime() {
        return call(real);
    }
    let span = observed.enter(thread, id_of(id, way));
    let answer = call(real);
    if let Some(returned) = span.as_ref().map(CallGuard::now).or_else(|| O::TELLS.then(|| thread.now())) {
        observed.finish(span, returned, answer);
    }
    answer
}

/// A call that is not recorded.
#[inline(always)]
fn unrecorded<R: Answer, O: Observed<R>>(
    real: *mut c_void,
    observed: O,
    call: impl FnOnce(*mut c_void) -> R,
) -> R {
    let answer = call(real);
    if O::FOLLOWS {
        observed.finish(None, clock::now(), answer);
    }
    answer
}

/// A call that makes no event.
#[inline(always)]
fn silently<R: Answer, O: Observed<R>>(
    hook: &'static Hook,
    way: usize,
    real: *mut c_void,
    observed: O,
    call: impl FnOnce(*mut c_void) -> R,
) -> R {
    let Some(_inside) = tls::inside(hook.id) else { return call(real) };
    hook.ways[way].count();
    let answer = call(real);
    observed.called(real);
    observed.finish(None, clock::now(), answer);
    answer
}

/// The entry of an exported function: at once to the real one, while nothing is recorded; else to `$body`, after noting
/// where the call comes from.
macro_rules! entry {
    ($name:ident, $body:path) => {
        core::arch::naked_asm!(
            "mov r11, [rip + {rows} + {past}]",
            "test r11, r11",
            "jnz 2f",
            "mov r11, qword ptr [rip + rocshim_frame@GOTTPOFF]",
            "mov qword ptr fs:[r11], rsp",
            "jmp {body}",
            "2:",
            "jmp r11",
            rows = sym HOOKS,
            past = const Row::$name as usize * size_of::<$crate::table::row::Hook>() + $crate::table::row::PAST_AT,
            body = sym $body,
        )
    };
}
pub(crate) use entry;

/// Declares rows: the C signature as in the vendor's header, and what to remember of a call.
///
/// `$first` is the id of the first row. From the rows come the exports, the functions for the other interception points, the table, and
/// the text for `rocshim hooks`.
macro_rules! hooks {
    ($of:literal, from $first:expr; $(
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $ret:ty => $observed:expr;
    )*) => {
        #[allow(non_camel_case_types, clippy::enum_variant_names)]
        enum Row { $($name),* }

        /// The id of the first row.
        const FIRST: u16 = $first;

        /// The rows of this library.
        pub(crate) static HOOKS: [$crate::table::row::Hook; [$(stringify!($name)),*].len()] = [
            $($crate::table::row::Hook::new(FIRST + Row::$name as u16, stringify!($name), $of, $name::OWN, super::table)),*
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
                $crate::hook::entry!($name, $name::from::<0>)
            }

            #[allow(clippy::too_many_arguments)]
            mod $name {
                use super::*;

                const FIXED: $crate::hook::Fixed = $crate::hook::Fixed::new(FIRST + Row::$name as u16, $of);

                /// The functions for the other interception points.
                pub(super) const OWN: [*const std::ffi::c_void; $crate::table::row::WAYS - 1] =
                    [own::<1> as *const _, own::<2> as *const _, own::<3> as *const _, own::<4> as *const _];

                #[unsafe(naked)]
                unsafe extern "C-unwind" fn own<const WAY: usize>($($arg: $type),*) -> $ret {
                    core::arch::naked_asm!(
                        "mov r11, qword ptr [rip + rocshim_frame@GOTTPOFF]",
                        "mov qword ptr fs:[r11], rsp",
                        "jmp {body}",
                        body = sym from::<WAY>,
                    )
                }

                /// By way number `WAY`, of which the entry has jumped here.
                pub(super) unsafe extern "C-unwind" fn from<const WAY: usize>($($arg: $type),*) -> $ret {
                    // SAFETY: the program's own arguments.
                    let otherwise = || unsafe { any(WAY, $($arg),*) };
                    if WAY != 0 {
                        return otherwise();
                    }
                    // SAFETY: the program's own arguments.
                    let call = |real: *mut std::ffi::c_void| unsafe { real_one(real)($($arg),*) };
                    // SAFETY: `call` does as asked, and so does `any`.
                    unsafe { $crate::hook::observe_exported(&HOOKS[Row::$name as usize], FIXED, $observed, call, otherwise) }
                }

                /// By any way; one body for all but what is usual.
                #[inline(never)]
                unsafe fn any(way: usize, $($arg: $type),*) -> $ret {
                    // SAFETY: the program's own arguments.
                    let call = |real: *mut std::ffi::c_void| unsafe { real_one(real)($($arg),*) };
                    // SAFETY: `call` does as asked.
                    unsafe { $crate::hook::observe(&HOOKS[Row::$name as usize], FIXED, way, $observed, call) }
                }

                type Real = unsafe extern "C-unwind" fn($($type),*) -> $ret;

                /// What the program's arguments must fulfil, the program answers for.
                #[inline(always)]
                fn real_one(real: *mut std::ffi::c_void) -> Real {
                    // SAFETY: `real` is the library's function of this name, whose type the row states.
                    unsafe { std::mem::transmute(real) }
                }
            }
        )*
    };
}
