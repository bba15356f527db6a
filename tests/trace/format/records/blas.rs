//! Records of BLAS calls, with every field set.

use super::{call, text};
use rocshim_trace::*;

const ACTIONS: [&str; 8] =
    ["create", "destroy", "initialize", "solutions", "heuristic", "transform", "problem", "prepare"];

/// By handle, with everything and with nothing known; by object.
pub(super) fn matmuls() -> [Record; 3] {
    let whole = Matmul {
        call: call(7, true),
        handle: Some(Hex(1)),
        problem: problem(),
        algo: Some(-1),
        workspace: 1,
        stream: StreamRef::Id(2),
        capture: Some(3),
        ..Matmul::default()
    };
    let unknown = Matmul { problem: Problem::default(), algo: None, workspace: 0, ..whole.clone() };
    let instance = Some(Hex(3));
    [whole, Matmul { handle: None, instance, ..unknown.clone() }, unknown].map(Box::new).map(Record::Matmul)
}

/// A problem with every field known.
fn problem() -> Problem {
    let matrix = |element: &str, order: &str| {
        let (element, order) = (text(element), text(order));
        Some(LtMatrix { ptr: Some(Hex(1)), element, ld: Some(-1), stride: Some(i64::MIN), order })
    };
    Problem {
        trans_a: text("C"),
        trans_b: text("0"),
        m: Some(i64::MAX),
        n: Some(-1),
        k: Some(0),
        batch: Some(1),
        a: matrix("f8_e4m3", "col"),
        b: matrix("f4_e2m1", "row"),
        c: matrix("bf16_r", "col16_4r16"),
        d: matrix("2000", "7"),
        alpha: Some(Hex(2)),
        beta: Some(Hex(3)),
        pointer_mode: text("1"),
        compute: text("32f_fast_xf32"),
        scale_type: text("f32_r"),
        epilogue: text("gelu_aux_bias"),
        bias: Some(Hex(4)),
        bias_type: text("f16_r"),
        scale_a: Some(Hex(5)),
        scale_b: Some(Hex(6)),
        scale_c: Some(Hex(7)),
        scale_d: Some(Hex(8)),
        scale_mode_a: text("vec32_ue8m0"),
        scale_mode_b: text("6"),
        aux: Some(Hex(9)),
        aux_ld: Some(16),
    }
}

/// One of every action.
pub(super) fn blas_calls() -> [Record; 8] {
    ACTIONS.map(|action| Record::Blas(blas(action).into()))
}

fn blas(action: &str) -> Blas {
    let is = |actions: &[&str]| actions.contains(&action);
    let (is_object, is_heuristic) = (is(&["problem", "prepare"]), is(&["heuristic"]));
    let is_about = is(&["solutions", "heuristic", "transform", "problem"]);
    Blas {
        call: call(7, false),
        action: action.into(),
        handle: (!is_object && action != "initialize").then_some(Hex(1)),
        instance: is_object.then_some(Hex(2)),
        form: is(&["solutions"]).then(|| "batched".into()),
        problem: if is_about { problem() } else { Problem::default() },
        flags: u64::from(is(&["solutions"])),
        algo: is(&["prepare"]).then_some(i32::MAX),
        requested: u64::from(is_heuristic),
        returned: is(&["solutions", "heuristic"]).then_some(9),
        solutions: if is_heuristic { vec![-1; 8] } else { Vec::new() },
        needs: u64::from(is_heuristic),
        stream: u32::from(is(&["transform", "prepare"])).into(),
        capture: Some(3),
    }
}
