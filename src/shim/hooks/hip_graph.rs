//! Rows of libamdhip64: captures and graphs. Signatures as in hip_runtime_api.h (ROCm 5.2 to 7.x).
//!
//! Order: captures, instantiation, launches, changes, destruction. Functions that add nodes have no
//! rows: a graph's nodes are read when it is instantiated.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;
use crate::abi::hip::*;
use crate::abi::hip_graph::*;
use crate::calls::graph::{
    BeginCapture, CloneGraph, DestroyExec, DestroyGraph, EndCapture, Instantiate, On, Update, launch_graph,
};
use crate::calls::graph_change::{Change, ChangeNode};
use std::ptr::null;

hooks! { "libamdhip64.so", from super::first::hip_graph;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t
        => BeginCapture { on: On(stream, false), mode, graph: null() };
    fn hipStreamBeginCapture_spt(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t
        => BeginCapture { on: On(stream, true), mode, graph: null() };
    fn hipStreamBeginCaptureToGraph(stream: hipStream_t, graph: hipGraph_t, dependencies: Pointer, dependencyData: Pointer, numDependencies: usize, mode: hipStreamCaptureMode) -> hipError_t
        => BeginCapture { on: On(stream, false), mode, graph };
    fn hipStreamEndCapture(stream: hipStream_t, pGraph: *mut hipGraph_t) -> hipError_t
        => EndCapture { on: On(stream, false), graph: pGraph };
    fn hipStreamEndCapture_spt(stream: hipStream_t, pGraph: *mut hipGraph_t) -> hipError_t
        => EndCapture { on: On(stream, true), graph: pGraph };

    fn hipGraphInstantiate(pGraphExec: *mut hipGraphExec_t, graph: hipGraph_t, pErrorNode: Pointer, pLogBuffer: Pointer, bufferSize: usize) -> hipError_t
        => Instantiate { exec: pGraphExec, graph };
    fn hipGraphInstantiateWithFlags(pGraphExec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t
        => Instantiate { exec: pGraphExec, graph };
    fn hipGraphInstantiateWithParams(pGraphExec: *mut hipGraphExec_t, graph: hipGraph_t, instantiateParams: Pointer) -> hipError_t
        => Instantiate { exec: pGraphExec, graph };
    fn hipGraphExecUpdate(hGraphExec: hipGraphExec_t, hGraph: hipGraph_t, hErrorNode_out: Pointer, updateResult_out: *mut u32) -> hipError_t
        => Update { exec: hGraphExec, graph: hGraph, result: updateResult_out };

    fn hipGraphLaunch(graphExec: hipGraphExec_t, stream: hipStream_t) -> hipError_t
        => launch_graph(graphExec, stream);
    fn hipGraphLaunch_spt(graphExec: hipGraphExec_t, stream: hipStream_t) -> hipError_t
        => launch_graph(graphExec, stream);

    fn hipGraphExecKernelNodeSetParams(hGraphExec: hipGraphExec_t, node: hipGraphNode_t, pNodeParams: *const hipKernelNodeParams) -> hipError_t
        => ChangeNode { exec: hGraphExec, node, change: Change::Kernel(pNodeParams) };
    fn hipGraphExecNodeSetParams(graphExec: hipGraphExec_t, node: hipGraphNode_t, nodeParams: *const hipGraphNodeParams) -> hipError_t
        => ChangeNode { exec: graphExec, node, change: Change::Any(nodeParams) };
    fn hipGraphExecChildGraphNodeSetParams(hGraphExec: hipGraphExec_t, node: hipGraphNode_t, childGraph: hipGraph_t) -> hipError_t
        => ChangeNode { exec: hGraphExec, node, change: Change::Child(childGraph) };
    fn hipGraphNodeSetEnabled(hGraphExec: hipGraphExec_t, hNode: hipGraphNode_t, isEnabled: u32) -> hipError_t
        => ChangeNode { exec: hGraphExec, node: hNode, change: Change::Enabled(isEnabled != 0) };

    fn hipGraphClone(pGraphClone: *mut hipGraph_t, originalGraph: hipGraph_t) -> hipError_t
        => CloneGraph { clone: pGraphClone, graph: originalGraph };
    fn hipGraphExecDestroy(graphExec: hipGraphExec_t) -> hipError_t
        => DestroyExec::before_call(graphExec);
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t
        => DestroyGraph::before_call(graph);
}
