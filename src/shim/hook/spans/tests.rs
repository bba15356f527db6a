//! The wrapper preserves arguments wherever they are passed, results, and exceptions.
#![allow(unsafe_code)] // calls the entry points of rows

use super::{Class, stack_words};
use crate::platform::tls;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Rows of a library that does not exist.
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
    let integers = (a, c as usize, e, f, i, j, n, r as usize, s);
    let floats = ([b, g, h, l, m, o, p], [d, k, q]);
    assert_eq!(integers, (-1, 2, i64::MIN, 4, usize::MAX, 6, true, 8, -9));
    assert_eq!(floats, ([0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5], [7.5, 8.5, 9.5]));
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

/// Binds entry point 1 of a row to `real` and returns its trampoline.
fn entry(row: usize, real: *const c_void) -> *mut c_void {
    tls::set_off();
    let hook = &rows::HOOKS[row];
    hook.entry_points[1].set_target(real.cast_mut());
    hook.entry_points[1].trampoline()
}

#[test]
fn every_argument_and_the_result_are_preserved() {
    // SAFETY: the trampoline passes its arguments on to `mixed`, which has this type.
    let call: Mixed = unsafe { std::mem::transmute(entry(0, mixed as *const c_void)) };
    let (two, eight) = (std::ptr::without_provenance(2), std::ptr::without_provenance_mut(8));
    // SAFETY: `mixed` only reads its arguments and follows no pointer.
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
    // SAFETY: the trampoline passes its arguments on to `odd`, which has this type.
    let call: Odd = unsafe { std::mem::transmute(entry(2, odd as *const c_void)) };
    // SAFETY: `odd` only reads its arguments.
    assert_eq!(unsafe { call(1, 2, 3, 4, 5, 6, 7) }, 0);
}

#[test]
fn an_exception_passes_through() {
    // SAFETY: the trampoline passes the call on to `none`, which has this type.
    let call: unsafe extern "C-unwind" fn() -> i32 =
        unsafe { std::mem::transmute(entry(1, none as *const c_void)) };
    // SAFETY: `none` takes no arguments, and may unwind through this `C-unwind` call.
    let thrown = catch_unwind(AssertUnwindSafe(|| unsafe { call() })).expect_err("it throws");
    assert_eq!(thrown.downcast_ref(), Some(&"as C++ would throw"));
}

#[test]
fn words_on_the_stack_are_those_that_no_register_holds() {
    let (integers, floats) = (Class::Integer, Class::Float);
    assert_eq!(stack_words(&[]), 0);
    assert_eq!(stack_words(&[integers; 6]), 0);
    assert_eq!(stack_words(&[integers; 9]), 3);
    assert_eq!(stack_words(&[floats; 10]), 2);
    assert_eq!(stack_words(&[[integers; 7], [floats; 7]].concat()), 1);
}
