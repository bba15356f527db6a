//! Selects the folder for the traces, and checks that it can be written, before anything is
//! started.

use anyhow::{Context, Result};
use rocshim_trace::out_path::common_folder;
use rustix::fs::{Access, access};
use std::{
    env,
    fs::{DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// Returns the absolute path that traces go to, in which each process fills in what it is: as
/// requested, else `$ROCSHIM_OUT`, else `rocshim-out` here.
pub(crate) fn chosen_path(asked: Option<&Path>) -> Result<PathBuf> {
    let environment = || env::var_os("ROCSHIM_OUT").filter(|path| !path.is_empty()).map(PathBuf::from);
    let folder =
        asked.map(Path::to_path_buf).or_else(environment).unwrap_or_else(|| PathBuf::from("rocshim-out"));
    std::path::absolute(&folder)
        .with_context(|| format!("cannot use {} as the output folder", folder.display()))
}

/// Returns the folder that all these traces are in or below.
pub(crate) fn chosen_folder(asked: Option<&Path>) -> Result<PathBuf> {
    chosen_path(asked).map(|path| common_folder(&path))
}

/// Creates the folder (for its owner alone) if it is missing, and tries to write in it.
pub(crate) fn prepare_folder(folder: &Path) -> Result<()> {
    let name = folder.display();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot create the output folder {name}, choose another with -o DIR"))?;
    try_writing(folder)
        .with_context(|| format!("cannot write in the output folder {name}, choose another with -o DIR"))
}

/// Returns whether the folder can be written, or created, without creating it.
pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return try_writing(folder).with_context(|| format!("cannot write in {}", folder.display()));
    }
    let above = folder.ancestors().find(|above| above.exists()).unwrap_or(Path::new("/"));
    access(above, Access::WRITE_OK | Access::EXEC_OK)
        .with_context(|| format!("cannot create {} in {}", folder.display(), above.display()))
}

fn try_writing(folder: &Path) -> io::Result<()> {
    let trial = folder.join(format!(".rocshim-trial-{}", std::process::id()));
    File::create(&trial)?;
    std::fs::remove_file(&trial)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_new_folder_is_its_owners_alone_and_left_empty() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("a/b");
        prepare_folder(&folder).unwrap();
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(folder.read_dir().unwrap().count(), 0);
        prepare_folder(&folder).unwrap();
    }

    #[test]
    fn a_file_in_the_way_is_an_error_with_its_name() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("taken");
        File::create(&file).unwrap();
        let error = prepare_folder(&file.join("traces")).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot create the output folder {}", file.display())), "{error}");
    }
}
