//! Opens the ROCm libraries that a program would open at run time, as the loader finds them, in a
//! separate process.
//!
//! That process is this command again, with `doctor --probe`: a library's constructors may start
//! threads, print, or fail.

use super::Shim;
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Newest version number of a library's file name that is tried: HIP's is 7.
const NEWEST: u32 = 9;
/// Time limit for the constructors.
const PATIENCE: Duration = Duration::from_secs(20);

/// Returns the files that the loader selects for the hooked libraries, with their dependencies.
///
/// # Errors
/// A sentence on how the process ended, when it did not list them.
pub(super) fn opened(shim: &Shim) -> Result<Vec<PathBuf>, String> {
    let command = env::current_exe().map_err(|error| format!("rocshim itself cannot be found: {error}"))?;
    let mut child = Command::new(command)
        .args(["doctor", "--probe"])
        .arg(shim.libraries.join(","))
        .env_remove("LD_PRELOAD")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("they cannot be tried: {error}"))?;
    let deadline = Instant::now() + PATIENCE;
    // Its list is shorter than a pipe's capacity.
    while child.try_wait().is_ok_and(|ended| ended.is_none()) {
        if Instant::now() > deadline {
            let _ = child.kill();
        }
        thread::sleep(Duration::from_millis(5));
    }
    let ended = child.wait_with_output().map_err(|error| error.to_string())?;
    if !ended.status.success() {
        return Err(format!("a process that opens them ends with {}", ended.status));
    }
    Ok(String::from_utf8_lossy(&ended.stdout).lines().map(PathBuf::from).collect())
}

/// Runs in that process: opens each library of the list, and returns the files that are then
/// mapped, one line each.
pub(crate) fn probe(list: &str) -> String {
    // Kept open, because a closed library may be unmapped.
    let _opened: Vec<_> = list.split(',').filter_map(open).collect();
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let files: BTreeSet<&str> = maps.lines().filter_map(|line| Some(&line[line.find('/')?..])).collect();
    let wanted = |file: &&str| {
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        list.split(',').any(|library| rocshim_trace::is_library(&name, library))
    };
    files.into_iter().filter(wanted).map(|file| format!("{file}\n")).collect()
}

/// Opens the library by the name that programs link, otherwise by its newest version.
fn open(library: &str) -> Option<dlopen2::raw::Library> {
    let versions = (0..=NEWEST).rev().map(|version| format!("{library}.{version}"));
    std::iter::once(library.to_string())
        .chain(versions)
        .find_map(|name| dlopen2::raw::Library::open(name).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_found_by_its_version_and_the_file_is_the_loaders() {
        let libc = probe("libc.so");
        assert!(libc.trim_end().ends_with("/libc.so.6"), "{libc}");
        assert_eq!(probe("libnowhere.so"), "");
    }
}
