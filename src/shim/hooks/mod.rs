//! The table: every hooked function, a row each, library by library.

pub(crate) mod hip;
pub(crate) mod hipblas;
pub(crate) mod hipblas_typed;
pub(crate) mod miopen;
pub(crate) mod rocblas;
pub(crate) mod rocblas_typed;

use crate::row::{Hook, Table};
use std::ffi::CStr;

/// Declares the libraries in the order of their rows: all of these, and the id of each library's first.
macro_rules! libraries {
    ($($library:ident)*) => {
        /// Every row, in the order of their ids.
        fn rows() -> impl Iterator<Item = &'static Hook> {
            std::iter::empty()$(.chain(&$library::HOOKS))*
        }

        /// The id of each library's first row.
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

libraries! { hip rocblas rocblas_typed hipblas hipblas_typed miopen }

/// Every row, in the order of their ids.
pub(crate) fn table() -> Table {
    rows().collect()
}

/// The row of the function `name`. Allocates nothing: the C library asks in the middle of whatever the program does.
pub(crate) fn row_named(name: &CStr) -> Option<&'static Hook> {
    rows().find(|hook| hook.name.as_bytes() == name.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_places_in_the_table() {
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
}
