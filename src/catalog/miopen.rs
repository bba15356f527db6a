//! MIOpen's find database: text files of one line for each problem, `KEY=SOLVER:TIME,WORKSPACE,…;…`
//! (MIOpen 3, src/find_db.cpp, src/db_record.cpp).

use crate::stamp;
use std::fs;
use std::path::{Path, PathBuf};

/// The most bytes of a file that are read.
const MAX_BYTES: u64 = 512 << 20;

/// What a folder has for a problem on a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FindDatabase {
    /// The folder.
    pub folder: PathBuf,
    /// The target's files, and when each last changed, Unix nanoseconds.
    pub files: Vec<(PathBuf, Option<i128>)>,
    /// Index of the file with an entry for the problem, and its solvers.
    pub entry: Option<(usize, Vec<FoundSolver>)>,
}

/// A solver of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundSolver {
    /// Its name.
    pub name: String,
    /// Measured time, ms.
    pub time_ms: f64,
    /// Workspace that it needs, bytes.
    pub workspace: u64,
}

impl FindDatabase {
    /// Looks `key` up in the files of `target` in `folder`, whose names end in `suffix` (`ufdb.txt`
    /// for those of a user, `fdb.txt` for installed ones).
    pub fn look_up(folder: &Path, target: &str, suffix: &str, key: &str) -> FindDatabase {
        let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_of_target = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let units =
                name.strip_prefix(target).and_then(|rest| rest.split_once('.')).map(|(units, _)| units);
            // Compute units: `_48`, or up to three hex digits directly after the target.
            let is_count = |units: &str| units.starts_with('_') || units.len() <= 3;
            units.is_some_and(is_count) && name.ends_with(&format!(".{suffix}"))
        };
        let mut files: Vec<PathBuf> = files.filter(is_of_target).collect();
        files.sort();
        let entry = files.iter().enumerate().find_map(|(at, path)| Some((at, entry(path, key)?)));
        let files =
            files.into_iter().map(|path| (path.clone(), stamp(&path).map(|stamp| stamp.changed))).collect();
        FindDatabase { folder: folder.to_owned(), files, entry }
    }
}

/// The solvers of the line of `key`.
fn entry(path: &Path, key: &str) -> Option<Vec<FoundSolver>> {
    fs::metadata(path).ok().filter(|file| file.len() <= MAX_BYTES)?;
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let values = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
    let solver = |value: &str| {
        let (name, rest) = value.split_once(':')?;
        let mut words = rest.split(',');
        let (time_ms, workspace) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(FoundSolver { name: name.to_owned(), time_ms, workspace })
    };
    Some(values.split(';').filter_map(solver).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_found_in_the_file_of_its_target_alone() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "gfx1100_48.HIP.3_4_0_.ufdb.txt",
            "16-28=GemmFwdRest:1.25,451584,a;ConvDirect:0.5,0,b\n16-2=X:1,1,a\n",
        );
        write("gfx1101_48.HIP.3_4_0_.ufdb.txt", "16-9=Other:1,0,a\n");
        write("gfx1100_48.HIP.fdb.txt", "16-7=Installed:1,0,a\n");
        let user = |key: &str| FindDatabase::look_up(folder.path(), "gfx1100", "ufdb.txt", key);
        let (file, solvers) = user("16-28").entry.unwrap();
        assert_eq!(file, 0);
        assert_eq!(solvers[0], FoundSolver { name: "GemmFwdRest".into(), time_ms: 1.25, workspace: 451_584 });
        assert_eq!(solvers.len(), 2);
        for absent in ["16-9", "16-7", "16", "28"] {
            assert_eq!((user(absent).entry, user(absent).files.len()), (None, 1), "{absent}");
        }
        let installed = FindDatabase::look_up(folder.path(), "gfx1100", "fdb.txt", "16-7");
        assert_eq!(installed.entry.map(|(_, solvers)| solvers.len()), Some(1));
        let none = FindDatabase::look_up(&folder.path().join("none"), "gfx1100", "ufdb.txt", "16-28");
        assert_eq!((none.files.len(), none.entry), (0, None));
    }
}
