//! Rows of libhipblaslt: matmuls, their descriptors, and the C++ interface (mangled names) that
//! rocBLAS uses since ROCm 6.3. Signatures as in hipblaslt.h and hipblaslt-ext.hpp. Up to ROCm 5.7
//! element and compute types were other enums of the same size.
//!
//! Order: matmuls and queries, descriptors, handles; then instances: problem, algorithm, run.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;
use crate::abi::hip::{hipEvent_t, hipStream_t};
use crate::abi::hipblaslt::*;
use crate::calls::handle::{Create, Destroy};
use crate::calls::lt::{
    Described, Initialize, described_problem, heuristic, laid_out, matmul, problem, run, transform,
};
use crate::calls::lt_descriptors::{CopyMatmul, CreateDescriptor, DestroyDescriptor, SetAttribute};
use crate::state::lt_descriptors::{new_layout, new_matmul};

hooks! { "libhipblaslt.so", from super::first::hipblaslt;
    fn hipblasLtMatmul(handle: hipblasLtHandle_t, matmulDesc: hipblasLtMatmulDesc_t, alpha: Pointer, A: Pointer, Adesc: hipblasLtMatrixLayout_t, B: Pointer, Bdesc: hipblasLtMatrixLayout_t, beta: Pointer, C: Pointer, Cdesc: hipblasLtMatrixLayout_t, D: Pointer, Ddesc: hipblasLtMatrixLayout_t, algo: *const hipblasLtMatmulAlgo_t, workspace: Pointer, workspaceSizeInBytes: usize, stream: hipStream_t) -> hipblasStatus_t
        => matmul(handle, Described { matmul: matmulDesc, layouts: [Adesc, Bdesc, Cdesc, Ddesc] }, [alpha, beta], [A, B, C, D], algo, workspaceSizeInBytes, stream);
    fn hipblasLtMatmulAlgoGetHeuristic(handle: hipblasLtHandle_t, matmulDesc: hipblasLtMatmulDesc_t, Adesc: hipblasLtMatrixLayout_t, Bdesc: hipblasLtMatrixLayout_t, Cdesc: hipblasLtMatrixLayout_t, Ddesc: hipblasLtMatrixLayout_t, pref: hipblasLtMatmulPreference_t, requestedAlgoCount: i32, heuristicResultsArray: *mut hipblasLtMatmulHeuristicResult_t, returnAlgoCount: *mut i32) -> hipblasStatus_t
        => heuristic(handle, Described { matmul: matmulDesc, layouts: [Adesc, Bdesc, Cdesc, Ddesc] }, requestedAlgoCount, heuristicResultsArray, returnAlgoCount);
    fn hipblasLtMatrixTransform(lightHandle: hipblasLtHandle_t, transformDesc: hipblasLtMatrixTransformDesc_t, alpha: Pointer, A: Pointer, Adesc: hipblasLtMatrixLayout_t, beta: Pointer, B: Pointer, Bdesc: hipblasLtMatrixLayout_t, C: Pointer, Cdesc: hipblasLtMatrixLayout_t, stream: hipStream_t) -> hipblasStatus_t
        => transform(lightHandle, [alpha, beta], [A, B, C], [Adesc, Bdesc, Cdesc], stream);

    fn hipblasLtMatrixLayoutCreate(matLayout: *mut hipblasLtMatrixLayout_t, r#type: hipDataType, rows: u64, cols: u64, ld: i64) -> hipblasStatus_t
        => CreateDescriptor { out: matLayout, words: new_layout(r#type, rows, cols, ld) };
    fn hipblasLtMatrixLayoutDestroy(matLayout: hipblasLtMatrixLayout_t) -> hipblasStatus_t
        => DestroyDescriptor::before_call(matLayout);
    fn hipblasLtMatrixLayoutSetAttribute(matLayout: hipblasLtMatrixLayout_t, attr: hipblasLtMatrixLayoutAttribute_t, buf: Pointer, sizeInBytes: usize) -> hipblasStatus_t
        => SetAttribute { descriptor: matLayout, attribute: attr, value: buf, bytes: sizeInBytes };
    fn hipblasLtMatmulDescCreate(matmulDesc: *mut hipblasLtMatmulDesc_t, computeType: hipblasComputeType_t, scaleType: hipDataType) -> hipblasStatus_t
        => CreateDescriptor { out: matmulDesc, words: new_matmul(computeType, scaleType) };
    fn hipblasLtMatmulDescDestroy(matmulDesc: hipblasLtMatmulDesc_t) -> hipblasStatus_t
        => DestroyDescriptor::before_call(matmulDesc);
    fn hipblasLtMatmulDescSetAttribute(matmulDesc: hipblasLtMatmulDesc_t, attr: hipblasLtMatmulDescAttributes_t, buf: Pointer, sizeInBytes: usize) -> hipblasStatus_t
        => SetAttribute { descriptor: matmulDesc, attribute: attr, value: buf, bytes: sizeInBytes };
    // hipblaslt_ext::copyMatmul(src, dst)
    fn _ZN13hipblaslt_ext10copyMatmulEP27hipblasLtMatmulDescOpaque_tS1_(src: hipblasLtMatmulDesc_t, dst: hipblasLtMatmulDesc_t) -> hipblasStatus_t
        => CopyMatmul { from: src, to: dst };

    fn hipblasLtCreate(handle: *mut hipblasLtHandle_t) -> hipblasStatus_t
        => Create { handle, has_stream: false };
    fn hipblasLtDestroy(handle: hipblasLtHandle_t) -> hipblasStatus_t
        => Destroy::before_call(handle);

    // hipblaslt_ext::Gemm::setProblem, whose classes have two names
    fn _ZN13hipblaslt_ext4Gemm10setProblemEllllRNS_12GemmEpilogueERNS_10GemmInputsE(this: Pointer, m: i64, n: i64, k: i64, batch_count: i64, epilogue: Pointer, inputs: Pointer) -> hipblasStatus_t
        => problem(this, [m, n, k], batch_count);
    fn _ZN13hipblaslt_ext4Gemm10setProblemEllllRNS_14GemmEpilogueV2ERNS_12GemmInputsV2E(this: Pointer, m: i64, n: i64, k: i64, batch_count: i64, epilogue: Pointer, inputs: Pointer) -> hipblasStatus_t
        => problem(this, [m, n, k], batch_count);
    fn _ZN13hipblaslt_ext4Gemm10setProblemEllllllllllllRNS_12GemmEpilogueERNS_10GemmInputsERNS_15GemmProblemTypeE(this: Pointer, m: i64, n: i64, k: i64, batch_count: i64, lda: i64, ldb: i64, ldc: i64, ldd: i64, strideA: i64, strideB: i64, strideC: i64, strideD: i64, epilogue: Pointer, inputs: Pointer, problemtype: Pointer) -> hipblasStatus_t
        => laid_out(problem(this, [m, n, k], batch_count), [lda, ldb, ldc, ldd], [strideA, strideB, strideC, strideD]);
    fn _ZN13hipblaslt_ext4Gemm10setProblemEllllllllllllRNS_14GemmEpilogueV2ERNS_12GemmInputsV2ERNS_17GemmProblemTypeV2E(this: Pointer, m: i64, n: i64, k: i64, batch_count: i64, lda: i64, ldb: i64, ldc: i64, ldd: i64, strideA: i64, strideB: i64, strideC: i64, strideD: i64, epilogue: Pointer, inputs: Pointer, problemtype: Pointer) -> hipblasStatus_t
        => laid_out(problem(this, [m, n, k], batch_count), [lda, ldb, ldc, ldd], [strideA, strideB, strideC, strideD]);
    fn _ZN13hipblaslt_ext4Gemm10setProblemEP27hipblasLtMatmulDescOpaque_tPKvS4_P29hipblasLtMatrixLayoutOpaque_tS4_S6_S4_S4_S6_PvS6_(this: Pointer, matmul_descr: hipblasLtMatmulDesc_t, alpha: Pointer, A: Pointer, matA: hipblasLtMatrixLayout_t, B: Pointer, matB: hipblasLtMatrixLayout_t, beta: Pointer, C: Pointer, matC: hipblasLtMatrixLayout_t, D: Pointer, matD: hipblasLtMatrixLayout_t) -> hipblasStatus_t
        => described_problem(this, Described { matmul: matmul_descr, layouts: [matA, matB, matC, matD] }, [alpha, beta], [A, B, C, D]);

    // hipblaslt_ext::GemmInstance::initialize: ROCm 5.7; 6.0 on; with a tuning argument, whose
    // class has two names, 6.1 on
    fn _ZN13hipblaslt_ext12GemmInstance10initializeERK22_hipblasLtMatmulAlgo_tPvP12ihipStream_t(this: Pointer, algo: *const hipblasLtMatmulAlgo_t, workspace: Pointer, stream: hipStream_t) -> hipblasStatus_t
        => Initialize { instance: this, algo, stream };
    fn _ZN13hipblaslt_ext12GemmInstance10initializeERK22_hipblasLtMatmulAlgo_tPvbP12ihipStream_t(this: Pointer, algo: *const hipblasLtMatmulAlgo_t, workspace: Pointer, useUserArgs: bool, stream: hipStream_t) -> hipblasStatus_t
        => Initialize { instance: this, algo, stream };
    fn _ZN13hipblaslt_ext12GemmInstance10initializeERK22_hipblasLtMatmulAlgo_tRNS_10GemmTuningEPvbP12ihipStream_t(this: Pointer, algo: *const hipblasLtMatmulAlgo_t, tuning: Pointer, workspace: Pointer, useUserArgs: bool, stream: hipStream_t) -> hipblasStatus_t
        => Initialize { instance: this, algo, stream };
    fn _ZN13hipblaslt_ext12GemmInstance10initializeERK22_hipblasLtMatmulAlgo_tRNS_12GemmTuningV2EPvbP12ihipStream_t(this: Pointer, algo: *const hipblasLtMatmulAlgo_t, tuning: Pointer, workspace: Pointer, useUserArgs: bool, stream: hipStream_t) -> hipblasStatus_t
        => Initialize { instance: this, algo, stream };

    // hipblaslt_ext::GemmInstance::run: up to ROCm 6.1; 6.2 on. GroupedGemm::run with arguments in
    // device memory.
    fn _ZN13hipblaslt_ext12GemmInstance3runEP12ihipStream_t(this: Pointer, stream: hipStream_t) -> hipblasStatus_t
        => run(this, stream);
    fn _ZN13hipblaslt_ext12GemmInstance3runEP12ihipStream_tP11ihipEvent_tS4_(this: Pointer, stream: hipStream_t, start: hipEvent_t, stop: hipEvent_t) -> hipblasStatus_t
        => run(this, stream);
    fn _ZN13hipblaslt_ext11GroupedGemm3runEPvP12ihipStream_t(this: Pointer, deviceUserArgs: Pointer, stream: hipStream_t) -> hipblasStatus_t
        => run(this, stream);
}
