//! Reports to `rocshim run` that a process could not be recorded, through a page of System V shared
//! memory: it needs no descriptor, no file and no disk space, which such a process may lack.
//!
//! `rocshim run` creates the page, marks it for removal once the last process has detached from it,
//! and passes its id to the program in a variable. A process that cannot start recording counts
//! itself there.
#![allow(unsafe_code)] // System V shared memory, which the standard library does not have

use crate::map::PAGE;
use std::io;
use std::ptr::{NonNull, null};
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment variable that identifies the page: its id and its token.
pub const VARIABLE: &str = "ROCSHIM_RUN";

const MAGIC: u64 = u64::from_le_bytes(*b"ROCSHIMF");

#[repr(C)]
struct Page {
    magic: AtomicU64,
    /// Identifies the run: in another IPC namespace, another page may have the same id.
    token: AtomicU64,
    /// Number of processes that could not be recorded.
    processes: AtomicU64,
    /// What the last of them lacked: a [`Lack`] in the low half, its errno in the high half.
    why: AtomicU64,
}

/// What a process lacked in order to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A trace file: creating it failed with this errno; 0: unknown.
    File(i32),
    /// Memory.
    Memory,
    /// Disk space: recorded events could neither be written nor be left in ring files.
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
        // SAFETY: the kernel maps the segment at an address that is not in use.
        let at = unsafe { libc::shmat(number, null(), 0) };
        if at.addr() == usize::MAX {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(at.cast()).map(Attached).ok_or_else(|| io::ErrorKind::Other.into())
    }

    fn page(&self) -> &Page {
        // SAFETY: a segment is at least one page long, all fields of `Page` are atomics, and the
        // segment stays attached as long as `self` lives.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // SAFETY: `to` attached a segment at this address, and every reference to it borrows
        // `self`.
        unsafe { libc::shmdt(self.0.as_ptr().cast()) };
    }
}

/// The page, as `rocshim run` holds it.
pub struct Failures {
    page: Attached,
    number: i32,
}

impl Failures {
    /// Creates the page. It is removed when the last process that is attached to it has ended.
    ///
    /// # Errors
    /// Those of the system calls.
    pub fn new() -> io::Result<Failures> {
        // SAFETY: `shmget` takes numbers only, and changes no memory of this process.
        let number = unsafe { libc::shmget(libc::IPC_PRIVATE, PAGE, libc::IPC_CREAT | 0o600) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        let page = Attached::to(number);
        // SAFETY: `number` is the segment created above. `IPC_RMID` uses no buffer, and removes the
        // segment only after the last process has detached from it.
        unsafe { libc::shmctl(number, libc::IPC_RMID, std::ptr::null_mut()) };
        let failures = Failures { page: page?, number };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        failures.page.page().token.store(now ^ u64::from(std::process::id()) << 32, Relaxed);
        // Release: after the token.
        failures.page.page().magic.store(MAGIC, Release);
        Ok(failures)
    }

    /// Returns the value of [`VARIABLE`] for the program.
    pub fn name(&self) -> String {
        format!("{}:{}", self.number, self.page.page().token.load(Relaxed))
    }

    /// Returns how many processes could not be recorded, and what the last of them lacked; `None`
    /// without any.
    pub fn seen(&self) -> Option<(u64, Lack)> {
        let page = self.page.page();
        let processes = page.processes.load(Acquire);
        Lack::of(page.why.load(Relaxed)).map(|lack| (processes, lack)).filter(|_| processes != 0)
    }
}

/// Counts this process in the page that `name`, a value of [`VARIABLE`], identifies; does nothing
/// if there is none.
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
            eprintln!("NOT RUN: this system has no System V shared memory");
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
        assert_eq!(failures.seen(), Some((2, Lack::Memory)), "a page with another token is left alone");
    }
}
