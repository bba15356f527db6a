//! Checks the machine and the environment: space for traces and rings, the clock, variables.

use super::{Shim, gpu, libraries, surroundings};
use crate::launch::{check_folder, chosen_folder};
use rocshim_report::Finding;
use rustix::fs::{Access, access, statvfs};
use std::{
    env,
    path::{Path, PathBuf},
};

/// Adds findings on the libraries that the loader would select for a program that bundles none.
pub(crate) fn any_program(shim: Option<&Shim>, findings: &mut Vec<Finding>) {
    findings.extend(shim.map(|shim| libraries::outlook(&[], shim)));
}

/// Checks everything that does not depend on the program.
pub(crate) fn machine(out: Option<&Path>, shim: Option<&Shim>, findings: &mut Vec<Finding>) {
    findings.extend(gpu::gpu(Path::new("/")));
    findings.push(folder(out));
    findings.push(rings());
    findings.push(clock(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()));
    findings.extend(preload(&env::var("LD_PRELOAD").unwrap_or_default(), shim));
    findings.extend(surroundings::surroundings(Path::new("/")));
    if env::var("ROCSHIM_OFF").is_ok_and(|value| !value.is_empty() && value != "0") {
        findings.push(Finding::fail(
            "environment",
            "ROCSHIM_OFF is set: nothing is recorded",
            "unset ROCSHIM_OFF",
        ));
    }
}

fn folder(out: Option<&Path>) -> Finding {
    let subject = "output folder";
    match chosen_folder(out).and_then(|folder| check_folder(&folder).map(|()| folder)) {
        Ok(folder) if free_near(&folder) == Some(0) => Finding::fail(
            subject,
            format!("no space is left in {}", folder.display()),
            "choose another with -o DIR",
        ),
        Ok(folder) => {
            let new = if folder.exists() { "" } else { " (will be made)" };
            Finding::ok(subject, format!("{}{new}, {} free", folder.display(), room(&folder)))
        }
        Err(error) => {
            Finding::fail(subject, rocshim_reader::format_error(&error), "choose another with -o DIR")
        }
    }
}

/// Returns the free space at a folder that exists or will be created.
fn room(folder: &Path) -> String {
    free_near(folder).map_or_else(|| "unknown".into(), rocshim_analysis::units::bytes)
}

fn free_near(folder: &Path) -> Option<u64> {
    free(folder.ancestors().find(|above| above.exists())?)
}

fn free(folder: &Path) -> Option<u64> {
    let space = statvfs(folder).ok()?;
    Some(space.f_bavail * space.f_frsize)
}

/// Space in bytes for the rings of all threads below which there is a warning: a container's
/// default.
const SMALL: u64 = 64 << 20;

fn rings() -> Finding {
    let subject = "ring files";
    let chosen = env::var_os("ROCSHIM_RINGS").filter(|value| !value.is_empty());
    let folder = chosen.map_or_else(|| PathBuf::from("/dev/shm"), PathBuf::from);
    let name = folder.display();
    let advice = "mount a tmpfs there, or set ROCSHIM_RINGS to a folder that can be written";
    if !folder.is_dir() {
        return Finding::warn(subject, format!("{name} does not exist; rings go beside the traces"), advice);
    }
    if access(&folder, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        return Finding::warn(
            subject,
            format!("{name} cannot be written; rings go beside the traces"),
            advice,
        );
    }
    match free(&folder) {
        Some(bytes) if bytes <= SMALL => Finding::warn(
            subject,
            format!(
                "{name} has only {} free; a process takes 2 MiB, and in a burst up to ROCSHIM_MEMORY_MIB",
                rocshim_analysis::units::bytes(bytes)
            ),
            "give a container more (docker run --shm-size=1g), or lower ROCSHIM_MEMORY_MIB",
        ),
        Some(bytes) => {
            Finding::ok(subject, format!("{name}, {} free", rocshim_analysis::units::bytes(bytes)))
        }
        None => Finding::ok(subject, name.to_string()),
    }
}

fn clock(cpuinfo: &str) -> Finding {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let has = |flag: &str| flags.split_whitespace().any(|known| known == flag);
    if has("constant_tsc") && has("nonstop_tsc") {
        return Finding::ok("clock", "invariant time-stamp counter");
    }
    Finding::warn(
        "clock",
        "no invariant time-stamp counter; clock_gettime is used, which costs more for each call",
        "nothing to do: times are right, a launch costs some 30 ns more",
    )
}

fn preload(value: &str, shim: Option<&Shim>) -> Option<Finding> {
    let others: Vec<&str> = value.split([':', ' ']).filter(|path| !path.is_empty()).collect();
    let subject = "environment";
    if others.is_empty() {
        return None;
    }
    let own = |path: &&&str| shim.is_some_and(|shim| Path::new(path) == shim.path);
    if others.iter().any(|path| own(&path)) {
        let advice = "fine for a program; unset it for rocshim itself, or keep to `rocshim run`";
        return Some(Finding::warn(subject, "LD_PRELOAD holds librocshim.so already", advice));
    }
    Some(Finding::ok(subject, format!("LD_PRELOAD holds {}; the shim is put before it", others.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_report::Level;

    #[test]
    fn the_clock_needs_both_flags() {
        assert_eq!(clock("flags\t: fpu tsc constant_tsc nonstop_tsc\n").level, Level::Ok);
        assert_eq!(clock("flags\t: fpu tsc constant_tsc\n").level, Level::Warn);
        assert_eq!(clock("").level, Level::Warn);
    }

    #[test]
    fn what_is_preloaded_already_is_named() {
        let shim = Shim { path: "/opt/librocshim.so".into(), libraries: Vec::new(), glibc: None };
        assert_eq!(preload("", Some(&shim)), None);
        let others = preload("/a.so:/b.so", Some(&shim)).unwrap();
        assert_eq!(
            (others.level, others.what.as_str()),
            (Level::Ok, "LD_PRELOAD holds /a.so, /b.so; the shim is put before it")
        );
        assert_eq!(preload("/a.so /opt/librocshim.so", Some(&shim)).unwrap().level, Level::Warn);
    }
}
