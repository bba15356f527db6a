//! Finds what prevents a service from being recorded: its sandbox, its files' permissions, a
//! security module.

use super::unit::{TRACES, Unit, below};
use crate::launch::preflight_warnings;
use rocshim_report::Finding;
use std::{
    ffi::OsString,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

const SUBJECT: &str = "service";

/// Folders that a setting hides from the service.
const HIDDEN: [(&str, &[&str]); 2] =
    [("ProtectHome", &["/home", "/root", "/run/user"]), ("PrivateTmp", &["/tmp", "/var/tmp"])];

/// Returns what prevents loading the library `shim`, with the next step for each.
pub(crate) fn obstacles(unit: &Unit, root: &Path, shim: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let elsewhere = "install rocshim where every user can read it: `./install.sh /usr/local`, or the package";
    if let Some(closed) = closed_to_others(&below(root, shim)) {
        let what = format!("the service's user cannot read {}", closed.display());
        findings.push(Finding::fail(SUBJECT, what, elsewhere));
    }
    for (setting, folders) in HIDDEN {
        if unit.is_on(setting)
            && unit.last(setting) != Some("read-only")
            && folders.iter().any(|folder| shim.starts_with(folder))
        {
            let what = format!("{setting}= hides {} from the service", shim.display());
            findings.push(Finding::fail(SUBJECT, what, elsewhere));
        }
    }
    for setting in ["RootDirectory", "RootImage"] {
        if let Some(inner) = unit.last(setting) {
            let what = format!("{setting}={inner} gives the service a view of the file system of its own");
            findings.push(Finding::fail(SUBJECT, what, format!("install rocshim in {inner} too")));
        }
    }
    findings.extend(unit.last("ExecStart").and_then(|line| not_preloadable(line, root)));
    findings.extend(unit.all("EnvironmentFile").into_iter().filter_map(|file| overriding(file, root)));
    if fs::read_to_string(below(root, "/sys/fs/selinux/enforce")).is_ok_and(|text| text.trim() == "1") {
        let what = "SELinux is enforcing, and a file that was copied from a home folder keeps its label";
        let advice = format!(
            "`restorecon -v {}`; then `ausearch -m avc -c ollama` lists what was refused",
            shim.display()
        );
        findings.push(Finding::warn(SUBJECT, what, advice));
    }
    if let Some(profile) = unit.last("AppArmorProfile") {
        let what = format!("AppArmor confines the service (profile {profile})");
        let advice = format!("let the profile map {} and write below {}", shim.display(), TRACES);
        findings.push(Finding::warn(SUBJECT, what, advice));
    }
    findings
}

/// Returns the first folder on the path to a file, or the file, that other users may not enter or
/// read.
fn closed_to_others(file: &Path) -> Option<PathBuf> {
    let mut above: Vec<&Path> = file.ancestors().collect();
    above.reverse();
    let is_closed = |path: &&Path| {
        let wanted = if *path == file { 0o4 } else { 0o1 };
        path.metadata().is_ok_and(|facts| facts.mode() & wanted == 0)
    };
    above.into_iter().find(is_closed).map(Path::to_path_buf)
}

/// Returns why the library cannot be preloaded into what ExecStart= names.
fn not_preloadable(line: &str, root: &Path) -> Option<Finding> {
    let program = line.trim_start_matches(['-', '@', ':', '+', '!']).split_whitespace().next()?;
    let words = [OsString::from("ollama"), OsString::from("serve")];
    let warning = preflight_warnings(&below(root, program), &words).into_iter().next()?;
    Some(Finding::fail(SUBJECT, warning.what, warning.advice))
}

/// EnvironmentFile= is applied after the drop-in's variables, and overrides them.
fn overriding(file: &str, root: &Path) -> Option<Finding> {
    let file = file.trim_start_matches('-');
    let text = fs::read_to_string(below(root, file)).ok()?;
    let line = text.lines().find(|line| line.starts_with("LD_PRELOAD=") || line.starts_with("ROCSHIM_"))?;
    let what = format!("EnvironmentFile={file} sets `{line}`, which overrides the drop-in's");
    Some(Finding::fail(SUBJECT, what, "remove that line"))
}
