//! Each queue of a device: how long it was busy, its pauses and what the host did in them, how long
//! commands waited between their launch and their begin, and which queues worked at the same time.
//!
//! A pause is the time from the end of a command of a queue to the begin of its next one. Up to the
//! return of the call that asked for that next one it was *not launched*, and the calls of that
//! call's thread say what the host did; after it the command was *held*: it waited on the GPU.

use super::{CallKey, Ties, busy::Busy};
use crate::Evidence;
use crate::durations::Durations;
use crate::reorder::ReorderBuffer;
use crate::rules::{Answer, Class, Rule, RuleRow, premises};
use crate::session::{Event, FunctionId, Session};
use foldhash::HashMap;
use rocshim_trace::{Gpu, Record};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Calls of a thread that are kept, to say what the host did in a pause.
const CALLS: usize = 4_096;
/// Calls that ask for commands are kept until so many others, once or twice, have come.
const ASKED: usize = 1 << 16;
/// Commands of a queue that are put into the order of their begins.
const ORDERED: usize = 256;
/// Functions that a row names.
const SHOWN: usize = 5;

/// A queue of a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GpuQueueRow {
    /// The process that uses the queue.
    pub pid: u32,
    /// The driver's node number of the device.
    pub device: u32,
    /// The runtime's number of the queue.
    pub queue: u64,
    /// Kernels, copies and fills.
    pub commands: u64,
    /// Time in which at least one of them ran, ns.
    pub busy_ns: u64,
    /// From the begin of the first command to the end of the last, ns.
    pub span_ns: u64,
    /// Times in which none ran, between the first and the last.
    pub pauses: u64,
    /// Their sum, ns.
    pub pauses_ns: u64,
    /// The median pause, accurate to 0.8 %; absent without pauses.
    pub median_pause_ns: Option<u64>,
    /// The longest pause.
    pub longest_pause_ns: u64,
    /// Part of `pauses_ns` before the return of the call that launched the next command.
    pub not_launched_ns: u64,
    /// Part of `pauses_ns` after the return of that call: the command waited on the GPU.
    pub held_ns: u64,
    /// Part of `pauses_ns` where that call is not known.
    pub unknown_ns: u64,
    /// What the host did in `not_launched_ns`, most time first.
    pub host: Vec<PauseShare>,
    /// How certain the three parts and `host` are.
    pub evidence: Evidence,
    /// The premise that does not hold; absent if all do.
    pub why: Option<&'static str>,
}

/// What the host did in the pauses of a queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PauseShare {
    /// The hooked function that the launching thread was in; absent: outside all of them.
    pub function: Option<String>,
    /// Time in that function during the pauses.
    pub total_ns: u64,
}

/// How long kernels waited from the entry of their launch call to their begin on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchDelay {
    /// Kernels, the first of each graph launch among them.
    pub kernels: u64,
    /// The median delay, accurate to 0.8 %.
    pub median_ns: u64,
    /// The 99th percentile, accurate to 0.8 %.
    pub p99_ns: u64,
    /// The longest delay.
    pub max_ns: u64,
}

/// Two queues of a device that were busy at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OverlapRow {
    /// The process that uses both.
    pub pid: u32,
    /// The driver's node number of the device.
    pub device: u32,
    /// The runtime's numbers of the two queues.
    pub queues: [u64; 2],
    /// While both were busy, ns.
    pub total_ns: u64,
}

/// What the rule is asked of.
#[derive(Clone, Copy)]
struct Facts {
    unknown_ns: u64,
    is_whole: bool,
    /// The uncertainty of times, and the mean pause.
    error: Option<u64>,
    pause: u64,
}

const PAUSES: Rule<Facts> = Rule {
    says: "what the host did in a pause of a queue is what the launching thread was in",
    class: Class::Inferred,
    premises: premises! {
        "each command after a pause names its call" Observed |facts: &Facts| Some(facts.unknown_ns == 0);
        "nothing is missing in the trace" Observed |facts: &Facts| Some(facts.is_whole);
        "the runtime converts the GPU's clock to the host's to within the pauses' mean" Known
            |facts: &Facts| facts.error.map(|error| error <= facts.pause);
    },
};

/// As it is listed.
pub(crate) fn rules() -> Vec<RuleRow> {
    vec![PAUSES.row("time on the GPU")]
}

/// The device and the queue.
type QueueId = (u32, u64);

/// A call, ns since the process's epoch.
#[derive(Clone, Copy, Debug)]
struct HostCall {
    begin: u64,
    end: u64,
    function: Option<FunctionId>,
}

/// A command that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ran {
    begin: u64,
    end: u64,
    of: Option<CallKey>,
    /// A kernel, the first of its call.
    is_first: bool,
}

/// What waits until everything before it was read.
#[derive(Clone)]
enum Waiting {
    /// A call that the program made itself, or one that asks for commands.
    Call(HostCall, CallKey, bool),
    Ran(QueueId, Ran),
}

/// A queue of the process that is read.
#[derive(Clone, Default)]
struct Queue {
    /// Commands that may not be the next one yet.
    waiting: BinaryHeap<Reverse<Ran>>,
    first: Option<u64>,
    end: u64,
    busy: Busy,
    commands: u64,
    pauses: Durations,
    pauses_ns: u64,
    longest: u64,
    not_launched: u64,
    held: u64,
    unknown: u64,
    host: HashMap<Option<FunctionId>, u64>,
}

/// The calls of the process that is read.
#[derive(Clone, Default)]
struct Host {
    /// Calls that the program made itself, by thread.
    calls: HashMap<u32, VecDeque<HostCall>>,
    /// When calls that ask for commands were entered and returned: the latest, and those before
    /// them.
    asked: [HashMap<CallKey, (u64, u64)>; 2],
}

/// The queues of the process that is read, and the rows of those before it.
#[derive(Clone, Default)]
pub(crate) struct Queues {
    is_asked: bool,
    error: u64,
    ties: Ties,
    events: ReorderBuffer<Waiting>,
    host: Host,
    queues: BTreeMap<QueueId, Queue>,
    delays: Durations,
    longest_delay: u64,
    rows: Vec<GpuQueueRow>,
    overlaps: Vec<OverlapRow>,
}

impl Host {
    fn call(&mut self, call: HostCall, key: CallKey, is_own: bool) {
        if self.asked[0].len() >= ASKED {
            self.asked.swap(0, 1);
            self.asked[0].clear();
        }
        self.asked[0].insert(key, (call.begin, call.end));
        if is_own {
            let calls = self.calls.entry(key.0).or_default();
            calls.push_back(call);
            if calls.len() > CALLS {
                calls.pop_front();
            }
        }
    }

    fn asked(&self, call: Option<CallKey>) -> Option<(u64, u64)> {
        let call = call?;
        self.asked.iter().find_map(|calls| calls.get(&call).copied())
    }

    /// Adds what a thread did from `begin` to `end` to `sums`.
    fn add(&self, thread: u32, (begin, end): (u64, u64), sums: &mut HashMap<Option<FunctionId>, u64>) {
        let mut outside = end - begin;
        let calls = self.calls.get(&thread).into_iter().flat_map(|calls| calls.iter().rev());
        for call in calls.take_while(|call| call.end > begin) {
            let within = call.end.min(end).saturating_sub(call.begin.max(begin));
            if within > 0 {
                *sums.entry(call.function).or_default() += within;
                outside = outside.saturating_sub(within);
            }
        }
        *sums.entry(None).or_default() += outside;
    }
}

impl Queue {
    /// Takes commands in the order of their begins, as far as that is decided.
    fn drain(&mut self, host: &Host, delays: &mut Durations, longest: &mut u64, at_end: bool) {
        while self.waiting.len() > if at_end { 0 } else { ORDERED } {
            let Some(Reverse(ran)) = self.waiting.pop() else { return };
            let asked = host.asked(ran.of);
            if let Some((entered, _)) = asked.filter(|_| ran.is_first) {
                let delay = ran.begin.saturating_sub(entered);
                delays.add(delay);
                *longest = delay.max(*longest);
            }
            if self.first.is_none() {
                (self.first, self.end) = (Some(ran.begin), ran.begin);
            }
            if ran.begin > self.end {
                self.pause(host, &ran, asked.map(|(_, returned)| returned));
            }
            self.commands += 1;
            self.busy.add(ran.begin, ran.end);
            self.end = self.end.max(ran.end);
        }
    }

    /// None ran from `self.end` to the begin of `next`, whose call returned then.
    fn pause(&mut self, host: &Host, next: &Ran, returned: Option<u64>) {
        let (begin, end) = (self.end, next.begin);
        self.pauses.add(end - begin);
        self.pauses_ns += end - begin;
        self.longest = self.longest.max(end - begin);
        match (next.of, returned) {
            (Some((thread, _)), Some(returned)) => {
                let launched = returned.clamp(begin, end);
                self.not_launched += launched - begin;
                self.held += end - launched;
                if launched > begin {
                    host.add(thread, (begin, launched), &mut self.host);
                }
            }
            _ => self.unknown += end - begin,
        }
    }
}

impl Queues {
    /// Takes what is no event.
    pub(crate) fn record(&mut self, record: &Record) {
        if let Record::GpuTime(state) = record {
            self.is_asked |= state.state == "on";
        }
    }

    /// Takes a call or a report.
    pub(crate) fn event(&mut self, event: &Event) {
        if !self.is_asked {
            return;
        }
        if let Record::Gpu(report) = event.record {
            let mut ties = std::mem::take(&mut self.ties);
            ties.tie(report, |gpu, call| self.ran(event.call.tid, event.call.t, gpu, call));
            self.ties = ties;
        } else {
            let asks = matches!(event.record, Record::Launch(_) | Record::GraphLaunch(_) | Record::Copy(_));
            let is_own = event.call.parent.is_none();
            if (asks || is_own) && event.ids.capture.is_none() {
                let call = HostCall { begin: event.call.t, end: event.end(), function: event.ids.function };
                let key = (event.call.tid, event.call.id);
                self.events.push(key.0, call.end, Waiting::Call(call, key, is_own));
            }
        }
        self.look(false);
    }

    fn ran(&mut self, thread: u32, t: u64, gpu: &Gpu, of: Option<CallKey>) {
        if !matches!(&*gpu.op, "dispatch" | "copy") {
            return;
        }
        self.error = self.error.max(gpu.error);
        let is_first = gpu.op == "dispatch" && gpu.place == 0;
        let ran = Ran { begin: gpu.begin, end: gpu.begin + gpu.busy, of, is_first };
        self.events.push(thread, t, Waiting::Ran((gpu.device, gpu.queue), ran));
    }

    fn look(&mut self, at_end: bool) {
        while let Some(waiting) = self.events.pop(at_end) {
            match waiting {
                Waiting::Call(call, key, is_own) => self.host.call(call, key, is_own),
                Waiting::Ran(queue, ran) => {
                    let queue = self.queues.entry(queue).or_default();
                    queue.waiting.push(Reverse(ran));
                    queue.drain(&self.host, &mut self.delays, &mut self.longest_delay, false);
                }
            }
        }
    }

    /// Ends the process that is read; `is_whole`: no event of it is missing.
    pub(crate) fn end_process(&mut self, session: &Session, is_whole: bool) {
        let mut ties = std::mem::take(&mut self.ties);
        ties.end(|gpu, call| self.ran(gpu.call.tid, gpu.call.t, gpu, call));
        self.look(true);
        let pid = session.process().header.pid;
        let mut queues = std::mem::take(&mut self.queues);
        for queue in queues.values_mut() {
            queue.drain(&self.host, &mut self.delays, &mut self.longest_delay, true);
        }
        let error = Some(std::mem::take(&mut self.error) + super::CLOCK_ERROR);
        let mut intervals: Vec<(QueueId, Vec<(u64, u64)>)> = Vec::new();
        for (id, queue) in queues {
            let (row, busy) = queue.row(session, (pid, id), (is_whole, error));
            self.rows.push(row);
            intervals.push((id, busy));
        }
        for (at, ((device, first), busy)) in intervals.iter().enumerate() {
            for ((other, second), with) in &intervals[at + 1..] {
                let total_ns = if device == other { common(busy, with) } else { 0 };
                if total_ns > 0 {
                    self.overlaps.push(OverlapRow {
                        pid,
                        device: *device,
                        queues: [*first, *second],
                        total_ns,
                    });
                }
            }
        }
        (self.host, self.is_asked) = (Host::default(), false);
    }

    /// Returns the rows of all queues, the delay from launch to begin, and which queues overlapped.
    pub(crate) fn finish(self) -> (Vec<GpuQueueRow>, Option<LaunchDelay>, Vec<OverlapRow>) {
        let quantile = |percent| self.delays.quantile(percent).unwrap_or(0).min(self.longest_delay);
        let delay = (self.delays.calls() > 0).then(|| LaunchDelay {
            kernels: self.delays.calls(),
            median_ns: quantile(50),
            p99_ns: quantile(99),
            max_ns: self.longest_delay,
        });
        (self.rows, delay, self.overlaps)
    }
}

impl Queue {
    /// The row, and the intervals in which it was busy.
    fn row(
        mut self,
        session: &Session,
        (pid, (device, queue)): (u32, QueueId),
        (is_whole, error): (bool, Option<u64>),
    ) -> (GpuQueueRow, Vec<(u64, u64)>) {
        let pause = self.pauses_ns.checked_div(self.pauses.calls()).unwrap_or(u64::MAX);
        let facts = Facts { unknown_ns: self.unknown, is_whole, error, pause };
        let (evidence, why) = match PAUSES.answer(&facts) {
            Answer::Met => (Evidence::Inferred, None),
            Answer::NotMet(premise) | Answer::Unknown(premise) => (Evidence::Limited, Some(premise)),
        };
        let name = |function: Option<FunctionId>| function.map(|id| session.function(id).name.to_string());
        let mut host: Vec<PauseShare> = self
            .host
            .into_iter()
            .filter(|(_, ns)| *ns > 0)
            .map(|(function, total_ns)| PauseShare { function: name(function), total_ns })
            .collect();
        host.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.function.cmp(&b.function)));
        host.truncate(SHOWN);
        let row = GpuQueueRow {
            pid,
            device,
            queue,
            commands: self.commands,
            busy_ns: self.busy.total().0,
            span_ns: self.first.map_or(0, |first| self.end - first),
            pauses: self.pauses.calls(),
            pauses_ns: self.pauses_ns,
            median_pause_ns: self.pauses.median().map(|ns| ns.min(self.longest)),
            longest_pause_ns: self.longest,
            not_launched_ns: self.not_launched,
            held_ns: self.held,
            unknown_ns: self.unknown,
            host,
            evidence,
            why,
        };
        (row, self.busy.into_intervals())
    }
}

/// For how long two queues were both busy; each one's intervals are sorted and apart.
fn common(a: &[(u64, u64)], b: &[(u64, u64)]) -> u64 {
    let (mut at, mut sum) = (0, 0);
    for (begin, end) in a {
        while at < b.len() && b[at].1 <= *begin {
            at += 1;
        }
        let within = b[at..].iter().take_while(|(other, _)| other < end);
        sum += within.map(|(other, until)| until.min(end) - other.max(begin)).sum::<u64>();
    }
    sum
}

#[cfg(test)]
mod tests;
