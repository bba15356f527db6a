//! What the exported functions of our own lead to, which are rows of the hook table as the vendors' are: they keep count of a
//! thread's phases, and that is all.

use crate::abi::hip::CName;
use crate::abi::roctx::Level;
use crate::platform::tls::{level, set_level};
use rocshim_trace::SHIM_LIBRARY;
use std::ffi::c_void;

/// The function behind the row `name` of library `of`, if that is a row of our own.
pub(crate) fn function(of: &str, name: &str) -> Option<*mut c_void> {
    let found = match name {
        _ if of != SHIM_LIBRARY => return None,
        "rocshim_phase_begin" => begin as *const c_void,
        "rocshim_phase_end" => end as *const c_void,
        "rocshim_mark" => mark as *const c_void,
        _ => return None,
    };
    Some(found.cast_mut())
}

extern "C-unwind" fn begin(_name: CName) -> Level {
    let before = level();
    set_level(before + 1);
    told(before)
}

extern "C-unwind" fn end() -> Level {
    let Some(left) = level().checked_sub(1) else { return Level(-1) };
    set_level(left);
    told(left)
}

extern "C-unwind" fn mark(_text: CName) {}

fn told(level: usize) -> Level {
    Level(i32::try_from(level).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_at_the_level_of_those_that_go_on() {
        let levels = [end(), begin(std::ptr::null()), begin(std::ptr::null()), end(), end(), end()];
        assert_eq!(levels.map(|level| level.0), [-1, 0, 1, 1, 0, -1]);
    }

    #[test]
    fn only_rows_of_our_own_lead_here() {
        assert!(function(SHIM_LIBRARY, "rocshim_mark").is_some());
        assert!(function("libamdhip64.so", "rocshim_mark").is_none());
        assert!(function(SHIM_LIBRARY, "hipLaunchKernel").is_none());
    }
}
