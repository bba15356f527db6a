//! The process being read: its definitions, and the completeness of its trace.

use super::id::{CodeObjectId, FunctionId, KernelId, ProcessId, SymbolId};
use crate::{graphs::Graphs, pauses::Pauses};
use foldhash::{HashMap, HashMapExt};
use rocshim_reader::End;
use rocshim_trace::{
    Bypass, Call, Footer, Header, Hook, Interception, Library, Word, file_name, ggml::MatMul,
};
use std::{collections::BTreeMap, sync::Arc};

/// Identifies a process in any trace: its pid, when it started (clock ticks since boot), its epoch.
pub type Identity = (u32, u64, String);

/// A hook as the process defined it last.
#[derive(Clone, Debug)]
pub struct LocalHook {
    /// Its last record.
    pub hook: Hook,
    /// Its function.
    pub function: FunctionId,
    /// Events of it that are in scope.
    pub events: u64,
    /// Events of it that are not: see [`Scope`](super::Scope).
    pub out_of_scope: u64,
    /// The segment that defined it last, from 1.
    pub segment: u32,
}

/// A kernel as the process defined it first.
#[derive(Clone, Debug)]
pub struct LocalKernel {
    /// What it is over all processes.
    pub id: KernelId,
    /// Its symbol.
    pub symbol: SymbolId,
    /// Its code object, where that is known.
    pub code_object: Option<CodeObjectId>,
    /// The hook of its launches that name none.
    pub hook: Option<u16>,
    /// How a launch's columns are read, if it is one of ggml's GEMM kernels.
    pub product: Option<MatMul>,
    /// The names of its arguments, in the order of `launch.args`; empty strings for unnamed ones.
    pub arguments: Arc<[Word]>,
    /// True if an analysis reads the arguments of its launches.
    pub(super) wants_arguments: bool,
    /// The segment that defined it last, from 1.
    pub segment: u32,
}

/// The process being read.
#[derive(Clone)]
pub struct Process {
    /// Its number in the session.
    pub id: ProcessId,
    /// The header of the segment being read.
    pub header: Header,
    /// The first file of its trace that was read.
    pub trace: String,
    /// Its epoch, Unix ns; 0 if the header's is invalid.
    pub epoch: u64,
    pub(super) hooks: Vec<Option<Box<LocalHook>>>,
    pub(super) kernels: HashMap<u32, LocalKernel>,
    pub(super) code_objects: HashMap<u32, CodeObjectId>,
    /// Its ROCm libraries, by id.
    pub libraries: BTreeMap<u32, Library>,
    pub(super) points: Vec<Interception>,
    pub(super) bypasses: Vec<Bypass>,
    /// Its graphs, what captures recorded into them, and their launches.
    pub(crate) graphs: Graphs,
    /// The footer of the last segment, if that has ended.
    pub footer: Option<Footer>,
    /// Events in scope, including GPU reports.
    pub events: u64,
    /// Events that are not in scope.
    pub(super) out_of_scope: u64,
    /// Events that were lost.
    pub lost: u64,
    /// True if another tool gave one number to two calls, so a report may be assigned to the wrong
    /// call.
    pub(super) reports_are_ambiguous: bool,
    pub(super) pauses: Pauses,
    /// Events in the trace, by the counters of its threads.
    pub(super) accounted: u64,
    /// Segments that were read.
    segments: u64,
    first_segment: u32,
    /// The oldest segment that was not deleted to free disk budget: events of earlier ones are
    /// counted as lost.
    oldest: u32,
    missing: Vec<String>,
    notes: Vec<String>,
    first: u64,
    last: u64,
}

/// A hook of a process and its calls, at the end of the process.
#[derive(Clone, Copy)]
pub(crate) struct HookUse<'a> {
    /// Its function.
    pub(crate) function: FunctionId,
    /// Its last record.
    pub(crate) hook: &'a Hook,
    /// Calls of it.
    pub(crate) calls: u64,
    /// Calls of these that made no event.
    pub(crate) silent: u64,
    /// True if calls that make no event were counted too, because the process ended normally.
    pub(crate) is_counted: bool,
    /// True if recording was stopped for a time, so there may have been more calls.
    pub(crate) is_partial: bool,
}

/// Why calls of a process may be missing from its trace.
#[derive(Clone, Default)]
pub(crate) struct VisibilityGaps {
    /// Events were lost.
    pub(crate) lossy: bool,
    /// The process still runs, or did when the trace was written.
    pub(crate) running: bool,
    /// Why calls may be missing that are not counted as lost.
    pub(crate) unrecorded: Option<String>,
}

impl Process {
    pub(super) fn new(id: ProcessId, trace: String, header: Header) -> Self {
        Process {
            first_segment: header.part(),
            oldest: header.oldest.max(1),
            id,
            trace,
            epoch: header.epoch.parse().unwrap_or(0),
            header,
            hooks: Vec::new(),
            kernels: HashMap::new(),
            code_objects: HashMap::new(),
            libraries: BTreeMap::new(),
            points: Vec::new(),
            bypasses: Vec::new(),
            graphs: Graphs::default(),
            footer: None,
            events: 0,
            out_of_scope: 0,
            lost: 0,
            reports_are_ambiguous: false,
            pauses: Pauses::default(),
            accounted: 0,
            segments: 1,
            missing: Vec::new(),
            notes: Vec::new(),
            first: u64::MAX,
            last: 0,
        }
    }

    /// Returns the hook with this id.
    #[inline]
    pub fn hook(&self, id: u16) -> Option<&LocalHook> {
        self.hooks.get(usize::from(id))?.as_deref()
    }

    #[inline]
    pub(super) fn hook_mut(&mut self, id: u16) -> Option<&mut LocalHook> {
        self.hooks.get_mut(usize::from(id))?.as_deref_mut()
    }

    /// Returns all hooks, by id.
    pub fn hooks(&self) -> impl Iterator<Item = &LocalHook> {
        self.hooks.iter().flatten().map(|hook| &**hook)
    }

    /// Returns the kernel that the process defined with this id.
    #[inline]
    pub fn kernel(&self, id: u32) -> Option<&LocalKernel> {
        self.kernels.get(&id)
    }

    /// Returns the code object that the process defined with this id.
    pub fn code_object(&self, id: u32) -> Option<CodeObjectId> {
        self.code_objects.get(&id).copied()
    }

    /// Identifies the process in any trace.
    pub fn identity(&self) -> Identity {
        identity(&self.header)
    }

    /// Returns the segment being read, from 1.
    pub fn segment(&self) -> u32 {
        self.header.part()
    }

    /// Returns the number of segments read.
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// Returns true if this header begins a later segment of the same trace.
    pub(super) fn continues_in(&self, header: &Header) -> bool {
        identity(&self.header) == identity(header) && header.part() > self.header.part()
    }

    /// Continues with the segment that this header begins.
    pub(super) fn continue_in(&mut self, header: Header) {
        self.missing.extend(missing(self.header.part() + 1, header.part()));
        self.oldest = self.oldest.max(header.oldest);
        self.header = header;
        self.segments += 1;
        self.footer = None;
    }

    /// Keeps the notes of the reader about a segment that is not the last.
    pub(super) fn note(&mut self, notes: Vec<String>) {
        self.notes.extend(notes.into_iter().map(|note| format!("part {}: {note}", self.header.part())));
        self.notes.extend(self.header.note.take());
    }

    /// Returns true if a segment before the last one is missing from the reading.
    pub fn is_missing_segments(&self) -> bool {
        !self.missing.is_empty() || self.first_segment > self.oldest
    }

    /// Counts a call.
    #[inline]
    pub(super) fn count(&mut self, hook: u16, call: &Call, is_in_scope: bool) {
        self.count_report(hook, is_in_scope);
        if !is_in_scope {
            return;
        }
        self.first = self.first.min(call.t);
        self.last = self.last.max(call.t.saturating_add(call.dur));
    }

    /// Counts a GPU report: an event, but not a call of the program.
    #[inline]
    pub(super) fn count_report(&mut self, hook: u16, is_in_scope: bool) {
        let count = if is_in_scope { &mut self.events } else { &mut self.out_of_scope };
        *count += 1;
        if let Some(hook) = self.hook_mut(hook) {
            let count = if is_in_scope { &mut hook.events } else { &mut hook.out_of_scope };
            *count += 1;
        }
    }

    /// Restores the state `armed` of the hooks whose events are all out of scope.
    pub(super) fn disarm_out_of_scope(&mut self) {
        for local in self.hooks.iter_mut().flatten() {
            if local.out_of_scope > 0 && local.events == 0 {
                local.hook.state = "armed".into();
                local.hook.library = None;
            }
        }
    }

    /// Returns the hooks with their calls: events, and the footer's counts of hooks that make no
    /// events.
    pub(crate) fn hook_uses(&self) -> impl Iterator<Item = HookUse<'_>> {
        let footer = self.footer.as_ref();
        let silent_calls: HashMap<u16, u64> =
            footer.into_iter().flat_map(|footer| footer.calls.iter().rev().copied()).collect();
        let is_counted = footer.is_some_and(|footer| footer.end == "exit");
        let is_partial = !self.pauses.is_empty();
        self.hooks().map(move |local| {
            let silent = silent_calls.get(&local.hook.id).copied().unwrap_or(0);
            let calls = local.events + silent;
            HookUse { function: local.function, hook: &local.hook, calls, silent, is_counted, is_partial }
        })
    }

    /// Returns why calls of `library` may have bypassed the hooks; `None` if no such path is known.
    pub(crate) fn possible_bypass(&self, library: &str) -> Option<String> {
        match self.hooks().filter(|local| local.hook.of == library && local.hook.state == "off").count() {
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

    /// Returns why calls may be missing from a trace with this end.
    pub(crate) fn visibility_gaps(&self, end: End) -> VisibilityGaps {
        let is_snapshot = self.footer.as_ref().is_some_and(|footer| footer.end == "snapshot");
        VisibilityGaps {
            lossy: self.lost > 0 || matches!(end, End::Cut | End::Rotated) || self.is_missing_segments(),
            running: matches!(end, End::Running | End::Rotated) || is_snapshot,
            unrecorded: self.unrecorded(end),
        }
    }

    /// Returns why GPU reports or launches may be missing, so that a dispatch may lack its launch.
    pub(crate) fn gpu_limits(&self, end: End) -> Option<String> {
        let lost = (self.lost > 0).then(|| format!("{} events were lost", self.lost));
        let ambiguous = self.ambiguous_reports().map(str::to_owned);
        let late = self.footer.as_ref().is_some_and(|footer| footer.late > 0);
        let late = late.then(|| "calls came after recording had ended".to_owned());
        let whole = self.footer.as_ref().is_some_and(|footer| footer.end == "exit");
        let cut = (!whole).then(|| "the trace does not end with the process".to_owned());
        ambiguous.or(lost).or(late).or_else(|| self.unrecorded(end)).or(cut)
    }

    /// Returns why reports of the GPU may have the wrong calls.
    pub(crate) fn ambiguous_reports(&self) -> Option<&'static str> {
        self.reports_are_ambiguous
            .then_some("another tool gave one number to two calls, so reports may have the wrong one")
    }

    /// Returns why calls may be missing that are not counted as lost; `None` if none is.
    pub(crate) fn unrecorded(&self, end: End) -> Option<String> {
        let keeps_last = self.header.env.get("ROCSHIM_FULL").is_some_and(|full| full == "overwrite");
        let in_rings = "the rings of a flight recorder are not in its trace before its threads end";
        let in_rings = (keeps_last && end == End::Running).then(|| in_rings.to_owned());
        self.count_mismatch().or_else(|| self.pauses.sentence(self.end())).or(in_rings)
    }

    /// Returns the differences between its threads' totals, which are complete with the footer, and
    /// what was read.
    fn count_mismatch(&self) -> Option<String> {
        let read = self.events + self.out_of_scope;
        (self.footer.is_some() && self.accounted != read).then(|| {
            format!("its threads say that they wrote {} events, and {read} were read", self.accounted)
        })
    }

    /// Returns the end of the trace as far as known, ns since the epoch.
    fn end(&self) -> u64 {
        self.footer.as_ref().map_or(self.last, |footer| footer.t)
    }

    /// Returns the time in which recording was stopped, ns.
    pub(crate) fn stopped_ns(&self) -> u64 {
        self.pauses.total(self.end())
    }

    /// Returns the entry of the first call and the return of the last, ns since the epoch; 0
    /// without events.
    pub(crate) fn first_and_last(&self) -> (u64, u64) {
        (if self.events == 0 { 0 } else { self.first }, self.last)
    }

    /// Returns how its trace ends, in the words of `summary`.
    pub fn end_word(&self, end: End) -> String {
        match (end, &self.footer) {
            (End::Leftover, _) => "killed".to_string(),
            (_, Some(footer)) => footer.end.clone(),
            (End::Running, None) => "running".to_string(),
            (_, None) => "cut".to_string(),
        }
    }

    /// Returns further remarks on its trace, including the reader's on its last segment.
    pub(crate) fn notes(&self, mut notes: Vec<String>) -> Vec<String> {
        notes.extend(self.notes.iter().chain(&self.header.note).cloned());
        let missing = missing(self.oldest, self.first_segment).into_iter().chain(self.missing.clone());
        notes.extend(missing.map(|missing| format!("limited: {missing}")));
        notes.extend(self.count_mismatch().map(|what| format!("limited: {what}")));
        notes.extend(self.pauses.sentence(self.end()).map(|what| format!("limited: {what}")));
        notes
    }
}

fn identity(header: &Header) -> Identity {
    (header.pid, header.start_ticks, header.epoch.clone())
}

/// Returns the remark that the segments from `first` to the one before `next` are missing, if there
/// are any.
fn missing(first: u32, next: u32) -> Option<String> {
    match next.saturating_sub(first) {
        0 => None,
        1 => Some(format!("part {first} of the trace was not read")),
        _ => Some(format!("parts {first} to {} of the trace were not read", next - 1)),
    }
}
