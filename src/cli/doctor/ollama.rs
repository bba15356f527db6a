//! Checks what is particular to Ollama: its runners do the GPU work, with bundled libraries.

use super::{Shim, libraries};
use rocshim_report::Finding;
use std::{fs, path::Path};

const SUBJECT: &str = "ollama";

pub(super) fn ollama(program: &Path, shim: Option<&Shim>, findings: &mut Vec<Finding>) {
    if let Some(pid) = running_server() {
        findings.push(Finding::warn(
            SUBJECT,
            format!("a server runs already (process {pid}), so another cannot listen on the same port"),
            "stop it first (systemctl stop ollama, or kill it), then `rocshim run -- ollama serve`",
        ));
    }
    let bundled = shim.map(|shim| bundled(program, shim)).unwrap_or_default();
    if bundled.is_empty() {
        let what =
            "there is no ROCm library beside it, so it will compute on the CPU unless ROCm is installed";
        findings.push(Finding::warn(
            SUBJECT,
            what,
            "install Ollama's ROCm package (ollama-linux-amd64-rocm)",
        ));
    } else {
        findings.push(Finding::ok(SUBJECT, format!("brings {}", bundled.join(", "))));
    }
    let what = "each model runs in a process of its own below the server, and each writes a trace of its own";
    findings.push(Finding::ok(SUBJECT, what));
}

/// Finds a process named `ollama` whose command line has `serve`.
fn running_server() -> Option<u32> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(|pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        words.next().is_some_and(|name| name == b"ollama" || name.ends_with(b"/ollama"))
            && words.next().is_some_and(|verb| verb == b"serve")
    })
}

/// Returns the hooked libraries in Ollama's own folders, one level deep.
fn bundled(program: &Path, shim: &Shim) -> Vec<String> {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_path_buf());
    let prefix = real.parent().and_then(Path::parent).unwrap_or(Path::new("/usr")).to_path_buf();
    let roots = [prefix.join("lib/ollama"), "/usr/lib/ollama".into(), "/usr/local/lib/ollama".into()];
    let inner =
        |root: &Path| fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let mut found: Vec<String> = roots
        .iter()
        .flat_map(|root| [vec![root.clone()], inner(root)].concat())
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| libraries::hooked(&libraries::libraries_in(&folder, shim), shim))
        .collect();
    found.sort();
    found.dedup();
    found
}
