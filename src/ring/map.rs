//! Shared memory files: created whole, reserved on disk, faulted in, and unmapped when dropped.
#![allow(unsafe_code)] // mmap and munmap; the rest of the crate gets a pointer that lives as long as the mapping

use crate::sandbox;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::ptr::NonNull;

/// A page; every mapping is a whole number of them.
pub(crate) const PAGE: usize = 4096;
/// How often a reservation that signals interrupt is begun anew.
const TRIES: usize = 100;

const BOTH: i32 = libc::PROT_READ | libc::PROT_WRITE;
/// The bytes of a file of at most `most` bytes, which is no link.
///
/// # Errors
/// As the system says, or when it is longer.
pub(crate) fn read_file(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC).open(path)?;
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        let what = format!("{}: larger than rocshim makes it", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(bytes)
}

/// True when a process died while it made this file: the first word, which says what it is, is stored last.
pub(crate) fn is_unbegun(bytes: &[u8]) -> bool {
    bytes.iter().take(8).all(|byte| *byte == 0)
}

fn new_file(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).custom_flags(flags).open(path)
}

/// Reserves a piece of a file on its file system.
fn allocate(file: &File, from: usize, bytes: usize) -> io::Result<()> {
    let (from, bytes) = (from as libc::off_t, bytes as libc::off_t);
    // SAFETY: an open file descriptor, a place and a length; no memory is touched.
    let reserve = || unsafe { libc::posix_fallocate(file.as_raw_fd(), from, bytes) };
    // A signal may have interrupted it.
    match (0..TRIES).map(|_| reserve()).find(|error| *error != libc::EINTR).unwrap_or(libc::EINTR) {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Reserves a piece of the file at `path`, if it is still the one with this inode.
///
/// # Errors
/// As the system says.
pub(crate) fn allocate_at(path: &Path, inode: u64, from: usize, bytes: usize) -> io::Result<()> {
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
    if file.metadata()?.ino() != inode {
        return Err(io::ErrorKind::NotFound.into());
    }
    allocate(&file, from, bytes)
}

/// True for a file in memory (tmpfs), and its inode.
///
/// # Errors
/// As the system says.
pub(crate) fn about(path: &Path) -> io::Result<(bool, u64)> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC).open(path)?;
    let mut system = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: an open file, and a place for the answer.
    let result = unsafe { libc::fstatfs(file.as_raw_fd(), system.as_mut_ptr()) };
    // SAFETY: zeroed, and all its fields are numbers.
    let kind = unsafe { system.assume_init() }.f_type;
    Ok((result == 0 && kind == libc::TMPFS_MAGIC, file.metadata()?.ino()))
}

/// A piece of memory, shared with the file it was made from.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is plain memory without ties to a thread; what lies in it is synchronised by who uses it.
unsafe impl Send for Mapping {}
// SAFETY: as above; `Mapping` itself is never changed after it is made.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Creates `path` (which must not exist) with `bytes` zero bytes, reserved and faulted in.
    ///
    /// # Errors
    /// As the system says: the file exists, the folder is not writable, no space (found out here, not by SIGBUS later);
    /// and where to try would end the program: files may not be that large, or it has locked itself into a sandbox.
    pub(crate) fn create(path: &Path, bytes: usize) -> io::Result<Mapping> {
        if sandbox::is_new() {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        // Reserving more than the process may write would end it by SIGXFSZ.
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

    /// Creates `path` (which must not exist) with `bytes` bytes, none of which takes memory before it is
    /// [reserved](Mapping::reserve).
    ///
    /// # Errors
    /// As [`Mapping::create`].
    pub(crate) fn create_sparse(path: &Path, bytes: usize) -> io::Result<Mapping> {
        if sandbox::is_new() {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        // A longer file than the process may write would end it by SIGXFSZ.
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

    /// The same in memory of this process alone.
    ///
    /// # Errors
    /// When there are no addresses for it.
    pub(crate) fn anonymous_sparse(bytes: usize) -> io::Result<Mapping> {
        Self::map(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, BOTH, -1, bytes)
    }

    /// A copy of what a sparse file of at most `most` bytes holds, in memory of this process alone: whole
    /// pieces of `piece` bytes, at least one.
    ///
    /// # Errors
    /// As the system says, or when it is longer.
    pub(crate) fn read_sparse(path: &Path, most: usize, piece: usize) -> io::Result<Mapping> {
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let length = file.metadata()?.len();
        if length > most as u64 {
            let what = format!("{}: larger than rocshim makes it", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let memory = Self::anonymous_sparse((length as usize).next_multiple_of(piece).max(piece))?;
        // SAFETY: an open file and a place in it.
        let seek = |from: i64, what: i32| unsafe { libc::lseek(file.as_raw_fd(), from, what) };
        let mut from = seek(0, libc::SEEK_DATA);
        while from >= 0 {
            let hole = seek(from, libc::SEEK_HOLE);
            let end = (if hole < from { length as i64 } else { hole }).min(length as i64);
            let bytes = memory.start().wrapping_add(from as usize);
            // SAFETY: the mapping is as long as the file was, and nobody else knows it.
            let bytes = unsafe { std::slice::from_raw_parts_mut(bytes, (end - from).max(0) as usize) };
            // It may have become shorter: the rest is 0, as in a hole.
            let _ = file.read_exact_at(bytes, from as u64);
            from = if end > from { seek(end, libc::SEEK_DATA) } else { -1 };
        }
        Ok(memory)
    }

    /// Gives memory to a piece of a sparse mapping, and faults it in: one system call.
    ///
    /// # Errors
    /// When there is no memory or no room in the file's file system; `EINVAL` before Linux 5.14.
    pub(crate) fn reserve(&self, from: usize, bytes: usize) -> io::Result<()> {
        self.advise(from, bytes, libc::MADV_POPULATE_WRITE)
    }

    /// Gives the memory of a piece of a sparse file back. Its bytes are 0 then.
    ///
    /// # Errors
    /// When the file system cannot do that.
    pub(crate) fn remove(&self, from: usize, bytes: usize, is_file: bool) -> io::Result<()> {
        self.advise(from, bytes, if is_file { libc::MADV_REMOVE } else { libc::MADV_DONTNEED })
    }

    fn advise(&self, from: usize, bytes: usize, advice: i32) -> io::Result<()> {
        assert!(from.checked_add(bytes).is_some_and(|end| end <= self.bytes), "a piece of the mapping");
        // SAFETY: the piece lies in this mapping; it is shared by nobody who counts on what lies there, by the contract of
        // the two that call this.
        let result = unsafe { libc::madvise(self.start().wrapping_add(from).cast(), bytes, advice) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Maps all of a file that another process has made and goes on writing.
    ///
    /// # Errors
    /// As the system says; or it is no file.
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

    /// Zeroed memory of this process alone: recording goes on where no file can be made, but nothing survives a kill.
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

/// How long a file the process may write, bytes (`ulimit -f`): beyond that a write fails, and SIGXFSZ ends a thread's process
/// that does not block it.
pub fn file_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a place for the answer.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    limit.rlim_cur
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `map` and is unmapped only here.
        unsafe { libc::munmap(self.start().cast(), self.bytes) };
    }
}
