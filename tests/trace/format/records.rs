//! One record of every type and situation with every field set; a new field must be added here.

mod blas;
mod code;

use super::products::{conv, gemm};
use blas::{blas_calls, matmuls};
use code::{code_objects, kernel, launch};
use rocshim_trace::*;
use std::collections::BTreeMap;

/// The type's name in a line. A new type does not compile until it has a row here.
pub(crate) fn name(record: &Record) -> &'static str {
    match record {
        Record::Header(_) => "header",
        Record::Library(_) => "library",
        Record::Binary(_) => "binary",
        Record::Callers(_) => "callers",
        Record::Interception(_) => "interception",
        Record::Bypass(_) => "bypass",
        Record::HookTable(_) => "hook_table",
        Record::Hook(_) => "hook",
        Record::CodeObject(_) => "code_object",
        Record::Device(_) => "device",
        Record::Kernel(_) => "kernel",
        Record::Stream(_) => "stream",
        Record::Launch(_) => "launch",
        Record::Gemm(_) => "gemm",
        Record::Matmul(_) => "matmul",
        Record::Blas(_) => "blas",
        Record::Conv(_) => "conv",
        Record::Span(_) => "span",
        Record::Mark(_) => "mark",
        Record::Load(_) => "load",
        Record::Copy(_) => "copy",
        Record::Sync(_) => "sync",
        Record::Capture(_) => "capture",
        Record::Graph(_) => "graph",
        Record::GraphCall(_) => "graph_call",
        Record::GraphLaunch(_) => "graph_launch",
        Record::GpuTime(_) => "gpu_time",
        Record::GpuKernel(_) => "gpu_kernel",
        Record::Gpu(_) => "gpu",
        Record::Recording(_) => "recording",
        Record::Gap(_) => "gap",
        Record::InFlight(_) => "in_flight",
        Record::Thread(_) => "thread",
        Record::Footer(_) => "footer",
        Record::Unknown => "unknown",
    }
}

pub(crate) fn text<T: for<'a> From<&'a str>>(text: &str) -> Option<T> {
    Some(text.into())
}

pub(crate) fn call(status: i32, unwound: bool) -> Call {
    Call {
        tid: u32::MAX,
        id: 12,
        parent: Some(11),
        t: (1 << 53) - 1,
        dur: 5,
        hook: u16::MAX - 1,
        status,
        unwound,
    }
}

/// The records; together they have every key.
pub(crate) fn every() -> Vec<Record> {
    let launch = launch();
    let in_flight = Launch { call: Call { dur: 0, ..call(0, false) }, ..launch.clone() };
    let mut records = vec![
        Record::Header(header()),
        Record::Library(Library {
            id: 2,
            path: "/a.so.6".into(),
            soname: text("a.so.6"),
            build_id: text("00ff"),
            functions: Some(40),
            hooked: Some(4),
        }),
        Record::Binary(Binary { id: 31, path: "/a.so".into(), build_id: text("00ff") }),
        Record::Callers(CallCallers { id: 12, callers: code::callers("unknown") }),
        Record::Device(Device {
            ordinal: 0,
            gfx: "gfx90a:sramecc+:xnack-".into(),
            name: "AMD".into(),
            how: "hipGetDevicePropertiesR0600".into(),
        }),
        Record::HookTable(HookTable {
            of: "libMIOpen.so".into(),
            first: u16::MAX,
            names: vec!["miopenFindSolutions".into(), "miopenRunSolution".into()],
        }),
        Record::Kernel(kernel().into()),
        Record::Stream(Stream { id: 1, handle: Hex(2) }),
        Record::Launch(launch),
        Record::Launch(Launch { kernel: None, function: Some(Hex(0)), ..in_flight.clone() }),
        Record::Launch(Launch {
            call: Call { hook: OF_KERNEL, ..call(0, false) },
            grid: [1; 3],
            ..in_flight.clone()
        }),
        Record::Load(Load {
            call: call(0, false),
            action: "unload".into(),
            module: Hex(0xa),
            code_object: Some(u32::MAX),
        }),
        Record::InFlight(InFlight { event: Box::new(Record::Launch(in_flight)) }),
        Record::Thread(Thread { tid: 1, produced: u64::MAX, written: 1, lost: u64::MAX - 1 }),
        Record::Footer(footer()),
        Record::Footer(Footer { t: 0, end: "recovered".into(), ..Footer::default() }),
        Record::Footer(Footer { t: 1, end: "snapshot".into(), ..Footer::default() }),
        Record::Recording(Recording { t: 0, state: "stopped".into() }),
        Record::Recording(Recording { t: 1, state: "started".into() }),
    ];
    records.extend(
        ["deepbind", "namespace"].map(|how| Record::Bypass(Bypass { path: "/a.so".into(), how: how.into() })),
    );
    records.extend(points());
    records.extend(
        [("armed", None, None), ("bound", Some(2), None), ("unbound", None, text("no library has it"))]
            .map(hook),
    );
    records.extend(code_objects().map(Record::CodeObject));
    records.extend(copies().map(Record::Copy));
    records.extend(syncs());
    records.extend(graphs());
    records.extend(gpu());
    records.extend(["plain", "batched", "strided_batched", "any_order"].map(gemm));
    records.extend(matmuls());
    records.extend(blas_calls());
    records.extend(
        [
            "find",
            "run",
            "get_solution",
            "compile_solution",
            "immediate",
            "find_solutions",
            "run_solution",
            "compile_plan",
            "execute_plan",
        ]
        .map(conv),
    );
    records.extend(["push", "start", "pause", "name_device"].map(mark));
    records.push(Record::Span(span()));
    records.extend(
        ["ring_full", "no_memory", "disk_full", "disk_error", "disk_cap", "file_limit", "part_removed"]
            .map(|reason| Record::Gap(Gap { tid: 0, t: 1, dur: 2, lost: 3, reason: reason.into() })),
    );
    records
}

fn header() -> Header {
    Header {
        format: FORMAT,
        rocshim: "0.1.0".into(),
        pid: 1,
        ppid: 0,
        start_ticks: 446_676,
        exe: "/usr/bin/program".into(),
        argv: vec!["program".into(), String::new()],
        env: BTreeMap::from([("HIP_VISIBLE_DEVICES".into(), "0".into())]),
        host: "vega".into(),
        clock: "tsc".into(),
        tick_hz: 2_445_423_886,
        epoch: u64::MAX.to_string(),
        rings: String::new(),
        note: text("/out: read-only; the trace is here instead"),
        part: 3,
        oldest: 2,
        after_deletion: true,
    }
}

fn footer() -> Footer {
    Footer {
        t: 1,
        end: "exit".into(),
        calls: vec![(0, 1), (u16::MAX, u64::MAX)],
        late: 3,
        drift_ppm: Some(-0.25),
        collector_ns: 9,
    }
}

fn hook((state, library, why): (&str, Option<u32>, Option<String>)) -> Record {
    let (name, of) = ("hipLaunchKernel".into(), "libamdhip64.so".into());
    Record::Hook(Hook { id: 6, name, of, point: "preload".into(), state: state.into(), library, why })
}

fn points() -> [Record; 2] {
    let closed = Interception { point: "dlsym".into(), state: "closed".into(), ..Interception::default() };
    let table = Interception {
        point: "table".into(),
        state: "open".into(),
        table: text("hip"),
        library: Some(2),
        entries: Some(506),
        functions: Some(0),
    };
    [closed, table].map(Record::Interception)
}

fn copies() -> [Copy; 3] {
    let copy = Copy {
        call: call(1, true),
        action: "copy".into(),
        kind: text("d2h"),
        bytes: Some(u64::MAX),
        dst: Hex(1),
        src: Hex(u64::MAX),
        stream: StreamRef::Id(2),
        is_async: true,
        via: text("symbol"),
        extent: Some([u64::MAX, 2, 3]),
        pitches: Some([0, u64::MAX]),
        capture: Some(0),
        ..Copy::default()
    };
    let peer = Copy { kind: text("peer"), devices: Some([0, u32::MAX]), ..copy.clone() };
    let set = Copy {
        action: "memset".into(),
        kind: None,
        src: Hex(0),
        via: None,
        value: Some(u32::MAX),
        unit: Some(4),
        ..copy.clone()
    };
    [copy, peer, set]
}

fn syncs() -> [Record; 2] {
    let (stream, event, flags) = (StreamRef::Id(1), Hex(2), u32::MAX.into());
    let ordered =
        Sync { call: call(600, true), action: "wait_event".into(), stream, event, flags, capture: Some(7) };
    let waited =
        Sync { action: "device".into(), stream: StreamRef::Default, event: Hex(0), ..ordered.clone() };
    [ordered, waited].map(Record::Sync)
}

fn graphs() -> [Record; 6] {
    let known =
        GraphKernel { kernel: Some(7), function: None, grid: [4, 1, 1], block: [256, 1, 1], lds: u64::MAX };
    let unknown = GraphKernel { kernel: None, function: Some(Hex(0)), lds: 0, ..known.clone() };
    let graph = Graph {
        id: 9,
        capture: Some(8),
        complete: true,
        why: None,
        kernels: vec![known, unknown],
        off: 1,
        others: BTreeMap::from([("memcpy".into(), 2), ("15".into(), u64::MAX)]),
    };
    let unread = Graph { complete: false, why: text("not listed"), kernels: Vec::new(), ..graph.clone() };
    let (source, exec) = (Hex(1), Hex(u64::MAX));
    let instantiated = GraphCall {
        call: call(910, true),
        action: "instantiate".into(),
        stream: StreamRef::Default,
        source,
        exec,
        graph: Some(9),
        capture: Some(8),
    };
    let begun = GraphCall {
        action: "begin_capture".into(),
        stream: StreamRef::Id(2),
        exec: Hex(0),
        graph: None,
        ..instantiated.clone()
    };
    [
        Record::Capture(Capture {
            id: 8,
            t: 1,
            tid: 2,
            stream: StreamRef::Id(2),
            mode: "thread_local".into(),
        }),
        Record::Graph(graph),
        Record::Graph(unread),
        Record::GraphCall(instantiated),
        Record::GraphCall(begun),
        Record::GraphLaunch(GraphLaunch {
            call: call(700, true),
            graph: Some(9),
            exec,
            stream: StreamRef::Id(2),
        }),
    ]
}

fn gpu() -> Vec<Record> {
    let on = GpuTime {
        t: 1,
        state: "on".into(),
        library: 2,
        apis: 449,
        release: text("7.2"),
        shared: true,
        why: None,
    };
    let off = GpuTime { state: "unavailable".into(), release: None, why: text("no"), ..on.clone() };
    let dispatch = Gpu {
        call: Call { dur: 0, ..call(0, false) },
        op: "dispatch".into(),
        command: text("graph"),
        begin: 5,
        busy: 6,
        raw: 7,
        error: 1_000,
        device: 1,
        queue: 2,
        kernel: Some(3),
        bytes: None,
        of: Some((4, 5)),
        place: 6,
        function: None,
        other: 8,
    };
    let past = Gpu { of: None, other: 0, function: text("hipLaunchKernel"), ..dispatch.clone() };
    let copy = Gpu {
        op: "copy".into(),
        command: text("d2h"),
        kernel: None,
        place: 0,
        bytes: Some(u64::MAX),
        ..dispatch.clone()
    };
    let link = Gpu {
        call: dispatch.call.clone(),
        op: "link".into(),
        of: Some((1, 2)),
        other: u64::MAX,
        ..Gpu::default()
    };
    let unread = Gpu { call: dispatch.call.clone(), op: "unread".into(), ..Gpu::default() };
    let reports = [dispatch, past, copy, link, unread].map(Record::Gpu);
    let name = Record::GpuKernel(GpuKernel { id: 3, name: "_Z4scalPff".into() });
    [on, off].map(Record::GpuTime).into_iter().chain([name]).chain(reports).collect()
}

fn span() -> Span {
    Span {
        call: call(801, true),
        count: Some(u64::MAX),
        datatype: text("f8e5m2"),
        op: text("5"),
        peer: Some(-1),
        comm: Hex(1),
        members: Some(u32::MAX),
        member: Some(0),
        group: Hex(2),
        stream: StreamRef::Id(u32::MAX),
        operations: vec!["batch_norm".into()],
        solution_id: Some(1),
        solver: text("Softmax"),
        capture: Some(3),
    }
}

fn mark(action: &str) -> Record {
    let has_text = action != "pause";
    Record::Mark(Mark {
        call: call(-1, true),
        action: action.into(),
        text: text("prefill").filter(|_| has_text),
        cut: has_text,
        level: (action == "push").then_some(i32::MIN),
        value: Hex(if action == "push" { 0 } else { 1 }),
    })
}
