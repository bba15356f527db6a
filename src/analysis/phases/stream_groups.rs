//! Assigns events to passes.
//!
//! A stream group is the streams on which one model runs: those on which one thread launches within
//! one pass (several GPUs, a stream for copies), whichever threads launch on them later (Go moves
//! work between threads).
//!
//! Pass boundaries. A pass may end where its results are copied to the host, where something is
//! copied to the device, or where the host waits: a boundary hint. What follows a hint is a
//! tentative pass until its first GEMM decides. After a copy to the host, a new pass has begun if
//! the weights of that GEMM were used in the pass already, or if the weights are unknown; else the
//! copy was within the pass (experts' ids, layers on the CPU). After another hint, a new pass has
//! begun only if the weights are those with which the pass began: the next chunk of a prompt. A
//! tentative pass without GEMMs belongs to the previous pass (sampling), if that has GEMMs.

use super::gpu::Command;
use super::pass::{Launches, OpenPass, Role, add};
use crate::session::FunctionId;
use foldhash::HashMap;
use rocshim_trace::StreamRef;

/// A boundary hint: why a pass may have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BoundaryHint {
    /// A copy to the device, or a wait of the host.
    Pause,
    /// A copy to the host.
    Delivery,
}

/// Relation of a call to its pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A launch, or a copy of its data: the pass extends until it returns.
    Work,
    /// A wait of the host.
    Wait,
    /// An upload for the next chunk.
    Upload,
    Other,
}

/// Evidence on whether a GEMM begins a pass.
#[derive(Clone, Copy, Debug)]
pub(super) enum BoundaryEvidence {
    Weights(Option<u64>),
    /// A graph, and the weights of its first GEMM.
    Graph(u32, Option<u64>),
}

#[derive(Default)]
pub(super) struct StreamGroup {
    open: Option<OpenPass>,
    /// The tentative pass after a hint.
    tentative: Option<(BoundaryHint, OpenPass)>,
    hint: Option<BoundaryHint>,
    /// Calls since the last pass, counted for the next.
    functions: HashMap<FunctionId, Launches>,
    commands: Vec<Command>,
    host: u64,
    /// The thread that launched first.
    pub(super) main: Option<u32>,
    /// Source of dequantised weights, by their address.
    pub(super) dequantised: HashMap<u64, u64>,
}

impl StreamGroup {
    /// The open pass, if nothing of it was copied to the host.
    fn is_within(&self) -> bool {
        self.tentative.is_some()
            || self.open.as_ref().is_some_and(|open| open.has_launched() && !open.delivered)
    }

    /// Returns the pass of a launch at `t`.
    pub(super) fn launch(
        &mut self,
        t: u64,
        (label, role): (Option<usize>, Role),
        ended: &mut Vec<OpenPass>,
    ) -> &mut OpenPass {
        let changes = |open: &OpenPass| open.has_launched() && (open.label, open.role) != (label, role);
        if self.current().is_some_and(|open| changes(open)) {
            self.end(ended);
        }
        if let Some(hint) = self.hint.take() {
            match &mut self.tentative {
                Some((before, _)) => *before = hint.max(*before),
                None if self.open.is_some() => self.tentative = Some((hint, OpenPass::default())),
                None => {}
            }
        }
        let (functions, host) = (std::mem::take(&mut self.functions), std::mem::take(&mut self.host));
        let mut commands = std::mem::take(&mut self.commands);
        let open = match &mut self.tentative {
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

    /// Returns the pass of the next event without a launch.
    fn current(&mut self) -> Option<&mut OpenPass> {
        match &mut self.tentative {
            Some((_, open)) => Some(open),
            None => self.open.as_mut(),
        }
    }

    /// Decides whether this GEMM or graph launch, announced by `launch`, begins a pass; returns its
    /// pass.
    pub(super) fn decide(&mut self, evidence: BoundaryEvidence, ended: &mut Vec<OpenPass>) -> &mut OpenPass {
        if let Some((hint, tentative)) = self.tentative.take() {
            let open = self.open.take().expect("something is tentative from a pass");
            if begins(&open, hint, evidence) {
                ended.push(open);
                self.open = Some(tentative);
            } else {
                let mut open = open;
                open.merge(tentative);
                self.open = Some(open);
            }
        }
        self.open.get_or_insert_default()
    }

    /// Handles a boundary hint: a copy to the host, or a wait.
    pub(super) fn hint(&mut self, hint: BoundaryHint, ended: &mut Vec<OpenPass>) {
        if hint == BoundaryHint::Delivery {
            self.end_tentative(ended);
            if let Some(open) = self.open.as_mut().filter(|open| open.has_launched()) {
                open.delivered = true;
            }
        }
        if self.open.is_some() {
            self.hint = self.hint.max(Some(hint));
        }
    }

    /// Handles a memory set.
    pub(super) fn clear(&mut self) {
        if let (None, Some(open)) = (&self.tentative, self.open.as_mut().filter(|open| open.delivered)) {
            open.cleared = true;
        }
    }

    /// Handles a call that requests a command on the GPU: for the open pass, or for the next if
    /// that has delivered or it is an upload.
    pub(super) fn command(&mut self, command: Command, is_upload: bool) {
        let after = self.tentative.is_none() && self.open.as_ref().is_none_or(|open| open.delivered);
        match self.current().filter(|_| !after && !is_upload) {
            Some(open) => open.commands.push(command),
            None => self.commands.push(command),
        }
    }

    /// Adds a call from `begin` to `end`, of which `dur` counts. One that launches nothing belongs
    /// to the next pass if no pass is open or the open one has delivered.
    pub(super) fn call(
        &mut self,
        function: Option<FunctionId>,
        dur: u64,
        (begin, end): (u64, u64),
        part: Part,
    ) {
        let after = self.tentative.is_none() && self.open.as_ref().is_none_or(|open| open.delivered);
        let waits = part == Part::Wait;
        if waits && let Some(open) = self.current() {
            // The first wait after its last launch or copy is for the pass. A later one is not, nor
            // one after a pause longer than the pass: its time counts nowhere.
            if open.wait_for(begin, end) {
                open.wait += dur;
            }
        } else if after {
            self.host += dur;
        } else if let Some(open) = self.current() {
            open.host += dur;
            match part {
                Part::Work => open.work_until(end),
                // A call that encloses launches returns after them; a separate one, after a pause,
                // does not extend the pass.
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

    /// Counts lost events.
    pub(super) fn lose(&mut self, lost: u64) {
        if let Some(open) = self.current() {
            open.lost += lost;
        }
    }

    /// Ends the tentative pass: without GEMMs it belongs to the previous pass, if that has any.
    fn end_tentative(&mut self, ended: &mut Vec<OpenPass>) {
        let Some((_, tentative)) = self.tentative.take() else { return };
        let mut open = self.open.take().expect("something is tentative from a pass");
        if open.has_products() && !tentative.has_products() {
            open.merge(tentative);
            self.open = Some(open);
        } else {
            ended.push(open);
            self.open = Some(tentative);
        }
    }

    /// Ends the open passes.
    pub(super) fn end(&mut self, ended: &mut Vec<OpenPass>) {
        self.end_tentative(ended);
        ended.extend(self.open.take().filter(OpenPass::has_launched));
        self.hint = None;
    }
}

/// Returns true when a GEMM with this evidence, after such a hint, begins a pass after `open`.
fn begins(open: &OpenPass, hint: BoundaryHint, evidence: BoundaryEvidence) -> bool {
    match (hint, evidence) {
        (BoundaryHint::Delivery, BoundaryEvidence::Graph(_, None) | BoundaryEvidence::Weights(None)) => true,
        (
            BoundaryHint::Delivery,
            BoundaryEvidence::Graph(_, Some(weights)) | BoundaryEvidence::Weights(Some(weights)),
        ) => open.weights.is_empty() || open.weights.contains(&weights),
        (BoundaryHint::Pause, BoundaryEvidence::Graph(graph, None)) => open.graphs.contains(&graph),
        (BoundaryHint::Pause, BoundaryEvidence::Graph(_, weights) | BoundaryEvidence::Weights(weights)) => {
            weights.is_some() && open.first_weights == weights
        }
    }
}

/// The stream groups of a process.
#[derive(Default)]
pub(super) struct StreamGroups {
    stream_groups: Vec<StreamGroup>,
    of_stream: HashMap<StreamRef, usize>,
    of_thread: HashMap<u32, usize>,
}

impl StreamGroups {
    /// Returns the stream group of a launch.
    pub(super) fn of_launch(&mut self, thread: u32, stream: StreamRef) -> usize {
        let of_thread = self.of_thread.get(&thread).copied();
        // A thread within a pass launches on another stream: the pass has several.
        let within = of_thread.filter(|group| self.stream_groups[*group].is_within());
        let stream_group = match (self.of_stream.get(&stream), within) {
            (Some(group), None) => *group,
            (Some(group), Some(other)) if *group == other => other,
            (Some(group), Some(_)) if self.stream_groups[*group].is_within() => *group,
            (_, Some(within)) => within,
            (None, None) => {
                self.stream_groups.push(StreamGroup { main: Some(thread), ..StreamGroup::default() });
                self.stream_groups.len() - 1
            }
        };
        self.of_stream.insert(stream, stream_group);
        self.of_thread.insert(thread, stream_group);
        stream_group
    }

    /// Returns the stream group of a call that launches nothing: its stream's, its thread's, or the
    /// only one.
    pub(super) fn of_call(&self, thread: u32, stream: Option<StreamRef>) -> Option<usize> {
        let by_stream = stream.and_then(|stream| self.of_stream.get(&stream));
        let only = (self.stream_groups.len() == 1).then_some(0);
        by_stream.or(self.of_thread.get(&thread)).copied().or(only)
    }

    pub(super) fn get(&mut self, stream_group: usize) -> &mut StreamGroup {
        &mut self.stream_groups[stream_group]
    }

    pub(super) fn len(&self) -> usize {
        self.stream_groups.len()
    }
}

#[cfg(test)]
mod tests;
