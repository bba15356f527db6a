//! Stream captures, and instantiation, update and launch of graphs. Definitions are emitted on the
//! program's thread before the call returns, so that every launch finds its contents.
#![allow(unsafe_code)] // reads the results of calls that have just succeeded

use crate::abi::hip::{hipError_t, hipStream_t};
use crate::abi::hip_graph::*;
use crate::calls::code::handle;
use crate::hook::Intercept;
use crate::lifecycle::guarded;
use crate::platform::ids::gettid;
use crate::state::graph_nodes;
use crate::state::graphs::GraphIds;
use rocshim_ring::definition::{Definition, Stream};
use rocshim_ring::hip::GraphCall;
use rocshim_ring::{CallGuard, Producer, clock};

/// Indices of `rocshim_ring::hip::GRAPH_ACTIONS`.
const LAUNCH: u8 = 0;
const BEGIN: u8 = 1;
const END: u8 = 2;
const INSTANTIATE: u8 = 3;
const UPDATE: u8 = 4;

/// A launch of a graph.
#[inline(always)]
pub(crate) fn launch_graph(exec: hipGraphExec_t, stream: hipStream_t) -> GraphCall {
    let (exec, stream) = (exec as u64, stream as u64);
    GraphCall { action: LAUNCH, mode: 0, exec, stream, graph: 0, nodes: 0, capture: 0 }
}

/// Adds the numbers of the definitions to an event.
fn with_ids(call: GraphCall, ids: GraphIds) -> GraphCall {
    let [nodes, capture] = [ids.nodes, ids.capture].map(|number| number.map_or(0, |number| number + 1));
    GraphCall { nodes, capture, ..call }
}

fn leave(span: Option<CallGuard>, call: &GraphCall, returned: u64, status: hipError_t) {
    if let Some(span) = span {
        call.store_made(|index, value| span.put(index, value));
        span.leave(returned, status);
    }
}

/// A stream as a row has it, and whether the row is one for which the default stream is per thread.
pub(crate) struct On(pub(crate) hipStream_t, pub(crate) bool);

impl On {
    /// Returns the stream, that of the calling thread for a per-thread default stream.
    pub(crate) fn stream(&self) -> Stream {
        Stream::of(self.0 as u64, gettid(), self.1)
    }
}

/// `hipStreamBeginCapture` and its variants.
pub(crate) struct BeginCapture {
    pub(crate) on: On,
    pub(crate) mode: hipStreamCaptureMode,
    /// The graph that the capture adds to, or NULL.
    pub(crate) graph: hipGraph_t,
}

impl BeginCapture {
    fn event(&self) -> GraphCall {
        let (stream, graph) = (self.on.0 as u64, self.graph as u64);
        GraphCall { action: BEGIN, mode: self.mode as u8, stream, graph, ..GraphCall::default() }
    }
}

impl Intercept<hipError_t> for BeginCapture {
    const HAS_SIDE_STATE: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.event())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        let mut call = self.event();
        if status == 0 {
            guarded(|process| {
                let (stream, mode) = (self.on.stream(), self.mode as u8);
                let ids =
                    process.emit_graphs(returned, |graphs, emit| graphs.begin(stream, mode, gettid(), emit));
                call = with_ids(call, ids);
            });
        }
        leave(span, &call, returned, status);
    }
}

/// `hipStreamEndCapture` and its variants.
pub(crate) struct EndCapture {
    pub(crate) on: On,
    pub(crate) graph: *mut hipGraph_t,
}

impl EndCapture {
    fn event(&self) -> GraphCall {
        GraphCall { action: END, stream: self.on.0 as u64, ..GraphCall::default() }
    }
}

impl Intercept<hipError_t> for EndCapture {
    const HAS_SIDE_STATE: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.event())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        let mut call = self.event();
        guarded(|process| {
            let (stream, graph) = (self.on.stream(), if status == 0 { handle(self.graph) } else { 0 });
            let ids = process.emit_graphs(returned, |graphs, emit| match status {
                0 => graphs.end(stream, graph, emit),
                _ => graphs.fail_end(stream),
            });
            call = with_ids(GraphCall { graph, ..call }, ids);
        });
        leave(span, &call, returned, status);
    }
}

/// `hipGraphInstantiate` and its variants.
pub(crate) struct Instantiate {
    pub(crate) exec: *mut hipGraphExec_t,
    pub(crate) graph: hipGraph_t,
}

impl Instantiate {
    fn event(&self) -> GraphCall {
        GraphCall { action: INSTANTIATE, graph: self.graph as u64, ..GraphCall::default() }
    }
}

impl Intercept<hipError_t> for Instantiate {
    const HAS_SIDE_STATE: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.event())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        let mut call = self.event();
        if status == 0 {
            guarded(|process| {
                // Read before our lock is taken, because the runtime takes locks of its own.
                let (exec, graph, nodes) =
                    (handle(self.exec), self.graph as u64, graph_nodes::read(self.graph));
                let ids = process
                    .emit_graphs(returned, |graphs, emit| graphs.instantiate(exec, graph, nodes, emit));
                call = with_ids(GraphCall { exec, ..call }, ids);
            });
        }
        leave(span, &call, returned, status);
    }
}

/// `hipGraphExecUpdate`.
pub(crate) struct Update {
    pub(crate) exec: hipGraphExec_t,
    pub(crate) graph: hipGraph_t,
    pub(crate) result: *mut u32,
}

impl Update {
    fn event(&self) -> GraphCall {
        let (exec, graph) = (self.exec as u64, self.graph as u64);
        GraphCall { action: UPDATE, exec, graph, ..GraphCall::default() }
    }

    /// Returns true when some nodes may have been updated: HIP updates one node after the other and
    /// does not undo them when one fails (clr, hipGraphExecUpdate), unless the topologies differ.
    fn failed_half_way(&self, status: hipError_t) -> bool {
        // SAFETY: `result` is NULL or the program's variable, in which the call has stored its
        // result: it fails this way only for callers that pass one.
        let result = || unsafe { self.result.as_ref() };
        status == hipErrorGraphExecUpdateFailure
            && result().is_none_or(|result| *result != hipGraphExecUpdateErrorTopologyChanged)
    }
}

impl Intercept<hipError_t> for Update {
    const HAS_SIDE_STATE: bool = true;

    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.event())
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipError_t) {
        let mut call = self.event();
        let (exec, graph) = (self.exec as u64, self.graph as u64);
        if status == 0 {
            guarded(|process| {
                let nodes = graph_nodes::read(self.graph);
                let ids =
                    process.emit_graphs(returned, |graphs, emit| graphs.update(exec, graph, nodes, emit));
                call = with_ids(call, ids);
            });
        } else if self.failed_half_way(status) {
            guarded(|process| process.emit_graphs(returned, |graphs, emit| graphs.fail_update(exec, emit)));
        }
        leave(span, &call, returned, status);
    }
}

/// `hipGraphExecDestroy`.
pub(crate) struct DestroyExec {
    exec: hipGraphExec_t,
    /// Taken before the call, because another thread may be given the same handle as soon as it is
    /// free.
    stamp: u64,
}

impl DestroyExec {
    /// Removes the exec, right before the call.
    pub(crate) fn before_call(exec: hipGraphExec_t) -> DestroyExec {
        let stamp = clock::now();
        guarded(|process| process.emit_graphs(stamp, |graphs, _| graphs.remove_exec(exec as u64)));
        DestroyExec { exec, stamp }
    }
}

impl Intercept<hipError_t> for DestroyExec {
    const STATE_ONLY: bool = true;

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
    /// Removes the graph, right before the call.
    pub(crate) fn before_call(graph: hipGraph_t) -> DestroyGraph {
        guarded(|process| process.emit_graphs(0, |graphs, _| graphs.remove_graph(graph as u64)));
        DestroyGraph
    }
}

impl Intercept<hipError_t> for DestroyGraph {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, _returned: u64, _status: hipError_t) {}
}

/// `hipGraphClone`.
pub(crate) struct CloneGraph {
    pub(crate) clone: *mut hipGraph_t,
    pub(crate) graph: hipGraph_t,
}

impl Intercept<hipError_t> for CloneGraph {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status == 0 {
            let (clone, graph) = (handle(self.clone), self.graph as u64);
            guarded(|process| process.emit_graphs(returned, |graphs, _| graphs.clone_graph(clone, graph)));
        }
    }
}
