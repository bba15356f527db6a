//! The ROCm libraries that a program links, or that the loader would find for it.

use super::Shim;
use rocshim_report::Finding;
use rocshim_trace::is_library;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// What the loader says that a program links, all the way down: library and file. It runs the loader, not the program.
pub(super) fn linked(interpreter: &str, file: &Path) -> Vec<(String, PathBuf)> {
    let listing = Command::new(interpreter).arg("--list").arg(file).env_remove("LD_PRELOAD").output();
    listing.map(|listing| arrows(&String::from_utf8_lossy(&listing.stdout))).unwrap_or_default()
}

/// The lines `libc.so.6 => /lib/libc.so.6 (0x7f…)`.
fn arrows(listing: &str) -> Vec<(String, PathBuf)> {
    listing
        .lines()
        .filter_map(|line| {
            let (name, place) = line.trim().split_once(" => ")?;
            let path = place.split(" (0x").next()?;
            path.starts_with('/').then(|| (name.to_string(), PathBuf::from(path)))
        })
        .collect()
}

/// The same for everything in the loader's cache: `libc.so.6 (libc6,x86-64) => /lib/libc.so.6`.
fn cached() -> Vec<(String, PathBuf)> {
    let program = ["/sbin/ldconfig", "/usr/sbin/ldconfig"].into_iter().find(|path| Path::new(path).exists());
    let listing = program.and_then(|program| Command::new(program).arg("-p").output().ok());
    let listing =
        listing.map(|listing| String::from_utf8_lossy(&listing.stdout).into_owned()).unwrap_or_default();
    let named = |(name, path): (String, PathBuf)| (name.split(" (").next().unwrap_or("").to_string(), path);
    arrows(&listing).into_iter().map(named).collect()
}

/// The hooked libraries in a list, as `name => file`.
pub(super) fn hooked(list: &[(String, PathBuf)], shim: &Shim) -> Vec<String> {
    let of = |library: &String| {
        let found = list.iter().find(|(name, _)| is_library(name, library));
        found.map(|(name, path)| format!("{name} in {}", path.parent().unwrap_or(path).display()))
    };
    shim.libraries.iter().filter_map(of).collect()
}

/// What a program with these links can be seen doing.
pub(super) fn outlook(linked: &[(String, PathBuf)], shim: &Shim) -> Finding {
    let subject = "ROCm libraries";
    let links = hooked(linked, shim);
    if !links.is_empty() {
        return Finding::ok(subject, format!("linked: {}", links.join(", ")));
    }
    let mut found = hooked(&cached(), shim);
    found.extend(hooked(&in_folders(shim), shim));
    if found.is_empty() {
        return Finding::warn(
            subject,
            "none is linked, and the loader would find none",
            "fine if the program brings its own (Ollama, PyTorch wheels) or starts the one that does the GPU work",
        );
    }
    found.sort();
    found.dedup();
    let what = format!("none is linked; opened at run time, the loader would find {}", found.join(", "));
    Finding::ok(subject, what)
}

/// The ROCm libraries in LD_LIBRARY_PATH and in ROCm's own folder.
fn in_folders(shim: &Shim) -> Vec<(String, PathBuf)> {
    let path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/opt/rocm/lib")]);
    folders.flat_map(|folder| libraries_in(&folder, shim)).collect()
}

/// The hooked libraries in one folder.
pub(super) fn libraries_in(folder: &Path, shim: &Shim) -> Vec<(String, PathBuf)> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    let mut found: Vec<_> =
        named.filter(|(name, _)| shim.libraries.iter().any(|library| is_library(name, library))).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_lists_are_read() {
        let listing = "\tlinux-vdso.so.1 (0x00007f97)\n\tlibamdhip64.so.6 => /opt/rocm/lib/libamdhip64.so.6 (0x00007f97)\n\tlibx.so => not found\n";
        let linked = arrows(listing);
        assert_eq!(
            linked,
            [("libamdhip64.so.6".to_string(), PathBuf::from("/opt/rocm/lib/libamdhip64.so.6"))]
        );
        let libraries = ["libamdhip64.so", "librocblas.so"].map(str::to_string).to_vec();
        let shim = Shim { path: "/x".into(), libraries, glibc: None };
        assert_eq!(hooked(&linked, &shim), ["libamdhip64.so.6 in /opt/rocm/lib"]);
    }
}
