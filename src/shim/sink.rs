//! The trace file: batches of complete lines, each written whole or not at all.
//!
//! The file is opened for every batch and closed again: a program that closes all its descriptors, or reuses their
//! numbers, can neither lose our file nor be written into by us.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// Where the lines go.
pub(crate) struct Sink {
    path: PathBuf,
    /// Bytes that are in the file for good.
    length: u64,
}

impl Sink {
    /// Writes to `path`, which exists and is empty.
    pub(crate) fn new(path: PathBuf) -> Sink {
        Sink { path, length: 0 }
    }

    /// Bytes written so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Appends `lines`.
    ///
    /// # Errors
    /// When not all of them could be written; none are in the file then.
    pub(crate) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let mut file = OpenOptions::new().append(true).custom_flags(flags).open(&self.path)?;
        if let Err(error) = file.write_all(lines) {
            self.cut(&file);
            return Err(error);
        }
        self.length += lines.len() as u64;
        Ok(())
    }

    /// Takes back what a failed write has left: a full disk may take half a line.
    fn cut(&self, file: &File) {
        // A reader stops at the last complete line anyway.
        let _ = file.set_len(self.length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_appended_and_a_file_that_is_gone_is_an_error() {
        let path = std::env::temp_dir().join(format!("rocshim-sink-{}", std::process::id()));
        File::create(&path).unwrap();
        let mut sink = Sink::new(path.clone());
        sink.write(b"one\n").unwrap();
        sink.write(b"two\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
        std::fs::remove_file(&path).unwrap();
        assert!(sink.write(b"three\n").is_err());
        assert_eq!(sink.length(), 8);
    }
}
