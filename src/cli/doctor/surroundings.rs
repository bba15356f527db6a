//! Checks the program's environment: a container, a sandbox, other preloaded libraries, profilers,
//! Ollama's service.

use crate::ollama::{DropIn, SERVICE, Unit};
use rocshim_report::Finding;
use std::{env, fs, path::Path};

/// Variables by which other tools are loaded into HIP programs.
const TOOLS: [&str; 6] = [
    "HSA_TOOLS_LIB",
    "ROCP_TOOL_LIB",
    "ROCP_TOOL_LIBRARIES",
    "ROCPROFILER_REGISTER_FORCE_LOAD",
    "ROCTRACER_DOMAIN",
    "LD_AUDIT",
];

/// Checks the system below `root` (`/`).
pub(super) fn surroundings(root: &Path) -> Vec<Finding> {
    let mut findings = Vec::from_iter(container(root));
    findings.extend(sandbox(root));
    if let Ok(text) = fs::read_to_string(root.join("etc/ld.so.preload")) {
        let others: Vec<&str> = text.split_whitespace().collect();
        if !others.is_empty() {
            let what = format!("/etc/ld.so.preload loads {} into every program", others.join(", "));
            findings.push(Finding::warn(
                "preload",
                what,
                "if the program fails only under rocshim, try it without that",
            ));
        }
    }
    for name in TOOLS {
        if let Some(value) = env::var(name).ok().filter(|value| !value.is_empty()) {
            let what = format!(
                "{name}={value}: another tool is in the program too, and its time counts as the program's"
            );
            findings.push(Finding::warn("profilers", what, format!("`unset {name}` unless you want both")));
        }
    }
    findings.extend(service(root));
    findings
}

fn container(root: &Path) -> Option<Finding> {
    let kind = [(".dockerenv", "Docker"), ("run/.containerenv", "Podman")];
    let kind = kind.into_iter().find(|(file, _)| root.join(file).exists()).map(|(_, kind)| kind);
    let kind = kind.or_else(|| env::var_os("APPTAINER_CONTAINER").map(|_| "Apptainer"))?;
    let what = format!("{kind}: traces and ring files end with it unless their folders are mounted");
    Some(Finding::ok("container", what))
}

fn sandbox(root: &Path) -> Option<Finding> {
    let status = fs::read_to_string(root.join("proc/self/status")).unwrap_or_default();
    let is_filtered =
        status.lines().any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"));
    let selinux =
        fs::read_to_string(root.join("sys/fs/selinux/enforce")).is_ok_and(|text| text.trim() == "1");
    match (is_filtered, selinux) {
        (_, true) => Some(Finding::warn(
            "sandbox",
            "SELinux is enforcing, and may keep a service from loading the library",
            "`restorecon -v` on librocshim.so; `ausearch -m avc` lists what was refused",
        )),
        (true, false) => {
            Some(Finding::ok("sandbox", "a seccomp filter is on; rocshim needs none of what these refuse"))
        }
        (false, false) => None,
    }
}

fn service(root: &Path) -> Option<Finding> {
    let unit = Unit::read(root, DropIn::NAME).ok()?;
    let subject = "service";
    Some(match DropIn::of(root).installed() {
        Ok(Some(_)) => {
            Finding::ok(subject, format!("{SERVICE} is recorded; `rocshim ollama status` says more"))
        }
        Ok(None) => {
            let what = format!("{} does not record", unit.file.display());
            Finding::warn(subject, what, "`sudo rocshim ollama install`, if Ollama is what you want to see")
        }
        Err(error) => Finding::warn(subject, rocshim_reader::format_error(&error), "look at that file"),
    })
}
