//! Shows the progress of a long reading on standard error, if that is a terminal.

use std::io::{self, IsTerminal, Read, Write};
use std::time::{Duration, Instant};

/// Time before which no progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// Interval between updates.
const STEP: Duration = Duration::from_millis(200);

/// A file being read that shows its progress.
pub(super) struct Progress<R> {
    input: R,
    name: String,
    read: u64,
    all: u64,
    /// Time of the next update; `None`: standard error is not a terminal.
    next: Option<Instant>,
    is_shown: bool,
}

impl<R: Read> Progress<R> {
    /// Reads `input`, a file with this name and `all` bytes.
    pub(super) fn new(input: R, name: String, all: u64) -> Progress<R> {
        let next = io::stderr().is_terminal().then(|| Instant::now() + PATIENCE);
        Progress { input, name, read: 0, all, next, is_shown: false }
    }

    fn update(&mut self, now: Instant) {
        self.next = Some(now + STEP);
        self.is_shown = true;
        let percent = self.read * 100 / self.all.max(1);
        // A closed standard error is not a problem.
        let _ = write!(io::stderr(), "\r\x1b[Kreading {}: {} %", self.name, percent.min(100));
    }
}

impl<R: Read> Read for Progress<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(to)?;
        self.read += bytes as u64;
        if let Some(next) = self.next {
            let now = Instant::now();
            if now >= next {
                self.update(now);
            }
        }
        Ok(bytes)
    }
}

impl<R> Drop for Progress<R> {
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
