//! Recovers what a dead process left in its ring files: reads them from the last commit on, as
//! complete lines.

use crate::decoder::Decoder;
use crate::frames::{is_compressed, lines_of};
use crate::stat::Stat;
use rocshim_ring::clock::measure_hz;
use rocshim_ring::event::{Gap, LOSS_REASONS};
use rocshim_ring::folder::FOLDER_PREFIXES;
use rocshim_ring::owner::{self, Owner, Rights};
use rocshim_ring::{Committed, Consumer, Control, Counters, Folder, LogReader, Pool, Ring};
use rocshim_trace::{Footer, Header, Record, TracePath, parse_line, segment_path, write_record};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Recovered lines that are not in the trace file yet.
#[derive(Debug, Default)]
pub struct Leftover {
    /// Complete NDJSON: definitions, events, gaps, calls in flight, counters, footer.
    pub lines: Vec<u8>,
    /// Number of events among them.
    pub events: u64,
    rings: PathBuf,
}

/// What a dead process left in its ring files and is not in `trace` yet, with the number of bytes
/// of `trace` that are committed and precede it. `None`: nothing is left (the trace has its footer,
/// the process still runs, or its ring files are gone).
///
/// # Errors
/// If `trace` or the ring files cannot be read.
pub fn leftover(trace: &Path) -> io::Result<Option<(u64, Leftover)>> {
    let Some(rings) = rings_of(trace)? else { return Ok(None) };
    let folder = Folder::open(&rings)?;
    let committed = match Control::read(&folder) {
        // It had just created the folder, or was about to remove it: see `Folder::remove`.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        committed => committed?,
    };
    // The leftover belongs to the end of the last segment.
    if TracePath::of(trace).is_some_and(|path| path.part != committed.segment) {
        return Ok(None);
    }
    let whole = committed.offset.min(std::fs::metadata(trace).map(|file| file.len()).unwrap_or(0));
    let (mut lines, events) = drain(&folder, committed, whole > 0)?;
    if is_compressed(trace) {
        return Ok(Some((whole, Leftover { lines, events, rings })));
    }
    // The last line was about to be padded for lines that were never committed: its end is written
    // again.
    if whole > 0 && byte_at(trace, whole - 1)? != b'\n' {
        lines.insert(0, b'\n');
        return Ok(Some((whole - 1, Leftover { lines, events, rings })));
    }
    Ok(Some((whole, Leftover { lines, events, rings })))
}

fn byte_at(path: &Path, at: u64) -> io::Result<u8> {
    let mut byte = [0];
    File::open(path)?.read_exact_at(&mut byte, at)?;
    Ok(byte[0])
}

/// Appends what a dead process left to `trace`, removes its ring files, and returns the number of
/// recovered events; `None` if nothing was left.
///
/// # Errors
/// If `trace` cannot be written (nothing is lost then: the ring files stay).
pub fn recover(trace: &Path) -> io::Result<Option<u64>> {
    let owner = match std::fs::symlink_metadata(trace) {
        Ok(file) if file.is_file() => Owner::of(&file),
        Ok(_) => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file, but a link or a folder"));
        }
        // The trace was never created: its owner is the owner of the ring files.
        Err(_) => match rings_by_name(trace) {
            Some(rings) => Folder::open(&rings)?.owner()?,
            None => return Ok(None),
        },
    };
    let _rights = Rights::of(owner)?;
    recover_of(owner, trace)
}

/// The same with the rights of the trace's `owner`: ring files of other users are neither read nor
/// removed.
fn recover_of(owner: Owner, trace: &Path) -> io::Result<Option<u64>> {
    let Some((whole, left)) = leftover(trace)? else {
        remove_needless(trace)?;
        return Ok(None);
    };
    let folder = Folder::open(&left.rings)?;
    let mut file = owner::open(trace, true)?;
    if !folder.owner()?.is(owner) || !Owner::of(&file.metadata()?).is(owner) {
        let what = "the trace and its ring files belong to two users: recover it as its owner";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    file.set_len(whole)?;
    file.seek(SeekFrom::End(0))?;
    if is_compressed(trace) {
        file.write_all(&zstd::encode_all(&left.lines[..], 0)?)?;
    } else {
        file.write_all(&left.lines)?;
    }
    file.sync_all()?;
    folder.remove()?;
    Ok(Some(left.events))
}

/// Removes the ring files of a complete trace, which its process has left, because it could not
/// remove them or was killed meanwhile.
fn remove_needless(trace: &Path) -> io::Result<()> {
    let Some(header) = header_of(trace)? else { return Ok(()) };
    let rings = PathBuf::from(&header.rings);
    if header.rings.is_empty() || !rings.is_dir() || is_running(&header) || !has_ended(trace)? {
        return Ok(());
    }
    // The trace may be forged: only a folder whose name belongs to it is removed.
    let name = rings.file_name().unwrap_or_default().to_string_lossy();
    let first = TracePath::of(trace).map(|path| path.first).unwrap_or_default();
    let first = first.file_name().unwrap_or_default().to_string_lossy();
    let beside = first.split(".ndjson").next().map(|stem| format!("{}{stem}", FOLDER_PREFIXES[1]));
    if name.contains(&format!("-{}-{}-", header.pid, header.start_ticks))
        || beside.is_some_and(|own| own == name)
    {
        Folder::open(&rings)?.remove()?;
    }
    Ok(())
}

/// Trace files in `folder`, segments included, that dead processes never created: only their ring
/// files exist.
pub fn unbegun(folder: &Path) -> Vec<PathBuf> {
    left_in(folder).filter(|process| !process.has_begun).map(|process| process.trace).collect()
}

/// Trace files that dead processes wrote to `folder` and that were deleted by hand, or moved away,
/// although the ring files are left, with the last events. Segments that were finished before are
/// not known.
pub fn deleted(folder: &Path) -> Vec<PathBuf> {
    left_in(folder).filter(RingProcess::is_deleted).map(|process| process.trace).collect()
}

/// What is left of dead processes that wrote to `folder`.
fn left_in(folder: &Path) -> impl Iterator<Item = RingProcess> {
    let found = ring_folders(Some(folder)).into_iter().filter_map(|rings| process_of(&rings));
    found.filter(move |left| !is_running(&left.header) && left.trace.parent() == Some(folder))
}

/// The unrecovered ring files of a dead process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// Its trace.
    pub trace: PathBuf,
    /// The folder of its ring files.
    pub rings: PathBuf,
    /// True when the trace, or its folder, was deleted: it cannot be finished.
    pub is_deleted: bool,
}

impl Stale {
    /// Removes the ring files, and with them what is not in the trace.
    ///
    /// # Errors
    /// Those of the system.
    pub fn discard(&self) -> io::Result<()> {
        let folder = Folder::open(&self.rings)?;
        let _rights = Rights::of(folder.owner()?)?;
        folder.remove()
    }
}

/// Ring files of this user's dead processes in shared memory or, where `ROCSHIM_RINGS` names a
/// folder, in that one alone. Those beside traces are found with the traces.
pub fn stale() -> Vec<Stale> {
    let left = |rings: PathBuf| {
        let process = process_of(&rings)?;
        let is_deleted = process.is_deleted() || !process.trace.parent().is_some_and(Path::is_dir);
        (!is_running(&process.header)).then_some(Stale { trace: process.trace, rings, is_deleted })
    };
    let named = std::env::var_os("ROCSHIM_RINGS").filter(|folder| !folder.is_empty());
    let is_meant = |rings: &PathBuf| named.as_ref().is_none_or(|named| rings.starts_with(named));
    let mut found: Vec<Stale> = ring_folders(None).into_iter().filter(is_meant).filter_map(left).collect();
    found.sort_by(|a, b| a.trace.cmp(&b.trace));
    found.dedup();
    found
}

/// The ring folder of the dead process that wrote `trace`, if it still exists.
fn rings_of(trace: &Path) -> io::Result<Option<PathBuf>> {
    let Some(header) = header_of(trace)? else { return Ok(rings_by_name(trace)) };
    let rings = PathBuf::from(&header.rings);
    let is_left = !header.rings.is_empty() && rings.is_dir() && !is_running(&header) && !has_ended(trace)?;
    Ok(is_left.then_some(rings))
}

/// The header of a trace file; `None` if the file does not exist or does not begin with one.
///
/// # Errors
/// If it cannot be read.
pub fn header_of(trace: &Path) -> io::Result<Option<Header>> {
    let file = match File::open(trace) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut line = Vec::new();
    BufReader::new(lines_of(trace, file)?.take(16 << 20)).read_until(b'\n', &mut line)?;
    Ok(match parse_line(&line) {
        Ok(Record::Header(header)) => Some(header),
        _ => None,
    })
}

/// For a trace without a header: the process died before it wrote one.
fn rings_by_name(trace: &Path) -> Option<PathBuf> {
    let trace = std::path::absolute(trace).ok()?;
    ring_folders(trace.parent()).into_iter().find(|rings| {
        let left = process_of(rings).filter(|left| left.trace == trace && !left.is_deleted());
        left.is_some_and(|left| !is_running(&left.header))
    })
}

/// Every folder that may hold ring folders: shared memory or the one that `ROCSHIM_RINGS` names,
/// and `folder`, beside the traces, if given.
fn ring_folders(folder: Option<&Path>) -> Vec<PathBuf> {
    let in_folder = |folder: &Path, prefix: &'static str| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let ours = entries.filter(move |e| e.file_name().to_string_lossy().starts_with(prefix));
        ours.map(|e| e.path()).collect::<Vec<_>>()
    };
    let asked = std::env::var_os("ROCSHIM_RINGS").map(PathBuf::from);
    let shared = asked.into_iter().chain([PathBuf::from("/dev/shm")]);
    let beside = folder.into_iter().flat_map(|folder| in_folder(folder, FOLDER_PREFIXES[1]));
    let found = shared.flat_map(|place| in_folder(&place, FOLDER_PREFIXES[0])).chain(beside);
    found.filter(|path| Folder::open(path).is_ok()).collect()
}

/// The process of a ring folder.
struct RingProcess {
    header: Header,
    /// The segment file that it was writing.
    trace: PathBuf,
    /// True once it had written to that file.
    has_begun: bool,
}

impl RingProcess {
    /// True when the file that it was writing was deleted by hand, or moved away.
    fn is_deleted(&self) -> bool {
        // A link in its place is not followed: it is refused where the trace is to be finished.
        let found = std::fs::symlink_metadata(&self.trace);
        self.has_begun && found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }
}

fn process_of(rings: &Path) -> Option<RingProcess> {
    let folder = Folder::open(rings).ok()?;
    let _rights = Rights::of(folder.owner().ok()?).ok()?;
    let (mut decoder, mut trace, mut out) = (Decoder::default(), None, Vec::new());
    LogReader::read_files(rings, |number, bytes| {
        if number == 0 {
            if let Some(rocshim_ring::definition::StampedDefinition {
                definition: rocshim_ring::Definition::Process(process),
                ..
            }) = rocshim_ring::log::decode(bytes)
            {
                trace = Some(PathBuf::from(process.trace.as_ref()));
            }
            decoder.define(number, bytes, &mut out);
        }
    })
    .ok()?;
    let (part, offset) = Control::read(&folder).map_or((1, 0), |now| (now.segment, now.offset));
    let (header, trace) = (decoder.header().clone(), segment_path(&trace?, part));
    Some(RingProcess { header, trace, has_begun: offset != 0 })
}

/// True when the process that wrote `header` still runs. In this PID namespace its pid and start
/// time decide (a pid alone may have been reused). Elsewhere the lock of its ring folder decides;
/// if the lock cannot be tested, the process counts as running.
pub fn is_running(header: &Header) -> bool {
    if Stat::of(header.pid).is_some_and(|stat| stat.lives && stat.start_ticks == header.start_ticks) {
        return true;
    }
    let Ok(folder) = Folder::open(Path::new(&header.rings)) else { return false };
    let Ok(committed) = Control::read(&folder) else { return false };
    let is_elsewhere = committed.pid_namespace != 0 && committed.pid_namespace != Stat::pid_namespace();
    is_elsewhere && folder.is_held().unwrap_or(true)
}

/// True if the trace has its last footer. A segment's footer may exist although the step to the
/// next was never committed: then that segment is the last.
fn has_ended(trace: &Path) -> io::Result<bool> {
    let mut file = File::open(trace)?;
    let length = file.metadata()?.len();
    let mut tail = Vec::new();
    if is_compressed(trace) {
        let mut lines = BufReader::new(lines_of(trace, file)?);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            std::mem::swap(&mut tail, &mut line);
            line.clear();
        }
    } else {
        file.seek(SeekFrom::Start(length.saturating_sub(64 * 1024)))?;
        file.read_to_end(&mut tail)?;
    }
    let last = tail.strip_suffix(b"\n").and_then(|whole| whole.rsplit(|byte| *byte == b'\n').next());
    Ok(last.is_some_and(
        |line| matches!(parse_line(line), Ok(Record::Footer(footer)) if footer.end != "rotated"),
    ))
}

/// Reads the rings of a dead process from `committed` on; header and hook table are omitted if the
/// trace has them.
fn drain(folder: &Folder, committed: Committed, has_header: bool) -> io::Result<(Vec<u8>, u64)> {
    let mut decoder = decoder_of(committed, has_header);
    let mut lines = Vec::new();
    LogReader::read_files(folder.path(), |number, bytes| decoder.define(number, bytes, &mut lines))?;
    if !decoder.has_begun() {
        // It died before it measured its clock; this machine's clock is the same.
        decoder.begin(measure_hz(Duration::from_millis(5)), &mut lines);
    }
    let pool = Arc::new(match Pool::read(&folder.pool_path()) {
        // It died before it created a pool.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Pool::from_bytes(&[])?,
        pool => pool?,
    });
    let rings = folder.ring_paths()?.into_iter().map(|path| Ring::read(&path, &pool));
    let events = drain_rings(&mut decoder, committed, rings, &mut lines)?;
    Ok((lines, events))
}

/// The files of a killed process, as bytes.
#[derive(Clone, Debug, Default)]
pub struct Remains {
    /// Its control page.
    pub control: Vec<u8>,
    /// The first file of its definition log.
    pub definitions: Vec<u8>,
    /// A ring file.
    pub ring: Vec<u8>,
    /// The chunks in use of its ring memory.
    pub chunks: Vec<u8>,
}

impl Remains {
    /// Recovers them as a trace: for tests of damaged files. A clock that they do not define runs
    /// at 1 GHz.
    ///
    /// # Errors
    /// If they are not those of a process.
    pub fn lines(&self) -> io::Result<Vec<u8>> {
        let name = |file: &'static str| Path::new(file);
        let committed = Committed::from_bytes(&self.control, name("control"))?;
        let (mut decoder, mut lines) = (decoder_of(committed, false), Vec::new());
        LogReader::default().read_file(&self.definitions, name("defs-0"), |number, bytes| {
            decoder.define(number, bytes, &mut lines);
        })?;
        if !decoder.has_begun() {
            decoder.begin(1_000_000_000, &mut lines);
        }
        let pool = Arc::new(Pool::from_bytes(&self.chunks)?);
        let ring = Ring::from_bytes(&self.ring, name("ring-0"), &pool);
        drain_rings(&mut decoder, committed, [ring].into_iter(), &mut lines)?;
        Ok(lines)
    }
}

fn decoder_of(committed: Committed, has_header: bool) -> Decoder {
    let mut decoder = Decoder::new(has_header);
    decoder.set_segment(committed.segment);
    decoder
}

/// Emits the contents of the rings and the end of the trace; returns the number of events.
fn drain_rings(
    decoder: &mut Decoder,
    committed: Committed,
    rings: impl Iterator<Item = io::Result<Option<Ring>>>,
    lines: &mut Vec<u8>,
) -> io::Result<u64> {
    let (mut latest, mut events) = (committed.stamp, 0);
    for ring in rings {
        if let Some(ring) = ring? {
            events += drain_ring(decoder, Arc::new(ring), committed.epoch, &mut latest, lines);
        }
    }
    for gap in committed.untracked.iter().filter(|gap| gap.lost != 0) {
        latest = latest.max(gap.last);
        decoder.gap(0, gap, lines);
    }
    let late = committed.late;
    let footer = Footer { t: decoder.ns(latest), end: "recovered".into(), late, ..Footer::default() };
    write_record(lines, &Record::Footer(footer));
    Ok(events)
}

fn drain_ring(
    decoder: &mut Decoder,
    ring: Arc<Ring>,
    epoch: u64,
    latest: &mut u64,
    lines: &mut Vec<u8>,
) -> u64 {
    let tid = ring.tid();
    let Some(mut consumer) = Consumer::after_commit(ring.clone(), epoch) else { return 0 };
    let (before, mut last_id, head) = (consumer.written(), 0, consumer.position().head);
    let whole = consumer.read(head, |event| {
        last_id = event.id;
        *latest = (*latest).max(event.stamp.saturating_add(event.ticks));
        decoder.event(tid, event, lines);
    });
    let Counters { written, mut lost } = consumer.counters();
    for gap in consumer.unreported() {
        *latest = (*latest).max(gap.last);
        lost = lost.saturating_add(gap.lost);
        decoder.gap(tid, &gap, lines);
    }
    if !whole {
        let unreadable = consumer.produced().saturating_sub(written.saturating_add(lost));
        let reason = LOSS_REASONS.iter().position(|reason| *reason == "unreadable").unwrap_or(0) as u64;
        decoder.gap(tid, &Gap { lost: unreadable, first: *latest, last: *latest, reason }, lines);
        lost = lost.saturating_add(unreadable);
    }
    // A call whose event is in the ring had returned, though its in-flight slot was still in use.
    for event in ring.in_flight().iter().filter(|event| event.id != last_id) {
        *latest = (*latest).max(event.stamp);
        decoder.in_flight(tid, event, lines);
    }
    // A kill may fall between two counters of a call being entered or left: the calls that had
    // returned are exactly those in the ring and those counted as lost.
    decoder.thread(tid, written.saturating_add(lost), written, lost, lines);
    consumer.written() - before
}
