//! Kernel launches: those that are events, those that captures recorded, and those that launched graphs made.

use super::SummaryBuilder;
use crate::{
    code_objects::{CodeObjects, is_brought_by},
    evidence::Evidence,
    kernels::Shape,
    nesting::Launches,
    process::{LocalKernel, Process},
};
use rocshim_trace::ggml::Columns;
use rocshim_trace::{GraphLaunch, Hex, Launch};

impl SummaryBuilder {
    pub(super) fn launch(&mut self, process: &mut Process, launch: &Launch) {
        let kernel = match launch.capture {
            None => {
                let succeeded = u64::from(launch.call.status == 0 && !launch.call.unwound);
                self.dispatch(process, (launch.kernel, launch.function), 1, succeeded)
            }
            Some(capture) => {
                self.totals.captured += 1;
                if launch.call.status == 0 {
                    process.graphs.capture(capture, launch);
                }
                let known = launch.kernel.and_then(|id| process.kernels.get(&id));
                known.map_or_else(|| self.unnamed(process, launch.function), |local| local.number)
            }
        };
        if launch.capture.is_none() {
            self.gpu.launched(&mut process.reports, &launch.call);
        }
        self.kernels.count(kernel, launch);
        if let Some(columns) = columns(process, launch.kernel, launch) {
            self.columns.count(kernel, columns, launch);
        }
        let inside = process.nesting.take(&launch.call);
        let launched = Launches::one(launch.capture.is_some());
        process.nesting.hand_up(&launch.call, &inside, Some((kernel, launched)));
        self.event(process, &launch.call);
    }

    /// Counts launches of a kernel (or the handle of an unknown one); gives its number over all processes.
    fn dispatch(
        &mut self,
        process: &mut Process,
        (kernel, function): (Option<u32>, Option<Hex>),
        launches: u64,
        succeeded: u64,
    ) -> usize {
        process.launches += launches;
        let Some(local) = kernel.and_then(|id| process.kernels.get_mut(&id)) else {
            self.totals.unnamed_launches += launches;
            self.totals.unplaced_launches += launches;
            return self.unnamed(process, function);
        };
        match local.code_object {
            Some(object) => self.code_objects.dispatch(object, local.number, !local.launched, launches),
            None => self.totals.unplaced_launches += launches,
        }
        local.launched = true;
        local.dispatched += succeeded;
        local.number
    }

    /// The number of a kernel whose handle was never seen being made.
    fn unnamed(&mut self, process: &Process, function: Option<Hex>) -> usize {
        self.kernels.number(&unnamed(process, function), None)
    }

    pub(super) fn graph_launch(&mut self, process: &mut Process, launch: &GraphLaunch) {
        self.totals.graph_launches += 1;
        process.graphs.launch(launch);
        self.gpu.graph_launched(&mut process.reports, &launch.call);
        self.plain_event(process, &launch.call);
    }

    /// At the end of a file, when every capture has been read: what its graph launches executed.
    pub(super) fn launch_by_graphs(&mut self, process: &mut Process) {
        let graphs = std::mem::take(&mut process.graphs);
        let rows = graphs.rows(process.header.pid, |kernel, launches| {
            self.totals.by_graphs += launches;
            let number = self.dispatch(process, (kernel.kernel, kernel.function), launches, launches);
            self.kernels.count_by_graphs(number, Shape { grid: kernel.grid, block: kernel.block }, launches);
            // A graph's node tells no arguments.
            let launch = Launch { grid: kernel.grid, block: kernel.block, ..Launch::default() };
            if let Some(columns) = columns(process, kernel.kernel, &launch) {
                self.columns.count_by_graphs(number, columns, launches);
            }
        });
        let unlisted = rows.iter().filter(|row| row.evidence == Evidence::Limited);
        self.totals.unlisted_graph_launches += unlisted.map(|row| row.launches - row.failed).sum::<u64>();
        self.totals.launches_in_doubt += graphs.in_doubt;
        self.graphs.extend(rows);
    }
}

/// Launches in a process of kernels of code objects that `library` brings.
pub(super) fn of_library(code_objects: &CodeObjects, process: &Process, library: &str) -> u64 {
    let is_its = |kernel: &&LocalKernel| {
        let object = kernel.code_object.map(|number| code_objects.object(number));
        kernel.dispatched > 0 && object.is_some_and(|object| is_brought_by(object, library))
    };
    process.kernels.values().filter(is_its).map(|kernel| kernel.dispatched).sum()
}

/// How many columns a launch works on, if it is one of ggml's matrix products.
fn columns(process: &Process, kernel: Option<u32>, launch: &Launch) -> Option<Columns> {
    process.kernels.get(&kernel?)?.product.as_ref()?.columns(launch)
}

/// A kernel whose handle was never seen being made.
pub(super) fn unnamed(process: &Process, function: Option<Hex>) -> String {
    format!("unknown kernel {} of process {}", function.unwrap_or_default(), process.header.pid)
}
