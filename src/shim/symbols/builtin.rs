//! Built-in functions: the implementation behind the rows of librocshim.so's own C API
//! (`rocshim.h`). They only count the nesting of a thread's phases; the hook records the call.

use crate::abi::hip::CName;
use crate::abi::roctx::Level;
use crate::platform::tls::{phase_depth, set_phase_depth};
use rocshim_trace::SHIM_LIBRARY;
use std::ffi::c_void;

/// Returns the built-in function behind row `name` of library `of`; `None` for other libraries and
/// names.
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
    let before = phase_depth();
    set_phase_depth(before + 1);
    as_level(before)
}

extern "C-unwind" fn end() -> Level {
    let Some(left) = phase_depth().checked_sub(1) else { return Level(-1) };
    set_phase_depth(left);
    as_level(left)
}

extern "C-unwind" fn mark(_text: CName) {}

fn as_level(level: usize) -> Level {
    Level(i32::try_from(level).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_returns_the_depth_of_the_phases_around_it() {
        let levels = [end(), begin(std::ptr::null()), begin(std::ptr::null()), end(), end(), end()];
        assert_eq!(levels.map(|level| level.0), [-1, 0, 1, 1, 0, -1]);
    }

    #[test]
    fn only_our_own_rows_have_builtin_functions() {
        assert!(function(SHIM_LIBRARY, "rocshim_mark").is_some());
        assert!(function("libamdhip64.so", "rocshim_mark").is_none());
        assert!(function(SHIM_LIBRARY, "hipLaunchKernel").is_none());
    }
}
