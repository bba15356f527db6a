//! Access to recording processes: finds them, sends requests through their control page, and copies
//! their traces. Nothing here stops a process, signals it or attaches to it.

mod copy;
mod send;
mod snapshot;

pub use rocshim_ring::requests::{CollectorStats, Request};
pub use send::Silence;
pub use snapshot::Snapshot;

use crate::records::header;
use crate::stat::Stat;
use rocshim_ring::clock::Clock;
use rocshim_ring::definition::{Definition, StampedDefinition};
use rocshim_ring::event::LOSS_REASONS;
use rocshim_ring::{Control, Folder, LogReader, Pool, Ring};
use rocshim_trace::{Header, is_chosen, segment_path};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A recording process.
pub struct Live {
    /// Its pid, as seen from here.
    pub pid: u32,
    /// Its trace header.
    pub header: Header,
    /// Its trace file (the first segment), as a path that can be opened from here.
    pub trace: PathBuf,
    clock: Clock,
    folder: Folder,
    control: Control,
}

/// Why a process cannot be reached.
#[derive(Debug)]
pub enum Absent {
    /// No process has this pid.
    NoProcess,
    /// It belongs to another user.
    Others,
    /// It has not loaded the library.
    NotLoaded,
    /// `ROCSHIM_OFF` is set.
    Off,
    /// It is not selected: this variable, with this value, excludes it.
    NotChosen(&'static str, String),
    /// It has loaded the library, and made no hooked call.
    Idle,
    /// It records into private memory: no ring file could be created.
    Private,
    /// Its files cannot be trusted or read.
    Unsafe(io::Error),
}

/// The state of a live process's ring.
#[derive(Clone, Copy, Debug)]
pub struct RingState {
    /// Its thread id.
    pub tid: u32,
    /// Slots in the pool of its process.
    pub slots: u64,
    /// How many slots hold unread events of this thread.
    pub filled: u64,
    /// Calls of its thread that have returned.
    pub produced: u64,
}

impl Live {
    /// Finds the process with this pid.
    ///
    /// # Errors
    /// Why it cannot be reached.
    pub fn find(pid: u32) -> Result<Live, Absent> {
        let stat = Stat::of(pid).filter(|stat| stat.lives).ok_or(Absent::NoProcess)?;
        let maps = fs::read(format!("/proc/{pid}/maps")).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Absent::Others,
            _ => Absent::NoProcess,
        })?;
        let maps = String::from_utf8_lossy(&maps);
        let mut wrong = None;
        for (inode, path) in maps.lines().filter_map(mapped).filter(|(_, path)| path.ends_with("control")) {
            match open(pid, stat, inode, path) {
                Ok(Some(live)) => return Ok(live),
                Ok(None) => {}
                Err(error) => wrong = Some(error),
            }
        }
        if let Some(error) = wrong {
            return Err(if is_others(pid) { Absent::Others } else { Absent::Unsafe(error) });
        }
        let mut files = maps.lines().filter_map(mapped);
        if !files.any(|(_, path)| path.file_name().is_some_and(|name| name == "librocshim.so")) {
            return Err(Absent::NotLoaded);
        }
        Err(match unwanted(pid) {
            _ if has_collector(pid) => Absent::Private,
            Some(absent) => absent,
            None => Absent::Idle,
        })
    }

    /// The pids of this user's processes that have loaded the library; for root, of all users.
    pub fn all() -> Vec<u32> {
        let own = fs::metadata("/proc/self").map_or(0, |own| own.uid());
        let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
        let has_shim = |pid: &u32| {
            let is_own = fs::metadata(format!("/proc/{pid}")).is_ok_and(|of| own == 0 || of.uid() == own);
            let maps = || fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
            is_own && String::from_utf8_lossy(&maps()).contains("/librocshim.so")
        };
        let mut pids: Vec<u32> =
            fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(pid).filter(has_shim).collect();
        pids.sort_unstable();
        pids
    }

    /// True if its rings overwrite: it keeps the newest events, and writes them on request or at
    /// its end.
    pub fn is_flight_recorder(&self) -> bool {
        self.header.env.get("ROCSHIM_FULL").is_some_and(|full| full == "overwrite")
    }

    /// The file being written: the last segment.
    pub fn file(&self) -> PathBuf {
        segment_path(&self.trace, self.control.committed().segment)
    }

    /// Committed bytes of that file.
    pub fn written_bytes(&self) -> u64 {
        self.control.committed().offset
    }

    /// The collector's statistics, up to a quarter of a second old.
    pub fn account(&self) -> Option<CollectorStats> {
        self.control.requests().stats()
    }

    /// The loss reasons, in the order of `CollectorStats::lost`.
    pub fn loss_reasons() -> &'static [&'static str] {
        &LOSS_REASONS
    }

    /// Nanoseconds since 1970 of a stamp.
    pub fn unix_ns(&self, stamp: u64) -> u64 {
        self.clock.unix_ns + self.clock.ns(stamp)
    }

    /// When recording began, in nanoseconds since 1970.
    pub fn began_unix_ns(&self) -> u64 {
        self.clock.unix_ns
    }

    /// The current state of its rings. A ring that is being created or retired is omitted.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn rings(&self) -> io::Result<Vec<RingState>> {
        let state = |ring: Ring| {
            let (slots, filled) = ring.filled();
            RingState { tid: ring.tid(), slots, filled, produced: ring.produced() }
        };
        Ok(self.open_rings()?.into_iter().map(state).collect())
    }

    /// Opens its rings. One that is being created, or retired because its thread has ended, is
    /// omitted.
    fn open_rings(&self) -> io::Result<Vec<Ring>> {
        let pool = Arc::new(Pool::open(&self.folder.pool_path())?);
        let paths = self.folder.ring_paths()?.into_iter();
        Ok(paths.filter_map(|path| Ring::open(&path, &pool).ok()).collect())
    }
}

/// Inode and path of a mapping, from its line in `/proc/PID/maps`.
fn mapped(line: &str) -> Option<(u64, &Path)> {
    // Address, permissions, offset, device, inode, then the path, which may contain spaces.
    let at = line.find('/')?;
    let inode = line[..at].split_whitespace().nth(4)?.parse().ok()?;
    Some((inode, Path::new(&line[at..])))
}

/// Opens the process, if the control page with this inode is its own: a forked child still maps its
/// parent's.
fn open(pid: u32, stat: Stat, inode: u64, control: &Path) -> io::Result<Option<Live>> {
    let is_it = |path: &PathBuf| path.symlink_metadata().is_ok_and(|file| file.ino() == inode);
    // In a container the path has another meaning than here.
    let inside =
        |path: &Path| Path::new(&format!("/proc/{pid}/root")).join(path.strip_prefix("/").unwrap_or(path));
    let Some(path) = [control.to_path_buf(), inside(control)].into_iter().find(is_it) else {
        return Ok(None);
    };
    let is_inside = path != control;
    let Some(rings) = path.parent() else { return Ok(None) };
    let folder = Folder::open(rings)?;
    let (mut process, mut tick_hz) = (None, 0);
    LogReader::read_files(rings, |number, bytes| {
        // The clock is defined as soon as it was measured.
        if (process.is_some() && tick_hz != 0) || (number > 0 && process.is_none()) {
            return;
        }
        match rocshim_ring::log::decode(bytes) {
            Some(StampedDefinition { stamp, definition: Definition::Process(of) }) => {
                process = Some((stamp, of.unix_ns, header(&of), PathBuf::from(of.trace.as_ref())));
            }
            Some(StampedDefinition { definition: Definition::Clock { tick_hz: hz }, .. }) => tick_hz = hz,
            _ => {}
        }
    })?;
    let Some((start, unix_ns, header, trace)) = process else { return Ok(None) };
    let is_of_it =
        header.start_ticks == stat.start_ticks && (header.pid == pid || header.pid == inner_pid(pid));
    if !is_of_it {
        return Ok(None);
    }
    let trace = if is_inside { inside(&trace) } else { trace };
    let control = Control::open(&folder)?;
    Ok(Some(Live { pid, header, trace, clock: Clock { start, unix_ns, tick_hz }, folder, control }))
}

fn is_others(pid: u32) -> bool {
    let uid = |path: String| fs::metadata(path).map(|of| of.uid()).ok();
    let own = uid("/proc/self".into());
    own != Some(0) && own != uid(format!("/proc/{pid}"))
}

/// The pid inside the process's own namespace: a different one in a container.
fn inner_pid(pid: u32) -> u32 {
    status_word(pid, "NSpid:").unwrap_or(pid)
}

/// The last number in the line of `/proc/PID/status` that begins with `name`.
fn status_word(pid: u32, name: &str) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().last()?.parse().ok()
}

/// Why the process is not recorded, by its initial environment variables.
fn unwanted(pid: u32) -> Option<Absent> {
    let words = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let (environment, line) = (words("environ"), words("cmdline"));
    let value = |name: &str| {
        let mut set =
            environment.split(|byte| *byte == 0).filter_map(|word| word.strip_prefix(name.as_bytes()));
        let value = set.find_map(|rest| rest.strip_prefix(b"="));
        String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
    };
    if !matches!(value("ROCSHIM_OFF").as_str(), "" | "0") {
        return Some(Absent::Off);
    }
    let exe = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    // The name of the process; and that of a script, after its interpreter.
    let names = line.split(|byte| *byte == 0).take(2).map(|word| String::from_utf8_lossy(word).into_owned());
    let names: Vec<String> = names.chain([exe.to_string_lossy().into_owned()]).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (only, skip) = (value("ROCSHIM_ONLY"), value("ROCSHIM_SKIP"));
    if !is_chosen("", &skip, &names) {
        return Some(Absent::NotChosen("ROCSHIM_SKIP", skip));
    }
    (!is_chosen(&only, "", &names)).then_some(Absent::NotChosen("ROCSHIM_ONLY", only))
}

fn has_collector(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let name = |thread: fs::DirEntry| fs::read(thread.path().join("comm")).unwrap_or_default();
    threads.map(name).any(|name| name == b"rocshim\n")
}
