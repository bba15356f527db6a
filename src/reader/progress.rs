//! How far a long reading has come, on standard error where that is a terminal.

use std::io::{self, IsTerminal, Read, Write};
use std::time::{Duration, Instant};

/// What takes less than this is not told of.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two words about it.
const STEP: Duration = Duration::from_millis(200);

/// A file that is read, and tells how far.
pub(super) struct Progress<R> {
    input: R,
    name: String,
    read: u64,
    all: u64,
    /// When something is to be told next; `None`: nobody looks.
    next: Option<Instant>,
    told: bool,
}

impl<R: Read> Progress<R> {
    /// Reads `input`, the file of this name, which has `all` bytes.
    pub(super) fn new(input: R, name: String, all: u64) -> Progress<R> {
        let next = io::stderr().is_terminal().then(|| Instant::now() + PATIENCE);
        Progress { input, name, read: 0, all, next, told: false }
    }

    fn tell(&mut self, now: Instant) {
        self.next = Some(now + STEP);
        self.told = true;
        let percent = self.read * 100 / self.all.max(1);
        // Whoever closed standard error does not want to know.
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
                self.tell(now);
            }
        }
        Ok(bytes)
    }
}

impl<R> Drop for Progress<R> {
    fn drop(&mut self) {
        if self.told {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
