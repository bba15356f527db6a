//! What a process could not record, said to `rocshim run`: by a page of System V shared memory,
//! which takes no descriptor, no file and no room that a limit of the process may deny it.
//!
//! `rocshim run` makes the page, marks it to be removed with its last user, and names it to its
//! program in a variable. A process that cannot begin to record counts itself there.
#![allow(unsafe_code)] // System V shared memory, which the standard library does not have

use crate::map::PAGE;
use std::io;
use std::ptr::{NonNull, null};
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::time::{SystemTime, UNIX_EPOCH};

/// The variable that names the page: its number and its token.
pub const VARIABLE: &str = "ROCSHIM_RUN";

const MAGIC: u64 = u64::from_le_bytes(*b"ROCSHIMF");

#[repr(C)]
struct Page {
    magic: AtomicU64,
    /// Others' pages may have the same number in another IPC namespace.
    token: AtomicU64,
    /// Processes that could not record.
    processes: AtomicU64,
    /// What the last of them lacked: a [`Lack`], and the system's error number above it.
    why: AtomicU64,
}

/// What a process lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// No trace file could be made, with this error of the system's; 0: not known.
    File(i32),
    /// There was no memory.
    Memory,
    /// What was recorded could not be written, nor left where it can be recovered.
    Room,
}

impl Lack {
    fn word(self) -> u64 {
        match self {
            Lack::File(errno) => 1 | (errno as u32 as u64) << 32,
            Lack::Memory => 2,
            Lack::Room => 3,
        }
    }

    fn of(word: u64) -> Option<Lack> {
        match word as u32 {
            1 => Some(Lack::File((word >> 32) as i32)),
            2 => Some(Lack::Memory),
            3 => Some(Lack::Room),
            _ => None,
        }
    }
}

/// The page, attached.
struct Attached(NonNull<Page>);

impl Attached {
    fn to(number: i32) -> io::Result<Attached> {
        // SAFETY: the system chooses the address; nothing else lies there.
        let at = unsafe { libc::shmat(number, null(), 0) };
        if at.addr() == usize::MAX {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(at.cast()).map(Attached).ok_or_else(|| io::ErrorKind::Other.into())
    }

    fn page(&self) -> &Page {
        // SAFETY: a piece of shared memory is a whole page at least, all fields are atomics, and it
        // stays attached as long as `self` lives.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // SAFETY: it was attached by `to`, and nothing refers to it any more.
        unsafe { libc::shmdt(self.0.as_ptr().cast()) };
    }
}

/// The page of a run.
pub struct Failures {
    page: Attached,
    number: i32,
}

impl Failures {
    /// Makes the page. It goes with the calling process and those that have it attached.
    ///
    /// # Errors
    /// When the system has none to give.
    pub fn new() -> io::Result<Failures> {
        // SAFETY: no memory is touched.
        let number = unsafe { libc::shmget(libc::IPC_PRIVATE, PAGE, libc::IPC_CREAT | 0o600) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        let page = Attached::to(number);
        // SAFETY: a number of ours. It can be attached until the last that is attached goes.
        unsafe { libc::shmctl(number, libc::IPC_RMID, std::ptr::null_mut()) };
        let failures = Failures { page: page?, number };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        failures.page.page().token.store(now ^ u64::from(std::process::id()) << 32, Relaxed);
        // Release: after the token.
        failures.page.page().magic.store(MAGIC, Release);
        Ok(failures)
    }

    /// The value of [`VARIABLE`] for the program.
    pub fn name(&self) -> String {
        format!("{}:{}", self.number, self.page.page().token.load(Relaxed))
    }

    /// How many processes could not record, and what the last of them lacked.
    pub fn seen(&self) -> Option<(u64, Lack)> {
        let page = self.page.page();
        let processes = page.processes.load(Acquire);
        Lack::of(page.why.load(Relaxed)).map(|lack| (processes, lack)).filter(|_| processes != 0)
    }
}

/// Counts this process in the page with that `name`, if it is there.
pub fn report(name: &str, lack: Lack) {
    let Some((number, token)) = name.split_once(':') else { return };
    let (Ok(number), Ok(token)) = (number.parse(), token.parse::<u64>()) else { return };
    let Ok(attached) = Attached::to(number) else { return };
    let page = attached.page();
    if page.magic.load(Acquire) == MAGIC && page.token.load(Relaxed) == token {
        page.why.store(lack.word(), Relaxed);
        // Release: after the reason.
        page.processes.fetch_add(1, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_lacks_is_seen_by_who_made_the_page() {
        let Ok(failures) = Failures::new() else {
            eprintln!("NOT RUN, for this system has no System V shared memory");
            return;
        };
        assert_eq!(failures.seen(), None);
        report(&failures.name(), Lack::File(27));
        assert_eq!(failures.seen(), Some((1, Lack::File(27))));
        report(&failures.name(), Lack::Memory);
        assert_eq!(failures.seen(), Some((2, Lack::Memory)));
        report("7", Lack::Memory);
        report(&format!("{}1", failures.name()), Lack::Memory);
        report("-1:7", Lack::Memory);
        assert_eq!(failures.seen(), Some((2, Lack::Memory)), "another's page is left alone");
    }
}
