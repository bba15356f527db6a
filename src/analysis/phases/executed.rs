//! Determines what a graph launch executes, with the arguments that its capture recorded.

use super::{
    kernels::{Registry, pointer},
    pass::{Launches, Range},
};
use crate::session::{FunctionId, Session};
use foldhash::HashMap;
use rocshim_trace::{
    Graph, Launch,
    ggml::{Columns, MatMul},
};

/// What one launch of a graph executes.
#[derive(Clone, Debug, Default)]
pub(super) struct Executed {
    pub(super) kernels: Vec<(usize, Launches)>,
    /// Library calls whose launches the capture recorded.
    pub(super) functions: HashMap<FunctionId, u64>,
    /// Columns and weights of its GEMMs, in order.
    pub(super) products: Vec<(Option<Range>, Option<u64>)>,
    /// Number of GEMMs with unknown columns.
    pub(super) opaque: u64,
    /// True when all its kernels are known.
    pub(super) listed: bool,
    /// During capture: the source of dequantised weights, by their address.
    dequantised: HashMap<u64, u64>,
}

/// Captures and graphs of the process being read.
#[derive(Default)]
pub(super) struct Graphs {
    graphs: HashMap<u32, Executed>,
    captures: HashMap<u32, Executed>,
}

impl Graphs {
    /// Returns what a launch of a graph executes.
    pub(super) fn get(&self, graph: Option<u32>) -> Option<&Executed> {
        self.graphs.get(&graph?)
    }

    /// Adds a launch that capture `id` records.
    pub(super) fn capture(&mut self, names: &Registry, session: &Session, id: u32, launch: &Launch) {
        let Some(kernel) = names.of(session, launch.kernel) else { return };
        let recorded = self.captures.entry(id).or_default();
        recorded.count(kernel.roles.number);
        recorded.opaque += u64::from(kernel.is_opaque(launch));
        if let Some(product) = kernel.product {
            recorded.products.push((columns(product, launch), pointer(launch, 0)));
        }
        if let (true, Some(from), Some(to)) =
            (kernel.roles.is_dequantise, pointer(launch, 0), pointer(launch, 1))
        {
            recorded.dequantised.insert(to, from);
        }
    }

    /// Adds a library call whose launches capture `id` records; `product` are the columns and the
    /// weights of the GEMM that it computes, if any.
    pub(super) fn capture_call(
        &mut self,
        id: u32,
        function: Option<FunctionId>,
        product: Option<(i64, u64)>,
    ) {
        let recorded = self.captures.entry(id).or_default();
        function.into_iter().for_each(|function| *recorded.functions.entry(function).or_default() += 1);
        if let Some((n, a)) = product {
            // Memory for dequantised weights is reused by the next GEMM.
            let weights = recorded.dequantised.remove(&a).unwrap_or(a);
            recorded.dequantised.clear();
            recorded.products.push((exactly(n), Some(weights)));
        }
    }

    /// Returns what a graph executes: by its node list, else by what its capture recorded. A node
    /// list has neither arguments nor library calls; the capture has them, if it recorded the same
    /// kernels.
    pub(super) fn graph(&mut self, names: &Registry, session: &Session, graph: &Graph) {
        let captured = graph.capture.and_then(|capture| self.captures.get(&capture));
        let mut executed = Executed { listed: graph.complete, ..Executed::default() };
        for node in &graph.kernels {
            let Some(kernel) = names.of(session, node.kernel) else {
                executed.listed = false;
                continue;
            };
            executed.count(kernel.roles.number);
            let launch = Launch { grid: node.grid, block: node.block, ..Launch::default() };
            executed.opaque += u64::from(kernel.is_opaque(&launch));
            if let Some(product) = kernel.product {
                executed.products.push((columns(product, &launch), None));
            }
        }
        match captured {
            Some(captured) if !graph.complete => executed = Executed { listed: true, ..captured.clone() },
            Some(captured) if captured.has_kernels_of(&executed) => {
                executed = Executed { listed: executed.listed, ..captured.clone() };
            }
            _ => {}
        }
        self.graphs.insert(graph.id, executed);
    }
}

impl Executed {
    fn count(&mut self, kernel: usize) {
        match self.kernels.iter_mut().find(|(known, _)| *known == kernel) {
            Some((_, launches)) => launches.by_graphs += 1,
            None => self.kernels.push((kernel, Launches { direct: 0, by_graphs: 1 })),
        }
    }

    fn has_kernels_of(&self, other: &Executed) -> bool {
        let sorted = |executed: &Executed| {
            let mut kernels = executed.kernels.clone();
            kernels.sort_by_key(|(kernel, _)| *kernel);
            kernels
        };
        sorted(self) == sorted(other)
    }

    /// Returns the weights of its first GEMM.
    pub(super) fn first_weights(&self) -> Option<u64> {
        self.products.first().and_then(|(_, weights)| *weights)
    }
}

/// Returns an exact number of columns.
pub(super) fn exactly(n: i64) -> Option<Range> {
    u64::try_from(n).ok().map(|n| Range { least: n, most: n })
}

/// Returns the columns of a GEMM launch, without sums over experts.
pub(super) fn columns(product: &MatMul, launch: &Launch) -> Option<Range> {
    product.columns(launch).filter(|columns| !columns.of_all_experts()).map(|columns: Columns| columns.into())
}
