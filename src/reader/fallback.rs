//! Finds traces that the shim wrote below the temporary folder because the configured folder could
//! not be written.

use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Returns this user's traces that were configured for the folder `wanted`. The notes in their
/// headers state why they are elsewhere.
pub(crate) fn written_elsewhere(wanted: &Path) -> Vec<PathBuf> {
    let Ok(own) = fs::metadata("/proc/self") else { return Vec::new() };
    let folder = env::temp_dir().join(format!("rocshim-{}", own.uid()));
    let absolute = std::path::absolute(wanted).unwrap_or_else(|_| wanted.to_path_buf());
    let beginnings = [wanted, &absolute].map(|path| format!("{}: ", path.display()));
    let is_meant = |trace: &PathBuf| {
        let header = rocshim_drain::header_of(trace).ok().flatten();
        let note = header.and_then(|header| header.note);
        note.is_some_and(|note| beginnings.iter().any(|beginning| note.starts_with(beginning)))
    };
    super::traces_in(&folder).unwrap_or_default().into_iter().filter(is_meant).collect()
}
