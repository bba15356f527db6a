//! Prepares a program to run under the shim, for `run`, `try` and `bisect`.

use super::{
    choice::Choice,
    program::{PreflightWarning, Program, find_program, preflight_warnings},
    shim::{find_shim, preload_value},
};
use anyhow::Result;
use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

/// The variable that HIP 7.2 needs at its start to report GPU times (see `hook/tracer` of the
/// shim).
const NAMES_OF_GRAPHS: &str = "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING";

/// How to record, by the options.
pub(crate) struct Recording<'a> {
    pub(crate) shim: Option<&'a Path>,
    pub(crate) only: Option<&'a str>,
    pub(crate) skip: Option<&'a str>,
    pub(crate) gpu_time: bool,
}

/// A program that can be started.
pub(crate) struct Recorded {
    pub(crate) path: PathBuf,
    name: OsString,
    preload: OsString,
    choice: Choice,
    gpu_time: bool,
}

/// A program that cannot be started: the reason, and the exit code that a shell returns.
pub(crate) struct NotStarted {
    pub(crate) why: String,
    pub(crate) code: u8,
}

impl Recorded {
    /// Finds the shim and the program `name`.
    ///
    /// # Errors
    /// When there is no shim, or it cannot be preloaded.
    pub(crate) fn find(name: &OsString, how: &Recording<'_>) -> Result<Result<Recorded, NotStarted>> {
        let shim = find_shim(how.shim)?;
        let preload = preload_value(&shim, env::var_os("LD_PRELOAD").as_deref())?;
        let path = match find_program(name) {
            Program::Found(path) => path,
            Program::NotExecutable(path) => {
                return Ok(Err(NotStarted {
                    why: format!("{} cannot be executed", path.display()),
                    code: 126,
                }));
            }
            Program::Missing => {
                let why = format!("{}: command not found", name.to_string_lossy());
                return Ok(Err(NotStarted { why, code: 127 }));
            }
        };
        let choice = Choice::new(how.only, how.skip);
        Ok(Ok(Recorded { path, name: name.clone(), preload, choice, gpu_time: how.gpu_time }))
    }

    /// Returns why not all, or nothing, of `line` (the program's name and its arguments) will be
    /// recorded.
    pub(crate) fn preflight_warnings(&self, line: &[OsString]) -> Vec<PreflightWarning> {
        let mut all = preflight_warnings(&self.path, line);
        all.extend(self.choice.warning(&self.path));
        all
    }

    /// Returns the command of the program with these arguments, whose traces go to `out`.
    pub(crate) fn command(&self, arguments: &[OsString], out: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command.arg0(&self.name).args(arguments);
        command.env("LD_PRELOAD", &self.preload).env("ROCSHIM_OUT", out);
        if self.gpu_time {
            command.env("ROCSHIM_GPU_TIME", "on");
            if env::var_os(NAMES_OF_GRAPHS).is_none() {
                command.env(NAMES_OF_GRAPHS, "0");
            }
        }
        command.envs(self.choice.variables());
        command
    }
}
