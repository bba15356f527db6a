//! The text of `rocshim --version`: the version and its commit, the trace format, the glibc that
//! both files need.

use super::{Exports, find_shim};
use std::path::Path;

/// The commit that was built. Only scripts/package sets it, because other builds may contain
/// changes of a working tree.
const COMMIT: Option<&str> = option_env!("ROCSHIM_COMMIT");

/// Returns the text of `rocshim --version`, without the program's name.
pub(crate) fn version() -> String {
    let commit = COMMIT.map_or("built from a working tree".into(), |commit| format!("commit {commit}"));
    let mut text =
        format!("{} ({commit})\ntrace format {}\n", env!("CARGO_PKG_VERSION"), rocshim_trace::FORMAT);
    if let Ok(command) = std::env::current_exe() {
        text.push_str(&needs("rocshim", &command));
    }
    match find_shim(None) {
        Ok(shim) => text + &needs(&shim.display().to_string(), &shim),
        Err(error) => format!("{text}{}\n", rocshim_reader::format_error(&error)),
    }
}

fn needs(name: &str, file: &Path) -> String {
    match Exports::read(file) {
        Ok(Exports { glibc_needed: Some((major, minor)), .. }) => {
            format!("{name} needs glibc {major}.{minor} or newer\n")
        }
        Ok(_) => format!("{name} needs no glibc\n"),
        Err(error) => format!("{name} cannot be read: {}\n", rocshim_reader::format_error(&error)),
    }
}
