//! Shared memory files: created whole, reserved on disk, faulted in, and unmapped when dropped.
#![allow(unsafe_code)] // mmap and munmap; the rest of the crate gets a pointer that lives as long as the mapping

use crate::sandbox;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
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
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
            .open(path)?;
        // SAFETY: an open file descriptor and a length; no memory is touched.
        let reserve = || unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) };
        // A signal may have interrupted it.
        let error = (0..TRIES).map(|_| reserve()).find(|error| *error != libc::EINTR).unwrap_or(libc::EINTR);
        let mapped = match error {
            0 => Self::map(libc::MAP_SHARED | libc::MAP_POPULATE, BOTH, file.as_raw_fd(), bytes),
            error => Err(io::Error::from_raw_os_error(error)),
        };
        if mapped.is_err() {
            let _ = std::fs::remove_file(path);
        }
        mapped
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
