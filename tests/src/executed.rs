//! The launches that a trace says were executed, for comparison with the log of the device or of a
//! stand-in.

use crate::Trace;
use rocshim_trace::{Graph, Hex};
use std::collections::{BTreeMap, HashMap};

/// Launch counts by kernel, grid in work-items, block.
pub type Counted = BTreeMap<(String, [u32; 3], [u32; 3]), u64>;

/// Every launch that was executed: direct ones that succeeded and were not captured, and for each
/// successful graph launch the kernels of its graph.
///
/// # Panics
/// If a kernel has no name, or the kernels of a launched graph are not all known.
#[track_caller]
pub fn executed(trace: &Trace) -> Counted {
    let mut counted = direct(trace);
    for (key, times) in by_graphs(trace) {
        *counted.entry(key).or_default() += times;
    }
    counted
}

/// The direct launches of [`executed`].
///
/// # Panics
/// As [`executed`].
#[track_caller]
pub fn direct(trace: &Trace) -> Counted {
    let names = trace.kernel_names();
    let mut counted = Counted::new();
    for launch in trace.launches().filter(|launch| launch.call.status == 0 && launch.capture.is_none()) {
        let items = launch.items.unwrap_or(std::array::from_fn(|i| launch.grid[i] * launch.block[i]));
        let name = name(&names, launch.kernel, launch.function);
        *counted.entry((name, items, launch.block)).or_default() += 1;
    }
    counted
}

/// The launches of [`executed`] that come from graph launches.
///
/// # Panics
/// As [`executed`].
#[track_caller]
pub fn by_graphs(trace: &Trace) -> Counted {
    let names = trace.kernel_names();
    let graphs: HashMap<u32, &Graph> = trace.graphs().map(|graph| (graph.id, graph)).collect();
    let mut counted = Counted::new();
    for launch in trace.graph_launches().filter(|launch| launch.call.status == 0) {
        let id = launch.graph.unwrap_or_else(|| panic!("a launch of an unknown graph: {launch:?}"));
        let graph = graphs.get(&id).unwrap_or_else(|| panic!("graph {id} was never defined"));
        assert!(graph.complete, "{graph:?}");
        for kernel in &graph.kernels {
            let items = std::array::from_fn(|i| kernel.grid[i] * kernel.block[i]);
            let name = name(&names, kernel.kernel, kernel.function);
            *counted.entry((name, items, kernel.block)).or_default() += 1;
        }
    }
    counted
}

#[track_caller]
fn name(names: &HashMap<u32, &str>, kernel: Option<u32>, function: Option<Hex>) -> String {
    let id = kernel.unwrap_or_else(|| panic!("a launch without a kernel: {function:?}"));
    names.get(&id).unwrap_or_else(|| panic!("kernel {id} was never defined")).to_string()
}
