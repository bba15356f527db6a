//! Computes the GPU times of each pass from the HIP runtime's reports.
//!
//! A report names its call, and a call belongs to one pass. The time of a pass, from the entry of
//! its first launch to the end of its last command, is then of three kinds: *busy* (a command of
//! the pass runs), *not launched* (none runs, and the call that asks for the next one has not
//! returned), and *held* (none runs, although the next one was launched: it waits on the GPU).

use crate::gpu::is_builtin;
use crate::session::CallKey;
use foldhash::{HashMap, HashSet};
use rocshim_drain::demangle;
use rocshim_trace::{Gpu, GpuKernel, GpuTime, family};
use std::collections::VecDeque;

/// Limit of the passes whose reports are awaited; a report of an earlier pass makes that pass
/// limited.
const AWAITED: usize = 256;
/// Limit of the calls that were reported before their pass has ended; beyond it all passes are
/// limited.
const EARLY: usize = 1 << 16;

/// A call of a pass that requests a command on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) call: CallKey,
    /// When it returned, ns since the process's epoch.
    pub(super) returned: u64,
    /// True if it launches one kernel, so that one report is awaited.
    pub(super) is_launch: bool,
}

/// A command that ran, ns since the process's epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ran {
    begin: u64,
    end: u64,
    /// When the call that requested it returned.
    launched: u64,
}

/// A report that waits for its pass.
#[derive(Clone, Copy, Debug)]
struct Report {
    begin: u64,
    end: u64,
    error: u64,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A kernel of the program's, with its family.
    Kernel(Option<&'static str>),
    /// A kernel of the runtime's own, or a copy or fill without a kernel.
    Transfer,
}

/// What the commands of a pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PassGpu {
    /// Reported kernels, without the runtime's own.
    pub(super) kernels: u64,
    /// When the first command began and the last one ended, ns since the process's epoch.
    pub(super) begin: Option<u64>,
    pub(super) end: u64,
    pub(super) busy: u64,
    pub(super) not_launched: u64,
    pub(super) held: u64,
    /// Time of its kernels by family, and of its copies and fills.
    pub(super) families: Vec<(Option<&'static str>, u64)>,
    pub(super) transfers: u64,
    /// The largest uncertainty of a begin, ns.
    pub(super) error: u64,
}

/// A pass whose reports are awaited.
struct Awaited {
    pass: usize,
    begin: u64,
    calls: Vec<CallKey>,
    ran: Vec<Ran>,
    gpu: PassGpu,
}

/// A call of a pass.
#[derive(Clone, Copy, Debug)]
struct OfPass {
    pass: usize,
    command: Command,
    is_reported: bool,
}

impl PassGpu {
    /// Splits the time since `begin`, the entry of the first launch.
    fn split(&mut self, begin: u64, mut ran: Vec<Ran>) {
        ran.sort_unstable();
        let mut now = begin;
        for Ran { begin, end, launched } in ran.into_iter().filter(|ran| ran.end > begin) {
            self.begin.get_or_insert(begin);
            self.end = self.end.max(end);
            if begin > now {
                let not_launched = launched.clamp(now, begin) - now;
                self.not_launched += not_launched;
                self.held += begin - now - not_launched;
                now = begin;
            }
            self.busy += end.saturating_sub(now);
            now = now.max(end);
        }
    }
}

/// The reports of the process that is read.
#[derive(Default)]
pub(super) struct Reports {
    /// When reports were first requested, ns since the process's epoch; `None`: never.
    since: Option<u64>,
    /// True if reports were not requested all the time, or not from every copy of the runtime.
    is_partial: bool,
    names_calls: bool,
    /// Kernels by their number in reports: those of the program's with their family.
    kernels: HashMap<u32, What>,
    /// Calls of passes of which reports are awaited.
    calls: HashMap<CallKey, OfPass>,
    early: HashMap<CallKey, Vec<Report>>,
    awaited: VecDeque<Awaited>,
    /// Passes that began before reports were requested, or with a report that came too late.
    partial: HashSet<usize>,
    done: Vec<(usize, PassGpu)>,
}

impl Reports {
    /// Returns true if reports are requested.
    pub(super) fn are_asked(&self) -> bool {
        self.since.is_some()
    }

    /// Handles a change of whether reports are requested.
    pub(super) fn state(&mut self, state: &GpuTime) {
        match state.state.as_str() {
            "on" => {
                self.since.get_or_insert(state.t);
                self.names_calls = state.release.is_some();
            }
            _ => self.is_partial = true,
        }
    }

    /// Adds a kernel that reports refer to.
    pub(super) fn define(&mut self, kernel: &GpuKernel) {
        let what = match is_builtin(&kernel.name) {
            true => What::Transfer,
            false => {
                let demangled = demangle(&kernel.name);
                What::Kernel(family(&kernel.name, demangled.as_deref()).map(|family| family.name))
            }
        };
        self.kernels.insert(kernel.id, what);
    }

    /// Handles a report, with the recorded call that caused it.
    pub(super) fn report(&mut self, gpu: &Gpu, call: Option<CallKey>) {
        let what = match &*gpu.op {
            "dispatch" => {
                gpu.kernel.and_then(|id| self.kernels.get(&id).copied()).unwrap_or(What::Kernel(None))
            }
            "copy" => What::Transfer,
            _ => return,
        };
        let Some(call) = call else { return };
        let report = Report { begin: gpu.begin, end: gpu.begin + gpu.busy, error: gpu.error, what };
        match self.calls.get_mut(&call) {
            Some(of) => {
                let OfPass { pass, command, is_reported } = *of;
                of.is_reported = true;
                if command.is_launch && is_reported {
                    // A launch has one kernel: which of its reports is right is not known.
                    self.partial.insert(pass);
                } else {
                    self.add(pass, command, report);
                }
            }
            None => {
                if self.early.len() >= EARLY {
                    self.early.clear();
                    self.is_partial = true;
                }
                self.early.entry(call).or_default().push(report);
            }
        }
    }

    fn add(&mut self, pass: usize, command: Command, report: Report) {
        let Some(awaited) = self.awaited.iter_mut().rev().find(|awaited| awaited.pass == pass) else {
            self.partial.insert(pass);
            return;
        };
        awaited.ran.push(Ran { begin: report.begin, end: report.end, launched: command.returned });
        let (gpu, busy) = (&mut awaited.gpu, report.end - report.begin);
        gpu.error = gpu.error.max(report.error);
        match report.what {
            What::Transfer => gpu.transfers += busy,
            What::Kernel(family) => {
                gpu.kernels += 1;
                match gpu.families.iter_mut().find(|(known, _)| *known == family) {
                    Some((_, sum)) => *sum += busy,
                    None => gpu.families.push((family, busy)),
                }
            }
        }
    }

    /// Adds a finished pass: its number, the entry of its first launch, and its commands.
    pub(super) fn pass(&mut self, pass: usize, begin: u64, commands: Vec<Command>) {
        if !self.are_asked() {
            return;
        }
        if self.since.is_none_or(|since| begin < since) {
            self.partial.insert(pass);
        }
        let calls = commands.iter().map(|command| command.call).collect();
        self.awaited.push_back(Awaited { pass, begin, calls, ran: Vec::new(), gpu: PassGpu::default() });
        for command in commands {
            let early = self.early.remove(&command.call).unwrap_or_default();
            let is_reported = !early.is_empty();
            self.calls.insert(command.call, OfPass { pass, command, is_reported });
            if command.is_launch && early.len() > 1 {
                self.partial.insert(pass);
            }
            early.into_iter().for_each(|report| self.add(pass, command, report));
        }
        if self.awaited.len() > AWAITED {
            self.fold();
        }
    }

    /// Stops awaiting reports of the earliest pass.
    fn fold(&mut self) {
        let Some(Awaited { pass, begin, calls, ran, mut gpu }) = self.awaited.pop_front() else { return };
        for call in calls {
            // A later report of another call makes the pass partial; for a launch its count shows
            // that.
            if self.calls.get(&call).is_some_and(|of| of.is_reported || of.command.is_launch) {
                self.calls.remove(&call);
            }
        }
        gpu.split(begin, ran);
        self.done.push((pass, gpu));
    }

    /// Returns the GPU times of each pass by its number, with the reason if they are incomplete.
    pub(super) fn take(&mut self) -> Vec<(usize, PassGpu, Option<&'static str>)> {
        while !self.awaited.is_empty() {
            self.fold();
        }
        let of_all = match self.names_calls {
            _ if self.is_partial => Some("the runtime was not asked all the time"),
            false => Some("the runtime's reports do not name their calls"),
            true => None,
        };
        let partial = std::mem::take(&mut self.partial);
        let of_pass = |pass| partial.contains(&pass).then_some("not all of its reports were read");
        let done = std::mem::take(&mut self.done).into_iter();
        done.map(|(pass, gpu)| (pass, gpu, of_all.or(of_pass(pass)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Reports {
        let mut reports = Reports::default();
        reports.state(&GpuTime {
            state: "on".into(),
            t: 0,
            release: Some("7.2".into()),
            ..GpuTime::default()
        });
        reports.define(&GpuKernel { id: 1, name: "_Z13mul_mat_vec_qv".into() });
        reports.define(&GpuKernel { id: 2, name: "__amd_rocclr_copyBuffer".into() });
        reports
    }

    fn dispatch(kernel: u32, id: u64, begin: u64, busy: u64) -> Gpu {
        let of = Some((7, id));
        Gpu { op: "dispatch".into(), kernel: Some(kernel), of, begin, busy, ..Gpu::default() }
    }

    fn report(reports: &mut Reports, gpu: &Gpu) {
        reports.report(gpu, gpu.of);
    }

    fn launch(id: u64, returned: u64) -> Command {
        Command { call: (7, id), returned, is_launch: true }
    }

    #[test]
    fn the_time_of_a_pass_is_busy_not_launched_or_held() {
        let mut reports = asked();
        report(&mut reports, &dispatch(1, 1, 130, 50)); // before its pass is known
        let graph = Command { call: (7, 3), returned: 230, is_launch: false };
        reports.pass(0, 100, vec![launch(1, 110), launch(2, 120), graph]);
        report(&mut reports, &dispatch(1, 2, 170, 30)); // overlaps the first
        report(&mut reports, &dispatch(1, 3, 240, 10)); // the graph's: idle 200 to 240, launched at 230
        report(&mut reports, &dispatch(1, 3, 260, 10));
        report(&mut reports, &dispatch(2, 3, 270, 5)); // the runtime's own
        let [(0, gpu, None)] = &reports.take()[..] else { panic!() };
        assert_eq!((gpu.kernels, gpu.begin, gpu.end), (4, Some(130), 275));
        // 100 to 130: launched at 110. 200 to 240: launched at 230. 250 to 260: launched before.
        assert_eq!((gpu.busy, gpu.not_launched, gpu.held), (70 + 10 + 15, 10 + 30, 20 + 10 + 10));
        assert_eq!((&gpu.families[..], gpu.transfers), (&[(Some("mmvq"), 100)][..], 5));
    }

    #[test]
    fn passes_that_were_not_reported_throughout_say_so() {
        let mut early = asked();
        early.since = Some(150);
        early.pass(0, 100, vec![launch(1, 110)]);
        early.pass(1, 200, vec![launch(2, 210)]);
        let why: Vec<_> = early.take().into_iter().map(|(_, _, why)| why).collect();
        assert_eq!(why, [Some("not all of its reports were read"), None]);
        let mut unknown = asked();
        unknown.state(&GpuTime { state: "on".into(), ..GpuTime::default() });
        unknown.pass(0, 100, vec![launch(1, 110)]);
        assert_eq!(unknown.take()[0].2, Some("the runtime's reports do not name their calls"));
        let mut stopped = asked();
        stopped.pass(0, 100, vec![launch(1, 110)]);
        stopped.state(&GpuTime { state: "off".into(), ..GpuTime::default() });
        assert_eq!(stopped.take()[0].2, Some("the runtime was not asked all the time"));
    }

    #[test]
    fn a_report_that_comes_after_many_passes_makes_its_pass_partial() {
        let mut reports = asked();
        let copy = Command { call: (7, 1), returned: 110, is_launch: false };
        reports.pass(0, 100, vec![copy]);
        (1..=AWAITED).for_each(|pass| reports.pass(pass, 100, Vec::new()));
        report(&mut reports, &Gpu { op: "copy".into(), kernel: None, ..dispatch(0, 1, 120, 1) });
        assert_eq!(reports.take()[0].2, Some("not all of its reports were read"));
    }
}
