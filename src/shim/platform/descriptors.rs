//! The collector's own descriptor table, root and working folder.
//!
//! A thread shares them with its process. Without a table of its own the collector would take the
//! lowest free number whenever it opens a file, which the program may be about to get itself, and
//! a program that closes every number would close the collector's files. With one, neither sees
//! the other's, and what the collector keeps open survives `chroot`, a lower `RLIMIT_NOFILE` and a
//! change of user.
//!
//! Linux before 5.9 has no `close_range`, and a filter may refuse it: then the table stays shared,
//! and files are opened for one write and closed again (`collector::sink`).
#![allow(unsafe_code)] // system calls: not every C library has functions for them

use libc::{c_int, c_uint};

/// Whose descriptor table the calling thread uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// The program's: a file is open only while it is written.
    Shared,
    /// The thread's: files stay open.
    Own,
}

/// `CLOSE_RANGE_UNSHARE` of `linux/close_range.h`.
const UNSHARE: c_uint = 1 << 1;
/// The numbers of standard input, output and error.
const STANDARD: [c_int; 3] = [0, 1, 2];

/// Gives the calling thread an empty descriptor table, and its own root and working folder. With
/// `keeps_stderr`, standard error stays open in it.
///
/// The numbers 0 to 2 refer to the root folder, opened with O_PATH, so that no file of ours gets
/// one of them and text for standard output never reaches a trace. The program's own are not kept,
/// because the reader of a pipe waits until its last writer has closed it.
pub(crate) fn unshare(keeps_stderr: bool) -> Table {
    // SAFETY: the thread gets a copy of the table without the numbers from 3 on. No other thread's
    // table changes, and this thread has no open file.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3 as c_uint, c_uint::MAX, UNSHARE) };
    if result != 0 {
        return Table::Shared;
    }
    for number in STANDARD.into_iter().filter(|number| !keeps_stderr || *number != 2) {
        // SAFETY: closes a number of this thread's own table that none of its files uses.
        unsafe { libc::close(number) };
        let flags = libc::O_PATH | libc::O_CLOEXEC;
        // SAFETY: the path is a C string. The lowest free number is `number`.
        unsafe { libc::open64(c"/".as_ptr(), flags) };
    }
    // Where it fails, `chroot` and `chdir` of the program move this thread too.
    // SAFETY: the root and the working folder are copied; no other thread's change.
    unsafe { libc::syscall(libc::SYS_unshare, libc::CLONE_FS) };
    Table::Own
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_thread_with_its_own_table_leaves_the_others_numbers_alone() {
        let kept = File::open("/proc/self/status").unwrap();
        let number = kept.as_raw_fd();
        let work = move || {
            let table = unshare(false);
            let first = File::open("/proc/self/status").map(|file| file.as_raw_fd());
            (table, first.unwrap())
        };
        let (table, first) = std::thread::spawn(work).join().unwrap();
        // SAFETY: `F_GETFD` only reads the descriptor's flags.
        assert!(unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0, "the process's file is still open");
        if table == Table::Own {
            assert_eq!(first, 3, "its own table is empty but for the standard numbers");
        }
    }
}
