//! Rows of rocRAND: generation of random numbers. Signatures as in rocrand.h.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;

spans! { "librocrand.so", from super::first::rocrand;
    fn rocrand_generate(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn rocrand_generate_char(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn rocrand_generate_log_normal(generator: Pointer, output_data: Pointer, n: usize, mean: f32, stddev: f32) -> i32;
    fn rocrand_generate_log_normal_double(generator: Pointer, output_data: Pointer, n: usize, mean: f64, stddev: f64) -> i32;
    fn rocrand_generate_long_long(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn rocrand_generate_normal(generator: Pointer, output_data: Pointer, n: usize, mean: f32, stddev: f32) -> i32;
    fn rocrand_generate_normal_double(generator: Pointer, output_data: Pointer, n: usize, mean: f64, stddev: f64) -> i32;
    fn rocrand_generate_poisson(generator: Pointer, output_data: Pointer, n: usize, lambda: f64) -> i32;
    fn rocrand_generate_short(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn rocrand_generate_uniform(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn rocrand_generate_uniform_double(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn rocrand_generate_uniform_half(generator: Pointer, output_data: Pointer, n: usize) -> i32;
    fn rocrand_initialize_generator(generator: Pointer) -> i32;
}
