//! The vendors' numbers as words. A number that no table has stays a number: it is what was passed.

use std::borrow::Cow;

/// A word for a number, or the number itself.
fn word(table: &[(u32, &'static str)], number: u32) -> Cow<'static, str> {
    match table.iter().find(|(n, _)| *n == number) {
        Some((_, word)) => Cow::Borrowed(word),
        None => Cow::Owned(number.to_string()),
    }
}

/// `rocblas_operation` (rocblas-types.h).
pub(crate) fn operation(number: u32) -> Cow<'static, str> {
    word(&[(111, "N"), (112, "T"), (113, "C")], number)
}

/// `rocblas_datatype` (rocblas-types.h); hipBLAS up to 2.x uses the same numbers.
#[rustfmt::skip]
const DATATYPES: &[(u32, &str)] = &[
    (150, "f16_r"), (151, "f32_r"), (152, "f64_r"), (153, "f16_c"), (154, "f32_c"), (155, "f64_c"),
    (160, "i8_r"), (161, "u8_r"), (162, "i32_r"), (163, "u32_r"), (164, "i8_c"), (165, "u8_c"), (166, "i32_c"), (167, "u32_c"),
    (168, "bf16_r"), (169, "bf16_c"), (170, "f8_r"), (171, "bf8_r"), (255, "invalid"),
];

pub(crate) fn datatype(number: u32) -> Cow<'static, str> {
    word(DATATYPES, number)
}

/// `rocblas_gemm_algo` (rocblas-types.h).
pub(crate) fn gemm_algo(number: u32) -> Cow<'static, str> {
    word(&[(0, "standard"), (1, "solution_index")], number)
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

/// `miopenConvolutionMode_t` (miopen.h).
pub(crate) fn conv_mode(number: u32) -> Cow<'static, str> {
    word(&[(0, "convolution"), (1, "transpose"), (2, "group"), (3, "depthwise")], number)
}

/// What a convolution call does; events hold the index.
pub const CONV_ACTIONS: [&str; 5] = ["find", "run", "get_solution", "compile_solution", "immediate"];

/// Which of the three products of a convolution; events hold the index.
pub const CONV_DIRECTIONS: [&str; 3] = ["forward", "backward_data", "backward_weights"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_number_stays_a_number() {
        assert_eq!(datatype(151), "f32_r");
        assert_eq!(datatype(4_000_000_000), "4000000000");
    }
}
