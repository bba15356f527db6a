//! Types of hipblaslt.h and hipblaslt-ext.hpp, as the hooked functions take and return them.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

use super::Pointer;

pub(crate) use super::hipblas::{hipDataType, hipblasComputeType_t, hipblasStatus_t};
pub(crate) type hipblasLtHandle_t = Pointer;
pub(crate) type hipblasLtMatmulDesc_t = Pointer;
pub(crate) type hipblasLtMatrixLayout_t = Pointer;
pub(crate) type hipblasLtMatmulPreference_t = Pointer;
pub(crate) type hipblasLtMatrixTransformDesc_t = Pointer;
pub(crate) type hipblasLtMatmulDescAttributes_t = u32;
pub(crate) type hipblasLtMatrixLayoutAttribute_t = u32;

pub(crate) const HIPBLAS_OP_N: u32 = 111;
pub(crate) const HIPBLASLT_EPILOGUE_DEFAULT: u32 = 1;
pub(crate) const HIPBLASLT_DATATYPE_INVALID: u32 = 255;

pub(crate) const HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT: hipblasLtMatrixLayoutAttribute_t = 0;
pub(crate) const HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: hipblasLtMatrixLayoutAttribute_t = 1;
pub(crate) const HIPBLASLT_MATRIX_LAYOUT_TYPE: hipblasLtMatrixLayoutAttribute_t = 2;
pub(crate) const HIPBLASLT_MATRIX_LAYOUT_ORDER: hipblasLtMatrixLayoutAttribute_t = 3;
pub(crate) const HIPBLASLT_MATRIX_LAYOUT_ROWS: hipblasLtMatrixLayoutAttribute_t = 4;
pub(crate) const HIPBLASLT_MATRIX_LAYOUT_COLS: hipblasLtMatrixLayoutAttribute_t = 5;
pub(crate) const HIPBLASLT_MATRIX_LAYOUT_LD: hipblasLtMatrixLayoutAttribute_t = 6;

pub(crate) const HIPBLASLT_MATMUL_DESC_TRANSA: hipblasLtMatmulDescAttributes_t = 0;
pub(crate) const HIPBLASLT_MATMUL_DESC_TRANSB: hipblasLtMatmulDescAttributes_t = 1;
pub(crate) const HIPBLASLT_MATMUL_DESC_EPILOGUE: hipblasLtMatmulDescAttributes_t = 2;
pub(crate) const HIPBLASLT_MATMUL_DESC_BIAS_POINTER: hipblasLtMatmulDescAttributes_t = 3;
pub(crate) const HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: hipblasLtMatmulDescAttributes_t = 4;
// Up to ROCm 5.7 the values 5 to 8 named other attributes.
pub(crate) const HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER: hipblasLtMatmulDescAttributes_t = 5;
pub(crate) const HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER: hipblasLtMatmulDescAttributes_t = 6;
pub(crate) const HIPBLASLT_MATMUL_DESC_C_SCALE_POINTER: hipblasLtMatmulDescAttributes_t = 7;
pub(crate) const HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER: hipblasLtMatmulDescAttributes_t = 8;
pub(crate) const HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: hipblasLtMatmulDescAttributes_t = 10;
pub(crate) const HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: hipblasLtMatmulDescAttributes_t = 11;
pub(crate) const HIPBLASLT_MATMUL_DESC_POINTER_MODE: hipblasLtMatmulDescAttributes_t = 13;
pub(crate) const HIPBLASLT_MATMUL_DESC_A_SCALE_MODE: hipblasLtMatmulDescAttributes_t = 31;
pub(crate) const HIPBLASLT_MATMUL_DESC_B_SCALE_MODE: hipblasLtMatmulDescAttributes_t = 32;

/// Layout of ROCm 6.0 and later.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct hipblasLtMatmulAlgo_t {
    /// Solution index (hipBLASLt, hipblaslt-ext.cpp, getIndexFromAlgo).
    pub(crate) index: i32,
    rest: [u8; 12],
    max_workspace_bytes: usize,
}

const _: () = assert!(size_of::<hipblasLtMatmulAlgo_t>() == 24);

/// Layout of ROCm 6.0 and later.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct hipblasLtMatmulHeuristicResult_t {
    pub(crate) algo: hipblasLtMatmulAlgo_t,
    pub(crate) workspaceSize: usize,
    state: hipblasStatus_t,
    wavesCount: f32,
    reserved: [i32; 4],
}

const _: () = assert!(size_of::<hipblasLtMatmulHeuristicResult_t>() == 56);
const _: () = assert!(std::mem::offset_of!(hipblasLtMatmulHeuristicResult_t, workspaceSize) == 24);
