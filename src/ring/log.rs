//! The definition log: an append-only log of names and everything else that is written once, in
//! order, and never changed.
//!
//! Writers take a lock, because this is a cold path. The log is a series of shared files of growing
//! size (`defs-0`, `defs-1`, …), each reserved and faulted in when it is created. A definition is
//! contained in one file, as its length (4 bytes) and its bytes.
#![allow(unsafe_code)] // reads and writes of the mapped files; the committed length (release/acquire) orders them

use crate::definition::StampedDefinition;
use crate::map::{Mapping, PAGE, is_unbegun, read_file};
use crate::sync::{self, AtomicU64, Mutex, OnceLock};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The most files of a log: 256 KiB, 512 KiB, … 16 MiB, 16 MiB, …
const MAX_FILES: usize = 32;
const MAGIC: u64 = u64::from_le_bytes(*b"ROCSHIMD");
/// Header bytes before a file's first definition: magic, committed length.
const HEAD: usize = 64;

/// Name prefix of its files.
pub(crate) const DEFINITIONS: &str = "defs-";

fn file_bytes(index: usize) -> usize {
    if cfg!(loom) { PAGE } else { (256 * 1024) << index.min(6) }
}

fn file_path(folder: &Path, index: usize) -> PathBuf {
    folder.join(format!("{DEFINITIONS}{index}"))
}

struct LogFile {
    memory: Mapping,
}

impl LogFile {
    fn new(memory: Mapping) -> LogFile {
        let file = LogFile { memory };
        #[cfg(loom)]
        sync::modelled::share(file.word(1).as_ptr(), sync::modelled::Role::Owner);
        file
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        let at = self.memory.start().cast::<AtomicU64>().wrapping_add(index);
        // SAFETY: the first `HEAD` bytes of every file are mapped, aligned and only used as
        // atomics.
        unsafe { &*at }
    }

    fn committed(&self) -> usize {
        // Acquire: the bytes before the committed length were written before it was stored.
        (self.word(1).load(Acquire) as usize).min(self.memory.bytes() - HEAD)
    }

    fn room(&self) -> usize {
        self.memory.bytes() - HEAD - self.committed()
    }

    /// Appends `bytes`, for which there is room; the caller holds the log's lock.
    fn append(&self, bytes: &[u8]) {
        let at = self.committed();
        let to = self.memory.start().wrapping_add(HEAD + at);
        // SAFETY: the caller checked that there is room for `bytes` after the committed length; no
        // reader looks there before the store below.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        sync::wrote(to, bytes.len());
        // Release: after the bytes.
        self.word(1).store((at + bytes.len()) as u64, Release);
    }

    fn bytes(&self) -> &[u8] {
        let from = self.memory.start().wrapping_add(HEAD);
        let committed = self.committed();
        sync::reads(from, committed);
        // SAFETY: committed bytes are mapped and never written again.
        unsafe { std::slice::from_raw_parts(from, committed) }
    }
}

fn begin_file(slot: &OnceLock<LogFile>, memory: Mapping) -> &LogFile {
    let file = slot.get_or_init(|| LogFile::new(memory));
    file.word(0).store(MAGIC, Relaxed);
    file
}

/// The position of a definition in its log; it never moves and can be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPosition {
    file: u32,
    at: u32,
    length: u32,
}

/// The writing end.
pub struct Log {
    folder: Option<PathBuf>,
    files: [OnceLock<LogFile>; MAX_FILES],
    writer: Mutex<Writer>,
}

#[derive(Default)]
struct Writer {
    /// The file being written.
    file: usize,
    /// Number of definitions.
    count: u32,
}

impl Log {
    /// Creates a log in `folder`, or in private memory.
    pub fn new(folder: Option<&Path>) -> Log {
        let files = [const { OnceLock::new() }; MAX_FILES];
        Log { folder: folder.map(Path::to_path_buf), files, writer: Mutex::default() }
    }

    /// Creates its first file, if it has a folder. Without this file the folder could not be
    /// attributed to a process.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn begin(&self) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let memory = Mapping::create(&file_path(folder, 0), file_bytes(0))?;
        begin_file(&self.files[0], memory);
        Ok(())
    }

    /// Appends a definition; returns its number, and its position for [`Log::read`].
    ///
    /// # Errors
    /// If there is no more memory for it; then nothing is written.
    pub fn define(&self, frame: &StampedDefinition) -> io::Result<(u32, LogPosition)> {
        let bytes = postcard::to_allocvec(frame).map_err(io::Error::other)?;
        self.append(&bytes)
    }

    /// For loom models: the words that show readers that file `index` exists and, if it does, how
    /// far it is written.
    #[cfg(all(test, loom))]
    pub(crate) fn words(&self, index: usize) -> (*const u64, Option<*const u64>) {
        let file = &self.files[index];
        (file.word(), file.get().map(|file| file.word(1).as_ptr().cast_const()))
    }

    /// The definition at `position`.
    pub fn read(&self, position: LogPosition) -> Option<StampedDefinition<'_>> {
        let bytes = self.files.get(position.file as usize)?.get()?.bytes();
        decode(bytes.get(position.at as usize..)?.get(..position.length as usize)?)
    }

    fn append(&self, frame: &[u8]) -> io::Result<(u32, LogPosition)> {
        let mut bytes = Vec::with_capacity(4 + frame.len());
        bytes.extend_from_slice(&(frame.len() as u32).to_le_bytes());
        bytes.extend_from_slice(frame);
        let mut writer = self.writer.lock();
        loop {
            let file = self.file(writer.file)?;
            if file.room() >= bytes.len() {
                let (at, length) = (file.committed() as u32 + 4, frame.len() as u32);
                file.append(&bytes);
                writer.count += 1;
                return Ok((writer.count - 1, LogPosition { file: writer.file as u32, at, length }));
            }
            writer.file += 1;
        }
    }

    fn file(&self, index: usize) -> io::Result<&LogFile> {
        let slot = self.files.get(index).ok_or(io::ErrorKind::OutOfMemory)?;
        if let Some(file) = slot.get() {
            return Ok(file);
        }
        let bytes = file_bytes(index);
        let memory = match &self.folder {
            Some(folder) => {
                Mapping::create(&file_path(folder, index), bytes).or_else(|_| Mapping::anonymous(bytes))?
            }
            None => Mapping::anonymous(bytes)?,
        };
        Ok(begin_file(slot, memory))
    }

    /// Copies from another log (that of the process before a fork) what a child inherits:
    /// libraries, bindings, code, names. Graphs and captures do not survive a fork. `each` receives
    /// the position of each copy in this log. Takes no lock of the parent's log.
    pub fn inherit(&self, parent: &Log, mut each: impl FnMut(LogPosition)) {
        let is_own = |bytes: &[u8]| decode(bytes).is_none_or(|frame| frame.definition.is_of_one_process());
        let mut reader = LogReader::default();
        // What does not fit is lost to the child: its kernels stay unnamed, its calls are recorded.
        reader.read(parent, |_, bytes| {
            let appended = (!is_own(bytes)).then(|| self.append(bytes));
            if let Some(Ok((_, position))) = appended {
                each(position);
            }
        });
    }
}

/// Reads a log incrementally from its beginning.
#[derive(Default)]
pub struct LogReader {
    file: usize,
    at: usize,
    count: u32,
}

impl LogReader {
    /// Delivers the definitions added since the last call, as (number, bytes); decode them with
    /// [`decode`].
    pub fn read(&mut self, log: &Log, mut each: impl FnMut(u32, &[u8])) {
        while let Some(file) = log.files.get(self.file).and_then(OnceLock::get) {
            let next_begun = log.files.get(self.file + 1).is_some_and(|next| next.get().is_some());
            self.read_bytes(file.bytes(), &mut each);
            if !next_begun {
                return;
            }
            (self.file, self.at) = (self.file + 1, 0);
        }
    }

    /// Delivers the definitions of a dead process's log files.
    ///
    /// # Errors
    /// If a file cannot be read or is not a log file of this version.
    pub fn read_files(folder: &Path, mut each: impl FnMut(u32, &[u8])) -> io::Result<()> {
        let mut reader = LogReader::default();
        for index in 0..MAX_FILES {
            let path = file_path(folder, index);
            let bytes = match read_file(&path, file_bytes(index)) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => break,
                bytes => bytes?,
            };
            if !reader.read_file(&bytes, &path, &mut each)? {
                break;
            }
        }
        Ok(())
    }

    /// Delivers the definitions of the next file of a dead process's log, from its bytes; `path`
    /// names it in errors. False: the process died while it created the file, which is then the
    /// last.
    ///
    /// # Errors
    /// If it is not a log file of this version.
    pub fn read_file(
        &mut self,
        bytes: &[u8],
        path: &Path,
        mut each: impl FnMut(u32, &[u8]),
    ) -> io::Result<bool> {
        if is_unbegun(bytes) {
            return Ok(false);
        }
        let word =
            |at: usize| bytes.get(at..at + 8).and_then(|w| w.try_into().ok()).map_or(0, u64::from_le_bytes);
        if word(0) != MAGIC {
            let what = format!("{}: not a definition log of rocshim", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let committed = (word(8) as usize).min(bytes.len() - HEAD.min(bytes.len()));
        self.at = 0;
        self.read_bytes(bytes.get(HEAD..HEAD + committed).unwrap_or_default(), &mut each);
        Ok(true)
    }

    fn read_bytes(&mut self, bytes: &[u8], each: &mut impl FnMut(u32, &[u8])) {
        while let Some(length) = bytes.get(self.at..self.at + 4).and_then(|b| b.try_into().ok()) {
            let from = self.at + 4;
            let Some(frame) = bytes.get(from..from + u32::from_le_bytes(length) as usize) else { return };
            each(self.count, frame);
            self.at = from + frame.len();
            self.count += 1;
        }
    }
}

/// Decodes a definition's bytes; `None` if they are damaged.
pub fn decode(bytes: &[u8]) -> Option<StampedDefinition<'_>> {
    postcard::from_bytes(bytes).ok()
}

const _: () = assert!(HEAD < PAGE);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Definition;

    fn names(log: &Log, reader: &mut LogReader) -> Vec<(u32, String)> {
        let mut seen = Vec::new();
        reader.read(log, |number, bytes| match decode(bytes).unwrap().definition {
            Definition::HostFunction { name, .. } => seen.push((number, name.into_owned())),
            other => panic!("{other:?}"),
        });
        seen
    }

    fn frame(name: &str) -> StampedDefinition<'_> {
        StampedDefinition {
            stamp: 1,
            definition: Definition::HostFunction { handle: 2, stub: 3, name: name.into() },
        }
    }

    fn define(log: &Log, name: &str) -> u32 {
        log.define(&frame(name)).unwrap().0
    }

    #[test]
    fn a_reader_sees_each_definition_once_with_its_number() {
        let log = Log::new(None);
        let mut reader = LogReader::default();
        assert_eq!(define(&log, "a"), 0);
        assert_eq!(define(&log, "b"), 1);
        assert_eq!(names(&log, &mut reader), [(0, "a".into()), (1, "b".into())]);
        assert_eq!(define(&log, "c"), 2);
        assert_eq!(names(&log, &mut reader), [(2, "c".into())]);
        assert_eq!(names(&log, &mut reader), []);
    }

    #[test]
    fn a_log_grows_over_several_files_and_is_read_back_from_them() {
        let folder = std::env::temp_dir().join(format!("rocshim-log-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let log = Log::new(Some(&folder));
        let long = "k".repeat(1000);
        let count = 3000;
        (0..count).for_each(|i| assert_eq!(define(&log, &long), i));
        let last = log.define(&frame("the last")).unwrap().1;
        assert_eq!((log.read(last), last.file > 0), (Some(frame("the last")), true));
        let (mut seen, count) = (0, count + 1);
        LogReader::read_files(&folder, |number, bytes| {
            assert_eq!(number, seen);
            assert!(decode(bytes).is_some());
            seen += 1;
        })
        .unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(seen, count);
    }

    #[test]
    fn a_child_inherits_what_its_parent_had_defined() {
        let (parent, child, mut positions) = (Log::new(None), Log::new(None), Vec::new());
        for definition in [Definition::Process(Default::default()), Definition::Clock { tick_hz: 1 }] {
            parent.define(&StampedDefinition { stamp: 0, definition }).unwrap();
        }
        define(&parent, "before the fork");
        child.inherit(&parent, |position| positions.push(position));
        assert_eq!(
            positions.iter().map(|position| child.read(*position).unwrap()).collect::<Vec<_>>(),
            [frame("before the fork")]
        );
        assert_eq!(names(&child, &mut LogReader::default()), [(0, "before the fork".into())]);
    }
}
