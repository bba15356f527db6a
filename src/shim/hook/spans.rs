//! The `spans!` macro: rows of functions of which the trace tells only that they were called, as the parent of what they
//! launch. There are many, so a row is data and a few instructions; one piece of code wraps the calls of all of them.
//!
//! ```text
//!   program ─► the row's entry: its number in a register ─► rocshim_span ─► entered ─► the real function ─► left
//! ```
//!
//! `rocshim_span` passes on every register that may carry an argument and as many words of the stack as the signature
//! needs, and gives back both result registers. An exception that passes through is told, like a jump, by the next call of the thread.
#![allow(unsafe_code)] // the entry and the passage of a call, in assembly

use crate::hook::Answer;
use crate::hook::slow_path::{Wants, prepare};
use crate::platform::tls::{self, State};
use crate::table::row::Hook;
use rocshim_ring::named::Named;
use rocshim_ring::{CallGuard, Frame, clock};
use std::ffi::c_void;

/// How an argument is passed by the System V ABI for x86-64, as far as hooked functions need it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// In a general register, of which there are six.
    Whole,
    /// In a vector register, of which there are eight.
    Float,
}

/// A type that an argument may have. Another one does not compile.
pub(crate) trait Passed {
    /// How it is passed.
    const CLASS: Class;
}

/// Declares how types are passed.
macro_rules! passed {
    ($class:ident: $($type:ty)*) => { $(impl Passed for $type { const CLASS: Class = Class::$class; })* };
}

passed! { Whole: bool i8 u8 i16 u16 i32 u32 i64 u64 isize usize }
passed! { Float: f32 f64 }

impl<T> Passed for *const T {
    const CLASS: Class = Class::Whole;
}

impl<T> Passed for *mut T {
    const CLASS: Class = Class::Whole;
}

/// Words that arguments of these classes take on the stack.
pub(crate) const fn stack_words(classes: &[Class]) -> usize {
    let (mut whole, mut float, mut words, mut i) = (0, 0, 0, 0);
    while i < classes.len() {
        let (used, room) = match classes[i] {
            Class::Whole => (&mut whole, 6),
            Class::Float => (&mut float, 8),
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

/// What a row's entry tells of its way in: the way's number, and above it the words on the stack.
pub(crate) const WORDS_AT: u32 = 8;

/// A call between its beginning and its end; lies in the frame of `rocshim_span`.
#[repr(C)]
struct Passage {
    /// The real function, or NULL.
    real: *mut c_void,
    /// What is returned when there is no real function.
    missing: u64,
    span: Option<CallGuard>,
}

/// Bytes of the frame: registers, the passage; a multiple of 16.
const FRAME: usize = REGISTERS + size_of::<Passage>().next_multiple_of(16);
/// Six general and eight vector registers, and `rax`, which a function with a variable number of arguments reads.
const REGISTERS: usize = 7 * 8 + 8 + 8 * 16;

/// A call begins: stages its event, finds the real function.
unsafe extern "C" fn entered(hook: &'static Hook, way: u32, frame: u64, passage: *mut Passage) {
    let way = (way & ((1 << WORDS_AT) - 1)) as usize;
    let (way, real, thread) = match (hook.ways[way].real(), tls::state()) {
        (real, State::Recording(thread)) if !real.is_null() => (way, real, Some(thread)),
        (real, State::Off) if !real.is_null() => (way, real, None),
        _ => prepare(hook, way, Wants { ring: true, every_call: false, follows: false }),
    };
    let missing = i32::missing(hook.of) as u32 as u64;
    let span = match thread {
        Some(thread) if !real.is_null() && hook.records() => {
            thread.at(Frame::at(frame)).enter(hook.id_of(way), &Named::default())
        }
        _ => None,
    };
    // SAFETY: `rocshim_span` has made room for it.
    unsafe { passage.write(Passage { real, missing, span }) };
}

/// A call has returned.
unsafe extern "C" fn left(passage: *mut Passage, status: i32) {
    let returned = clock::now();
    // SAFETY: `entered` has filled it, and this is the only time that it is read.
    let passage = unsafe { passage.read() };
    if let Some(span) = passage.span {
        span.leave(returned, status);
    }
}

// In: r11 the row, r10d the way and the words on the stack; all else as the caller left it. The frame, from rbp down:
// rdi rsi rdx rcx r8 r9 rax, 8 bytes unused, xmm0 to xmm7, the passage; then the words that the real function finds on its stack.
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
    // The words on the stack: they lie above the return address, and keep rsp a multiple of 16.
    "mov ecx, [rbp - 64]",
    "shr ecx, {words_at}",
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
    words_at = const WORDS_AT,
    entered = sym entered,
    left = sym left,
);

/// Declares rows: the C signature as in the vendor's header, whose result is a status.
macro_rules! spans {
    ($of:literal, from $first:expr; $(
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> i32;
    )*) => {
        #[allow(non_camel_case_types, clippy::enum_variant_names)]
        enum Row { $($name),* }

        /// The rows of this library.
        pub(crate) static HOOKS: [$crate::table::row::Hook; [$(stringify!($name)),*].len()] = [
            $($crate::table::row::Hook::new($first + Row::$name as u16, stringify!($name), $of, $name::OWN, super::table)),*
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
                $crate::hook::entry!($name, $name::from::<0>)
            }

            mod $name {
                use super::*;

                /// The functions for the other interception points.
                pub(super) const OWN: [*const std::ffi::c_void; $crate::table::row::WAYS - 1] =
                    [from::<1> as *const _, from::<2> as *const _, from::<3> as *const _, from::<4> as *const _];

                /// Words that the arguments take on the stack.
                pub(super) const WORDS: usize =
                    $crate::hook::spans::stack_words(&[$(<$type as $crate::hook::spans::Passed>::CLASS),*]);

                #[unsafe(naked)]
                pub(super) unsafe extern "C-unwind" fn from<const WAY: usize>() {
                    span_entry!($name, WAY)
                }
            }
        )*
    };
}

/// The entry of a row by way number `$way`.
macro_rules! span_entry {
    ($name:ident, $way:expr) => {
        core::arch::naked_asm!(
            "lea r11, [rip + {rows} + {row}]",
            "mov r10d, {way}",
            "jmp rocshim_span",
            rows = sym HOOKS,
            row = const Row::$name as usize * size_of::<$crate::table::row::Hook>(),
            way = const $name::WORDS << $crate::hook::spans::WORDS_AT | $way,
        )
    };
}

#[cfg(test)]
mod tests;
