//! Runs the child process as if rocshim were not there: starts it, passes on signals, waits.
//!
//! A signal from a program goes to rocshim alone and is passed on. A signal from the terminal
//! (ctrl-C) comes from the kernel and reaches the whole process group, the child among them, so it
//! is not passed on. Signals that were ignored when rocshim started (`nohup`) stay ignored, for the
//! child as well.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgid, getpgrp, kill_process, waitid};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2},
    flag,
    iterator::{SignalsInfo, exfiltrator::WithOrigin},
    low_level::siginfo::{Cause, Origin},
};
use std::{
    os::unix::process::ExitStatusExt,
    process::{Child, Command},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// The signals that are passed on.
pub(super) const PASSED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// How the child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It exited with this code.
    Exit(u8),
    /// It died by this signal.
    Signal(i32),
}

impl Ending {
    /// Ends this process by the same signal; returns the exit code if the child exited.
    pub(crate) fn follow(self) -> u8 {
        match self {
            Ending::Exit(code) => code,
            Ending::Signal(signal) => {
                die_by(signal);
                // Reached only if the signal could not be raised: what a shell would report.
                u8::try_from(128 + signal).unwrap_or(255)
            }
        }
    }
}

/// Starts the command and waits for it, passing on signals meanwhile.
pub(crate) fn run_child(command: &mut Command) -> Result<Ending> {
    let passed_on: Vec<i32> = PASSED_ON.into_iter().filter(|signal| !is_ignored(*signal)).collect();
    // Once the child has ended, signals are for rocshim again.
    let ended = Arc::new(AtomicBool::new(false));
    for signal in &passed_on {
        flag::register_conditional_default(*signal, Arc::clone(&ended)).context("cannot handle signals")?;
    }
    let mut signals = SignalsInfo::<WithOrigin>::new(&passed_on).context("cannot handle signals")?;
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let handle = signals.handle();
    let courier = thread::spawn(move || signals.forever().for_each(|origin| pass_on(&origin, pid)));
    wait_without_reaping(pid);
    // The child is still a zombie, so its pid cannot have been reused while signals were passed on.
    ended.store(true, Ordering::SeqCst); // SeqCst: rare, and read by a signal handler of any thread.
    handle.close();
    let _ = courier.join();
    reap(&mut child)
}

fn pass_on(origin: &Origin, child: Pid) {
    let from_terminal =
        origin.cause == Cause::Kernel && getpgid(Some(child)).is_ok_and(|group| group == getpgrp());
    if let Some(signal) = Signal::from_named_raw(origin.signal).filter(|_| !from_terminal) {
        let _ = kill_process(child, signal);
    }
}

pub(super) fn wait_without_reaping(child: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(child), options) {}
}

pub(super) fn reap(child: &mut Child) -> Result<Ending> {
    let status = child.wait().context("cannot wait for the program")?;
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exit(code as u8), // The kernel keeps 8 bits.
        (None, Some(signal)) => Ending::Signal(signal),
        (None, None) => Ending::Exit(255),
    })
}

/// Returns whether this process was started with the signal ignored.
pub(super) fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

fn die_by(signal: i32) {
    // The child has left its core file; one of rocshim would not help.
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    if signal == signal_hook::consts::SIGKILL {
        let _ = kill_process(rustix::process::getpid(), Signal::KILL);
    }
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Ending {
        run_child(Command::new("/bin/sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn the_ending_is_the_childs() {
        assert_eq!(shell("exit 0"), Ending::Exit(0));
        assert_eq!(shell("exit 200"), Ending::Exit(200));
        assert_eq!(shell("kill -9 $$"), Ending::Signal(9));
        assert_eq!(shell("kill -USR1 $$"), Ending::Signal(SIGUSR1));
    }
}
