//! Thread-local state of the recorder: the thread's ring, in one word that two loads read; the hook
//! that it is in; its phase depth; and the stack frame of the hooked call.
//!
//! ```text
//!   UNKNOWN ──► the thread's page ──► ENDED
//!      └──────► OFF, or UNTRACKED
//! ```
//!
//! The word's offset is itself read from memory, from a page that the kernel wipes in every child
//! (`MADV_WIPEONFORK`, Linux 4.14). So a child for which no fork handler runs (of a raw `SYS_fork`,
//! `SYS_clone` or `_Fork`) finds UNKNOWN in each of its threads, takes the slow path, and never
//! writes into a ring of its parent. It continues with the next of [`GENERATIONS`] words, which its
//! parent has never used. Here, such a child is an *unseen child*.
#![allow(unsafe_code)] // thread-local words in assembly: the initial-exec model, not in stable Rust

use rocshim_ring::page::Page;
use rocshim_ring::{Frame, Producer};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// The thread has not called a hooked function yet.
const UNKNOWN: usize = 0;
/// The thread is not recorded: recording is off, or it is the collector.
const OFF: usize = 1;
/// The thread is ending and has closed its ring. Its further calls are counted as lost.
const ENDED: usize = 2;
/// No ring could be created for the thread. Its calls are counted as lost.
const UNTRACKED: usize = 3;

/// Number of words per thread: one for each generation of unseen children. The last is shared by
/// all generations that are not recorded.
const GENERATIONS: usize = 5;
/// Distance between the words of two generations in bytes.
const WORD: usize = 8;
/// Offset from the thread pointer of a word that is 0 in every thread: one of glibc's thread
/// control block, unused since 2.5 (`unused_vgetcpu_cache`). It is only read.
const ZERO_WORD: usize = 0x38;

/// A page that the kernel fills with zeros in a forked child.
#[repr(C, align(4096))]
struct Wiped {
    /// Offset of the generation's word from the thread pointer, less [`ZERO_WORD`]; 0 in a child.
    offset: AtomicUsize,
    _rest: [usize; 511],
}

static WIPED: Wiped = Wiped { offset: AtomicUsize::new(0), _rest: [0; 511] };
const _: () = assert!(size_of::<Wiped>() == 4096);
/// The generation of this process.
static GENERATION: AtomicUsize = AtomicUsize::new(0);
/// True when the page is wiped in children.
static IS_ARMED: AtomicBool = AtomicBool::new(false);

// The library is preloaded, so its thread-local storage is in every thread's static block, and the
// word is at a fixed offset from the thread pointer.
core::arch::global_asm!(
    ".pushsection .tbss.rocshim_thread,\"awT\",@nobits",
    ".globl rocshim_thread",
    ".hidden rocshim_thread",
    ".type rocshim_thread,@object",
    ".p2align 3",
    "rocshim_thread:",
    ".zero {words}",
    ".size rocshim_thread, {words}",
    ".globl rocshim_frame",
    ".hidden rocshim_frame",
    ".type rocshim_frame,@object",
    "rocshim_frame:",
    ".zero 8",
    ".size rocshim_frame, 8",
    ".globl rocshim_current_row",
    ".hidden rocshim_current_row",
    ".type rocshim_current_row,@object",
    "rocshim_current_row:",
    ".zero 8",
    ".size rocshim_current_row, 8",
    ".globl rocshim_phase_depth",
    ".hidden rocshim_phase_depth",
    ".type rocshim_phase_depth,@object",
    "rocshim_phase_depth:",
    ".zero 8",
    ".size rocshim_phase_depth, 8",
    ".popsection",
    words = const GENERATIONS * WORD,
);

/// Reads or writes one of the words declared above.
macro_rules! word {
    (get $name:literal) => {{
        let value: usize;
        // SAFETY: reads this thread's own word, and no other memory.
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
        // SAFETY: writes this thread's own word, which only this module reads.
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

/// Returns the thread's word, and the stack pointer at the hook's entry, which the entry point has
/// just stored (`hook::entry`).
#[inline(always)]
fn words() -> (usize, Frame) {
    let (word, frame): (usize, u64);
    // SAFETY: reads the wiped page's first word, and this thread's own words or the 0 at
    // `ZERO_WORD`.
    unsafe {
        core::arch::asm!(
            "mov {word}, qword ptr [rip + {wiped}]",
            "mov {frame}, qword ptr [rip + rocshim_frame@GOTTPOFF]",
            "mov {word}, qword ptr fs:[{word} + {zero}]",
            "mov {frame}, qword ptr fs:[{frame}]",
            word = out(reg) word,
            frame = out(reg) frame,
            wiped = sym WIPED,
            zero = const ZERO_WORD,
            options(nostack, readonly, preserves_flags),
        );
    }
    (word, Frame::at(frame))
}

fn set_word(value: usize) {
    if WIPED.offset.load(Relaxed) == 0 {
        // A hook was called before this library's constructor ran.
        set_offset();
    }
    let at = WIPED.offset.load(Relaxed).wrapping_add(ZERO_WORD);
    // SAFETY: writes this thread's own word of the present generation, which only this module
    // reads.
    unsafe {
        core::arch::asm!(
            "mov qword ptr fs:[{at}], {value}",
            at = in(reg) at,
            value = in(reg) value,
            options(nostack, preserves_flags),
        );
    }
}

/// Stores the offset of this generation's words.
fn set_offset() {
    let first: usize;
    // SAFETY: reads the offset of a thread-local symbol of this library.
    unsafe {
        core::arch::asm!(
            "mov {first}, qword ptr [rip + rocshim_thread@GOTTPOFF]",
            first = out(reg) first,
            options(nostack, readonly, preserves_flags, pure),
        );
    }
    let place = first.wrapping_add(GENERATION.load(Relaxed) * WORD).wrapping_sub(ZERO_WORD);
    // Release: a child's threads that see the new offset also see its reset state.
    WIPED.offset.store(place, Release);
}

/// Enables the detection of unseen children, if the kernel can wipe pages and the C library is
/// glibc.
pub(crate) fn arm() {
    let zero: usize;
    // SAFETY: reads a word of glibc's thread control block; with another C library at least that
    // much memory follows the thread pointer.
    unsafe {
        core::arch::asm!(
            "mov {zero}, qword ptr fs:[{at}]",
            zero = out(reg) zero,
            at = const ZERO_WORD,
            options(nostack, readonly, preserves_flags),
        );
    }
    if zero == 0 {
        let page = (&raw const WIPED).cast_mut().cast();
        // SAFETY: the whole page is `WIPED`'s, whose one value is stored below.
        let result = unsafe { libc::madvise(page, size_of::<Wiped>(), libc::MADV_WIPEONFORK) };
        IS_ARMED.store(result == 0, Relaxed);
    }
    set_offset();
}

/// Returns true in an unseen child, until [`end_generation`].
#[inline]
pub(crate) fn is_unseen_child() -> bool {
    // Acquire: pairs with the release in `set_offset`.
    WIPED.offset.load(Acquire) == 0 && IS_ARMED.load(Relaxed)
}

/// Begins the next generation, in an unseen child: none of its threads has a ring. Returns false
/// when there are no words left, and the child must not be recorded.
pub(crate) fn begin_generation() -> bool {
    let next = (GENERATION.load(Relaxed) + 1).min(GENERATIONS - 1);
    GENERATION.store(next, Relaxed);
    next < GENERATIONS - 1
}

/// Completes [`begin_generation`]: switches the threads to the new generation's words.
pub(crate) fn end_generation() {
    set_offset();
}

/// Marks the calling thread as inside a hook that makes no event, until dropped.
pub(crate) struct RowGuard {
    before: usize,
}

/// Marks the calling thread as inside the hook with number `row`, which makes no event. Returns
/// `None` when it is inside that hook already: one call has passed two interception points.
pub(crate) fn enter_row(row: u16) -> Option<RowGuard> {
    let (before, now) = (word!(get "rocshim_current_row"), row as usize + 1);
    if before == now {
        return None;
    }
    word!(set "rocshim_current_row", now);
    Some(RowGuard { before })
}

impl Drop for RowGuard {
    fn drop(&mut self) {
        word!(set "rocshim_current_row", self.before);
    }
}

/// Returns the calling thread's phase depth: phases begun and not ended.
pub(crate) fn phase_depth() -> usize {
    word!(get "rocshim_phase_depth")
}

/// Sets the calling thread's phase depth.
pub(crate) fn set_phase_depth(depth: usize) {
    word!(set "rocshim_phase_depth", depth);
}

/// Recording state of a thread.
pub(crate) enum ThreadState {
    /// The thread has no ring yet.
    Unknown,
    /// The thread records into its ring.
    Recording(Producer),
    /// The thread is not recorded.
    Off,
    /// The thread has closed its ring.
    Ended,
    /// No ring could be created for the thread.
    Untracked,
}

/// Returns the calling thread's state.
#[inline(always)]
pub(crate) fn state() -> ThreadState {
    let (word, frame) = words();
    match word {
        // First, because it is the usual case. No page has so low an address.
        page if page > UNTRACKED => {
            // SAFETY: `page` is greater than `UNTRACKED`, so it is not 0.
            let page = unsafe { NonNull::new_unchecked(page as *mut Page) };
            // SAFETY: only `set_ring` stores a page's address, and the word changes before the ring
            // may be unmapped. The word is this thread's own, so it is the ring's only producer.
            ThreadState::Recording(unsafe { Producer::new(page, frame) })
        }
        UNKNOWN => ThreadState::Unknown,
        OFF => ThreadState::Off,
        ENDED => ThreadState::Ended,
        _ => ThreadState::Untracked,
    }
}

/// Makes the calling thread record into the ring headed by `page`.
///
/// # Safety
/// `page` heads a ring that no other thread produces into and that stays mapped until this
/// thread calls `set_ended` or `reset`.
pub(crate) unsafe fn set_ring(page: NonNull<Page>) {
    set_word(page.as_ptr() as usize);
}

/// Excludes the calling thread from recording.
pub(crate) fn set_off() {
    set_word(OFF);
}

/// Marks the calling thread's ring as closed.
pub(crate) fn set_ended() {
    set_word(ENDED);
}

/// Marks the calling thread as having no ring.
pub(crate) fn set_untracked() {
    set_word(UNTRACKED);
}

/// Resets the calling thread's state, in a forked child's only thread.
pub(crate) fn reset() {
    set_offset();
    set_word(UNKNOWN);
}
