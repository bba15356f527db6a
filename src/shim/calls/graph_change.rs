//! Nodes of instantiated graphs being changed: told only when another kernel, in another shape, is executed. Changed
//! arguments, the common case, are not.
#![allow(unsafe_code)] // reads the parameters of calls that have just succeeded

use crate::abi::hip::hipError_t;
use crate::abi::hip_graph::*;
use crate::hook::Observed;
use crate::lifecycle::guarded;
use crate::state::graph_nodes;
use crate::state::graphs::{Graphs, Tell};
use rocshim_ring::CallGuard;
use rocshim_ring::definition::GraphKernel;

/// A node of an instantiated graph is changed.
pub(crate) struct ChangeNode {
    pub(crate) exec: hipGraphExec_t,
    pub(crate) node: hipGraphNode_t,
    pub(crate) change: Change,
}

/// What is changed.
pub(crate) enum Change {
    /// `hipGraphExecKernelNodeSetParams`.
    Kernel(*const hipKernelNodeParams),
    /// `hipGraphExecNodeSetParams`.
    Any(*const hipGraphNodeParams),
    /// `hipGraphExecChildGraphNodeSetParams`.
    Child(hipGraph_t),
    /// `hipGraphNodeSetEnabled`.
    Enabled(bool),
}

impl Observed<hipError_t> for ChangeNode {
    const SILENT: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status != 0 {
            return;
        }
        let (exec, node) = (self.exec as u64, self.node as u64);
        guarded(|process| match self.change {
            // Before the lock: the runtime has locks of its own.
            Change::Child(graph) => {
                let nodes = graph_nodes::read(graph);
                process.tell_graphs(returned, |graphs, tell| graphs.set_child(exec, node, nodes, tell));
            }
            change => process.tell_graphs(returned, |graphs, tell| apply(change, graphs, [exec, node], tell)),
        });
    }
}

fn apply(change: Change, graphs: &mut Graphs, [exec, node]: [u64; 2], tell: Tell) {
    let kernel = match change {
        Change::Enabled(enabled) => return graphs.enable(exec, node, enabled, tell),
        // SAFETY: the call succeeded, so it has read these parameters.
        Change::Kernel(params) => unsafe { params.as_ref() },
        // SAFETY: as above; the kernel is a part of them, whatever its bytes stand for.
        Change::Any(params) => unsafe { params.as_ref() }
            .filter(|params| params.r#type == hipGraphNodeTypeKernel)
            .map(|params| &params.kernel),
        Change::Child(_) => None,
    };
    if let Some(kernel) = kernel {
        graphs.set_kernel(exec, node, GraphKernel::from(kernel), tell);
    }
}
