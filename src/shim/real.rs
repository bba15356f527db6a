//! Finding the real function behind a hook: in the library that the process has loaded, however it was loaded.
//!
//! `dlsym(RTLD_NEXT)` is blind to what was opened `RTLD_LOCAL` (as ggml and CPython do), so the library is looked up
//! among the loaded objects and asked by its own handle. Nothing is ever loaded that was not there.
#![allow(unsafe_code)] // dlsym

use crate::loaded;
use dlopen2::raw::Library;
use std::ffi::{CString, c_void};

/// A real function and the file that holds it.
pub(crate) struct Found {
    pub(crate) address: *mut c_void,
    pub(crate) path: String,
}

/// Finds `symbol` in the loaded library `of` (`libamdhip64.so`), or else in whatever comes after the shim in the global
/// scope. Never gives `own`, the shim's function of that name.
pub(crate) fn find(of: &str, symbol: &str, own: *const c_void) -> Option<Found> {
    let by_library = || {
        let objects = loaded::objects();
        objects
            .iter()
            .filter(|object| object.is(of))
            .find_map(|object| Some((in_object(&object.path, symbol)?, &object.path)))
            .filter(|(address, _)| !std::ptr::eq(*address, own))
            .map(|(address, path)| Found { address, path: path.clone() })
    };
    by_library().or_else(|| in_global_scope(symbol, own))
}

fn in_object(path: &str, symbol: &str) -> Option<*mut c_void> {
    // The handle is closed again at the end: the program alone decides how long its libraries live.
    let library = Library::open_with_flags(path, Some(libc::RTLD_NOLOAD | libc::RTLD_LAZY)).ok()?;
    // SAFETY: only an address is taken; whoever calls it casts it to the type of the vendor's header.
    unsafe { library.symbol::<*mut c_void>(symbol) }.ok()
}

fn in_global_scope(symbol: &str, own: *const c_void) -> Option<Found> {
    let name = CString::new(symbol).ok()?;
    // SAFETY: a C string; RTLD_NEXT is resolved relative to this library.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    let holder = loaded::objects().into_iter().find(|object| object.offset_of(address as u64).is_some());
    let found = !address.is_null() && !std::ptr::eq(address, own);
    found.then(|| Found { address, path: holder.map_or_else(|| "unknown".into(), |object| object.path) })
}
