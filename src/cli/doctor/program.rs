//! Checks a program before it is run: whether it is found and preloadable, and its libraries.

use super::{Shim, libraries, ollama};
use crate::launch::{Choice, Elf, Exports, Glibc, Program, executed_file, find_program, preflight_warnings};
use rocshim_report::Finding;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

const SUBJECT: &str = "program";

/// Checks the command line of a program.
pub(crate) fn program(line: &[OsString], shim: Option<&Shim>, findings: &mut Vec<Finding>) {
    let name = line[0].to_string_lossy();
    let path = match find_program(&line[0]) {
        Program::Found(path) => path,
        Program::NotExecutable(path) => {
            let what = format!("{} cannot be executed", path.display());
            return findings.push(Finding::fail(
                SUBJECT,
                what,
                "make it executable, or give its interpreter",
            ));
        }
        Program::Missing => {
            let what = format!("{name} is not found");
            return findings.push(Finding::fail(SUBJECT, what, "give its path, or correct PATH"));
        }
    };
    let preflight_warnings = preflight_warnings(&path, line);
    let file = executed_file(&path);
    if preflight_warnings.is_empty() {
        let through = if file == path { String::new() } else { format!(", run by {}", file.display()) };
        findings.push(Finding::ok(SUBJECT, format!("{}{through}: can be preloaded", path.display())));
    }
    for warning in preflight_warnings.into_iter().chain(Choice::new(None, None).warning(&path)) {
        findings.push(Finding::fail(SUBJECT, warning.what, warning.advice));
    }
    let interpreter = Elf::read(&file).ok().flatten().and_then(|elf| elf.interpreter);
    if let (Some(interpreter), Some(shim)) = (interpreter, shim) {
        let linked = libraries::linked(&interpreter, &file);
        findings.extend(glibc(shim, c_library(&linked)));
        findings.push(libraries::outlook(&linked, shim));
    }
    if path.file_name().is_some_and(|name| name == "ollama") {
        ollama::ollama(&path, shim, findings);
    }
}

fn c_library(linked: &[(String, PathBuf)]) -> Option<&Path> {
    linked.iter().find(|(name, _)| name == "libc.so.6").map(|(_, path)| path.as_path())
}

/// Checks that the shim can be loaded with this C library.
pub(super) fn glibc(shim: &Shim, library: Option<&Path>) -> Option<Finding> {
    let offered = Exports::read(library?).ok()?.glibc_offered?;
    Some(judge(shim.glibc?, offered))
}

fn judge(needed: Glibc, offered: Glibc) -> Finding {
    let text = |(major, minor): Glibc| format!("{major}.{minor}");
    if offered >= needed {
        return Finding::ok("glibc", format!("{}, and the shim needs {}", text(offered), text(needed)));
    }
    Finding::fail(
        "glibc",
        format!("{}, but the shim needs {}", text(offered), text(needed)),
        "use a librocshim.so that was built against an older glibc (2.28 serves all ROCm systems)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_report::Level;

    #[test]
    fn an_older_glibc_than_needed_fails() {
        assert_eq!(judge((2, 28), (2, 36)).level, Level::Ok);
        assert_eq!(judge((2, 28), (2, 28)).level, Level::Ok);
        assert_eq!(judge((2, 34), (2, 28)).level, Level::Fail);
    }
}
