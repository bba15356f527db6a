//! Rows of hipRAND: generation of random numbers. Signatures as in hiprand.h.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;

spans! { "libhiprand.so", from super::first::hiprand;
    fn hiprandGenerate(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn hiprandGenerateChar(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn hiprandGenerateLogNormal(generator: Pointer, output_data: Pointer, n: usize, mean: f32, stddev: f32) -> i32;
    fn hiprandGenerateLogNormalDouble(generator: Pointer, output_data: Pointer, n: usize, mean: f64, stddev: f64) -> i32;
    fn hiprandGenerateLongLong(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn hiprandGenerateNormal(generator: Pointer, output_data: Pointer, n: usize, mean: f32, stddev: f32) -> i32;
    fn hiprandGenerateNormalDouble(generator: Pointer, output_data: Pointer, n: usize, mean: f64, stddev: f64) -> i32;
    fn hiprandGeneratePoisson(generator: Pointer, output_data: Pointer, n: usize, lambda: f64) -> i32;
    fn hiprandGenerateSeeds(generator: Pointer) -> i32;
    fn hiprandGenerateShort(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn hiprandGenerateUniform(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn hiprandGenerateUniformDouble(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn hiprandGenerateUniformHalf(generator: Pointer, output_data: Pointer, n: usize) -> i32;
}
