//! Rows of hipSPARSE: its generic functions. Signatures as in hipsparse.h.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;

spans! { "libhipsparse.so", from super::first::hipsparse;
    fn hipsparseAxpby(handle: Pointer, alpha: Pointer, vecX: Pointer, beta: Pointer, vecY: Pointer) -> i32;
    fn hipsparseDenseToSparse_analysis(handle: Pointer, matA: Pointer, matB: Pointer, alg: u32, externalBuffer: Pointer) -> i32;
    fn hipsparseDenseToSparse_convert(handle: Pointer, matA: Pointer, matB: Pointer, alg: u32, externalBuffer: Pointer) -> i32;
    fn hipsparseGather(handle: Pointer, vecY: Pointer, vecX: Pointer) -> i32;
    fn hipsparseRot(handle: Pointer, c_coeff: Pointer, s_coeff: Pointer, vecX: Pointer, vecY: Pointer) -> i32;
    fn hipsparseSDDMM(handle: Pointer, opA: u32, opB: u32, alpha: Pointer, A: Pointer, B: Pointer, beta: Pointer, C: Pointer, computeType: u32, alg: u32, tempBuffer: Pointer) -> i32;
    fn hipsparseSDDMM_preprocess(handle: Pointer, opA: u32, opB: u32, alpha: Pointer, A: Pointer, B: Pointer, beta: Pointer, C: Pointer, computeType: u32, alg: u32, tempBuffer: Pointer) -> i32;
    fn hipsparseScatter(handle: Pointer, vecX: Pointer, vecY: Pointer) -> i32;
    fn hipsparseSpGEMM_compute(handle: Pointer, opA: u32, opB: u32, alpha: Pointer, matA: Pointer, matB: Pointer, beta: Pointer, matC: Pointer, computeType: u32, alg: u32, spgemmDescr: Pointer, bufferSize2: Pointer, externalBuffer2: Pointer) -> i32;
    fn hipsparseSpGEMM_copy(handle: Pointer, opA: u32, opB: u32, alpha: Pointer, matA: Pointer, matB: Pointer, beta: Pointer, matC: Pointer, computeType: u32, alg: u32, spgemmDescr: Pointer) -> i32;
    fn hipsparseSpGEMM_workEstimation(handle: Pointer, opA: u32, opB: u32, alpha: Pointer, matA: Pointer, matB: Pointer, beta: Pointer, matC: Pointer, computeType: u32, alg: u32, spgemmDescr: Pointer, bufferSize1: Pointer, externalBuffer1: Pointer) -> i32;
    fn hipsparseSpGEMMreuse_compute(handle: Pointer, opA: u32, opB: u32, alpha: Pointer, matA: Pointer, matB: Pointer, beta: Pointer, matC: Pointer, computeType: u32, alg: u32, spgemmDescr: Pointer) -> i32;
    fn hipsparseSpGEMMreuse_copy(handle: Pointer, opA: u32, opB: u32, matA: Pointer, matB: Pointer, matC: Pointer, alg: u32, spgemmDescr: Pointer, bufferSize5: Pointer, externalBuffer5: Pointer) -> i32;
    fn hipsparseSpGEMMreuse_nnz(handle: Pointer, opA: u32, opB: u32, matA: Pointer, matB: Pointer, matC: Pointer, alg: u32, spgemmDescr: Pointer, bufferSize2: Pointer, externalBuffer2: Pointer, bufferSize3: Pointer, externalBuffer3: Pointer, bufferSize4: Pointer, externalBuffer4: Pointer) -> i32;
    fn hipsparseSpGEMMreuse_workEstimation(handle: Pointer, opA: u32, opB: u32, matA: Pointer, matB: Pointer, matC: Pointer, alg: u32, spgemmDescr: Pointer, bufferSize1: Pointer, externalBuffer1: Pointer) -> i32;
    fn hipsparseSpMM(handle: Pointer, opA: u32, opB: u32, alpha: Pointer, matA: Pointer, matB: Pointer, beta: Pointer, matC: Pointer, computeType: u32, alg: u32, externalBuffer: Pointer) -> i32;
    fn hipsparseSpMM_preprocess(handle: Pointer, opA: u32, opB: u32, alpha: Pointer, matA: Pointer, matB: Pointer, beta: Pointer, matC: Pointer, computeType: u32, alg: u32, externalBuffer: Pointer) -> i32;
    fn hipsparseSpMV(handle: Pointer, opA: u32, alpha: Pointer, matA: Pointer, vecX: Pointer, beta: Pointer, vecY: Pointer, computeType: u32, alg: u32, externalBuffer: Pointer) -> i32;
    fn hipsparseSpMV_preprocess(handle: Pointer, opA: u32, alpha: Pointer, matA: Pointer, vecX: Pointer, beta: Pointer, vecY: Pointer, computeType: u32, alg: u32, externalBuffer: Pointer) -> i32;
    fn hipsparseSpSM_analysis(handle: Pointer, opA: u32, opB: u32, alpha: Pointer, matA: Pointer, matB: Pointer, matC: Pointer, computeType: u32, alg: u32, spsmDescr: Pointer, externalBuffer: Pointer) -> i32;
    fn hipsparseSpSM_solve(handle: Pointer, opA: u32, opB: u32, alpha: Pointer, matA: Pointer, matB: Pointer, matC: Pointer, computeType: u32, alg: u32, spsmDescr: Pointer, externalBuffer: Pointer) -> i32;
    fn hipsparseSpSV_analysis(handle: Pointer, opA: u32, alpha: Pointer, matA: Pointer, x: Pointer, y: Pointer, computeType: u32, alg: u32, spsvDescr: Pointer, externalBuffer: Pointer) -> i32;
    fn hipsparseSpVV(handle: Pointer, opX: u32, vecX: Pointer, vecY: Pointer, result: Pointer, computeType: u32, externalBuffer: Pointer) -> i32;
    fn hipsparseSparseToDense(handle: Pointer, matA: Pointer, matB: Pointer, alg: u32, externalBuffer: Pointer) -> i32;
}
