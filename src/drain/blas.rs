//! Converts BLAS calls with a [`Blas`](rocshim_ring::blas::Blas) payload to records.

use crate::values::*;
use rocshim_ring::blas::{self, BLAS_ACTIONS, Blas as Raw};
use rocshim_ring::event::GEMM_FORMS;
use rocshim_ring::slot::Event;
use rocshim_trace::*;

/// A GEMM of hipBLASLt, or a query or preparation. `stream_of` returns the stream of a handle.
pub(crate) fn blas(call: Call, event: &Event, stream_of: impl FnOnce(u64) -> StreamRef) -> Record {
    let raw = Raw::read(event);
    let handle = (raw.handle != 0).then_some(Hex(raw.handle));
    let (handle, instance) = if raw.knows(blas::INSTANCE) { (None, handle) } else { (handle, None) };
    let (problem, algo) = (problem(&raw), Raw::read_algo(event));
    let (workspace, stream) = (raw.workspace, stream_of(raw.stream));
    if raw.action == blas::RUN {
        return Record::Matmul(
            Matmul { call, handle, instance, problem, algo, workspace, stream, capture: None }.into(),
        );
    }
    let answer = Raw::read_answer(event);
    let (returned, needs, solutions) =
        answer.map_or((None, 0, Vec::new()), |(n, bytes, list)| (Some(n.into()), bytes, list));
    Record::Blas(Box::new(Blas {
        call,
        action: BLAS_ACTIONS.get(raw.action as usize).copied().unwrap_or("unknown").into(),
        handle,
        instance,
        form: (raw.action == blas::SOLUTIONS && raw.knows(blas::ROWS)).then(|| form(&raw).into()),
        problem,
        flags: raw.flags.into(),
        algo,
        requested: raw.requested.into(),
        returned,
        solutions,
        needs,
        stream,
        capture: None,
    }))
}

fn form(raw: &Raw) -> &'static str {
    GEMM_FORMS.get(raw.form as usize).copied().unwrap_or("unknown")
}

fn problem(raw: &Raw) -> Problem {
    let pointer = |pointer: u64| (pointer != 0).then_some(Hex(pointer));
    let operation_of = |i: usize| {
        let number = raw.trans[i];
        (raw.knows(blas::OPERATION) && number != 0).then(|| operation(number).into())
    };
    let (has_rows, has_epilogue) = (raw.knows(blas::ROWS), raw.knows(blas::EPILOGUE));
    let has_extras = raw.knows(blas::EXTRAS);
    let compute = if raw.action == blas::SOLUTIONS { compute } else { lt_compute };
    let scale = |i: usize| pointer(raw.scales[i]);
    let scale_mode = |i: usize| (raw.scales[i] != 0).then(|| lt_scale_mode(raw.scale_modes[i]).into());
    Problem {
        trans_a: operation_of(0),
        trans_b: operation_of(1),
        m: has_rows.then_some(raw.size[0]),
        n: has_rows.then_some(raw.size[1]),
        k: raw.knows(blas::INNER).then_some(raw.size[2]),
        batch: has_rows.then_some(raw.batch),
        a: matrix(raw, 0),
        b: matrix(raw, 1),
        c: matrix(raw, 2),
        d: matrix(raw, 3),
        alpha: pointer(raw.scalars[0]),
        beta: pointer(raw.scalars[1]),
        pointer_mode: has_extras.then(|| lt_pointer_mode(raw.pointer_mode).into()),
        compute: raw.knows(blas::OPERATION).then(|| compute(raw.compute[0]).into()),
        scale_type: has_epilogue.then(|| datatype(raw.compute[1]).into()),
        epilogue: has_epilogue.then(|| lt_epilogue(raw.epilogue).into()),
        bias: pointer(raw.bias),
        bias_type: (raw.bias != 0 && raw.bias_type != NO_TYPE).then(|| datatype(raw.bias_type).into()),
        scale_a: scale(0),
        scale_b: scale(1),
        scale_c: scale(2),
        scale_d: scale(3),
        scale_mode_a: scale_mode(0),
        scale_mode_b: scale_mode(1),
        aux: pointer(raw.aux),
        aux_ld: (raw.aux != 0).then_some(raw.aux_ld),
    }
}

/// hipBLASLt's HIPBLASLT_DATATYPE_INVALID: the program set no type.
const NO_TYPE: u32 = 255;

fn matrix(raw: &Raw, i: usize) -> Option<LtMatrix> {
    let has_layout = raw.knows(blas::LAYOUT << i);
    let has_type = has_layout || raw.knows(blas::TYPES) && raw.types[i] != 0;
    let has_strides = has_layout || raw.knows(blas::STRIDES);
    let is_strided = raw.action != blas::SOLUTIONS || form(raw) == "strided_batched";
    let matrix = LtMatrix {
        ptr: (raw.matrices[i] != 0).then_some(Hex(raw.matrices[i])),
        element: has_type.then(|| datatype(raw.types[i]).into()),
        ld: has_strides.then_some(raw.lds[i]),
        stride: (has_strides && is_strided).then_some(raw.strides[i]),
        order: has_layout.then(|| lt_order(raw.orders[i]).into()),
    };
    (matrix != LtMatrix::default()).then_some(matrix)
}
