//! GEMM calls of rocBLAS and hipBLAS in their forms.

use crate::abi::Pointer;
use crate::abi::rocblas::{rocblas_datatype, rocblas_operation_none, rocblas_stride};
use rocshim_ring::event::{Gemm, NO_ALGO};

/// The arguments that every form has; `I` is the type of a size.
pub(crate) struct Plain<I> {
    pub(crate) handle: Pointer,
    pub(crate) trans: [u32; 2],
    pub(crate) size: [I; 3],
    pub(crate) scalars: [Pointer; 2],
    /// A, B, C, D; C again for a function without D.
    pub(crate) matrices: [Pointer; 4],
    pub(crate) types: [u32; 4],
    pub(crate) lds: [I; 4],
    pub(crate) compute: u32,
    pub(crate) algo: u32,
    pub(crate) solution: i32,
    pub(crate) flags: u32,
}

/// The strides of A, B, C, D, in elements.
pub(crate) struct Strides(pub(crate) [rocblas_stride; 4]);

/// The arguments of a function for one element type, which computes in that type, into C.
#[inline(always)]
pub(crate) fn typed<I: Copy>(
    element: rocblas_datatype,
    handle: Pointer,
    trans: [u32; 2],
    size: [I; 3],
    scalars: [Pointer; 2],
    [a, b, c]: [Pointer; 3],
    [lda, ldb, ldc]: [I; 3],
) -> Plain<I> {
    Plain {
        handle,
        trans,
        size,
        scalars,
        matrices: [a, b, c, c],
        types: [element; 4],
        lds: [lda, ldb, ldc, ldc],
        compute: element,
        algo: NO_ALGO,
        solution: 0,
        flags: 0,
    }
}

/// A single GEMM.
#[inline(always)]
pub(crate) fn plain<I: Into<i64>>(args: Plain<I>) -> Gemm {
    Gemm {
        form: 0,
        handle: args.handle as u64,
        trans: args.trans,
        size: args.size.map(I::into),
        batch: 1,
        matrices: args.matrices.map(|matrix| matrix as u64),
        types: args.types,
        lds: args.lds.map(I::into),
        strides: [0; 4],
        scalars: args.scalars.map(|scalar| scalar as u64),
        compute: args.compute,
        algo: args.algo,
        solution: args.solution,
        flags: args.flags,
    }
}

/// A batch of GEMMs, with arrays of pointers to the matrices.
#[inline(always)]
pub(crate) fn batched<I: Into<i64>>(args: Plain<I>, batch: I) -> Gemm {
    Gemm { form: 1, batch: batch.into(), ..plain(args) }
}

/// A batch of GEMMs, with matrices at a constant stride.
#[inline(always)]
pub(crate) fn strided_batched<I: Into<i64>>(args: Plain<I>, batch: I, Strides(strides): Strides) -> Gemm {
    Gemm { form: 2, strides, ..batched(args, batch) }
}

/// A single GEMM with arbitrary strides of rows and columns: `lds` are the columns' strides, `rows`
/// those of rows. Such matrices need no transposition.
#[inline(always)]
pub(crate) fn any_order(args: Plain<rocblas_stride>, Strides(rows): Strides) -> Gemm {
    Gemm { form: 3, trans: [rocblas_operation_none; 2], strides: rows, ..plain(args) }
}
