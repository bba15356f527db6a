//! Finds the ROCm libraries that a program links, or that the loader would find for it.

use super::{Shim, probe};
use rocshim_report::Finding;
use rocshim_trace::is_library;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the libraries that the loader resolves for a program, transitively: name and file. Runs
/// the loader, not the program.
pub(super) fn linked(interpreter: &str, file: &Path) -> Vec<(String, PathBuf)> {
    let listing = Command::new(interpreter).arg("--list").arg(file).env_remove("LD_PRELOAD").output();
    listing.map(|listing| arrows(&String::from_utf8_lossy(&listing.stdout))).unwrap_or_default()
}

/// Parses lines such as `libc.so.6 => /lib/libc.so.6 (0x7f…)`.
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

/// Returns the hooked libraries in a list, as `name => file`.
pub(super) fn hooked(list: &[(String, PathBuf)], shim: &Shim) -> Vec<String> {
    let of = |library: &String| {
        let found = list.iter().find(|(name, _)| is_library(name, library));
        found.map(|(name, path)| format!("{name} in {}", path.parent().unwrap_or(path).display()))
    };
    shim.libraries.iter().filter_map(of).collect()
}

/// Returns what will be seen of a program with these links.
pub(super) fn outlook(linked: &[(String, PathBuf)], shim: &Shim) -> Finding {
    let subject = "ROCm libraries";
    let links = hooked(linked, shim);
    if !links.is_empty() {
        return Finding::ok(subject, format!("linked: {}", links.join(", ")));
    }
    match probe::opened(shim) {
        Err(what) => Finding::warn(
            subject,
            what,
            "start the program itself: `rocshim run -- CMD` records what it loads",
        ),
        Ok(files) if files.is_empty() => Finding::warn(
            subject,
            "none is linked, and the loader finds none",
            "fine if the program brings its own (Ollama, PyTorch wheels) or starts the one that does the GPU work; else \
             add ROCm's folder to LD_LIBRARY_PATH",
        ),
        Ok(files) => {
            let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            let targets = files.iter().filter_map(|file| targets(file));
            let what = format!("opened at run time: {}", names.join(", "));
            Finding::ok(subject, targets.fold(what, |what, targets| format!("{what}; {targets}")))
        }
    }
}

/// Returns the GPU targets that a BLAS library has kernels for, by the names of its files.
fn targets(library: &Path) -> Option<String> {
    let name = library.file_name()?.to_string_lossy();
    let stem = name.strip_prefix("lib")?.split(".so").next()?;
    let files = library.parent()?.join(stem).join("library").read_dir().ok()?.flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    let targets: BTreeSet<String> = names.filter_map(|name| target(&name)).collect();
    let targets: Vec<String> = targets.into_iter().collect();
    (!targets.is_empty()).then(|| format!("{stem} has kernels for {}", targets.join(", ")))
}

/// Returns `gfx1100` for `Kernels.so-000-gfx1100.hsaco`.
fn target(name: &str) -> Option<String> {
    let (_, rest) = name.split_once("gfx")?;
    let number: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
    (number.len() >= 3).then(|| format!("gfx{number}"))
}

/// Returns the hooked libraries in a folder.
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
