//! A killed process in miniature: a control page, a log with a definition of every kind, a ring
//! with an event of every kind. It is made with the shim's own code but without a process, so that
//! a parser can be fed thousands of times a second.
#![allow(unsafe_code)] // the producer end of a ring, and arguments behind pointers

use rocshim_drain::Remains;
pub use rocshim_ring::WhenFull;
use rocshim_ring::arguments::{LaunchWith, Layout};
use rocshim_ring::blas::{Blas, CREATE, Handle};
use rocshim_ring::clock::now;
use rocshim_ring::conv::{Conv, ConvResult};
use rocshim_ring::definition::*;
use rocshim_ring::event::{Gemm, Launch, Load};
use rocshim_ring::hip::{Copy, GraphCall, PEER, Sync};
use rocshim_ring::kernel::{Argument, KernelCode};
use rocshim_ring::mark::{MARK_ACTIONS, Mark};
use rocshim_ring::named::Named;
use rocshim_ring::payload::Payload;
use rocshim_ring::{CHUNK_SLOTS, Control, DEPTH, Folder, Frame as CallFrame, Log, Pool, Producer, Ring};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Bytes of its pool: two chunks.
const MEMORY: u64 = 64 << 10;
/// Header bytes of a log file; the second word is the committed length.
const LOG_HEAD: usize = 64;
/// Stack pointer of the outermost calls.
const STACK: u64 = 0x7fff_0000;

/// The files of a killed process, with a ring in mode `when_full`.
pub fn remains(when_full: WhenFull) -> Remains {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = Folder::create(scratch.path().join("rocshim-dead")).expect("a folder");
    let control = Control::create(Some(&folder)).expect("a control page");
    define_everything(folder.path());
    record_everything(&folder, when_full);
    // Nothing of it is written yet; some calls had no ring.
    control.commit(1, 0);
    control.count_untracked(1);
    control.count_late();
    let read = |name: &str| fs::read(folder.path().join(name)).expect("a file of the folder");
    let mut definitions = read("defs-0");
    let length = u64::from_le_bytes(definitions[8..16].try_into().expect("8 bytes"));
    definitions.truncate(LOG_HEAD + length as usize);
    let mut chunks = read("chunks");
    let used = chunks.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    chunks.truncate(used);
    Remains { control: read("control"), definitions, ring: read("ring-0"), chunks }
}

/// A definition of every kind.
fn define_everything(folder: &Path) {
    let log = Log::new(Some(folder));
    let stream = Stream { handle: 0x51, tid: 0 };
    let kernel = GraphKernel { function: 0xf1, grid: [1, 2, 3], block: [64, 1, 1], lds: 16 };
    let hooks = ["hipModuleLaunchKernel", "hipLaunchKernel_spt", "rocblas_sgemm", "miopenRunSolution"];
    let argument = |offset, size, kind: &'static str| Argument {
        offset,
        size,
        kind: kind.into(),
        name: Some("a".into()),
        type_name: Some("float*".into()),
        value_type: None,
    };
    let code = KernelCode {
        target: Some("gfx1100".into()),
        vgprs: Some(8),
        args: Some(vec![argument(0, 8, "global_buffer"), argument(8, 4, "by_value")]),
        ..KernelCode::default()
    };
    let process = ProcessIdentity {
        rocshim: "0.1.0".into(),
        pid: 7,
        exe: "/bin/p".into(),
        argv: vec!["p".into(), "x".into()],
        env: vec![("HIP_VISIBLE_DEVICES".into(), "0".into())],
        host: "h".into(),
        tsc: true,
        unix_ns: 1_700_000_000_000_000_000,
        trace: "/t/p-7.ndjson".into(),
        rings: "/dev/shm/rocshim-0-7-1-0".into(),
        note: Some("n".into()),
        ..ProcessIdentity::default()
    };
    let image = Image {
        path: Some("/m.co".into()),
        format: "elf".into(),
        bytes: Some(4096),
        hash: Some(1 << 100),
        targets: vec!["gfx1100".into()],
        kernels: Some(2),
    };
    let graph = Graph {
        capture: Some(14),
        kernels: vec![Some(kernel), None],
        others: vec![(1, 2)],
        why: Some("w".into()),
    };
    let definitions = [
        Definition::Process(process),
        Definition::Hooks { hooks: hooks.map(|hook| (hook, "libamdhip64.so", true)).into(), points: 14 },
        Definition::Clock { tick_hz: 1_000_000_000 },
        Definition::Table {
            name: "hip".into(),
            path: "/l/libamdhip64.so.6".into(),
            entries: 400,
            functions: 99,
        },
        Definition::Library { path: "/l/librocblas.so.4".into() },
        Definition::Bypass { path: "/l/x.so".into(), namespace: true },
        Definition::Bound { hook: 0, points: 3, path: Some("/l/libamdhip64.so.6".into()) },
        Definition::FatBinary { handle: 0xb1, path: "/bin/p".into(), offset: 8, ordinal: 0, address: 0x1000 },
        Definition::HostFunction { handle: 0xb1, stub: 0xf1, name: "_Z3addPfi".into() },
        Definition::Module { module: 0xa1, image },
        Definition::Function { function: 0xf2, module: 0xa1, name: "mul_mat_vec_q".into() },
        Definition::SameFunction { function: 0xf3, of: 0xf2 },
        Definition::Code { function: 0xf2, code },
        Definition::Device {
            ordinal: 0,
            gfx: "gfx1100".into(),
            name: "d".into(),
            how: "hipGetDeviceProperties".into(),
        },
        Definition::Capture { stream, mode: 1, tid: 7 },
        Definition::Join { capture: 14, stream: Stream { handle: 0x52, tid: 0 } },
        Definition::Leave { stream: Stream { handle: 0x52, tid: 0 } },
        Definition::EndCapture { capture: 14 },
        Definition::Graph(graph),
        Definition::Exec { exec: 0xe1, graph: Some(18) },
        Definition::ExecNode { exec: 0xe1, index: 0, kernel: Some(kernel) },
        Definition::Solution { handle: 0x501, solver: 5, conv: Some(Box::default()) },
        Definition::SolutionSolver { handle: 0x501, solver: 6 },
        Definition::Setting { handle: 0x4a, setting: STREAM, value: Some(0x51) },
        Definition::StreamId { stream: 0x51, after: 0, id: 1 },
        Definition::KernelId { kernel: 10, id: 1, hook: Some(0) },
        Definition::Recording(false),
        Definition::Recording(true),
        Definition::StreamGone { stream: 0x52 },
        Definition::HandleGone { handle: 0x4b },
        Definition::Unload { module: 0xa2 },
        Definition::Unregister { handle: 0xb2 },
    ];
    for definition in definitions {
        log.define(&StampedDefinition { stamp: now(), definition }).expect("room for a definition");
    }
}

/// An event of every kind, some of them lost, and two calls that had not returned.
fn record_everything(folder: &Folder, when_full: WhenFull) {
    let pool = Arc::new(Pool::create(Some(&folder.pool_path()), MEMORY).expect("ring memory"));
    let ring = Ring::create(Some(&folder.ring_path(0)), 0, 7, when_full, &pool).expect("a ring");
    // SAFETY: `ring` keeps its memory and the pool's until this function ends, and only this thread
    // writes to it.
    let producer = unsafe { Producer::new(ring.page_ptr(), CallFrame::at(STACK)) };
    let launch =
        Launch { function: 0xf2, stream: 0x51, grid: [4, 1, 1], block: [64, 1, 1], ..Launch::default() };
    let (pointer, number) = (0x7f00_dead_beef_u64, 5_u32);
    let layout = Layout::new([(0, 8), (8, 4)]);
    let parameters = [(&raw const pointer).cast::<u8>(), (&raw const number).cast()];
    // SAFETY: `parameters` has a pointer for each argument of the layout, and both outlive the
    // call.
    let with_arguments = unsafe { LaunchWith::new(launch, &layout, parameters.as_ptr(), std::ptr::null()) };
    let matrix = Gemm { size: [8, 4, 2], lds: [8; 4], handle: 0x4a, ..Gemm::default() };
    let all_known = Blas { known: u32::MAX, size: [8, 4, 2], handle: 0x4a, ..Blas::default() };
    let range = Mark { action: 1, level: Some(1), text: Some(b"forward".as_slice()), ..Mark::default() };
    if when_full == WhenFull::Overwrite {
        (0..3 * CHUNK_SLOTS).for_each(|_| call(producer, 0, &launch, 0));
    }
    call(producer, 0, &launch, 0);
    call(producer, 0, &with_arguments, 0);
    call(producer, 0, &Launch { flags: 1, start: 1, ..launch }, 719);
    call(producer, 1, &Sync { action: 1, stream: 0x51, ..Sync::default() }, 0);
    call(producer, 1, &Copy { width: 64, kind: 2, stream: 0x51, ..Copy::default() }, 0);
    call(producer, 1, &Copy { width: 64, kind: PEER, devices: [0, 1], ..Copy::default() }, 0);
    call(producer, 1, &GraphCall { action: 3, graph: 0x61, nodes: 19, ..GraphCall::default() }, 0);
    call(producer, 1, &GraphCall { exec: 0xe1, stream: 0x51, ..GraphCall::default() }, 0);
    call(producer, 1, &Load { module: 0xa1, image: 10, ..Load::default() }, 0);
    call(producer, 2, &range, 1);
    let pop = Mark { action: MARK_ACTIONS.len() as u8 - 1, ..Mark::default() };
    call(producer, 2, &pop, 0);
    call(producer, 2, &Named { count: Some(9), datatype: Some(7), op: Some(0), ..Named::default() }, 0);
    call(producer, 2, &Handle { action: CREATE, handle: 0x4a }, 0);
    call(producer, 2, &all_known, 0);
    let product = producer.enter(2, &matrix).expect("nothing is in the way");
    call(producer.at(CallFrame::at(STACK - 64)), 0, &launch, 0);
    product.leave(now(), 0);
    let found = [ConvResult::default()];
    let convolution = producer.enter(3, &Conv { is_convolution: true, ..Conv::default() });
    let convolution = convolution.expect("nothing is in the way");
    Conv::store_results(1, &found, |index, value| convolution.put(index, value));
    convolution.leave(now(), 0);
    // One that is nested too deep is lost.
    let nested: Vec<_> = (0..=DEPTH as u64)
        .map(|depth| producer.at(CallFrame::at(STACK - 64 * depth)).enter(2, &matrix))
        .collect();
    nested.into_iter().rev().flatten().for_each(|product| product.leave(now(), 0));
    // A GEMM in flight, and a launch inside it.
    std::mem::forget(producer.enter(2, &matrix));
    std::mem::forget(producer.at(CallFrame::at(STACK - 64)).enter(0, &launch));
}

fn call(producer: Producer, hook: u16, payload: &impl Payload, status: i32) {
    producer.enter(hook, payload).expect("nothing is in the way").leave(now(), status);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The definition and event types that a dead process can leave.
    const TYPES: [&str; 29] = [
        "blas",
        "bypass",
        "capture",
        "code_object",
        "conv",
        "copy",
        "device",
        "footer",
        "gap",
        "gemm",
        "graph",
        "graph_call",
        "graph_launch",
        "header",
        "hook",
        "hook_table",
        "in_flight",
        "interception",
        "kernel",
        "launch",
        "library",
        "load",
        "mark",
        "matmul",
        "recording",
        "span",
        "stream",
        "sync",
        "thread",
    ];

    #[test]
    fn every_kind_of_record_comes_out_of_what_a_killed_process_left() {
        for when_full in [WhenFull::Drop, WhenFull::Overwrite] {
            let lines = remains(when_full).lines().expect("remains that are whole");
            let types: BTreeSet<String> = lines.split(|byte| *byte == b'\n').filter_map(type_of).collect();
            assert_eq!(types, BTreeSet::from(TYPES.map(str::to_owned)), "{when_full:?}");
        }
    }

    fn type_of(line: &[u8]) -> Option<String> {
        serde_json::from_slice::<serde_json::Value>(line).ok()?["type"].as_str().map(str::to_owned)
    }
}
