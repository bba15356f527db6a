//! The files of a trace: which of them is written, when the next one begins, and how much room all of them may take.

use crate::collector::sink::Sink;
use crate::platform::descriptors::Table;
use crate::table::config::{Config, DiskFull};
use rocshim_ring::event::{DISK_CAP, DISK_ERROR, DISK_FULL, FILE_LIMIT};
use rocshim_ring::file_limit;
use rocshim_trace::segment_path;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes of lines that are written at once: they stay in the processor's cache from one step to the next.
const BATCH: usize = 1 << 18;
/// Where the oldest part makes room, the room is for so many parts, if their length was not asked for.
const PARTS: u64 = 8;
/// Bytes at the end of the room that are kept for the accounts and the footer, at most.
const RESERVE: u64 = 1 << 16;

/// The part that is written, those before it, and the limits that they have.
pub(crate) struct Parts {
    first: PathBuf,
    /// zstd's level, for compressed files.
    level: i32,
    /// The collector's.
    table: Table,
    number: u32,
    sink: Sink,
    /// Its length when its beginning had been written: the definitions that are told again.
    beginning: u64,
    began: Instant,
    /// When it began, as a stamp, and what of each thread it tells of.
    story: Story,
    /// A part that is as long is followed by the next.
    rotate_bytes: Option<u64>,
    /// One that is as old is, too.
    rotate_after: Option<Duration>,
    /// Bytes of lines that are written at once.
    batch: usize,
    /// Bytes that all parts may take.
    room: Option<u64>,
    when_full: DiskFull,
    /// The room is taken: what is written still ends the trace.
    is_full: bool,
    finished: VecDeque<Finished>,
    /// The first part that was not removed to make room.
    oldest: u32,
    /// Parts that the next lines say are removed, in order.
    doomed: Vec<Finished>,
}

/// What a part tells of: from when to when, and of how many calls of each thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Story {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) calls: BTreeMap<u32, u64>,
}

/// A part that is finished.
struct Finished {
    number: u32,
    bytes: u64,
    story: Story,
}

impl Parts {
    /// Begins with `first`, which exists and is empty; `now` as a stamp. The caller's descriptor
    /// table is `table`.
    pub(crate) fn new(first: &Path, config: &Config, now: u64, table: Table) -> Parts {
        // Where files may get no longer, they stay well below that.
        let limit = file_limit();
        let own_limit = (limit != u64::MAX).then_some(limit / 2);
        let (room, when_full) = (config.disk_bytes, config.disk_full);
        let shares = room.filter(|_| when_full == DiskFull::Oldest);
        let asked = config.rotate_bytes.or(shares.map(|room| room / PARTS)).into_iter();
        // Two parts must fit beside the oldest.
        let rotate_bytes = asked.chain(own_limit).chain(shares.map(|room| room / 4)).min();
        Parts {
            first: first.to_path_buf(),
            number: 1,
            level: config.compress.unwrap_or_default(),
            table,
            sink: Sink::new(first.to_path_buf(), true, config.compress.unwrap_or_default(), table),
            beginning: 0,
            began: Instant::now(),
            story: Story { from: now, ..Story::default() },
            rotate_bytes,
            rotate_after: config.rotate_after,
            batch: rotate_bytes.map_or(BATCH, |bytes| (bytes as usize / 4).clamp(1 << 12, BATCH)),
            room,
            when_full,
            is_full: false,
            finished: VecDeque::new(),
            oldest: 1,
            doomed: Vec::new(),
        }
    }

    /// Which part is written, from 1.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// The first part that was not removed to make room.
    pub(crate) fn oldest(&self) -> u32 {
        self.oldest
    }

    /// The file of the part that is written.
    pub(crate) fn path(&self) -> &Path {
        self.sink.path()
    }

    /// Bytes in that file.
    pub(crate) fn length(&self) -> u64 {
        self.sink.length()
    }

    /// How many bytes of lines are to be written at once.
    pub(crate) fn batch(&self) -> usize {
        self.batch
    }

    /// Appends `lines` to the part.
    ///
    /// # Errors
    /// When not all of them could be written; none are in the file then.
    pub(crate) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        self.sink.write(lines, self.left())?;
        if self.beginning == 0 {
            self.beginning = self.sink.length();
        }
        Ok(())
    }

    /// How long the file may become.
    fn left(&self) -> u64 {
        let Some(room) = self.room.filter(|_| !self.is_full) else { return u64::MAX };
        room.saturating_sub((room / 16).min(RESERVE)).saturating_sub(self.taken())
    }

    /// Bytes of finished parts.
    fn taken(&self) -> u64 {
        self.finished.iter().map(|part| part.bytes).sum()
    }

    /// True when `error` says that all parts take as much room as they may. What is written from now on is to end the trace.
    pub(crate) fn end_if_full(&mut self, error: &io::Error) -> bool {
        if is_cap(error) {
            self.is_full = true;
            // What was to say that they are removed is not written.
            self.oldest -= self.doomed.len() as u32;
            self.doomed.drain(..).rev().for_each(|part| self.finished.push_front(part));
        }
        is_cap(error)
    }

    /// True when the next part is to begin. One in which nothing has happened goes on.
    pub(crate) fn is_due(&self) -> bool {
        self.length() > self.beginning
            && (self.rotate_bytes.is_some_and(|bytes| self.length() >= bytes)
                || self.rotate_after.is_some_and(|after| self.began.elapsed() >= after))
    }

    /// The part that is written tells of `calls` of this thread.
    pub(crate) fn tell_of(&mut self, tid: u32, calls: u64) {
        // Only a part that may be removed is told of again.
        if calls != 0 && self.when_full == DiskFull::Oldest && self.room.is_some() {
            *self.story.calls.entry(tid).or_default() += calls;
        }
    }

    /// What is written from `now` on goes to the next part, whose file is made then.
    pub(crate) fn begin_next(&mut self, now: u64) {
        // What somebody else removed is not ours to make room with, or to tell of.
        let (first, story) = (&self.first, std::mem::take(&mut self.story));
        self.finished.push_back(Finished {
            number: self.number,
            bytes: self.sink.length(),
            story: Story { to: now, ..story },
        });
        self.finished.retain(|part| segment_path(first, part.number).try_exists().unwrap_or(true));
        self.story.from = now;
        self.number += 1;
        self.sink = Sink::new(segment_path(&self.first, self.number), false, self.level, self.table);
        (self.beginning, self.began) = (0, Instant::now());
    }

    /// Gives up the oldest parts that leave no room for the one that begins; gives what they told of. They are removed after
    /// the next lines were written, which tell of it.
    pub(crate) fn give_up_oldest(&mut self) -> Vec<Story> {
        let Some(room) = self.room.filter(|_| self.when_full == DiskFull::Oldest) else { return Vec::new() };
        let part = self.rotate_bytes.unwrap_or(room / PARTS);
        let mut stories = Vec::new();
        while self.taken() + 2 * part > room {
            let Some(oldest) = self.finished.pop_front() else { break };
            self.oldest = oldest.number + 1;
            stories.push(oldest.story.clone());
            self.doomed.push(oldest);
        }
        stories
    }

    /// Removes the parts that were given up.
    pub(crate) fn remove_doomed(&mut self) {
        for part in self.doomed.drain(..) {
            let _ = std::fs::remove_file(segment_path(&self.first, part.number));
        }
    }

    /// True when `error` says that the part's file, which was there, is there no more.
    pub(crate) fn is_gone(&self, error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::NotFound && self.sink.is_made()
    }
}

/// Why events are lost while writing fails with `error`.
pub(crate) fn loss_reason(error: &io::Error) -> u64 {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => DISK_FULL,
        Some(libc::EFBIG) => FILE_LIMIT,
        _ if is_cap(error) => DISK_CAP,
        _ => DISK_ERROR,
    }
}

/// The sink's own word, not the system's.
fn is_cap(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::QuotaExceeded && error.raw_os_error().is_none()
}
