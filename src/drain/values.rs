//! Names of the vendors' constants. A number that no table has stays a number.

use rocshim_ring::event::NO_ALGO;
use rocshim_ring::hip::{PEER, UNKNOWN_KIND};
use rocshim_trace::solver;
use std::borrow::Cow;

/// The name of a number, or the number itself.
fn word(table: &[(u32, &'static str)], number: u32) -> Cow<'static, str> {
    match table.iter().find(|(n, _)| *n == number) {
        Some((_, word)) => Cow::Borrowed(word),
        None => Cow::Owned(number.to_string()),
    }
}

/// `cl_command_type` (cl.h), as the HIP runtime reports commands.
#[rustfmt::skip]
const COMMANDS: &[(u32, &str)] = &[
    (0x11f0, "kernel"), (0x11f1, "graph"), (0x11f3, "d2h"), (0x11f4, "h2d"), (0x11f5, "d2d"), (0x11f6, "d2h_image"),
    (0x11f7, "h2d_image"), (0x11f8, "d2d_image"), (0x11f9, "image_to_buffer"), (0x11fa, "buffer_to_image"), (0x11fe, "marker"),
    (0x1201, "d2h_rect"), (0x1202, "h2d_rect"), (0x1203, "d2d_rect"), (0x1207, "fill"), (0x1208, "fill_image"),
];

/// A command of the HIP runtime.
pub(crate) fn command(number: u32) -> Cow<'static, str> {
    word(COMMANDS, number)
}

/// `rocblas_operation` (rocblas-types.h).
pub(crate) fn operation(number: u32) -> Cow<'static, str> {
    word(&[(111, "N"), (112, "T"), (113, "C")], number)
}

/// `rocblas_datatype` (rocblas-types.h) and, up to hipBLAS 2.x, `hipblasDatatype_t`: 150 to 255.
#[rustfmt::skip]
const DATATYPES: &[(u32, &str)] = &[
    (150, "f16_r"), (151, "f32_r"), (152, "f64_r"), (153, "f16_c"), (154, "f32_c"), (155, "f64_c"),
    (160, "i8_r"), (161, "u8_r"), (162, "i32_r"), (163, "u32_r"), (164, "i8_c"), (165, "u8_c"), (166, "i32_c"), (167, "u32_c"),
    (168, "bf16_r"), (169, "bf16_c"), (170, "f8_r"), (171, "bf8_r"), (255, "invalid"),
];

/// `hipDataType` (library_types.h): below 150, and from 1000 on.
#[rustfmt::skip]
const HIP_DATATYPES: &[(u32, &str)] = &[
    (0, "f32_r"), (1, "f64_r"), (2, "f16_r"), (3, "i8_r"), (4, "f32_c"), (5, "f64_c"), (6, "f16_c"), (7, "i8_c"),
    (8, "u8_r"), (9, "u8_c"), (10, "i32_r"), (11, "i32_c"), (12, "u32_r"), (13, "u32_c"), (14, "bf16_r"), (15, "bf16_c"),
    (16, "i4_r"), (17, "i4_c"), (18, "u4_r"), (19, "u4_c"), (20, "i16_r"), (21, "i16_c"), (22, "u16_r"), (23, "u16_c"),
    (24, "i64_r"), (25, "i64_c"), (26, "u64_r"), (27, "u64_c"),
    (28, "f8_e4m3"), (29, "f8_e5m2"), (30, "f8_ue8m0"), (31, "f6_e2m3"), (32, "f6_e3m2"), (33, "f4_e2m1"),
    (1000, "f8_e4m3_fnuz"), (1001, "f8_e5m2_fnuz"),
];

/// An element type of any library: the ranges of their numbers do not overlap.
pub(crate) fn datatype(number: u32) -> Cow<'static, str> {
    match number {
        150..=255 => word(DATATYPES, number),
        _ => word(HIP_DATATYPES, number),
    }
}

/// `hipblasComputeType_t` (hipblas-common.h): below 150.
#[rustfmt::skip]
const COMPUTE_TYPES: &[(u32, &str)] = &[
    (0, "16f"), (1, "16f_pedantic"), (2, "32f"), (3, "32f_pedantic"), (4, "32f_fast_16f"), (5, "32f_fast_16bf"),
    (6, "32f_fast_tf32"), (7, "64f"), (8, "64f_pedantic"), (9, "32i"), (10, "32i_pedantic"),
    (100, "32f_fast_8f_fnuz"), (101, "32f_fast_8bf_fnuz"), (102, "32f_fast_8f8bf_fnuz"), (103, "32f_fast_8bf8f_fnuz"),
];

/// `rocblas_computetype` (rocblas-types.h), of the ex3 functions: from 300 on.
#[rustfmt::skip]
const EX3_TYPES: &[(u32, &str)] = &[
    (300, "f32"), (301, "f8_f8_f32"), (302, "f8_bf8_f32"), (303, "bf8_f8_f32"), (304, "bf8_bf8_f32"), (455, "invalid"),
];

/// The compute type of a GEMM; up to hipBLAS 2.x, and in rocBLAS except for ex3, it is an element
/// type.
pub(crate) fn compute(number: u32) -> Cow<'static, str> {
    match number {
        0..150 => word(COMPUTE_TYPES, number),
        150..=255 => datatype(number),
        _ => word(EX3_TYPES, number),
    }
}

/// `rocblas_gemm_algo` (rocblas-types.h), hipBLAS's only algorithm, or `none` for functions without
/// one.
pub(crate) fn gemm_algo(number: u32) -> Cow<'static, str> {
    match number {
        HIPBLAS_GEMM_DEFAULT => "default".into(),
        NO_ALGO => "none".into(),
        _ => word(&[(0, "standard"), (1, "solution_index")], number),
    }
}

/// The one value of `hipblasGemmAlgo_t` (hipblas.h).
const HIPBLAS_GEMM_DEFAULT: u32 = 160;

/// `rocblas_pointer_mode` (rocblas-types.h); `hipblasPointerMode_t` has the same numbers.
pub(crate) fn pointer_mode(number: u32) -> Cow<'static, str> {
    word(&[(0, "host"), (1, "device")], number)
}

/// `rocblas_atomics_mode` (rocblas-types.h); `hipblasAtomicsMode_t` has the same numbers.
pub(crate) fn atomics(number: u32) -> Cow<'static, str> {
    word(&[(0, "not_allowed"), (1, "allowed")], number)
}

/// `rocblas_math_mode` (rocblas-types.h); those values of `hipblasMath_t` that rocBLAS supports
/// have the same numbers.
pub(crate) fn math_mode(number: u32) -> Cow<'static, str> {
    word(&[(0, "default"), (1, "xf32_xdl")], number)
}

/// `rocblas_performance_metric` (rocblas-types.h).
pub(crate) fn metric(number: u32) -> Cow<'static, str> {
    word(&[(0, "default"), (1, "device_efficiency"), (2, "cu_efficiency")], number)
}

/// The compute type of hipBLASLt: `hipblasComputeType_t`, or up to ROCm 5.7
/// `hipblasLtComputeType_t` (hipblaslt.h), which has two values.
pub(crate) fn lt_compute(number: u32) -> Cow<'static, str> {
    match number {
        300 => "32f".into(),
        301 => "32f_fast_xf32".into(),
        _ => word(COMPUTE_TYPES, number),
    }
}

/// `hipblasLtEpilogue_t` (hipblaslt.h).
#[rustfmt::skip]
const EPILOGUES: &[(u32, &str)] = &[
    (1, "default"), (2, "relu"), (4, "bias"), (6, "relu_bias"), (32, "gelu"), (36, "gelu_bias"), (130, "relu_aux"),
    (134, "relu_aux_bias"), (160, "gelu_aux"), (164, "gelu_aux_bias"), (192, "dgelu"), (208, "dgelu_bgrad"),
    (256, "bgrada"), (512, "bgradb"), (65536, "swish"), (65540, "swish_bias"), (131072, "clamp"), (131076, "clamp_bias"),
    (131200, "clamp_aux"), (131204, "clamp_aux_bias"), (262144, "sigmoid"), (262148, "sigmoid_bias"),
];

pub(crate) fn lt_epilogue(number: u32) -> Cow<'static, str> {
    word(EPILOGUES, number)
}

/// `hipblasLtOrder_t` (hipblaslt.h).
#[rustfmt::skip]
const ORDERS: &[(u32, &str)] = &[
    (0, "col"), (1, "row"), (100, "col16_4r16"), (101, "col16_4r8"), (102, "col16_4r4"), (103, "col16_4r2"),
];

pub(crate) fn lt_order(number: u32) -> Cow<'static, str> {
    word(ORDERS, number)
}

/// `hipblasLtMatmulMatrixScale_t` (hipblaslt.h).
#[rustfmt::skip]
const SCALE_MODES: &[(u32, &str)] = &[
    (0, "scalar_32f"), (1, "vec16_ue4m3"), (2, "vec32_ue8m0"), (3, "outer_vec_32f"), (4, "vec128_32f"), (5, "blk128x128_32f"),
];

pub(crate) fn lt_scale_mode(number: u32) -> Cow<'static, str> {
    word(SCALE_MODES, number)
}

/// `hipblasLtPointerMode_t` (hipblaslt.h). 1 stays a number: it means device, but in ROCm 6.0 it
/// meant what is 4 now.
pub(crate) fn lt_pointer_mode(number: u32) -> Cow<'static, str> {
    match number {
        0 => "host".into(),
        4 => "alpha_device_vector_beta_host".into(),
        _ => number.to_string().into(),
    }
}

/// `miopenDataType_t` (miopen.h).
pub(crate) fn tensor_type(number: u32) -> Cow<'static, str> {
    #[rustfmt::skip]
    let table = [
        (0, "f16"), (1, "f32"), (2, "i32"), (3, "i8"), (4, "i8x4"), (5, "bf16"), (6, "f64"), (7, "f8"), (8, "bf8"), (9, "i64"),
    ];
    word(&table, number)
}

/// `miopenConvAlgorithm_t` and its three directions, which share their numbers (miopen.h).
pub(crate) fn conv_algorithm(number: u32) -> Cow<'static, str> {
    #[rustfmt::skip]
    let table = [(0, "gemm"), (1, "direct"), (2, "fft"), (3, "winograd"), (4, "transpose_gemm"), (5, "implicit_gemm")];
    word(&table, number)
}

/// The algorithm of a solver, by MIOpen's id table.
pub(crate) fn solver_algorithm(id: u64) -> &'static str {
    match solver(id).map_or("", |solver| solver.algorithm) {
        "GEMM" => "gemm",
        "Direct" => "direct",
        "FFT" => "fft",
        "Winograd" => "winograd",
        "ImplicitGEMM" => "implicit_gemm",
        _ => "unknown",
    }
}

/// `miopenConvolutionMode_t` (miopen.h).
pub(crate) fn conv_mode(number: u32) -> Cow<'static, str> {
    word(&[(0, "convolution"), (1, "transpose"), (2, "group"), (3, "depthwise")], number)
}

/// `hipMemcpyKind` (hip_runtime_api.h), and rocshim's additions; `None` if the arguments do not
/// determine it.
pub(crate) fn copy_kind(number: u32) -> Option<Cow<'static, str>> {
    #[rustfmt::skip]
    let table = [
        (0, "h2h"), (1, "h2d"), (2, "d2h"), (3, "d2d"), (4, "default"), (1024, "d2d_no_cu"), (PEER, "peer"),
    ];
    (number != UNKNOWN_KIND).then(|| word(&table, number))
}

/// `hipStreamCaptureMode` (hip_runtime_api.h).
pub(crate) fn capture_mode(number: u32) -> Cow<'static, str> {
    word(&[(0, "global"), (1, "thread_local"), (2, "relaxed")], number)
}

/// `hipGraphNodeType` (hip_runtime_api.h).
pub(crate) fn node_kind(number: u32) -> Cow<'static, str> {
    #[rustfmt::skip]
    let table = [
        (0, "kernel"), (1, "memcpy"), (2, "memset"), (3, "host"), (4, "graph"), (5, "empty"), (6, "wait_event"), (7, "record_event"),
        (8, "signal_semaphore"), (9, "wait_semaphore"), (10, "mem_alloc"), (11, "mem_free"), (12, "memcpy_from_symbol"),
        (13, "memcpy_to_symbol"), (14, "batch_mem_op"),
    ];
    word(&table, number)
}

/// Names of the convolution actions; events hold the index.
pub const CONV_ACTIONS: [&str; 9] = [
    "find",
    "run",
    "get_solution",
    "compile_solution",
    "immediate",
    "find_solutions",
    "run_solution",
    "compile_plan",
    "execute_plan",
];

/// Names of the directions of a convolution; events hold the index.
pub const CONV_DIRECTIONS: [&str; 3] = ["forward", "backward_data", "backward_weights"];

/// `ncclDataType_t` (nccl.h).
pub(crate) fn nccl_type(number: u32) -> Cow<'static, str> {
    #[rustfmt::skip]
    let table = [
        (0, "i8"), (1, "u8"), (2, "i32"), (3, "u32"), (4, "i64"), (5, "u64"), (6, "f16"), (7, "f32"), (8, "f64"), (9, "bf16"), (10, "f8e4m3"), (11, "f8e5m2"),
    ];
    word(&table, number)
}

/// `ncclRedOp_t` (nccl.h); from 5 on, operations that the program created.
pub(crate) fn nccl_op(number: u32) -> Cow<'static, str> {
    word(&[(0, "sum"), (1, "prod"), (2, "max"), (3, "min"), (4, "avg")], number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_number_stays_a_number() {
        assert_eq!(datatype(151), "f32_r");
        assert_eq!(datatype(4_000_000_000), "4000000000");
    }

    #[test]
    fn an_element_type_of_either_numbering_has_one_name() {
        for (old, new) in [(150, 2), (151, 0), (152, 1), (154, 4), (155, 5), (160, 3), (162, 10), (168, 14)] {
            assert_eq!(datatype(old), datatype(new));
        }
    }

    #[test]
    fn a_compute_type_depends_on_its_number_only() {
        let words = [151, 150, 2, 0, 4, 300].map(compute);
        assert_eq!(words, ["f32_r", "f16_r", "32f", "16f", "32f_fast_16f", "f32"]);
    }

    #[test]
    fn no_number_has_two_names() {
        for table in [DATATYPES, HIP_DATATYPES, COMPUTE_TYPES, EX3_TYPES] {
            let mut numbers: Vec<u32> = table.iter().map(|(number, _)| *number).collect();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), table.len());
        }
    }
}
