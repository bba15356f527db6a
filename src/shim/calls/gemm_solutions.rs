//! rocBLAS asked for its solutions: which there are for a problem, or for types.
#![allow(unsafe_code)] // reads the count of a call that has just succeeded

use crate::abi::rocblas::*;
use crate::hook::Observed;
use rocshim_ring::blas::{self, Blas};
use rocshim_ring::event::Gemm;
use rocshim_ring::{CallGuard, Producer};

/// `rocblas_gemm…_get_solutions`, `…_by_type`.
pub(crate) struct Solutions {
    asked: Blas,
    array: *const rocblas_int,
    size: *const rocblas_int,
}

/// The solutions for the problem of `product`, whose scalars and matrices only stand for themselves.
pub(crate) fn solutions(product: Gemm, array: *const rocblas_int, size: *const rocblas_int) -> Solutions {
    let asked = Blas {
        action: blas::SOLUTIONS,
        known: blas::OPERATION | blas::ROWS | blas::INNER | blas::STRIDES | blas::TYPES,
        form: product.form,
        handle: product.handle,
        trans: product.trans,
        types: product.types,
        compute: [product.compute, 0],
        batch: product.batch,
        size: product.size,
        lds: product.lds,
        strides: product.strides,
        scalars: product.scalars,
        matrices: product.matrices,
        flags: product.flags,
        ..Blas::default()
    };
    Solutions { asked, array, size }
}

/// The solutions for these types, whatever the problem.
pub(crate) fn by_type(
    handle: rocblas_handle,
    [input, output, compute]: [rocblas_datatype; 3],
    flags: u32,
    array: *const rocblas_int,
    size: *const rocblas_int,
) -> Solutions {
    let asked = Blas {
        action: blas::SOLUTIONS,
        known: blas::OPERATION | blas::TYPES,
        handle: handle as u64,
        types: [input, input, output, output],
        compute: [compute, 0],
        flags,
        ..Blas::default()
    };
    Solutions { asked, array, size }
}

impl Observed<rocblas_status> for Solutions {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.asked)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: rocblas_status) {
        let Some(span) = span else { return };
        // With an array the size stays what the program has put there, and nothing tells how many were filled in.
        if status == 0 && self.array.is_null() && !self.size.is_null() {
            // SAFETY: the call succeeded without an array, so the library has stored the count here.
            let count = unsafe { *self.size }.max(0) as u32;
            Blas::store_answer(count, 0, &[], |index, value| span.put(index, value));
        }
        span.leave(returned, status);
    }
}
