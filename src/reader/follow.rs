//! Traces while they are written: files that grow, folders in which processes come and go.
//!
//! What a file has by now is read at every look, whole lines only. A trace has ended with its footer; where its process was killed, with
//! what that left in its ring files, which is read once the process is gone.

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

/// Bytes of one file that are read at a look.
const AT_ONCE: u64 = 4 << 20;
/// Between two looks for new files: a folder is listed, and all ring files too.
const BETWEEN: Duration = Duration::from_secs(1);

/// Who is given the records of traces, which are numbered in the order in which they were found.
pub trait Watcher {
    /// There is a new trace; its records follow, the header first.
    fn begin(&mut self, trace: usize, path: &Path);
    /// The next record of a trace.
    fn take(&mut self, trace: usize, record: Record);
    /// A trace has ended, or a part of it.
    fn end(&mut self, trace: usize, reading: Reading);
    /// The trace has no end, and its process is not running, or not to be seen from here (another machine, a container): nothing more
    /// may come; or something has come again.
    fn silent(&mut self, trace: usize, is_silent: bool);
    /// Whether the arguments of launches of this kernel matter.
    fn wants_arguments(&self, _trace: usize, _kernel: Option<u32>) -> bool {
        true
    }
}

/// What a look found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// There is more to read at once.
    pub more: bool,
    /// Files to which more is expected.
    pub open: usize,
}

/// Follows the traces that the arguments stand for.
pub struct Follower {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// By path, in order, so that the parts of a trace follow one another.
    found: BTreeMap<TracePath, Followed>,
    /// The numbers of traces, by their first files.
    numbers: BTreeMap<PathBuf, usize>,
    /// When new files were looked for.
    found_at: Option<Instant>,
    notes: Vec<String>,
}

/// A file that is followed.
struct Followed {
    named: bool,
    state: State,
}

enum State {
    /// Nothing was read yet.
    New,
    Open(Box<Open>),
    Ended,
}

struct Open {
    trace: usize,
    /// Nothing of its trace was read before.
    is_first: bool,
    file: File,
    growing: Growing,
    /// Lines that were not looked at yet; the last may not be whole.
    pending: Vec<u8>,
    /// Bytes of the file that were read.
    read: u64,
    header: Option<Header>,
    /// When it was asked whether a file without a header is all that a dead process has left: its process is known by its rings alone.
    asked_at: Instant,
    /// Lines that were looked at.
    lines: u64,
    bad: BadLines,
    /// Its process cannot be seen, and nothing comes.
    is_silent: bool,
}

impl Follower {
    /// Follows files, and folders as all the traces that are in them or will be.
    ///
    /// # Errors
    /// When there is no such file or folder.
    pub fn new(arguments: &[PathBuf]) -> Result<Follower> {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for argument in arguments {
            if argument == Path::new("-") {
                bail!("standard input cannot be followed: name a trace, or a folder of traces");
            }
            let kind = argument.metadata().with_context(|| format!("cannot open {}", argument.display()))?;
            if kind.is_dir() { folders.push(argument.clone()) } else { files.push(argument.clone()) }
        }
        Ok(Follower {
            files,
            folders,
            found: BTreeMap::new(),
            numbers: BTreeMap::new(),
            found_at: None,
            notes: Vec::new(),
        })
    }

    /// Nothing but what is there can come: only files were named.
    pub fn is_finite(&self) -> bool {
        self.folders.is_empty()
    }

    /// What is wrong with files that folders hold, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Reads what has come since the last look, a few MiB of each file at most.
    ///
    /// # Errors
    /// When a file that was named is no trace or cannot be read, or a folder cannot be listed.
    pub fn look(&mut self, watcher: &mut dyn Watcher) -> Result<Look> {
        if self.found_at.is_none_or(|at| at.elapsed() >= BETWEEN) {
            self.find()?;
            self.found_at = Some(Instant::now());
        }
        let mut look = Look::default();
        let mut before: Option<(PathBuf, bool)> = None;
        for (path, followed) in &mut self.found {
            // A part is read when the one before it has been.
            let waits = before.as_ref().is_some_and(|(first, ended)| *first == path.first && !ended);
            if !waits {
                let file = rocshim_trace::segment_path(&path.first, path.part);
                match followed.look(&file, &path.first, &mut self.numbers, watcher) {
                    Ok(more) => look.more |= more,
                    Err(error) if followed.named => return Err(error),
                    Err(error) => {
                        self.notes.push(format_error(&error));
                        followed.state = State::Ended;
                    }
                }
            }
            let ended = matches!(followed.state, State::Ended);
            let is_silent = matches!(&followed.state, State::Open(open) if open.is_silent);
            look.open += usize::from(!ended && !is_silent);
            before = Some((path.first.clone(), ended));
        }
        Ok(look)
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

/// What is not called like a trace is one of its own.
fn trace_path(file: &Path) -> TracePath {
    TracePath::of(file).unwrap_or_else(|| TracePath { first: file.to_path_buf(), part: 1 })
}

impl Followed {
    /// Reads what is new; true where there is more.
    fn look(
        &mut self,
        path: &Path,
        first: &Path,
        numbers: &mut BTreeMap<PathBuf, usize>,
        watcher: &mut dyn Watcher,
    ) -> Result<bool> {
        if matches!(self.state, State::New) {
            let file = match File::open(path) {
                Ok(file) => file,
                // A process that was killed early has rings but no file yet, and one that was begun may be gone.
                Err(_) if !self.named => return Ok(false),
                Err(error) => return Err(error).with_context(|| format!("cannot open {}", path.display())),
            };
            let next = numbers.len();
            let trace = *numbers.entry(first.to_path_buf()).or_insert(next);
            let growing = Growing::of(path).with_context(|| format!("cannot read {}", path.display()))?;
            self.state = State::Open(Box::new(Open {
                trace,
                is_first: trace == next,
                file,
                growing,
                pending: Vec::new(),
                read: 0,
                header: None,
                asked_at: Instant::now(),
                lines: 0,
                bad: BadLines::default(),
                is_silent: false,
            }));
        }
        let State::Open(open) = &mut self.state else { return Ok(false) };
        let (ended, more) = open.look(path, watcher)?;
        if let Some(end) = ended {
            watcher.end(open.trace, Reading { end, notes: open.bad.note().into_iter().collect() });
            self.state = State::Ended;
        }
        Ok(more)
    }
}

impl Open {
    /// Reads what is new: how the file ended, if it did, and whether there is more.
    fn look(&mut self, path: &Path, watcher: &mut dyn Watcher) -> Result<(Option<End>, bool)> {
        // Asked first: what it wrote before it went is read after.
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

    /// Hands out the whole lines that are there.
    fn take_lines(&mut self, path: &Path, watcher: &mut dyn Watcher) -> Result<Option<End>> {
        let (mut end, mut done) = (None, 0);
        while let Some(length) = memchr::memchr(b'\n', &self.pending[done..]) {
            let line = &self.pending[done..=done + length];
            done += length + 1;
            self.lines += 1;
            if self.header.is_none() {
                let header = header_of(line, path)?;
                self.header = Some(header.clone());
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

    /// What a process that is gone has left in its ring files, if it has.
    fn take_leftover(&mut self, path: &Path, watcher: &mut dyn Watcher) -> Result<Option<End>> {
        let left = rocshim_drain::leftover(path)
            .with_context(|| format!("cannot read what the process of {} left behind", path.display()))?;
        let Some((whole, left)) = left else { return Ok(None) };
        // Lines that were written and never committed are among those that are left, and were read.
        let again = self.read.saturating_sub(whole).min(left.lines.len() as u64) as usize;
        let again = if rocshim_drain::is_compressed(path) { 0 } else { again };
        self.pending.extend_from_slice(&left.lines[again..]);
        self.take_lines(path, watcher)?;
        Ok(Some(End::Leftover))
    }
}

#[cfg(test)]
mod tests;
