//! The drop-in file of a service: written, recognised, and removed with the folders created for it.

use super::unit::{SERVICE, TRACES, Unit, below};
use crate::launch::preload_value;
use anyhow::{Context, Result, ensure};
use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

/// First words of the file, by which it is recognised.
const MADE_BY: &str =
    "# Made by `rocshim ollama install`; `rocshim ollama uninstall` removes it, and folders above it: ";

/// The drop-in file of a system.
pub(crate) struct DropIn {
    /// The file.
    pub(crate) path: PathBuf,
}

impl DropIn {
    /// Its file name, which sorts after drop-ins with smaller numbers.
    pub(crate) const NAME: &str = "50-rocshim.conf";

    /// Returns that of the system below `root`.
    pub(crate) fn of(root: &Path) -> DropIn {
        DropIn { path: below(root, format!("/etc/systemd/system/{SERVICE}.d")).join(Self::NAME) }
    }

    /// Returns its text, if it exists and was written by this command.
    ///
    /// # Errors
    /// When a file of this name is not rocshim's, or cannot be read.
    pub(crate) fn installed(&self) -> Result<Option<String>> {
        let text = match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.with_context(|| format!("cannot read {}", self.path.display()))?,
        };
        ensure!(
            text.starts_with(MADE_BY),
            "{} was not made by `rocshim ollama install`; move it away first",
            self.path.display()
        );
        Ok(Some(text))
    }

    /// Returns the text to write for this service.
    ///
    /// # Errors
    /// When LD_PRELOAD cannot contain the library's path.
    pub(crate) fn text(&self, unit: &Unit, shim: &Path, only: &str, disk_mib: u64) -> Result<String> {
        let folders = match self.installed()? {
            Some(text) => folders_made(&text),
            None => self.path.ancestors().skip(1).take_while(|folder| !folder.exists()).count(),
        };
        let existing = unit.variable("LD_PRELOAD");
        let preload = preload_value(shim, existing.as_deref().map(OsStr::new))?;
        // In a unit file `%` begins a specifier.
        let value = |text: &str| text.replace('%', "%%");
        Ok(format!(
            "{MADE_BY}{folders}\n\
             [Service]\n\
             Environment=\"LD_PRELOAD={}\"\n\
             Environment=ROCSHIM_OUT={TRACES} \"ROCSHIM_ONLY={}\"\n\
             Environment=ROCSHIM_DISK_MIB={disk_mib} ROCSHIM_DISK_FULL=oldest ROCSHIM_COMPRESS=zstd\n\
             StateDirectory={}\n",
            value(&preload.to_string_lossy()),
            value(only),
            Path::new(TRACES).file_name().unwrap_or_default().to_string_lossy(),
        ))
    }

    /// Writes it atomically.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(crate) fn write(&self, text: &str) -> Result<()> {
        let partial = self.path.with_extension("partial");
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&partial, text))
            .and_then(|()| fs::rename(&partial, &self.path))
            .with_context(|| {
                format!("cannot write {}; run it as root: `sudo rocshim ollama install`", self.path.display())
            })
    }

    /// Removes it, and the folders that were created for it and are empty.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(crate) fn remove(&self, text: &str) -> Result<()> {
        fs::remove_file(&self.path).with_context(|| {
            format!("cannot remove {}; run it as root: `sudo rocshim ollama uninstall`", self.path.display())
        })?;
        // A folder with other content is kept, and so are those above it.
        let made = self.path.ancestors().skip(1).take(folders_made(text));
        let _ = made.map(fs::remove_dir).take_while(Result::is_ok).count();
        Ok(())
    }
}

/// Returns how many folders were created for the file: its own, the one above it, …
fn folders_made(text: &str) -> usize {
    let number = text.strip_prefix(MADE_BY).and_then(|rest| rest.lines().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
