//! Finds traces that were deleted by hand while the ring files of their processes are left.

use std::path::PathBuf;

/// Returns the traces of these folders that were deleted by hand while the ring files of their
/// processes are left.
pub fn find_deleted(folders: &[PathBuf]) -> Vec<PathBuf> {
    let of_folder = |folder: &PathBuf| {
        let absolute = std::path::absolute(folder).ok().filter(|folder| folder.is_dir());
        let deleted = absolute.map(|folder| rocshim_drain::deleted(&folder)).unwrap_or_default();
        let paths = deleted.into_iter().filter_map(|path| Some(folder.join(path.file_name()?)));
        paths.collect::<Vec<_>>()
    };
    folders.iter().flat_map(of_folder).collect()
}
