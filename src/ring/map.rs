//! Shared memory files: created at full size, reserved on disk, faulted in, and unmapped on drop.
#![allow(unsafe_code)] // mmap and munmap; the rest of the crate gets a pointer that is valid as long as the mapping

use crate::sandbox;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::ptr::NonNull;

/// Page size in bytes; every mapping is a whole number of pages.
pub(crate) const PAGE: usize = 4096;
/// How often a reservation that a signal interrupts is retried.
const TRIES: usize = 100;

const BOTH: i32 = libc::PROT_READ | libc::PROT_WRITE;
/// The bytes of a file of at most `most` bytes, which is not a link.
///
/// # Errors
/// Those of the system, or if it is longer.
pub(crate) fn read_file(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    // O_NONBLOCK: the owner may have put a pipe there, and opening it would wait for a writer.
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        let what = format!("{}: larger than rocshim makes it", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(bytes)
}

/// True if a process died while it created this file: the first word, the magic number, is stored
/// last.
pub(crate) fn is_unbegun(bytes: &[u8]) -> bool {
    bytes.iter().take(8).all(|byte| *byte == 0)
}

fn new_file(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).custom_flags(flags).open(path)
}

/// Reserves a range of a file on its file system.
fn allocate(file: &File, from: usize, bytes: usize) -> io::Result<()> {
    let (from, bytes) = (from as libc::off_t, bytes as libc::off_t);
    // SAFETY: takes an open file descriptor, an offset and a length; touches no memory.
    let reserve = || unsafe { libc::posix_fallocate(file.as_raw_fd(), from, bytes) };
    // A signal may have interrupted it.
    match (0..TRIES).map(|_| reserve()).find(|error| *error != libc::EINTR).unwrap_or(libc::EINTR) {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Reserves a range of the file at `path`, if it still has this inode. `None` where the system
/// did not say which it has: the file is in a folder that only its owner may change.
///
/// # Errors
/// Those of the system.
pub(crate) fn allocate_at(path: &Path, inode: Option<u64>, from: usize, bytes: usize) -> io::Result<()> {
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
    if let Some(inode) = inode
        && file.metadata()?.ino() != inode
    {
        return Err(io::ErrorKind::NotFound.into());
    }
    allocate(&file, from, bytes)
}

/// Whether a file is in memory (tmpfs), and its inode where the system reports it.
///
/// # Errors
/// When the file cannot be opened.
pub(crate) fn about(path: &Path) -> io::Result<(bool, Option<u64>)> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC).open(path)?;
    let mut system = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: an open file descriptor, and a local structure for the result.
    let result = unsafe { libc::fstatfs(file.as_raw_fd(), system.as_mut_ptr()) };
    // SAFETY: it was zeroed, and all its fields are integers.
    let kind = unsafe { system.assume_init() }.f_type;
    Ok((result == 0 && kind == libc::TMPFS_MAGIC, file.metadata().ok().map(|file| file.ino())))
}

/// A memory range shared with the file it was created from, or private.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is plain memory without thread affinity; its users synchronise its contents.
unsafe impl Send for Mapping {}
// SAFETY: `Mapping` itself is immutable after creation; its users synchronise its contents.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Creates `path` (which must not exist) with `bytes` zero bytes, reserved and faulted in.
    ///
    /// # Errors
    /// Those of the system: the file exists, the folder is not writable, no space (detected here,
    /// not by a later SIGBUS). Also if the attempt would kill the program: the file size limit is
    /// lower, or it has entered a sandbox.
    pub(crate) fn create(path: &Path, bytes: usize) -> io::Result<Mapping> {
        if sandbox::is_new() {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        // Reserving more than the file size limit would raise SIGXFSZ.
        if bytes as u64 > file_limit() {
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        }
        let file = new_file(path)?;
        let mapped = allocate(&file, 0, bytes)
            .and_then(|()| Self::map(libc::MAP_SHARED | libc::MAP_POPULATE, BOTH, file.as_raw_fd(), bytes));
        if mapped.is_err() {
            let _ = std::fs::remove_file(path);
        }
        mapped
    }

    /// Creates `path` (which must not exist) with `bytes` bytes, which take no memory until they
    /// are [reserved](Mapping::reserve).
    ///
    /// # Errors
    /// As [`Mapping::create`].
    pub(crate) fn create_sparse(path: &Path, bytes: usize) -> io::Result<Mapping> {
        if sandbox::is_new() {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        // A file above the file size limit would raise SIGXFSZ.
        if bytes as u64 > file_limit() {
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        }
        let file = new_file(path)?;
        let sized = file.set_len(bytes as u64);
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let mapped = sized.and_then(|()| Self::map(flags, BOTH, file.as_raw_fd(), bytes));
        if mapped.is_err() {
            let _ = std::fs::remove_file(path);
        }
        mapped
    }

    /// The same in private memory.
    ///
    /// # Errors
    /// If there is no address space for it.
    pub(crate) fn anonymous_sparse(bytes: usize) -> io::Result<Mapping> {
        Self::map(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, BOTH, -1, bytes)
    }

    /// A private copy of the data of a sparse file of at most `most` bytes: whole units of `piece`
    /// bytes, at least one.
    ///
    /// # Errors
    /// Those of the system, or if it is longer.
    pub(crate) fn read_sparse(path: &Path, most: usize, piece: usize) -> io::Result<Mapping> {
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let length = file.metadata()?.len();
        if length > most as u64 {
            let what = format!("{}: larger than rocshim makes it", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let memory = Self::anonymous_sparse((length as usize).next_multiple_of(piece).max(piece))?;
        // SAFETY: takes an open file descriptor and an offset; touches no memory.
        let seek = |from: i64, what: i32| unsafe { libc::lseek(file.as_raw_fd(), from, what) };
        let mut from = seek(0, libc::SEEK_DATA);
        while from >= 0 {
            let hole = seek(from, libc::SEEK_HOLE);
            let end = (if hole < from { length as i64 } else { hole }).min(length as i64);
            let bytes = memory.start().wrapping_add(from as usize);
            // SAFETY: the mapping is as long as the file was, and is not shared yet.
            let bytes = unsafe { std::slice::from_raw_parts_mut(bytes, (end - from).max(0) as usize) };
            // It may have become shorter: the rest is 0, as in a hole.
            let _ = file.read_exact_at(bytes, from as u64);
            from = if end > from { seek(end, libc::SEEK_DATA) } else { -1 };
        }
        Ok(memory)
    }

    /// Reserves memory for a range of a sparse mapping, and faults it in: one system call.
    ///
    /// # Errors
    /// If there is no memory or no space in the file's file system; `EINVAL` before Linux 5.14.
    pub(crate) fn reserve(&self, from: usize, bytes: usize) -> io::Result<()> {
        self.advise(from, bytes, libc::MADV_POPULATE_WRITE)
    }

    /// Returns the memory of a range of a sparse file to the system. Its bytes are 0 afterwards.
    ///
    /// # Errors
    /// If the file system does not support it.
    pub(crate) fn remove(&self, from: usize, bytes: usize, is_file: bool) -> io::Result<()> {
        self.advise(from, bytes, if is_file { libc::MADV_REMOVE } else { libc::MADV_DONTNEED })
    }

    fn advise(&self, from: usize, bytes: usize, advice: i32) -> io::Result<()> {
        assert!(from.checked_add(bytes).is_some_and(|end| end <= self.bytes), "a piece of the mapping");
        // SAFETY: the range is in this mapping, and nothing reads what it held: the pool passes
        // only chunks that no ring owns.
        let result = unsafe { libc::madvise(self.start().wrapping_add(from).cast(), bytes, advice) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Maps all of a file that another process created and keeps writing.
    ///
    /// # Errors
    /// Those of the system; or if it is not a file.
    pub(crate) fn open(path: &Path, writes: bool) -> io::Result<Mapping> {
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
        let file = OpenOptions::new().read(true).write(writes).custom_flags(flags).open(path)?;
        let about = file.metadata()?;
        if !about.is_file() || about.len() == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let access = if writes { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        Self::map(libc::MAP_SHARED, access, file.as_raw_fd(), about.len() as usize)
    }

    /// Zeroed private memory: recording continues if no file can be created, but does not survive a
    /// kill.
    pub(crate) fn anonymous(bytes: usize) -> io::Result<Mapping> {
        Self::map(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, BOTH, -1, bytes)
    }

    fn map(flags: i32, access: i32, file: i32, bytes: usize) -> io::Result<Mapping> {
        // SAFETY: a new mapping at an address of the system's choice overlaps nothing.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, file, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(start.cast())
            .map(|start| Mapping { start, bytes })
            .ok_or_else(|| io::ErrorKind::Other.into())
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The file size limit of the process in bytes (`ulimit -f`): a write beyond it fails, and raises
/// SIGXFSZ, which kills a process that does not block it.
pub fn file_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a local structure for the result.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    limit.rlim_cur
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `map` and is unmapped only here.
        unsafe { libc::munmap(self.start().cast(), self.bytes) };
    }
}
