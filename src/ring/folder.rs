//! The files of one process: its rings, its definition log, and the control page with the commit
//! protocol that makes writing exactly-once.
//!
//! ```text
//!   read rings ─► write lines ─► store positions, segment, length in the inactive copy
//!              ─► epoch + 1 (this commits) ─► return the chunks
//! ```
//! Each ring and the control page hold the values of two commits; the epoch's lowest bit selects
//! the valid one. If the process dies before the epoch changes, recovery truncates the uncommitted
//! lines and writes them again; after it, recovery keeps them.
#![allow(unsafe_code)] // one cast of a mapped page to atomics, and a C call

use crate::clock;
use crate::event::{Gap, NO_MEMORY, THREAD_ENDED};
use crate::log::DEFINITIONS;
use crate::map::{Mapping, PAGE, read_file};
use crate::owner::Owner;
use crate::requests::ControlRequests;
use crate::sync::{AtomicU64, fence};
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::offset_of;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const MAGIC: u64 = u64::from_le_bytes(*b"ROCSHIMC");
/// Name prefixes of ring folders: in shared memory, and beside a trace.
pub const FOLDER_PREFIXES: [&str; 2] = ["rocshim-", ".rocshim-"];
/// Names or name prefixes of the files in them.
const RING: &str = "ring-";
const CONTROL: &str = "control";
const CHUNKS: &str = "chunks";

/// The folder of a process's ring files.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates `path`, accessible to this user alone; it must not exist.
    ///
    /// # Errors
    /// Those of the system call.
    pub fn create(path: PathBuf) -> io::Result<Folder> {
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder { path })
    }

    /// The folder of another process, dead or alive. Its path may come from an untrusted file.
    ///
    /// # Errors
    /// If it cannot be inspected, or is not a folder that [`Folder::create`] makes: another name, a
    /// link, owned by another user (unless we are root), or accessible to others.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let file = std::fs::symlink_metadata(path)?;
        // SAFETY: geteuid takes no argument and cannot fail.
        let me = unsafe { libc::geteuid() };
        let is_ours = FOLDER_PREFIXES.iter().any(|begin| name.starts_with(begin))
            && file.is_dir()
            && (file.uid() == me || me == 0)
            && file.mode() & 0o077 == 0;
        if !is_ours {
            let what = format!("{}: not a folder that rocshim made for this user alone", path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        Ok(Folder { path: path.to_path_buf() })
    }

    /// Returns the folder's owner.
    ///
    /// # Errors
    /// When its metadata cannot be read.
    pub fn owner(&self) -> io::Result<Owner> {
        Ok(Owner::of(&std::fs::symlink_metadata(&self.path)?))
    }

    /// Takes the folder's lock for its process until the returned file is closed: see
    /// [`Folder::is_held`].
    ///
    /// # Errors
    /// When the file system does not support locks.
    pub fn hold(&self) -> io::Result<File> {
        let file = self.open_control()?;
        lock(&file, libc::LOCK_EX).map(|()| file)
    }

    /// True while the process holds the folder's lock, which the kernel releases when the process
    /// ends, in whatever PID namespace it runs; `None` if it never took the lock, or the lock
    /// cannot be tested.
    pub fn is_held(&self) -> Option<bool> {
        Control::read(self).ok().filter(|committed| committed.is_locked)?;
        match lock(&self.open_control().ok()?, libc::LOCK_SH) {
            Ok(()) => Some(false),
            Err(error) => (error.kind() == io::ErrorKind::WouldBlock).then_some(true),
        }
    }

    fn open_control(&self) -> io::Result<File> {
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
        OpenOptions::new().read(true).custom_flags(flags).open(self.path.join(CONTROL))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of ring `number`.
    pub fn ring_path(&self, number: u64) -> PathBuf {
        self.path.join(format!("{RING}{number}"))
    }

    /// The file of the pool, which holds the chunks of all rings.
    pub fn pool_path(&self) -> PathBuf {
        self.path.join(CHUNKS)
    }

    /// The ring files in it, sorted by name.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn ring_paths(&self) -> io::Result<Vec<PathBuf>> {
        let number = |path: &Path| path.file_name()?.to_str()?.strip_prefix(RING)?.parse::<u64>().ok();
        let entries = std::fs::read_dir(&self.path)?.map(|entry| entry.map(|e| e.path()));
        let paths = entries.collect::<io::Result<Vec<_>>>()?;
        let mut rings: Vec<_> = paths.into_iter().filter_map(|path| Some((number(&path)?, path))).collect();
        rings.sort();
        Ok(rings.into_iter().map(|(_, path)| path).collect())
    }

    /// Removes our files and the folder; the control page last, because the other files have no
    /// meaning without it.
    ///
    /// # Errors
    /// Those of the system calls. A foreign file, or one that cannot be removed, stays, and so does
    /// the folder.
    pub fn remove(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.path)? {
            let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
            let name = name.to_string_lossy();
            if name.starts_with(RING) || name.starts_with(DEFINITIONS) || name == CHUNKS {
                std::fs::remove_file(path)?;
            }
        }
        match std::fs::remove_file(self.path.join(CONTROL)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::fs::remove_dir(&self.path)
    }
}

/// Applies the `flock` operation `how` to an open file, without waiting.
fn lock(file: &File, how: i32) -> io::Result<()> {
    // SAFETY: `flock` takes the descriptor of an open file, and changes no memory.
    let result = unsafe { libc::flock(file.as_raw_fd(), how | libc::LOCK_NB) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[repr(C)]
struct ControlPage {
    magic: AtomicU64,
    /// Number of commits. Release: after both copies' values.
    epoch: AtomicU64,
    /// Length of the segment file in bytes, as of the last two commits. 0: the file may not exist.
    offset: [AtomicU64; 2],
    /// Stamps of the last two commits.
    stamp: [AtomicU64; 2],
    /// Calls after recording had ended.
    late: AtomicU64,
    /// The segment number, as of the last two commits.
    segment: [AtomicU64; 2],
    /// Calls of threads without a ring: none could be created, it was already closed, or it was
    /// refused for another reason.
    untracked: [Untracked; 3],
    /// The PID namespace and boot in which the process's pid is valid; 0: unknown.
    pid_namespace: AtomicU64,
    /// 1 once the process holds the folder's lock.
    locked: AtomicU64,
}

/// Offset of the control requests in the page.
const REQUESTS_AT: usize = PAGE / 2;
const _: () = assert!(size_of::<ControlPage>() <= REQUESTS_AT);
const _: () = assert!(size_of::<ControlRequests>() <= PAGE - REQUESTS_AT);
/// Calls made without a ring: count, stamps of the first and the last, and the reason of the last.
#[repr(C)]
struct Untracked {
    count: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    reason: AtomicU64,
}

/// The last commit of a dead process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Committed {
    /// Its number.
    pub epoch: u64,
    /// The segment that was being written, from 1.
    pub segment: u32,
    /// Length of its file, bytes.
    pub offset: u64,
    /// Its stamp: nothing that was written is later.
    pub stamp: u64,
    /// Calls after recording had ended.
    pub late: u64,
    /// Calls of threads without a ring.
    pub untracked: [Gap; 3],
    /// The PID namespace and boot in which the process's pid is valid; 0: unknown.
    pub pid_namespace: u64,
    /// The process holds the folder's lock, or did: see [`Folder::is_held`].
    pub is_locked: bool,
}

impl Committed {
    /// Decodes the bytes of a control page; `path` names it in errors.
    ///
    /// # Errors
    /// If it is not a control page of this version.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> io::Result<Committed> {
        let word = |i: usize| {
            bytes.get(8 * i..8 * i + 8).and_then(|w| w.try_into().ok()).map_or(0, u64::from_le_bytes)
        };
        if word(0) != MAGIC {
            let what = format!("{}: not a control page of rocshim", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let side = (word(1) & 1) as usize;
        let untracked = |i: usize| {
            let at = (offset_of!(ControlPage, untracked) + i * size_of::<Untracked>()) / 8;
            Gap { lost: word(at), first: word(at + 1), last: word(at + 2), reason: word(at + 3) }
        };
        Ok(Committed {
            epoch: word(1),
            segment: (word(7 + side) as u32).max(1),
            offset: word(2 + side),
            stamp: word(4 + side),
            late: word(offset_of!(ControlPage, late) / 8),
            untracked: [0, 1, 2].map(untracked),
            pid_namespace: word(offset_of!(ControlPage, pid_namespace) / 8),
            is_locked: word(offset_of!(ControlPage, locked) / 8) == 1,
        })
    }
}

/// The control page of a process.
pub struct Control {
    memory: Mapping,
}

impl Control {
    /// Creates the control page in `folder`, or in private memory.
    ///
    /// # Errors
    /// If neither is possible.
    pub fn create(folder: Option<&Folder>) -> io::Result<Control> {
        let memory = match folder {
            Some(folder) => Mapping::create(&folder.path.join(CONTROL), PAGE)?,
            None => Mapping::anonymous(PAGE)?,
        };
        let control = Control { memory };
        control.page().magic.store(MAGIC, Relaxed);
        Ok(control)
    }

    /// Opens the control page of a live process.
    ///
    /// # Errors
    /// If the page cannot be opened, or is not a control page of this version.
    pub fn open(folder: &Folder) -> io::Result<Control> {
        let path = folder.path.join("control");
        let control = Control { memory: Mapping::open(&path, true)? };
        if control.memory.bytes() < PAGE || control.page().magic.load(Relaxed) != MAGIC {
            let what = format!("{}: not a control page of rocshim", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(control)
    }

    /// The last commit of a live process.
    pub fn committed(&self) -> Committed {
        loop {
            let epoch = self.epoch();
            let side = (epoch & 1) as usize;
            let page = self.page();
            let [offset, stamp, segment] =
                [&page.offset, &page.stamp, &page.segment].map(|of| of[side].load(Relaxed));
            // The values are loaded before the epoch is checked again, so a concurrent commit is
            // noticed.
            fence(Acquire);
            if self.page().epoch.load(Relaxed) == epoch {
                let (segment, late, untracked) = ((segment as u32).max(1), self.late(), self.untracked());
                // Relaxed: they are set before anything is committed.
                let pid_namespace = page.pid_namespace.load(Relaxed);
                let is_locked = page.locked.load(Relaxed) == 1;
                return Committed {
                    epoch,
                    segment,
                    offset,
                    stamp,
                    late,
                    untracked,
                    pid_namespace,
                    is_locked,
                };
            }
        }
    }

    /// The control requests.
    pub fn requests(&self) -> &ControlRequests {
        let at = self.memory.start().wrapping_add(REQUESTS_AT);
        // SAFETY: the mapping is a whole page, in which `ControlRequests` is aligned at
        // `REQUESTS_AT` after the other fields; all its fields are atomics.
        unsafe { &*at.cast() }
    }

    /// Reads the last commit of a dead process.
    ///
    /// # Errors
    /// If the page cannot be read or is not a control page of this version.
    pub fn read(folder: &Folder) -> io::Result<Committed> {
        let path = folder.path.join(CONTROL);
        Committed::from_bytes(&read_file(&path, PAGE)?, &path)
    }

    /// Stores the PID namespace and boot in which the process's pid is valid.
    pub fn set_pid_namespace(&self, pid_namespace: u64) {
        self.page().pid_namespace.store(pid_namespace, Relaxed);
    }

    /// Notes that the folder's lock is held.
    pub fn set_locked(&self) {
        // Release: after it was taken.
        self.page().locked.store(1, Release);
    }

    fn page(&self) -> &ControlPage {
        // SAFETY: the mapping is a whole, page-aligned page, and all fields of `Page` are atomics.
        unsafe { &*self.memory.start().cast() }
    }

    /// For loom models: the words that a commit writes, the epoch first.
    #[cfg(all(test, loom))]
    pub(crate) fn words(&self) -> Vec<*const u64> {
        let page = self.page();
        let sides = page.offset.iter().chain(&page.segment);
        std::iter::once(&page.epoch).chain(sides).map(|word| word.as_ptr().cast_const()).collect()
    }

    /// Number of commits.
    pub fn epoch(&self) -> u64 {
        self.page().epoch.load(Acquire)
    }

    /// Commits what the rings prepared for the next epoch, together with the segment number and its
    /// length `offset` in bytes.
    pub fn commit(&self, segment: u32, offset: u64) {
        let epoch = self.epoch().wrapping_add(1);
        let side = (epoch & 1) as usize;
        // A reader that loads a value stored after this fence finds another epoch when it checks
        // again.
        fence(Release);
        self.page().segment[side].store(segment.into(), Relaxed);
        self.page().offset[side].store(offset, Relaxed);
        self.page().stamp[side].store(clock::now(), Relaxed);
        // Release: this copy's values are stored before the epoch makes it valid.
        self.page().epoch.store(epoch, Release);
    }

    /// Counts a call of a thread without a ring: it could not be created (`NO_MEMORY`), was already
    /// closed (`THREAD_ENDED`), or was refused for another reason.
    pub fn count_untracked(&self, reason: u64) {
        let now = clock::now();
        self.count_lost(&Gap { lost: 1, first: now, last: now, reason });
    }

    /// Counts calls that are in no ring file.
    pub fn count_lost(&self, gap: &Gap) {
        let which = [NO_MEMORY, THREAD_ENDED].iter().position(|usual| *usual == gap.reason).unwrap_or(2);
        let calls = &self.page().untracked[which];
        // Relaxed, here and below: counters; they are read at the end.
        let _ = calls.first.compare_exchange(0, gap.first, Relaxed, Relaxed);
        calls.first.fetch_min(gap.first, Relaxed);
        calls.last.fetch_max(gap.last, Relaxed);
        calls.reason.store(gap.reason, Relaxed);
        calls.count.fetch_add(gap.lost, Relaxed);
    }

    /// The calls of threads without a ring; `lost` is 0 if there are none.
    pub fn untracked(&self) -> [Gap; 3] {
        self.page().untracked.each_ref().map(|calls| {
            let [lost, first, last, reason] =
                [&calls.count, &calls.first, &calls.last, &calls.reason].map(|number| number.load(Relaxed));
            Gap { lost, first, last, reason }
        })
    }

    /// Counts a call after recording had ended.
    pub fn count_late(&self) {
        self.page().late.fetch_add(1, Relaxed);
    }

    /// Calls after recording had ended.
    pub fn late(&self) -> u64 {
        self.page().late.load(Relaxed)
    }
}
