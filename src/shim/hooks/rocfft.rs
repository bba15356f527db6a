//! Rows of rocFFT: execution of transforms. Signature as in rocfft.h.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;

spans! { "librocfft.so", from super::first::rocfft;
    fn rocfft_execute(plan: Pointer, in_buffer: Pointer, out_buffer: Pointer, info: Pointer) -> i32;
}
