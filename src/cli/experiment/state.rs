//! The state of a bisection after each run, in a file from which the same command continues.

use anyhow::{Context, Result, bail};
use rocshim_analysis::{Decisions, Difference, Differences};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The file's content. A bisection depends on its runs only, so only they are kept.
#[derive(Serialize, Deserialize)]
pub(crate) struct State {
    /// Version of this file's form: 1.
    format: u32,
    /// The program and its arguments.
    command: Vec<String>,
    differences: Vec<Difference>,
    each: usize,
    /// Seed of the order of the runs.
    pub(crate) seed: u64,
    /// Exit code of the first run.
    pub(crate) usual: Option<u8>,
    pub(crate) runs: Vec<KnownRun>,
    #[serde(skip)]
    path: PathBuf,
}

/// A completed run.
#[derive(Serialize, Deserialize)]
pub(crate) struct KnownRun {
    pub(crate) differences: Differences,
    pub(crate) decisions: Decisions,
}

impl State {
    /// Reads the file, or returns a new state when there is none.
    ///
    /// # Errors
    /// When the file belongs to another bisection.
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

    /// Adds a run, and rewrites the file.
    ///
    /// # Errors
    /// When it cannot be written.
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
