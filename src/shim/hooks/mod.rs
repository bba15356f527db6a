//! The hook table: every hooked function, one row each, library by library.
//!
//! A function exported under its own name appears to exist even if the loaded ROCm does not have
//! it. A program that looks it up in the global scope (`dlsym(RTLD_DEFAULT, …)`), or has a weak
//! reference to it, would call it and get `hipErrorNotSupported` instead of choosing another
//! function. Triton, ctypes, JAX, aiter and IREE query the library's own handle or
//! `hipGetProcAddress`, which our exports do not affect. TVM's stub and compiler-rt's interceptors
//! query RTLD_DEFAULT, for names that every ROCm has. No program with a weak reference to a HIP
//! function is known.
//!
//! So functions up to ROCm 6.3 are exported, and later ones (`unexported!`) are not. These are
//! reached through the other interception points, which replace only addresses of functions that
//! exist.

/// Makes rows of this file unexported: hidden from the dynamic linker, although `hooks!` exports
/// them.
macro_rules! unexported {
    ($($name:literal)*) => {
        $(core::arch::global_asm!(concat!(".hidden ", $name));)*

        #[cfg(test)]
        pub(super) const UNEXPORTED: &[&str] = &[$($name),*];

        const _: () = {
            const LIST: &str = concat!($($name, "\tnot exported\x1e"),*);
            rocshim_section!(".rocshim.unexported", LIST);
        };
    };
}

pub(crate) mod hip;
pub(crate) mod hip_copy;
pub(crate) mod hip_graph;
pub(crate) mod hip_sync;
pub(crate) mod hipblas;
pub(crate) mod hipblas_typed;
pub(crate) mod hipblaslt;
pub(crate) mod hipfft;
pub(crate) mod hiprand;
pub(crate) mod hipsparse;
pub(crate) mod miopen;
pub(crate) mod miopen_handles;
pub(crate) mod miopen_layers;
pub(crate) mod rccl;
pub(crate) mod rocblas;
pub(crate) mod rocblas_levels;
pub(crate) mod rocblas_typed;
pub(crate) mod rocfft;
pub(crate) mod rocrand;
pub(crate) mod rocshim;
pub(crate) mod rocsolver;
pub(crate) mod rocsparse;
pub(crate) mod roctx;

use crate::table::row::{Hook, Table};
use std::ffi::CStr;

/// Declares the libraries in the order of their rows, and the id of each library's first row.
macro_rules! libraries {
    ($($library:ident)*) => {
        /// Returns every row, in the order of ids.
        fn rows() -> impl Iterator<Item = &'static Hook> {
            std::iter::empty()$(.chain(&$library::HOOKS))*
        }

        /// Id of each library's first row.
        #[allow(non_upper_case_globals)] // the modules' names
        pub(crate) mod first {
            libraries! { @first 0; $($library)* }
        }
    };
    (@first $id:expr; $library:ident $($rest:ident)*) => {
        pub(crate) const $library: u16 = $id;
        libraries! { @first $library + super::$library::HOOKS.len() as u16; $($rest)* }
    };
    (@first $id:expr;) => {};
}

libraries! {
    hip hip_graph hip_copy hip_sync rocblas rocblas_typed rocblas_levels hipblas hipblas_typed hipblaslt miopen miopen_handles
    miopen_layers rccl roctx rocfft hipfft rocrand hiprand rocsparse hipsparse rocsolver
    rocshim
}

/// Returns every row, in the order of ids.
pub(crate) fn table() -> Table {
    rows().collect()
}

/// Returns the row of function `name`. Allocates nothing, because `dlsym` may be called in any
/// state of the program.
pub(crate) fn row_named(name: &CStr) -> Option<&'static Hook> {
    rows().find(|hook| hook.name.as_bytes() == name.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_indices_in_the_table() {
        assert!(table().iter().enumerate().all(|(place, hook)| hook.id as usize == place));
    }

    #[test]
    fn no_function_has_two_rows() {
        let mut names: Vec<_> = table().iter().map(|hook| hook.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn unexported_functions_are_in_the_table() {
        let names: Vec<_> = table().iter().map(|hook| hook.name).collect();
        let unexported = [
            hip::UNEXPORTED,
            hip_copy::UNEXPORTED,
            hip_sync::UNEXPORTED,
            miopen_layers::UNEXPORTED,
            rocsparse::UNEXPORTED,
        ]
        .concat();
        assert!(unexported.iter().all(|name| names.contains(name)));
    }
}
