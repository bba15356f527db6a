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
use crate::descriptors::{Descriptor, Descriptors, Layout};
use crate::hook::Observed;
use crate::lifecycle::guarded;
use rocshim_ring::blas::{self, BLAS_RESULTS, Blas};
use rocshim_ring::{Producer, Span};

/// The descriptors of a product, and those of its matrices.
pub(crate) struct Described {
    pub(crate) product: hipblasLtMatmulDesc_t,
    /// Of A, B, C, D.
    pub(crate) layouts: [hipblasLtMatrixLayout_t; 4],
}

/// Puts what is known of the descriptors into `to`.
fn describe(descriptors: &Descriptors, described: &Described, to: &mut Blas) {
    let layout = |i: usize| match descriptors.get(described.layouts[i] as u64) {
        Some(Descriptor::Layout(layout)) => Some(layout),
        _ => None,
    };
    let layouts: [Option<Layout>; 4] = std::array::from_fn(layout);
    for (i, layout) in layouts.iter().enumerate() {
        let Some(layout) = layout else { continue };
        to.known |= blas::LAYOUT << i;
        (to.types[i], to.lds[i], to.strides[i]) = (layout.element, layout.ld, layout.stride);
        to.orders[i] = layout.order as u32;
    }
    if let Some(d) = &layouts[3] {
        to.known |= blas::ROWS;
        (to.size[0], to.size[1], to.batch) = (d.rows as i64, d.cols as i64, d.batch.into());
    }
    let Some(Descriptor::Product(product)) = descriptors.get(described.product as u64) else { return };
    to.known |= blas::OPERATION | blas::EPILOGUE;
    (to.compute, to.trans) = (product.compute, product.trans);
    (to.epilogue, to.bias, to.bias_type) = (product.epilogue, product.bias, product.bias_type);
    if let Some(a) = &layouts[0] {
        to.known |= blas::INNER;
        to.size[2] = if product.trans[0] == HIPBLAS_OP_N { a.cols } else { a.rows } as i64;
    }
    if product.is_of_rocm_6_on() {
        to.known |= blas::EXTRAS;
        (to.scales, to.scale_modes) = (product.scales, product.scale_modes);
        (to.aux, to.aux_ld, to.pointer_mode) = (product.aux, product.aux_ld, product.pointer_mode);
    }
}

/// `hipblasLtMatmul`.
pub(crate) struct Matmul {
    pub(crate) handle: hipblasLtHandle_t,
    pub(crate) described: Described,
    pub(crate) scalars: [Pointer; 2],
    /// A, B, C, D.
    pub(crate) matrices: [Pointer; 4],
    pub(crate) algo: *const hipblasLtMatmulAlgo_t,
    pub(crate) workspace: usize,
    pub(crate) stream: hipStream_t,
}

/// What is staged of a call, kept until it returns.
fn staged(action: u8, handle: Pointer, described: &Described) -> Blas {
    let mut blas = Blas { action, handle: handle as u64, ..Blas::default() };
    guarded(|process| describe(&process.descriptors, described, &mut blas));
    blas
}

impl Observed<hipblasStatus_t> for Matmul {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<Span> {
        let blas = Blas {
            scalars: self.scalars.map(|scalar| scalar as u64),
            matrices: self.matrices.map(|matrix| matrix as u64),
            workspace: self.workspace as u64,
            stream: self.stream as u64,
            ..staged(blas::RUN, self.handle, &self.described)
        };
        thread.enter(hook, &blas)
    }

    fn finish(self, span: Option<Span>, returned: u64, status: hipblasStatus_t) {
        let Some(span) = span else { return };
        // Up to ROCm 5.6 the algorithm was a pointer.
        if status == 0 && knows_extras(&self.described) {
            store_algo(&span, self.algo);
        }
        span.leave(returned, status);
    }
}

/// Stores the index of the algorithm that the program has passed to a call that succeeded.
fn store_algo(span: &Span, algo: *const hipblasLtMatmulAlgo_t) {
    // SAFETY: the call succeeded, so the library has read this algorithm (or it is NULL); since ROCm 5.7 it begins with
    // its index.
    if let Some(algo) = unsafe { algo.as_ref() } {
        Blas::store_algo(algo.index, |index, value| span.put(index, value));
    }
}

/// The product's descriptor is of ROCm 6 or later, and so is everything else that goes with it.
fn knows_extras(described: &Described) -> bool {
    let mut knows = false;
    guarded(|process| {
        let descriptor = process.descriptors.get(described.product as u64);
        knows = matches!(descriptor, Some(Descriptor::Product(product)) if product.is_of_rocm_6_on());
    });
    knows
}

/// `hipblasLtMatmulAlgoGetHeuristic`.
pub(crate) struct Heuristic {
    pub(crate) handle: hipblasLtHandle_t,
    pub(crate) described: Described,
    pub(crate) requested: i32,
    pub(crate) results: *const hipblasLtMatmulHeuristicResult_t,
    pub(crate) returned: *const i32,
}

impl Observed<hipblasStatus_t> for Heuristic {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<Span> {
        let requested = self.requested.max(0) as u32;
        thread.enter(hook, &Blas { requested, ..staged(blas::HEURISTIC, self.handle, &self.described) })
    }

    fn finish(self, span: Option<Span>, returned: u64, status: hipblasStatus_t) {
        let Some(span) = span else { return };
        if status == 0 && !self.returned.is_null() && !self.results.is_null() {
            // SAFETY: the call succeeded, so the library has stored a count here.
            let count = unsafe { *self.returned }.clamp(0, self.requested.max(0)) as usize;
            let mut indices = [0; BLAS_RESULTS];
            let mut workspace = 0;
            // Up to ROCm 5.7 results had another layout.
            let readable = if knows_extras(&self.described) { count.min(BLAS_RESULTS) } else { 0 };
            for (i, index) in indices.iter_mut().enumerate().take(readable) {
                // SAFETY: `i < count`, and the library has filled that many.
                let result = unsafe { self.results.wrapping_add(i).read() };
                *index = result.algo.index;
                workspace = if i == 0 { result.workspaceSize as u64 } else { workspace };
            }
            let kept = &indices[..readable];
            Blas::store_answer(count as u32, workspace, kept, |index, value| span.put(index, value));
        }
        span.leave(returned, status);
    }
}

/// `hipblasLtMatrixTransform`: C = alpha * op(A) + beta * op(B). It has no product's descriptor.
pub(crate) struct Transform {
    pub(crate) handle: hipblasLtHandle_t,
    pub(crate) scalars: [Pointer; 2],
    /// A, B, C.
    pub(crate) matrices: [Pointer; 3],
    pub(crate) layouts: [hipblasLtMatrixLayout_t; 3],
    pub(crate) stream: hipStream_t,
}

impl Observed<hipblasStatus_t> for Transform {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<Span> {
        let [a, b, c] = self.layouts;
        let described = Described { product: std::ptr::null(), layouts: [a, b, c, std::ptr::null()] };
        let [a, b, c] = self.matrices.map(|matrix| matrix as u64);
        let blas = Blas {
            scalars: self.scalars.map(|scalar| scalar as u64),
            matrices: [a, b, c, 0],
            stream: self.stream as u64,
            ..staged(blas::TRANSFORM, self.handle, &described)
        };
        thread.enter(hook, &blas)
    }

    fn finish(self, span: Option<Span>, returned: u64, status: hipblasStatus_t) {
        if let Some(span) = span {
            span.leave(returned, status);
        }
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

/// `hipblaslt_ext::Gemm::setProblem` with descriptors.
pub(crate) struct SetProblem {
    pub(crate) instance: Pointer,
    pub(crate) described: Described,
    pub(crate) scalars: [Pointer; 2],
    /// A, B, C, D.
    pub(crate) matrices: [Pointer; 4],
}

impl Observed<hipblasStatus_t> for SetProblem {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<Span> {
        let blas = staged(blas::PROBLEM, self.instance, &self.described);
        let blas = Blas {
            known: blas.known | blas::INSTANCE,
            scalars: self.scalars.map(|scalar| scalar as u64),
            matrices: self.matrices.map(|matrix| matrix as u64),
            ..blas
        };
        thread.enter(hook, &blas)
    }

    fn finish(self, span: Option<Span>, returned: u64, status: hipblasStatus_t) {
        if let Some(span) = span {
            span.leave(returned, status);
        }
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
    fn enter(&self, thread: Producer, hook: u16) -> Option<Span> {
        thread.enter(hook, &Blas { action: blas::PREPARE, ..run(self.instance, self.stream) })
    }

    fn finish(self, span: Option<Span>, returned: u64, status: hipblasStatus_t) {
        let Some(span) = span else { return };
        if status == 0 {
            store_algo(&span, self.algo);
        }
        span.leave(returned, status);
    }
}
