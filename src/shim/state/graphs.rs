//! Tracks captures and graphs, so that each is emitted once: which streams capture, and what each
//! instantiated graph executes.
//!
//! ```text
//!   begin ──► capturing streams ──► end ──► graph ──► instantiate, update ──► exec
//!                    ▲                                                          ▲
//!      a wait for an event of one of them                              changes to its nodes
//! ```
//!
//! A launch never comes here: the reader derives from the definitions and their times whether a
//! launch was captured, and what a graph launch executed.

use crate::state::graph_nodes::{Node, NodeKind};
use rocshim_ring::definition::{Definition, Graph, GraphKernel, Stream};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Emits a definition; returns its number, or `None` when the log is full.
pub(crate) type Emit<'a> = &'a mut dyn FnMut(Definition) -> Option<u32>;

/// Number of capturing streams. Waits and event records check it before they take the lock.
static CAPTURING: AtomicU32 = AtomicU32::new(0);

/// Returns true while a stream captures.
#[inline(always)]
pub(crate) fn is_capturing() -> bool {
    // Relaxed: a thread that uses a capturing stream has synchronised with the one that began the
    // capture.
    CAPTURING.load(Relaxed) != 0
}

/// Limit of the graph kernels that a process emits, about 20 bytes each in the definition log: a
/// program that changes its graphs for ever must not fill memory. Later graphs are emitted without
/// kernels.
const MAX_KERNELS: usize = 800_000;
const TOO_MANY_KERNELS: &str = "the process has more graph kernels than are recorded";
const NOT_INTERCEPTED: &str = "its instantiation was not intercepted";
const HALF_UPDATED: &str = "an update of it failed midway";

/// Captures and graphs of a process.
#[derive(Default)]
pub(crate) struct Graphs {
    /// Capturing streams → number of the capture's definition.
    streams: HashMap<Stream, u32>,
    /// Events recorded in a capturing stream → its capture.
    events: HashMap<u64, u32>,
    /// `hipGraph_t` that came from a capture → that capture.
    captured: HashMap<u64, u32>,
    execs: HashMap<u64, Exec>,
    /// Graphs that are emitted: digest of their contents → number of the definition.
    emitted: HashMap<[u64; 2], u32>,
    /// Kernels emitted so far.
    kernels: usize,
}

/// An instantiated graph.
struct Exec {
    /// Its nodes, by the handles of the graph that it was instantiated from; `None` when unknown.
    nodes: Option<Vec<Node>>,
    /// Number of the definition last emitted as its contents.
    graph: Option<u32>,
}

/// The definitions that belong to a call about a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GraphIds {
    /// Number of the graph's definition.
    pub(crate) nodes: Option<u32>,
    /// Number of the capture's definition.
    pub(crate) capture: Option<u32>,
}

impl Graphs {
    /// Creates the state of a process that begins to record: no capture is known.
    pub(crate) fn new() -> Graphs {
        CAPTURING.store(0, Relaxed);
        Graphs::default()
    }

    /// Begins a capture on `stream`.
    pub(crate) fn begin(&mut self, stream: Stream, mode: u8, tid: u32, emit: Emit) -> GraphIds {
        let capture = emit(Definition::Capture { stream, mode, tid });
        if let Some(number) = capture {
            self.streams.insert(stream, number);
        }
        self.publish_count();
        GraphIds { capture, nodes: None }
    }

    /// Ends the capture of `stream`, which produced `graph`. A capture that ends with an error is
    /// kept: HIP records what its streams are given, or refuses it, until a new capture begins.
    pub(crate) fn end(&mut self, stream: Stream, graph: u64, emit: Emit) -> GraphIds {
        let capture = self.streams.get(&stream).copied();
        self.captured.remove(&graph);
        if let Some(number) = capture {
            self.streams.retain(|_, of| *of != number);
            self.events.retain(|_, of| *of != number);
            self.captured.insert(graph, number);
            emit(Definition::EndCapture { capture: number });
        }
        self.publish_count();
        GraphIds { capture, nodes: None }
    }

    /// Reports a capture of `stream` that ended with an error.
    pub(crate) fn fail_end(&self, stream: Stream) -> GraphIds {
        GraphIds { capture: self.streams.get(&stream).copied(), nodes: None }
    }

    fn publish_count(&self) {
        CAPTURING.store(self.streams.len() as u32, Relaxed);
    }

    /// Notes that `event` was recorded in `stream`.
    pub(crate) fn record(&mut self, event: u64, stream: Stream) {
        match self.streams.get(&stream) {
            Some(capture) => self.events.insert(event, *capture),
            None => self.events.remove(&event),
        };
    }

    /// Notes that `stream` waits for `event`. If a capturing stream recorded it, `stream` joins the
    /// capture.
    pub(crate) fn wait(&mut self, stream: Stream, event: u64, emit: Emit) {
        let Some(capture) = self.events.get(&event).copied() else { return };
        if self.streams.insert(stream, capture) != Some(capture) {
            emit(Definition::Join { capture, stream });
        }
        self.publish_count();
    }

    /// Removes `stream`, which is about to be destroyed.
    pub(crate) fn remove_stream(&mut self, stream: Stream, emit: Emit) {
        if self.streams.remove(&stream).is_some() {
            emit(Definition::Leave { stream });
        }
        self.publish_count();
    }

    /// Removes `graph`, which is about to be destroyed.
    pub(crate) fn remove_graph(&mut self, graph: u64) {
        self.captured.remove(&graph);
    }

    /// Notes that `clone` is a copy of `graph`.
    pub(crate) fn clone_graph(&mut self, clone: u64, graph: u64) {
        match self.captured.get(&graph).copied() {
            Some(capture) => self.captured.insert(clone, capture),
            None => self.captured.remove(&clone),
        };
    }

    /// Notes that `graph`, which has these nodes, was instantiated as `exec`.
    pub(crate) fn instantiate(
        &mut self,
        exec: u64,
        graph: u64,
        nodes: Result<Vec<Node>, &str>,
        emit: Emit,
    ) -> GraphIds {
        self.execs.remove(&exec);
        self.become_graph(exec, graph, nodes, emit)
    }

    /// Notes that `exec` was updated to execute `graph`, which has these nodes.
    pub(crate) fn update(
        &mut self,
        exec: u64,
        graph: u64,
        nodes: Result<Vec<Node>, &str>,
        emit: Emit,
    ) -> GraphIds {
        let before = self.execs.get(&exec).and_then(|exec| exec.nodes.as_deref());
        let nodes = nodes.map(|mut nodes| {
            // Later changes name the nodes of the original graph. The runtime pairs nodes by
            // position.
            if let Some(before) = before.filter(|before| before.len() == nodes.len()) {
                nodes.iter_mut().zip(before).for_each(|(node, before)| node.handle = before.handle);
            }
            nodes
        });
        self.become_graph(exec, graph, nodes, emit)
    }

    fn become_graph(
        &mut self,
        exec: u64,
        graph: u64,
        nodes: Result<Vec<Node>, &str>,
        emit: Emit,
    ) -> GraphIds {
        let capture = self.captured.get(&graph).copied();
        let (nodes, why) = match nodes {
            Ok(nodes) => (Some(nodes), None),
            Err(why) => (None, Some(why)),
        };
        let number = self.emit_graph(nodes.as_deref().unwrap_or_default(), capture, why, emit);
        self.bind(exec, nodes, number, emit);
        GraphIds { nodes: number, capture }
    }

    /// Sets the contents of `exec` to definition `graph`.
    fn bind(&mut self, exec: u64, nodes: Option<Vec<Node>>, graph: Option<u32>, emit: Emit) {
        let before = self.execs.insert(exec, Exec { nodes, graph });
        if before.is_none_or(|before| before.graph != graph) {
            emit(Definition::Exec { exec, graph });
        }
    }

    /// Emits what these nodes execute, unless an equal graph is emitted; returns the definition's
    /// number.
    fn emit_graph(
        &mut self,
        nodes: &[Node],
        capture: Option<u32>,
        why: Option<&str>,
        emit: Emit,
    ) -> Option<u32> {
        let kernels: Vec<_> = nodes.iter().filter_map(Node::kernel).collect();
        let mut graph = Graph { capture, kernels, others: others(nodes), why: why.map(Into::into) };
        let mut key = digest(&graph);
        if !self.emitted.contains_key(&key) && self.kernels + graph.kernels.len() > MAX_KERNELS {
            graph = Graph { kernels: Vec::new(), why: Some(TOO_MANY_KERNELS.into()), ..graph };
            key = digest(&graph);
        }
        if let Some(number) = self.emitted.get(&key) {
            return Some(*number);
        }
        self.kernels += graph.kernels.len();
        let number = emit(Definition::Graph(graph))?;
        self.emitted.insert(key, number);
        Some(number)
    }

    /// Marks the contents of `exec` as unknown, with the reason.
    fn mark_unknown(&mut self, exec: u64, why: &str, emit: Emit) {
        let number = self.emit_graph(&[], None, Some(why), emit);
        self.bind(exec, None, number, emit);
    }

    /// Notes that an update of `exec` failed after it may have changed some nodes.
    pub(crate) fn fail_update(&mut self, exec: u64, emit: Emit) {
        self.mark_unknown(exec, HALF_UPDATED, emit);
    }

    /// Replaces the kernel of `node` of `exec`.
    pub(crate) fn set_kernel(&mut self, exec: u64, node: u64, kernel: GraphKernel, emit: Emit) {
        self.change(exec, node, |node| node.kind = NodeKind::Kernel(kernel), emit);
    }

    /// Enables or disables `node` of `exec`.
    pub(crate) fn enable(&mut self, exec: u64, node: u64, enabled: bool, emit: Emit) {
        self.change(exec, node, |node| node.enabled = enabled, emit);
    }

    fn change(&mut self, exec: u64, node: u64, change: impl FnOnce(&mut Node), emit: Emit) {
        let Some(known) = self.execs.get_mut(&exec) else {
            return self.mark_unknown(exec, NOT_INTERCEPTED, emit);
        };
        // An exec with unknown nodes is emitted as unknown already.
        let Some(nodes) = known.nodes.as_mut() else { return };
        let Some(at) = nodes.iter().position(|found| found.handle == node) else {
            return self.mark_unknown(exec, NOT_INTERCEPTED, emit);
        };
        let Some(before) = nodes[at].kernel() else { return };
        change(&mut nodes[at]);
        let Some(kernel) = nodes[at].kernel().filter(|kernel| *kernel != before) else { return };
        let index = nodes[..at].iter().filter_map(Node::kernel).count() as u32;
        self.kernels += 2;
        if self.kernels > MAX_KERNELS {
            return self.mark_unknown(exec, TOO_MANY_KERNELS, emit);
        }
        known.graph = emit(Definition::ExecNode { exec, index, kernel });
    }

    /// Replaces the nodes of the child graph at `node` of `exec`.
    pub(crate) fn set_child(&mut self, exec: u64, node: u64, nodes: Result<Vec<Node>, &str>, emit: Emit) {
        let Some(known) = self.execs.get_mut(&exec) else {
            return self.mark_unknown(exec, NOT_INTERCEPTED, emit);
        };
        let Some(before) = known.nodes.take() else { return };
        match (nodes, replaced(before, node)) {
            (Ok(new), Some((mut whole, children))) if children.len() == new.len() => {
                for (at, new) in children.zip(new) {
                    whole[at].kind = new.kind;
                }
                let number = self.emit_graph(&whole, None, None, emit);
                self.bind(exec, Some(whole), number, emit);
            }
            (Err(why), _) => self.mark_unknown(exec, why, emit),
            _ => self.mark_unknown(exec, NOT_INTERCEPTED, emit),
        }
    }

    /// Removes `exec`, which is about to be destroyed.
    pub(crate) fn remove_exec(&mut self, exec: u64) {
        self.execs.remove(&exec);
    }

    /// Forgets which graphs are emitted, because kernel handles were redefined: equal handles no
    /// longer mean equal graphs.
    pub(crate) fn forget_emitted(&mut self) {
        self.emitted.clear();
    }
}

/// Returns the nodes and the range of those in the child graph at `node`.
fn replaced(nodes: Vec<Node>, node: u64) -> Option<(Vec<Node>, std::ops::Range<usize>)> {
    let at = nodes.iter().position(|found| found.handle == node)?;
    let NodeKind::Child(count) = nodes[at].kind else { return None };
    Some((nodes, at + 1..at + 1 + count))
}

/// Counts the nodes that are no kernels, by type. A child graph is represented by its nodes.
fn others(nodes: &[Node]) -> Vec<(u32, u32)> {
    let mut counts: Vec<(u32, u32)> = Vec::new();
    for node in nodes {
        let NodeKind::Other(kind) = node.kind else { continue };
        match counts.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((kind, 1)),
        }
    }
    counts
}

/// Returns two hashes of a graph's contents. Its capture counts only when nothing else is known.
fn digest(graph: &Graph) -> [u64; 2] {
    let capture = graph.capture.filter(|_| graph.why.is_some());
    [1, 2].map(|which: u8| {
        let mut hasher = DefaultHasher::new();
        (which, capture, &graph.kernels, &graph.others, &graph.why).hash(&mut hasher);
        hasher.finish()
    })
}

#[cfg(test)]
mod tests;
