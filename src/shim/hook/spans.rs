//! The `spans!` macro: rows of functions of which only the call and its time are recorded, as the
//! parent of what they launch. There are many, so a row is data and a few instructions, and one
//! piece of code wraps the calls of all rows.
//!
//! ```text
//!   program ─► entry (row in a register) ─► rocshim_span ─► entered ─► real function ─► left
//! ```
//!
//! `rocshim_span` preserves every register that may carry an argument, copies as many stack words
//! as the signature needs, and returns both result registers. When an exception (or `longjmp`)
//! skips it, the thread's next call records the call as abandoned.
#![allow(unsafe_code)] // the entry points and the wrapper are assembly

use crate::hook::ReturnValue;
use crate::hook::slow_path::{Request, slow_path};
use crate::platform::tls::{self, ThreadState};
use crate::table::row::Hook;
use rocshim_ring::named::Named;
use rocshim_ring::{CallGuard, Frame, clock};
use std::ffi::c_void;

/// How the System V ABI for x86-64 passes an argument, as far as hooked functions need it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// In one of six general registers, then on the stack.
    Integer,
    /// In one of eight vector registers, then on the stack.
    Float,
}

/// A type that an argument of a row may have. Other types do not compile.
pub(crate) trait Passed {
    /// How it is passed.
    const CLASS: Class;
}

/// Declares how types are passed.
macro_rules! passed {
    ($class:ident: $($type:ty)*) => { $(impl Passed for $type { const CLASS: Class = Class::$class; })* };
}

passed! { Integer: bool i8 u8 i16 u16 i32 u32 i64 u64 isize usize }
passed! { Float: f32 f64 }

impl<T> Passed for *const T {
    const CLASS: Class = Class::Integer;
}

impl<T> Passed for *mut T {
    const CLASS: Class = Class::Integer;
}

/// Returns the number of stack words that arguments of these classes take.
pub(crate) const fn stack_words(classes: &[Class]) -> usize {
    let (mut integers, mut floats, mut words, mut i) = (0, 0, 0, 0);
    while i < classes.len() {
        let (used, room) = match classes[i] {
            Class::Integer => (&mut integers, 6),
            Class::Float => (&mut floats, 8),
        };
        if *used < room {
            *used += 1;
        } else {
            words += 1;
        }
        i += 1;
    }
    words
}

/// Bit position of the number of stack words in the word that an entry passes; the entry point's
/// number is below.
pub(crate) const STACK_WORDS_SHIFT: u32 = 8;

/// A call in progress; lives in the frame of `rocshim_span`.
#[repr(C)]
struct SpanCall {
    /// The real function, or NULL.
    real: *mut c_void,
    /// The result when there is no real function.
    missing: u64,
    span: Option<CallGuard>,
}

/// Size of the frame in bytes: saved registers and the call; a multiple of 16.
const FRAME: usize = REGISTERS + size_of::<SpanCall>().next_multiple_of(16);
/// Six general and eight vector registers, and `rax`, which holds the number of vector arguments of
/// a variadic call.
const REGISTERS: usize = 7 * 8 + 8 + 8 * 16;

/// Stores the event and finds the real function, before the real call.
unsafe extern "C" fn entered(hook: &'static Hook, entry: u32, frame: u64, call: *mut SpanCall) {
    let entry = (entry & ((1 << STACK_WORDS_SHIFT) - 1)) as usize;
    let (entry, real, thread) = match (hook.entry_points[entry].real(), tls::state()) {
        (real, ThreadState::Recording(thread)) if !real.is_null() => (entry, real, Some(thread)),
        (real, ThreadState::Off) if !real.is_null() => (entry, real, None),
        _ => slow_path(hook, entry, Request { ring: true, every_call: false, while_paused: false }),
    };
    let missing = i32::missing(hook.of) as u32 as u64;
    let span = match thread {
        Some(thread) if !real.is_null() && hook.records() => {
            thread.at(Frame::at(frame)).enter(hook.id_of(entry), &Named::default())
        }
        _ => None,
    };
    // SAFETY: `call` points to `size_of::<SpanCall>()` aligned bytes that `rocshim_span` reserved
    // in its frame, and nothing else uses them.
    unsafe { call.write(SpanCall { real, missing, span }) };
}

/// Completes the event, after the real call.
unsafe extern "C" fn left(call: *mut SpanCall, status: i32) {
    let returned = clock::now();
    // SAFETY: `entered` has initialised `call` in this frame, and this is the only read, so the
    // span is not duplicated.
    let call = unsafe { call.read() };
    if let Some(span) = call.span {
        span.leave(returned, status);
    }
}

// Input: r11 is the row; r10d has the entry point and the number of stack words; the rest is as the
// caller left it. The frame, from rbp down: rdi rsi rdx rcx r8 r9 rax, r10, xmm0 to xmm7, the call;
// below it the stack words of the real function.
core::arch::global_asm!(
    ".pushsection .text.rocshim_span,\"ax\",@progbits",
    ".globl rocshim_span",
    ".hidden rocshim_span",
    ".type rocshim_span,@function",
    ".p2align 4",
    "rocshim_span:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "sub rsp, {frame}",
    "mov [rbp - 8], rdi",
    "mov [rbp - 16], rsi",
    "mov [rbp - 24], rdx",
    "mov [rbp - 32], rcx",
    "mov [rbp - 40], r8",
    "mov [rbp - 48], r9",
    "mov [rbp - 56], rax",
    "mov [rbp - 64], r10",
    "movups [rbp - 80], xmm0",
    "movups [rbp - 96], xmm1",
    "movups [rbp - 112], xmm2",
    "movups [rbp - 128], xmm3",
    "movups [rbp - 144], xmm4",
    "movups [rbp - 160], xmm5",
    "movups [rbp - 176], xmm6",
    "movups [rbp - 192], xmm7",
    "mov rdi, r11",
    "mov esi, r10d",
    "lea rdx, [rbp + 8]",
    "mov rcx, rsp",
    "call {entered}",
    "mov r11, [rbp - {frame}]",
    "test r11, r11",
    "jz 3f",
    // Copies the stack words, which are above the return address, and keeps rsp a multiple of 16.
    "mov ecx, [rbp - 64]",
    "shr ecx, {shift}",
    "lea rax, [rcx * 8 + 15]",
    "and rax, -16",
    "sub rsp, rax",
    "2:",
    "sub rcx, 1",
    "jb 4f",
    "mov rax, [rbp + rcx * 8 + 16]",
    "mov [rsp + rcx * 8], rax",
    "jmp 2b",
    "4:",
    "mov rdi, [rbp - 8]",
    "mov rsi, [rbp - 16]",
    "mov rdx, [rbp - 24]",
    "mov rcx, [rbp - 32]",
    "mov r8, [rbp - 40]",
    "mov r9, [rbp - 48]",
    "mov rax, [rbp - 56]",
    "movups xmm0, [rbp - 80]",
    "movups xmm1, [rbp - 96]",
    "movups xmm2, [rbp - 112]",
    "movups xmm3, [rbp - 128]",
    "movups xmm4, [rbp - 144]",
    "movups xmm5, [rbp - 160]",
    "movups xmm6, [rbp - 176]",
    "movups xmm7, [rbp - 192]",
    "call r11",
    "mov [rbp - 8], rax",
    "mov [rbp - 16], rdx",
    "lea rdi, [rbp - {frame}]",
    "mov esi, eax",
    "lea rsp, [rbp - {frame}]",
    "call {left}",
    "mov rax, [rbp - 8]",
    "mov rdx, [rbp - 16]",
    "leave",
    ".cfi_remember_state",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_restore_state",
    "3:",
    "mov rax, [rbp - {frame} + 8]",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size rocshim_span, . - rocshim_span",
    ".popsection",
    frame = const FRAME,
    shift = const STACK_WORDS_SHIFT,
    entered = sym entered,
    left = sym left,
);

/// Declares rows: the C signature as in the vendor's header, which returns a status.
macro_rules! spans {
    ($of:literal, from $first:expr; $(
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> i32;
    )*) => {
        #[allow(non_camel_case_types, clippy::enum_variant_names)]
        enum Row { $($name),* }

        /// The rows of this library.
        pub(crate) static HOOKS: [$crate::table::row::Hook; [$(stringify!($name)),*].len()] = [
            $($crate::table::row::Hook::new($first + Row::$name as u16, stringify!($name), $of, $name::TRAMPOLINES, super::table)),*
        ];

        const TABLE: &str = concat!(
            $($of, "\t", stringify!($name), "\t", stringify!(($($arg: $type),*) -> i32), "\x1e"),*
        );
        rocshim_section!(".rocshim.hooks", TABLE);

        $(
            #[doc = concat!("Hook of `", stringify!($name), "`.\n\n# Safety\nAs the real function.")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C-unwind" fn $name() {
                $crate::hook::entry!($name, $name::trampoline::<0>)
            }

            mod $name {
                use super::*;

                /// Trampolines for the other interception points.
                pub(super) const TRAMPOLINES: [*const std::ffi::c_void; $crate::table::row::ENTRY_POINTS - 1] =
                    [trampoline::<1> as *const _, trampoline::<2> as *const _, trampoline::<3> as *const _, trampoline::<4> as *const _];

                /// Number of stack words that the arguments take.
                pub(super) const STACK_WORDS: usize =
                    $crate::hook::spans::stack_words(&[$(<$type as $crate::hook::spans::Passed>::CLASS),*]);

                #[unsafe(naked)]
                pub(super) unsafe extern "C-unwind" fn trampoline<const ENTRY: usize>() {
                    span_entry!($name, ENTRY)
                }
            }
        )*
    };
}

/// Instructions of entry point `$entry` of a row.
macro_rules! span_entry {
    ($name:ident, $entry:expr) => {
        core::arch::naked_asm!(
            "lea r11, [rip + {rows} + {row}]",
            "mov r10d, {entry}",
            "jmp rocshim_span",
            rows = sym HOOKS,
            row = const Row::$name as usize * size_of::<$crate::table::row::Hook>(),
            entry = const $name::STACK_WORDS << $crate::hook::spans::STACK_WORDS_SHIFT | $entry,
        )
    };
}

#[cfg(test)]
mod tests;
