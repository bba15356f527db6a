//! Matmul calls of hipBLASLt. The problem is read from the tracked descriptors, results from the
//! program's arrays.
//!
//! In the C++ interface, which rocBLAS uses since ROCm 6.3, a problem and an algorithm are given to
//! an instance, which then runs. Each call is recorded with its own arguments; the reader joins
//! them by instance. The classes for types and epilogues differ between releases and are not read.
#![allow(unsafe_code)] // reads the results and algorithms of calls that have just succeeded

use crate::abi::Pointer;
use crate::abi::hip::hipStream_t;
use crate::abi::hipblaslt::*;
use crate::hook::{Intercept, first_calls};
use crate::lifecycle::guarded;
use crate::state::lt_descriptors::*;
use rocshim_ring::blas::{self, BLAS_RESULTS, Blas};
use rocshim_ring::{CallGuard, Producer};

/// The descriptors of a matmul and of its matrices.
pub(crate) struct Described {
    pub(crate) matmul: hipblasLtMatmulDesc_t,
    /// Of A, B, C, D.
    pub(crate) layouts: [hipblasLtMatrixLayout_t; 4],
}

/// Copies the known contents of the descriptors to `to`.
fn describe(descriptors: &Descriptors, described: &Described, to: &mut Blas) {
    let layouts = described.layouts.map(|layout| descriptors.layout(layout as u64));
    for (i, layout) in layouts.iter().enumerate() {
        let Some(layout) = layout else { continue };
        to.known |= blas::LAYOUT << i;
        (to.types[i], to.orders[i]) = (layout[ELEMENT] as u32, layout[ORDER] as u32);
        (to.lds[i], to.strides[i]) = (layout[LD] as i64, layout[STRIDE] as i64);
    }
    if let Some(d) = &layouts[3] {
        to.known |= blas::ROWS;
        // The library keeps the batch count as an i32.
        (to.size[0], to.size[1], to.batch) = (d[ROWS] as i64, d[COLS] as i64, d[BATCH] as i32 as i64);
    }
    let Some(desc) = descriptors.matmul(described.matmul as u64) else { return };
    let two = |first: usize| [desc[first] as u32, desc[first + 1] as u32];
    to.known |= blas::OPERATION | blas::EPILOGUE;
    (to.compute, to.trans) = ([desc[COMPUTE] as u32, desc[SCALE_TYPE] as u32], two(TRANS));
    to.epilogue = desc[EPILOGUE] as u32;
    (to.bias, to.bias_type) = (desc[BIAS], desc[BIAS_TYPE] as u32);
    if let Some(a) = &layouts[0] {
        to.known |= blas::INNER;
        to.size[2] = if to.trans[0] == HIPBLAS_OP_N { a[COLS] } else { a[ROWS] } as i64;
    }
    if is_rocm_6(&desc) {
        to.known |= blas::EXTRAS;
        to.scales = std::array::from_fn(|i| desc[SCALES + i]);
        to.scale_modes = two(SCALE_MODES);
        (to.aux, to.aux_ld) = (desc[AUX], desc[AUX_LD] as i64);
        to.pointer_mode = desc[POINTER_MODE] as u32;
    }
}

/// Returns a payload with the known contents of the descriptors.
fn with_descriptors(action: u8, handle: Pointer, described: &Described) -> Blas {
    let mut blas = Blas { action, handle: handle as u64, ..Blas::default() };
    guarded(|process| describe(&process.descriptors, described, &mut blas));
    blas
}

/// `hipblasLtMatmul`.
pub(crate) struct Matmul {
    payload: Blas,
    algo: *const hipblasLtMatmulAlgo_t,
}

/// A call of `hipblasLtMatmul`; the matrices are A, B, C, D, `workspace` is in bytes.
pub(crate) fn matmul(
    handle: hipblasLtHandle_t,
    described: Described,
    scalars: [Pointer; 2],
    matrices: [Pointer; 4],
    algo: *const hipblasLtMatmulAlgo_t,
    workspace: usize,
    stream: hipStream_t,
) -> Matmul {
    let payload = Blas {
        scalars: scalars.map(|scalar| scalar as u64),
        matrices: matrices.map(|matrix| matrix as u64),
        workspace: workspace as u64,
        stream: stream as u64,
        ..with_descriptors(blas::RUN, handle, &described)
    };
    Matmul { payload, algo }
}

impl Intercept<hipblasStatus_t> for Matmul {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        first_calls::enter(thread, hook, &self.payload)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipblasStatus_t) {
        let Some(span) = span else { return };
        // Up to ROCm 5.6 the algorithm was a pointer.
        if status == 0 && self.payload.knows(blas::EXTRAS) {
            store_algo(&span, self.algo);
        }
        span.leave(returned, status);
    }
}

/// Stores the solution index of the algorithm that the program passed to a successful call.
fn store_algo(span: &CallGuard, algo: *const hipblasLtMatmulAlgo_t) {
    // SAFETY: `algo` is NULL or the algorithm that the library has just read successfully; since
    // ROCm 5.7 it begins with its index.
    if let Some(algo) = unsafe { algo.as_ref() } {
        Blas::store_algo(algo.index, |index, value| span.put(index, value));
    }
}

/// `hipblasLtMatmulAlgoGetHeuristic`.
pub(crate) struct Heuristic {
    payload: Blas,
    results: *const hipblasLtMatmulHeuristicResult_t,
    returned: *const i32,
}

/// A call of `hipblasLtMatmulAlgoGetHeuristic`.
pub(crate) fn heuristic(
    handle: hipblasLtHandle_t,
    described: Described,
    requested: i32,
    results: *const hipblasLtMatmulHeuristicResult_t,
    returned: *const i32,
) -> Heuristic {
    let requested = requested.max(0) as u32;
    let payload = Blas { requested, ..with_descriptors(blas::HEURISTIC, handle, &described) };
    Heuristic { payload, results, returned }
}

impl Intercept<hipblasStatus_t> for Heuristic {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        first_calls::enter(thread, hook, &self.payload)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipblasStatus_t) {
        let Some(span) = span else { return };
        if status == 0 && !self.returned.is_null() && !self.results.is_null() {
            // SAFETY: `returned` is not NULL, and the call succeeded, so the library has stored a
            // count there.
            let count = (unsafe { *self.returned }.max(0) as u32).min(self.payload.requested);
            // Up to ROCm 5.7 results had another layout.
            let readable = if self.payload.knows(blas::EXTRAS) { count as usize } else { 0 };
            let result = |i: usize| {
                // SAFETY: `i < readable`, which is at most the number of results that the library
                // has stored, and `results` is not NULL.
                unsafe { self.results.wrapping_add(i).read() }
            };
            let needs = if readable > 0 { result(0).workspaceSize as u64 } else { 0 };
            let mut indices = [0; BLAS_RESULTS];
            let kept = &mut indices[..readable.min(BLAS_RESULTS)];
            kept.iter_mut().enumerate().for_each(|(i, index)| *index = result(i).algo.index);
            Blas::store_answer(count, needs, kept, |index, value| span.put(index, value));
        }
        span.leave(returned, status);
    }
}

/// `hipblasLtMatrixTransform`: C = alpha * op(A) + beta * op(B). It has no matmul descriptor.
pub(crate) fn transform(
    handle: hipblasLtHandle_t,
    scalars: [Pointer; 2],
    [a, b, c]: [Pointer; 3],
    [a_layout, b_layout, c_layout]: [hipblasLtMatrixLayout_t; 3],
    stream: hipStream_t,
) -> Blas {
    let nothing = std::ptr::null();
    let described = Described { matmul: nothing, layouts: [a_layout, b_layout, c_layout, nothing] };
    Blas {
        scalars: scalars.map(|scalar| scalar as u64),
        matrices: [a, b, c, nothing].map(|matrix| matrix as u64),
        stream: stream as u64,
        ..with_descriptors(blas::TRANSFORM, handle, &described)
    }
}

/// `hipblaslt_ext::GemmInstance::run`, of the problem set before.
pub(crate) fn run(instance: Pointer, stream: hipStream_t) -> Blas {
    let (handle, stream) = (instance as u64, stream as u64);
    Blas { action: blas::RUN, known: blas::INSTANCE, handle, stream, ..Blas::default() }
}

/// `hipblaslt_ext::Gemm::setProblem` with sizes only.
pub(crate) fn problem(instance: Pointer, size: [i64; 3], batch: i64) -> Blas {
    let known = blas::INSTANCE | blas::ROWS | blas::INNER;
    Blas { action: blas::PROBLEM, known, handle: instance as u64, size, batch, ..Blas::default() }
}

/// `hipblaslt_ext::Gemm::setProblem` with sizes, leading dimensions and strides.
pub(crate) fn laid_out(problem: Blas, lds: [i64; 4], strides: [i64; 4]) -> Blas {
    Blas { known: problem.known | blas::STRIDES, lds, strides, ..problem }
}

/// `hipblaslt_ext::Gemm::setProblem` with descriptors; the matrices are A, B, C, D.
pub(crate) fn described_problem(
    instance: Pointer,
    described: Described,
    scalars: [Pointer; 2],
    matrices: [Pointer; 4],
) -> Blas {
    let payload = with_descriptors(blas::PROBLEM, instance, &described);
    Blas {
        known: payload.known | blas::INSTANCE,
        scalars: scalars.map(|scalar| scalar as u64),
        matrices: matrices.map(|matrix| matrix as u64),
        ..payload
    }
}

/// `hipblaslt_ext::GemmInstance::initialize`.
pub(crate) struct Initialize {
    pub(crate) instance: Pointer,
    pub(crate) algo: *const hipblasLtMatmulAlgo_t,
    pub(crate) stream: hipStream_t,
}

impl Intercept<hipblasStatus_t> for Initialize {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        first_calls::enter(thread, hook, &Blas { action: blas::PREPARE, ..run(self.instance, self.stream) })
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipblasStatus_t) {
        let Some(span) = span else { return };
        if status == 0 {
            store_algo(&span, self.algo);
        }
        span.leave(returned, status);
    }
}
