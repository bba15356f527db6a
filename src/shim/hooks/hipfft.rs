//! Rows of hipFFT: execution of transforms. Signatures as in hipfft.h and hipfftXt.h.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;

spans! { "libhipfft.so", from super::first::hipfft;
    fn hipfftExecC2C(plan: Pointer, idata: Pointer, odata: Pointer, direction: i32) -> i32;
    fn hipfftExecC2R(plan: Pointer, idata: Pointer, odata: Pointer) -> i32;
    fn hipfftExecD2Z(plan: Pointer, idata: Pointer, odata: Pointer) -> i32;
    fn hipfftExecR2C(plan: Pointer, idata: Pointer, odata: Pointer) -> i32;
    fn hipfftExecZ2D(plan: Pointer, idata: Pointer, odata: Pointer) -> i32;
    fn hipfftExecZ2Z(plan: Pointer, idata: Pointer, odata: Pointer, direction: i32) -> i32;
    fn hipfftXtExec(plan: Pointer, input: Pointer, output: Pointer, direction: i32) -> i32;
    fn hipfftXtExecDescriptor(plan: Pointer, input: Pointer, output: Pointer, direction: i32) -> i32;
    fn hipfftXtExecDescriptorC2C(plan: Pointer, input: Pointer, output: Pointer, direction: i32) -> i32;
    fn hipfftXtExecDescriptorC2R(plan: Pointer, input: Pointer, output: Pointer) -> i32;
    fn hipfftXtExecDescriptorD2Z(plan: Pointer, input: Pointer, output: Pointer) -> i32;
    fn hipfftXtExecDescriptorR2C(plan: Pointer, input: Pointer, output: Pointer) -> i32;
    fn hipfftXtExecDescriptorZ2D(plan: Pointer, input: Pointer, output: Pointer) -> i32;
    fn hipfftXtExecDescriptorZ2Z(plan: Pointer, input: Pointer, output: Pointer, direction: i32) -> i32;
}
