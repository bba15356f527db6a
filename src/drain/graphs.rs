//! What instantiated graphs do, by time: the node lists that were told, and the changes made to them since.

use crate::history::History;
use rocshim_ring::definition::{Graph, GraphKernel};
use rocshim_trace as trace;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A graph as it was told, or as a change made it.
enum Version {
    Told(Graph<'static>),
    /// One kernel of another version is another.
    Changed {
        base: Option<u32>,
        index: u32,
        kernel: Option<GraphKernel>,
    },
}

/// The graphs of a process.
#[derive(Default)]
pub(crate) struct Graphs {
    /// By the number of the definition that told them, with its stamp.
    versions: HashMap<u32, (u64, Version)>,
    execs: HashMap<u64, History<u32>>,
    /// Versions whose record is in the file that is written, by the id they have there.
    told: HashMap<u32, u32>,
    /// Those ids.
    ids: HashSet<u32>,
    /// A digest of what each record says, but for its id.
    records: HashMap<[u64; 2], u32>,
}

impl Graphs {
    /// Definition `number` tells what a graph does.
    pub(crate) fn tell(&mut self, stamp: u64, number: u32, graph: Graph) {
        let Graph { capture, kernels, others, why } = graph;
        let why = why.map(|why| why.into_owned().into());
        self.versions.insert(number, (stamp, Version::Told(Graph { capture, kernels, others, why })));
    }

    /// `exec` does this from `stamp` on; `None`: it is destroyed.
    pub(crate) fn set(&mut self, stamp: u64, exec: u64, graph: Option<u32>) {
        self.execs.entry(exec).or_default().set(stamp, graph);
    }

    /// Definition `number` tells that a kernel of `exec` is another from `stamp` on.
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

    /// What `exec` did at `stamp`, as the number of a definition.
    pub(crate) fn at(&self, stamp: u64, exec: u64) -> Option<u32> {
        self.execs.get(&exec)?.at(stamp)
    }

    /// The id that version `number` has in the trace, if its record is in the file that is written.
    pub(crate) fn id(&self, number: u32) -> Option<u32> {
        self.told.get(&number).copied()
    }

    /// Version `number` whole, with the stamp at which its handles mean what they mean.
    pub(crate) fn whole(&mut self, number: u32) -> Option<(u64, &Graph<'static>)> {
        let mut changes = Vec::new();
        let mut at = number;
        let mut graph = loop {
            match &self.versions.get(&at)?.1 {
                Version::Told(graph) => break graph.clone(),
                Version::Changed { base, index, kernel } => {
                    changes.push((*index, *kernel));
                    // Damaged definitions may lead in a circle: what a change is made to was told before it.
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
        // Whatever is built on it from now on need not go further back.
        let version = self.versions.get_mut(&number)?;
        version.1 = Version::Told(graph);
        match version {
            (stamp, Version::Told(graph)) => Some((*stamp, graph)),
            _ => None,
        }
    }

    /// Gives version `number` its id in the trace: that of the record that says the same already, or its own. True when
    /// the record is to be written.
    pub(crate) fn record(&mut self, number: u32, record: &mut trace::Graph) -> bool {
        record.id = 0;
        // Writing into memory cannot fail.
        let says = digest(&serde_json::to_vec(record).unwrap_or_default());
        let known = self.records.get(&says).copied();
        record.id = known.unwrap_or(number);
        self.records.insert(says, record.id);
        self.told.insert(number, record.id);
        self.ids.insert(record.id)
    }

    /// Nothing is told of in the file that begins now.
    pub(crate) fn forget_told(&mut self) {
        self.told.clear();
        self.ids.clear();
    }
}

/// Tells texts apart: two hashes of it.
fn digest(text: &[u8]) -> [u64; 2] {
    [1, 2].map(|which: u8| {
        let mut hasher = DefaultHasher::new();
        (which, text).hash(&mut hasher);
        hasher.finish()
    })
}

/// A change to an instantiated graph that was never seen being made.
fn unknown() -> Graph<'static> {
    Graph { why: Some("it was changed, and what it was before was not seen".into()), ..Graph::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(function: u64) -> GraphKernel {
        GraphKernel { function, grid: [1; 3], block: [64, 1, 1], lds: 0 }
    }

    fn functions(graphs: &mut Graphs, number: u32) -> Vec<Option<u64>> {
        let (_, graph) = graphs.whole(number).expect("a version");
        graph.kernels.iter().map(|kernel| kernel.map(|kernel| kernel.function)).collect()
    }

    #[test]
    fn a_change_that_is_made_to_itself_or_to_a_later_one_has_an_end() {
        let mut graphs = graphs();
        graphs.set(20, 0xe, Some(5));
        graphs.change(21, 5, 0xe, 0, None);
        graphs.set(22, 0xe, Some(7));
        graphs.change(23, 6, 0xe, 0, None);
        graphs.change(24, 7, 0xe, 0, None);
        for number in [5, 6, 7] {
            let (_, graph) = graphs.whole(number).expect("a version");
            assert_eq!((graph.kernels.len(), graph.why.is_some()), (0, true), "{number}");
        }
    }

    fn graphs() -> Graphs {
        let mut graphs = Graphs::default();
        let kernels = [1, 2, 3].map(|function| Some(kernel(function))).to_vec();
        graphs.tell(10, 0, Graph { kernels, ..Graph::default() });
        graphs.set(10, 0xe, Some(0));
        graphs
    }

    #[test]
    fn a_launch_does_what_its_graph_did_at_the_time() {
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
    fn what_is_built_on_a_whole_version_is_right() {
        let mut graphs = graphs();
        graphs.change(20, 1, 0xe, 1, Some(kernel(9)));
        assert_eq!(functions(&mut graphs, 1), [Some(1), Some(9), Some(3)]);
        graphs.change(30, 2, 0xe, 1, Some(kernel(2)));
        assert_eq!(functions(&mut graphs, 2), [Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn a_change_to_what_was_never_seen_is_no_whole_graph() {
        let mut graphs = Graphs::default();
        graphs.change(20, 1, 0xe, 7, Some(kernel(9)));
        let (_, graph) = graphs.whole(1).unwrap();
        assert!(graph.why.is_some() && graph.kernels.is_empty());
        assert!(graphs.whole(2).is_none());
    }

    #[test]
    fn versions_that_say_the_same_share_a_record() {
        let mut graphs = graphs();
        let mut record = trace::Graph { complete: true, ..trace::Graph::default() };
        assert!(graphs.record(3, &mut record));
        assert!(!graphs.record(8, &mut record));
        assert_eq!((record.id, graphs.id(8), graphs.id(9)), (3, Some(3), None));
        record.complete = false;
        assert!(graphs.record(9, &mut record));
    }
}
