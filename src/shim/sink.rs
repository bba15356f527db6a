//! The trace file: batches of complete lines, whole at every instant, even when the process is killed in the middle of one.
//!
//! SIGKILL cuts a write short between two pages. So no line crosses a page of the file: the line before it is filled up
//! with spaces, which JSON ignores. (A line longer than a page begins one, and is the only kind that can be cut.)
//!
//! The file is opened for every batch and closed again: a program that closes all its descriptors, or reuses their
//! numbers, can neither lose our file nor be written into by us.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;

const PAGE: usize = 4096;

/// Where the lines go.
pub(crate) struct Sink {
    path: PathBuf,
    /// Bytes that are in the file for good.
    length: u64,
    /// What is written next; kept, so that its memory is.
    bytes: Vec<u8>,
}

impl Sink {
    /// Writes to `path`, which exists and is empty.
    pub(crate) fn new(path: PathBuf) -> Sink {
        Sink { path, length: 0, bytes: Vec::new() }
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
        let at = fill(self.length, lines, &mut self.bytes);
        let bytes = &self.bytes;
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let file = OpenOptions::new().write(true).custom_flags(flags).open(&self.path)?;
        if let Err(error) = file.write_all_at(bytes, at) {
            // A full disk may take half a line. A reader stops at the last complete one anyway.
            let _ = file.set_len(self.length);
            if self.length > 0 {
                let _ = file.write_all_at(b"\n", self.length - 1);
            }
            return Err(error);
        }
        self.length = at + bytes.len() as u64;
        Ok(())
    }
}

/// Puts into `bytes` what to write so that `lines` follow the `length` bytes of the file and none crosses a page; gives
/// where. The line end before them is written anew where its line is filled up: that lies within one page.
fn fill(length: u64, lines: &[u8], bytes: &mut Vec<u8>) -> u64 {
    bytes.clear();
    bytes.reserve(lines.len() + lines.len() / 16 + PAGE);
    if length > 0 {
        bytes.push(b'\n');
    }
    let mut used = (length % PAGE as u64) as usize;
    let mut rest = lines;
    while !rest.is_empty() {
        let room = PAGE - used;
        let (whole, after) = rest.split_at(whole_lines(rest, room, used == 0));
        bytes.extend_from_slice(whole);
        used = (used + whole.len()) % PAGE;
        rest = after;
        if used != 0 && !rest.is_empty() {
            bytes.pop();
            bytes.resize(bytes.len() + PAGE - used, b' ');
            bytes.push(b'\n');
            used = 0;
        }
    }
    length.saturating_sub(1)
}

/// How many bytes of `lines` are lines that end within `room` bytes; where a page begins, one at least. Only the last
/// line's beginning is searched for its end.
fn whole_lines(lines: &[u8], room: usize, is_page: bool) -> usize {
    let end = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    match end(&lines[..room.min(lines.len())]) {
        0 if is_page => lines.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |at| at + 1),
        whole => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn sink(name: &str) -> (PathBuf, Sink) {
        let path = std::env::temp_dir().join(format!("rocshim-{name}-{}", std::process::id()));
        File::create(&path).unwrap();
        (path.clone(), Sink::new(path))
    }

    #[test]
    fn lines_are_appended_and_a_file_that_is_gone_is_an_error() {
        let (path, mut sink) = sink("sink");
        sink.write(b"one\n").unwrap();
        sink.write(b"two\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
        std::fs::remove_file(&path).unwrap();
        assert!(sink.write(b"three\n").is_err());
        assert_eq!(sink.length(), 8);
    }

    #[test]
    fn no_line_crosses_a_page_and_every_line_is_there() {
        let (path, mut sink) = sink("pages");
        let mut wanted = Vec::new();
        for batch in 0..200usize {
            let line = |i: usize| {
                format!("{{\"batch\":{batch},\"text\":\"{}\"}}\n", "x".repeat((batch * 37 + i * 91) % 900))
            };
            let lines: Vec<String> = (0..batch % 7 + 1).map(line).collect();
            sink.write(lines.concat().as_bytes()).unwrap();
            wanted.extend(lines);
            assert_eq!(std::fs::metadata(&path).unwrap().len(), sink.length());
        }
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for page in bytes.chunks(PAGE) {
            assert_eq!(page.last(), Some(&b'\n'), "every page ends with a line");
        }
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<String> = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        assert_eq!(lines, wanted);
    }

    #[test]
    fn a_line_longer_than_a_page_begins_one() {
        let (path, mut sink) = sink("long");
        let long = format!("{}\n", "y".repeat(3 * PAGE));
        sink.write(b"short\n").unwrap();
        sink.write(long.as_bytes()).unwrap();
        sink.write(b"after\n").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text.lines().map(str::trim_end).collect::<Vec<_>>(), ["short", long.trim_end(), "after"]);
        assert_eq!(text.find('y'), Some(PAGE));
    }
}
