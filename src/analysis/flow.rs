//! Counts calls between nodes, layer by layer: application, library, HIP, code object.
//!
//! A call's caller is the enclosing call on its thread, whose line comes later: calls wait, by
//! thread, for their caller's line, as in `nesting`. If that line was lost, or the enclosing call
//! makes no event, the caller is unknown.

#[cfg(test)]
mod tests;

use super::{
    interner::{Interner, PerId},
    session::{Analysis, CodeObjectId, Event, FunctionId, Session},
};
use foldhash::HashMap;
use rocshim_reader::Reading;
use rocshim_trace::{Call, CodeObject, Record, file_name};
use serde::Serialize;
use std::collections::BTreeMap;

/// Nodes of a layer that are shown separately: those with most calls. The others are merged.
const SHOWN_NODES: usize = 16;

/// The layers of a program that uses ROCm, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The program and its libraries that are not hooked.
    Application,
    /// The hooked libraries above HIP: rocBLAS, MIOpen, RCCL, …
    Library,
    /// The HIP runtime, by kind of call.
    Hip,
    /// The code objects whose kernels were launched.
    CodeObject,
}

impl Layer {
    /// Returns the name that the page shows.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Application => "Application",
            Layer::Library => "Library",
            Layer::Hip => "HIP",
            Layer::CodeObject => "Code object",
        }
    }
}

/// A node of the graph: a program, a library, a kind of HIP call, a code object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Node {
    /// Its layer.
    #[serde(rename = "floor")]
    pub layer: Layer,
    /// Its name, unique in its layer.
    pub name: String,
}

/// Calls from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The caller.
    pub from: Node,
    /// The callee.
    pub to: Node,
    /// Calls; to a code object: launches of its kernels.
    pub calls: u64,
}

crate::table! {
    /// Calls between layers.
    EDGES: Edge = "edges", "Calls between layers", "calls from one node to another";
    |row|
    words("from.floor", "layer", "the caller's layer") => row.from.layer.name();
    words("from.name", "caller", "the caller") => &row.from.name;
    words("to.floor", "layer", "the callee's layer") => row.to.layer.name();
    words("to.name", "called", "the callee") => &row.to.name;
    count("calls", "calls", "calls; to a code object: launches of its kernels") => row.calls;
}

/// The graph of calls between layers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// The nodes, by layer, most calls first.
    #[serde(rename = "places")]
    pub nodes: Vec<Node>,
    /// The edges, by caller and callee.
    pub edges: Vec<Edge>,
    /// Nodes that were merged with others, because their layer has too many.
    pub merged: u64,
}

const UNKNOWN: &str = "unknown caller";
const LAUNCH: &str = "kernel launches";
const CAPTURED: &str = "launches into graphs";
const GRAPH_LAUNCH: &str = "graph launches";

/// Calls of one caller, by node.
type Calls = Vec<(usize, u64)>;

/// Counts the calls between nodes.
#[derive(Default)]
pub(crate) struct FlowBuilder {
    nodes: Interner<Node, Node>,
    edges: HashMap<(usize, usize), u64>,
    /// The node of each function's library, and of each code object.
    libraries: PerId<FunctionId, Option<usize>>,
    objects: PerId<CodeObjectId, Option<usize>>,
    /// The program of the process that is read.
    application: usize,
    /// For each of its threads the calls that wait for their callers, ids growing.
    open: HashMap<u32, Vec<(u64, Calls)>>,
}

impl FlowBuilder {
    /// All edges.
    pub(crate) fn finish(self) -> Flow {
        let nodes = self.nodes.values();
        let mut sums: HashMap<usize, u64> = HashMap::default();
        for (&(from, to), calls) in &self.edges {
            *sums.entry(to).or_default() += calls;
            if nodes[from].layer == Layer::Application {
                *sums.entry(from).or_default() += calls;
            }
        }
        let mut order: Vec<(Layer, u64, usize)> =
            sums.into_iter().map(|(node, sum)| (nodes[node].layer, sum, node)).collect();
        order.sort_by(|a, b| (a.0, b.1, &nodes[a.2]).cmp(&(b.0, a.1, &nodes[b.2])));
        let (mut shown, mut merged): (BTreeMap<usize, Node>, Vec<usize>) = Default::default();
        let mut all = Flow::default();
        for layer in [Layer::Application, Layer::Library, Layer::Hip, Layer::CodeObject] {
            let of: Vec<usize> = order.iter().filter(|row| row.0 == layer).map(|row| row.2).collect();
            let own = if of.len() > SHOWN_NODES { SHOWN_NODES - 1 } else { of.len() };
            for node in &of[..own] {
                shown.insert(*node, nodes[*node].clone());
                all.nodes.push(nodes[*node].clone());
            }
            if own < of.len() {
                let rest = Node { layer, name: format!("{} others", of.len() - own) };
                all.nodes.push(rest.clone());
                shown.extend(of[own..].iter().map(|node| (*node, rest.clone())));
                merged.extend(&of[own..]);
            }
        }
        let mut edges: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let at = |node: &usize| all.nodes.iter().position(|shown_place| *shown_place == shown[node]);
        for ((from, to), calls) in &self.edges {
            if let (Some(from), Some(to)) = (at(from), at(to)) {
                *edges.entry((from, to)).or_default() += calls;
            }
        }
        let node = |at: usize| all.nodes[at].clone();
        all.edges = edges
            .into_iter()
            .map(|((from, to), calls)| Edge { from: node(from), to: node(to), calls })
            .collect();
        all.merged = merged.len() as u64;
        all
    }

    fn number(&mut self, layer: Layer, name: String) -> usize {
        let node = Node { layer, name };
        self.nodes.number(node.clone(), || node)
    }

    fn library(&mut self, session: &Session, function: Option<FunctionId>) -> usize {
        let Some(function) = function else {
            return self.number(Layer::Library, "unknown library".into());
        };
        if let Some(node) = *self.libraries.of(function) {
            return node;
        }
        let name = session.function(function).library.trim_end_matches(".so").to_string();
        let node = self.number(Layer::Library, name);
        *self.libraries.of(function) = Some(node);
        node
    }

    fn object(&mut self, session: &Session, object: Option<CodeObjectId>) -> usize {
        let Some(object) = object else { return self.number(Layer::CodeObject, NO_OBJECT.into()) };
        if let Some(node) = *self.objects.of(object) {
            return node;
        }
        let node = self.number(Layer::CodeObject, name(session.code_object(object)));
        *self.objects.of(object) = Some(node);
        node
    }

    /// Handles the return of a call of `node`: the calls inside now have their caller, and it waits
    /// for its own.
    fn returned(&mut self, call: &Call, node: usize) {
        let mut open = self.open.remove(&call.tid).unwrap_or_default();
        while let Some((_, calls)) = open.pop_if(|(id, _)| *id > call.id) {
            self.orphans(calls);
        }
        if let Some((_, calls)) = open.pop_if(|(id, _)| *id == call.id) {
            calls.into_iter().for_each(|(to, calls)| *self.edges.entry((node, to)).or_default() += calls);
        }
        match call.parent {
            None => {
                *self.edges.entry((self.application, node)).or_default() += 1;
                // No call is open on this thread any more.
                open.drain(..).for_each(|(_, calls)| self.orphans(calls));
            }
            Some(parent) => {
                while let Some((_, calls)) = open.pop_if(|(id, _)| *id > parent) {
                    self.orphans(calls);
                }
                if open.last().is_none_or(|(id, _)| *id != parent) {
                    open.push((parent, Vec::new()));
                }
                let (_, calls) = open.last_mut().expect("it was pushed");
                match calls.iter_mut().find(|(to, _)| *to == node) {
                    Some((_, calls)) => *calls += 1,
                    None => calls.push((node, 1)),
                }
            }
        }
        if !open.is_empty() {
            self.open.insert(call.tid, open);
        }
    }

    fn orphans(&mut self, calls: Calls) {
        let unknown = self.number(Layer::Application, UNKNOWN.into());
        calls.into_iter().for_each(|(to, calls)| *self.edges.entry((unknown, to)).or_default() += calls);
    }
}

impl Analysis for FlowBuilder {
    fn begin_process(&mut self, session: &Session) {
        let program = file_name(&session.process().header.exe).to_string();
        self.application = self.number(Layer::Application, program);
    }

    fn event(&mut self, session: &Session, event: &Event) {
        let hip = match event.record {
            Record::Launch(launch) if launch.capture.is_some() => CAPTURED,
            Record::Launch(_) => {
                let object = self.object(session, event.ids.code_object);
                if !event.failed() {
                    let from = self.number(Layer::Hip, LAUNCH.into());
                    *self.edges.entry((from, object)).or_default() += 1;
                }
                LAUNCH
            }
            Record::GraphLaunch(_) => GRAPH_LAUNCH,
            Record::GraphCall(_) => "building graphs",
            Record::Copy(_) => "copies, memory set",
            Record::Sync(_) => "waits, events",
            Record::Load(_) => "modules loaded",
            _ => {
                let node = self.library(session, event.ids.function);
                return self.returned(event.call, node);
            }
        };
        let node = self.number(Layer::Hip, hip.into());
        self.returned(event.call, node);
    }

    fn end_process(&mut self, session: &Session, _reading: &Reading) {
        let open = std::mem::take(&mut self.open);
        open.into_values().flatten().for_each(|(_, calls)| self.orphans(calls));
        let from = self.number(Layer::Hip, GRAPH_LAUNCH.into());
        let process = session.process();
        process.graphs.rows(process.header.pid, |kernel, launches| {
            let local = kernel.kernel.and_then(|id| process.kernel(id));
            let object = self.object(session, local.and_then(|local| local.code_object));
            if launches > 0 {
                *self.edges.entry((from, object)).or_default() += launches;
            }
        });
    }
}

const NO_OBJECT: &str = "not known";

/// `libggml-hip.so bundle 30`: a code object as people find it.
fn name(object: &CodeObject) -> String {
    let file = object.file.as_deref().or(object.path.as_deref());
    match (file.map(file_name), object.ordinal) {
        (Some(file), Some(ordinal)) => format!("{file} bundle {ordinal}"),
        (Some(file), None) => file.to_string(),
        (None, _) => match &object.xxh3 {
            Some(hash) => format!("from memory, {}", hash.get(..8).unwrap_or(hash)),
            None => "from memory".to_string(),
        },
    }
}
