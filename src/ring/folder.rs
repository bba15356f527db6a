//! The files of one process: its rings, its definition log, and the control page that makes writing out exactly-once.
//!
//! ```text
//!   read rings ─► write lines to the trace ─► note each ring's position and the trace's part and length on the other side
//!                                             ─► epoch + 1 (this is the commit) ─► give the slots back
//! ```
//! Each ring and the control page hold the values of two commits; the epoch's lowest bit says which side counts. A
//! process that dies before the epoch moves left lines that recovery cuts off and writes again; after it, lines that
//! recovery leaves alone.
#![allow(unsafe_code)] // one cast of a mapped page to atomics, and a C call

use crate::clock;
use crate::event::{Gap, NO_MEMORY, THREAD_ENDED};
use crate::log::DEFINITIONS;
use crate::map::{Mapping, PAGE, read_file};
use crate::orders::Orders;
use crate::sync::{AtomicU64, fence};
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const MAGIC: u64 = u64::from_le_bytes(*b"ROCSHIMC");
/// How the names of ring folders begin: in shared memory, and beside a trace.
pub const NAMES: [&str; 2] = ["rocshim-", ".rocshim-"];
/// How the names of the files in them begin, or are.
const RING: &str = "ring-";
const CONTROL: &str = "control";
const CHUNKS: &str = "chunks";

/// The folder of a process's files.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes `path` for this user alone; it must not exist.
    ///
    /// # Errors
    /// As the system says.
    pub fn create(path: PathBuf) -> io::Result<Folder> {
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder { path })
    }

    /// The folder of another process, dead or alive. Its path may come out of a file that anyone has written.
    ///
    /// # Errors
    /// When it cannot be looked at, or is no folder that [`Folder::create`] makes: its name, a link, another user's (unless
    /// we are root), open to others.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let file = std::fs::symlink_metadata(path)?;
        // SAFETY: cannot fail.
        let me = unsafe { libc::geteuid() };
        let is_ours = NAMES.iter().any(|begin| name.starts_with(begin))
            && file.is_dir()
            && (file.uid() == me || me == 0)
            && file.mode() & 0o077 == 0;
        if !is_ours {
            let what = format!("{}: not a folder that rocshim made for this user alone", path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        Ok(Folder { path: path.to_path_buf() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the `number`th ring.
    pub fn ring_path(&self, number: u64) -> PathBuf {
        self.path.join(format!("{RING}{number}"))
    }

    /// The file of the chunks of all rings.
    pub fn pool_path(&self) -> PathBuf {
        self.path.join(CHUNKS)
    }

    /// The ring files in it, in order.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn ring_paths(&self) -> io::Result<Vec<PathBuf>> {
        let number = |path: &Path| path.file_name()?.to_str()?.strip_prefix(RING)?.parse::<u64>().ok();
        let entries = std::fs::read_dir(&self.path)?.map(|entry| entry.map(|e| e.path()));
        let paths = entries.collect::<io::Result<Vec<_>>>()?;
        let mut rings: Vec<_> = paths.into_iter().filter_map(|path| Some((number(&path)?, path))).collect();
        rings.sort();
        Ok(rings.into_iter().map(|(_, path)| path).collect())
    }

    /// Removes the folder with our files in it; the control page last, without which none of the others means anything.
    ///
    /// # Errors
    /// As the system says; a file that is not ours, or that cannot be removed, is left, and the folder with it.
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

#[repr(C)]
struct ControlPage {
    magic: AtomicU64,
    /// Commits so far. Release: after both sides' values.
    epoch: AtomicU64,
    /// Length of the trace file as of the two last commits. 0: it may not have been made.
    offset: [AtomicU64; 2],
    /// When the two last commits were made, as stamps.
    stamp: [AtomicU64; 2],
    /// Calls that came when recording had ended.
    late: AtomicU64,
    /// Which part of the trace the file is, as of the two last commits.
    part: [AtomicU64; 2],
    /// Calls of threads that could be given no ring, of threads that had closed theirs, and of those that were refused one.
    ringless: [Ringless; 3],
}

/// Where the orders lie in the page.
const ORDERS_AT: usize = PAGE / 2;
const _: () = assert!(size_of::<ControlPage>() <= ORDERS_AT);
const _: () = assert!(size_of::<Orders>() <= PAGE - ORDERS_AT);
/// Calls that were made without a ring: how many, the stamps of the first and the last, and why the last was.
#[repr(C)]
struct Ringless {
    count: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    reason: AtomicU64,
}

/// What a dead process committed last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Committed {
    /// Which commit it was.
    pub epoch: u64,
    /// Which part of the trace was written to, from 1.
    pub part: u32,
    /// Length of its file then, bytes.
    pub offset: u64,
    /// When it was, as a stamp: nothing that was written is later.
    pub stamp: u64,
    /// Calls that came when recording had ended.
    pub late: u64,
    /// The calls of threads that had no ring.
    pub ringless: [Gap; 3],
}

impl Committed {
    /// From the bytes of a control page that is called `path`.
    ///
    /// # Errors
    /// When it is none of ours.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> io::Result<Committed> {
        let word = |i: usize| {
            bytes.get(8 * i..8 * i + 8).and_then(|w| w.try_into().ok()).map_or(0, u64::from_le_bytes)
        };
        if word(0) != MAGIC {
            let what = format!("{}: not a control page of rocshim", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let side = (word(1) & 1) as usize;
        let ringless = |i: usize| {
            let at = (offset_of!(ControlPage, ringless) + i * size_of::<Ringless>()) / 8;
            Gap { lost: word(at), first: word(at + 1), last: word(at + 2), reason: word(at + 3) }
        };
        Ok(Committed {
            epoch: word(1),
            part: (word(7 + side) as u32).max(1),
            offset: word(2 + side),
            stamp: word(4 + side),
            late: word(offset_of!(ControlPage, late) / 8),
            ringless: [0, 1, 2].map(ringless),
        })
    }
}

/// The control page of a process.
pub struct Control {
    memory: Mapping,
}

impl Control {
    /// Makes the control page in `folder`, or in private memory.
    ///
    /// # Errors
    /// When neither can be had.
    pub fn create(folder: Option<&Folder>) -> io::Result<Control> {
        let memory = match folder {
            Some(folder) => Mapping::create(&folder.path.join(CONTROL), PAGE)?,
            None => Mapping::anonymous(PAGE)?,
        };
        let control = Control { memory };
        control.page().magic.store(MAGIC, Relaxed);
        Ok(control)
    }

    /// The control page of a process that lives.
    ///
    /// # Errors
    /// When the page cannot be opened, or is none of ours.
    pub fn open(folder: &Folder) -> io::Result<Control> {
        let path = folder.path.join("control");
        let control = Control { memory: Mapping::open(&path, true)? };
        if control.memory.bytes() < PAGE || control.page().magic.load(Relaxed) != MAGIC {
            let what = format!("{}: not a control page of rocshim", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(control)
    }

    /// What was committed last, of a process that lives.
    pub fn committed(&self) -> Committed {
        loop {
            let epoch = self.epoch();
            let side = (epoch & 1) as usize;
            let page = self.page();
            let [offset, stamp, part] =
                [&page.offset, &page.stamp, &page.part].map(|of| of[side].load(Relaxed));
            // The values are read before the epoch is looked at again: then they were not being written anew.
            fence(Acquire);
            if self.page().epoch.load(Relaxed) == epoch {
                let (part, late, ringless) = ((part as u32).max(1), self.late(), self.ringless());
                return Committed { epoch, part, offset, stamp, late, ringless };
            }
        }
    }

    /// What is asked of the process.
    pub fn orders(&self) -> &Orders {
        let at = self.memory.start().wrapping_add(ORDERS_AT);
        // SAFETY: the mapping is a whole page, in which `Orders` lies aligned behind the rest; all its fields are atomics.
        unsafe { &*at.cast() }
    }

    /// Reads what a dead process committed last.
    ///
    /// # Errors
    /// When the page cannot be read or is none of ours.
    pub fn read(folder: &Folder) -> io::Result<Committed> {
        let path = folder.path.join(CONTROL);
        Committed::from_bytes(&read_file(&path, PAGE)?, &path)
    }

    fn page(&self) -> &ControlPage {
        // SAFETY: the mapping is a whole, aligned page and all fields are atomics.
        unsafe { &*self.memory.start().cast() }
    }

    /// Of a model: the words that a commit writes, the epoch first.
    #[cfg(all(test, loom))]
    pub(crate) fn words(&self) -> Vec<*const u64> {
        let page = self.page();
        let sides = page.offset.iter().chain(&page.part);
        std::iter::once(&page.epoch).chain(sides).map(|word| word.as_ptr().cast_const()).collect()
    }

    /// Commits so far.
    pub fn epoch(&self) -> u64 {
        self.page().epoch.load(Acquire)
    }

    /// Makes what was prepared in the rings for the next epoch, and the length `offset` of the trace's `part`, what counts.
    pub fn commit(&self, part: u32, offset: u64) {
        let epoch = self.epoch().wrapping_add(1);
        let side = (epoch & 1) as usize;
        // Who reads a value of this side that is stored from here on, finds that another epoch counts by now.
        fence(Release);
        self.page().part[side].store(part.into(), Relaxed);
        self.page().offset[side].store(offset, Relaxed);
        self.page().stamp[side].store(clock::now(), Relaxed);
        // Release: the values of this side are in place before it counts.
        self.page().epoch.store(epoch, Release);
    }

    /// Counts a call of a thread that has no ring: none could be made, it had closed it (`NO_MEMORY`, `THREAD_ENDED`), or
    /// was refused one for another reason.
    pub fn count_ringless(&self, reason: u64) {
        let now = clock::now();
        self.count_lost(&Gap { lost: 1, first: now, last: now, reason });
    }

    /// Counts calls that no ring file tells of.
    pub fn count_lost(&self, gap: &Gap) {
        let which = [NO_MEMORY, THREAD_ENDED].iter().position(|usual| *usual == gap.reason).unwrap_or(2);
        let calls = &self.page().ringless[which];
        // Relaxed, here and below: counters; they are read at the end.
        let _ = calls.first.compare_exchange(0, gap.first, Relaxed, Relaxed);
        calls.first.fetch_min(gap.first, Relaxed);
        calls.last.fetch_max(gap.last, Relaxed);
        calls.reason.store(gap.reason, Relaxed);
        calls.count.fetch_add(gap.lost, Relaxed);
    }

    /// The calls of threads that had no ring; without any, `lost` is 0.
    pub fn ringless(&self) -> [Gap; 3] {
        self.page().ringless.each_ref().map(|calls| {
            let [lost, first, last, reason] =
                [&calls.count, &calls.first, &calls.last, &calls.reason].map(|number| number.load(Relaxed));
            Gap { lost, first, last, reason }
        })
    }

    /// Counts a call that came when recording had ended.
    pub fn count_late(&self) {
        self.page().late.fetch_add(1, Relaxed);
    }

    /// Calls that came when recording had ended.
    pub fn late(&self) -> u64 {
        self.page().late.load(Relaxed)
    }
}
