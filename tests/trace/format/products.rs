//! A record of each form of GEMM and of each kind of convolution call, with every key that it can
//! have.

use super::records::{call, text};
use rocshim_trace::*;

pub(crate) fn gemm(form: &str) -> Record {
    let stride = (form == "strided_batched").then_some(i64::MIN);
    let row_stride = (form == "any_order").then_some(1);
    let matrix = |element: &str| Matrix { ptr: Hex(0), element: element.into(), ld: -1, stride, row_stride };
    Record::Gemm(Box::new(Gemm {
        call: call(4, true),
        form: form.into(),
        handle: Hex(1),
        trans_a: "N".into(),
        trans_b: "4000000000".into(),
        m: -1,
        n: i64::MAX,
        k: 0,
        batch: 1,
        a: matrix("f16_r"),
        b: matrix("f8_e4m3_fnuz"),
        c: matrix("77"),
        d: matrix("invalid"),
        alpha: Hex(2),
        beta: Hex(3),
        compute: "32f_fast_16f".into(),
        algo: "solution_index".into(),
        solution: i32::MIN,
        flags: 1,
        stream: Some(StreamRef::Default),
        pointer_mode: text("device"),
        atomics: text("not_allowed"),
        math_mode: text("xf32_xdl"),
        metric: text("device_efficiency"),
        capture: Some(3),
    }))
}

pub(crate) fn conv(action: &str) -> Record {
    let tensor = |element: &str| Tensor {
        element: element.into(),
        dims: vec![1, 16, 8, 8],
        strides: vec![1024, 64, 8, 1],
    };
    let (is_run, is_find, is_listing) =
        (action == "run", action == "find", ["find", "get_solution", "find_solutions"].contains(&action));
    let (id, solver) = (Some(91), text("GemmFwdRest"));
    let has_id = ["compile_solution", "immediate", "run_solution"].contains(&action);
    let of_handle = ["find_solutions", "run_solution", "compile_plan", "execute_plan"].contains(&action);
    let has_workspace = ["find", "run", "immediate", "run_solution"].contains(&action);
    let result = ConvResult {
        algorithm: "gemm".into(),
        time_ms: Some(-1.5),
        workspace: 0,
        solution_id: id.filter(|_| !is_find),
        solver: solver.clone().filter(|_| !is_find),
    };
    Record::Conv(Box::new(Conv {
        call: call(3, true),
        action: action.into(),
        direction: "backward_weights".into(),
        x: Some(tensor("f32")),
        w: Some(tensor("i8x4")),
        y: Some(tensor("12")),
        pads: vec![0, 0],
        strides: vec![1, 1],
        dilations: Vec::new(),
        groups: 0,
        mode: "convolution".into(),
        operations: vec!["convolution".into(), "bias".into()],
        stream: StreamRef::Id(u32::MAX),
        subject: Hex(of_handle.into()),
        algorithm: is_run.then(|| "implicit_gemm".into()),
        solution_id: id.filter(|_| has_id),
        solver: solver.filter(|_| has_id),
        exhaustive: is_find,
        workspace: has_workspace.into(),
        returned: if is_listing { 9 } else { 0 },
        results: if is_listing { vec![result; 8] } else { Vec::new() },
        capture: Some(3),
    }))
}
