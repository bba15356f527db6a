//! Scheduler slices of the collector: short ones, so that a busy machine runs it soon after it
//! wakes. And the sleep of a thread that waits for another one's short work.
#![allow(unsafe_code)] // system calls: not every C library has functions for them

use crate::platform::signals::keeping_errno;
use std::time::Duration;

/// Length of a slice, ns: the minimum that the kernel accepts.
const SLICE_NS: u64 = 100_000;

/// Scheduling attributes of a thread: the kernel's `struct sched_attr`, version 0.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    /// With SCHED_OTHER: length of a slice in ns (Linux ≥ 6.12).
    runtime: u64,
    deadline: u64,
    period: u64,
}

const SIZE: usize = size_of::<Attributes>();
const _: () = assert!(SIZE == 48);

/// Requests a 0.1 ms scheduler slice for the calling thread (Linux ≥ 6.12); its CPU share is
/// unchanged. Does nothing where the kernel does not support or permit it.
pub(crate) fn request_short_slice() {
    if let Some(now) = attributes().filter(|now| now.policy == libc::SCHED_OTHER as u32) {
        let short = Attributes { runtime: SLICE_NS, ..now };
        // SAFETY: pid 0 is the calling thread, and `short.size` is the size that the kernel itself
        // has returned, at most that of `Attributes`, so the kernel reads only `short`.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &short, 0) };
    }
}

/// Returns the calling thread's scheduling attributes.
fn attributes() -> Option<Attributes> {
    let mut attributes = Attributes::default();
    // SAFETY: pid 0 is the calling thread, and the kernel writes at most `SIZE` bytes, the size of
    // `attributes`.
    let is_read = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &mut attributes, SIZE, 0) } == 0;
    is_read.then_some(attributes)
}

/// Sleeps for 50 µs, so that any other thread can run, whatever its priority.
pub(crate) fn sleep_briefly() {
    sleep(Duration::from_micros(50));
}

/// Sleeps for less than a second.
pub(crate) fn sleep(time: Duration) {
    let duration = libc::timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    let remainder: *mut libc::timespec = std::ptr::null_mut();
    // Not `nanosleep`, which is a cancellation point: the thread may have a pending cancellation.
    // SAFETY: `duration` is initialised, and a null `remainder` requests no remaining time.
    keeping_errno(|| unsafe { libc::syscall(libc::SYS_nanosleep, &duration, remainder) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_short_where_supported_and_the_rest_is_unchanged() {
        let change =
            || (attributes().expect("Linux 3.14"), request_short_slice(), attributes().expect("as before"));
        let (before, (), after) = std::thread::spawn(change).join().expect("no panic");
        let rest = |of: &Attributes| (of.policy, of.flags, of.nice, of.priority, of.deadline, of.period);
        assert_eq!(rest(&before), rest(&after));
        let expected = if before.runtime == 0 { 0 } else { SLICE_NS };
        assert_eq!(after.runtime, expected, "it was {}", before.runtime);
    }
}
