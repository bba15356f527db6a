//! Segments of a trace: the file being written, rotation to the next, and the disk budget of all.

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

/// Size of a write in bytes: small enough to stay in the processor's cache between encoding and
/// writing.
const BATCH: usize = 1 << 18;
/// Number of segments that the disk budget holds when old ones are deleted and no length is set.
const SHARES: u64 = 8;
/// Maximum part of the budget, in bytes, reserved for thread totals and the footer.
const RESERVE: u64 = 1 << 16;

/// The present segment, the finished ones, and their limits.
pub(crate) struct Segments {
    first: PathBuf,
    /// Compression level of zstd, for compressed files.
    level: i32,
    /// The collector's descriptor table.
    table: Table,
    /// Number of the present segment, from 1.
    number: u32,
    sink: Sink,
    /// Length in bytes of the repeated definitions at its beginning.
    beginning: u64,
    began: Instant,
    /// Statistics of the present segment.
    stats: SegmentStats,
    /// Length in bytes at which a segment is rotated.
    rotate_bytes: Option<u64>,
    /// Age at which a segment is rotated.
    rotate_after: Option<Duration>,
    /// Size of a write in bytes.
    batch: usize,
    /// Disk budget in bytes over all segments; `None`: unlimited.
    budget: Option<u64>,
    when_full: DiskFull,
    /// True once the budget is used up: writes that end the trace may exceed it.
    is_full: bool,
    finished: VecDeque<Finished>,
    /// Number of the oldest segment that is kept.
    oldest: u32,
    /// Segments that the next lines say are removed, in order.
    evicted: Vec<Finished>,
}

/// Statistics of a segment: its first and last stamp, and the calls of each thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentStats {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) calls: BTreeMap<u32, u64>,
}

/// A finished segment.
struct Finished {
    number: u32,
    bytes: u64,
    stats: SegmentStats,
}

impl Segments {
    /// Starts with the file `first`, which exists and is empty, at the stamp `now`. `table` is the
    /// caller's descriptor table.
    pub(crate) fn new(first: &Path, config: &Config, now: u64, table: Table) -> Segments {
        // Stays well below the process's file size limit.
        let limit = file_limit();
        let own_limit = (limit != u64::MAX).then_some(limit / 2);
        let (budget, when_full) = (config.disk_bytes, config.disk_full);
        let shares = budget.filter(|_| when_full == DiskFull::Oldest);
        let asked = config.rotate_bytes.or(shares.map(|budget| budget / SHARES)).into_iter();
        // Two segments must fit beside the oldest.
        let rotate_bytes = asked.chain(own_limit).chain(shares.map(|budget| budget / 4)).min();
        Segments {
            first: first.to_path_buf(),
            number: 1,
            level: config.compress.unwrap_or_default(),
            table,
            sink: Sink::new(first.to_path_buf(), true, config.compress.unwrap_or_default(), table),
            beginning: 0,
            began: Instant::now(),
            stats: SegmentStats { from: now, ..SegmentStats::default() },
            rotate_bytes,
            rotate_after: config.rotate_after,
            batch: rotate_bytes.map_or(BATCH, |bytes| (bytes as usize / 4).clamp(1 << 12, BATCH)),
            budget,
            when_full,
            is_full: false,
            finished: VecDeque::new(),
            oldest: 1,
            evicted: Vec::new(),
        }
    }

    /// Returns the number of the present segment, from 1.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the number of the oldest segment that is kept.
    pub(crate) fn oldest(&self) -> u32 {
        self.oldest
    }

    /// Returns the path of the present segment.
    pub(crate) fn path(&self) -> &Path {
        self.sink.path()
    }

    /// Returns the present segment's length in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.sink.length()
    }

    /// Returns the size of a write in bytes.
    pub(crate) fn batch(&self) -> usize {
        self.batch
    }

    /// Appends `lines` to the present segment.
    ///
    /// # Errors
    /// When not all of them could be written; the file then contains none.
    pub(crate) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        self.sink.write(lines, self.left())?;
        if self.beginning == 0 {
            self.beginning = self.sink.length();
        }
        Ok(())
    }

    /// Returns the length in bytes that the file may reach.
    fn left(&self) -> u64 {
        let Some(budget) = self.budget.filter(|_| !self.is_full) else { return u64::MAX };
        budget.saturating_sub((budget / 16).min(RESERVE)).saturating_sub(self.taken())
    }

    /// Returns the bytes in finished segments.
    fn taken(&self) -> u64 {
        self.finished.iter().map(|segment| segment.bytes).sum()
    }

    /// Returns true when `error` reports that the budget is used up. Later writes may only end the
    /// trace.
    pub(crate) fn end_if_full(&mut self, error: &io::Error) -> bool {
        if is_cap(error) {
            self.is_full = true;
            // The lines that report their deletion are not written.
            self.oldest -= self.evicted.len() as u32;
            self.evicted.drain(..).rev().for_each(|segment| self.finished.push_front(segment));
        }
        is_cap(error)
    }

    /// Returns true when the segment must be rotated. One without events continues.
    pub(crate) fn is_due(&self) -> bool {
        self.length() > self.beginning
            && (self.rotate_bytes.is_some_and(|bytes| self.length() >= bytes)
                || self.rotate_after.is_some_and(|after| self.began.elapsed() >= after))
    }

    /// Adds `calls` of a thread to the present segment's statistics.
    pub(crate) fn add_calls(&mut self, tid: u32, calls: u64) {
        // Only needed for segments that may be deleted.
        if calls != 0 && self.when_full == DiskFull::Oldest && self.budget.is_some() {
            *self.stats.calls.entry(tid).or_default() += calls;
        }
    }

    /// Switches to the next segment at the stamp `now`. Its file is created by the first write.
    pub(crate) fn begin_next(&mut self, now: u64) {
        // Files deleted by others free no budget and are not counted.
        let (first, stats) = (&self.first, std::mem::take(&mut self.stats));
        self.finished.push_back(Finished {
            number: self.number,
            bytes: self.sink.length(),
            stats: SegmentStats { to: now, ..stats },
        });
        self.finished.retain(|segment| segment_path(first, segment.number).try_exists().unwrap_or(true));
        self.stats.from = now;
        self.number += 1;
        self.sink = Sink::new(segment_path(&self.first, self.number), false, self.level, self.table);
        (self.beginning, self.began) = (0, Instant::now());
    }

    /// Selects the oldest segments for deletion until the present one fits into the budget, and
    /// returns their statistics. They are deleted after the lines that report it are written.
    pub(crate) fn evict_oldest(&mut self) -> Vec<SegmentStats> {
        let Some(budget) = self.budget.filter(|_| self.when_full == DiskFull::Oldest) else {
            return Vec::new();
        };
        let length = self.rotate_bytes.unwrap_or(budget / SHARES);
        let mut evicted = Vec::new();
        while self.taken() + 2 * length > budget {
            let Some(oldest) = self.finished.pop_front() else { break };
            self.oldest = oldest.number + 1;
            evicted.push(oldest.stats.clone());
            self.evicted.push(oldest);
        }
        evicted
    }

    /// Deletes the segments selected by [`Segments::evict_oldest`].
    pub(crate) fn remove_doomed(&mut self) {
        for segment in self.evicted.drain(..) {
            let _ = std::fs::remove_file(segment_path(&self.first, segment.number));
        }
    }

    /// Returns true when `error` reports that the segment's file was deleted.
    pub(crate) fn is_deleted(&self, error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::NotFound && self.sink.is_created()
    }
}

/// Returns the loss reason while writes fail with `error`.
pub(crate) fn loss_reason(error: &io::Error) -> u64 {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => DISK_FULL,
        Some(libc::EFBIG) => FILE_LIMIT,
        _ if is_cap(error) => DISK_CAP,
        _ => DISK_ERROR,
    }
}

/// Returns true for the sink's own error, as opposed to the system's.
fn is_cap(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::QuotaExceeded && error.raw_os_error().is_none()
}
