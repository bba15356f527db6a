//! Queries for rocBLAS's solutions: for a problem, or for element types.
#![allow(unsafe_code)] // reads the count of a call that has just succeeded

use crate::abi::rocblas::*;
use crate::hook::Intercept;
use rocshim_ring::blas::{self, Blas};
use rocshim_ring::event::Gemm;
use rocshim_ring::{CallGuard, Producer};

/// `rocblas_gemm…_get_solutions`, `…_by_type`.
pub(crate) struct Solutions {
    payload: Blas,
    array: *const rocblas_int,
    size: *const rocblas_int,
}

/// A query for the solutions of a problem. Scalars and matrices are recorded by address only.
pub(crate) fn solutions(gemm: Gemm, array: *const rocblas_int, size: *const rocblas_int) -> Solutions {
    let payload = Blas {
        action: blas::SOLUTIONS,
        known: blas::OPERATION | blas::ROWS | blas::INNER | blas::STRIDES | blas::TYPES,
        form: gemm.form,
        handle: gemm.handle,
        trans: gemm.trans,
        types: gemm.types,
        compute: [gemm.compute, 0],
        batch: gemm.batch,
        size: gemm.size,
        lds: gemm.lds,
        strides: gemm.strides,
        scalars: gemm.scalars,
        matrices: gemm.matrices,
        flags: gemm.flags,
        ..Blas::default()
    };
    Solutions { payload, array, size }
}

/// A query for the solutions for element types, of any problem.
pub(crate) fn by_type(
    handle: rocblas_handle,
    [input, output, compute]: [rocblas_datatype; 3],
    flags: u32,
    array: *const rocblas_int,
    size: *const rocblas_int,
) -> Solutions {
    let payload = Blas {
        action: blas::SOLUTIONS,
        known: blas::OPERATION | blas::TYPES,
        handle: handle as u64,
        types: [input, input, output, output],
        compute: [compute, 0],
        flags,
        ..Blas::default()
    };
    Solutions { payload, array, size }
}

impl Intercept<rocblas_status> for Solutions {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &self.payload)
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: rocblas_status) {
        let Some(span) = span else { return };
        // With an array, `size` keeps the program's value, and the number of solutions is unknown.
        if status == 0 && self.array.is_null() && !self.size.is_null() {
            // SAFETY: `size` is not NULL, and the call succeeded without an array, so the library
            // has stored the count there.
            let count = unsafe { *self.size }.max(0) as u32;
            Blas::store_answer(count, 0, &[], |index, value| span.put(index, value));
        }
        span.leave(returned, status);
    }
}
