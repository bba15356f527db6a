//! Changes of an instantiated graph's nodes. A definition is emitted only when another kernel or
//! another shape will be executed, not for the common case, changed arguments.
#![allow(unsafe_code)] // reads the parameters of calls that have just succeeded

use crate::abi::hip::hipError_t;
use crate::abi::hip_graph::*;
use crate::hook::Intercept;
use crate::lifecycle::guarded;
use crate::state::graph_nodes;
use crate::state::graphs::{Emit, Graphs};
use rocshim_ring::CallGuard;
use rocshim_ring::definition::GraphKernel;

/// A change of a node of an instantiated graph.
pub(crate) struct ChangeNode {
    pub(crate) exec: hipGraphExec_t,
    pub(crate) node: hipGraphNode_t,
    pub(crate) change: Change,
}

/// The change.
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

impl Intercept<hipError_t> for ChangeNode {
    const STATE_ONLY: bool = true;

    fn finish(self, _span: Option<CallGuard>, returned: u64, status: hipError_t) {
        if status != 0 {
            return;
        }
        let (exec, node) = (self.exec as u64, self.node as u64);
        guarded(|process| match self.change {
            // Read before our lock is taken, because the runtime takes locks of its own.
            Change::Child(graph) => {
                let nodes = graph_nodes::read(graph);
                process.emit_graphs(returned, |graphs, emit| graphs.set_child(exec, node, nodes, emit));
            }
            change => process.emit_graphs(returned, |graphs, emit| apply(change, graphs, [exec, node], emit)),
        });
    }
}

fn apply(change: Change, graphs: &mut Graphs, [exec, node]: [u64; 2], emit: Emit) {
    let kernel = match change {
        Change::Enabled(enabled) => return graphs.enable(exec, node, enabled, emit),
        // SAFETY: `params` is NULL or what the program passed to the call, which has read it
        // successfully.
        Change::Kernel(params) => unsafe { params.as_ref() },
        // SAFETY: `params` is NULL or what the program passed to the call, which has read it
        // successfully. Every byte pattern of the union is a valid `kernel`.
        Change::Any(params) => unsafe { params.as_ref() }
            .filter(|params| params.r#type == hipGraphNodeTypeKernel)
            .map(|params| &params.kernel),
        Change::Child(_) => None,
    };
    if let Some(kernel) = kernel {
        graphs.set_kernel(exec, node, GraphKernel::from(kernel), emit);
    }
}
