//! Does a trace add up? Counts each thread's events, and holds them against what its gaps and its account say.
//!
//! In memory bounded by threads, names and gaps: of the ids of a thread's events only the ranges are kept that have not
//! been seen, of which there are as many as calls are open and gaps were made.

use super::{GpuTimes, gpu::OfOne, process::identity};
use foldhash::{HashMap, HashSet};
use rocshim_reader::{End, Reading, Taker};
use rocshim_trace::{Call, Gap, Header, Launch, OF_KERNEL, Record, Thread};
use serde::Serialize;
use std::collections::BTreeMap;

/// Complaints of a kind beyond these are only counted.
const SHOWN: usize = 10;

/// Calls that a thread may have in flight where a part of a trace ends.
const DEPTH: u64 = 8;

/// How far a trace can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Everything is there or counted as lost.
    Right,
    /// So far: its process still runs.
    RightSoFar,
    /// Something does not add up, or cannot be told.
    #[default]
    Wrong,
}

/// What a file was found to be.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verified {
    /// The file.
    pub trace: String,
    /// What it is.
    pub verdict: Verdict,
    /// Threads that made calls.
    pub threads: u64,
    /// Calls that had returned, as the threads' accounts say, and those of threads without a ring.
    pub produced: u64,
    /// Events in the file.
    pub written: u64,
    /// Events that its gaps count.
    pub lost: u64,
    /// The same by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Calls in flight when the process died.
    pub in_flight: u64,
    /// Whether every dispatch that the HIP runtime reported was seen; absent where it was not asked.
    pub gpu: Option<GpuTimes>,
    /// What is wrong, one sentence each.
    pub wrong: Vec<String>,
    /// Which part of which trace it is.
    #[serde(skip)]
    pub part: Option<Part>,
}

/// A file among the parts of a trace.
#[derive(Clone, Debug)]
pub struct Part {
    /// The process: its number, when it began, its epoch.
    process: (u32, u64, String),
    number: u32,
    /// The first part that was not removed to make room.
    oldest: u32,
    goes_on: bool,
}

/// One thread, since its ring was made.
#[derive(Default)]
struct Counted {
    seen: u64,
    lost: u64,
    in_flight: u64,
    /// The highest id seen.
    last: u64,
    /// Ids below it that were not seen: first and last of each range.
    missing: BTreeMap<u64, u64>,
    /// Ids below this one may be in a part before.
    base: u64,
    /// Events that were there before.
    again: u64,
}

impl Counted {
    /// An event with this id, in the first part of a trace or in a later one.
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

/// Takes the records of one file.
#[derive(Default)]
pub struct Verifier {
    threads: HashMap<u32, Counted>,
    closed: u64,
    produced: u64,
    written: u64,
    in_flight: u64,
    reasons: BTreeMap<String, u64>,
    names: Names,
    /// A line after the footer, a second header.
    order: Complaints,
    undefined: Complaints,
    accounts: Vec<String>,
    /// Threads with calls that have no event: the thread, how many calls, how many of them are known to have none.
    missing: Vec<(u32, u64, u64)>,
    part: Option<Part>,
    gpu: OfOne,
    /// How the footer says that it ends.
    end: Option<String>,
}

/// What lines may refer to.
#[derive(Default)]
struct Names {
    hooks: HashSet<u16>,
    kernels: HashMap<u32, bool>,
}

/// Sentences, the first few of many.
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

impl Taker for Verifier {
    fn take(&mut self, record: Record) {
        self.look(&record);
    }

    fn wants_arguments(&self, _kernel: Option<u32>) -> bool {
        false
    }
}

impl Verifier {
    /// Looks at a record.
    pub fn look(&mut self, record: &Record) {
        if self.end.is_some() {
            self.order.add(|| "a line follows the footer".into());
        }
        self.gpu.look(record);
        match record {
            Record::Header(header) => self.header(header),
            Record::Hook(hook) => drop(self.names.hooks.insert(hook.id)),
            // What a hook is bound to may be told later than its first calls, or never if the process is killed.
            Record::HookTable(table) => self.names.hooks.extend(table.hooks().map(|hook| hook.id)),
            Record::Kernel(kernel) => drop(self.names.kernels.insert(kernel.id, kernel.hook.is_some())),
            Record::Gap(gap) => self.gap(gap),
            Record::Thread(account) => self.account(account),
            Record::InFlight(in_flight) => {
                self.in_flight += 1;
                if let Some(call) = in_flight.event.call() {
                    self.thread(call.tid).in_flight += 1;
                    self.refers(&in_flight.event, &call.clone());
                }
            }
            Record::Footer(footer) => self.end = Some(footer.end.clone()),
            event => {
                let Some(call) = event.call() else { return };
                self.written += 1;
                let is_later = self.part.as_ref().is_some_and(|part| part.number > 1);
                let thread = self.thread(call.tid);
                thread.seen += 1;
                thread.see(call.id, is_later);
                self.refers(event, call);
            }
        }
    }

    fn thread(&mut self, tid: u32) -> &mut Counted {
        self.threads.entry(tid).or_default()
    }

    fn header(&mut self, header: &Header) {
        if self.part.is_some() {
            self.order.add(|| "a second header: files were strung together".into());
        }
        let process = identity(header);
        self.part =
            Some(Part { process, number: header.part(), oldest: header.oldest.max(1), goes_on: false });
    }

    fn gap(&mut self, gap: &Gap) {
        *self.reasons.entry(gap.reason.to_string()).or_default() += gap.lost;
        if gap.tid == 0 {
            // Calls of threads without a ring have no account but this.
            self.produced += gap.lost;
        } else {
            self.thread(gap.tid).lost += gap.lost;
        }
    }

    /// The kernel and the hook of an event must be known.
    fn refers(&mut self, event: &Record, call: &Call) {
        let (tid, id, hook) = (call.tid, call.id, call.hook);
        let is_known = match event {
            Record::Launch(Launch { kernel: Some(kernel), .. }) => match self.names.kernels.get(kernel) {
                None => {
                    self.undefined.add(|| {
                        format!("event {id} of thread {tid} launches kernel {kernel}, which was not defined")
                    });
                    true
                }
                Some(has_hook) => (hook == OF_KERNEL && *has_hook) || self.names.hooks.contains(&hook),
            },
            _ => self.names.hooks.contains(&hook),
        };
        if !is_known {
            self.undefined.add(|| format!("event {id} of thread {tid} came by a hook that was not defined"));
        }
    }

    /// Closes a thread's account. Its number may be another thread's after that.
    fn account(&mut self, account: &Thread) {
        let &Thread { tid, produced, written, lost } = account;
        let counted = self.threads.remove(&tid).unwrap_or_default();
        self.closed += 1;
        self.produced += produced;
        let mut complain = |what: String| self.accounts.push(format!("thread {tid}: {what}"));
        if produced != written + lost {
            complain(format!(
                "its account says {produced} produced, {written} written and {lost} lost, which does not add up"
            ));
        }
        if written != counted.seen {
            complain(format!(
                "its account says that {written} events were written; {} are in the trace",
                counted.seen
            ));
        }
        if lost != counted.lost {
            complain(format!(
                "its account says that {lost} events were lost; its gaps count {}",
                counted.lost
            ));
        }
        if counted.again != 0 {
            complain(format!("{} events are in the trace more than once", counted.again));
        }
        let (missing, known) = (counted.missing(), counted.lost + counted.in_flight);
        if missing > known {
            self.missing.push((tid, missing, known));
        }
    }

    /// What `trace` was found to be, after its last record.
    pub fn finish(mut self, trace: String, reading: Reading) -> Verified {
        let mut wrong = reading.notes;
        if reading.end == End::Running {
            // The line that is being written.
            wrong.retain(|note| note != "the last line is cut");
        }
        wrong.append(&mut self.order.into_sentences());
        wrong.append(&mut self.undefined.into_sentences());
        wrong.append(&mut self.accounts);
        let goes_on = reading.end == End::Rotated;
        let returning = if goes_on || self.end.as_deref() == Some("snapshot") { DEPTH } else { 0 };
        for (tid, missing, known) in
            self.missing.iter().filter(|(_, missing, known)| *missing > known + returning)
        {
            wrong.push(format!(
                "thread {tid}: {missing} calls have no event, and only {known} are counted as lost or in flight"
            ));
        }
        if let Some(part) = &mut self.part {
            part.goes_on = goes_on;
        }
        match reading.end {
            End::Running => {}
            End::Cut => wrong.push(
                "it has no footer, its process is gone, and so are its ring files: what was not in the file is lost, and nobody knows how much"
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
        let gpu = self.gpu.finish((!is_whole).then(|| "events may be missing".to_owned()));
        let verdict = match (wrong.is_empty(), reading.end) {
            (false, _) => Verdict::Wrong,
            (true, End::Running) => Verdict::RightSoFar,
            (true, _) => Verdict::Right,
        };
        Verified {
            trace,
            gpu,
            verdict,
            threads: self.closed + self.threads.len() as u64,
            produced: self.produced,
            written: self.written,
            lost,
            reasons: self.reasons,
            in_flight: self.in_flight,
            wrong,
            part: self.part,
        }
    }
}

/// Complains where, between the first part that is left of a trace and its last, one is not among `all`.
pub fn find_missing_parts(all: &mut [Verified]) {
    let parts: Vec<Option<Part>> = all.iter().map(|one| one.part.clone()).collect();
    let is_there = |process: &(u32, u64, String), number: u32| {
        parts.iter().flatten().any(|part| part.process == *process && part.number == number)
    };
    let oldest = |process: &(u32, u64, String)| {
        parts.iter().flatten().filter(|part| part.process == *process).map(|part| part.oldest).max()
    };
    for one in all {
        let Some(part) = &one.part else { continue };
        let before = part.number.checked_sub(1).filter(|before| Some(*before) >= oldest(&part.process));
        if let Some(before) = before.filter(|before| !is_there(&part.process, *before)) {
            one.wrong.push(format!("part {before} of its trace, the one before it, is not there"));
        }
        if part.goes_on && !is_there(&part.process, part.number + 1) {
            one.wrong.push(format!("it goes on in part {}, which is not there", part.number + 1));
        }
        if !one.wrong.is_empty() {
            one.verdict = Verdict::Wrong;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_of_the_table_is_defined_before_it_is_bound() {
        let verdict = |table: &str| {
            let header = r#"{"type":"header","format":1,"rocshim":"0","pid":7,"ppid":1,"start_ticks":0,"exe":"","argv":[],"env":{},"host":"","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}"#;
            let event = r#"{"type":"sync","tid":7,"id":1,"t":1,"dur":1,"hook":1,"action":"stream"}"#;
            let account = r#"{"type":"thread","tid":7,"produced":1,"written":1,"lost":0}"#;
            let footer = r#"{"type":"footer","t":9,"end":"recovered"}"#;
            let mut verifier = Verifier::default();
            for line in [header, table, event, account, footer].into_iter().filter(|line| !line.is_empty()) {
                verifier.take(rocshim_trace::parse_line(line.as_bytes()).expect(line));
            }
            verifier.finish("t".into(), Reading { end: End::Footer, notes: Vec::new() }).verdict
        };
        let table = r#"{"type":"hook_table","of":"libamdhip64.so","first":0,"names":["a","b"]}"#;
        assert_eq!([verdict(table), verdict("")], [Verdict::Right, Verdict::Wrong]);
    }
}
