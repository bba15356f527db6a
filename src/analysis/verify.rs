//! Verifies a trace: counts each thread's events and compares with its gaps and its totals.
//!
//! Memory is bounded by threads and gaps: of the ids of a thread's events only the ranges not yet
//! seen are kept, as many as open calls and gaps.

mod segments;

pub(crate) use segments::Segment;
pub use segments::find_missing_parts;

use super::{
    GpuTimes,
    gpu::GpuBuilder,
    session::{Analysis, CallKey, Event, Session},
};
use foldhash::HashMap;
use rocshim_reader::{End, Reading};
use rocshim_trace::{Gap, Gpu, Header, Launch, OF_KERNEL, Record, Thread};
use serde::Serialize;
use std::collections::BTreeMap;

/// Limit of the reported faults of a kind; further ones are only counted.
const SHOWN: usize = 10;

/// Calls that a thread may have in flight where a segment of a trace ends.
const DEPTH: u64 = 8;

/// The verdict on a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every event is present or counted as lost.
    Right,
    /// The same so far: its process still runs.
    RightSoFar,
    /// There is nothing to verify: the file was deleted by hand, or moved away.
    Deleted,
    /// Something is inconsistent, or unknown.
    #[default]
    Wrong,
}

/// The result of verifying a file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verified {
    /// The file.
    pub trace: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Threads that made calls.
    pub threads: u64,
    /// Calls that had returned, by the threads' counters, and those of threads without a ring.
    pub produced: u64,
    /// Events in the file.
    pub written: u64,
    /// Events that its gaps count.
    pub lost: u64,
    /// Lost events by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Calls in flight when the process died.
    pub in_flight: u64,
    /// Whether every dispatch that the HIP runtime reported was seen; absent when reports were not
    /// requested.
    pub gpu: Option<GpuTimes>,
    /// Faults, one sentence each.
    pub wrong: Vec<String>,
    /// A sentence about the files of the trace that were deleted by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<String>,
    /// The trace and the number of the segment.
    #[serde(skip)]
    pub segment: Option<Segment>,
}

/// The events of one thread, since its ring was created.
#[derive(Default)]
struct Counted {
    seen: u64,
    lost: u64,
    in_flight: u64,
    /// The highest id seen.
    last: u64,
    /// Ids below it that were not seen: first and last of each range.
    missing: BTreeMap<u64, u64>,
    /// Ids below this one may be in an earlier segment.
    base: u64,
    /// Number of events that occurred before.
    again: u64,
}

impl Counted {
    /// Counts an event with this id; `is_later`: in a later segment than the first.
    fn see(&mut self, id: u64, is_later: bool) {
        if is_later && self.seen == 1 {
            self.base = id;
        }
        if id > self.last {
            if id > self.last + 1 {
                self.missing.insert(self.last + 1, id - 1);
            }
            self.last = id;
            return;
        }
        let Some((first, last)) = self.missing.range(..=id).next_back().map(|(first, last)| (*first, *last))
        else {
            self.again += 1;
            return;
        };
        if last < id {
            self.again += 1;
            return;
        }
        self.missing.remove(&first);
        if first < id {
            self.missing.insert(first, id - 1);
        }
        if id < last {
            self.missing.insert(id + 1, last);
        }
    }

    fn missing(&self) -> u64 {
        self.missing.range(self.base..).map(|(first, last)| last - first + 1).sum()
    }
}

/// Recounts the events of each file.
#[derive(Default)]
pub struct Verifier {
    file: FileCounts,
    verified: Vec<Verified>,
}

/// Counts of the file being read.
#[derive(Default)]
struct FileCounts {
    name: String,
    threads: HashMap<u32, Counted>,
    closed: u64,
    produced: u64,
    written: u64,
    in_flight: u64,
    reasons: BTreeMap<String, u64>,
    /// Faults of the order of lines: a line after the footer, a second header.
    order: Complaints,
    undefined: Complaints,
    accounts: Vec<String>,
    /// Threads with calls that have no event: the thread, how many calls, how many of them are
    /// known to have none.
    missing: Vec<(u32, u64, u64)>,
    segment: Option<Segment>,
    gpu: GpuBuilder,
    /// The end that its footer states.
    end: Option<String>,
}

/// Faults of one kind: the first few as sentences, the others counted.
#[derive(Default)]
struct Complaints {
    shown: Vec<String>,
    more: u64,
}

impl Complaints {
    fn add(&mut self, sentence: impl FnOnce() -> String) {
        if self.shown.len() < SHOWN { self.shown.push(sentence()) } else { self.more += 1 }
    }

    fn into_sentences(mut self) -> Vec<String> {
        if self.more != 0 {
            self.shown.push(format!("and {} more of this kind", self.more));
        }
        self.shown
    }
}

impl Analysis for Verifier {
    fn begin_file(&mut self, file: &str) {
        self.file = FileCounts { name: file.to_string(), ..FileCounts::default() };
    }

    fn header(&mut self, session: &Session, header: &Header) {
        self.file.header(session, header);
    }

    fn record(&mut self, _session: &Session, record: &Record) {
        let file = &mut self.file;
        file.line();
        file.gpu.record(record);
        match record {
            Record::Gap(gap) => file.gap(gap),
            Record::Thread(account) => file.account(account),
            Record::Footer(footer) => file.end = Some(footer.end.clone()),
            _ => {}
        }
    }

    fn event(&mut self, session: &Session, event: &Event) {
        let file = &mut self.file;
        file.line();
        file.gpu.event(event);
        file.written += 1;
        let is_later = session.process().segment() > 1;
        let thread = file.thread(event.call.tid);
        thread.seen += 1;
        thread.see(event.call.id, is_later);
        file.refers(session, event);
    }

    fn report(&mut self, _session: &Session, gpu: &Gpu, call: Option<CallKey>) {
        self.file.gpu.report(gpu, call);
    }

    fn in_flight(&mut self, session: &Session, event: &Event) {
        let file = &mut self.file;
        file.line();
        file.in_flight += 1;
        file.thread(event.call.tid).in_flight += 1;
        file.refers(session, event);
    }

    fn end_file(&mut self, _session: &Session, reading: &Reading) {
        self.verified.push(std::mem::take(&mut self.file).finish(reading));
    }
}

impl Verifier {
    /// Notes that the file that was begun cannot be read to its end.
    pub fn pass_over(&mut self, why: String) {
        let trace = std::mem::take(&mut self.file).name;
        self.verified.push(Verified { trace, wrong: vec![why], ..Verified::default() });
    }

    /// Notes a file that was deleted by hand while the ring files of its process are left.
    pub fn pass_over_deleted(&mut self, trace: String) {
        let what = "its file was deleted or moved away: `rocshim recover --discard` removes its ring files";
        let deleted = Some(what.to_owned());
        self.verified.push(Verified { trace, verdict: Verdict::Deleted, deleted, ..Verified::default() });
    }

    /// Returns the result for each file, in the order in which they were read.
    pub fn finish(self) -> Vec<Verified> {
        self.verified
    }
}

impl FileCounts {
    /// Counts a line.
    fn line(&mut self) {
        if self.end.is_some() {
            self.order.add(|| "a line follows the footer".into());
        }
    }

    fn thread(&mut self, tid: u32) -> &mut Counted {
        self.threads.entry(tid).or_default()
    }

    fn header(&mut self, session: &Session, header: &Header) {
        self.line();
        if self.segment.is_some() {
            self.order.add(|| "a second header: files were strung together".into());
        }
        let process = session.process();
        self.segment = Some(Segment {
            process: process.identity(),
            number: process.segment(),
            oldest: header.oldest.max(1),
            continues: false,
            after_deletion: header.after_deletion,
        });
    }

    fn gap(&mut self, gap: &Gap) {
        *self.reasons.entry(gap.reason.to_string()).or_default() += gap.lost;
        if gap.tid == 0 {
            // Calls of threads without a ring have no other counter.
            self.produced += gap.lost;
        } else {
            self.thread(gap.tid).lost += gap.lost;
        }
    }

    /// Checks that the kernel and the hook of an event are defined in the same file.
    fn refers(&mut self, session: &Session, event: &Event) {
        let process = session.process();
        let (tid, id, hook) = (event.call.tid, event.call.id, event.call.hook);
        let is_here = |segment: u32| segment == process.segment();
        let is_hook = |hook: u16| process.hook(hook).is_some_and(|hook| is_here(hook.segment));
        let is_known = match event.record {
            Record::Launch(Launch { kernel: Some(kernel), .. }) => {
                match process.kernel(*kernel).filter(|local| is_here(local.segment)) {
                    None => {
                        self.undefined.add(|| {
                            format!(
                                "event {id} of thread {tid} launches kernel {kernel}, which was not defined"
                            )
                        });
                        true
                    }
                    Some(local) => (hook == OF_KERNEL && local.hook.is_some()) || is_hook(hook),
                }
            }
            _ => is_hook(hook),
        };
        if !is_known {
            self.undefined.add(|| format!("event {id} of thread {tid} came by a hook that was not defined"));
        }
    }

    /// Compares a thread's counters with its events. Afterwards its id may belong to another
    /// thread.
    fn account(&mut self, account: &Thread) {
        let &Thread { tid, produced, written, lost } = account;
        let counted = self.threads.remove(&tid).unwrap_or_default();
        self.closed += 1;
        self.produced += produced;
        let mut print_error = |what: String| self.accounts.push(format!("thread {tid}: {what}"));
        if produced != written + lost {
            print_error(format!(
                "its counters are {produced} produced, {written} written and {lost} lost, which does not add up"
            ));
        }
        if written != counted.seen {
            print_error(format!(
                "its counters have {written} events written; {} are in the trace",
                counted.seen
            ));
        }
        if lost != counted.lost {
            print_error(format!("its counters have {lost} events lost; its gaps count {}", counted.lost));
        }
        if counted.again != 0 {
            print_error(format!("{} events are in the trace more than once", counted.again));
        }
        let (missing, known) = (counted.missing(), counted.lost + counted.in_flight);
        if missing > known {
            self.missing.push((tid, missing, known));
        }
    }

    /// Returns the result for the file, after its last record.
    fn finish(mut self, reading: &Reading) -> Verified {
        let mut wrong = reading.notes.clone();
        if reading.end == End::Running {
            // That line is still being written.
            wrong.retain(|note| note != "the last line is cut");
        }
        wrong.append(&mut self.order.into_sentences());
        wrong.append(&mut self.undefined.into_sentences());
        wrong.append(&mut self.accounts);
        let continues = reading.end == End::Rotated;
        let returning = if continues || self.end.as_deref() == Some("snapshot") { DEPTH } else { 0 };
        for (tid, missing, known) in
            self.missing.iter().filter(|(_, missing, known)| *missing > known + returning)
        {
            wrong.push(format!(
                "thread {tid}: {missing} calls have no event, and only {known} are counted as lost or in flight"
            ));
        }
        if let Some(segment) = &mut self.segment {
            segment.continues = continues;
        }
        match reading.end {
            End::Running => {}
            End::Cut => wrong.push(
                "it has no footer, its process is gone, and so are its ring files: what was not in the file is lost, and its extent is unknown"
                    .into(),
            ),
            End::Footer | End::Rotated | End::Leftover => {
                let mut tids: Vec<u32> = self.threads.keys().copied().collect();
                tids.sort_unstable();
                wrong.extend(tids.iter().take(SHOWN).map(|tid| format!("thread {tid} has events, and no account")));
            }
        }
        let lost = self.reasons.values().sum();
        let is_whole = lost == 0 && self.end.as_deref() == Some("exit");
        self.gpu.end_process((!is_whole).then(|| "events may be missing".to_owned()));
        let gpu = self.gpu.finish();
        let verdict = match (wrong.is_empty(), reading.end) {
            (false, _) => Verdict::Wrong,
            (true, End::Running) => Verdict::RightSoFar,
            (true, _) => Verdict::Right,
        };
        Verified {
            trace: self.name,
            gpu,
            verdict,
            threads: self.closed + self.threads.len() as u64,
            produced: self.produced,
            written: self.written,
            lost,
            reasons: self.reasons,
            in_flight: self.in_flight,
            wrong,
            deleted: None,
            segment: self.segment,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_lines;

    #[test]
    fn a_hook_of_the_table_is_defined_before_it_is_bound() {
        let verdict = |table: &str| {
            let header = r#"{"type":"header","format":1,"rocshim":"0","pid":7,"ppid":1,"start_ticks":0,"exe":"","argv":[],"env":{},"host":"","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}"#;
            let event = r#"{"type":"sync","tid":7,"id":1,"t":1,"dur":1,"hook":1,"action":"stream"}"#;
            let account = r#"{"type":"thread","tid":7,"produced":1,"written":1,"lost":0}"#;
            let footer = r#"{"type":"footer","t":9,"end":"recovered"}"#;
            let mut verifier = Verifier::default();
            let lines = [header, table, event, account, footer];
            read_lines(&mut verifier, lines.into_iter().filter(|line| !line.is_empty()));
            verifier.finish()[0].verdict
        };
        let table = r#"{"type":"hook_table","of":"libamdhip64.so","first":0,"names":["a","b"]}"#;
        assert_eq!([verdict(table), verdict("")], [Verdict::Right, Verdict::Wrong]);
    }
}
