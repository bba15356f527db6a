//! Destructors of this library's thread-local values, run when their thread ends.
//!
//! Rust's runtime registers them with the C library, which allocates from the program's `malloc`
//! and ends the process when that fails. A function of that name in this library, hidden from all
//! others, keeps them in the shim's own memory. Where the C library has no key left for that, they
//! do not run: what the values hold is leaked.
#![allow(unsafe_code)] // a C function by its name, and a list through a thread-specific value

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

/// A registered destructor; `before` is the entry that the thread registered before it, or NULL.
struct Entry {
    destructor: unsafe extern "C" fn(*mut c_void),
    value: *mut c_void,
    before: *mut c_void,
}

core::arch::global_asm!(
    ".globl __cxa_thread_atexit_impl",
    ".hidden __cxa_thread_atexit_impl",
    ".type __cxa_thread_atexit_impl, @function",
    "__cxa_thread_atexit_impl: jmp {register}",
    register = sym register,
);

/// The key of each thread's last entry.
fn key() -> Option<libc::pthread_key_t> {
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: `key` receives the new key; `run` is a function of this library, which is never
        // unloaded.
        (unsafe { libc::pthread_key_create(&mut key, Some(run)) } == 0).then_some(key)
    })
}

unsafe extern "C" fn register(
    destructor: unsafe extern "C" fn(*mut c_void),
    value: *mut c_void,
    _library: *mut c_void,
) -> c_int {
    let Some(key) = key() else { return -1 };
    // SAFETY: `key` was created and is never deleted.
    let before = unsafe { libc::pthread_getspecific(key) };
    let entry = Box::into_raw(Box::new(Entry { destructor, value, before }));
    // SAFETY: `key` was created and is never deleted; only this module reads the value.
    unsafe { libc::pthread_setspecific(key, entry.cast()) }
}

/// Runs the destructors of the ending thread, the last registered first. The C library calls this
/// again for those that are registered meanwhile.
unsafe extern "C" fn run(mut last: *mut c_void) {
    while !last.is_null() {
        // SAFETY: the thread's value for the key, or `before` of one: an entry that `register` has
        // leaked, taken once.
        let entry = unsafe { Box::from_raw(last.cast::<Entry>()) };
        // SAFETY: Rust's runtime registered this destructor for this value on this thread, and the
        // entry, which is freed here, is run once.
        unsafe { (entry.destructor)(entry.value) };
        last = entry.before;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn values_of_a_thread_are_dropped_when_it_ends() {
        static DROPPED: AtomicU32 = AtomicU32::new(0);
        struct Value(u32);
        impl Drop for Value {
            fn drop(&mut self) {
                DROPPED.fetch_add(self.0, Relaxed);
            }
        }
        thread_local! {
            static ONE: Value = const { Value(1) };
            static TEN: Value = const { Value(10) };
        }
        let work = || (ONE.with(|one| one.0), TEN.with(|ten| ten.0));
        assert_eq!(std::thread::spawn(work).join().unwrap(), (1, 10));
        assert_eq!(DROPPED.load(Relaxed), 11);
    }
}
