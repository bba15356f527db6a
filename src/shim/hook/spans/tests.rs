//! What goes through the passage comes out of it: arguments wherever they are passed, results, exceptions.
#![allow(unsafe_code)] // calls the entries of rows

use super::{Class, stack_words};
use crate::platform::tls;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Rows of no library.
mod rows {
    #![allow(non_snake_case)]

    /// A table of these rows alone.
    fn table() -> crate::table::row::Table {
        HOOKS.iter().collect()
    }

    mod inner {
        spans! { "libnothing.so", from 0;
            fn rocshim_test_mixed(a: i32, b: f64, c: *const u8, d: f32, e: i64, f: u8, g: f64, h: f64, i: usize, j: u32, k: f32, l: f64, m: f64, n: bool, o: f64, p: f64, q: f32, r: *mut i8, s: i16) -> i32;
            fn rocshim_test_none() -> i32;
            fn rocshim_test_odd(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64) -> i32;
        }
    }
    pub(super) use inner::HOOKS;
}

type Mixed = unsafe extern "C-unwind" fn(
    i32,
    f64,
    *const u8,
    f32,
    i64,
    u8,
    f64,
    f64,
    usize,
    u32,
    f32,
    f64,
    f64,
    bool,
    f64,
    f64,
    f32,
    *mut i8,
    i16,
) -> i32;

#[allow(clippy::too_many_arguments)]
unsafe extern "C-unwind" fn mixed(
    a: i32,
    b: f64,
    c: *const u8,
    d: f32,
    e: i64,
    f: u8,
    g: f64,
    h: f64,
    i: usize,
    j: u32,
    k: f32,
    l: f64,
    m: f64,
    n: bool,
    o: f64,
    p: f64,
    q: f32,
    r: *mut i8,
    s: i16,
) -> i32 {
    let whole = (a, c as usize, e, f, i, j, n, r as usize, s);
    let float = ([b, g, h, l, m, o, p], [d, k, q]);
    assert_eq!(whole, (-1, 2, i64::MIN, 4, usize::MAX, 6, true, 8, -9));
    assert_eq!(float, ([0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5], [7.5, 8.5, 9.5]));
    -7
}

unsafe extern "C-unwind" fn none() -> i32 {
    panic!("as C++ would throw")
}

unsafe extern "C-unwind" fn odd(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64) -> i32 {
    assert_eq!([a, b, c, d, e, f, g], [1, 2, 3, 4, 5, 6, 7]);
    let aligned = 0u128;
    assert_eq!((&raw const aligned).addr() % 16, 0);
    0
}

/// The entry of a row by way 1, which leads to `real` from now on.
fn entry(row: usize, real: *const c_void) -> *mut c_void {
    tls::off();
    let hook = &rows::HOOKS[row];
    hook.ways[1].lead_to(real.cast_mut());
    hook.ways[1].own()
}

#[test]
fn every_argument_and_the_result_pass_through() {
    // SAFETY: the entry passes on what it is given to a function of this type.
    let call: Mixed = unsafe { std::mem::transmute(entry(0, mixed as *const c_void)) };
    let (two, eight) = (std::ptr::without_provenance(2), std::ptr::without_provenance_mut(8));
    // SAFETY: it reads its arguments.
    let status = unsafe {
        call(
            -1,
            0.5,
            two,
            7.5,
            i64::MIN,
            4,
            1.5,
            2.5,
            usize::MAX,
            6,
            8.5,
            3.5,
            4.5,
            true,
            5.5,
            6.5,
            9.5,
            eight,
            -9,
        )
    };
    assert_eq!(status, -7);
}

#[test]
fn an_odd_number_of_words_leaves_the_stack_aligned() {
    type Odd = unsafe extern "C-unwind" fn(u64, u64, u64, u64, u64, u64, u64) -> i32;
    // SAFETY: as above.
    let call: Odd = unsafe { std::mem::transmute(entry(2, odd as *const c_void)) };
    // SAFETY: as above.
    assert_eq!(unsafe { call(1, 2, 3, 4, 5, 6, 7) }, 0);
}

#[test]
fn an_exception_passes_through() {
    // SAFETY: as above.
    let call: unsafe extern "C-unwind" fn() -> i32 =
        unsafe { std::mem::transmute(entry(1, none as *const c_void)) };
    // SAFETY: as above.
    let thrown = catch_unwind(AssertUnwindSafe(|| unsafe { call() })).expect_err("it throws");
    assert_eq!(thrown.downcast_ref(), Some(&"as C++ would throw"));
}

#[test]
fn words_on_the_stack_are_those_that_no_register_holds() {
    let (whole, float) = (Class::Whole, Class::Float);
    assert_eq!(stack_words(&[]), 0);
    assert_eq!(stack_words(&[whole; 6]), 0);
    assert_eq!(stack_words(&[whole; 9]), 3);
    assert_eq!(stack_words(&[float; 10]), 2);
    assert_eq!(stack_words(&[[whole; 7], [float; 7]].concat()), 1);
}
