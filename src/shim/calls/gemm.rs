//! Matrix products of rocBLAS in their three forms.

use crate::abi::Pointer;
use crate::abi::rocblas::*;
use rocshim_ring::event::Gemm;

/// The arguments that every form has.
pub(crate) struct Plain {
    pub(crate) handle: rocblas_handle,
    pub(crate) trans: [rocblas_operation; 2],
    pub(crate) size: [rocblas_int; 3],
    pub(crate) scalars: [Pointer; 2],
    pub(crate) matrices: [Pointer; 4],
    pub(crate) types: [rocblas_datatype; 4],
    pub(crate) lds: [rocblas_int; 4],
    pub(crate) compute: rocblas_datatype,
    pub(crate) algo: rocblas_gemm_algo,
    pub(crate) solution: i32,
    pub(crate) flags: u32,
}

/// The strides of A, B, C, D.
pub(crate) struct Strides(pub(crate) [rocblas_stride; 4]);

/// One product.
#[inline(always)]
pub(crate) fn plain(args: Plain) -> Gemm {
    Gemm {
        form: 0,
        handle: args.handle as u64,
        trans: args.trans,
        size: args.size.map(i64::from),
        batch: 1,
        matrices: args.matrices.map(|matrix| matrix as u64),
        types: args.types,
        lds: args.lds.map(i64::from),
        strides: [0; 4],
        scalars: args.scalars.map(|scalar| scalar as u64),
        compute: args.compute,
        algo: args.algo,
        solution: args.solution,
        flags: args.flags,
    }
}

/// Products of matrices behind arrays of pointers.
#[inline(always)]
pub(crate) fn batched(args: Plain, batch: rocblas_int) -> Gemm {
    Gemm { form: 1, batch: batch.into(), ..plain(args) }
}

/// Products of matrices a stride apart.
#[inline(always)]
pub(crate) fn strided_batched(args: Plain, batch: rocblas_int, Strides(strides): Strides) -> Gemm {
    Gemm { form: 2, strides, ..batched(args, batch) }
}
