//! Tracks the contents of instantiated graphs over time: their recorded node lists and the changes
//! since.

use crate::history::History;
use rocshim_ring::definition::{Graph, GraphKernel};
use rocshim_trace as trace;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The contents of a graph, recorded in full or as a change.
enum Version {
    Full(Graph<'static>),
    /// A change of one kernel of another version.
    Changed {
        base: Option<u32>,
        index: u32,
        kernel: Option<GraphKernel>,
    },
}

/// The graphs of a process.
#[derive(Default)]
pub(crate) struct Graphs {
    /// Versions by definition number, each with its stamp.
    versions: HashMap<u32, (u64, Version)>,
    execs: HashMap<u64, History<u32>>,
    /// Versions whose record is in the current file, with their ids in it.
    emitted: HashMap<u32, u32>,
    /// Those ids.
    ids: HashSet<u32>,
    /// A digest of each record without its id.
    records: HashMap<[u64; 2], u32>,
}

impl Graphs {
    /// Definition `number` describes a graph.
    pub(crate) fn define(&mut self, stamp: u64, number: u32, graph: Graph) {
        let Graph { capture, kernels, others, why } = graph;
        let why = why.map(|why| why.into_owned().into());
        self.versions.insert(number, (stamp, Version::Full(Graph { capture, kernels, others, why })));
    }

    /// `exec` executes this version from `stamp` on; `None`: it is destroyed.
    pub(crate) fn set(&mut self, stamp: u64, exec: u64, graph: Option<u32>) {
        self.execs.entry(exec).or_default().set(stamp, graph);
    }

    /// Definition `number` changes a kernel of `exec` from `stamp` on.
    pub(crate) fn change(
        &mut self,
        stamp: u64,
        number: u32,
        exec: u64,
        index: u32,
        kernel: Option<GraphKernel>,
    ) {
        let base = self.at(stamp, exec);
        self.versions.insert(number, (stamp, Version::Changed { base, index, kernel }));
        self.set(stamp, exec, Some(number));
    }

    /// The version that `exec` executed at `stamp`, as a definition number.
    pub(crate) fn at(&self, stamp: u64, exec: u64) -> Option<u32> {
        self.execs.get(&exec)?.at(stamp)
    }

    /// The id of version `number` in the trace, if its record is in the current file.
    pub(crate) fn id(&self, number: u32) -> Option<u32> {
        self.emitted.get(&number).copied()
    }

    /// The full contents of version `number`, with the stamp at which its handles are resolved.
    pub(crate) fn resolve(&mut self, number: u32) -> Option<(u64, &Graph<'static>)> {
        let mut changes = Vec::new();
        let mut at = number;
        let mut graph = loop {
            match &self.versions.get(&at)?.1 {
                Version::Full(graph) => break graph.clone(),
                Version::Changed { base, index, kernel } => {
                    changes.push((*index, *kernel));
                    // Damaged definitions may form a cycle: a change must refer to an earlier
                    // definition.
                    let Some(base) = base.filter(|base| *base < at) else { break unknown() };
                    at = base;
                }
            }
        };
        for (index, kernel) in changes.into_iter().rev() {
            if let Some(place) = graph.kernels.get_mut(index as usize) {
                *place = kernel;
            }
        }
        // Cached, so that later versions need not go further back.
        let version = self.versions.get_mut(&number)?;
        version.1 = Version::Full(graph);
        match version {
            (stamp, Version::Full(graph)) => Some((*stamp, graph)),
            _ => None,
        }
    }

    /// Assigns version `number` its id in the trace: that of an equal record, or its own. True if
    /// the record must be emitted.
    pub(crate) fn record(&mut self, number: u32, record: &mut trace::Graph) -> bool {
        record.id = 0;
        // Writing to memory cannot fail.
        let says = digest(&serde_json::to_vec(record).unwrap_or_default());
        let known = self.records.get(&says).copied();
        record.id = known.unwrap_or(number);
        self.records.insert(says, record.id);
        self.emitted.insert(number, record.id);
        self.ids.insert(record.id)
    }

    /// Starts a new file, in which nothing is emitted yet.
    pub(crate) fn clear_emitted(&mut self) {
        self.emitted.clear();
        self.ids.clear();
    }
}

/// Two 64-bit hashes of a text.
fn digest(text: &[u8]) -> [u64; 2] {
    [1, 2].map(|which: u8| {
        let mut hasher = DefaultHasher::new();
        (which, text).hash(&mut hasher);
        hasher.finish()
    })
}

/// Contents of an instantiated graph whose creation was not observed.
fn unknown() -> Graph<'static> {
    Graph {
        why: Some("it was changed, and its contents before were not recorded".into()),
        ..Graph::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(function: u64) -> GraphKernel {
        GraphKernel { function, grid: [1; 3], block: [64, 1, 1], lds: 0 }
    }

    fn functions(graphs: &mut Graphs, number: u32) -> Vec<Option<u64>> {
        let (_, graph) = graphs.resolve(number).expect("a version");
        graph.kernels.iter().map(|kernel| kernel.map(|kernel| kernel.function)).collect()
    }

    #[test]
    fn a_cycle_of_changes_ends() {
        let mut graphs = graphs();
        graphs.set(20, 0xe, Some(5));
        graphs.change(21, 5, 0xe, 0, None);
        graphs.set(22, 0xe, Some(7));
        graphs.change(23, 6, 0xe, 0, None);
        graphs.change(24, 7, 0xe, 0, None);
        for number in [5, 6, 7] {
            let (_, graph) = graphs.resolve(number).expect("a version");
            assert_eq!((graph.kernels.len(), graph.why.is_some()), (0, true), "{number}");
        }
    }

    fn graphs() -> Graphs {
        let mut graphs = Graphs::default();
        let kernels = [1, 2, 3].map(|function| Some(kernel(function))).to_vec();
        graphs.define(10, 0, Graph { kernels, ..Graph::default() });
        graphs.set(10, 0xe, Some(0));
        graphs
    }

    #[test]
    fn a_launch_executes_the_version_of_its_time() {
        let mut graphs = graphs();
        graphs.change(20, 1, 0xe, 1, Some(kernel(9)));
        graphs.change(30, 2, 0xe, 0, None);
        graphs.set(40, 0xe, None);
        assert_eq!(
            [9, 10, 20, 35, 40].map(|stamp| graphs.at(stamp, 0xe)),
            [None, Some(0), Some(1), Some(2), None]
        );
        assert_eq!(functions(&mut graphs, 2), [None, Some(9), Some(3)]);
        assert_eq!(functions(&mut graphs, 1), [Some(1), Some(9), Some(3)]);
        assert_eq!(functions(&mut graphs, 0), [Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn a_change_to_a_resolved_version_is_right() {
        let mut graphs = graphs();
        graphs.change(20, 1, 0xe, 1, Some(kernel(9)));
        assert_eq!(functions(&mut graphs, 1), [Some(1), Some(9), Some(3)]);
        graphs.change(30, 2, 0xe, 1, Some(kernel(2)));
        assert_eq!(functions(&mut graphs, 2), [Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn a_change_to_an_unknown_version_is_incomplete() {
        let mut graphs = Graphs::default();
        graphs.change(20, 1, 0xe, 7, Some(kernel(9)));
        let (_, graph) = graphs.resolve(1).unwrap();
        assert!(graph.why.is_some() && graph.kernels.is_empty());
        assert!(graphs.resolve(2).is_none());
    }

    #[test]
    fn equal_versions_share_a_record() {
        let mut graphs = graphs();
        let mut record = trace::Graph { complete: true, ..trace::Graph::default() };
        assert!(graphs.record(3, &mut record));
        assert!(!graphs.record(8, &mut record));
        assert_eq!((record.id, graphs.id(8), graphs.id(9)), (3, Some(3), None));
        record.complete = false;
        assert!(graphs.record(9, &mut record));
    }
}
