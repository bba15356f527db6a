//! A running program that a test observes, and that acts on commands, line by line.

use crate::traced::{Outcome, Scratch, Traced};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Output};

/// A program that was started with the shim; killed on drop.
pub struct Running {
    child: Child,
    answers: BufReader<ChildStdout>,
    scratch: Option<Scratch>,
}

impl Running {
    pub(crate) fn new(mut child: Child, scratch: Scratch) -> Running {
        let answers = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        Running { child, answers, scratch: Some(scratch) }
    }

    /// Its pid.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The scratch folder.
    pub fn folder(&self) -> &Path {
        self.scratch.as_ref().expect("it runs").path()
    }

    /// The trace files, sorted by name.
    pub fn trace_files(&self) -> Vec<PathBuf> {
        self.scratch.as_ref().expect("it runs").traces()
    }

    /// Its next line of output.
    pub fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the program prints text");
        line.trim_end().to_string()
    }

    /// Sends a command line; returns the next line of output.
    pub fn tell(&mut self, what: &str) -> String {
        writeln!(self.child.stdin.as_ref().expect("its input is a pipe"), "{what}").expect("it reads");
        self.answer()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a number");
        kill_process(pid, signal).expect("it is there");
    }

    /// Stops it by SIGSTOP, and returns when each of its threads is stopped.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        let is_stopped = |task: &std::fs::DirEntry| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
        };
        let tasks = format!("/proc/{}/task", self.pid());
        while !std::fs::read_dir(&tasks).expect("it is there").flatten().all(|task| is_stopped(&task)) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// `rocshim ctl` on it.
    pub fn ctl(&self, words: &[&str]) -> Outcome {
        Traced::rocshim(["ctl", &self.pid().to_string()]).args(words).run()
    }

    /// Closes its standard input, and waits for its end.
    pub fn finish(mut self) -> Outcome {
        drop(self.child.stdin.take());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        self.answers.read_to_end(&mut stdout).expect("its output");
        self.child.stderr.take().expect("a pipe").read_to_end(&mut stderr).expect("its errors");
        let status = self.child.wait().expect("it ends");
        Outcome::of(Output { status, stdout, stderr }, self.scratch.take().expect("it ran"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
