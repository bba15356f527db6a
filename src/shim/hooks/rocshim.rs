//! Rows of our own: what a program tells of itself by `include/rocshim.h`. Each is recorded as its twin of roctx is.
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
    use crate::symbols::trampolines;

    #[test]
    fn every_row_leads_to_a_function() {
        assert!(HOOKS.iter().all(|hook| trampolines::function(hook.of, hook.name).is_some()));
    }
}
