//! Records of device code and its launches, with every field set.

use super::{call, text};
use rocshim_trace::*;

pub(super) fn kernel() -> Kernel {
    let tensile = Tensile {
        kind: "product".into(),
        contraction: text("Cijk_AlikC_Bljk"),
        trans_a: text("C"),
        trans_b: text("N"),
        a: text("f8_fnuz_r"),
        b: text("bf16_r"),
        d: text("f32_c"),
        compute: text("i8x4"),
        batch: text("grouped"),
        tile: Some([128, 64, u32::MAX]),
        instruction: Some(MatrixInstruction { m: 16, n: 16, k: Some(16), blocks: 1 }),
        split: Some(0),
        language: text("source"),
        isa: text("any"),
        extras: vec!["Bias".into()],
    };
    let argument = Argument {
        offset: 8,
        size: u32::MAX,
        kind: "by_value".into(),
        name: text("n"),
        type_name: text("unsigned int"),
    };
    Kernel {
        id: 7,
        name: "_Z1kv".into(),
        demangled: text("k()"),
        hook: Some(6),
        code_object: Some(3),
        tensile: Some(tensile),
        target: text("gfx1100"),
        vgprs: Some(256),
        agprs: Some(0),
        sgprs: Some(18),
        vgpr_spills: Some(1),
        sgpr_spills: Some(2),
        lds: Some(65_536),
        scratch: Some(16),
        wavefront: Some(32),
        kernarg: Some(264),
        max_block: Some(1024),
        args: Some(vec![argument]),
        callers: Some(callers("limit")),
    }
}

pub(super) fn callers(end: &str) -> Callers {
    let python =
        |line: Option<u32>| PythonCaller { file: "/train.py".into(), line, function: "Model.step".into() };
    Callers {
        tid: 4711,
        frames: vec![Caller { binary: 31, at: Hex(0x1234) }],
        end: end.into(),
        python: vec![python(Some(42)), python(None)],
    }
}

pub(super) fn code_objects() -> [CodeObject; 4] {
    let fat_binary = CodeObject {
        id: 3,
        source: "fat_binary".into(),
        path: text("/a.so"),
        ordinal: Some(0),
        offset: Some(4096),
        format: text("bundle"),
        bytes: Some(1),
        targets: vec!["gfx1100".into(), "gfx90a:sramecc+:xnack-".into(), "gfx9-4-generic".into()],
        kernels: Some(8),
        ..CodeObject::default()
    };
    let elsewhere = CodeObject { ordinal: None, offset: None, targets: Vec::new(), ..fat_binary.clone() };
    let fallback = Some(false);
    let file = CodeObject { source: "file".into(), format: None, bytes: None, fallback, ..elsewhere.clone() };
    let xxh3 = text("44bff63a869e989ba633ea7ca540c681");
    let memory =
        CodeObject { source: "memory".into(), path: None, xxh3, format: text("opaque"), ..elsewhere };
    let unmatched = CodeObject { unmatched: text("no file has its size"), ..memory.clone() };
    let matched = CodeObject { file: text("/a_fallback_gfx900.hsaco"), fallback: Some(true), ..memory };
    [fat_binary, file, matched, unmatched]
}

pub(super) fn launch() -> Launch {
    Launch {
        call: call(-9, true),
        kernel: Some(7),
        function: None,
        grid: [4, 1, u32::MAX],
        block: [256, 1, 1],
        items: Some([1024, 1, u32::MAX]),
        lds: u64::MAX,
        stream: StreamRef::Id(u32::MAX),
        events: Some([Hex(0), Hex(0x10)]),
        flags: 1,
        cooperative: true,
        capture: Some(u32::MAX),
        args: vec![
            Arg::Integer(-7),
            Arg::Float(0.5),
            Arg::Float(f64::INFINITY),
            Arg::Hex(Hex(0)),
            Arg::Bytes([0, 255].into()),
        ],
        args_cut: 2,
        args_raw: "00ff".into(),
    }
}
