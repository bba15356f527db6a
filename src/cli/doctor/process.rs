//! Checks a running process: whether it is recorded, and which libraries it has loaded.

use super::{Shim, program::glibc};
use rocshim_drain::live::{Absent, Live};
use rocshim_report::Finding;
use rocshim_trace::is_library;
use std::{collections::BTreeSet, fs, path::PathBuf};

const SUBJECT: &str = "process";

/// Checks the process with this pid.
pub(crate) fn process(pid: u32, shim: Option<&Shim>, findings: &mut Vec<Finding>) {
    let root = PathBuf::from(format!("/proc/{pid}"));
    if !root.exists() {
        return findings.push(Finding::fail(
            SUBJECT,
            format!("there is no process {pid}"),
            "check the number",
        ));
    }
    let Ok(maps) = fs::read_to_string(root.join("maps")) else {
        let what = format!("process {pid} belongs to another user");
        return findings.push(Finding::fail(SUBJECT, what, "ask as that user, or as root"));
    };
    let files = mapped(&maps);
    let exe = fs::read_link(root.join("exe")).map(|exe| exe.display().to_string()).unwrap_or_default();
    findings.push(recorded(pid, &exe, &files));
    findings.extend(match Live::find(pid) {
        Ok(live) => Some(state(&live)),
        Err(absent) => silent(pid, &absent),
    });
    let Some(shim) = shim else { return };
    findings.push(loaded(&files, shim));
    let library = files.iter().find(|file| file.file_name().is_some_and(|name| name == "libc.so.6"));
    let inside = |file: &PathBuf| root.join("root").join(file.strip_prefix("/").unwrap_or(file));
    findings.extend(glibc(shim, library.map(inside).as_deref()));
}

/// Returns the files that a process has mapped.
fn mapped(maps: &str) -> BTreeSet<PathBuf> {
    // Address, rights, offset, device, inode, then the file, which may contain spaces.
    let file = |line: &str| {
        let at = line.find('/')?;
        Some(PathBuf::from(line[at..].trim_end_matches(" (deleted)")))
    };
    maps.lines().filter_map(file).collect()
}

fn recorded(pid: u32, exe: &str, files: &BTreeSet<PathBuf>) -> Finding {
    let shim = files.iter().find(|file| file.file_name().is_some_and(|name| name == "librocshim.so"));
    match shim {
        Some(path) => Finding::ok(SUBJECT, format!("{pid} ({exe}) has {} loaded", path.display())),
        None => Finding::fail(
            SUBJECT,
            format!(
                "{pid} ({exe}) does not have librocshim.so loaded, and nothing can be preloaded afterwards"
            ),
            "end it and start it again with `rocshim run -- CMD`",
        ),
    }
}

/// Returns whether it records now.
fn state(live: &Live) -> Finding {
    if live.account().is_some_and(|account| account.stopped) {
        let advice = format!("`rocshim ctl {} start` begins it", live.pid);
        return Finding::warn(SUBJECT, "recording is stopped", advice);
    }
    Finding::ok(SUBJECT, format!("it records, to {}", live.trace.display()))
}

/// Returns what prevents a process with the shim from recording or from being controlled.
fn silent(pid: u32, absent: &Absent) -> Option<Finding> {
    let (what, advice) = why(pid, absent);
    match absent {
        Absent::NoProcess | Absent::NotLoaded => None,
        Absent::Idle | Absent::Private => Some(Finding::warn(SUBJECT, what, advice)),
        Absent::Others | Absent::Off | Absent::NotChosen(..) | Absent::Unsafe(_) => {
            Some(Finding::fail(SUBJECT, what, advice))
        }
    }
}

/// Returns why a process cannot be controlled, and the next step.
pub(crate) fn why(pid: u32, absent: &Absent) -> (String, String) {
    let (what, advice) = match absent {
        Absent::NoProcess => {
            return (format!("there is no process {pid}"), "`rocshim ctl` lists those that record".into());
        }
        Absent::Others => ("belongs to another user".into(), "ask as that user, or as root"),
        Absent::NotLoaded => (
            "does not have librocshim.so loaded".into(),
            "start it with `rocshim run -- CMD`; if a child of it does the work, `rocshim ctl` lists that",
        ),
        Absent::Off => (
            "was started with ROCSHIM_OFF".into(),
            "start it without, or with ROCSHIM_START=off to record from a moment on",
        ),
        Absent::NotChosen(name, value) => (
            format!("is left alone, by {name}={value}"),
            "start it with another list if it is to be recorded",
        ),
        Absent::Idle => (
            "has called no hooked function yet, or could make no trace file (ROCSHIM_LOG would say so)".into(),
            "ask again when it works",
        ),
        Absent::Private => (
            "records into memory of its own, because no ring file could be made: a kill would lose what waits there".into(),
            "set ROCSHIM_RINGS to a folder with room when you start it",
        ),
        Absent::Unsafe(error) => {
            let what = format!("the ring files of process {pid} cannot be used: {error}");
            return (what, "look at the folder's owner and mode".into());
        }
    };
    (format!("process {pid} {what}"), advice.into())
}

fn loaded(files: &BTreeSet<PathBuf>, shim: &Shim) -> Finding {
    let hooked = |file: &&PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        shim.libraries.iter().any(|library| is_library(&name, library))
    };
    let found: Vec<String> =
        files.iter().filter(hooked).map(|file: &PathBuf| file.display().to_string()).collect();
    if found.is_empty() {
        let what = "none of the hooked libraries is loaded (yet)";
        return Finding::warn("ROCm libraries", what, "look again while it works, or look at its children");
    }
    Finding::ok("ROCm libraries", format!("loaded: {}", found.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_report::Level;

    #[test]
    fn maps_tell_what_is_loaded() {
        let maps = "7f00-7f01 r-xp 00000000 08:01 123  /opt/rocm/lib/libamdhip64.so.6\n\
                    7f02-7f03 rw-p 00000000 00:00 0\n\
                    7f04-7f05 r-xp 00000000 08:01 124  /opt/my libs/librocshim.so (deleted)\n";
        let files = mapped(maps);
        assert_eq!(files.len(), 2);
        assert_eq!(recorded(1, "/bin/x", &files).level, Level::Ok);
        assert_eq!(recorded(1, "/bin/x", &BTreeSet::new()).level, Level::Fail);
        let left_alone = Absent::NotChosen("ROCSHIM_SKIP", "x*".into());
        let finding = silent(1, &left_alone).unwrap();
        assert_eq!(
            (finding.level, finding.what.as_str()),
            (Level::Fail, "process 1 is left alone, by ROCSHIM_SKIP=x*")
        );
        let shim = Shim { path: "/x".into(), libraries: vec!["libamdhip64.so".into()], glibc: None };
        assert_eq!(loaded(&files, &shim).what, "loaded: /opt/rocm/lib/libamdhip64.so.6");
        assert_eq!(loaded(&BTreeSet::new(), &shim).level, Level::Warn);
    }
}
