//! Converts HIP calls other than launches, and graphs, to records.

use crate::captures::Begun;
use crate::values::{capture_mode, copy_kind, node_kind};
use rocshim_ring::definition;
use rocshim_ring::hip::{self, ARRAY, GRAPH_ACTIONS, MEMSET, SYMBOL, SYNC_ACTIONS};
use rocshim_trace::*;
use std::collections::BTreeMap;

pub(crate) fn copy(call: Call, raw: &hip::Copy, stream: StreamRef, capture: Option<u32>) -> Record {
    let (set, several) = (raw.what == MEMSET, raw.height != 0);
    let rows = if several { raw.height.saturating_mul(raw.depth.max(1)) } else { 1 };
    let bytes = raw.width.saturating_mul(rows).saturating_mul(raw.unit.max(1).into());
    // The element size of an array is not in the call.
    let in_elements = raw.via == ARRAY && raw.depth != 0;
    Record::Copy(Copy {
        call,
        action: if set { "memset" } else { "copy" }.into(),
        kind: (!set).then(|| copy_kind(raw.kind)).flatten().map(Into::into),
        bytes: (!in_elements && raw.via != hip::UNREAD).then_some(bytes),
        dst: Hex(raw.dst),
        src: Hex(if set { 0 } else { raw.src }),
        stream,
        is_async: raw.is_async,
        via: [(SYMBOL, "symbol"), (ARRAY, "array")]
            .into_iter()
            .find(|via| via.0 == raw.via)
            .map(|via| via.1.into()),
        value: set.then_some(raw.src as u32 & u32::MAX >> (32 - 8 * u32::from(raw.unit.clamp(1, 4)))),
        unit: (raw.unit > 1).then_some(raw.unit),
        extent: several.then_some([raw.width, raw.height, raw.depth.max(1)]),
        pitches: several.then_some(raw.pitches),
        devices: (raw.kind == hip::PEER).then_some(raw.devices),
        capture,
    })
}

pub(crate) fn sync(call: Call, raw: &hip::Sync, stream: StreamRef, capture: Option<u32>) -> Record {
    let action = SYNC_ACTIONS.get(raw.action as usize).copied().unwrap_or("unknown").into();
    let (event, flags) = (Hex(raw.event), raw.flags.into());
    Record::Sync(Sync { call, action, stream, event, flags, capture })
}

pub(crate) fn capture(id: u32, t: u64, begun: &Begun, stream: StreamRef) -> Record {
    let mode = capture_mode(begun.mode.into()).into();
    Record::Capture(Capture { id, t, tid: begun.tid, stream, mode })
}

/// The record of a graph call; `graph` is the graph's id in the trace.
pub(crate) fn graph_call(call: Call, raw: &hip::GraphCall, stream: StreamRef, graph: Option<u32>) -> Record {
    let exec = Hex(raw.exec);
    match GRAPH_ACTIONS.get(raw.action as usize).copied().unwrap_or("unknown") {
        "launch" => Record::GraphLaunch(GraphLaunch { call, graph, exec, stream }),
        action => {
            let capture = raw.capture.checked_sub(1);
            Record::GraphCall(GraphCall {
                call,
                action: action.into(),
                stream,
                source: Hex(raw.graph),
                exec,
                graph,
                capture,
            })
        }
    }
}

/// A graph record without kernels and id.
pub(crate) fn graph(raw: &definition::Graph) -> Graph {
    let mut others = BTreeMap::new();
    for (kind, count) in &raw.others {
        *others.entry(node_kind(*kind).into_owned()).or_default() += u64::from(*count);
    }
    let off = raw.kernels.iter().filter(|kernel| kernel.is_none()).count() as u64;
    let why = raw.why.as_ref().map(|why| why.to_string());
    Graph { id: 0, capture: raw.capture, complete: why.is_none(), why, kernels: Vec::new(), off, others }
}

/// A kernel of a graph; `kernel` is the kernel's id in the trace.
pub(crate) fn graph_kernel(raw: &definition::GraphKernel, kernel: Option<u32>) -> GraphKernel {
    let function = kernel.is_none().then_some(Hex(raw.function));
    GraphKernel { kernel, function, grid: raw.grid, block: raw.block, lds: raw.lds.into() }
}
