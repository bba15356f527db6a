//! The change for a run: variables and arguments.

use crate::args::Try;
use anyhow::{Context, Result, bail};
use std::{
    env,
    ffi::{OsStr, OsString},
    path::Path,
    process::Command,
};

/// Variables and arguments of a run, on top of its usual ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setup {
    /// Values of variables; `None` unsets one.
    pub(crate) variables: Vec<(String, Option<OsString>)>,
    /// Arguments after the program's own.
    pub(super) more: Vec<OsString>,
    /// Arguments that are left out.
    pub(super) less: Vec<OsString>,
}

impl Setup {
    /// Returns the change of `rocshim try`.
    ///
    /// # Errors
    /// When nothing is changed, or the change is not one of the program.
    pub(crate) fn of(args: &Try) -> Result<Setup> {
        let mut setup =
            Setup { variables: Vec::new(), more: args.arg.clone(), less: args.without_arg.clone() };
        for change in &args.changes {
            let Some((name, value)) = change.split_once('=').filter(|(name, _)| !name.is_empty()) else {
                bail!("`{change}` is no change: write VAR=VALUE, or VAR= to unset a variable");
            };
            if name == "LD_PRELOAD" || name.starts_with("ROCSHIM_") {
                bail!("{name} changes the recording, not the program: set it before `rocshim try`");
            }
            setup.variables.push((name.into(), (!value.is_empty()).then(|| value.into())));
        }
        if let Some(folder) = &args.library_path {
            setup.library_path(folder)?;
        }
        if let Some(device) = &args.device {
            setup.variables.push(("HIP_VISIBLE_DEVICES".into(), Some(device.into())));
        }
        if let Some(target) = &args.gfx {
            let version = gfx_version(target)
                .with_context(|| format!("`{target}` is no target: write gfx1030, gfx90a, …"))?;
            setup.variables.push(("HSA_OVERRIDE_GFX_VERSION".into(), Some(version.into())));
        }
        for argument in &setup.less {
            if !args.runs.program[1..].contains(argument) {
                bail!("the program has no argument `{}` to leave out", argument.to_string_lossy());
            }
        }
        if setup == Setup::default() {
            bail!(
                "nothing is changed: give VAR=VALUE, VAR=, --library-path, --device, --gfx, --arg or --without-arg"
            );
        }
        Ok(setup)
    }

    /// Puts a folder first in LD_LIBRARY_PATH.
    ///
    /// # Errors
    /// When there is no such folder.
    pub(crate) fn library_path(&mut self, folder: &Path) -> Result<()> {
        let folder = folder
            .canonicalize()
            .with_context(|| format!("cannot use {} as a library folder", folder.display()))?;
        let mut value = folder.into_os_string();
        if let Some(existing) = env::var_os("LD_LIBRARY_PATH").filter(|existing| !existing.is_empty()) {
            value.push(":");
            value.push(existing);
        }
        self.variables.push(("LD_LIBRARY_PATH".into(), Some(value)));
        Ok(())
    }

    /// Describes the change: `ROCBLAS_USE_HIPBLASLT=0`, `HIP_VISIBLE_DEVICES unset`, `argument
    /// -fa`.
    pub(crate) fn words(&self) -> String {
        let variable = |(name, value): &(String, Option<OsString>)| match value {
            Some(value) => format!("{name}={}", value.to_string_lossy()),
            None => format!("{name} unset"),
        };
        let variables = self.variables.iter().map(variable);
        let list = |word: &str, arguments: &[OsString]| {
            let arguments: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
            (!arguments.is_empty()).then(|| format!("{word} {}", arguments.join(" ")))
        };
        let arguments = [list("with", &self.more), list("without", &self.less)];
        variables.chain(arguments.into_iter().flatten()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the program's arguments with this change.
    pub(crate) fn arguments(&self, own: &[OsString]) -> Vec<OsString> {
        let mut arguments = own.to_vec();
        for argument in &self.less {
            if let Some(at) = arguments.iter().position(|other| other == argument) {
                arguments.remove(at);
            }
        }
        arguments.extend(self.more.iter().cloned());
        arguments
    }

    /// Sets the variables of a command.
    pub(crate) fn apply(&self, command: &mut Command) {
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(OsStr::new(name)),
            };
        }
    }
}

/// Returns `gfx1030` as 10.3.0, `gfx90a` as 9.0.10.
fn gfx_version(target: &str) -> Option<String> {
    let digits = target.strip_prefix("gfx").filter(|digits| digits.is_ascii() && digits.len() >= 3)?;
    let (major, rest) = digits.split_at(digits.len() - 2);
    let major: u32 = major.parse().ok()?;
    let digit = |at: usize| rest.chars().nth(at)?.to_digit(16);
    Some(format!("{major}.{}.{}", digit(0)?, digit(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_version() {
        let versions = ["gfx1030", "gfx90a", "gfx1201", "gfx900"].map(|target| gfx_version(target).unwrap());
        assert_eq!(versions, ["10.3.0", "9.0.10", "12.0.1", "9.0.0"]);
        assert_eq!([gfx_version("1030"), gfx_version("gfx"), gfx_version("gfxabc")], [None, None, None]);
    }

    #[test]
    fn arguments_are_left_out_once_and_appended() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let setup = Setup { variables: Vec::new(), more: words(&["-n", "2"]), less: words(&["-fa"]) };
        assert_eq!(setup.arguments(&words(&["-fa", "x", "-fa"])), words(&["x", "-fa", "-n", "2"]));
        assert_eq!(setup.words(), "with -n 2, without -fa");
    }
}
