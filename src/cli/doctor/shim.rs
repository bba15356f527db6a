//! Checks the shim: present, of the right architecture, complete.

use super::Shim;
use crate::launch::{Elf, Exports, find_shim, hooks_of, preload_value, unexported_of};
use rocshim_report::Finding;
use std::path::Path;

const SUBJECT: &str = "shim";

/// Checks the shim; returns its facts for the other checks, if it was found.
pub(crate) fn shim(asked: Option<&Path>, findings: &mut Vec<Finding>) -> Option<Shim> {
    let path = match find_shim(asked) {
        Ok(path) => path,
        Err(error) => {
            findings.push(Finding::fail(
                SUBJECT,
                rocshim_reader::format_error(&error),
                "build it with `cargo build --release`",
            ));
            return None;
        }
    };
    match facts(&path) {
        Ok((shim, what)) => {
            findings.push(Finding::ok(SUBJECT, what));
            Some(shim)
        }
        Err(error) => {
            let advice = "take the librocshim.so that was built together with this program";
            findings.push(Finding::fail(SUBJECT, rocshim_reader::format_error(&error), advice));
            None
        }
    }
}

fn facts(path: &Path) -> anyhow::Result<(Shim, String)> {
    let name = path.display();
    preload_value(path, None)?;
    let elf = Elf::read(path)?.ok_or_else(|| anyhow::anyhow!("{name} is no ELF file"))?;
    anyhow::ensure!(elf.x86_64, "{name} is not for x86-64");
    let hooks = hooks_of(path)?;
    let (exports, unexported) = (Exports::read(path)?, unexported_of(path)?);
    let missing: Vec<&str> = hooks
        .iter()
        .map(|hook| hook.symbol.as_str())
        .filter(|hook| !exports.symbols.contains(*hook) && !unexported.iter().any(|name| name == hook))
        .collect();
    anyhow::ensure!(missing.is_empty(), "{name} lists hooks that it does not export: {}", missing.join(", "));
    let mut libraries: Vec<String> = Vec::new();
    for hook in &hooks {
        if !libraries.contains(&hook.library) {
            libraries.push(hook.library.clone());
        }
    }
    let what = format!("{name} hooks {} functions of {}", hooks.len(), libraries.join(", "));
    Ok((Shim { path: path.to_path_buf(), libraries, glibc: exports.glibc_needed }, what))
}
