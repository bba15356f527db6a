//! A thread's ring file: created, opened, or read back after a death.
#![allow(unsafe_code)] // the head of the mapping is used as a `Page`, whose fields are all atomics; its first chunk

use crate::clock;
use crate::event::{Gap, INTERRUPTED};
use crate::map::{Mapping, is_unbegun, read_file};
use crate::page::{COUNT, DEPTH, MAGIC, PAGE_BYTES, Page, REASONS, RESERVED, VERSION, WhenFull};
use crate::pool::Pool;
use crate::producer::{Frame, Producer};
use crate::slot::{Event, MAX_SLOTS, MAX_WORDS, SLOT_WORDS};
use crate::sync::{self, fence};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A ring: its mapped file, and the pool of its process.
pub struct Ring {
    memory: Mapping,
    pool: Arc<Pool>,
    /// The file; `None` for private memory.
    path: Option<PathBuf>,
}

impl Ring {
    /// Creates ring `number` of a process, for thread `tid`, in a new file or in private memory. It
    /// takes its chunks from `pool`; if none is free now, it takes its first one later. `when_full`
    /// decides what happens to an event for which there is none then.
    ///
    /// # Errors
    /// If the file or the memory cannot be had.
    pub fn create(
        path: Option<&Path>,
        number: u64,
        tid: u32,
        when_full: WhenFull,
        pool: &Arc<Pool>,
    ) -> io::Result<Ring> {
        let memory = match path {
            Some(path) => Mapping::create(path, PAGE_BYTES)?,
            None => Mapping::anonymous(PAGE_BYTES)?,
        };
        let ring = Ring { memory, pool: pool.clone(), path: path.map(Path::to_path_buf) };
        let page = ring.page();
        // Relaxed: the ring is not shared yet; a reader of the file sees memory as it is.
        page.version.store(VERSION, Relaxed);
        page.tid.store(tid.into(), Relaxed);
        page.number.store(number + 1, Relaxed);
        page.slots.store(pool.slots(), Relaxed);
        page.pool.store(Arc::as_ptr(pool).expose_provenance() as u64, Relaxed);
        page.tsc.store(clock::is_tsc().into(), Relaxed);
        page.when_full.store(when_full as u64, Relaxed);
        // SAFETY: only this thread knows the ring, which keeps its mapping and pool alive.
        unsafe { Producer::new(ring.page_ptr(), Frame::at(0)) }.begin_ring();
        // Release: a file with this word is complete, however its process ends.
        page.magic.store(MAGIC, Release);
        Ok(ring)
    }

    /// Reads a dead process's ring file into private memory; its chunks are in `pool`. `None`: the
    /// process died while it created the file, which is empty.
    ///
    /// # Errors
    /// If it cannot be read or is not a complete ring file.
    pub fn read(path: &Path, pool: &Arc<Pool>) -> io::Result<Option<Ring>> {
        Ring::from_bytes(&read_file(path, PAGE_BYTES)?, path, pool)
    }

    /// The same from the bytes of a file; `path` names it in errors.
    ///
    /// # Errors
    /// If they are not a complete ring file, or there is no memory.
    pub fn from_bytes(bytes: &[u8], path: &Path, pool: &Arc<Pool>) -> io::Result<Option<Ring>> {
        if is_unbegun(bytes) {
            return Ok(None);
        }
        if bytes.len() != PAGE_BYTES {
            return Err(bad(path, "not a whole ring file"));
        }
        let memory = Mapping::anonymous(bytes.len())?;
        // SAFETY: the mapping was just made with `bytes.len()` bytes, and is not shared yet.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.start(), bytes.len()) };
        Ring::of(memory, pool.clone(), Some(path)).check(path).map(Some)
    }

    /// The shared ring of a live process, for its positions, and for [`Ring::snapshot`].
    ///
    /// # Errors
    /// If it cannot be opened or is not a complete ring file (yet).
    pub fn open(path: &Path, pool: &Arc<Pool>) -> io::Result<Ring> {
        let memory = Mapping::open(path, false)?;
        if memory.bytes() != PAGE_BYTES {
            return Err(bad(path, "not a whole ring file"));
        }
        Ring::of(memory, pool.clone(), Some(path)).check(path)
    }

    /// Checks magic number, version and sizes.
    fn check(self, path: &Path) -> io::Result<Ring> {
        let page = self.page();
        let is_ours = page.magic.load(Relaxed) == MAGIC && page.version.load(Relaxed) == VERSION;
        if is_ours { Ok(self) } else { Err(bad(path, "not a ring file of this version of rocshim")) }
    }

    /// A copy of a ring.
    pub(crate) fn of(memory: Mapping, pool: Arc<Pool>, path: Option<&Path>) -> Ring {
        Ring { memory, pool, path: path.map(Path::to_path_buf) }
    }

    pub(crate) fn mapping(&self) -> &Mapping {
        &self.memory
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// The address of the page, which the owning thread keeps.
    pub fn page_ptr(&self) -> NonNull<Page> {
        NonNull::new(self.memory.start().cast()).expect("a mapping is never at address 0")
    }

    pub(crate) fn page(&self) -> &Page {
        debug_assert!(self.memory.bytes() >= PAGE_BYTES);
        // SAFETY: every mapping of a ring is page-aligned and at least `PAGE_BYTES` long; all
        // fields are atomics.
        unsafe { self.page_ptr().as_ref() }
    }

    /// The ring's number, which its chunks hold.
    pub(crate) fn number(&self) -> u64 {
        self.page().number.load(Relaxed)
    }

    /// Slots in the pool of its process.
    pub(crate) fn slots(&self) -> u64 {
        self.page().slots.load(Relaxed)
    }

    /// Copies the words of the event at the head to `to`, unvalidated; false if there is no slot
    /// for it.
    fn copy_next(&self, to: &mut [u64; MAX_WORDS]) -> bool {
        let page = self.page();
        let head = page.head.load(Relaxed);
        let Some(chunk) = self.pool.chunk(page.chunk.load(Relaxed)) else { return false };
        let Some(from) = chunk.slot(chunk.start().unwrap_or(u64::MAX), head) else { return false };
        // The longest event that can begin there.
        let slots = chunk.left(from).min(MAX_SLOTS);
        // SAFETY: `slots` slots are between `from` and the end of the chunk, and `to` has room for
        // `MAX_SLOTS`.
        unsafe { sync::copy(from, to.as_mut_ptr(), slots * SLOT_WORDS) };
        true
    }

    /// The thread id of the owner.
    pub fn tid(&self) -> u32 {
        self.page().tid.load(Relaxed) as u32
    }

    /// The file; `None` for private memory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Makes the owning thread stop reading the TSC, after [`clock::forbid_tsc`]: at once if it is
    /// the caller; another thread at the latest on its slow path.
    pub fn forbid_tsc(&self) {
        let page = self.page();
        page.tsc.store(0, Relaxed);
        // The fast path reads it: see `limit_of`.
        page.limit.store(0, Relaxed);
    }

    /// True once the owning thread has ended; nothing is added afterwards.
    pub fn has_ended(&self) -> bool {
        self.page().ended.load(Acquire) != 0
    }

    /// Calls that had returned, written or lost.
    pub fn produced(&self) -> u64 {
        let page = self.page();
        // Acquire, and in this order: a call that is counted is in flight until it is published.
        let interrupted = &page.losses[INTERRUPTED as usize].lost;
        // A dead process's page may hold any numbers.
        let calls = page.calls.load(Acquire).wrapping_add(interrupted.load(Acquire));
        calls.saturating_sub(page.depth.load(Acquire) & COUNT)
    }

    /// Slots in the pool of its process, and how many hold unread events of this ring.
    pub fn filled(&self) -> (u64, u64) {
        // Acquire: the head is not older than the tail.
        let tail = self.page().tail.load(Acquire);
        (self.slots(), self.page().head.load(Relaxed).saturating_sub(tail).min(self.slots()))
    }

    /// Events lost since the beginning, by reason, with the stamps of those that no gap event has
    /// reported.
    pub(crate) fn losses(&self) -> [Gap; REASONS] {
        let losses = &self.page().losses;
        std::array::from_fn(|reason| {
            let loss = &losses[reason];
            // Acquire: the stamps are stored before the count.
            let lost = loss.lost.load(Acquire);
            let (first, last) = (loss.first.load(Relaxed), loss.last.load(Relaxed));
            Gap { lost, first, last, reason: reason as u64 }
        })
    }

    /// Sets the loss reason used while the ring is full: one of the reasons in [`crate::event`].
    pub fn set_why_full(&self, reason: u64) {
        // Relaxed: no other data depends on it.
        self.page().why_full.store(reason, Relaxed);
    }

    /// The calls that were entered and had not returned, outermost first. For a dead process, or
    /// one between two calls.
    pub fn in_flight(&self) -> Vec<Event> {
        self.calls_in_flight(self.page().depth.load(Relaxed), self.page().calls.load(Relaxed))
    }

    /// The same for these values of the page's `depth` and `calls`.
    pub(crate) fn calls_in_flight(&self, depth_word: u64, calls: u64) -> Vec<Event> {
        let mut events: Vec<Event> = (0..slots_used(depth_word))
            .filter_map(|depth| Event::from_words(&self.in_flight_slot(depth)))
            .collect();
        if depth_word & RESERVED != 0 {
            let mut words = [0; MAX_WORDS];
            let is_there = self.copy_next(&mut words);
            let event = Event::from_words(&words).filter(|_| is_there);
            // Otherwise it was published, and the slot holds an older event.
            events.extend(event.filter(|event| event.id == calls));
        }
        // The process may be killed between return and publication: return stamp and status are not
        // recorded then.
        events.iter_mut().for_each(Event::forget_end);
        events
    }

    /// The calls in flight, among the first `calls`, of an owner that is running, outermost first:
    /// those in flight with the same words in two readings. Not a reserved one.
    pub(crate) fn lasting_calls(&self, calls: u64) -> Vec<Event> {
        // Acquire: what the in-flight slots held then is visible, so a call that was being stored
        // in the first reading is complete in the second.
        let read = || {
            let depth_word = self.page().depth.load(Acquire);
            (0..slots_used(depth_word)).map(|depth| self.in_flight_slot(depth)).collect::<Vec<_>>()
        };
        let first = read();
        // A call that was read while it was being stored is found again in `depth`, or a later one
        // is.
        fence(Acquire);
        let second = read();
        let same = first.iter().zip(&second).take_while(|(first, second)| first == second);
        let mut events: Vec<Event> = same.filter_map(|(words, _)| Event::from_words(words)).collect();
        events.retain(|event| event.id <= calls);
        events.iter_mut().for_each(Event::forget_end);
        events
    }

    /// The words of an in-flight slot.
    pub(crate) fn in_flight_slot(&self, depth: usize) -> [u64; MAX_WORDS] {
        self.page().in_flight[depth].words.each_ref().map(|word| word.load(Relaxed))
    }
}

fn bad(path: &Path, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()))
}

/// How many in-flight slots this value of `depth` uses.
fn slots_used(depth_word: u64) -> usize {
    ((depth_word & COUNT) as usize).saturating_sub((depth_word & RESERVED != 0).into()).min(DEPTH)
}
