//! The primitives as modelled by loom. Words that a model [shares](share) before its threads begin
//! are loom's: a load may return any value that the memory model allows, slots' words included. All
//! other words are plain memory of one thread at a time.
//!
//! Raw stores in a payload (`Payload::store_reserved` of launches, arguments) are not modelled:
//! models have payloads of their own.
#![allow(unsafe_code)] // plain reads and writes of memory, whose contract the caller fulfils
#![cfg_attr(not(test), allow(dead_code))] // the setup of a model

use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU64 as Word;
use loom::thread::ThreadId;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

/// Loom runs all threads of a model on one OS thread.
#[derive(Default)]
struct Model {
    words: HashMap<usize, Shared>,
    /// Bytes that are written once and read by other threads: start and length of each piece.
    pieces: BTreeMap<usize, (usize, Rc<UnsafeCell<()>>)>,
    weak: HashSet<(usize, Side)>,
    roles: HashMap<ThreadId, Role>,
}

struct Shared {
    memory: Memory,
    writer: Role,
    is_copied: bool,
}

#[derive(Clone)]
enum Memory {
    /// A load returns any value that the memory model allows.
    Atomic(Rc<Word>),
    /// A concurrent read and write is an error.
    Plain(Rc<UnsafeCell<()>>),
}

/// The writer of a word; the role of a thread. The only writer of a word loads its own last value
/// without asking loom, because loom (0.7.3) loses the fact that another thread has loaded a word
/// if this one loads it before it stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// The thread that owns a ring, or writes what others read.
    Owner,
    /// The thread that reads; the initial role of every thread.
    #[default]
    Reader,
}

/// What is weakened to check that the model notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// The stores to a word release nothing.
    Stores,
    /// The loads of a word acquire nothing.
    Loads,
}

thread_local! {
    static MODEL: RefCell<Model> = RefCell::default();
    static WEAK_FENCE: Cell<Option<Ordering>> = const { Cell::new(None) };
    static WEAK_BITS: Cell<Option<Side>> = const { Cell::new(None) };
}

/// Clears the words of the previous execution. `weak_fence`: fences of this kind do nothing.
/// `weak_bits`: this side of all [`Bits`] is weak.
pub(crate) fn begin(weak_fence: Option<Ordering>, weak_bits: Option<Side>) {
    MODEL.take();
    WEAK_FENCE.set(weak_fence);
    WEAK_BITS.set(weak_bits);
}

/// Sets the role of the calling thread.
pub(crate) fn act(role: Role) {
    let me = loom::thread::current().id();
    MODEL.with_borrow_mut(|model| model.roles.insert(me, role));
}

/// Makes the word at `at` shared, with `writer` as its only writer. Called before the threads
/// begin: its value is known to all.
pub(crate) fn share(at: *const u64, writer: Role) {
    // SAFETY: models share words of mappings and pages, which live as long as the model.
    let memory = Memory::Atomic(Rc::new(Word::new(unsafe { at.read() })));
    let shared = Shared { memory, writer, is_copied: true };
    MODEL.with_borrow_mut(|model| model.words.insert(at as usize, shared));
}

/// Makes the word at `at` plain again, for words that a model does not check.
pub(crate) fn unshare(at: *const u64) {
    MODEL.with_borrow_mut(|model| model.words.remove(&(at as usize)));
}

/// As [`share`], for a word that must not be read while it is written.
pub(crate) fn share_plain(at: *const u64, writer: Role) {
    let shared = Shared { memory: Memory::Plain(Rc::default()), writer, is_copied: true };
    MODEL.with_borrow_mut(|model| model.words.insert(at as usize, shared));
}

/// [`copy`] does not read the word at `at`: the copy holds a number that no ring uses.
pub(crate) fn leave_out(at: *const u64) {
    MODEL.with_borrow_mut(|model| {
        model.words.get_mut(&(at as usize)).expect("a shared word").is_copied = false;
    });
}

/// Weakens one side of the word at `at`.
pub(crate) fn weaken(at: *const u64, side: Side) {
    MODEL.with_borrow_mut(|model| model.weak.insert((at as usize, side)));
}

/// The word at `at`, if the calling thread must ask loom for its `side`, and what remains of
/// `order`.
fn word(at: *const u64, side: Side, order: Ordering) -> Option<(Memory, Ordering)> {
    MODEL.with_borrow(|model| {
        let Shared { memory, writer, .. } = model.words.get(&(at as usize))?;
        let role = model.roles.get(&loom::thread::current().id()).copied().unwrap_or_default();
        if side == Side::Loads && *writer == role {
            return None;
        }
        assert!(side == Side::Loads || *writer == role, "a word has one writer");
        let order = if model.weak.contains(&(at as usize, side)) { Relaxed } else { order };
        Some((memory.clone(), order))
    })
}

/// Loads the word at `at` from loom; `None` if the value is that in memory.
fn load(at: *const u64, order: Ordering) -> Option<u64> {
    match word(at, Side::Loads, order)? {
        (Memory::Atomic(word), order) => Some(word.load(order)),
        (Memory::Plain(cell), _) => {
            cell.with(|_| ());
            None
        }
    }
}

/// Stores the word at `at` in loom.
fn store(at: *const u64, value: u64, order: Ordering) {
    match word(at, Side::Stores, order) {
        Some((Memory::Atomic(word), order)) => word.store(value, order),
        Some((Memory::Plain(cell), _)) => cell.with_mut(|_| ()),
        None => {}
    }
}

/// A word: loom's, if it is shared. It has one writer then, which knows its own last value.
#[repr(transparent)]
pub(crate) struct AtomicU64(std::sync::atomic::AtomicU64);

impl AtomicU64 {
    pub(crate) const fn new(value: u64) -> AtomicU64 {
        AtomicU64(std::sync::atomic::AtomicU64::new(value))
    }

    pub(crate) fn as_ptr(&self) -> *mut u64 {
        self.0.as_ptr()
    }

    pub(crate) fn load(&self, order: Ordering) -> u64 {
        load(self.as_ptr(), order).unwrap_or_else(|| self.0.load(SeqCst))
    }

    pub(crate) fn store(&self, value: u64, order: Ordering) {
        store(self.as_ptr(), value, order);
        self.0.store(value, SeqCst);
    }

    pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.load(SeqCst);
        self.store(before + value, order);
        before
    }

    pub(crate) fn fetch_max(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.load(SeqCst);
        self.store(before.max(value), order);
        before
    }

    pub(crate) fn fetch_min(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.load(SeqCst);
        self.store(before.min(value), order);
        before
    }

    pub(crate) fn compare_exchange(
        &self,
        old: u64,
        new: u64,
        order: Ordering,
        _otherwise: Ordering,
    ) -> Result<u64, u64> {
        let before = self.0.load(SeqCst);
        if before != old {
            return Err(before);
        }
        self.store(new, order);
        Ok(before)
    }
}

/// A word that many threads change.
pub(crate) struct Bits(Word);

impl Bits {
    pub(crate) fn new(value: u64) -> Bits {
        Bits(Word::new(value))
    }

    pub(crate) fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }

    pub(crate) fn fetch_or(&self, bits: u64, order: Ordering) -> u64 {
        self.0.fetch_or(bits, if WEAK_BITS.get() == Some(Side::Stores) { Relaxed } else { order })
    }

    pub(crate) fn compare_exchange(
        &self,
        old: u64,
        new: u64,
        order: Ordering,
        otherwise: Ordering,
    ) -> Result<u64, u64> {
        let order = if WEAK_BITS.get() == Some(Side::Loads) { Relaxed } else { order };
        self.0.compare_exchange(old, new, order, otherwise)
    }
}

pub(crate) fn fence(order: Ordering) {
    if WEAK_FENCE.get() != Some(order) {
        loom::sync::atomic::fence(order);
    }
}

/// Writes a word of a slot.
///
/// # Safety
/// As [`std::ptr::write`].
pub(crate) unsafe fn write(to: *mut u64, value: u64) {
    store(to, value, Relaxed);
    // SAFETY: the caller guarantees that `to` is valid and aligned for a write.
    unsafe { to.write(value) };
}

/// Reads a word of a slot.
///
/// # Safety
/// As [`std::ptr::read`].
pub(crate) unsafe fn read(from: *const u64) -> u64 {
    let seen = load(from, Relaxed);
    // SAFETY: the caller guarantees that `from` is valid and aligned for a read.
    seen.unwrap_or_else(|| unsafe { from.read() })
}

/// Copies words that another thread may be writing.
///
/// # Safety
/// As [`std::ptr::copy_nonoverlapping`].
pub(crate) unsafe fn copy(from: *const u64, to: *mut u64, words: usize) {
    for i in 0..words {
        let from = from.wrapping_add(i);
        let is_copied =
            MODEL.with_borrow(|model| model.words.get(&(from as usize)).is_none_or(|word| word.is_copied));
        // SAFETY: `i` is below `words`, for which the caller guarantees `from`.
        let value = if is_copied { unsafe { read(from) } } else { u64::MAX / 3 };
        // SAFETY: `i` is below `words`, for which the caller guarantees `to`.
        unsafe { write(to.wrapping_add(i), value) };
    }
}

/// `bytes` bytes from `at` on were written: loom finds a thread that reads them before they are
/// published.
pub(crate) fn wrote(at: *const u8, bytes: usize) {
    let cell = Rc::new(UnsafeCell::new(()));
    cell.with_mut(|_| ());
    MODEL.with_borrow_mut(|model| model.pieces.insert(at as usize, (bytes, cell)));
}

/// `bytes` bytes from `at` on are about to be read; each piece must have been published.
pub(crate) fn reads(at: *const u8, bytes: usize) {
    let (from, to) = (at as usize, at as usize + bytes);
    let pieces: Vec<_> = MODEL.with_borrow(|model| {
        let written: usize = model.pieces.range(from..to).map(|(_, (bytes, _))| bytes).sum();
        assert_eq!(written, bytes, "all that is read was written");
        model.pieces.range(from..to).map(|(_, (_, cell))| cell.clone()).collect()
    });
    pieces.iter().for_each(|cell| cell.with(|_| ()));
}

pub(crate) fn sleep(_time: Duration) {
    loom::thread::yield_now();
}

pub(crate) fn relax() {
    loom::thread::yield_now();
}

/// The end of a wait: after two attempts.
pub(crate) struct Deadline(Cell<u32>);

impl Deadline {
    pub(crate) fn after(_time: Duration) -> Deadline {
        Deadline(Cell::new(2))
    }

    pub(crate) fn has_passed(&self) -> bool {
        let attempts = self.0.get();
        self.0.set(attempts.saturating_sub(1));
        attempts == 0
    }
}

#[derive(Default)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        self.0.lock().expect("a model ends with a panic")
    }
}

/// A cell that is set once; a reader that sees it set sees its value.
pub(crate) struct OnceLock<T> {
    is_set: AtomicU64,
    value: std::sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    pub(crate) const fn new() -> OnceLock<T> {
        OnceLock { is_set: AtomicU64::new(0), value: std::sync::OnceLock::new() }
    }

    /// The word that says whether it is set, for [`share`] and [`weaken`].
    pub(crate) fn word(&self) -> *const u64 {
        self.is_set.as_ptr()
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if self.is_set.load(Acquire) == 0 { None } else { self.value.get() }
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let value = self.value.get_or_init(make);
        self.is_set.store(1, Release);
        value
    }
}
