//! The trace file: batches of lines, complete at every instant, even when a kill interrupts a
//! write.
//!
//! SIGKILL cuts a write short between two pages. So no line crosses a page of the file: the line
//! before it is padded with spaces, which JSON ignores. (A line longer than a page begins one, and
//! is the only kind that can be cut.)
//!
//! A compressed file holds one frame per batch, each complete in itself.
//!
//! Where the collector has its own descriptor table, the file stays open, and its path is checked
//! before each batch, in case the file was deleted or replaced. Otherwise it is opened for each
//! batch and closed again, so that a program that closes all its descriptors, or reuses their
//! numbers, neither closes the trace nor receives its lines.

use crate::platform::descriptors::Table;
use crate::platform::ids::uid;
use rocshim_drain::{Frames, is_compressed};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const PAGE: usize = 4096;

/// Writer of one trace file.
pub(crate) struct Sink {
    path: PathBuf,
    /// True once the file was created. It is never created again.
    is_created: bool,
    /// Device and inode of the file that was written first. A replacement is not written to.
    which: Option<(u64, u64)>,
    /// The open file, where the collector has its own descriptor table.
    file: Option<File>,
    table: Table,
    /// Length of the complete lines in the file in bytes.
    length: u64,
    /// Bytes of the next write; kept to reuse its memory.
    bytes: Vec<u8>,
    /// Compressor of a compressed file.
    frames: Option<Frames>,
}

impl Sink {
    /// Writes to `path`: an empty file if it `is_created`, otherwise created by the first write.
    /// Compressed with zstd at `level` if its name says so.
    pub(crate) fn new(path: PathBuf, is_created: bool, level: i32, table: Table) -> Sink {
        // zstd clamps an unknown level. Without memory for a compressor there is none for lines.
        let frames = is_compressed(&path).then(|| Frames::new(level).ok()).flatten();
        Sink { path, is_created, which: None, file: None, table, length: 0, bytes: Vec::new(), frames }
    }

    /// Returns the file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true once the file was created.
    pub(crate) fn is_created(&self) -> bool {
        self.is_created
    }

    /// Returns the bytes written so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Appends `lines`, unless the file would become longer than `longest` bytes.
    ///
    /// # Errors When not all of them could be written; the file then contains none. `QuotaExceeded`
    /// without an OS error number: the file would become too long.
    pub(crate) fn write(&mut self, lines: &[u8], longest: u64) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let at = match &mut self.frames {
            Some(frames) => {
                frames.make(lines, &mut self.bytes)?;
                self.length
            }
            None if is_compressed(&self.path) => return Err(io::ErrorKind::OutOfMemory.into()),
            None => fill(self.length, lines, &mut self.bytes),
        };
        if at + self.bytes.len() as u64 > longest {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let (file, found) = self.open()?;
        let result = self.append(&file, found, at);
        self.file = Some(file).filter(|_| self.table == Table::Own);
        result
    }

    /// Writes the prepared bytes to `file`, which is `found` bytes long, at offset `at`.
    fn append(&mut self, file: &File, found: u64, at: u64) -> io::Result<()> {
        let bytes = &self.bytes;
        if found > self.length {
            // Remains of an earlier failed write that could not be truncated.
            file.set_len(self.length)?;
        }
        if let Err(error) = file.write_all_at(bytes, at) {
            // Part of a line may have been written. Readers stop at the last complete one anyway.
            let _ = file.set_len(self.length);
            if at < self.length {
                let _ = file.write_all_at(b"\n", at);
            }
            return Err(error);
        }
        self.length = at + bytes.len() as u64;
        Ok(())
    }

    /// Opens the file; returns it with its length in bytes.
    fn open(&mut self) -> io::Result<(File, u64)> {
        if let Some(file) = self.file.take() {
            // An inaccessible path does not mean that the file was deleted: the program may have
            // changed its user since.
            let found = match std::fs::symlink_metadata(&self.path) {
                Ok(found) => self.check(&found).map(|()| found.len()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
                Err(_) => file.metadata().map(|found| found.len()),
            }?;
            return Ok((file, found));
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(!self.is_created).mode(0o600);
        options.custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        let file = match options.open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.is_created => {
                // The folder was deleted. It is created again, but not its parents.
                DirBuilder::new().mode(0o700).create(self.path.parent().unwrap_or(Path::new("/")))?;
                options.open(&self.path)
            }
            file => file,
        }?;
        self.is_created = true;
        let found = file.metadata()?;
        if found.uid() != uid() {
            return Err(self.replaced());
        }
        self.check(&found)?;
        Ok((file, found.len()))
    }

    /// Fails unless `found` is the file that was written first.
    fn check(&mut self, found: &Metadata) -> io::Result<()> {
        let which = (found.dev(), found.ino());
        let is_it = found.is_file() && *self.which.get_or_insert(which) == which;
        if is_it { Ok(()) } else { Err(self.replaced()) }
    }

    /// Returns the error for a replaced file, of the kind for a deleted one: others may write in
    /// this folder.
    fn replaced(&self) -> io::Error {
        let what = format!("{}: another file is in its place", self.path.display());
        io::Error::new(io::ErrorKind::NotFound, what)
    }
}

/// Prepares in `bytes` a write that appends `lines` to the `length` bytes of the file such that no
/// line crosses a page; returns its offset. The write begins with the newline of the file's last
/// line, which moves if that line is padded.
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

/// Returns the length of the lines that end within `room` bytes; at least one line at a page's
/// beginning. Searches backwards from the end of the room.
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

    fn sink(name: &str) -> (PathBuf, Sink) {
        let path = std::env::temp_dir().join(format!("rocshim-{name}-{}", std::process::id()));
        File::create(&path).unwrap();
        (path.clone(), Sink::new(path, true, 0, Table::Shared))
    }

    /// The same, but keeps its file open.
    fn kept(name: &str) -> (PathBuf, Sink) {
        let (path, sink) = sink(name);
        (path, Sink { table: Table::Own, ..sink })
    }

    #[test]
    fn lines_are_appended_and_a_deleted_file_is_an_error() {
        for (path, mut sink) in [sink("sink"), kept("kept")] {
            sink.write(b"one\n", u64::MAX).unwrap();
            sink.write(b"two\n", u64::MAX).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
            std::fs::remove_file(&path).unwrap();
            let error = sink.write(b"three\n", u64::MAX).unwrap_err();
            assert_eq!((sink.length(), error.kind()), (8, std::io::ErrorKind::NotFound));
        }
    }

    #[test]
    fn a_replaced_file_is_not_written_to() {
        for (path, mut sink) in [sink("replaced"), kept("kept-replaced")] {
            sink.write(b"one\n", u64::MAX).unwrap();
            let precious = path.with_extension("precious");
            std::fs::write(&precious, "precious").unwrap();
            std::fs::rename(&precious, &path).unwrap();
            let error = sink.write(b"two\n", u64::MAX).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
            assert_eq!(std::fs::read(&path).unwrap(), b"precious");
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn remains_of_a_failed_write_are_truncated() {
        let (path, mut sink) = sink("behind");
        sink.write(b"one\n", u64::MAX).unwrap();
        std::fs::write(&path, "one\ntwo that was never whole").unwrap();
        sink.write(b"2\n", u64::MAX).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\n2\n");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn no_line_crosses_a_page_and_none_is_missing() {
        let (path, mut sink) = sink("pages");
        let mut wanted = Vec::new();
        for batch in 0..200usize {
            let line = |i: usize| {
                format!("{{\"batch\":{batch},\"text\":\"{}\"}}\n", "x".repeat((batch * 37 + i * 91) % 900))
            };
            let lines: Vec<String> = (0..batch % 7 + 1).map(line).collect();
            sink.write(lines.concat().as_bytes(), u64::MAX).unwrap();
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
        sink.write(b"short\n", u64::MAX).unwrap();
        sink.write(long.as_bytes(), u64::MAX).unwrap();
        sink.write(b"after\n", u64::MAX).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text.lines().map(str::trim_end).collect::<Vec<_>>(), ["short", long.trim_end(), "after"]);
        assert_eq!(text.find('y'), Some(PAGE));
    }
}
