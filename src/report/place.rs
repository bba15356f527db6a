//! The destination of an export or a page. Until it is whole it has another name, so that nothing
//! that was cut short looks whole.

use anyhow::{Context, Result, bail};
use std::{
    fs::{self, File},
    io::{self, BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
};

/// A name in the folder of `path` that marks it as unfinished.
fn unfinished(path: &Path) -> Result<PathBuf> {
    let Some(name) = path.file_name() else {
        bail!("{} names no file: give a name with -o", path.display());
    };
    let mut name = name.to_owned();
    name.push(format!(".unfinished-{}", std::process::id()));
    Ok(path.with_file_name(name))
}

/// A file, or standard output.
pub struct FilePlace {
    /// Absent for standard output.
    paths: Option<[PathBuf; 2]>,
    is_done: bool,
}

impl FilePlace {
    /// Fails where nothing could be written to `path` in the end, before much is read in vain: `-`
    /// is standard output, a file that exists is replaced only where `force`.
    pub fn check(path: &Path, force: bool) -> Result<()> {
        let name = path.display();
        if path == Path::new("-") {
            if io::stdout().is_terminal() {
                bail!("this is no text for a terminal: name a file with -o, or pipe it on");
            }
            return Ok(());
        }
        if path.is_dir() {
            bail!("{name} is a folder: name a file in it");
        }
        if path.exists() && !force {
            bail!("{name} exists: remove it, name another file with -o, or replace it with --force");
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // It has no name, and so leaves nothing.
        tempfile::tempfile_in(folder).map(drop).with_context(|| format!("cannot write {name}"))
    }

    /// Opens `path`, which was checked.
    pub fn open(path: &Path) -> Result<(FilePlace, Box<dyn Write>)> {
        if path == Path::new("-") {
            let place = FilePlace { paths: None, is_done: false };
            return Ok((place, Box::new(BufWriter::new(io::stdout()))));
        }
        let unfinished = unfinished(path)?;
        let file = File::create(&unfinished).with_context(|| format!("cannot write {}", path.display()))?;
        let place = FilePlace { paths: Some([unfinished, path.to_path_buf()]), is_done: false };
        Ok((place, Box::new(BufWriter::with_capacity(1 << 18, file))))
    }

    /// Gives the file its name, once everything is written.
    pub fn finish(mut self) -> Result<()> {
        if let Some([unfinished, path]) = &self.paths {
            fs::rename(unfinished, path).with_context(|| format!("cannot write {}", path.display()))?;
        }
        self.is_done = true;
        Ok(())
    }
}

impl Drop for FilePlace {
    fn drop(&mut self) {
        if let (Some([unfinished, _]), false) = (&self.paths, self.is_done) {
            let _ = fs::remove_file(unfinished);
        }
    }
}

/// A folder of files.
#[derive(Debug)]
pub struct FolderPlace {
    unfinished: PathBuf,
    path: PathBuf,
    force: bool,
    is_done: bool,
}

impl FolderPlace {
    /// Makes the folder `path`; one that exists must be empty or, where `force`, an earlier
    /// export's.
    pub fn open(path: &Path, force: bool) -> Result<FolderPlace> {
        let name = path.display();
        if path == Path::new("-") {
            bail!("this form is a folder of files and cannot go to standard output: name a folder with -o");
        }
        if path.exists() && !path.is_dir() {
            bail!("{name} is a file: this form is a folder of files, name one with -o");
        }
        if path.is_dir() {
            let files = files_of(path).with_context(|| format!("cannot list the folder {name}"))?;
            if let Some(other) = files.iter().find(|file| !is_exported(file)) {
                bail!("{name} holds {}, which no export made: name another folder with -o", other.display());
            }
            if !files.is_empty() && !force {
                bail!("{name} exists: remove it, name another folder with -o, or replace it with --force");
            }
        }
        // The folder's own name, also where a slash follows it.
        let path: PathBuf = path.components().collect();
        let unfinished = unfinished(&path)?;
        fs::create_dir(&unfinished).with_context(|| format!("cannot write {name}"))?;
        Ok(FolderPlace { unfinished, path, force, is_done: false })
    }

    /// A new file in it; creates its parent folders.
    pub fn create(&self, file: &str) -> Result<BufWriter<File>> {
        let path = self.unfinished.join(file);
        let create = || {
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            File::create_new(&path)
        };
        let created = create().with_context(|| format!("cannot write {}", self.path.join(file).display()))?;
        Ok(BufWriter::with_capacity(1 << 16, created))
    }

    /// Gives the folder its name, once everything is written.
    pub fn finish(mut self) -> Result<()> {
        let rename = || {
            if self.force && self.path.is_dir() {
                fs::remove_dir_all(&self.path)?;
            }
            fs::rename(&self.unfinished, &self.path)
        };
        rename().with_context(|| format!("cannot write {}", self.path.display()))?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for FolderPlace {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = fs::remove_dir_all(&self.unfinished);
        }
    }
}

/// Every file below a folder.
fn files_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => files.extend(files_of(&entry.path())?),
            false => files.push(entry.path()),
        }
    }
    Ok(files)
}

/// A file of one of the forms, by its name.
fn is_exported(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "csv" || extension == "parquet")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_name_when_it_is_whole_and_leaves_nothing_otherwise() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("x.json");
        let names =
            || fs::read_dir(scratch.path()).unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>();
        FilePlace::check(&path, false).unwrap();
        assert!(names().is_empty());
        let (place, mut file) = FilePlace::open(&path).unwrap();
        file.write_all(b"x").unwrap();
        assert!(!path.exists() && names().len() == 1);
        drop((file, place));
        assert!(names().is_empty());
        let (place, mut file) = FilePlace::open(&path).unwrap();
        file.write_all(b"whole").unwrap();
        file.flush().unwrap();
        place.finish().unwrap();
        assert_eq!((fs::read(&path).unwrap(), names().len()), (b"whole".to_vec(), 1));
        let sentence = |path: &Path, force| FilePlace::check(path, force).unwrap_err().to_string();
        let is_there = sentence(&path, false);
        assert!(
            is_there
                .ends_with("x.json exists: remove it, name another file with -o, or replace it with --force")
        );
        assert!(FilePlace::check(&path, true).is_ok());
        assert!(sentence(scratch.path(), true).ends_with("is a folder: name a file in it"));
        assert!(sentence(&scratch.path().join("none/x"), true).starts_with("cannot write "));
    }

    #[test]
    fn a_folder_is_replaced_only_where_it_is_an_exports_and_that_is_asked_for() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("out");
        let place = FolderPlace::open(&path, false).unwrap();
        place.create("launches/host=h/launches-0.parquet").unwrap();
        drop(place);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
        let place = FolderPlace::open(&path, false).unwrap();
        place.create("a.csv").unwrap();
        place.finish().unwrap();
        let sentence = FolderPlace::open(&path, false).unwrap_err().to_string();
        assert!(
            sentence
                .ends_with("out exists: remove it, name another folder with -o, or replace it with --force"),
            "{sentence}"
        );
        let place = FolderPlace::open(&path, true).unwrap();
        place.create("b.csv").unwrap();
        place.finish().unwrap();
        assert!(path.join("b.csv").exists() && !path.join("a.csv").exists());
        fs::write(path.join("mine.txt"), "").unwrap();
        let sentence = FolderPlace::open(&path, true).unwrap_err().to_string();
        assert!(sentence.contains("mine.txt, which no export made"), "{sentence}");
    }
}
