//! What each thread knows of itself: its ring, in one thread-local word that costs one load, the row that it is in, and where
//! it came from.
//!
//! ```text
//!   UNKNOWN ──► the thread's page ──► ENDED
//!      └──────► OFF, or UNTRACKED
//! ```
#![allow(unsafe_code)] // thread-local words declared in assembly: the initial-exec model, which stable Rust cannot ask for

use rocshim_ring::page::Page;
use rocshim_ring::{Frame, Producer};
use std::ptr::NonNull;

/// The thread has not called a hooked function yet.
const UNKNOWN: usize = 0;
/// Nothing is recorded of the thread: recording is off, or it is the collector. Its calls pass straight through.
const OFF: usize = 1;
/// The thread has closed its ring and is going away. What it still calls is counted as lost.
const ENDED: usize = 2;
/// No ring could be made for the thread. Its calls are counted as lost.
const UNTRACKED: usize = 3;

// The library is preloaded, so its thread-local storage is part of every thread's static block and the word lies at a
// fixed distance from the thread pointer.
core::arch::global_asm!(
    ".pushsection .tbss.rocshim_thread,\"awT\",@nobits",
    ".globl rocshim_thread",
    ".hidden rocshim_thread",
    ".type rocshim_thread,@object",
    ".p2align 3",
    "rocshim_thread:",
    ".zero 8",
    ".size rocshim_thread, 8",
    // Right behind the first word: the two are read together.
    ".globl rocshim_frame",
    ".hidden rocshim_frame",
    ".type rocshim_frame,@object",
    "rocshim_frame:",
    ".zero 8",
    ".size rocshim_frame, 8",
    ".globl rocshim_inside",
    ".hidden rocshim_inside",
    ".type rocshim_inside,@object",
    "rocshim_inside:",
    ".zero 8",
    ".size rocshim_inside, 8",
    ".globl rocshim_level",
    ".hidden rocshim_level",
    ".type rocshim_level,@object",
    "rocshim_level:",
    ".zero 8",
    ".size rocshim_level, 8",
    ".popsection",
);

/// Reads or writes a word of [`core::arch::global_asm`] above.
macro_rules! word {
    (get $name:literal) => {{
        let value: usize;
        // SAFETY: reads this thread's own word; no memory but that is touched.
        unsafe {
            core::arch::asm!(
                concat!("mov {value}, qword ptr [rip + ", $name, "@GOTTPOFF]"),
                "mov {value}, qword ptr fs:[{value}]",
                value = out(reg) value,
                options(nostack, readonly, preserves_flags),
            );
        }
        value
    }};
    (set $name:literal, $value:expr) => {
        // SAFETY: writes this thread's own word, which nothing but this module reads.
        unsafe {
            core::arch::asm!(
                concat!("mov {at}, qword ptr [rip + ", $name, "@GOTTPOFF]"),
                "mov qword ptr fs:[{at}], {value}",
                at = out(reg) _,
                value = in(reg) $value,
                options(nostack, preserves_flags),
            );
        }
    };
}

/// The first word, and the stack pointer with which the hook was entered: its entry stores it (`hook::entry`), and nothing of
/// ours comes between.
#[inline(always)]
fn words() -> (usize, Frame) {
    let (word, frame): (usize, u64);
    // SAFETY: reads this thread's own words; no memory but that is touched.
    unsafe {
        core::arch::asm!(
            "mov {word}, qword ptr [rip + rocshim_thread@GOTTPOFF]",
            "mov {frame}, qword ptr fs:[{word} + 8]",
            "mov {word}, qword ptr fs:[{word}]",
            word = out(reg) word,
            frame = out(reg) frame,
            options(nostack, readonly, preserves_flags),
        );
    }
    (word, Frame::at(frame))
}

fn set_word(value: usize) {
    word!(set "rocshim_thread", value);
}

/// A call of a hook that makes no event, from its beginning to its end.
pub(crate) struct Inside {
    before: usize,
}

/// The calling thread begins a call of the row with number `row`, which makes no event. `None` while it is in a call of
/// that very row already: it came through two interception points.
pub(crate) fn inside(row: u16) -> Option<Inside> {
    let (before, now) = (word!(get "rocshim_inside"), row as usize + 1);
    if before == now {
        return None;
    }
    word!(set "rocshim_inside", now);
    Some(Inside { before })
}

impl Drop for Inside {
    fn drop(&mut self) {
        word!(set "rocshim_inside", self.before);
    }
}

/// How many phases the calling thread has begun and not ended.
pub(crate) fn level() -> usize {
    word!(get "rocshim_level")
}

/// So many are it now.
pub(crate) fn set_level(level: usize) {
    word!(set "rocshim_level", level);
}

/// What a thread is to the recorder.
pub(crate) enum State {
    /// It has no ring yet.
    Unknown,
    /// It records.
    Recording(Producer),
    /// It is not recorded.
    Off,
    /// Its ring is closed.
    Ended,
    /// It could be given no ring.
    Untracked,
}

/// What the calling thread is.
#[inline(always)]
pub(crate) fn state() -> State {
    let (word, frame) = words();
    match word {
        // First, because it is the usual one: no page lies so low.
        page if page > UNTRACKED => {
            // SAFETY: it is not 0.
            let page = unsafe { NonNull::new_unchecked(page as *mut Page) };
            // SAFETY: the word is only ever set by `begin`, and to something else before the ring may go away; the word
            // is the thread's own, so the thread is the ring's only producer.
            State::Recording(unsafe { Producer::new(page, frame) })
        }
        UNKNOWN => State::Unknown,
        OFF => State::Off,
        ENDED => State::Ended,
        _ => State::Untracked,
    }
}

/// The calling thread records into the ring headed by `page` from now on.
///
/// # Safety
/// `page` heads a ring that no other thread produces into and that stays mapped until this thread calls `end` or
/// `forget`.
pub(crate) unsafe fn begin(page: NonNull<Page>) {
    set_word(page.as_ptr() as usize);
}

/// The calling thread is not recorded.
pub(crate) fn off() {
    set_word(OFF);
}

/// The calling thread has closed its ring.
pub(crate) fn end() {
    set_word(ENDED);
}

/// The calling thread can be given no ring.
pub(crate) fn untracked() {
    set_word(UNTRACKED);
}

/// The calling thread starts anew: in the child of a fork.
pub(crate) fn forget() {
    set_word(UNKNOWN);
}
