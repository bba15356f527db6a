//! First GEMMs of a shape on stacks that Rust makes; prints what gemm_callers.cpp prints.
#![allow(unsafe_code)] // calls rocBLAS, and reads where a function returns to

use std::arch::asm;
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[allow(non_snake_case)]
unsafe extern "C" {
    fn rocblas_create_handle(handle: *mut *mut c_void) -> i32;
    fn rocblas_sgemm(
        handle: *mut c_void, transA: i32, transB: i32, m: i32, n: i32, k: i32, alpha: *const f32,
        A: *const f32, lda: i32, B: *const f32, ldb: i32, beta: *const f32, C: *mut f32, ldc: i32,
    ) -> i32;
}
unsafe extern "C" {
    static __executable_start: u8;
}

thread_local! {
    static RETURNS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn linked(address: usize) -> usize {
    address - &raw const __executable_start as usize
}

/// The function is on the stack, until it returns or is unwound.
struct Here;

impl Here {
    fn new(address: usize) -> Here {
        RETURNS.with_borrow_mut(|returns| returns.push(linked(address)));
        Here
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        RETURNS.with_borrow_mut(|returns| returns.truncate(returns.len() - 1));
    }
}

/// Compiled with frame pointers, a function finds where it returns to above the saved one.
macro_rules! here {
    () => {{
        let address: usize;
        unsafe { asm!("mov {}, [rbp + 8]", out(reg) address, options(nostack, readonly)) };
        Here::new(address)
    }};
}

#[inline(never)]
fn gemm(rows: i32) {
    let _here = here!();
    let returns: Vec<String> =
        RETURNS.with_borrow(|returns| returns.iter().rev().map(|at| format!("{at:#x}")).collect());
    println!("{rows} {:#x} {}", linked(gemm as fn(i32) as usize), returns.join(" "));
    let (one, mut matrix) = (1.0_f32, [0.0_f32; 1024]);
    let mut handle = std::ptr::null_mut();
    assert_eq!(unsafe { rocblas_create_handle(&mut handle) }, 0);
    for _ in 0..2 {
        let (to, from) = (matrix.as_mut_ptr(), matrix.as_ptr());
        let status = unsafe { rocblas_sgemm(handle, 111, 111, rows, 8, 8, &one, from, rows, from, 8, &one, to, rows) };
        assert_eq!(status, 0);
    }
}

trait Layer {
    fn forward(&self, rows: i32);
}

struct Linear<const N: usize>;

impl<const N: usize> Layer for Linear<N> {
    #[inline(never)]
    fn forward(&self, rows: i32) {
        let _here = here!();
        gemm(rows);
    }
}

/// Makes a GEMM when it is dropped.
struct Late(i32);

impl Drop for Late {
    #[inline(never)]
    fn drop(&mut self) {
        let _here = here!();
        gemm(self.0);
    }
}

#[inline(never)]
fn panics(rows: i32) {
    let _here = here!();
    let _late = Late(rows);
    std::panic::resume_unwind(Box::new(rows));
}

#[inline(never)]
fn generic<T: Fn(i32)>(call: T, rows: i32) {
    let _here = here!();
    call(rows);
}

fn main() {
    gemm(16);
    let layers: [Box<dyn Layer>; 2] = [Box::new(Linear::<1>), Box::new(Linear::<2>)];
    layers.iter().zip(17..).for_each(|(layer, rows)| layer.forward(rows));
    assert!(catch_unwind(AssertUnwindSafe(|| panics(19))).is_err());
    generic(|rows| generic(gemm, rows), 20);
    std::thread::spawn(|| generic(gemm, 21)).join().expect("the thread ends");
}
