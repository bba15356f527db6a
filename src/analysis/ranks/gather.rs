//! Converts the records of a process to a rank: collectives by communicator, with the times at
//! which host and GPU finished each.

use super::rank::{Collective, Communicator, Created, LastCall, Rank, Signature, is_collective, numbers};
use crate::{
    gemms::GemmProblem,
    interner::Interner,
    session::{Analysis, CallKey, Event, FunctionId, KernelId, Session, SymbolId},
    traits::{TraitKind, of_kernel},
};
use foldhash::{HashMap, HashSet};
use rocshim_reader::Reading;
use rocshim_trace::{Gpu, Record, Span, StreamRef, file_name};

/// A collective of the process being read: its communicator, and its index in it.
type CollectivePlace = (usize, usize);
/// A call of the process being read: its thread and id.
type CallOf = (u32, u64);

/// The state of the process being read.
#[derive(Default)]
struct OpenRank {
    rank: Rank,
    epoch: u64,
    /// The call that returned last, and when it was entered.
    last: Option<(FunctionId, u64)>,
    /// The communicator that each handle means now.
    handles: HashMap<u64, usize>,
    /// Collectives that the host has not waited for, by thread and stream.
    pending: Vec<(u32, StreamRef, CollectivePlace)>,
    /// Open groups by thread: their depth, and the collectives in them.
    groups: HashMap<u32, (u32, Vec<CollectivePlace>)>,
    /// Launches made inside a call that has not returned.
    inside: HashMap<CallOf, Vec<(u64, Option<SymbolId>)>>,
    /// Launches of collectives that the GPU has not reported.
    launched: HashMap<CallOf, Vec<CollectivePlace>>,
    /// Reports of RCCL's kernels that came before their launch.
    reported: HashMap<CallOf, (u64, u64)>,
    /// RCCL's kernels, by their number in reports.
    reports_of: HashSet<u32>,
    kernels: HashSet<KernelId>,
    solutions: HashSet<(GemmProblem, SymbolId)>,
}

/// Collects the ranks of a reading.
#[derive(Default)]
pub struct RanksBuilder {
    pub(super) ranks: Vec<Rank>,
    pub(super) signatures: Signatures,
    /// Number of processes that are not ranks.
    pub(super) others: u64,
    open: Option<Box<OpenRank>>,
}

/// All signatures of a reading, by number.
#[derive(Default)]
pub(super) struct Signatures(Interner<Signature, Signature>);

impl Signatures {
    pub(super) fn get(&self, number: usize) -> &Signature {
        self.0.get(number)
    }

    fn number(&mut self, function: &str, span: &Span) -> usize {
        let signature = Signature {
            function: function.to_owned(),
            count: span.count,
            datatype: span.datatype.as_ref().map(ToString::to_string),
            op: span.op.as_ref().map(ToString::to_string),
            root: span.peer,
        };
        self.0.number(signature.clone(), || signature)
    }
}

impl OpenRank {
    fn at(&self, time: u64) -> u64 {
        self.epoch.saturating_add(time)
    }

    fn communicator(&mut self, handle: u64) -> usize {
        *self.handles.entry(handle).or_insert_with(|| {
            self.rank.communicators.push(Communicator::default());
            self.rank.communicators.len() - 1
        })
    }

    fn created(&mut self, span: &Span) {
        let number = self.rank.communicators.len();
        let created = span.members.zip(span.member).map(|(members, member)| Created {
            group: span.group,
            members,
            member,
        });
        self.rank.communicators.push(Communicator { created, calls: Vec::new() });
        self.handles.insert(span.comm.0, number);
    }

    fn collective(&mut self, span: &Span, signature: usize, in_flight: bool) -> CollectivePlace {
        let communicator = self.communicator(span.comm.0);
        let enter = self.at(span.call.t);
        let returned = if in_flight { 0 } else { self.at(span.call.t.saturating_add(span.call.dur)) };
        let calls = &mut self.rank.communicators[communicator].calls;
        calls.push(Collective { signature, enter, returned, ..Collective::default() });
        (communicator, calls.len() - 1)
    }

    /// Assigns launches to these collectives, whose GPU times they give.
    fn launches(&mut self, tid: u32, launches: &[(u64, Option<SymbolId>)], places: &[CollectivePlace]) {
        for (id, _) in launches {
            match self.reported.remove(&(tid, *id)) {
                Some(times) => places.iter().for_each(|place| self.ran(*place, times)),
                None => drop(self.launched.insert((tid, *id), places.to_vec())),
            }
        }
    }

    fn ran(&mut self, (communicator, at): CollectivePlace, (begin, end): (u64, u64)) {
        let gpu = &mut self.rank.communicators[communicator].calls[at].gpu;
        *gpu = if gpu.1 == 0 { (begin, end) } else { (gpu.0.min(begin), gpu.1.max(end)) };
    }

    fn report(&mut self, gpu: &Gpu, call: Option<CallKey>) {
        let Some(of) = call.filter(|_| gpu.op == "dispatch") else { return };
        let times = (self.at(gpu.begin), self.at(gpu.begin.saturating_add(gpu.busy)));
        if let Some(places) = self.launched.remove(&of) {
            places.iter().for_each(|place| self.ran(*place, times));
        } else if gpu.kernel.is_some_and(|kernel| self.reports_of.contains(&kernel)) {
            self.reported.insert(of, times);
        }
    }

    /// Handles the end of a wait of the host for a stream, or for all.
    fn waited(&mut self, tid: u32, stream: Option<StreamRef>, until: u64) {
        let (calls, mut pending) = (&mut self.rank.communicators, std::mem::take(&mut self.pending));
        pending.retain(|(thread, of, (communicator, at))| {
            let is_done = *thread == tid && stream.is_none_or(|stream| stream == *of);
            if is_done {
                calls[*communicator].calls[*at].done = until;
            }
            !is_done
        });
        self.pending = pending;
    }
}

impl RanksBuilder {
    fn span(
        &mut self,
        open: &mut OpenRank,
        function: &str,
        event: &Event,
        span: &Span,
        inside: &[(u64, Option<SymbolId>)],
    ) {
        let tid = event.call.tid;
        match function {
            _ if event.failed() => {}
            "ncclCommInitRank" | "ncclCommInitRankConfig" => open.created(span),
            "ncclGroupStart" => open.groups.entry(tid).or_default().0 += 1,
            "ncclGroupEnd" => {
                let Some(group) = open.groups.get_mut(&tid) else { return };
                group.0 = group.0.saturating_sub(1);
                if group.0 == 0 {
                    let places = open.groups.remove(&tid).map(|(_, places)| places).unwrap_or_default();
                    open.launches(tid, inside, &places);
                }
            }
            _ if !is_collective(function) => {}
            _ if span.capture.is_some() => open.rank.captured += 1,
            _ => {
                let place = open.collective(span, self.signatures.number(function, span), false);
                open.pending.push((tid, span.stream, place));
                match open.groups.get_mut(&tid) {
                    Some((_, places)) => places.push(place),
                    None => open.launches(tid, inside, &[place]),
                }
            }
        }
    }
}

/// Returns the function that an event called.
fn function<'a>(session: &'a Session, event: &Event) -> &'a str {
    event.ids.function.map_or("a call", |function| &session.function(function).name)
}

impl Analysis for RanksBuilder {
    fn begin_process(&mut self, session: &Session) {
        let process = session.process();
        let header = &process.header;
        let (number, world) = numbers(&header.env);
        let rank = Rank {
            trace: process.trace.clone(),
            pid: header.pid,
            host: header.host.clone(),
            number,
            world,
            ..Rank::default()
        };
        self.open = Some(Box::new(OpenRank { rank, epoch: process.epoch, ..OpenRank::default() }));
    }

    fn record(&mut self, _session: &Session, record: &Record) {
        let Some(open) = &mut self.open else { return };
        match record {
            Record::GpuKernel(kernel)
                if kernel.name.contains("ncclDevKernel") || kernel.name.contains("ncclKernel") =>
            {
                open.reports_of.insert(kernel.id);
            }
            Record::Library(library) => {
                let build = library.build_id.as_ref().map_or(String::new(), |id| format!(" build {id}"));
                open.rank.traits.insert((TraitKind::Library, format!("{}{build}", file_name(&library.path))));
            }
            Record::Device(device) => {
                open.rank.traits.insert((TraitKind::Device, format!("{} {}", device.gfx, device.name)));
            }
            _ => {}
        }
    }

    fn event(&mut self, session: &Session, event: &Event) {
        let Some(mut open) = self.open.take() else { return };
        let call = event.call;
        let end = open.at(event.end());
        if matches!(event.record, Record::Gpu(_)) {
            self.open = Some(open);
            return;
        }
        open.rank.last_ns = open.rank.last_ns.max(end);
        let inside = match open.inside.is_empty() {
            true => Vec::new(),
            false => open.inside.remove(&(call.tid, call.id)).unwrap_or_default(),
        };
        match event.record {
            Record::Launch(_) => {
                if let Some(parent) = call.parent {
                    open.inside.entry((call.tid, parent)).or_default().push((call.id, event.ids.symbol));
                }
                open.kernels.extend(event.ids.kernel.filter(|_| !event.failed()));
            }
            Record::Gemm(gemm) if !inside.is_empty() => {
                let problem = GemmProblem::from((**gemm).clone());
                open.solutions
                    .extend(inside.iter().filter_map(|(_, symbol)| Some((problem.clone(), (*symbol)?))));
            }
            Record::Matmul(matmul) if !inside.is_empty() => {
                let problem = GemmProblem::from((**matmul).clone());
                open.solutions
                    .extend(inside.iter().filter_map(|(_, symbol)| Some((problem.clone(), (*symbol)?))));
            }
            Record::Sync(sync) if !event.failed() => match sync.action.as_str() {
                "stream" => open.waited(call.tid, Some(sync.stream), end),
                "device" => open.waited(call.tid, None, end),
                _ => {}
            },
            Record::Span(span) => self.span(&mut open, function(session, event), event, span, &inside),
            _ => {}
        }
        if call.parent.is_none() {
            open.last = event.ids.function.map(|function| (function, open.at(call.t)));
        }
        self.open = Some(open);
    }

    fn report(&mut self, _session: &Session, gpu: &Gpu, call: Option<CallKey>) {
        self.open.iter_mut().for_each(|open| open.report(gpu, call));
    }

    fn in_flight(&mut self, session: &Session, event: &Event) {
        let Some(open) = &mut self.open else { return };
        let function = function(session, event);
        if let Record::Span(span) = event.record
            && is_collective(function)
        {
            open.collective(span, self.signatures.number(function, span), true);
        }
        let enter = open.at(event.call.t);
        open.rank.in_flight.push(LastCall { function: function.to_owned(), enter });
    }

    fn end_process(&mut self, session: &Session, reading: &Reading) {
        let Some(open) = self.open.take() else { return };
        let mut open = *open;
        let process = session.process();
        open.rank.last = open.last.map(|(function, enter)| LastCall {
            function: session.function(function).name.to_string(),
            enter,
        });
        let gaps = process.visibility_gaps(reading.end);
        let lost = (process.lost > 0).then(|| format!("{} events were lost", process.lost));
        let parts = process.is_missing_segments().then(|| "a part of its trace was not read".to_owned());
        open.rank.gaps = lost.or(parts).or(gaps.unrecorded);
        let libraries = ["librccl.so", "libamdhip64.so", "librocblas.so", "libhipblaslt.so"];
        let late = process.footer.as_ref().is_some_and(|footer| footer.late > 0);
        let late = late.then(|| "calls came after recording had ended".to_owned());
        open.rank.bypass = libraries.iter().find_map(|of| process.possible_bypass(of)).or(late);
        open.rank.end = process.end_word(reading.end);
        open.rank.first_ns = open.at(process.first_and_last().0);
        let footer = process.footer.as_ref().map_or(0, |footer| open.at(footer.t));
        open.rank.last_ns = open.rank.last_ns.max(footer);
        let traits = open.kernels.iter().flat_map(|kernel| of_kernel(session, *kernel));
        open.rank.traits.extend(traits);
        open.rank.traits.extend(open.solutions.iter().flat_map(|(problem, symbol)| {
            let (text, symbol) = (problem_text(problem), session.symbol(*symbol).readable());
            [(TraitKind::Solution, format!("{text} by {symbol}")), (TraitKind::Problem, text)]
        }));
        match open.rank.number.is_some() || !open.rank.communicators.is_empty() {
            true => self.ranks.push(open.rank),
            false => self.others += 1,
        }
    }
}

/// `4096 x 2048 x 4096 NN f16_r in f32_r`.
fn problem_text(problem: &GemmProblem) -> String {
    let number = |value: Option<i64>| value.map_or("?".to_owned(), |value| value.to_string());
    let word = |word: &Option<rocshim_trace::Word>| word.as_deref().unwrap_or("?").to_owned();
    format!(
        "{} x {} x {} {}{} {} in {}",
        number(problem.m),
        number(problem.n),
        number(problem.k),
        word(&problem.trans_a),
        word(&problem.trans_b),
        word(&problem.types[0]),
        word(&problem.compute),
    )
}
