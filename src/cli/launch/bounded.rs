//! Runs a child process in its own process group, and ends it on a time limit or when rocshim is
//! interrupted.

use super::child::{Ending, PASSED_ON, is_ignored, reap, wait_without_reaping};
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::iterator::Signals;
use std::{
    os::unix::process::CommandExt,
    process::Command,
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// Result of a bounded run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    pub(crate) ending: Ending,
    /// It was ended at the time limit.
    pub(crate) timed_out: bool,
    /// The signal that rocshim received and passed on.
    pub(crate) interrupted: Option<i32>,
    pub(crate) wall: Duration,
}

/// Message of the thread that waits for signals.
enum Event {
    Signal(i32),
    Ended,
}

/// Starts the command in its own process group and waits for it; ends the whole group after
/// `limit`. Passes on signals to the group.
pub(crate) fn run_bounded(command: &mut Command, limit: Option<Duration>) -> Result<Bounded> {
    let signals: Vec<i32> = PASSED_ON.into_iter().filter(|signal| !is_ignored(*signal)).collect();
    let mut signals = Signals::new(&signals).context("cannot handle signals")?;
    let handle = signals.handle();
    let begin = Instant::now();
    let mut child = command.process_group(0).spawn()?;
    let pid = Pid::from_child(&child);
    let (to_guard, events) = channel();
    let of_signals = to_guard.clone();
    let courier = thread::spawn(move || {
        for signal in signals.forever() {
            let _ = of_signals.send(Event::Signal(signal));
        }
    });
    let guard = thread::spawn(move || {
        let (mut timed_out, mut interrupted) = (false, None);
        let mut deadline = limit.map(|limit| begin + limit);
        // A group that has ended needs no signal.
        let kill = |signal| _ = kill_process_group(pid, signal);
        loop {
            let left = deadline.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
            match events.recv_timeout(left) {
                Ok(Event::Ended) | Err(RecvTimeoutError::Disconnected) => return (timed_out, interrupted),
                Ok(Event::Signal(signal)) => {
                    interrupted = Some(signal);
                    kill(Signal::from_named_raw(signal).unwrap_or(Signal::TERM));
                }
                Err(RecvTimeoutError::Timeout) if timed_out => {
                    kill(Signal::KILL);
                    deadline = None;
                }
                Err(RecvTimeoutError::Timeout) => {
                    timed_out = true;
                    kill(Signal::TERM);
                    deadline = Some(Instant::now() + GRACE);
                }
            }
        }
    });
    wait_without_reaping(pid);
    let wall = begin.elapsed();
    // The child is still a zombie, so its pid is not reused.
    let _ = to_guard.send(Event::Ended);
    let (timed_out, interrupted) = guard.join().unwrap_or((false, None));
    handle.close();
    let _ = courier.join();
    if timed_out || interrupted.is_some() {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    Ok(Bounded { ending: reap(&mut child)?, timed_out, interrupted, wall })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Option<Duration>) -> Bounded {
        run_bounded(Command::new("/bin/sh").args(["-c", script]), limit).unwrap()
    }

    #[test]
    fn a_program_that_ends_in_time_is_left_alone() {
        let run = shell("exit 3", Some(Duration::from_secs(600)));
        assert_eq!((run.ending, run.timed_out, run.interrupted), (Ending::Exit(3), false, None));
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_what_it_started() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", file.display());
        let run = shell(&script, Some(Duration::from_millis(1000)));
        assert!(run.timed_out && run.ending == Ending::Signal(15), "{run:?}");
        let pid = std::fs::read_to_string(file).unwrap();
        // It was sent SIGKILL, but on a busy machine takes a while to end.
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let has_ended = || state().is_empty() || state().contains(") Z");
        let deadline = Instant::now() + Duration::from_secs(60);
        while !has_ended() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(has_ended(), "{}", state());
    }
}
