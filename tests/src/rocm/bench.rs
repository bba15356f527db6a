//! Runs a program under `rocshim run` and without it, in the same user space on the same device,
//! with a device log for each.

use super::Tree;
use crate::{Trace, artifacts};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A user space, a GPU, and a scratch folder for traces and device logs.
pub struct Bench {
    /// The user space.
    pub tree: &'static Tree,
    gfx: &'static str,
    variables: Vec<(String, String)>,
    folder: TempDir,
}

impl Bench {
    /// A bench on `tree` with a GPU of target `gfx`.
    #[track_caller]
    pub fn new(tree: &'static Tree, gfx: &'static str) -> Bench {
        tree.folder();
        Bench { tree, gfx, variables: Vec::new(), folder: tempfile::tempdir().expect("a scratch folder") }
    }

    /// Sets an environment variable for every program.
    pub fn env(mut self, name: &str, value: impl AsRef<Path>) -> Bench {
        self.variables.push((name.to_owned(), value.as_ref().display().to_string()));
        self
    }

    /// The scratch folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The device log of traced programs.
    pub fn log(&self) -> PathBuf {
        self.folder().join("device.log")
    }

    /// The device log of programs without the shim.
    pub fn bare_log(&self) -> PathBuf {
        self.folder().join("bare.log")
    }

    fn command(&self, log: &Path) -> Command {
        let mut command = self.tree.command(self.gfx, log);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// A command in the user space under `rocshim run`; add the program and its arguments.
    pub fn traced(&self) -> Command {
        let mut command = self.command(&self.log());
        command.arg(artifacts::command()).arg("run").arg("-o").arg(self.folder().join("out")).arg("--");
        command
    }

    /// The same without the shim, and with its own log.
    pub fn bare(&self) -> Command {
        self.command(&self.bare_log())
    }

    /// Runs a program with the shim and without. It must succeed, with equal output and exit code;
    /// returns the output.
    #[track_caller]
    pub fn run_both<S: AsRef<OsStr>>(&self, program: impl IntoIterator<Item = S> + Clone) -> String {
        let (out, err, code) = run(self.traced().args(program.clone()));
        let (bare_out, bare_err, bare_code) = run(self.bare().args(program));
        assert_eq!(bare_code, Some(0), "without the shim: {bare_out}{bare_err}");
        assert_eq!((&out, code), (&bare_out, bare_code), "{err}");
        out
    }

    /// The traces, sorted by name.
    pub fn traces(&self) -> Vec<Trace> {
        let out = std::fs::read_dir(self.folder().join("out")).expect("traces").flatten().map(|e| e.path());
        let mut files: Vec<_> = out.filter(|path| path.extension().is_some_and(|e| e == "ndjson")).collect();
        files.sort();
        files.iter().map(|file| Trace::read(file)).collect()
    }

    /// `rocshim summary --json` of the traces.
    pub fn summary(&self) -> serde_json::Value {
        self.printed(["summary"], [])
    }

    /// `rocshim COMMAND --json` of the traces; `after` are further arguments.
    ///
    /// # Panics
    /// If it fails.
    pub fn printed<const N: usize, const M: usize>(
        &self,
        command: [&str; N],
        after: [&Path; M],
    ) -> serde_json::Value {
        let mut rocshim = Command::new(artifacts::command());
        let output = rocshim.args(command).arg("--json").arg(self.folder().join("out")).args(after).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// The trace, which must be the only one.
    #[track_caller]
    pub fn trace(&self) -> Trace {
        let mut traces = self.traces();
        assert_eq!(traces.len(), 1, "one process, one trace");
        traces.remove(0)
    }
}

/// A command's output, error output, and exit code.
#[track_caller]
pub fn run(command: &mut Command) -> (String, String, Option<i32>) {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(&stdout), text(&stderr), status.code())
}
