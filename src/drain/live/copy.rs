//! Copies the trace of a live process, or its current segment, as a self-contained trace.

use super::Live;
use crate::frames::lines_of;
use rocshim_ring::{Committed, Ring};
use rocshim_trace::{Footer, Record, Thread, segment_path, write_record};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Attempts to find a moment without a commit in progress.
const TRIES: usize = 10_000;

impl Live {
    /// Copies the trace as of the last commit to the empty file `to`, and adds a footer; returns
    /// its length in bytes.
    ///
    /// # Errors
    /// If the trace cannot be read or the copy cannot be written.
    pub fn copy_trace(&self, to: &mut File) -> io::Result<u64> {
        let (committed, accounts) = self.moment()?;
        let mut lines = Vec::new();
        accounts.iter().for_each(|account| write_record(&mut lines, &Record::Thread(account.clone())));
        let footer =
            Footer { t: self.clock.ns(committed.stamp), end: "snapshot".into(), ..Footer::default() };
        write_record(&mut lines, &Record::Footer(footer));
        let trace = segment_path(&self.trace, committed.segment);
        let file = File::open(&trace)?;
        let is_whole = file.metadata()?.len() >= committed.offset;
        io::copy(&mut lines_of(&trace, file.take(committed.offset))?, to)?;
        if !is_whole {
            let what = format!("{} is shorter than what was written to it", trace.display());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
        }
        // The last line may be in the course of being padded with spaces, its end written again
        // after them.
        to.seek(SeekFrom::End(-1))?;
        to.write_all(b"\n")?;
        to.write_all(&lines)?;
        to.sync_all()?;
        to.stream_position()
    }

    /// The last commit, and the counters of the live threads as of that commit. Those of ended
    /// threads are in the trace.
    fn moment(&self) -> io::Result<(Committed, Vec<Thread>)> {
        for _ in 0..TRIES {
            let committed = self.control.committed();
            let rings = self.open_rings()?;
            let account = |ring: Ring| {
                let (written, lost) = ring.committed(committed.epoch)?;
                (written + lost != 0).then(|| Thread {
                    tid: ring.tid(),
                    produced: written + lost,
                    written,
                    lost,
                })
            };
            let accounts = rings.into_iter().filter_map(account).collect();
            // Not older than the counters.
            if self.control.committed().epoch == committed.epoch && committed.offset != 0 {
                return Ok((committed, accounts));
            }
        }
        let what = "the trace grows too fast to be copied, or has no line yet: ask again in a moment";
        Err(io::Error::new(io::ErrorKind::WouldBlock, what))
    }
}
