//! Which pass an event belongs to.
//!
//! A lane is what works on one model at a time: the streams that one thread launches on within one pass (several GPUs, a stream
//! for copies), whichever threads launch on them later (Go moves its work from thread to thread).
//!
//! Where a pass ends. It may end where its results are copied to the host, and where something is copied to the device or
//! waited for: that is a hint. What comes after a hint is kept apart until its first matrix product tells: after a copy to
//! the host a new pass has begun if the weights of that product were used in the pass already, or if nothing is known of
//! the weights; else the copy was one in the middle (experts' ids, layers on the CPU). After another hint it has begun only
//! if they are the weights with which the pass began: the next chunk of a prompt. Something without products belongs to the
//! pass before it (sampling), if that has products.

use super::gpu::Command;
use super::pass::{Launches, Open, Role, add};
use crate::session::FunctionId;
use foldhash::HashMap;
use rocshim_trace::StreamRef;

/// Why a pass may have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hint {
    /// Something was copied to the device, or waited for.
    Pause,
    /// Something was copied to the host.
    Delivery,
}

/// What a call is to the pass that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A launch, or a copy of what it works on: the pass goes on until it returns.
    Work,
    /// A wait of the host.
    Wait,
    /// An upload: it is for the next chunk.
    Upload,
    Other,
}

/// What tells whether a product begins a pass.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sign {
    Weights(Option<u64>),
    /// A graph, and the weights of its first product.
    Graph(u32, Option<u64>),
}

#[derive(Default)]
pub(super) struct Lane {
    open: Option<Open>,
    /// What was launched after a hint, before its first product.
    apart: Option<(Hint, Open)>,
    hint: Option<Hint>,
    /// Calls since the last pass, for the next one.
    functions: HashMap<FunctionId, Launches>,
    commands: Vec<Command>,
    host: u64,
    /// The thread that launched first.
    pub(super) main: Option<u32>,
    /// Where dequantised weights lie, and where they were read.
    pub(super) dequantised: HashMap<u64, u64>,
}

impl Lane {
    /// A pass that has begun and of which nothing was copied to the host.
    fn is_within(&self) -> bool {
        self.apart.is_some() || self.open.as_ref().is_some_and(|open| open.has_launched() && !open.delivered)
    }

    /// What a launch at `t` belongs to.
    pub(super) fn launch(
        &mut self,
        t: u64,
        (label, role): (Option<usize>, Role),
        ended: &mut Vec<Open>,
    ) -> &mut Open {
        let changes = |open: &Open| open.has_launched() && (open.label, open.role) != (label, role);
        if self.current().is_some_and(|open| changes(open)) {
            self.end(ended);
        }
        if let Some(hint) = self.hint.take() {
            match &mut self.apart {
                Some((before, _)) => *before = hint.max(*before),
                None if self.open.is_some() => self.apart = Some((hint, Open::default())),
                None => {}
            }
        }
        let (functions, host) = (std::mem::take(&mut self.functions), std::mem::take(&mut self.host));
        let mut commands = std::mem::take(&mut self.commands);
        let open = match &mut self.apart {
            Some((_, open)) => open,
            None => self.open.get_or_insert_default(),
        };
        add(&mut open.functions, &functions);
        open.commands.append(&mut commands);
        open.host += host;
        (open.label, open.role) = (label, role);
        open.launch(t);
        open
    }

    /// The pass that the next event without a launch belongs to.
    fn current(&mut self) -> Option<&mut Open> {
        match &mut self.apart {
            Some((_, open)) => Some(open),
            None => self.open.as_mut(),
        }
    }

    /// A product or a graph is launched, which `launch` was told of: decides whether it begins a pass, and gives that.
    pub(super) fn decide(&mut self, sign: Sign, ended: &mut Vec<Open>) -> &mut Open {
        if let Some((hint, apart)) = self.apart.take() {
            let open = self.open.take().expect("something is apart from a pass");
            if begins(&open, hint, sign) {
                ended.push(open);
                self.open = Some(apart);
            } else {
                let mut open = open;
                open.merge(apart);
                self.open = Some(open);
            }
        }
        self.open.get_or_insert_default()
    }

    /// Something was copied to the host, or waited for.
    pub(super) fn hint(&mut self, hint: Hint, ended: &mut Vec<Open>) {
        if hint == Hint::Delivery {
            self.settle(ended);
            if let Some(open) = self.open.as_mut().filter(|open| open.has_launched()) {
                open.delivered = true;
            }
        }
        if self.open.is_some() {
            self.hint = self.hint.max(Some(hint));
        }
    }

    /// Memory was set.
    pub(super) fn clear(&mut self) {
        if let (None, Some(open)) = (&self.apart, self.open.as_mut().filter(|open| open.delivered)) {
            open.cleared = true;
        }
    }

    /// A call asks for a command on the GPU: for the open pass, or the next one if that has delivered or
    /// it is an upload.
    pub(super) fn command(&mut self, command: Command, is_upload: bool) {
        let after = self.apart.is_none() && self.open.as_ref().is_none_or(|open| open.delivered);
        match self.current().filter(|_| !after && !is_upload) {
            Some(open) => open.commands.push(command),
            None => self.commands.push(command),
        }
    }

    /// A call from `begin` to `end`, of which `dur` counts: if it launches nothing it belongs to the next pass where nothing
    /// is open or the open one has delivered.
    pub(super) fn call(
        &mut self,
        function: Option<FunctionId>,
        dur: u64,
        (begin, end): (u64, u64),
        part: Part,
    ) {
        let after = self.apart.is_none() && self.open.as_ref().is_none_or(|open| open.delivered);
        let waits = part == Part::Wait;
        if waits && let Some(open) = self.current() {
            // The first wait after its last launch or copy is for them. A later one is not, nor one that comes after a
            // pause longer than the pass: its time is nobody's.
            if open.wait_for(begin, end) {
                open.wait += dur;
            }
        } else if after {
            self.host += dur;
        } else if let Some(open) = self.current() {
            open.host += dur;
            match part {
                Part::Work => open.work_until(end),
                // A call around launches returns after them; one by itself, after a pause, does not prolong the pass.
                Part::Other if begin <= open.end => open.end = open.end.max(end),
                _ => {}
            }
        }
        let Some(function) = function else { return };
        let functions = match self.current().filter(|_| !after || waits) {
            Some(open) => &mut open.functions,
            None => &mut self.functions,
        };
        functions.entry(function).or_default().direct += 1;
    }

    /// Events were lost.
    pub(super) fn lose(&mut self, lost: u64) {
        if let Some(open) = self.current() {
            open.lost += lost;
        }
    }

    /// What is apart and had no product belongs to the pass before it, if that has products.
    fn settle(&mut self, ended: &mut Vec<Open>) {
        let Some((_, apart)) = self.apart.take() else { return };
        let mut open = self.open.take().expect("something is apart from a pass");
        if open.has_products() && !apart.has_products() {
            open.merge(apart);
            self.open = Some(open);
        } else {
            ended.push(open);
            self.open = Some(apart);
        }
    }

    /// Ends what is open.
    pub(super) fn end(&mut self, ended: &mut Vec<Open>) {
        self.settle(ended);
        ended.extend(self.open.take().filter(Open::has_launched));
        self.hint = None;
    }
}

/// Whether a product with this sign, after such a hint, begins a pass after `open`.
fn begins(open: &Open, hint: Hint, sign: Sign) -> bool {
    match (hint, sign) {
        (Hint::Delivery, Sign::Graph(_, None) | Sign::Weights(None)) => true,
        (Hint::Delivery, Sign::Graph(_, Some(weights)) | Sign::Weights(Some(weights))) => {
            open.weights.is_empty() || open.weights.contains(&weights)
        }
        (Hint::Pause, Sign::Graph(graph, None)) => open.graphs.contains(&graph),
        (Hint::Pause, Sign::Graph(_, weights) | Sign::Weights(weights)) => {
            weights.is_some() && open.first_weights == weights
        }
    }
}

/// The lanes of a process.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    of_stream: HashMap<StreamRef, usize>,
    of_thread: HashMap<u32, usize>,
}

impl Lanes {
    /// The lane of a launch.
    pub(super) fn of_launch(&mut self, thread: u32, stream: StreamRef) -> usize {
        let of_thread = self.of_thread.get(&thread).copied();
        // A thread within a pass that launches on another stream: the pass has more than one.
        let within = of_thread.filter(|lane| self.lanes[*lane].is_within());
        let lane = match (self.of_stream.get(&stream), within) {
            (Some(lane), None) => *lane,
            (Some(lane), Some(other)) if *lane == other => other,
            (Some(lane), Some(_)) if self.lanes[*lane].is_within() => *lane,
            (_, Some(within)) => within,
            (None, None) => {
                self.lanes.push(Lane { main: Some(thread), ..Lane::default() });
                self.lanes.len() - 1
            }
        };
        self.of_stream.insert(stream, lane);
        self.of_thread.insert(thread, lane);
        lane
    }

    /// The lane of a call that launches nothing: its stream's, its thread's, or the only one there is.
    pub(super) fn of_call(&self, thread: u32, stream: Option<StreamRef>) -> Option<usize> {
        let by_stream = stream.and_then(|stream| self.of_stream.get(&stream));
        let only = (self.lanes.len() == 1).then_some(0);
        by_stream.or(self.of_thread.get(&thread)).copied().or(only)
    }

    pub(super) fn get(&mut self, lane: usize) -> &mut Lane {
        &mut self.lanes[lane]
    }

    pub(super) fn len(&self) -> usize {
        self.lanes.len()
    }
}

#[cfg(test)]
mod tests;
