//! One process while its file is read: its definitions, the calls that are open, and its counts.

use super::{
    coverage::{Blindness, Seen},
    gpu::Reports,
    graphs::Graphs,
    nesting::Nesting,
    pauses::Pauses,
    streams::Streams,
    sweeps::Runs,
    threads::Threads,
};
use foldhash::{HashMap, HashMapExt};
use rocshim_reader::End;
use rocshim_trace::{
    Bypass, Call, Footer, Header, Hook, Interception, Launch, Library, OF_KERNEL, file_name, ggml::MatMul,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// A process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProcessRow {
    /// Its trace.
    pub trace: String,
    /// How many parts of it were read.
    pub parts: u64,
    /// Its number.
    pub pid: u32,
    /// Its executable.
    pub exe: String,
    /// Its command line.
    pub argv: Vec<String>,
    /// `exit` (it ended in order), `recovered` (it died and its file was finished later), `killed` (it died; what it
    /// left was read, the file is not finished), `running`, `snapshot` (it ran on), `cut` (it died and what was not written is
    /// lost), or `rotated` (it goes on in a part of the trace that was not read).
    pub end: String,
    /// Events in the trace.
    pub events: u64,
    /// Kernel launches: direct ones, which are events, and those that launched graphs made.
    pub launches: u64,
    /// Events that were lost.
    pub lost: u64,
    /// For how long recording was stopped: what was called then is neither an event nor lost.
    pub stopped_ns: u64,
    /// Calls that came after recording had ended.
    pub late: u64,
    /// When the first call was entered, since the process's epoch.
    pub first_ns: u64,
    /// When the last call returned.
    pub last_ns: u64,
    /// What else there is to say about this trace.
    pub notes: Vec<String>,
}

/// A kernel as this process defined it.
#[derive(Clone, Default)]
pub(crate) struct LocalKernel {
    /// Its number over all processes.
    pub number: usize,
    /// The number of its code object over all processes.
    pub code_object: Option<usize>,
    /// That of its launches which tell none.
    pub hook: Option<u16>,
    /// If it is one of ggml's matrix products, how the columns of its launches are told.
    pub product: Option<MatMul>,
    /// It was launched in this process.
    pub launched: bool,
    /// Launches in this process that did not fail.
    pub dispatched: u64,
}

/// A hook of this process.
#[derive(Clone)]
pub(crate) struct LocalHook {
    /// Its last record.
    pub hook: Hook,
    /// The number of its function over all processes.
    pub function: usize,
    /// Events of it.
    pub events: u64,
}

/// The process whose records are being read.
#[derive(Clone)]
pub(crate) struct Process {
    pub number: usize,
    pub header: Header,
    pub hooks: HashMap<u16, LocalHook>,
    pub points: Vec<Interception>,
    pub(crate) bypasses: Vec<Bypass>,
    pub libraries: BTreeMap<u32, Library>,
    pub kernels: HashMap<u32, LocalKernel>,
    /// Ids of code objects with their number over all processes and their file.
    pub code_objects: HashMap<u32, (usize, Option<String>)>,
    pub(crate) nesting: Nesting,
    pub runs: Runs,
    pub graphs: Graphs,
    pub reports: Reports,
    pub threads: Threads,
    pub streams: Streams,
    pub footer: Option<Footer>,
    pub events: u64,
    pub launches: u64,
    pub lost: u64,
    pub pauses: Pauses,
    /// Events in the trace, by the accounts of its threads.
    pub(crate) accounted: u64,
    /// Parts of the trace that were read, and what is missing of the others, up to the last one.
    parts: u64,
    first_part: u32,
    /// The first part that was not removed to make room: those before it are counted as lost.
    oldest: u32,
    missing: Vec<String>,
    notes: Vec<String>,
    first: u64,
    last: u64,
}

impl Process {
    pub(crate) fn new(number: usize, header: Header) -> Self {
        Process {
            first_part: header.part(),
            oldest: header.oldest.max(1),
            number,
            header,
            hooks: HashMap::new(),
            points: Vec::new(),
            bypasses: Vec::new(),
            libraries: BTreeMap::new(),
            kernels: HashMap::new(),
            code_objects: HashMap::new(),
            nesting: Nesting::default(),
            runs: Runs::default(),
            graphs: Graphs::default(),
            reports: Reports::default(),
            threads: Threads::default(),
            streams: Streams::default(),
            footer: None,
            events: 0,
            launches: 0,
            lost: 0,
            pauses: Pauses::default(),
            accounted: 0,
            parts: 1,
            missing: Vec::new(),
            notes: Vec::new(),
            first: u64::MAX,
            last: 0,
        }
    }

    /// True when this header is that of a later part of the trace that is read.
    pub(crate) fn goes_on_in(&self, header: &Header) -> bool {
        goes_on_in(&self.header, header)
    }

    /// The records that follow are those of the part that this header begins.
    pub(crate) fn go_on(&mut self, header: Header) {
        self.missing.extend(missing(self.header.part() + 1, header.part()));
        self.oldest = self.oldest.max(header.oldest);
        self.header = header;
        self.parts += 1;
        self.footer = None;
    }

    /// There is something to say about a part of the trace.
    pub(crate) fn note(&mut self, notes: Vec<String>) {
        self.notes.extend(notes.into_iter().map(|note| format!("part {}: {note}", self.header.part())));
        self.notes.extend(self.header.note.take());
    }

    /// True when parts of the trace were not read, the last ones left aside.
    pub(crate) fn is_missing_parts(&self) -> bool {
        !self.missing.is_empty() || self.first_part > self.oldest
    }

    /// Gives a launch that tells no hook the one of its kernel.
    pub(crate) fn find_hook(&self, launch: &mut Launch) {
        launch.call.hook = hook_of(launch, |id| self.kernels.get(&id)?.hook);
    }

    /// Counts an event and gives the number of its function over all processes.
    pub(crate) fn count(&mut self, call: &Call) -> Option<usize> {
        self.events += 1;
        self.threads.count(call);
        self.first = self.first.min(call.t);
        self.last = self.last.max(call.t + call.dur);
        let hook = self.hooks.get_mut(&call.hook)?;
        hook.events += 1;
        Some(hook.function)
    }

    /// Counts a report of the runtime: an event, but no call of the program's.
    pub(crate) fn count_report(&mut self, call: &Call) {
        self.events += 1;
        if let Some(hook) = self.hooks.get_mut(&call.hook) {
            hook.events += 1;
        }
    }

    /// Its hooks with their calls: events in the trace, and what the footer counted of hooks that make no events.
    pub(crate) fn seen(&self) -> impl Iterator<Item = Seen<'_>> {
        let hooks: BTreeMap<&u16, &LocalHook> = self.hooks.iter().collect();
        hooks.into_iter().map(|(id, local)| {
            let silent = self
                .footer
                .as_ref()
                .and_then(|footer| footer.calls.iter().find(|(hook, _)| hook == id))
                .map(|(_, calls)| *calls);
            let silent = silent.unwrap_or(0);
            let calls = local.events + silent;
            let is_counted = self.footer.as_ref().is_some_and(|footer| footer.end == "exit");
            let is_partial = !self.pauses.is_empty();
            Seen { function: local.function, hook: &local.hook, calls, silent, is_counted, is_partial }
        })
    }

    /// How a call of `library` could have passed the hooks by; `None`: in no way that is known.
    pub(crate) fn open_way(&self, library: &str) -> Option<String> {
        let is_off = |local: &&LocalHook| local.hook.of == library && local.hook.state == "off";
        match self.hooks.values().filter(is_off).count() {
            0 => {}
            1 => return Some("one of its functions was left out by ROCSHIM_RECORD".into()),
            many => return Some(format!("{many} of its functions were left out by ROCSHIM_RECORD")),
        }
        let is_open =
            |name: &str| self.points.iter().any(|point| point.point == name && point.state == "open");
        let has_table = self.points.iter().any(|point| point.table.as_deref() == Some("hip"));
        if library == "libamdhip64.so" && has_table {
            return None;
        }
        if let Some(bypass) = self.bypasses.first() {
            let file = file_name(&bypass.path);
            let how = if bypass.how == "namespace" { "dlmopen" } else { "RTLD_DEEPBIND" };
            return Some(format!("what {file} calls, opened with {how}, would not be seen"));
        }
        let closed = "a caller that takes its functions with dlsym would not be seen";
        (!is_open("dlsym")).then(|| closed.into())
    }

    pub(crate) fn blindness(&self, end: End) -> Blindness {
        let is_snapshot = self.footer.as_ref().is_some_and(|footer| footer.end == "snapshot");
        Blindness {
            lossy: self.lost > 0 || matches!(end, End::Cut | End::Rotated) || self.is_missing_parts(),
            running: matches!(end, End::Running | End::Rotated) || is_snapshot,
            unrecorded: self.unrecorded(end),
        }
    }

    /// Why reports or launches may be missing, so that not every dispatch can be held against its launch.
    pub(crate) fn gpu_limits(&self, end: End) -> Option<String> {
        let lost = (self.lost > 0).then(|| format!("{} events were lost", self.lost));
        let late = self.footer.as_ref().is_some_and(|footer| footer.late > 0);
        let late = late.then(|| "calls came after recording had ended".to_owned());
        let whole = self.footer.as_ref().is_some_and(|footer| footer.end == "exit");
        let cut = (!whole).then(|| "the trace does not end with the process".to_owned());
        lost.or(late).or_else(|| self.unrecorded(end)).or(cut)
    }

    /// Why calls may be missing that are not counted as lost; `None`: none is.
    pub(crate) fn unrecorded(&self, end: End) -> Option<String> {
        let keeps_last = self.header.env.get("ROCSHIM_FULL").is_some_and(|full| full == "overwrite");
        let in_rings = "the rings of a flight recorder are not in its trace before its threads end";
        let in_rings = (keeps_last && end == End::Running).then(|| in_rings.to_owned());
        self.misfit().or_else(|| self.pauses.sentence(self.end())).or(in_rings)
    }

    /// Where the accounts of its threads, which are whole with the footer, tell of other events than were read.
    fn misfit(&self) -> Option<String> {
        (self.footer.is_some() && self.accounted != self.events).then(|| {
            format!(
                "its threads say that they wrote {} events, and {} were read",
                self.accounted, self.events
            )
        })
    }

    /// When the trace ends, as far as it tells.
    fn end(&self) -> u64 {
        self.footer.as_ref().map_or(self.last, |footer| footer.t)
    }

    pub(crate) fn row(&self, trace: String, end: End, mut notes: Vec<String>) -> ProcessRow {
        notes.extend(self.notes.iter().chain(&self.header.note).cloned());
        let missing = missing(self.oldest, self.first_part).into_iter().chain(self.missing.clone());
        notes.extend(missing.map(|missing| format!("limited: {missing}")));
        notes.extend(self.misfit().map(|what| format!("limited: {what}")));
        notes.extend(self.pauses.sentence(self.end()).map(|what| format!("limited: {what}")));
        let end = match (end, &self.footer) {
            (End::Leftover, _) => "killed".to_string(),
            (_, Some(footer)) => footer.end.clone(),
            (End::Running, None) => "running".to_string(),
            (_, None) => "cut".to_string(),
        };
        ProcessRow {
            trace,
            parts: self.parts,
            pid: self.header.pid,
            exe: self.header.exe.clone(),
            argv: self.header.argv.clone(),
            end,
            events: self.events,
            launches: self.launches,
            lost: self.lost,
            stopped_ns: self.pauses.total(self.end()),
            late: self.footer.as_ref().map_or(0, |footer| footer.late),
            first_ns: if self.events == 0 { 0 } else { self.first },
            last_ns: self.last,
            notes,
        }
    }
}

/// True when `header` is that of a later part of the trace that `first` began.
pub(super) fn goes_on_in(first: &Header, header: &Header) -> bool {
    identity(first) == identity(header) && header.part() > first.part()
}

/// A process in any trace: its number, when it began, and its epoch.
pub(super) type Identity = (u32, u64, String);

pub(super) fn identity(header: &Header) -> Identity {
    (header.pid, header.start_ticks, header.epoch.clone())
}

/// The hook of a launch: its own or, where it tells none, its kernel's.
pub(super) fn hook_of(launch: &Launch, of_kernel: impl FnOnce(u32) -> Option<u16>) -> u16 {
    let kernel = launch.kernel.filter(|_| launch.call.hook == OF_KERNEL);
    kernel.and_then(of_kernel).unwrap_or(launch.call.hook)
}

/// Says that the parts from `first` up to the one before `next` are missing, if there are such.
fn missing(first: u32, next: u32) -> Option<String> {
    match next.saturating_sub(first) {
        0 => None,
        1 => Some(format!("part {first} of the trace was not read")),
        _ => Some(format!("parts {first} to {} of the trace were not read", next - 1)),
    }
}
