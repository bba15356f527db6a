//! Runs a program with the shim, or without it for comparison.

use crate::running::Running;
use crate::{Trace, artifacts};
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A program about to run in its own scratch folder.
pub struct Traced {
    command: Command,
    scratch: Scratch,
}

/// The result of a program.
pub struct Outcome {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its exit code, if it exited.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    scratch: Scratch,
}

impl Traced {
    /// A program of `tests/programs`.
    pub fn program(name: &str) -> Traced {
        Traced::command(&artifacts::program(name))
    }

    /// Any program.
    pub fn command(path: &Path) -> Traced {
        let scratch = Scratch(tempfile::tempdir().expect("a scratch folder"));
        let mut command = Command::new(path);
        command.current_dir(scratch.path()).env("STANDIN_LOG", scratch.path().join("standin.log"));
        Traced { command, scratch }
    }

    /// The rocshim command with `args`; it finds the shim as an installed one would.
    pub fn rocshim<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Traced {
        Traced::command(artifacts::command()).args(args)
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Traced {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Traced {
        self.command.args(args);
        self
    }

    /// Selects other builds of the stand-in HIP by folder, see tests/vendor/README.md.
    pub fn on(self, folders: &[&str]) -> Traced {
        let folders = folders.iter().map(|folder| artifacts::vendor().join(folder));
        self.env("LD_LIBRARY_PATH", std::env::join_paths(folders).expect("folders without a colon"))
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Traced {
        self.command.env(name, value);
        self
    }

    /// Removes a variable.
    pub fn env_remove(mut self, name: &str) -> Traced {
        self.command.env_remove(name);
        self
    }

    /// The scratch folder: traces go to its `out`, the stand-ins' log is `standin.log`.
    pub fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// Runs it with the shim preloaded, traces going to `out`.
    pub fn with_shim(self) -> Outcome {
        self.preloaded([artifacts::shim()])
    }

    /// Runs it with these libraries preloaded in this order, traces going to `out`.
    pub fn preloaded<P: AsRef<Path>>(self, libraries: impl IntoIterator<Item = P>) -> Outcome {
        let out = self.scratch.path().join("out");
        let paths = std::env::join_paths(libraries.into_iter().map(|path| path.as_ref().to_owned()));
        self.env("LD_PRELOAD", paths.expect("paths without a colon")).env("ROCSHIM_OUT", out).run()
    }

    /// Runs it without the shim.
    pub fn run(mut self) -> Outcome {
        let output = self.command.output().expect("the program starts");
        Outcome::of(output, self.scratch)
    }

    /// Starts it with the shim preloaded, traces going to `out`; it then reads commands line by
    /// line.
    pub fn start(self) -> Running {
        let out = self.scratch.path().join("out");
        self.start_into(&out)
    }

    /// The same, traces going to this folder.
    pub fn start_into(self, out: &Path) -> Running {
        let mut traced = self.env("LD_PRELOAD", artifacts::shim()).env("ROCSHIM_OUT", out);
        traced.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = traced.command.spawn().expect("the program starts");
        Running::new(child, traced.scratch)
    }
}

/// A program's scratch folder.
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The trace files, sorted by name.
    pub(crate) fn traces(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path().join("out")).into_iter().flatten().flatten();
        let is_trace = |path: &PathBuf| rocshim_trace::TracePath::of(path).is_some();
        let mut files: Vec<_> = entries.map(|e| e.path()).filter(is_trace).collect();
        files.sort();
        files
    }
}

/// Removes the ring files of a killed process, which no other test uses.
impl Drop for Scratch {
    fn drop(&mut self) {
        for trace in self.traces() {
            if let Ok(Some(header)) = rocshim_drain::header_of(&trace) {
                let _ = std::fs::remove_dir_all(header.rings);
            }
        }
    }
}

impl Outcome {
    pub(crate) fn of(Output { status, stdout, stderr }: Output, scratch: Scratch) -> Outcome {
        let text = |bytes| String::from_utf8(bytes).expect("the program prints text");
        let (stdout, stderr) = (text(stdout), text(stderr));
        Outcome { stdout, stderr, code: status.code(), signal: status.signal(), scratch }
    }

    /// The scratch folder.
    pub fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// The trace files, sorted by name.
    pub fn trace_files(&self) -> Vec<PathBuf> {
        self.scratch.traces()
    }

    /// The trace, which must be the only one.
    pub fn trace(&self) -> Trace {
        let files = self.trace_files();
        assert_eq!(files.len(), 1, "one process, one trace: {files:?}\nstderr: {}", self.stderr);
        Trace::read(&files[0])
    }

    /// The stand-ins' log.
    pub fn standin_log(&self) -> crate::standin::Log {
        crate::standin::Log::read(&self.folder().join("standin.log"))
    }

    /// The log of a wheel's own copy of HIP; empty if no call reached it.
    pub fn wheel_log(&self) -> crate::standin::Log {
        let path = self.folder().join("standin.log.wheel");
        if path.exists() { crate::standin::Log::read(&path) } else { Default::default() }
    }

    /// Fails unless the program ended with code 0.
    #[track_caller]
    pub fn ok(self) -> Outcome {
        assert_eq!(
            self.code,
            Some(0),
            "signal {:?}\nstdout: {}\nstderr: {}",
            self.signal,
            self.stdout,
            self.stderr
        );
        self
    }
}
