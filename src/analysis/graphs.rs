//! Graphs: the launches of each, and what these executed.
//!
//! A graph launch executes every kernel of its graph once. Which kernels these are is confirmed if
//! the runtime listed them when the graph was instantiated. Otherwise, if the graph came from a
//! capture, they are inferred to be the captured launches. Else the kernels of its launches are
//! unknown, and every count of kernels is limited.

use super::{
    evidence::{Evidence, observations::Observation},
    units::count,
};
use foldhash::HashMap;
use rocshim_trace::{Graph, GraphCall, GraphKernel, GraphLaunch, Launch};
use serde::Serialize;
use std::collections::BTreeMap;

/// A graph of a process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphRow {
    /// The process.
    pub pid: u32,
    /// Its id in the trace; absent for launches of graphs that were never seen being instantiated.
    pub graph: Option<u32>,
    /// The capture that it came from; absent where it was built node by node.
    pub capture: Option<u32>,
    /// Launches of it, failed ones among them.
    pub launches: u64,
    /// Launches that returned an error.
    pub failed: u64,
    /// Host time of all launches.
    pub total_ns: u64,
    /// Kernels that each launch executes.
    pub kernels: u64,
    /// Kernels that all launches executed; failed launches execute none.
    pub executed: u64,
    /// Nodes other than kernels, by kind.
    pub others: BTreeMap<String, u64>,
    /// Evidence class of these kernels.
    pub evidence: Evidence,
    /// Why they are not confirmed.
    pub why: Option<String>,
}

crate::table! {
    /// The graphs that were launched.
    GRAPHS: GraphRow = "graphs", "Graphs (host time of the launches)", "a graph that was launched";
    |row|
    count("launches", "launches", "launches of it, failed ones among them") => row.launches;
    count("failed", "failed", "launches that returned an error").if_any() => row.failed;
    time("total_ns", "total", "host time of all launches") => row.total_ns;
    time("mean_ns", "mean", "host time of a launch").derived().no_sum().optional()
        => row.total_ns / row.launches.max(1);
    count("kernels", "kernels", "kernels that each launch executes; ? where they are not known")
        .no_sum().absent("?") => Some(row.kernels).filter(|_| row.evidence != Evidence::Limited);
    count("executed", "executed", "kernels that all launches executed").on_page() => row.executed;
    evidence("evidence", "evidence", "whether these kernels are known") => row.evidence;
    number("pid", "process", "its process").on_page() => row.pid;
    words("graph", "graph", "its id, its capture, and its nodes that are no kernels (others)").name()
        => row.what();
    sentence("why", "why", "why they are not confirmed").on_page() => row.why.as_ref();
}

impl GraphRow {
    /// `#31 from capture #12, 2 memcpy`.
    fn what(&self) -> String {
        let mut text = match (self.graph, self.capture) {
            (None, _) => "unknown".to_string(),
            (Some(id), Some(capture)) => format!("#{id} from capture #{capture}"),
            (Some(id), None) => format!("#{id}"),
        };
        self.others.iter().for_each(|(kind, number)| text += &format!(", {} {kind}", count(*number)));
        text
    }
}

/// Launches of a graph.
#[derive(Clone, Copy, Debug, Default)]
struct Launches {
    launches: u64,
    failed: u64,
    total_ns: u64,
}

/// The graphs of a process, what captures recorded into them, and their launches.
#[derive(Clone, Default)]
pub(crate) struct Graphs {
    graphs: HashMap<u32, Graph>,
    launches: BTreeMap<Option<u32>, Launches>,
    /// Kernels that each capture recorded, with their counts.
    captured: HashMap<u32, HashMap<GraphKernel, u64>>,
    /// When captures failed to end, by their ids.
    failed: HashMap<u32, u64>,
    /// Launches that a capture recorded after it had failed to end.
    pub in_doubt: u64,
}

const NEVER_SEEN: &str = "it was never seen being instantiated";
const BY_CAPTURE: &str = "they are those whose launches its capture recorded";

impl Graphs {
    /// Adds the definition of a graph.
    pub(crate) fn define(&mut self, graph: Graph) {
        self.graphs.insert(graph.id, graph);
    }

    /// Counts a graph launch.
    pub(crate) fn launch(&mut self, launch: &GraphLaunch) {
        let launches = self.launches.entry(launch.graph).or_default();
        launches.launches += 1;
        launches.failed += u64::from(launch.call.status != 0 || launch.call.unwound);
        launches.total_ns += launch.call.dur;
    }

    /// Returns the number of kernels that a launch of `graph` executes; `None` if not all are
    /// listed.
    pub(crate) fn listed_kernels(&self, graph: u32) -> Option<u64> {
        let graph = self.graphs.get(&graph).filter(|graph| graph.complete)?;
        Some(graph.kernels.len() as u64)
    }

    /// Handles a call on a capture or graph. If HIP refuses to end a capture, it continues to
    /// record the work of its streams (clr up to 7.x), which is not documented.
    pub(crate) fn call(&mut self, call: &GraphCall) {
        if let ("end_capture", 901 | 904, Some(capture)) =
            (call.action.as_str(), call.call.status, call.capture)
        {
            self.failed.insert(capture, call.call.t);
        }
    }

    /// Adds a launch that capture `capture` recorded.
    pub(crate) fn capture(&mut self, capture: u32, launch: &Launch) {
        self.in_doubt += u64::from(self.failed.get(&capture).is_some_and(|failed| launch.call.t > *failed));
        let &Launch { kernel, function, grid, block, lds, .. } = launch;
        let kernel = GraphKernel { kernel, function, grid, block, lds };
        *self.captured.entry(capture).or_default().entry(kernel).or_default() += 1;
    }

    /// Returns the launched graphs, most launches first; passes each kernel with its number of
    /// executions to `execute`.
    pub(crate) fn rows(&self, pid: u32, mut execute: impl FnMut(&GraphKernel, u64)) -> Vec<GraphRow> {
        let row = |(id, launches): (&Option<u32>, &Launches)| {
            let graph = id.and_then(|id| self.graphs.get(&id));
            let (kernels, evidence, why) = self.kernels_of(graph);
            let done = launches.launches - launches.failed;
            kernels.iter().for_each(|(kernel, times)| execute(kernel, times * done));
            let count = kernels.iter().map(|(_, times)| times).sum::<u64>();
            GraphRow {
                pid,
                graph: *id,
                capture: graph.and_then(|graph| graph.capture),
                launches: launches.launches,
                failed: launches.failed,
                total_ns: launches.total_ns,
                kernels: count,
                executed: count * done,
                others: graph.map(|graph| graph.others.clone()).unwrap_or_default(),
                evidence,
                why,
            }
        };
        let mut rows: Vec<GraphRow> = self.launches.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.launches));
        rows
    }

    /// Returns the kernels that a launch of `graph` executes with their counts, and the evidence
    /// class with its reason.
    fn kernels_of(&self, graph: Option<&Graph>) -> (Vec<(GraphKernel, u64)>, Evidence, Option<String>) {
        let Some(graph) = graph else { return (Vec::new(), Evidence::Limited, Some(NEVER_SEEN.into())) };
        if graph.complete {
            let mut counts: Vec<(GraphKernel, u64)> = Vec::new();
            for kernel in &graph.kernels {
                // Equal kernels are mostly consecutive.
                match counts.last_mut() {
                    Some((last, count)) if last == kernel => *count += 1,
                    _ => counts.push((kernel.clone(), 1)),
                }
            }
            return (counts, Observation::Nodes.evidence(), None);
        }
        let why = graph.why.clone().unwrap_or_else(|| "its kernels are not all listed".into());
        match graph.capture.and_then(|capture| self.captured.get(&capture)) {
            Some(captured) => {
                let counts = captured.iter().map(|(kernel, count)| (kernel.clone(), *count)).collect();
                (counts, Evidence::Inferred, Some(format!("{why}; {BY_CAPTURE}")))
            }
            None => (Vec::new(), Evidence::Limited, Some(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::CONFIRMED;
    use rocshim_trace::Call;

    fn kernel(id: u32) -> GraphKernel {
        GraphKernel { kernel: Some(id), grid: [1; 3], block: [64, 1, 1], ..GraphKernel::default() }
    }

    fn launch(graph: Option<u32>, status: i32) -> GraphLaunch {
        let call = Call { dur: 10, status, ..Call::default() };
        GraphLaunch { call, graph, ..GraphLaunch::default() }
    }

    /// The rows' evidence, and (kernel, times) as they were executed.
    fn found(graphs: &Graphs) -> (Vec<GraphRow>, BTreeMap<u32, u64>) {
        let mut executed = BTreeMap::new();
        let rows =
            graphs.rows(7, |kernel, times| *executed.entry(kernel.kernel.unwrap()).or_default() += times);
        (rows, executed)
    }

    #[test]
    fn every_launch_that_succeeds_executes_every_kernel() {
        let mut graphs = Graphs::default();
        let kernels = [1, 2, 2, 1].map(kernel).to_vec();
        graphs.define(Graph { id: 5, complete: true, kernels, ..Graph::default() });
        [0, 0, 700].iter().for_each(|status| graphs.launch(&launch(Some(5), *status)));
        let (rows, executed) = found(&graphs);
        let row = &rows[0];
        assert_eq!((row.launches, row.failed, row.total_ns, row.kernels, row.executed), (3, 1, 30, 4, 8));
        assert_eq!((row.evidence, &row.why), (CONFIRMED, &None));
        assert_eq!(executed, BTreeMap::from([(1, 4), (2, 4)]));
    }

    #[test]
    fn what_is_launched_after_a_capture_failed_to_end_is_in_doubt() {
        let mut graphs = Graphs::default();
        let launch =
            |t| Launch { call: Call { t, ..Call::default() }, capture: Some(3), ..Launch::default() };
        graphs.capture(3, &launch(1));
        for (status, in_doubt) in [(903, 0), (904, 1)] {
            let call = Call { t: 5, status, ..Call::default() };
            let action = "end_capture".into();
            graphs.call(&GraphCall { call, action, capture: Some(3), ..GraphCall::default() });
            graphs.capture(3, &launch(6));
            assert_eq!(graphs.in_doubt, in_doubt);
        }
    }

    #[test]
    fn a_graph_without_a_list_does_what_its_capture_recorded_and_that_is_inferred() {
        let mut graphs = Graphs::default();
        let unread = |id, capture| Graph { id, capture, why: Some("not listed".into()), ..Graph::default() };
        graphs.define(unread(5, Some(3)));
        graphs.define(unread(6, Some(4)));
        let captured = Launch { kernel: Some(1), grid: [1; 3], block: [64, 1, 1], ..Launch::default() };
        (0..2).for_each(|_| graphs.capture(3, &captured));
        [Some(5), Some(5), Some(6), None].iter().for_each(|id| graphs.launch(&launch(*id, 0)));
        let (rows, executed) = found(&graphs);
        let classes: Vec<_> = rows.iter().map(|row| (row.graph, row.evidence, row.executed)).collect();
        assert_eq!(classes[0], (Some(5), Evidence::Inferred, 4));
        assert_eq!(classes[1..], [(None, Evidence::Limited, 0), (Some(6), Evidence::Limited, 0)]);
        assert_eq!(
            rows[0].why.as_deref(),
            Some("not listed; they are those whose launches its capture recorded")
        );
        assert_eq!(executed, BTreeMap::from([(1, 4)]));
    }
}
