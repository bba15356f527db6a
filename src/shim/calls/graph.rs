//! Captures beginning and ending, graphs being instantiated, updated and launched. What they make is told on the
//! application's thread, before the call returns, so that every launch finds what it did.
#![allow(unsafe_code)] // reads the results of calls that have just succeeded

use crate::abi::hip::{hipError_t, hipStream_t};
use crate::abi::hip_graph::*;
use crate::calls::code::handle;
use crate::hook::Observed;
use crate::lifecycle::guarded;
use crate::platform::ids::gettid;
use crate::state::graph_nodes;
use crate::state::graphs::Made;
use rocshim_ring::definition::{Definition, Stream};
use rocshim_ring::hip::GraphCall;
use rocshim_ring::{CallGuard, Producer, clock};

/// Indices of `rocshim_ring::hip::GRAPH_ACTIONS`.
const LAUNCH: u8 = 0;
const BEGIN: u8 = 1;
const END: u8 = 2;
const INSTANTIATE: u8 = 3;
const UPDATE: u8 = 4;

/// A graph is launched.
#[inline(always)]
pub(crate) fn launch_graph(exec: hipGraphExec_t, stream: hipStream_t) -> GraphCall {
    let (exec, stream) = (exec as u64, stream as u64);
    GraphCall { action: LAUNCH, mode: 0, exec, stream, graph: 0, nodes: 0, capture: 0 }
}

/// What a call has made, as the event's numbers.
fn with(call: GraphCall, made: Made) -> GraphCall {
    let [nodes, capture] = [made.nodes, made.capture].map(|number| number.map_or(0, |number| number + 1));
    GraphCall { nodes, capture, ..call }
}

fn leave(span: Option<CallGuard>, made: &GraphCall, returned: u64, status: hipError_t) {
    if let Some(span) = span {
        made.store_made(|index, value| span.put(index, value));
        span.leave(returned, status);
    }
}

/// A stream as a row has it, and whether the row is one of those for which the default stream is the thread's own.
pub(crate) struct On(pub(crate) hipStream_t, pub(crate) bool);

impl On {
    /// The stream of this very thread.
    pub(crate) fn stream(&self) -> Stream {
        Stream::of(self.0 as u64, gettid(), self.1)
    }
}

/// `hipStreamBeginCapture` and its kin.
pub(crate) struct BeginCapture {
    pub(crate) on: On,
    pub(crate) mode: hipStreamCaptureMode,
    /// The graph that is added to, or NULL.
    pub(crate) graph: hipGraph_t,
}

impl BeginCapture {
    fn asked(&self) -> GraphCall {
        let (stream, graph) = (self.on.0 as u64, self.graph as u64);
        GraphCall { action: BEGIN, mode: self.mode as u8, stream, graph, ..GraphCall::default() }
    }
}

impl Observed<hipError_t> for BeginCapture {
    const TELLS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.asked())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        let mut made = self.asked();
        if status == 0 {
            guarded(|process| {
                let (stream, mode) = (self.on.stream(), self.mode as u8);
                let begun =
                    process.tell_graphs(returned, |graphs, tell| graphs.begin(stream, mode, gettid(), tell));
                made = with(made, begun);
            });
        }
        leave(span, &made, returned, status);
    }
}

/// `hipStreamEndCapture` and its kin.
pub(crate) struct EndCapture {
    pub(crate) on: On,
    pub(crate) graph: *mut hipGraph_t,
}

impl EndCapture {
    fn asked(&self) -> GraphCall {
        GraphCall { action: END, stream: self.on.0 as u64, ..GraphCall::default() }
    }
}

impl Observed<hipError_t> for EndCapture {
    const TELLS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.asked())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        let mut made = self.asked();
        guarded(|process| {
            let (stream, graph) = (self.on.stream(), if status == 0 { handle(self.graph) } else { 0 });
            let ended = process.tell_graphs(returned, |graphs, tell| match status {
                0 => graphs.end(stream, graph, tell),
                _ => graphs.fail_end(stream),
            });
            made = with(GraphCall { graph, ..made }, ended);
        });
        leave(span, &made, returned, status);
    }
}

/// `hipGraphInstantiate` and its kin.
pub(crate) struct Instantiate {
    pub(crate) exec: *mut hipGraphExec_t,
    pub(crate) graph: hipGraph_t,
}

impl Instantiate {
    fn asked(&self) -> GraphCall {
        GraphCall { action: INSTANTIATE, graph: self.graph as u64, ..GraphCall::default() }
    }
}

impl Observed<hipError_t> for Instantiate {
    const TELLS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.asked())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        let mut made = self.asked();
        if status == 0 {
            guarded(|process| {
                // Before the lock: the runtime has locks of its own.
                let (exec, graph, nodes) =
                    (handle(self.exec), self.graph as u64, graph_nodes::read(self.graph));
                let told = process
                    .tell_graphs(returned, |graphs, tell| graphs.instantiate(exec, graph, nodes, tell));
                made = with(GraphCall { exec, ..made }, told);
            });
        }
        leave(span, &made, returned, status);
    }
}

/// `hipGraphExecUpdate`.
pub(crate) struct Update {
    pub(crate) exec: hipGraphExec_t,
    pub(crate) graph: hipGraph_t,
    pub(crate) result: *mut u32,
}

impl Update {
    fn asked(&self) -> GraphCall {
        let (exec, graph) = (self.exec as u64, self.graph as u64);
        GraphCall { action: UPDATE, exec, graph, ..GraphCall::default() }
    }

    /// HIP updates node by node and does not go back when one fails (clr, hipGraphExecUpdate), unless it saw at once that
    /// the graphs differ.
    fn failed_half_way(&self, status: hipError_t) -> bool {
        // SAFETY: this failure is told only to a caller that gave a place for the result.
        let result = || unsafe { self.result.as_ref() };
        status == hipErrorGraphExecUpdateFailure
            && result().is_none_or(|result| *result != hipGraphExecUpdateErrorTopologyChanged)
    }
}

impl Observed<hipError_t> for Update {
    const TELLS: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.asked())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        let mut made = self.asked();
        let (exec, graph) = (self.exec as u64, self.graph as u64);
        if status == 0 {
            guarded(|process| {
                let nodes = graph_nodes::read(self.graph);
                let told =
                    process.tell_graphs(returned, |graphs, tell| graphs.update(exec, graph, nodes, tell));
                made = with(made, told);
            });
        } else if self.failed_half_way(status) {
            guarded(|process| process.tell_graphs(returned, |graphs, tell| graphs.fail_update(exec, tell)));
        }
        leave(span, &made, returned, status);
    }
}

/// `hipGraphExecDestroy`.
pub(crate) struct DestroyExec {
    exec: hipGraphExec_t,
    /// Before the call: another thread may be given the same handle as soon as it is free.
    stamp: u64,
}

impl DestroyExec {
    /// The call is about to be made.
    pub(crate) fn now(exec: hipGraphExec_t) -> DestroyExec {
        let stamp = clock::now();
        guarded(|process| process.tell_graphs(stamp, |graphs, _| graphs.forget_exec(exec as u64)));
        DestroyExec { exec, stamp }
    }
}

impl Observed<hipError_t> for DestroyExec {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, status: hipError_t) {
        if status == 0 {
            guarded(|process| {
                process.define(self.stamp, Definition::Exec { exec: self.exec as u64, graph: None });
            });
        }
    }
}

/// `hipGraphDestroy`.
pub(crate) struct DestroyGraph;

impl DestroyGraph {
    /// The call is about to be made.
    pub(crate) fn now(graph: hipGraph_t) -> DestroyGraph {
        guarded(|process| process.tell_graphs(0, |graphs, _| graphs.forget_graph(graph as u64)));
        DestroyGraph
    }
}

impl Observed<hipError_t> for DestroyGraph {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, _status: hipError_t) {}
}

/// `hipGraphClone`.
pub(crate) struct CloneGraph {
    pub(crate) clone: *mut hipGraph_t,
    pub(crate) graph: hipGraph_t,
}

impl Observed<hipError_t> for CloneGraph {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status == 0 {
            let (clone, graph) = (handle(self.clone), self.graph as u64);
            guarded(|process| process.tell_graphs(returned, |graphs, _| graphs.clone_graph(clone, graph)));
        }
    }
}
