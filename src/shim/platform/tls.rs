//! What each thread knows of itself: its ring, in one thread-local word that costs two loads, the row
//! that it is in, and where it came from.
//!
//! ```text
//!   UNKNOWN ──► the thread's page ──► ENDED
//!      └──────► OFF, or UNTRACKED
//! ```
//!
//! The word's place is itself read from memory, from a page that the kernel wipes in every child
//! (`MADV_WIPEONFORK`, Linux 4.14). So a child that no fork handler has seen (of a raw `SYS_fork`,
//! `SYS_clone` or `_Fork`) finds UNKNOWN in each of its threads, takes the slow path, and never
//! writes into a ring of its parent. It goes on with the next of [`GENERATIONS`] words, which its
//! parent has never used.
#![allow(unsafe_code)] // thread-local words declared in assembly: the initial-exec model, which stable Rust cannot ask for

use rocshim_ring::page::Page;
use rocshim_ring::{Frame, Producer};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// The thread has not called a hooked function yet.
const UNKNOWN: usize = 0;
/// Nothing is recorded of the thread: recording is off, or it is the collector. Its calls pass straight through.
const OFF: usize = 1;
/// The thread has closed its ring and is going away. What it still calls is counted as lost.
const ENDED: usize = 2;
/// No ring could be made for the thread. Its calls are counted as lost.
const UNTRACKED: usize = 3;

/// Words of each thread, one for each generation of children that no fork handler has seen. The
/// last is that of generations which are not recorded.
const GENERATIONS: usize = 5;
/// Bytes from one generation's word to the next.
const WORD: usize = 8;
/// An offset from the thread pointer at which 0 lies in every thread: a word of glibc's thread
/// control block that has had no use since 2.5 (`unused_vgetcpu_cache`). It is only read.
const NOTHING: usize = 0x38;

/// A page that a child of a fork has without its contents.
#[repr(C, align(4096))]
struct Wiped {
    /// The offset from the thread pointer of the generation's word, less [`NOTHING`]; 0 in a child.
    place: AtomicUsize,
    _rest: [usize; 511],
}

static WIPED: Wiped = Wiped { place: AtomicUsize::new(0), _rest: [0; 511] };
const _: () = assert!(size_of::<Wiped>() == 4096);
/// The generation of this process.
static GENERATION: AtomicUsize = AtomicUsize::new(0);
/// The page is wiped in children.
static IS_ARMED: AtomicBool = AtomicBool::new(false);

// The library is preloaded, so its thread-local storage is part of every thread's static block and the word lies at a
// fixed distance from the thread pointer.
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
    words = const GENERATIONS * WORD,
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

/// The thread's word, and the stack pointer with which the hook was entered: its entry stores it
/// (`hook::entry`), and nothing of ours comes between.
#[inline(always)]
fn words() -> (usize, Frame) {
    let (word, frame): (usize, u64);
    // SAFETY: reads this thread's own words, or the 0 at `NOTHING`; no memory but that and the
    // page's first word is touched.
    unsafe {
        core::arch::asm!(
            "mov {word}, qword ptr [rip + {wiped}]",
            "mov {frame}, qword ptr [rip + rocshim_frame@GOTTPOFF]",
            "mov {word}, qword ptr fs:[{word} + {nothing}]",
            "mov {frame}, qword ptr fs:[{frame}]",
            word = out(reg) word,
            frame = out(reg) frame,
            wiped = sym WIPED,
            nothing = const NOTHING,
            options(nostack, readonly, preserves_flags),
        );
    }
    (word, Frame::at(frame))
}

fn set_word(value: usize) {
    if WIPED.place.load(Relaxed) == 0 {
        // A hook was called before this library was loaded to its end.
        place();
    }
    let at = WIPED.place.load(Relaxed).wrapping_add(NOTHING);
    // SAFETY: the offset of this thread's own word of a generation, which nothing but this module reads.
    unsafe {
        core::arch::asm!(
            "mov qword ptr fs:[{at}], {value}",
            at = in(reg) at,
            value = in(reg) value,
            options(nostack, preserves_flags),
        );
    }
}

/// Says where the words of this generation lie.
fn place() {
    let first: usize;
    // SAFETY: reads the offset of a thread-local symbol of this library.
    unsafe {
        core::arch::asm!(
            "mov {first}, qword ptr [rip + rocshim_thread@GOTTPOFF]",
            first = out(reg) first,
            options(nostack, readonly, preserves_flags, pure),
        );
    }
    let place = first.wrapping_add(GENERATION.load(Relaxed) * WORD).wrapping_sub(NOTHING);
    // Release: what a child has begun anew comes before its threads look again.
    WIPED.place.store(place, Release);
}

/// From now on children are noticed that no fork handler sees; where the kernel has no such pages,
/// or the C library is not glibc, they are not.
pub(crate) fn arm() {
    let nothing: usize;
    // SAFETY: a word of the thread control block, which glibc's has; another C library's thread
    // pointer is followed by as much memory.
    unsafe {
        core::arch::asm!(
            "mov {nothing}, qword ptr fs:[{at}]",
            nothing = out(reg) nothing,
            at = const NOTHING,
            options(nostack, readonly, preserves_flags),
        );
    }
    if nothing == 0 {
        let page = (&raw const WIPED).cast_mut().cast();
        // SAFETY: one whole page of this library's, in which nothing lies but what is placed below.
        let result = unsafe { libc::madvise(page, size_of::<Wiped>(), libc::MADV_WIPEONFORK) };
        IS_ARMED.store(result == 0, Relaxed);
    }
    place();
}

/// True in a child that no fork handler has seen, until [`begin_generation`].
#[inline]
pub(crate) fn is_child() -> bool {
    // Acquire: as in `place`.
    WIPED.place.load(Acquire) == 0 && IS_ARMED.load(Relaxed)
}

/// Every thread of this process, a child that no fork handler has seen, is unknown. False where
/// there were too many generations: it is not to be recorded.
pub(crate) fn begin_generation() -> bool {
    let next = (GENERATION.load(Relaxed) + 1).min(GENERATIONS - 1);
    GENERATION.store(next, Relaxed);
    next < GENERATIONS - 1
}

/// Ends what [`begin_generation`] has begun: the threads are seen by their new words.
pub(crate) fn end_generation() {
    place();
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

/// The calling thread starts anew: in the child of a fork, which has no other.
pub(crate) fn forget() {
    place();
    set_word(UNKNOWN);
}
