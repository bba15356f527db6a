//! What is known after each run of a bisection, in a file: the same command continues from it.

use anyhow::{Context, Result, bail};
use rocshim_analysis::{Decisions, Difference, Differences};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The file's content. A bisection is the same whenever its runs are, so the runs are all that is
/// kept.
#[derive(Serialize, Deserialize)]
pub(crate) struct State {
    /// The form of this file: 1.
    format: u32,
    /// The program and its arguments.
    command: Vec<String>,
    differences: Vec<Difference>,
    each: usize,
    /// What the order of the runs is drawn from.
    pub(crate) seed: u64,
    /// The exit code of the first run.
    pub(crate) usual: Option<u8>,
    pub(crate) runs: Vec<KnownRun>,
    #[serde(skip)]
    path: PathBuf,
}

/// A run that was made.
#[derive(Serialize, Deserialize)]
pub(crate) struct KnownRun {
    pub(crate) differences: Differences,
    pub(crate) decisions: Decisions,
}

impl State {
    /// What the file holds; a new one where there is none.
    ///
    /// # Errors
    /// Where the file is of another bisection.
    pub(crate) fn open(
        path: &Path,
        command: Vec<String>,
        differences: &[Difference],
        each: usize,
        seed: u64,
    ) -> Result<State> {
        let new = State {
            format: 1,
            command,
            differences: differences.to_vec(),
            each,
            seed,
            usual: None,
            runs: Vec::new(),
            path: path.to_path_buf(),
        };
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(new),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let known: State = serde_json::from_slice(&text).with_context(|| {
            format!("{} is no state of a bisection; remove it or give --state", path.display())
        })?;
        let is_same = (known.format, &known.command, &known.differences, known.each)
            == (1, &new.command, &new.differences, each);
        if !is_same {
            bail!(
                "{} is of another bisection (program, differences or --runs); remove it or give --state",
                path.display()
            );
        }
        Ok(State { path: new.path, ..known })
    }

    /// Adds a run, and writes the file anew.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub(crate) fn add(&mut self, run: KnownRun) -> Result<()> {
        self.runs.push(run);
        let cannot = || format!("cannot write {}; choose another file with --state", self.path.display());
        let folder = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut file =
            tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).with_context(cannot)?;
        serde_json::to_writer(&mut file, self).with_context(cannot)?;
        file.flush().with_context(cannot)?;
        file.persist(&self.path).with_context(cannot)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_read_again_and_another_bisection_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("state.json");
        let open = |each, seed| State::open(&path, vec!["prog".into()], &[], each, seed);
        let mut state = open(8, 5).unwrap();
        let differences: Differences = [1, 3].into();
        state.add(KnownRun { differences: differences.clone(), decisions: Decisions::default() }).unwrap();
        let again = open(8, 6).unwrap();
        assert_eq!((again.seed, again.runs.len(), &again.runs[0].differences), (5, 1, &differences));
        let error = open(9, 6).err().unwrap().to_string();
        assert!(error.contains("is of another bisection"), "{error}");
    }
}
