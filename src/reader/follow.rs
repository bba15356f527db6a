//! Follows traces while they are written: files that grow, folders in which processes come and go.
//!
//! Each poll reads the complete lines that a file has by then. A trace ends with its footer or,
//! when its process was killed, with the remains of its ring files, which are read once the process
//! has ended.

use super::{BadLines, End, Reading, blocks::LONGEST, header_of, record_of, traces_in};
use crate::format_error;
use anyhow::{Context, Result, bail};
use rocshim_drain::{Growing, is_running};
use rocshim_trace::{Header, Record, TracePath};
use std::{
    collections::BTreeMap,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Bytes read from one file per poll.
const AT_ONCE: u64 = 4 << 20;
/// Interval at which new files are looked for, which lists folders and all ring files.
const BETWEEN: Duration = Duration::from_secs(1);

/// Receives the records of traces, numbered in the order in which they were found.
pub trait Watcher {
    /// Announces a new trace. Its records follow, the header first.
    fn begin(&mut self, trace: usize, path: &Path);
    /// Receives the next record of a trace.
    fn take(&mut self, trace: usize, record: Record);
    /// Reports that a trace or one of its segments has ended.
    fn end(&mut self, trace: usize, reading: Reading);
    /// Reports that a trace has no end and its process is not visible (killed, on another machine,
    /// in a container), so that nothing more may come; or that it has continued.
    fn silent(&mut self, trace: usize, is_silent: bool);
    /// Returns true when an analysis reads the arguments of this kernel's launches.
    fn wants_arguments(&self, _trace: usize, _kernel: Option<u32>) -> bool {
        true
    }
}

/// Result of a poll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Poll {
    /// True when more can be read at once.
    pub more: bool,
    /// Number of files that are expected to grow.
    pub open: usize,
}

/// Follower of the traces that the arguments name.
pub struct Follower {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// Files by path, in order, so that the segments of a trace follow one another.
    found: BTreeMap<TracePath, Followed>,
    /// Numbers of traces, by their first files, and whether their beginning was announced.
    numbers: BTreeMap<PathBuf, (usize, bool)>,
    /// Time when new files were last looked for.
    found_at: Option<Instant>,
    /// Traces of ended processes that are older are not read; absent: all are.
    oldest: Option<Duration>,
    notes: Vec<String>,
}

/// A followed file.
struct Followed {
    named: bool,
    state: State,
}

enum State {
    /// True while nothing was read.
    New,
    Open(Box<OpenTrace>),
    Ended,
}

struct OpenTrace {
    trace: usize,
    /// True while nothing of its trace was read.
    is_first: bool,
    file: File,
    growing: Growing,
    /// Bytes that were not parsed yet; the last line may be incomplete.
    pending: Vec<u8>,
    /// Bytes of the file that were read.
    read: u64,
    header: Option<Header>,
    /// Time of the last check whether a file without a header is all that a dead process has left:
    /// only its rings name the process.
    asked_at: Instant,
    /// Number of parsed lines.
    lines: u64,
    bad: BadLines,
    /// True when its process is not visible and nothing arrives.
    is_silent: bool,
    /// True when it was old when it was found: not read unless its process runs.
    is_old: bool,
    /// True once that is known.
    is_passed_over: bool,
}

impl Follower {
    /// Follows files, and for folders all traces that they hold or will hold.
    ///
    /// # Errors
    /// When there is no such file or folder.
    pub fn new(arguments: &[PathBuf]) -> Result<Follower> {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for argument in arguments {
            if argument == Path::new("-") {
                bail!("standard input cannot be followed: name a trace, or a folder of traces");
            }
            let kind = super::metadata(argument)?;
            if kind.is_dir() { folders.push(argument.clone()) } else { files.push(argument.clone()) }
        }
        Ok(Follower {
            files,
            folders,
            found: BTreeMap::new(),
            numbers: BTreeMap::new(),
            found_at: None,
            oldest: None,
            notes: Vec::new(),
        })
    }

    /// Does not read the traces in folders whose process does not run and that were last written
    /// to longer ago than `oldest` when they are found.
    pub fn without_ended(self, oldest: Duration) -> Follower {
        Follower { oldest: Some(oldest), ..self }
    }

    /// Returns true when only files were named, so no new trace can appear.
    pub fn is_finite(&self) -> bool {
        self.folders.is_empty()
    }

    /// Returns what is wrong with files in folders, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Reads what has arrived since the last poll, at most a few MiB of each file.
    ///
    /// # Errors
    /// When a named file is not a trace or cannot be read, or a folder cannot be listed.
    pub fn poll(&mut self, watcher: &mut dyn Watcher) -> Result<Poll> {
        if self.found_at.is_none_or(|at| at.elapsed() >= BETWEEN) {
            self.find()?;
            self.found_at = Some(Instant::now());
        }
        let mut poll = Poll::default();
        let mut before: Option<(PathBuf, bool)> = None;
        for (path, followed) in &mut self.found {
            // A segment is read once the one before it has ended.
            let waits = before.as_ref().is_some_and(|(first, ended)| *first == path.first && !ended);
            if !waits {
                let file = rocshim_trace::segment_path(&path.first, path.part);
                match followed.poll(&file, &path.first, self.oldest, &mut self.numbers, watcher) {
                    Ok(more) => poll.more |= more,
                    Err(error) if followed.named => return Err(error),
                    Err(error) => {
                        self.notes.push(format_error(&error));
                        followed.state = State::Ended;
                    }
                }
            }
            let ended = matches!(followed.state, State::Ended);
            let is_silent = matches!(&followed.state, State::Open(open) if open.is_silent);
            poll.open += usize::from(!ended && !is_silent);
            before = Some((path.first.clone(), ended));
        }
        Ok(poll)
    }

    fn find(&mut self) -> Result<()> {
        for file in &self.files {
            self.found.entry(trace_path(file)).or_insert(Followed { named: true, state: State::New });
        }
        for folder in &self.folders {
            for file in traces_in(folder)? {
                self.found.entry(trace_path(&file)).or_insert(Followed { named: false, state: State::New });
            }
        }
        Ok(())
    }
}

/// A file whose name is not a trace's is a trace of its own.
fn trace_path(file: &Path) -> TracePath {
    TracePath::of(file).unwrap_or_else(|| TracePath { first: file.to_path_buf(), part: 1 })
}

impl Followed {
    /// Reads what is new; returns true when there is more.
    fn poll(
        &mut self,
        path: &Path,
        first: &Path,
        oldest: Option<Duration>,
        numbers: &mut BTreeMap<PathBuf, (usize, bool)>,
        watcher: &mut dyn Watcher,
    ) -> Result<bool> {
        if matches!(self.state, State::New) {
            let file = match File::open(path) {
                Ok(file) => file,
                // A process killed early has rings but no file yet, and a file found before may be
                // deleted.
                Err(_) if !self.named => return Ok(false),
                Err(error) => return Err(error).with_context(|| format!("cannot open {}", path.display())),
            };
            let age = file.metadata().and_then(|of| of.modified()).map(|at| at.elapsed().unwrap_or_default());
            let is_old = !self.named && oldest.is_some_and(|oldest| age.is_ok_and(|age| age > oldest));
            let next = numbers.len();
            let (trace, has_begun) = *numbers.entry(first.to_path_buf()).or_insert((next, false));
            let growing = Growing::of(path).with_context(|| format!("cannot read {}", path.display()))?;
            self.state = State::Open(Box::new(OpenTrace {
                trace,
                is_first: !has_begun,
                file,
                growing,
                pending: Vec::new(),
                read: 0,
                header: None,
                asked_at: Instant::now(),
                lines: 0,
                bad: BadLines::default(),
                is_silent: false,
                is_old,
                is_passed_over: false,
            }));
        }
        let State::Open(open) = &mut self.state else { return Ok(false) };
        let (ended, more) = open.poll(path, watcher)?;
        if open.is_passed_over {
            self.state = State::Ended;
            return Ok(false);
        }
        if open.header.is_some() {
            numbers.insert(first.to_path_buf(), (open.trace, true));
        }
        if let Some(end) = ended {
            watcher.end(open.trace, Reading { end, notes: open.bad.note().into_iter().collect() });
            self.state = State::Ended;
        }
        Ok(more)
    }
}

impl OpenTrace {
    /// Reads what is new: returns how the file ended, if it did, and whether there is more.
    fn poll(&mut self, path: &Path, watcher: &mut dyn Watcher) -> Result<(Option<End>, bool)> {
        // Checked before reading, so that what the process wrote before its end is read afterwards.
        let runs = match &self.header {
            Some(header) => is_running(header),
            None => self.asked_at.elapsed() < BETWEEN,
        };
        let mut bytes = Vec::new();
        let unreadable = || format!("cannot read {}", path.display());
        let got = (&self.file).take(AT_ONCE).read_to_end(&mut bytes).with_context(unreadable)? as u64;
        self.read += got;
        self.growing.take(&bytes, &mut self.pending).with_context(unreadable)?;
        let mut end = self.take_lines(path, watcher)?;
        if end.is_none() && got == 0 && !runs {
            self.asked_at = Instant::now();
            end = self.take_leftover(path, watcher)?;
        }
        let is_silent = got == 0 && !runs && self.header.is_some();
        if end.is_none() && self.is_silent != is_silent {
            self.is_silent = is_silent;
            watcher.silent(self.trace, is_silent);
        }
        Ok((end, got == AT_ONCE))
    }

    /// Passes on the complete lines.
    fn take_lines(&mut self, path: &Path, watcher: &mut dyn Watcher) -> Result<Option<End>> {
        let (mut end, mut done) = (None, 0);
        while let Some(length) = memchr::memchr(b'\n', &self.pending[done..]) {
            let line = &self.pending[done..=done + length];
            done += length + 1;
            self.lines += 1;
            if self.header.is_none() {
                let header = header_of(line, path)?;
                self.header = Some(header.clone());
                self.is_passed_over = self.is_old && !is_running(&header);
                if self.is_passed_over {
                    return Ok(None);
                }
                if self.is_first {
                    watcher.begin(self.trace, path);
                }
                watcher.take(self.trace, Record::Header(header));
                continue;
            }
            match record_of(line, |kernel| watcher.wants_arguments(self.trace, kernel)) {
                Ok(record) => {
                    if let Record::Footer(footer) = &record {
                        end = Some(if footer.end == "rotated" { End::Rotated } else { End::Footer });
                    }
                    watcher.take(self.trace, record);
                }
                Err(_) => self.bad.count(self.lines),
            }
        }
        self.pending.drain(..done);
        if self.pending.len() >= LONGEST {
            bail!("{} has a line of more than 256 MiB: this is no trace", path.display());
        }
        Ok(end)
    }

    /// Returns what an ended process has left in its ring files.
    fn take_leftover(&mut self, path: &Path, watcher: &mut dyn Watcher) -> Result<Option<End>> {
        let left = rocshim_drain::leftover(path)
            .with_context(|| format!("cannot read what the process of {} left behind", path.display()))?;
        let Some((whole, left)) = left else { return Ok(None) };
        // Lines that were written but not committed are among the remains, and were read already.
        let again = self.read.saturating_sub(whole).min(left.lines.len() as u64) as usize;
        let again = if rocshim_drain::is_compressed(path) { 0 } else { again };
        self.pending.extend_from_slice(&left.lines[again..]);
        self.take_lines(path, watcher)?;
        Ok(Some(End::Leftover))
    }
}

#[cfg(test)]
mod tests;
