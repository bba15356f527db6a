//! What a graph holds, read through the runtime's own functions when it has just been instantiated.
//!
//! They look at a graph that is there and change nothing. None of them is among the calls that a capture forbids, in
//! whichever mode (clr 5.6 to 7.x: no `CHECK_STREAM_CAPTURE…` in them). They follow a call that succeeded, of the same
//! thread, and succeed: the last error is then as that call left it, both where every call sets it (up to ROCm 6) and
//! where only failures do (from 7.0). So nothing is asked that could fail, and nothing after something did.
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
    pub(crate) what: What,
    /// A launch of the graph executes it.
    pub(crate) enabled: bool,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Kernel(GraphKernel),
    /// A child graph; so many nodes that follow are its own.
    Child(usize),
    /// `hipGraphNodeType` of a node of another kind.
    Other(u32),
}

impl Node {
    /// The kernel, `None` in its place where it is switched off; `None` for other nodes.
    pub(crate) fn kernel(&self) -> Option<Option<GraphKernel>> {
        match self.what {
            What::Kernel(kernel) => Some(self.enabled.then_some(kernel)),
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

/// More nodes than this are not read.
const MOST: usize = 1 << 16;
/// Graphs within graphs deeper than this are not read.
const DEEPEST: usize = 16;

const NO_FUNCTION: &str = "no runtime, or more than one, has functions that list a graph's nodes";
const REFUSED: &str = "the runtime did not list the graph's nodes";
const TOO_MANY: &str = "it has more nodes than are read";

/// The nodes of `graph`, in the order in which the runtime lists them, those of child graphs after their own.
///
/// # Errors
/// Why they could not be read.
pub(crate) fn read(graph: hipGraph_t) -> Result<Vec<Node>, &'static str> {
    let functions = Functions::get().ok_or(NO_FUNCTION)?;
    let mut nodes = Vec::new();
    functions.append(graph, &mut nodes, 0)?;
    Ok(nodes)
}

type GetNodes = unsafe extern "C" fn(hipGraph_t, *mut hipGraphNode_t, *mut usize) -> i32;
type GetType = unsafe extern "C" fn(hipGraphNode_t, *mut hipGraphNodeType) -> i32;
type GetParams = unsafe extern "C" fn(hipGraphNode_t, *mut hipKernelNodeParams) -> i32;
type GetChild = unsafe extern "C" fn(hipGraphNode_t, *mut hipGraph_t) -> i32;

/// The one runtime's functions. A handle of one copy of the runtime means nothing to another: where several are loaded,
/// none is asked.
#[derive(Clone, Copy)]
struct Functions {
    nodes: GetNodes,
    kind: GetType,
    params: GetParams,
    child: GetChild,
}

impl Functions {
    /// As they were found when libraries were last seen coming or going.
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
            of_the_one_runtime("hipGraphGetNodes")?,
            of_the_one_runtime("hipGraphNodeGetType")?,
            of_the_one_runtime("hipGraphKernelNodeGetParams")?,
            of_the_one_runtime("hipGraphChildGraphNodeGetGraph")?,
        ];
        // SAFETY: HIP's function of this name, whose type hip_runtime_api.h states.
        let nodes: GetNodes = unsafe { transmute(nodes) };
        // SAFETY: as above.
        let kind: GetType = unsafe { transmute(kind) };
        // SAFETY: as above.
        let params: GetParams = unsafe { transmute(params) };
        // SAFETY: as above.
        let child: GetChild = unsafe { transmute(child) };
        Some(Functions { nodes, kind, params, child })
    }

    fn append(self, graph: hipGraph_t, to: &mut Vec<Node>, depth: usize) -> Result<(), &'static str> {
        let mut count = 0;
        // SAFETY: a graph that a call has just succeeded with, or a child of one; NULL asks for their number.
        ok(unsafe { (self.nodes)(graph, std::ptr::null_mut(), &mut count) })?;
        if to.len() + count > MOST || depth > DEEPEST {
            return Err(TOO_MANY);
        }
        let mut handles = vec![std::ptr::null(); count];
        if count > 0 {
            // SAFETY: there is room for `count` of them.
            ok(unsafe { (self.nodes)(graph, handles.as_mut_ptr(), &mut count) })?;
        }
        handles.into_iter().take(count).try_for_each(|node| self.append_node(node, to, depth))
    }

    fn append_node(self, node: hipGraphNode_t, to: &mut Vec<Node>, depth: usize) -> Result<(), &'static str> {
        let mut kind = 0;
        // SAFETY: a node that the runtime has just listed.
        ok(unsafe { (self.kind)(node, &mut kind) })?;
        let what = match kind {
            hipGraphNodeTypeKernel => What::Kernel(self.kernel(node)?),
            hipGraphNodeTypeGraph => What::Child(0),
            kind => What::Other(kind),
        };
        to.push(Node { handle: node as u64, what, enabled: true });
        if kind == hipGraphNodeTypeGraph {
            let (at, mut child) = (to.len() - 1, std::ptr::null());
            // SAFETY: a node that holds a graph.
            ok(unsafe { (self.child)(node, &mut child) })?;
            self.append(child, to, depth + 1)?;
            to[at].what = What::Child(to.len() - at - 1);
        }
        Ok(())
    }

    fn kernel(self, node: hipGraphNode_t) -> Result<GraphKernel, &'static str> {
        let mut params = MaybeUninit::zeroed();
        // SAFETY: a node that holds a kernel, and a place for its parameters.
        ok(unsafe { (self.params)(node, params.as_mut_ptr()) })?;
        // SAFETY: zeros and NULLs are values of its fields, and so is what the runtime has stored.
        Ok(GraphKernel::from(unsafe { params.assume_init_ref() }))
    }
}

fn ok(status: i32) -> Result<(), &'static str> {
    if status == 0 { Ok(()) } else { Err(REFUSED) }
}

/// The function `name` of libamdhip64; `None` where it has none, or several copies of it are loaded.
pub(crate) fn of_the_one_runtime(name: &str) -> Option<*mut c_void> {
    let objects = objects::objects();
    let mut runtimes = objects.iter().filter(|object| object.is("libamdhip64.so"));
    match (runtimes.next(), runtimes.next()) {
        (Some(runtime), None) => objects::symbol(runtime, name),
        _ => None,
    }
}
