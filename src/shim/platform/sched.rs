//! The collector's turns on a processor: short ones, so that a busy machine gives it one soon after it wakes.
#![allow(unsafe_code)] // two system calls, which C libraries of before 2.41 have no functions for

/// The shortest that the system takes.
const TURN_NS: u64 = 100_000;

/// What the system knows of how a thread is scheduled: `struct sched_attr`, in its first version.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    /// Of a thread of no other policy: the length of its turns (since Linux 6.12), in ns.
    runtime: u64,
    deadline: u64,
    period: u64,
}

const SIZE: usize = size_of::<Attributes>();
const _: () = assert!(SIZE == 48);

/// From now on the thread that calls has short turns; in all it gets no more than before. Where the system knows nothing of
/// that, or forbids it, nothing happens.
pub(crate) fn be_short() {
    if let Some(now) = attributes().filter(|now| now.policy == libc::SCHED_OTHER as u32) {
        let short = Attributes { runtime: TURN_NS, ..now };
        // SAFETY: thread 0 is the caller; the system reads `size` bytes, as it has told.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &short, 0) };
    }
}

/// The calling thread's.
fn attributes() -> Option<Attributes> {
    let mut attributes = Attributes::default();
    // SAFETY: thread 0 is the caller; the system writes that many bytes at most.
    let told = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &mut attributes, SIZE, 0) } == 0;
    told.then_some(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_short_where_the_system_knows_of_them_and_the_rest_stays() {
        let change = || (attributes().expect("Linux 3.14"), be_short(), attributes().expect("as before"));
        let (before, (), after) = std::thread::spawn(change).join().expect("no panic");
        let rest = |of: &Attributes| (of.policy, of.flags, of.nice, of.priority, of.deadline, of.period);
        assert_eq!(rest(&before), rest(&after));
        let expected = if before.runtime == 0 { 0 } else { TURN_NS };
        assert_eq!(after.runtime, expected, "it was {}", before.runtime);
    }
}
