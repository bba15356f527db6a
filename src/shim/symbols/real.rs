//! Finds the real function behind an exported hook: the one that the caller would reach without the
//! shim.
//!
//! With one copy of the library in the process, that copy's function is the one, however the copy
//! was loaded: `dlsym(RTLD_NEXT)` does not see libraries opened with `RTLD_LOCAL`, as ggml and
//! CPython do. With several copies the loader's order decides: first what follows the shim in the
//! global scope, then what the caller itself is linked with.
#![allow(unsafe_code)] // dlsym

use crate::platform::fork::block_forks;
use crate::platform::objects::{self, Object};
use crate::symbols::builtin;
use crate::table::row::Hook;
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// A real function and the file that holds it.
pub(crate) struct RealFunction {
    pub(crate) address: *mut c_void,
    pub(crate) path: String,
    /// The result depends on the caller: another caller would reach another copy.
    pub(crate) is_callers: bool,
}

/// Finds the real function of `hook` for the call in progress; `None` when no loaded library has
/// it.
pub(crate) fn find(hook: &Hook) -> Option<RealFunction> {
    if let Some(address) = builtin::function(hook.of, hook.name) {
        let path = objects::holder(address)?.path;
        return Some(RealFunction { address, path, is_callers: false });
    }
    let objects = objects::objects();
    let of_library = objects.iter().filter(|object| object.is(hook.of));
    let copies: Vec<(*mut c_void, &Object)> =
        of_library.filter_map(|object| Some((objects::symbol(object, hook.name)?, object))).collect();
    let found = |(address, object): (*mut c_void, &Object), is_callers| {
        Some(RealFunction { address, path: object.path.clone(), is_callers })
    };
    match copies.as_slice() {
        [] => in_global_scope(hook),
        [one] => found(*one, false),
        [first, ..] => in_global_scope(hook).or_else(|| {
            let of_caller = caller().and_then(|caller| linked_with(caller, &objects, &copies));
            found(of_caller.unwrap_or(*first), true)
        }),
    }
}

/// A read-only function of a library that the shim itself calls. Looked up again when libraries
/// come or go.
pub(crate) struct Accessor {
    of: &'static str,
    name: &'static str,
    address: AtomicPtr<c_void>,
    /// The loader's generation at the last lookup.
    generation: AtomicU64,
}

impl Accessor {
    /// Names function `name` of library `of` (`libMIOpen.so`).
    pub(crate) const fn new(of: &'static str, name: &'static str) -> Accessor {
        let (address, generation) = (AtomicPtr::new(std::ptr::null_mut()), AtomicU64::new(0));
        Accessor { of, name, address, generation }
    }

    /// Returns its address; `None` when no loaded library has it.
    pub(crate) fn get(&self) -> Option<*mut c_void> {
        let generation = objects::generation();
        // Acquire: pairs with the release store below, so that `address` belongs to this
        // generation.
        if self.generation.load(Acquire) != generation {
            self.address.store(objects::first_symbol(&[self.of], self.name), Relaxed);
            self.generation.store(generation, Release);
        }
        let address = self.address.load(Relaxed);
        (!address.is_null()).then_some(address)
    }
}

/// Finds the function that follows the shim in the global scope.
fn in_global_scope(hook: &Hook) -> Option<RealFunction> {
    let name = CString::new(hook.name).ok()?;
    let _held = block_forks();
    // SAFETY: `name` is NUL-terminated and outlives the call. RTLD_NEXT searches after this
    // library, which contains the call.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if address.is_null() {
        // SAFETY: `dlerror` has no preconditions. It clears the failure's text, so that the program
        // does not find it.
        unsafe { libc::dlerror() };
        return None;
    }
    let path = objects::holder(address).map_or_else(|| "unknown".into(), |object| object.path);
    Some(RealFunction { address, path, is_callers: false })
}

/// Returns the return address of the program's call.
fn caller() -> Option<*const c_void> {
    let own = objects::holder(caller as *const c_void)?;
    let mut found = None;
    backtrace::trace(|frame| {
        let ip = frame.ip().cast_const();
        found = (!own.holds(ip)).then_some(ip);
        found.is_none()
    });
    found
}

/// Finds the first of `copies` that the object at `caller` is linked with, directly or indirectly,
/// in the loader's breadth-first order.
fn linked_with<'a>(
    caller: *const c_void,
    objects: &'a [Object],
    copies: &[(*mut c_void, &'a Object)],
) -> Option<(*mut c_void, &'a Object)> {
    let mut queue: Vec<&Object> = objects.iter().filter(|object| object.holds(caller)).collect();
    let mut at = 0;
    while let Some(object) = queue.get(at).copied() {
        at += 1;
        if let Some(copy) = copies.iter().find(|(_, copy)| *copy == object) {
            return Some(*copy);
        }
        for soname in objects::needed(object) {
            let next = objects.iter().find(|object| objects::is_called(object, &soname));
            queue.extend(next.filter(|next| !queue.contains(next)));
        }
    }
    None
}
