//! Rows of librocshim.so's own C API (`include/rocshim.h`). Each is recorded like its counterpart
//! in roctx.
#![allow(unsafe_code)] // exports

use crate::abi::hip::CName;
use crate::abi::roctx::Level;
use crate::calls::mark::{mark, pop, push};

hooks! { "librocshim.so", from super::first::rocshim;
    fn rocshim_phase_begin(name: CName) -> Level => push(name);
    fn rocshim_phase_end() -> Level => pop();
    fn rocshim_mark(text: CName) -> () => mark(text);
}

#[cfg(test)]
mod tests {
    use super::HOOKS;
    use crate::symbols::builtin;

    #[test]
    fn every_row_has_a_builtin_function() {
        assert!(HOOKS.iter().all(|hook| builtin::function(hook.of, hook.name).is_some()));
    }
}
