//! As loom models them. Words that a model [shares](share) before its threads begin are loom's: what a load sees is any value
//! that the memory model allows, slots' words included. All others are plain memory of one thread after the other.
//!
//! Raw stores that a payload makes itself (`Payload::store_in_place` of launches, arguments) are not seen here: models have
//! payloads of their own.
#![allow(unsafe_code)] // plain reads and writes of memory, whose contract the caller fulfils
#![cfg_attr(not(test), allow(dead_code))] // who sets up a model

use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU64 as Word;
use loom::thread::ThreadId;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

/// Loom runs all threads of a model on one of the system's.
#[derive(Default)]
struct Model {
    words: HashMap<usize, Shared>,
    /// Bytes that were written once and are read by others: where each piece begins, its length.
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
    /// A load sees any value that it may.
    Atomic(Rc<Word>),
    /// Who reads it while it may be written, or the other way round, has lost.
    Plain(Rc<UnsafeCell<()>>),
}

/// Who writes a word; what a thread is. Whoever alone writes a word finds there what it has written last, without asking
/// loom: that (0.7.3) forgets that another thread has loaded a word when this one loads it before it stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// The thread that owns a ring, or writes what others read.
    Owner,
    /// The one that reads it; and every thread at first.
    #[default]
    Reader,
}

/// What is weakened to see that it is missed.
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

/// Forgets the words of the execution before. `weak_fence`: fences of this kind do nothing. `weak_bits`: this side of all
/// [`Bits`] is weak.
pub(crate) fn begin(weak_fence: Option<Ordering>, weak_bits: Option<Side>) {
    MODEL.take();
    WEAK_FENCE.set(weak_fence);
    WEAK_BITS.set(weak_bits);
}

/// The calling thread is this from now on.
pub(crate) fn act(role: Role) {
    let me = loom::thread::current().id();
    MODEL.with_borrow_mut(|model| model.roles.insert(me, role));
}

/// Makes the word at `at` one that threads share, and `writer` alone writes. Before they begin: its value is known to all.
pub(crate) fn share(at: *const u64, writer: Role) {
    // SAFETY: the models share words of mappings and of pages, which are as long-lived as the model.
    let memory = Memory::Atomic(Rc::new(Word::new(unsafe { at.read() })));
    let shared = Shared { memory, writer, is_copied: true };
    MODEL.with_borrow_mut(|model| model.words.insert(at as usize, shared));
}

/// The word at `at` is as its writer has left it, whoever loads it: what a model does not ask about.
pub(crate) fn unshare(at: *const u64) {
    MODEL.with_borrow_mut(|model| model.words.remove(&(at as usize)));
}

/// As [`share`], of a word that nobody may read while it is written.
pub(crate) fn share_plain(at: *const u64, writer: Role) {
    let shared = Shared { memory: Memory::Plain(Rc::default()), writer, is_copied: true };
    MODEL.with_borrow_mut(|model| model.words.insert(at as usize, shared));
}

/// What [`copy`] makes of the word at `at` is not to be used: it finds a number there that no ring holds.
pub(crate) fn leave_out(at: *const u64) {
    MODEL.with_borrow_mut(|model| {
        model.words.get_mut(&(at as usize)).expect("a shared word").is_copied = false;
    });
}

/// Weakens one side of the word at `at`.
pub(crate) fn weaken(at: *const u64, side: Side) {
    MODEL.with_borrow_mut(|model| model.weak.insert((at as usize, side)));
}

/// The word at `at`, if the calling thread must ask loom for its `side`, and the order that remains of `order`.
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

/// Asks loom for the word at `at`: its value, if that is not what lies there.
fn load(at: *const u64, order: Ordering) -> Option<u64> {
    match word(at, Side::Loads, order)? {
        (Memory::Atomic(word), order) => Some(word.load(order)),
        (Memory::Plain(cell), _) => {
            cell.with(|_| ());
            None
        }
    }
}

/// Tells loom that the word at `at` is stored.
fn store(at: *const u64, value: u64, order: Ordering) {
    match word(at, Side::Stores, order) {
        Some((Memory::Atomic(word), order)) => word.store(value, order),
        Some((Memory::Plain(cell), _)) => cell.with_mut(|_| ()),
        None => {}
    }
}

/// A word: loom's, if it is shared. It has one writer then, who changes what it has stored last.
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
    // SAFETY: by this function's contract.
    unsafe { to.write(value) };
}

/// Reads a word of a slot.
///
/// # Safety
/// As [`std::ptr::read`].
pub(crate) unsafe fn read(from: *const u64) -> u64 {
    let seen = load(from, Relaxed);
    // SAFETY: by this function's contract.
    seen.unwrap_or_else(|| unsafe { from.read() })
}

/// Copies words, which somebody may be writing.
///
/// # Safety
/// As [`std::ptr::copy_nonoverlapping`].
pub(crate) unsafe fn copy(from: *const u64, to: *mut u64, words: usize) {
    for i in 0..words {
        let from = from.wrapping_add(i);
        let is_copied =
            MODEL.with_borrow(|model| model.words.get(&(from as usize)).is_none_or(|word| word.is_copied));
        // SAFETY: by this function's contract.
        let value = if is_copied { unsafe { read(from) } } else { u64::MAX / 3 };
        // SAFETY: by this function's contract.
        unsafe { write(to.wrapping_add(i), value) };
    }
}

/// `bytes` bytes from `at` on were written: loom finds the thread that reads them without having seen them published.
pub(crate) fn wrote(at: *const u8, bytes: usize) {
    let cell = Rc::new(UnsafeCell::new(()));
    cell.with_mut(|_| ());
    MODEL.with_borrow_mut(|model| model.pieces.insert(at as usize, (bytes, cell)));
}

/// `bytes` bytes from `at` on are about to be read, of which each piece must have been published.
pub(crate) fn reads(at: *const u8, bytes: usize) {
    let (from, to) = (at as usize, at as usize + bytes);
    let pieces: Vec<_> = MODEL.with_borrow(|model| {
        let written: usize = model.pieces.range(from..to).map(|(_, (bytes, _))| bytes).sum();
        assert_eq!(written, bytes, "all that is read was written");
        model.pieces.range(from..to).map(|(_, (_, cell))| cell.clone()).collect()
    });
    pieces.iter().for_each(|cell| cell.with(|_| ()));
}

pub(crate) fn nap(_time: Duration) {
    loom::thread::yield_now();
}

pub(crate) fn relax() {
    loom::thread::yield_now();
}

/// Until when to wait: for two looks.
pub(crate) struct Deadline(Cell<u32>);

impl Deadline {
    pub(crate) fn after(_time: Duration) -> Deadline {
        Deadline(Cell::new(2))
    }

    pub(crate) fn has_passed(&self) -> bool {
        let looks = self.0.get();
        self.0.set(looks.saturating_sub(1));
        looks == 0
    }
}

#[derive(Default)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        self.0.lock().expect("no model goes on after a panic")
    }
}

/// Set once; whoever sees it set sees what it was set to.
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
