//! A ring file: made, read back after a death, and asked for its account.
#![allow(unsafe_code)] // the head of the mapping is used as a `Page`, whose fields are all atomics; its first chunk

use crate::clock;
use crate::event::{Gap, INTERRUPTED};
use crate::map::{Mapping, is_unbegun, read_file};
use crate::page::{COUNT, DEPTH, IN_PLACE, MAGIC, PAGE_BYTES, Page, REASONS, VERSION, WhenFull};
use crate::pool::Pool;
use crate::producer::{Frame, Producer};
use crate::slot::{Event, MAX_SLOTS, MAX_WORDS, SLOT_WORDS};
use crate::sync::{self, fence};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A ring: its file, mapped, and the chunks of its process.
pub struct Ring {
    memory: Mapping,
    pool: Arc<Pool>,
    /// The file; `None` for memory of this process alone.
    path: Option<PathBuf>,
}

impl Ring {
    /// Makes the `number`th ring of a process, for thread `tid`, in a new file or in private memory. Its chunks are those of
    /// `pool`; where there is none left for it, it takes its first one later. `when_full` says what becomes of an event for
    /// which there is none then.
    ///
    /// # Errors
    /// When the file or the memory cannot be had.
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
        // Relaxed: nobody else knows the ring yet; the file's reader sees what memory holds.
        page.version.store(VERSION, Relaxed);
        page.tid.store(tid.into(), Relaxed);
        page.number.store(number + 1, Relaxed);
        page.slots.store(pool.slots(), Relaxed);
        page.pool.store(Arc::as_ptr(pool).expose_provenance() as u64, Relaxed);
        page.tsc.store(clock::is_tsc().into(), Relaxed);
        page.when_full.store(when_full as u64, Relaxed);
        // SAFETY: this thread alone knows the ring, which keeps its pool.
        unsafe { Producer::new(ring.page_ptr(), Frame::at(0)) }.begin_ring();
        // Release: a file with this word is whole, however its process ends.
        page.magic.store(MAGIC, Release);
        Ok(ring)
    }

    /// Reads a ring file that a dead process left into private memory; its chunks are those of `pool`. `None`: it died while
    /// it made the file, in which nothing is yet.
    ///
    /// # Errors
    /// When it cannot be read or is not a whole ring file.
    pub fn read(path: &Path, pool: &Arc<Pool>) -> io::Result<Option<Ring>> {
        Ring::from_bytes(&read_file(path, PAGE_BYTES)?, path, pool)
    }

    /// The same from the bytes of a file that is called `path`.
    ///
    /// # Errors
    /// When they are not a whole ring file, or there is no memory.
    pub fn from_bytes(bytes: &[u8], path: &Path, pool: &Arc<Pool>) -> io::Result<Option<Ring>> {
        if is_unbegun(bytes) {
            return Ok(None);
        }
        if bytes.len() != PAGE_BYTES {
            return Err(bad(path, "not a whole ring file"));
        }
        let memory = Mapping::anonymous(bytes.len())?;
        // SAFETY: the mapping was made with `bytes.len()` bytes just now and nobody else knows it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.start(), bytes.len()) };
        Ring::of(memory, pool.clone(), Some(path)).check(path).map(Some)
    }

    /// The ring of a process that lives, as it is: for a look at its positions, and for [`Ring::freeze`].
    ///
    /// # Errors
    /// When it cannot be opened or is not a whole ring file (yet).
    pub fn open(path: &Path, pool: &Arc<Pool>) -> io::Result<Ring> {
        let memory = Mapping::open(path, false)?;
        if memory.bytes() != PAGE_BYTES {
            return Err(bad(path, "not a whole ring file"));
        }
        Ring::of(memory, pool.clone(), Some(path)).check(path)
    }

    /// What its head says must be of this version.
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

    /// The page, whose address the owning thread keeps.
    pub fn page_ptr(&self) -> NonNull<Page> {
        NonNull::new(self.memory.start().cast()).expect("a mapping is never at address 0")
    }

    pub(crate) fn page(&self) -> &Page {
        debug_assert!(self.memory.bytes() >= PAGE_BYTES);
        // SAFETY: every mapping of a ring is page-aligned and at least `PAGE_BYTES` long; all fields are atomics.
        unsafe { self.page_ptr().as_ref() }
    }

    /// The ring's number, which its chunks bear.
    pub(crate) fn number(&self) -> u64 {
        self.page().number.load(Relaxed)
    }

    /// Slots of ring memory that its process may have.
    pub(crate) fn slots(&self) -> u64 {
        self.page().slots.load(Relaxed)
    }

    /// Copies the words of the event that is to be at the head to `to`. What lies there is the caller's to judge; false
    /// where there is no place for it.
    fn copy_next(&self, to: &mut [u64; MAX_WORDS]) -> bool {
        let page = self.page();
        let head = page.head.load(Relaxed);
        let Some(chunk) = self.pool.chunk(page.chunk.load(Relaxed)) else { return false };
        let Some(from) = chunk.slot(chunk.start().unwrap_or(u64::MAX), head) else { return false };
        // The longest event that can begin there.
        let slots = chunk.left(from).min(MAX_SLOTS);
        // SAFETY: so many slots lie between `from` and the end of the chunk.
        unsafe { sync::copy(from, to.as_mut_ptr(), slots * SLOT_WORDS) };
        true
    }

    /// The owning thread.
    pub fn tid(&self) -> u32 {
        self.page().tid.load(Relaxed) as u32
    }

    /// The file, where there is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The owning thread reads the time-stamp counter no more, after [`clock::forbid_tsc`]: at once, if it is the caller;
    /// another at the latest when it looks how far the ring is read.
    pub fn forbid_tsc(&self) {
        let page = self.page();
        page.tsc.store(0, Relaxed);
        // The short ways read it: see `limit_of`.
        page.limit.store(0, Relaxed);
    }

    /// True once the owning thread has ended; nothing is added after that.
    pub fn has_ended(&self) -> bool {
        self.page().ended.load(Acquire) != 0
    }

    /// Calls that had returned, whether they were written or lost.
    pub fn produced(&self) -> u64 {
        let page = self.page();
        // Acquire, and in this order: a call that is counted is in flight until it is published.
        let interrupted = &page.losses[INTERRUPTED as usize].lost;
        // A dead process's page may hold any numbers.
        let calls = page.calls.load(Acquire).wrapping_add(interrupted.load(Acquire));
        calls.saturating_sub(page.open.load(Acquire) & COUNT)
    }

    /// Slots of ring memory that its process may have, and how many hold what this ring's thread made and was not read yet.
    pub fn filled(&self) -> (u64, u64) {
        // Acquire: the head is not older than the tail.
        let tail = self.page().tail.load(Acquire);
        (self.slots(), self.page().head.load(Relaxed).saturating_sub(tail).min(self.slots()))
    }

    /// Events lost since the beginning, by reason, and the span of those that no gap event tells of yet.
    pub(crate) fn losses(&self) -> [Gap; REASONS] {
        let losses = &self.page().losses;
        std::array::from_fn(|reason| {
            let loss = &losses[reason];
            // Acquire: with the count comes its span.
            let lost = loss.lost.load(Acquire);
            let (first, last) = (loss.first.load(Relaxed), loss.last.load(Relaxed));
            Gap { lost, first, last, reason: reason as u64 }
        })
    }

    /// Says why an event is lost from now on that finds no room: one of the reasons in [`crate::event`].
    pub fn set_why_full(&self, reason: u64) {
        // Relaxed: a number that stands for itself.
        self.page().why_full.store(reason, Relaxed);
    }

    /// The calls that had been entered and had not returned, outermost first. For a dead process, or one at rest.
    pub fn in_flight(&self) -> Vec<Event> {
        self.open_calls(self.page().open.load(Relaxed), self.page().calls.load(Relaxed))
    }

    /// The same by what the page says of `open` and `calls`.
    pub(crate) fn open_calls(&self, open: u64, calls: u64) -> Vec<Event> {
        let mut events: Vec<Event> =
            (0..staged(open)).filter_map(|depth| Event::from_words(&self.stage(depth))).collect();
        if open & IN_PLACE != 0 {
            let mut words = [0; MAX_WORDS];
            let is_there = self.copy_next(&mut words);
            let event = Event::from_words(&words).filter(|_| is_there);
            // Else it was published, and the slot is an older event's.
            events.extend(event.filter(|event| event.id == calls));
        }
        // A kill may fall between a return and its publishing: what the event says of the end was never recorded.
        events.iter_mut().for_each(Event::forget_end);
        events
    }

    /// Those of the first `calls` that are in flight in an owner that does not rest, outermost first: that are in flight, with
    /// the same words, at two looks. Not the innermost, where it is stored in its place.
    pub(crate) fn lasting_calls(&self, calls: u64) -> Vec<Event> {
        // Acquire: what was staged then is there. So a call that was being stored at the first look is whole at the second.
        let look = || {
            let open = self.page().open.load(Acquire);
            (0..staged(open)).map(|depth| self.stage(depth)).collect::<Vec<_>>()
        };
        let first = look();
        // Whoever was read being stored is found in `open` again, or what came after it.
        fence(Acquire);
        let second = look();
        let same = first.iter().zip(&second).take_while(|(first, second)| first == second);
        let mut events: Vec<Event> = same.filter_map(|(words, _)| Event::from_words(words)).collect();
        events.retain(|event| event.id <= calls);
        events.iter_mut().for_each(Event::forget_end);
        events
    }

    /// The words of a stage as they are.
    pub(crate) fn stage(&self, depth: usize) -> [u64; MAX_WORDS] {
        self.page().stages[depth].words.each_ref().map(|word| word.load(Relaxed))
    }
}

fn bad(path: &Path, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()))
}

/// How many calls are staged by what the page says of `open`.
fn staged(open: u64) -> usize {
    ((open & COUNT) as usize).saturating_sub((open & IN_PLACE != 0).into()).min(DEPTH)
}
