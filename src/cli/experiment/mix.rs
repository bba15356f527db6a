//! A folder of links to the files of two library folders, which takes each differing file from one
//! or the other.

use super::Setup;
use anyhow::{Context, Result, bail};
use rocshim_analysis::{Difference, Differences};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{BufReader, Read},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// Two library folders, and the folder of links.
pub(crate) struct Mix {
    /// Files by their path below the folder, of A and of B.
    files: [BTreeMap<PathBuf, PathBuf>; 2],
    /// Those that differ, in order.
    differ: Vec<PathBuf>,
    folder: PathBuf,
    has_libraries: bool,
}

impl Mix {
    /// Finds the differences between `a` and `b`; links will be in a folder in `scratch`.
    ///
    /// # Errors
    /// When a folder cannot be read or has no files.
    pub(crate) fn of(a: &Path, b: &Path, scratch: &Path) -> Result<Mix> {
        let files = [files(a)?, files(b)?];
        let names: BTreeSet<&PathBuf> = files.iter().flat_map(BTreeMap::keys).collect();
        let mut differ = Vec::new();
        for name in names {
            let same = match [&files[0], &files[1]].map(|files| files.get(name)) {
                [Some(a), Some(b)] => same_content(a, b)?,
                _ => false,
            };
            if !same {
                differ.push(name.clone());
            }
        }
        let has_libraries = files.iter().any(|files| files.keys().any(|name| is_library(name)));
        Ok(Mix { files, differ, folder: scratch.join("mix"), has_libraries })
    }

    /// Returns a difference for each file that differs.
    pub(crate) fn differences(&self) -> Vec<Difference> {
        let difference = |name: &PathBuf| Difference::File {
            name: name.display().to_string(),
            a: size_in(&self.files[0], name),
            b: size_in(&self.files[1], name),
        };
        self.differ.iter().map(difference).collect()
    }

    /// Creates the folder of links, with these files of B and all others of A.
    ///
    /// # Errors
    /// When it cannot be created.
    pub(crate) fn setup(&self, differences: &Differences) -> Result<Setup> {
        let cannot = || format!("cannot make the folder of links {}", self.folder.display());
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).with_context(cannot)?;
        }
        fs::create_dir_all(&self.folder).with_context(cannot)?;
        let of_b: BTreeSet<&PathBuf> = differences.iter().map(|at| &self.differ[*at]).collect();
        let names: BTreeSet<&PathBuf> = self.files.iter().flat_map(BTreeMap::keys).collect();
        for name in names {
            let Some(file) = self.files[usize::from(of_b.contains(name))].get(name) else { continue };
            let link = self.folder.join(name);
            if let Some(parent) = link.parent() {
                fs::create_dir_all(parent).with_context(cannot)?;
            }
            // A hard link is the file itself, whatever a library derives from its own path.
            fs::hard_link(file, &link).or_else(|_| symlink(file, &link)).with_context(cannot)?;
        }
        let mut setup = Setup::default();
        if self.has_libraries {
            setup.library_path(&self.folder)?;
        } else {
            for name in ["ROCBLAS_TENSILE_LIBPATH", "HIPBLASLT_TENSILE_LIBPATH"] {
                setup.variables.push((name.into(), Some(self.folder.clone().into_os_string())));
            }
        }
        Ok(setup)
    }
}

/// Returns true for `libx.so` and `libx.so.5`, not for `Kernels.so-000-gfx1100.hsaco`, which
/// rocBLAS has beside its catalogs.
fn is_library(name: &Path) -> bool {
    let name = name.to_string_lossy();
    name.ends_with(".so") || name.contains(".so.")
}

fn size_in(files: &BTreeMap<PathBuf, PathBuf>, name: &Path) -> Option<u64> {
    files.get(name).map(|path| path.metadata().map_or(0, |data| data.len()))
}

/// Returns all files below a folder, following links.
fn files(folder: &Path) -> Result<BTreeMap<PathBuf, PathBuf>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let path = folder.join(&below);
        for entry in fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))? {
            let name = below.join(entry?.file_name());
            let path = folder.join(&name).canonicalize();
            // A dangling link is not a file.
            let Ok(path) = path else { continue };
            match path.is_dir() {
                // A link to a folder may lead back to an ancestor.
                true if folder.join(&name).is_symlink() => {}
                true => folders.push(name),
                false => drop(found.insert(name, path)),
            }
        }
    }
    if found.is_empty() {
        bail!("{} is neither a folder of traces nor a library folder: it has no files", folder.display());
    }
    Ok(found)
}

fn same_content(a: &Path, b: &Path) -> Result<bool> {
    let open = |path: &Path| -> Result<(u64, BufReader<File>)> {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok((file.metadata()?.len(), BufReader::new(file)))
    };
    let ((length_a, mut a), (length_b, mut b)) = (open(a)?, open(b)?);
    if length_a != length_b {
        return Ok(false);
    }
    let [mut of_a, mut of_b] = [vec![0; 1 << 16], vec![0; 1 << 16]];
    let mut left = length_a;
    while left > 0 {
        let next = left.min(1 << 16) as usize;
        a.read_exact(&mut of_a[..next])?;
        b.read_exact(&mut of_b[..next])?;
        if of_a[..next] != of_b[..next] {
            return Ok(false);
        }
        left -= next as u64;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_has_the_files_of_b_that_are_asked_for_and_all_others_of_a() {
        let scratch = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| scratch.path().join(name));
        for (folder, files) in [
            (&a, &[("library/x.dat", "1"), ("library/y.dat", "1"), ("library/z.dat", "1")][..]),
            (&b, &[("library/x.dat", "1"), ("library/y.dat", "2"), ("library/w.dat", "2")]),
        ] {
            fs::create_dir_all(folder.join("library")).unwrap();
            files.iter().for_each(|(name, content)| fs::write(folder.join(name), content).unwrap());
        }
        let mix = Mix::of(&a, &b, scratch.path()).unwrap();
        let texts: Vec<String> = mix.differences().iter().map(Difference::to_string).collect();
        assert_eq!(texts, ["library/w.dat missing in A", "library/y.dat of B", "library/z.dat missing in B"]);
        let content = |differences: &[usize]| {
            mix.setup(&differences.iter().copied().collect()).unwrap();
            ["w", "x", "y", "z"]
                .map(|name| fs::read_to_string(mix.folder.join(format!("library/{name}.dat"))).ok())
        };
        let some = |text: &str| Some(text.to_string());
        assert_eq!(content(&[]), [None, some("1"), some("1"), some("1")]);
        assert_eq!(content(&[1, 2]), [None, some("1"), some("2"), None]);
        assert_eq!(content(&[0, 1, 2]), [some("2"), some("1"), some("2"), None]);
        let libraries = ["libx.so", "libx.so.5", "Kernels.so-000-gfx1100.hsaco"];
        assert_eq!(libraries.map(|name| is_library(Path::new(name))), [true, true, false]);
        let setup = mix.setup(&Differences::new()).unwrap();
        assert_eq!(setup.variables[0].0, "ROCBLAS_TENSILE_LIBPATH");
    }
}
