//! A ring file: made, read back after a death, and asked for its account.
#![allow(unsafe_code)] // the head of the mapping is used as a `Page`, whose fields are all atomics

use crate::clock;
use crate::event::{Gap, INTERRUPTED};
use crate::map::{Mapping, is_unbegun, read_file};
use crate::page::{
    COUNT, DEPTH, IN_PLACE, MAGIC, PAGE_BYTES, Page, REASONS, TAIL_BYTES, VERSION, WhenFull, limit_of,
};
use crate::slot::{Event, MAX_WORDS, SLOT_WORDS};
use crate::sync::{self, fence};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Bytes of a slot.
pub const SLOT_BYTES: usize = SLOT_WORDS * 8;

/// Slots that a ring must have; fewer in a model, which looks at every way to fill them.
const LEAST_SLOTS: u64 = if cfg!(loom) { 8 } else { 64 };
/// Slots that a ring may have: 1 GiB of them.
pub(crate) const MOST_SLOTS: u64 = 1 << 24;

/// Bytes of the file of a ring with so many slots.
fn file_bytes(slots: u64) -> usize {
    PAGE_BYTES + slots as usize * SLOT_BYTES + TAIL_BYTES
}

/// A ring file, mapped.
pub struct Ring {
    memory: Mapping,
    /// The file; `None` for memory of this process alone.
    path: Option<PathBuf>,
}

impl Ring {
    /// Makes a ring of `slots` slots (a power of two) for thread `tid`, in a new file or in private memory. `when_full` says
    /// what becomes of an event for which it has no room.
    ///
    /// # Errors
    /// When the file or the memory cannot be had.
    pub fn create(path: Option<&Path>, slots: u64, tid: u32, when_full: WhenFull) -> io::Result<Ring> {
        assert!(
            slots.is_power_of_two() && (LEAST_SLOTS..=MOST_SLOTS).contains(&slots),
            "a ring has a power of two of slots"
        );
        let bytes = file_bytes(slots);
        let memory = match path {
            Some(path) => Mapping::create(path, bytes)?,
            None => Mapping::anonymous(bytes)?,
        };
        let ring = Ring { memory, path: path.map(Path::to_path_buf) };
        let page = ring.page();
        // Relaxed: nobody else knows the ring yet; the file's reader sees what memory holds.
        page.version.store(VERSION, Relaxed);
        page.tid.store(tid.into(), Relaxed);
        page.slots.store(slots, Relaxed);
        page.mask.store(slots - 1, Relaxed);
        page.tsc.store(clock::is_tsc().into(), Relaxed);
        page.when_full.store(when_full as u64, Relaxed);
        // One that is overwritten looks at once, and sets its first mark.
        page.limit.store(if when_full == WhenFull::Overwrite { 0 } else { limit_of(slots) }, Relaxed);
        // Release: a file with this word is whole, however its process ends.
        page.magic.store(MAGIC, Release);
        Ok(ring)
    }

    /// Reads a ring file that a dead process left into private memory. `None`: it died while it made the file, in which
    /// nothing is yet.
    ///
    /// # Errors
    /// When it cannot be read or is not a whole ring file.
    pub fn read(path: &Path) -> io::Result<Option<Ring>> {
        Ring::from_bytes(&read_file(path, file_bytes(MOST_SLOTS))?, path)
    }

    /// The same from the bytes of a file that is called `path`.
    ///
    /// # Errors
    /// When they are not a whole ring file, or there is no memory.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> io::Result<Option<Ring>> {
        if is_unbegun(bytes) {
            return Ok(None);
        }
        let bad =
            |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()));
        if bytes.len() < file_bytes(1) || !bytes.len().is_multiple_of(SLOT_BYTES) {
            return Err(bad("not a whole ring file"));
        }
        let memory = Mapping::anonymous(bytes.len())?;
        // SAFETY: the mapping was made with `bytes.len()` bytes just now and nobody else knows it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.start(), bytes.len()) };
        let ring = Ring { memory, path: Some(path.to_path_buf()) };
        ring.check().map(|()| Some(ring)).map_err(bad)
    }

    /// The ring of a process that lives, as it is: for a look at its positions, and for [`Ring::freeze`].
    ///
    /// # Errors
    /// When it cannot be opened or is not a whole ring file (yet).
    pub fn open(path: &Path) -> io::Result<Ring> {
        let bad =
            |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()));
        let memory = Mapping::open(path, false)?;
        if memory.bytes() < file_bytes(1) || !memory.bytes().is_multiple_of(SLOT_BYTES) {
            return Err(bad("not a whole ring file"));
        }
        let ring = Ring { memory, path: Some(path.to_path_buf()) };
        ring.check().map(|()| ring).map_err(bad)
    }

    /// What its head says must agree with the file.
    fn check(&self) -> Result<(), &'static str> {
        let page = self.page();
        let (magic, version, slots) = (page.magic.load(Relaxed), page.version.load(Relaxed), self.slots());
        if magic != MAGIC || version != VERSION {
            return Err("not a ring file of this version of rocshim");
        }
        let room = (self.memory.bytes() - PAGE_BYTES - TAIL_BYTES) / SLOT_BYTES;
        if slots != room as u64 || !slots.is_power_of_two() {
            return Err("the ring's size and the file's do not agree");
        }
        Ok(())
    }

    /// A copy of a ring.
    pub(crate) fn of(memory: Mapping, path: Option<&Path>) -> Ring {
        Ring { memory, path: path.map(Path::to_path_buf) }
    }

    pub(crate) fn mapping(&self) -> &Mapping {
        &self.memory
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

    pub(crate) fn slots(&self) -> u64 {
        self.page().slots.load(Relaxed)
    }

    /// Where the slot of `position` lies.
    pub(crate) fn slot(&self, position: u64) -> *const u64 {
        let slot = (position & (self.slots() - 1)) as usize;
        self.memory.start().wrapping_add(PAGE_BYTES + slot * SLOT_BYTES).cast()
    }

    /// Copies the words of the event at `position` to `to`. What lies there is the caller's to judge.
    pub(crate) fn copy(&self, position: u64, to: &mut [u64]) {
        let from = self.slot(position);
        // SAFETY: from any slot on, the longest event lies within the mapping, behind whose last slot `TAIL_BYTES` follow.
        unsafe { sync::copy(from, to.as_mut_ptr(), to.len().min(MAX_WORDS)) };
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

    /// Its slots, and how many of them hold what was not read yet.
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
            self.copy(self.page().head.load(Relaxed), &mut words);
            // Else it was published, and the slot is an older event's.
            events.extend(Event::from_words(&words).filter(|event| event.id == calls));
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

/// How many calls are staged by what the page says of `open`.
fn staged(open: u64) -> usize {
    ((open & COUNT) as usize).saturating_sub((open & IN_PLACE != 0).into()).min(DEPTH)
}
