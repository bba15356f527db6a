//! Products of hipBLASLt: the problem is read from what is known of the descriptors, results from where the library has
//! put them.
//!
//! Through the C++ interface, which rocBLAS uses since ROCm 6.3, a problem and an algorithm are given to an instance,
//! which then runs. Each call is recorded with what its own arguments tell; who belongs to whom, the reader finds out.
//! The classes that describe types and epilogues differ from release to release and are not looked into.
#![allow(unsafe_code)] // reads the results and algorithms of calls that have just succeeded

use crate::abi::Pointer;
use crate::abi::hip::hipStream_t;
use crate::abi::hipblaslt::*;
use crate::hook::Observed;
use crate::lifecycle::guarded;
use crate::state::lt_descriptors::*;
use rocshim_ring::blas::{self, BLAS_RESULTS, Blas};
use rocshim_ring::{CallGuard, Producer};

/// The descriptors of a product, and those of its matrices.
pub(crate) struct Described {
    pub(crate) product: hipblasLtMatmulDesc_t,
    /// Of A, B, C, D.
    pub(crate) layouts: [hipblasLtMatrixLayout_t; 4],
}

/// Puts what is known of the descriptors into `to`.
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
        // A batch count is an i32.
        (to.size[0], to.size[1], to.batch) = (d[ROWS] as i64, d[COLS] as i64, d[BATCH] as i32 as i64);
    }
    let Some(product) = descriptors.product(described.product as u64) else { return };
    let two = |first: usize| [product[first] as u32, product[first + 1] as u32];
    to.known |= blas::OPERATION | blas::EPILOGUE;
    (to.compute, to.trans) = ([product[COMPUTE] as u32, product[SCALE_TYPE] as u32], two(TRANS));
    to.epilogue = product[EPILOGUE] as u32;
    (to.bias, to.bias_type) = (product[BIAS], product[BIAS_TYPE] as u32);
    if let Some(a) = &layouts[0] {
        to.known |= blas::INNER;
        to.size[2] = if to.trans[0] == HIPBLAS_OP_N { a[COLS] } else { a[ROWS] } as i64;
    }
    if is_of_rocm_6_on(&product) {
        to.known |= blas::EXTRAS;
        to.scales = std::array::from_fn(|i| product[SCALES + i]);
        to.scale_modes = two(SCALE_MODES);
        (to.aux, to.aux_ld) = (product[AUX], product[AUX_LD] as i64);
        to.pointer_mode = product[POINTER_MODE] as u32;
    }
}

/// What a call tells that is about what `described` holds.
fn about(action: u8, handle: Pointer, described: &Described) -> Blas {
    let mut blas = Blas { action, handle: handle as u64, ..Blas::default() };
    guarded(|process| describe(&process.descriptors, described, &mut blas));
    blas
}

/// `hipblasLtMatmul`.
pub(crate) struct Matmul {
    told: Blas,
    algo: *const hipblasLtMatmulAlgo_t,
}

/// `hipblasLtMatmul`; the matrices are A, B, C, D.
pub(crate) fn matmul(
    handle: hipblasLtHandle_t,
    described: Described,
    scalars: [Pointer; 2],
    matrices: [Pointer; 4],
    algo: *const hipblasLtMatmulAlgo_t,
    workspace: usize,
    stream: hipStream_t,
) -> Matmul {
    let told = Blas {
        scalars: scalars.map(|scalar| scalar as u64),
        matrices: matrices.map(|matrix| matrix as u64),
        workspace: workspace as u64,
        stream: stream as u64,
        ..about(blas::RUN, handle, &described)
    };
    Matmul { told, algo }
}

impl Observed<hipblasStatus_t> for Matmul {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.told)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipblasStatus_t) {
        let Some(span) = span else { return };
        // Up to ROCm 5.6 the algorithm was a pointer.
        if status == 0 && self.told.knows(blas::EXTRAS) {
            store_algo(&span, self.algo);
        }
        span.leave(returned, status);
    }
}

/// Stores the index of the algorithm that the program has passed to a call that succeeded.
fn store_algo(span: &CallGuard, algo: *const hipblasLtMatmulAlgo_t) {
    // SAFETY: the call succeeded, so the library has read this algorithm (or it is NULL); since ROCm 5.7 it begins with
    // its index.
    if let Some(algo) = unsafe { algo.as_ref() } {
        Blas::store_algo(algo.index, |index, value| span.put(index, value));
    }
}

/// `hipblasLtMatmulAlgoGetHeuristic`.
pub(crate) struct Heuristic {
    told: Blas,
    results: *const hipblasLtMatmulHeuristicResult_t,
    returned: *const i32,
}

/// `hipblasLtMatmulAlgoGetHeuristic`.
pub(crate) fn heuristic(
    handle: hipblasLtHandle_t,
    described: Described,
    requested: i32,
    results: *const hipblasLtMatmulHeuristicResult_t,
    returned: *const i32,
) -> Heuristic {
    let requested = requested.max(0) as u32;
    let told = Blas { requested, ..about(blas::HEURISTIC, handle, &described) };
    Heuristic { told, results, returned }
}

impl Observed<hipblasStatus_t> for Heuristic {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.told)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipblasStatus_t) {
        let Some(span) = span else { return };
        if status == 0 && !self.returned.is_null() && !self.results.is_null() {
            // SAFETY: the call succeeded, so the library has stored a count here.
            let count = (unsafe { *self.returned }.max(0) as u32).min(self.told.requested);
            // Up to ROCm 5.7 results had another layout.
            let readable = if self.told.knows(blas::EXTRAS) { count as usize } else { 0 };
            let result = |i: usize| {
                // SAFETY: `i < readable`, which is no more than the library has filled.
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

/// `hipblasLtMatrixTransform`: C = alpha * op(A) + beta * op(B). It has no product's descriptor.
pub(crate) fn transform(
    handle: hipblasLtHandle_t,
    scalars: [Pointer; 2],
    [a, b, c]: [Pointer; 3],
    [a_layout, b_layout, c_layout]: [hipblasLtMatrixLayout_t; 3],
    stream: hipStream_t,
) -> Blas {
    let nothing = std::ptr::null();
    let described = Described { product: nothing, layouts: [a_layout, b_layout, c_layout, nothing] };
    Blas {
        scalars: scalars.map(|scalar| scalar as u64),
        matrices: [a, b, c, nothing].map(|matrix| matrix as u64),
        stream: stream as u64,
        ..about(blas::TRANSFORM, handle, &described)
    }
}

/// `hipblaslt_ext::GemmInstance::run`: what it runs was told before.
pub(crate) fn run(instance: Pointer, stream: hipStream_t) -> Blas {
    let (handle, stream) = (instance as u64, stream as u64);
    Blas { action: blas::RUN, known: blas::INSTANCE, handle, stream, ..Blas::default() }
}

/// `hipblaslt_ext::Gemm::setProblem` with sizes alone.
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
    let told = about(blas::PROBLEM, instance, &described);
    Blas {
        known: told.known | blas::INSTANCE,
        scalars: scalars.map(|scalar| scalar as u64),
        matrices: matrices.map(|matrix| matrix as u64),
        ..told
    }
}

/// `hipblaslt_ext::GemmInstance::initialize`.
pub(crate) struct Prepare {
    pub(crate) instance: Pointer,
    pub(crate) algo: *const hipblasLtMatmulAlgo_t,
    pub(crate) stream: hipStream_t,
}

impl Observed<hipblasStatus_t> for Prepare {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Blas { action: blas::PREPARE, ..run(self.instance, self.stream) })
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: hipblasStatus_t) {
        let Some(span) = span else { return };
        if status == 0 {
            store_algo(&span, self.algo);
        }
        span.leave(returned, status);
    }
}
