//! Analyses each queue of a device: busy time, pauses and what the host did in them, the delay from
//! launch to begin, and the overlap with other queues.
//!
//! A pause is the time from the end of a command of a queue to the begin of the next one. Until the
//! call that requested the next one has returned, that command is *not launched*, and the calls of
//! that thread show what the host did; afterwards it is *held*: it waits on the GPU.

use super::busy::Busy;
use super::delays::Delays;
use super::rows::{GpuQueueRow, LaunchArrow, OverlapRow, PauseShare};
use crate::Evidence;
use crate::durations::Durations;
use crate::evidence::rules::{Answer, Class, Rule, RuleRow, premises};
use crate::reorder::ReorderBuffer;
use crate::session::{CallKey, Event, FunctionId, Session};
use foldhash::HashMap;
use rocshim_trace::{Gpu, Record};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

/// Limit of the kept calls of a thread, which show what the host did in a pause.
const CALLS: usize = 4_096;
/// Calls that request commands are kept until between one and two times this many others were read.
const ASKED: usize = 1 << 16;
/// Size of the buffer that sorts the commands of a queue by begin.
const ORDERED: usize = 256;
/// Limit of the functions that a row names.
const SHOWN: usize = 5;

/// The facts that the rule tests.
#[derive(Clone, Copy)]
struct Facts {
    unknown_ns: u64,
    is_whole: bool,
    /// The uncertainty of times, and the mean pause, ns.
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

/// Returns the module's rule, for `rocshim help evidence`.
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
    /// True for a kernel that is the first of its call.
    is_first: bool,
}

/// What waits in the reorder buffer.
#[derive(Clone)]
enum Waiting {
    /// A call that the program itself made, or one that requests commands.
    Call(HostCall, CallKey, bool),
    Ran(QueueId, Ran),
}

/// A queue of the process being read.
#[derive(Clone, Default)]
struct Queue {
    /// Commands that are not in order yet.
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

/// The calls of the process being read.
#[derive(Clone, Default)]
struct Host {
    /// Calls that the program made itself, by thread.
    calls: HashMap<u32, VecDeque<HostCall>>,
    /// Entry and return of calls that request commands: the latest, and the generation before them.
    asked: [HashMap<CallKey, (u64, u64)>; 2],
}

/// The queues of the process being read, and the rows of earlier processes.
#[derive(Clone, Default)]
pub(crate) struct Queues {
    is_asked: bool,
    error: u64,
    events: ReorderBuffer<Waiting>,
    host: Host,
    queues: BTreeMap<QueueId, Queue>,
    /// Pid and epoch.
    process: (u32, u64),
    delays: Delays,
    rows: Vec<GpuQueueRow>,
    /// For how long two queues of the process were both busy, ns.
    common: BTreeMap<(QueueId, QueueId), u64>,
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

    /// Adds the time that a thread spent in each function from `begin` to `end` to `sums`.
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

/// Adds the delay of a launch whose first kernel ran on this queue.
fn delayed(
    delays: &mut Delays,
    (pid, epoch): (u32, u64),
    (device, queue): QueueId,
) -> impl FnMut(CallKey, u64, u64) {
    move |(tid, _), launched, begin| {
        let (launched_ns, begin_ns) = (epoch.saturating_add(launched), epoch.saturating_add(begin));
        delays.add(LaunchArrow { pid, tid, device, queue, launched_ns, begin_ns });
    }
}

impl Queue {
    /// Processes commands in the order of their begins, as far as that is decided; returns the time
    /// before which to sum up busy times if there are too many.
    fn drain(
        &mut self,
        host: &Host,
        mut delayed: impl FnMut(CallKey, u64, u64),
        at_end: bool,
    ) -> Option<u64> {
        let mut sum_up = None;
        while self.waiting.len() > if at_end { 0 } else { ORDERED } {
            let Some(Reverse(ran)) = self.waiting.pop() else { break };
            let asked = host.asked(ran.of);
            if let Some(((entered, _), call)) = asked.filter(|_| ran.is_first).zip(ran.of) {
                delayed(call, entered, ran.begin);
            }
            if self.first.is_none() {
                (self.first, self.end) = (Some(ran.begin), ran.begin);
            }
            if ran.begin > self.end {
                self.pause(host, &ran, asked.map(|(_, returned)| returned));
            }
            self.commands += 1;
            sum_up = self.busy.add(ran.begin, ran.end).or(sum_up);
            self.end = self.end.max(ran.end);
        }
        sum_up
    }

    /// Adds the pause from `self.end` to the begin of `next`, whose call returned at `returned`.
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
    /// Handles a record that is not an event.
    pub(crate) fn record(&mut self, session: &Session, record: &Record) {
        if let Record::GpuTime(state) = record {
            self.is_asked |= state.state == "on";
            self.process = (session.process().header.pid, session.process().epoch);
        }
    }

    /// Handles a call.
    pub(crate) fn event(&mut self, event: &Event) {
        if !self.is_asked || matches!(event.record, Record::Gpu(_)) {
            return;
        }
        let asks = matches!(event.record, Record::Launch(_) | Record::GraphLaunch(_) | Record::Copy(_));
        let is_own = event.call.parent.is_none();
        if (asks || is_own) && event.ids.capture.is_none() {
            let call = HostCall { begin: event.call.t, end: event.end(), function: event.ids.function };
            let key = (event.call.tid, event.call.id);
            self.events.push(key.0, call.end, Waiting::Call(call, key, is_own));
        }
        self.look(false);
    }

    /// Handles a report, with the recorded call that caused it.
    pub(crate) fn report(&mut self, gpu: &Gpu, of: Option<CallKey>) {
        if !self.is_asked || !matches!(&*gpu.op, "dispatch" | "copy") {
            return;
        }
        self.error = self.error.max(gpu.error);
        let is_first = gpu.op == "dispatch" && gpu.place == 0;
        let ran = Ran { begin: gpu.begin, end: gpu.begin + gpu.busy, of, is_first };
        self.events.push(gpu.call.tid, gpu.call.t, Waiting::Ran((gpu.device, gpu.queue), ran));
        self.look(false);
    }

    fn look(&mut self, at_end: bool) {
        while let Some(waiting) = self.events.pop(at_end) {
            match waiting {
                Waiting::Call(call, key, is_own) => self.host.call(call, key, is_own),
                Waiting::Ran(id, ran) => {
                    let queue = self.queues.entry(id).or_default();
                    queue.waiting.push(Reverse(ran));
                    let since = queue.drain(&self.host, delayed(&mut self.delays, self.process, id), false);
                    since.into_iter().for_each(|since| self.sum_up(id.0, since));
                }
            }
        }
    }

    /// Sums up the busy times of a device's queues before `since`.
    fn sum_up(&mut self, device: u32, since: u64) {
        let of_device = self.queues.range_mut((device, 0)..=(device, u64::MAX));
        let busy: Vec<_> = of_device.map(|(id, queue)| (*id, queue.busy.sum_up_before(since))).collect();
        for (at, (first, of_first)) in busy.iter().enumerate() {
            for (second, of_second) in &busy[at + 1..] {
                *self.common.entry((*first, *second)).or_default() += common(of_first, of_second);
            }
        }
    }

    /// Ends the process being read; `is_whole`: no event of it is missing.
    pub(crate) fn end_process(&mut self, session: &Session, is_whole: bool) {
        self.look(true);
        let pid = session.process().header.pid;
        for (id, queue) in &mut self.queues {
            queue.drain(&self.host, delayed(&mut self.delays, self.process, *id), true);
        }
        let devices: BTreeSet<u32> = self.queues.keys().map(|(device, _)| *device).collect();
        devices.into_iter().for_each(|device| self.sum_up(device, u64::MAX));
        let error = Some(std::mem::take(&mut self.error) + super::CLOCK_ERROR);
        for (id, queue) in std::mem::take(&mut self.queues) {
            self.rows.push(queue.row(session, (pid, id), (is_whole, error)));
        }
        let common = std::mem::take(&mut self.common).into_iter().filter(|(_, ns)| *ns > 0);
        self.overlaps.extend(common.map(|(((device, first), (_, second)), total_ns)| OverlapRow {
            pid,
            device,
            queues: [first, second],
            total_ns,
        }));
        (self.host, self.is_asked) = (Host::default(), false);
    }

    /// Returns the rows of all queues, which of them overlapped, and the delays from launch to
    /// begin.
    pub(super) fn finish(self) -> (Vec<GpuQueueRow>, Vec<OverlapRow>, Delays) {
        (self.rows, self.overlaps, self.delays)
    }
}

impl Queue {
    /// Returns the queue's row.
    fn row(
        mut self,
        session: &Session,
        (pid, (device, queue)): (u32, QueueId),
        (is_whole, error): (bool, Option<u64>),
    ) -> GpuQueueRow {
        let (busy_ns, _, late) = self.busy.total();
        let pause = self.pauses_ns.checked_div(self.pauses.calls()).unwrap_or(u64::MAX);
        let facts = Facts { unknown_ns: self.unknown, is_whole: is_whole && late == 0, error, pause };
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
        GpuQueueRow {
            pid,
            device,
            queue,
            commands: self.commands,
            busy_ns,
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
        }
    }
}

/// Returns the time in which both queues were busy; the intervals of each are sorted and disjoint.
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
