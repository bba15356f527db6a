//! What the shim knows of captures and graphs, so that each is told once: which streams capture, and what each
//! instantiated graph does.
//!
//! ```text
//!   begin ──► streams that capture ──► end ──► graph (hipGraph_t) ──► instantiate, update ──► exec (hipGraphExec_t)
//!                 ▲ a wait for an event that was recorded in one of them           ▲ changes to its nodes
//! ```
//!
//! Nothing here is on the way of a launch: whether one was captured, and what a graph launch did, is read from what was
//! told, by time.

use crate::state::graph_nodes::{Node, What};
use rocshim_ring::definition::{Definition, Graph, GraphKernel, Stream};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Takes a definition; gives its number, or `None` when there is no room for it.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(Definition) -> Option<u32>;

/// Streams that capture now. Waits and event records look at this before they take a lock.
static CAPTURING: AtomicU32 = AtomicU32::new(0);

/// True while a stream captures.
#[inline(always)]
pub(crate) fn is_capturing() -> bool {
    // Relaxed: what a stream is asked after it began to capture is asked by whoever knows that it did.
    CAPTURING.load(Relaxed) != 0
}

/// How many kernels of graphs are told in a process, at about 20 bytes each in the log of names: a program that changes its
/// graphs for ever must not fill memory. After that graphs are told of without their kernels.
const KERNELS: usize = 800_000;
const FULL: &str = "the process has told of more graphs than are kept";
const UNSEEN: &str = "it was not seen being instantiated";
const HALF_UPDATED: &str = "an update of it failed half-way";

/// Captures and graphs of a process.
#[derive(Default)]
pub(crate) struct Graphs {
    /// The streams that capture now.
    streams: HashMap<Stream, u32>,
    /// Events that were recorded in a stream while it captured.
    events: HashMap<u64, u32>,
    /// `hipGraph_t` of those that came from a capture.
    captured: HashMap<u64, u32>,
    execs: HashMap<u64, Exec>,
    /// Graphs that were told, by what they do.
    told: HashMap<[u64; 2], u32>,
    /// Kernels told so far.
    kernels: usize,
}

/// An instantiated graph.
struct Exec {
    /// Its nodes, by the handles of the graph that it was made of; `None` when that is not known.
    nodes: Option<Vec<Node>>,
    /// The number of the definition that was last told to be what it does.
    graph: Option<u32>,
}

/// What a call about a graph has made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    /// The number of the graph's definition.
    pub(crate) nodes: Option<u32>,
    /// The number of the capture's definition.
    pub(crate) capture: Option<u32>,
}

impl Graphs {
    /// Of a process that begins to record: as far as it knows, nothing captures.
    pub(crate) fn new() -> Graphs {
        CAPTURING.store(0, Relaxed);
        Graphs::default()
    }

    /// A capture begins on `stream`.
    pub(crate) fn begin(&mut self, stream: Stream, mode: u8, tid: u32, tell: Tell) -> Made {
        let capture = tell(Definition::Capture { stream, mode, tid });
        if let Some(number) = capture {
            self.streams.insert(stream, number);
        }
        self.count();
        Made { capture, nodes: None }
    }

    /// The capture of `stream` ended in order and gave `graph`. (One that ends with an error stays: HIP goes on to record
    /// what its streams are asked, or refuses it, until a new capture begins.)
    pub(crate) fn end(&mut self, stream: Stream, graph: u64, tell: Tell) -> Made {
        let capture = self.streams.get(&stream).copied();
        self.captured.remove(&graph);
        if let Some(number) = capture {
            self.streams.retain(|_, of| *of != number);
            self.events.retain(|_, of| *of != number);
            self.captured.insert(graph, number);
            tell(Definition::EndCapture { capture: number });
        }
        self.count();
        Made { capture, nodes: None }
    }

    /// The capture of `stream` did not end in order.
    pub(crate) fn fail_end(&self, stream: Stream) -> Made {
        Made { capture: self.streams.get(&stream).copied(), nodes: None }
    }

    fn count(&self) {
        CAPTURING.store(self.streams.len() as u32, Relaxed);
    }

    /// `event` was recorded in `stream`.
    pub(crate) fn record(&mut self, event: u64, stream: Stream) {
        match self.streams.get(&stream) {
            Some(capture) => self.events.insert(event, *capture),
            None => self.events.remove(&event),
        };
    }

    /// `stream` waits for `event`: when that was recorded in a stream that captures, it captures too.
    pub(crate) fn wait(&mut self, stream: Stream, event: u64, tell: Tell) {
        let Some(capture) = self.events.get(&event).copied() else { return };
        if self.streams.insert(stream, capture) != Some(capture) {
            tell(Definition::Join { capture, stream });
        }
        self.count();
    }

    /// `stream` is about to be destroyed.
    pub(crate) fn forget_stream(&mut self, stream: Stream, tell: Tell) {
        if self.streams.remove(&stream).is_some() {
            tell(Definition::Leave { stream });
        }
        self.count();
    }

    /// `graph` is about to be destroyed.
    pub(crate) fn forget_graph(&mut self, graph: u64) {
        self.captured.remove(&graph);
    }

    /// `clone` is a copy of `graph`.
    pub(crate) fn clone_graph(&mut self, clone: u64, graph: u64) {
        match self.captured.get(&graph).copied() {
            Some(capture) => self.captured.insert(clone, capture),
            None => self.captured.remove(&clone),
        };
    }

    /// `graph`, whose nodes are these, became `exec`.
    pub(crate) fn instantiate(
        &mut self,
        exec: u64,
        graph: u64,
        nodes: Result<Vec<Node>, &str>,
        tell: Tell,
    ) -> Made {
        self.execs.remove(&exec);
        self.become_graph(exec, graph, nodes, tell)
    }

    /// `exec` was updated to do what `graph` does, whose nodes are these.
    pub(crate) fn update(
        &mut self,
        exec: u64,
        graph: u64,
        nodes: Result<Vec<Node>, &str>,
        tell: Tell,
    ) -> Made {
        let before = self.execs.get(&exec).and_then(|exec| exec.nodes.as_deref());
        let nodes = nodes.map(|mut nodes| {
            // Later changes name the nodes of the graph that it was first made of. The runtime pairs them by their places.
            if let Some(before) = before.filter(|before| before.len() == nodes.len()) {
                nodes.iter_mut().zip(before).for_each(|(node, before)| node.handle = before.handle);
            }
            nodes
        });
        self.become_graph(exec, graph, nodes, tell)
    }

    fn become_graph(&mut self, exec: u64, graph: u64, nodes: Result<Vec<Node>, &str>, tell: Tell) -> Made {
        let capture = self.captured.get(&graph).copied();
        let (nodes, why) = match nodes {
            Ok(nodes) => (Some(nodes), None),
            Err(why) => (None, Some(why)),
        };
        let number = self.tell_graph(nodes.as_deref().unwrap_or_default(), capture, why, tell);
        self.bind(exec, nodes, number, tell);
        Made { nodes: number, capture }
    }

    /// From now on `exec` does what definition `graph` tells.
    fn bind(&mut self, exec: u64, nodes: Option<Vec<Node>>, graph: Option<u32>, tell: Tell) {
        let before = self.execs.insert(exec, Exec { nodes, graph });
        if before.is_none_or(|before| before.graph != graph) {
            tell(Definition::Exec { exec, graph });
        }
    }

    /// Tells what these nodes do, unless that was told before; gives the definition's number.
    fn tell_graph(
        &mut self,
        nodes: &[Node],
        capture: Option<u32>,
        why: Option<&str>,
        tell: Tell,
    ) -> Option<u32> {
        let kernels: Vec<_> = nodes.iter().filter_map(Node::kernel).collect();
        let mut graph = Graph { capture, kernels, others: others(nodes), why: why.map(Into::into) };
        let mut key = digest(&graph);
        if !self.told.contains_key(&key) && self.kernels + graph.kernels.len() > KERNELS {
            graph = Graph { kernels: Vec::new(), why: Some(FULL.into()), ..graph };
            key = digest(&graph);
        }
        if let Some(number) = self.told.get(&key) {
            return Some(*number);
        }
        self.kernels += graph.kernels.len();
        let number = tell(Definition::Graph(graph))?;
        self.told.insert(key, number);
        Some(number)
    }

    /// `exec` is not what it was, and nobody can say what it is.
    fn lose(&mut self, exec: u64, why: &str, tell: Tell) {
        let number = self.tell_graph(&[], None, Some(why), tell);
        self.bind(exec, None, number, tell);
    }

    /// An update of `exec` failed after some of its nodes may have been changed.
    pub(crate) fn fail_update(&mut self, exec: u64, tell: Tell) {
        self.lose(exec, HALF_UPDATED, tell);
    }

    /// The kernel of `node` of `exec` is another.
    pub(crate) fn set_kernel(&mut self, exec: u64, node: u64, kernel: GraphKernel, tell: Tell) {
        self.change(exec, node, |node| node.what = What::Kernel(kernel), tell);
    }

    /// `node` of `exec` is switched on or off.
    pub(crate) fn enable(&mut self, exec: u64, node: u64, enabled: bool, tell: Tell) {
        self.change(exec, node, |node| node.enabled = enabled, tell);
    }

    fn change(&mut self, exec: u64, node: u64, change: impl FnOnce(&mut Node), tell: Tell) {
        let Some(known) = self.execs.get_mut(&exec) else { return self.lose(exec, UNSEEN, tell) };
        // One whose nodes are not known was told to be so.
        let Some(nodes) = known.nodes.as_mut() else { return };
        let Some(at) = nodes.iter().position(|found| found.handle == node) else {
            return self.lose(exec, UNSEEN, tell);
        };
        let Some(before) = nodes[at].kernel() else { return };
        change(&mut nodes[at]);
        let Some(kernel) = nodes[at].kernel().filter(|kernel| *kernel != before) else { return };
        let index = nodes[..at].iter().filter_map(Node::kernel).count() as u32;
        self.kernels += 2;
        if self.kernels > KERNELS {
            return self.lose(exec, FULL, tell);
        }
        known.graph = tell(Definition::ExecNode { exec, index, kernel });
    }

    /// The child graph at `node` of `exec` does what these nodes do.
    pub(crate) fn set_child(&mut self, exec: u64, node: u64, nodes: Result<Vec<Node>, &str>, tell: Tell) {
        let Some(known) = self.execs.get_mut(&exec) else { return self.lose(exec, UNSEEN, tell) };
        let Some(before) = known.nodes.take() else { return };
        match (nodes, replaced(before, node)) {
            (Ok(new), Some((mut whole, children))) if children.len() == new.len() => {
                for (at, new) in children.zip(new) {
                    whole[at].what = new.what;
                }
                let number = self.tell_graph(&whole, None, None, tell);
                self.bind(exec, Some(whole), number, tell);
            }
            (Err(why), _) => self.lose(exec, why, tell),
            _ => self.lose(exec, UNSEEN, tell),
        }
    }

    /// `exec` is about to be destroyed.
    pub(crate) fn forget_exec(&mut self, exec: u64) {
        self.execs.remove(&exec);
    }

    /// Handles of kernels mean something else from now on: what was told by them is told anew.
    pub(crate) fn forget_names(&mut self) {
        self.told.clear();
    }
}

/// The nodes, and which of them are in the child graph at `node`.
fn replaced(nodes: Vec<Node>, node: u64) -> Option<(Vec<Node>, std::ops::Range<usize>)> {
    let at = nodes.iter().position(|found| found.handle == node)?;
    let What::Child(count) = nodes[at].what else { return None };
    Some((nodes, at + 1..at + 1 + count))
}

/// The nodes that are no kernels, counted by type. A child graph's nodes stand for it.
fn others(nodes: &[Node]) -> Vec<(u32, u32)> {
    let mut counts: Vec<(u32, u32)> = Vec::new();
    for node in nodes {
        let What::Other(kind) = node.what else { continue };
        match counts.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((kind, 1)),
        }
    }
    counts
}

/// What a graph does, in two hashes. Where it came from counts only when that is all that is known of it.
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
