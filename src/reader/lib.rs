//! Reads trace files into records: what a path stands for, one pass over a file, and how the file
//! ended.
//!
//! What a killed process left in its ring files is read as if it were at the end of its file.
//! Nothing on disk is changed.
//!
//! Layers, lowest first: `error` (an error as one sentence), `copied` (traces that are not plain
//! files), `deleted` (traces whose ring files alone are left), `progress` (a progress line on a
//! terminal), `blocks` and `scan` (bytes to records), `parallel` (records parsed on all cores),
//! `once` (no process is read twice), `follow` (files while they are written), `fallback` (traces
//! in the fallback folder). Besides traces: `labels` (named time ranges), `responses` (a server's
//! answers to the traced requests), `results` (a program's own tokens per second).

#![forbid(unsafe_code)]

mod blocks;
mod copied;
mod deleted;
mod error;
mod fallback;
mod follow;
mod labels;
mod once;
mod parallel;
mod progress;
pub mod responses;
mod results;
mod scan;

pub use copied::name_of;
pub use deleted::find_deleted;
pub use error::format_error;
pub use follow::{Follower, Poll, Watcher};
pub use labels::{Label, read_labels};
pub use once::check_once;
pub use results::{Results, read_results};

use anyhow::{Context, Result, bail};
use blocks::{Blocks, lines};
use parallel::Visit;
use progress::Progress;
use rocshim_drain::is_running;
use rocshim_trace::{FORMAT, Header, LineError, Record, TracePath, parse_line, segment_path};
use serde::de::DeserializeOwned;
use std::{
    collections::BTreeMap,
    fs::{self, File, Metadata},
    io::{self, Cursor, Read},
    path::{Path, PathBuf},
};

/// How a file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With a footer.
    Footer,
    /// With a footer that announces the next segment.
    Rotated,
    /// Without a footer: the process died, and its ring files were read as well.
    Leftover,
    /// Without a footer: the process still runs and writes.
    Running,
    /// Without a footer: the process and its rings are gone; what was not in the file is lost.
    Cut,
}

/// What there is to report about a file besides its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// How it ends.
    pub end: End,
    /// Oddities, one sentence each, without the file's name.
    pub notes: Vec<String>,
}

/// Receives the records of a file, in the file's order.
pub trait RecordVisitor {
    /// Visits the next record.
    fn visit(&mut self, record: &Record);

    /// Returns true when an analysis reads the arguments of this kernel's launches. Otherwise the
    /// reader may omit them.
    fn wants_arguments(&self, _kernel: Option<u32>) -> bool {
        true
    }

    /// Returns true when no more is needed: the rest of the file is not read.
    fn is_done(&self) -> bool {
        false
    }
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// The file.
    pub path: PathBuf,
    /// True when the file was named itself, not found in a folder.
    pub named: bool,
}

/// Returns the trace files that the arguments stand for: files themselves, folders as all their
/// `.ndjson` files or else those of the folders below, and the fallback folder's for a folder that
/// could not be written.
pub fn find_traces(arguments: &[PathBuf]) -> Result<Vec<TraceFile>> {
    let mut found: Vec<TraceFile> = Vec::new();
    for argument in arguments {
        if copied::is_standard_input(argument) {
            found.push(TraceFile { path: copied::copy(argument)?, named: true });
            continue;
        }
        let kind = metadata(argument);
        if kind.as_ref().is_ok_and(|kind| copied::must_be_copied(argument, kind)) {
            found.push(TraceFile { path: copied::copy(argument)?, named: true });
            continue;
        }
        let named = kind.as_ref().is_ok_and(|kind| !kind.is_dir());
        let found_there =
            kind.and_then(|_| if named { Ok(vec![argument.clone()]) } else { traces_in(argument) });
        let paths = match found_there {
            Ok(paths) if !paths.is_empty() => paths,
            nothing => match fallback::written_elsewhere(argument) {
                elsewhere if elsewhere.is_empty() => nothing?,
                elsewhere => elsewhere,
            },
        };
        if paths.is_empty() {
            bail!(
                "no trace (*.ndjson) in the folder {}: run a program with `rocshim run -o {0} -- CMD` first",
                argument.display()
            );
        }
        for path in paths {
            if !found.iter().any(|trace| trace.path == path) {
                found.push(TraceFile { path, named });
            }
        }
    }
    Ok(found)
}

/// Returns the metadata of a file or folder that the user named as a trace.
fn metadata(path: &Path) -> Result<Metadata> {
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
            "there is no file or folder {}: `rocshim run -o DIR -- CMD` writes traces to DIR",
            path.display()
        ),
        other => other.with_context(|| format!("cannot open {}", path.display())),
    }
}

/// Returns the trace files of a folder, or, if it has none, those of the folders below.
pub fn traces_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut traces = traces_directly_in(folder)?;
    if traces.is_empty() {
        gather_below(folder, DEEPEST, &mut traces);
    }
    Ok(traces)
}

/// Returns the trace files of a folder and of all folders below it.
pub fn traces_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut traces = traces_directly_in(folder)?;
    gather_below(folder, DEEPEST, &mut traces);
    Ok(traces)
}

/// How deep folders of traces may be below the one that is named: host, job, rank, and one more.
const DEEPEST: usize = 4;

/// Adds the trace files of the folders below. Those that cannot be listed have none.
fn gather_below(folder: &Path, depth: usize, traces: &mut Vec<PathBuf>) {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    // Links are not followed: they may lead back. Ring files are in hidden folders.
    let is_visible = |entry: &fs::DirEntry| !entry.file_name().as_encoded_bytes().starts_with(b".");
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut folders: Vec<PathBuf> =
        entries.filter(|entry| is_folder(entry) && is_visible(entry)).map(|entry| entry.path()).collect();
    folders.sort();
    for folder in folders.iter().filter(|_| depth > 0) {
        traces.extend(traces_directly_in(folder).unwrap_or_default());
        gather_below(folder, depth - 1, traces);
    }
}

/// Returns the trace files of a folder by name, the segments of a trace in order, including those
/// that killed processes never got to create.
fn traces_directly_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let absolute =
        std::path::absolute(folder).with_context(|| format!("cannot find {}", folder.display()))?;
    let unbegun = rocshim_drain::unbegun(&absolute);
    let entries =
        folder.read_dir().with_context(|| format!("cannot list the folder {}", folder.display()))?;
    let mut traces: Vec<TracePath> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .chain(unbegun.into_iter().filter_map(|path| Some(folder.join(path.file_name()?))))
        .filter_map(|path| TracePath::of(&path))
        .collect();
    traces.sort();
    traces.dedup();
    let removed = removed_parts(&traces);
    traces.retain(|trace| removed.get(&trace.first).is_none_or(|oldest| trace.part >= *oldest));
    Ok(traces.iter().map(|trace| segment_path(&trace.first, trace.part)).collect())
}

/// Returns the oldest valid segment by the first file of each trace: a process may have died before
/// it deleted the segments that it announced as deleted.
fn removed_parts(traces: &[TracePath]) -> BTreeMap<PathBuf, u32> {
    let mut oldest = BTreeMap::new();
    for trace in traces.iter().filter(|trace| trace.part > 1) {
        if let Ok(Some(header)) = rocshim_drain::header_of(&segment_path(&trace.first, trace.part)) {
            let known = oldest.entry(trace.first.clone()).or_default();
            *known = header.oldest.max(*known);
        }
    }
    oldest
}

/// Reads a trace from its first line to its last and passes each record to `visitor`.
pub fn read_trace(path: &Path, visitor: &mut dyn RecordVisitor) -> Result<Reading> {
    let name = name_of(path);
    let leftover = rocshim_drain::leftover(path)
        .with_context(|| format!("cannot read what the process of {name} left behind"))?;
    let mut reading = Reading { end: End::Cut, notes: Vec::new() };
    let (whole, left) = match leftover {
        Some((whole, left)) => {
            reading.end = End::Leftover;
            (whole, left.lines)
        }
        None => (u64::MAX, Vec::new()),
    };
    // A process that was killed early left rings, no file.
    let file: Box<dyn Read> = match File::open(path) {
        Ok(file) => {
            let length = file.metadata().map_or(0, |file| file.len()).min(whole);
            let bytes = Progress::new(file.take(whole), name.to_string(), length);
            rocshim_drain::lines_of(path, bytes).with_context(|| format!("cannot read {name}"))?
        }
        Err(_) if reading.end == End::Leftover => Box::new(io::empty()),
        Err(error) => return Err(error).with_context(|| format!("cannot open {name}")),
    };
    let lines = Box::new(file.chain(Cursor::new(left)));
    let header = read_lines(lines, path, &mut reading, visitor)?;
    if reading.end == End::Cut && is_running(&header) {
        reading.end = End::Running;
    }
    Ok(reading)
}

/// Reads the bytes of a trace with the name `name`.
pub fn read_bytes(bytes: &[u8], name: &Path, visitor: &mut dyn RecordVisitor) -> Result<Reading> {
    let mut reading = Reading { end: End::Cut, notes: Vec::new() };
    read_lines(Box::new(bytes), name, &mut reading, visitor)?;
    Ok(reading)
}

/// Reads the lines; returns the header of the first.
fn read_lines(
    input: Box<dyn Read + '_>,
    path: &Path,
    reading: &mut Reading,
    visitor: &mut dyn RecordVisitor,
) -> Result<Header> {
    let name = name_of(path);
    let unreadable = || format!("cannot read {name}");
    let mut blocks = Blocks::new(input);
    let Some(first) = blocks.next().with_context(unreadable)? else {
        bail!("{name} is empty: its process was killed before it wrote a line, or this is no trace");
    };
    let line = lines(&first).next().unwrap_or_default();
    let header = header_of(line, path)?;
    visitor.visit(&Record::Header(header.clone()));
    Visit::new(visitor, reading).read(&first[line.len()..], &mut blocks).with_context(unreadable)?;
    Ok(header)
}

/// Number of lines that are not records.
#[derive(Default)]
struct BadLines {
    count: u64,
    /// Number of the first of them, from 1.
    first: u64,
}

impl BadLines {
    fn count(&mut self, number: u64) {
        self.count += 1;
        if self.count == 1 {
            self.first = number;
        }
    }

    /// Returns what there is to report about them.
    fn note(&self) -> Option<String> {
        let BadLines { count, first } = self;
        match count {
            0 => None,
            1 => Some(format!("1 line is no record and was passed over: line {first}")),
            _ => {
                Some(format!("{count} lines are no records and were passed over, the first is line {first}"))
            }
        }
    }
}

/// Returns the header in the first line of a trace.
fn header_of(first: &[u8], path: &Path) -> Result<Header> {
    let name = name_of(path);
    let header = match parse_line(first) {
        Ok(Record::Header(header)) => header,
        _ => bail!(
            "{name} is not a rocshim trace: its first line is not a header; `rocshim run -o DIR -- CMD` writes traces to DIR"
        ),
    };
    if header.format != FORMAT {
        bail!(
            "{name} has format {}, written by rocshim {}; this rocshim reads format {FORMAT}: use that rocshim",
            header.format,
            header.rocshim
        );
    }
    Ok(header)
}

/// Parses a line. Its type comes first, so large records are parsed as their own type at once.
#[inline(always)] // so that a record is not moved from place to place
fn record_of(line: &[u8], wants_arguments: impl Fn(Option<u32>) -> bool) -> Result<Record, LineError> {
    fn read<T: DeserializeOwned>(line: &[u8], wrap: fn(T) -> Record) -> Result<Record, LineError> {
        serde_json::from_slice(line).map(wrap).map_err(LineError::Json)
    }
    if let Some(event) = scan::event(line, &wants_arguments) {
        return Ok(event);
    }
    let name = line.strip_prefix(br#"{"type":""#).unwrap_or_default();
    match name.split(|byte| *byte == b'"').next().unwrap_or_default() {
        b"graph" => read(line, Record::Graph),
        b"code_object" => read(line, Record::CodeObject),
        b"kernel" => read(line, Record::Kernel),
        b"footer" => read(line, Record::Footer),
        _ => parse_line(line),
    }
}

/// Returns the earliest epoch of these traces in Unix ns, by their first lines; 0 when none has
/// one.
pub fn earliest_epoch(traces: &[TraceFile]) -> u64 {
    let epoch = |trace: &TraceFile| rocshim_drain::header_of(&trace.path).ok()??.epoch.parse().ok();
    traces.iter().filter_map(epoch).min().unwrap_or(0)
}

/// Returns true when the process that writes this file still runs; false when that is unknown.
pub fn writer_is_running(path: &Path) -> bool {
    matches!(rocshim_drain::header_of(path), Ok(Some(header)) if is_running(&header))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const HEADER: &str = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":0,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{},"host":"h","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}"#;
    const LAUNCH: &str =
        r#"{"type":"launch","tid":7,"id":1,"t":10,"dur":5,"hook":0,"grid":[1,1,1],"block":[64,1,1]}"#;
    const FOOTER: &str = r#"{"type":"footer","t":20,"end":"exit","calls":[[3,4]]}"#;

    struct Count(usize);

    impl RecordVisitor for Count {
        fn visit(&mut self, _record: &Record) {
            self.0 += 1;
        }
    }

    /// Returns the number of records in a file with this text, and how reading it ends.
    fn read(text: &str) -> Result<(usize, Reading)> {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("t.ndjson");
        fs::write(&path, text).unwrap();
        let mut count = Count(0);
        let reading = read_trace(&path, &mut count)?;
        Ok((count.0, reading))
    }

    fn error_of(text: &str) -> String {
        let sentence = read(text).unwrap_err().to_string();
        let at = sentence.find("t.ndjson").expect("the file is named");
        sentence[at..].to_string()
    }

    #[test]
    fn a_whole_file_is_read_to_its_footer() {
        let whole = format!("{HEADER}\n{LAUNCH}\n{{\"type\":\"from_the_future\"}}\n{FOOTER}\n");
        assert_eq!(read(&whole).unwrap(), (4, Reading { end: End::Footer, notes: Vec::new() }));
    }

    #[test]
    fn a_cut_last_line_is_a_note() {
        let cut = format!("{HEADER}\n{LAUNCH}\n{}", &LAUNCH[..40]);
        assert_eq!(
            read(&cut).unwrap(),
            (2, Reading { end: End::Cut, notes: vec!["the last line is cut".into()] })
        );
    }

    #[test]
    fn a_broken_line_in_the_middle_is_passed_over_and_reported() {
        let broken = format!("{HEADER}\nnonsense\n{LAUNCH}\n{FOOTER}\n");
        let notes = vec!["1 line is no record and was passed over: line 2".into()];
        assert_eq!(read(&broken).unwrap(), (3, Reading { end: End::Footer, notes }));
        let (_, reading) = read(&format!("{HEADER}\n{LAUNCH}\nx\ny\n{FOOTER}\n")).unwrap();
        assert_eq!(reading.notes, ["2 lines are no records and were passed over, the first is line 3"]);
    }

    #[test]
    fn what_is_no_trace_is_reported_in_one_sentence() {
        assert_eq!(
            error_of(""),
            "t.ndjson is empty: its process was killed before it wrote a line, or this is no trace"
        );
        let alien = "t.ndjson is not a rocshim trace: its first line is not a header; \
                     `rocshim run -o DIR -- CMD` writes traces to DIR";
        assert_eq!(error_of("{\"ts\":1,\"ph\":\"X\"}\n"), alien);
        assert_eq!(error_of(&format!("{LAUNCH}\n")), alien);
        assert_eq!(
            error_of(&HEADER.replace("\"format\":1", "\"format\":3")),
            "t.ndjson has format 3, written by rocshim 0.1.0; this rocshim reads format 1: use that rocshim"
        );
    }

    #[test]
    fn a_folder_stands_for_its_traces() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().to_path_buf();
        let empty = find_traces(std::slice::from_ref(&folder)).unwrap_err().to_string();
        assert!(empty.starts_with("no trace (*.ndjson) in the folder "), "{empty}");
        let parts = ["c-1.ndjson", "c-1.part-0002.ndjson", "c-1.part-9999.ndjson", "c-1.part-10000.ndjson"];
        for name in ["b.ndjson", "a.ndjson", "notes.txt"].into_iter().chain(parts) {
            fs::write(folder.join(name), "").unwrap();
        }
        let named = folder.join("b.ndjson");
        let found = find_traces(&[named.clone(), folder.clone()]).unwrap();
        let mut expected = vec![(named, true), (folder.join("a.ndjson"), false)];
        expected.extend(parts.map(|name| (folder.join(name), false)));
        let expected: Vec<_> = expected.into_iter().map(|(path, named)| TraceFile { path, named }).collect();
        assert_eq!(found, expected);
        assert!(find_traces(&[folder.join("none")]).is_err());
    }
}
