//! Reads the nodes of a graph through the runtime's own functions, right after it is instantiated.
//!
//! These functions only read. None of them is forbidden during stream capture, in any mode (clr 5.6
//! to 7.x: no `CHECK_STREAM_CAPTURE…` in them). They follow a successful call of the same thread
//! and succeed, so they leave the last error as that call left it, both where every call sets it
//! (up to ROCm 6) and where only failures do (from 7.0). So no function is called that might fail,
//! and none after a failure.
#![allow(non_upper_case_globals)] // the vendor's names
#![allow(unsafe_code)] // calls functions of the HIP runtime

use crate::abi::hip_graph::*;
use crate::platform::fork;
use crate::platform::objects;
use parking_lot::Mutex;
use rocshim_ring::definition::GraphKernel;
use std::ffi::c_void;
use std::mem::{MaybeUninit, transmute};

/// A node of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// `hipGraphNode_t`.
    pub(crate) handle: u64,
    pub(crate) kind: NodeKind,
    /// A launch of the graph executes it.
    pub(crate) enabled: bool,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Kernel(GraphKernel),
    /// A child graph; the given number of following nodes belong to it.
    Child(usize),
    /// `hipGraphNodeType` of a node of another type.
    Other(u32),
}

impl Node {
    /// Returns `None` for a node that is no kernel, `Some(None)` for a kernel that is disabled.
    pub(crate) fn kernel(&self) -> Option<Option<GraphKernel>> {
        match self.kind {
            NodeKind::Kernel(kernel) => Some(self.enabled.then_some(kernel)),
            _ => None,
        }
    }
}

impl From<&hipKernelNodeParams> for GraphKernel {
    fn from(params: &hipKernelNodeParams) -> GraphKernel {
        let (grid, block) = (params.gridDim.into(), params.blockDim.into());
        GraphKernel { function: params.func as u64, grid, block, lds: params.sharedMemBytes }
    }
}

/// Limit of the number of nodes that are read.
const MAX_NODES: usize = 1 << 16;
/// Limit of the nesting depth of child graphs.
const MAX_DEPTH: usize = 16;

const NO_FUNCTIONS: &str = "not exactly one loaded HIP runtime can list a graph's nodes";
const LIST_FAILED: &str = "the runtime did not list the graph's nodes";
const TOO_MANY_NODES: &str = "it exceeds the limit of nodes or of nesting";

/// Reads the nodes of `graph` in the runtime's order. The nodes of a child graph follow its own.
///
/// # Errors
/// Returns the reason when they cannot be read.
pub(crate) fn read(graph: hipGraph_t) -> Result<Vec<Node>, &'static str> {
    let functions = Functions::get().ok_or(NO_FUNCTIONS)?;
    let mut nodes = Vec::new();
    functions.append(graph, &mut nodes, 0)?;
    Ok(nodes)
}

type GetNodes = unsafe extern "C" fn(hipGraph_t, *mut hipGraphNode_t, *mut usize) -> i32;
type GetType = unsafe extern "C" fn(hipGraphNode_t, *mut hipGraphNodeType) -> i32;
type GetParams = unsafe extern "C" fn(hipGraphNode_t, *mut hipKernelNodeParams) -> i32;
type GetChild = unsafe extern "C" fn(hipGraphNode_t, *mut hipGraph_t) -> i32;

/// The functions of the one loaded runtime. A handle of one copy of the runtime is invalid in
/// another, so none is called when several copies are loaded.
#[derive(Clone, Copy)]
struct Functions {
    nodes: GetNodes,
    kind: GetType,
    params: GetParams,
    child: GetChild,
}

impl Functions {
    /// Returns the functions, looked up again when libraries come or go.
    fn get() -> Option<Functions> {
        static KNOWN: Mutex<(u64, Option<Functions>)> = Mutex::new((0, None));
        let generation = objects::generation();
        let mut known = fork::lock(&KNOWN);
        if known.0 != generation {
            *known = (generation, Functions::find());
        }
        known.1
    }

    fn find() -> Option<Functions> {
        let [nodes, kind, params, child] = [
            runtime_symbol("hipGraphGetNodes")?,
            runtime_symbol("hipGraphNodeGetType")?,
            runtime_symbol("hipGraphKernelNodeGetParams")?,
            runtime_symbol("hipGraphChildGraphNodeGetGraph")?,
        ];
        // SAFETY: `nodes` is libamdhip64's `hipGraphGetNodes`, whose C type in hip_runtime_api.h is
        // `GetNodes`.
        let nodes: GetNodes = unsafe { transmute(nodes) };
        // SAFETY: `kind` is libamdhip64's `hipGraphNodeGetType`, whose C type in hip_runtime_api.h
        // is `GetType`.
        let kind: GetType = unsafe { transmute(kind) };
        // SAFETY: `params` is libamdhip64's `hipGraphKernelNodeGetParams`, whose C type in
        // hip_runtime_api.h is `GetParams`.
        let params: GetParams = unsafe { transmute(params) };
        // SAFETY: `child` is libamdhip64's `hipGraphChildGraphNodeGetGraph`, whose C type in
        // hip_runtime_api.h is `GetChild`.
        let child: GetChild = unsafe { transmute(child) };
        Some(Functions { nodes, kind, params, child })
    }

    fn append(self, graph: hipGraph_t, to: &mut Vec<Node>, depth: usize) -> Result<(), &'static str> {
        let mut count = 0;
        // SAFETY: `graph` is valid: a call has just succeeded with it, or the runtime returned it
        // as a child. A NULL array makes the function store only the number of nodes, in `count`.
        ok(unsafe { (self.nodes)(graph, std::ptr::null_mut(), &mut count) })?;
        if to.len() + count > MAX_NODES || depth > MAX_DEPTH {
            return Err(TOO_MANY_NODES);
        }
        let mut handles = vec![std::ptr::null(); count];
        if count > 0 {
            // SAFETY: `graph` is valid, as the call above has shown, and `handles` has room for
            // `count` handles.
            ok(unsafe { (self.nodes)(graph, handles.as_mut_ptr(), &mut count) })?;
        }
        handles.into_iter().take(count).try_for_each(|node| self.append_node(node, to, depth))
    }

    fn append_node(self, node: hipGraphNode_t, to: &mut Vec<Node>, depth: usize) -> Result<(), &'static str> {
        let mut kind = 0;
        // SAFETY: `node` is a handle that the runtime has just listed, and `kind` receives its
        // type.
        ok(unsafe { (self.kind)(node, &mut kind) })?;
        let contents = match kind {
            hipGraphNodeTypeKernel => NodeKind::Kernel(self.kernel(node)?),
            hipGraphNodeTypeGraph => NodeKind::Child(0),
            kind => NodeKind::Other(kind),
        };
        to.push(Node { handle: node as u64, kind: contents, enabled: true });
        if kind == hipGraphNodeTypeGraph {
            let (at, mut child) = (to.len() - 1, std::ptr::null());
            // SAFETY: `node` is a child graph node, as its type says, and `child` receives its
            // graph.
            ok(unsafe { (self.child)(node, &mut child) })?;
            self.append(child, to, depth + 1)?;
            to[at].kind = NodeKind::Child(to.len() - at - 1);
        }
        Ok(())
    }

    fn kernel(self, node: hipGraphNode_t) -> Result<GraphKernel, &'static str> {
        let mut params = MaybeUninit::zeroed();
        // SAFETY: `node` is a kernel node, as its type says, and `params` has room for its
        // parameters.
        ok(unsafe { (self.params)(node, params.as_mut_ptr()) })?;
        // SAFETY: the memory was zeroed, zero is valid for each field, and the runtime stores valid
        // values.
        Ok(GraphKernel::from(unsafe { params.assume_init_ref() }))
    }
}

fn ok(status: i32) -> Result<(), &'static str> {
    if status == 0 { Ok(()) } else { Err(LIST_FAILED) }
}

/// Returns function `name` of libamdhip64; `None` without one, or when several copies are loaded.
pub(crate) fn runtime_symbol(name: &str) -> Option<*mut c_void> {
    let objects = objects::objects();
    let mut runtimes = objects.iter().filter(|object| object.is("libamdhip64.so"));
    match (runtimes.next(), runtimes.next()) {
        (Some(runtime), None) => objects::symbol(runtime, name),
        _ => None,
    }
}
