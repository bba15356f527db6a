//! Finds which file of rocBLAS or hipBLASLt an image in memory came from: one of equal size and
//! contents.
//!
//! Since ROCm 5.3 rocBLAS reads its Tensile files and loads them from memory, so the trace has the
//! hash of their bytes and no name. The folders searched are those that the libraries themselves
//! search (`tensile_host.cpp` of rocBLAS 2.44 to 5.x and of hipBLASLt 0.2 to 1.x), and one of
//! Debian's builds. A folder is listed once, by a process and its forked children, and only files
//! of the image's size are read. In the traced process this runs on the collector's thread: half a
//! millisecond for rocBLAS 4.4's files of one target, 50 ms for a folder of 10,000 files, 5 ms to
//! read an image of 17 MB. The paths are the traced process's; in another container they lead
//! elsewhere, sizes and hashes differ, and nothing is found.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use xxhash_rust::xxh3::Xxh3;

/// A library, the environment variable that names its folder, and the default folders relative to
/// the library's own. `*`: any one folder.
struct Library {
    library: &'static str,
    variable: &'static str,
    places: &'static [&'static str],
}

#[rustfmt::skip]
const LIBRARIES: [Library; 2] = [
    Library {
        library: "librocblas.so", variable: "ROCBLAS_TENSILE_LIBPATH",
        places: &["../../Tensile/library", "library", "../rocblas/library", "../Tensile/library", "rocblas/library", "rocblas/*/library"],
    },
    Library {
        library: "libhipblaslt.so", variable: "HIPBLASLT_TENSILE_LIBPATH",
        places: &["../Tensile/library", "library", "hipblaslt/library", "hipblaslt/*/library"],
    },
];

/// The most entries of a folder that are listed; more than any library has.
const MOST_ENTRIES: usize = 50_000;

/// Index of the libraries' folders, filled on demand.
#[derive(Default)]
pub(crate) struct LibraryFiles {
    /// Folders from the environment, by library; `Err`: why one cannot be used.
    asked: BTreeMap<&'static str, Result<PathBuf, String>>,
    /// Folders in search order; `None` if not listed yet.
    folders: Vec<(PathBuf, Option<Arc<Listing>>)>,
    /// Hashes of files read before.
    hashes: BTreeMap<PathBuf, u128>,
}

/// Size in bytes → code object files of that size.
type Listing = HashMap<u64, Vec<PathBuf>>;

/// What was read, for the children of this process, which inherit the memory. Only tried: in a
/// child of a process whose collector held a lock as it forked, it is never released.
static LISTED: Mutex<BTreeMap<PathBuf, Arc<Listing>>> = Mutex::new(BTreeMap::new());
static HASHED: Mutex<BTreeMap<PathBuf, u128>> = Mutex::new(BTreeMap::new());

impl LibraryFiles {
    /// Reads the environment of the traced process.
    pub(crate) fn set_environment<'a>(&mut self, env: impl Iterator<Item = (&'a str, &'a str)>) {
        for (name, value) in env {
            let Some(kind) = LIBRARIES.iter().find(|kind| kind.variable == name) else { continue };
            let folder = PathBuf::from(value);
            if folder.is_absolute() {
                self.add(folder.clone());
                self.asked.insert(kind.library, Ok(folder));
            } else {
                self.asked.insert(kind.library, Err(format!("{name} is a relative path, {value}")));
            }
        }
    }

    /// Adds the folders of a library of the traced process, by its path.
    pub(crate) fn add_library(&mut self, path: &str) {
        let (folder, name) = path.rsplit_once('/').unwrap_or_default();
        let Some(kind) = LIBRARIES.iter().find(|kind| name.starts_with(kind.library)) else { return };
        if folder.is_empty() || self.asked.contains_key(kind.library) {
            return;
        }
        for place in kind.places {
            match place.split_once("/*/") {
                None => self.add(Path::new(folder).join(place)),
                Some((before, after)) => {
                    let between = subfolders(&Path::new(folder).join(before));
                    between.into_iter().for_each(|folder| self.add(folder.join(after)));
                }
            }
        }
    }

    fn add(&mut self, folder: PathBuf) {
        if !self.folders.iter().any(|(known, _)| *known == folder) {
            self.folders.push((folder, None));
        }
    }

    /// The file with `bytes` bytes and this XXH3-128, and whether it belongs to the fallback
    /// library.
    ///
    /// # Errors
    /// Why none was found, as a text for the trace.
    pub(crate) fn find(&mut self, bytes: u64, hash: u128) -> Result<(PathBuf, Option<bool>), String> {
        let (mut candidates, mut files) = (Vec::new(), 0);
        for (folder, listing) in &mut self.folders {
            let listing = listing.get_or_insert_with(|| listed(folder));
            files += listing.len();
            let mut paths = listing.get(&bytes).cloned().unwrap_or_default();
            paths.sort();
            candidates.append(&mut paths);
        }
        let Some(first) = candidates.iter().position(|path| self.hash(path) == Some(hash)) else {
            return Err(match (files, candidates.len()) {
                (0, _) => self.nothing_there(),
                (_, 0) => "no file of the library folders has its size".into(),
                _ => "files of the library folders have its size, and other bytes".into(),
            });
        };
        let path = candidates.swap_remove(first);
        let said = fallback(&path);
        // The same bytes under a contradicting name: then the name proves nothing.
        let is_doubted =
            candidates.iter().any(|other| fallback(other) != said && self.hash(other) == Some(hash));
        Ok((path, said.filter(|_| !is_doubted)))
    }

    fn nothing_there(&self) -> String {
        let refused = self.asked.values().find_map(|asked| asked.as_ref().err());
        match (refused, self.folders.first()) {
            (Some(why), _) => why.clone(),
            (None, Some((folder, _))) => {
                format!("no library folder holds files here, {} neither", folder.display())
            }
            (None, None) => "neither rocBLAS nor hipBLASLt is loaded".into(),
        }
    }

    fn hash(&mut self, path: &Path) -> Option<u128> {
        if let Some(known) = self.hashes.get(path) {
            return Some(*known);
        }
        let inherited = HASHED.try_lock().ok().and_then(|hashed| hashed.get(path).copied());
        let hash = inherited.map_or_else(|| hash(path), Ok).ok()?;
        self.hashes.insert(path.to_owned(), hash);
        if let Ok(mut hashed) = HASHED.try_lock() {
            hashed.insert(path.to_owned(), hash);
        }
        Some(hash)
    }
}

/// Whether a file holds solutions of Tensile's fallback library, which serves any target, or those
/// of one target. Only libraries that are loaded per problem type (ROCm 5.3 on) have it in their
/// names: `TensileLibrary_…_Contraction_…_fallback_gfx900.hsaco`,
/// `TensileLibrary_…_Contraction_…_gfx900.co`. `None` for other names:
/// `Kernels.so-000-gfx900.hsaco` holds helpers and, in libraries that are loaded as a whole, the
/// source kernels of both.
pub(crate) fn fallback(path: &Path) -> Option<bool> {
    let name = path.file_name()?.to_str()?;
    let said = name.strip_prefix("TensileLibrary_").filter(|_| is_code_object(name))?;
    match said.contains("_fallback_gfx") {
        true => Some(true),
        false => said.contains("Contraction_").then_some(false),
    }
}

fn is_code_object(name: &str) -> bool {
    name.ends_with(".co") || name.ends_with(".hsaco")
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        entries(folder).map(|(path, _)| path).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn entries(folder: &Path) -> impl Iterator<Item = (PathBuf, String)> {
    let all = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_ENTRIES);
    all.filter_map(|entry| Some((entry.path(), entry.file_name().into_string().ok()?)))
}

/// The files of a folder, as they were when this process or its parent first listed it.
fn listed(folder: &Path) -> Arc<Listing> {
    let inherited = LISTED.try_lock().ok().and_then(|listed| listed.get(folder).cloned());
    inherited.unwrap_or_else(|| {
        let listing = Arc::new(list(folder));
        if let Ok(mut listed) = LISTED.try_lock() {
            listed.insert(folder.to_owned(), listing.clone());
        }
        listing
    })
}

/// The files of a folder and of its per-target subfolders: `gfx90a`, `gfx90a-xnack+`.
fn list(folder: &Path) -> Listing {
    let mut listing = Listing::new();
    let mut add = |(path, name): (PathBuf, String)| {
        let size = is_code_object(&name).then(|| std::fs::metadata(&path).ok()).flatten();
        if let Some(size) = size {
            listing.entry(size.len()).or_default().push(path);
        }
    };
    let (targets, files): (Vec<_>, Vec<_>) = entries(folder).partition(|(_, name)| name.starts_with("gfx"));
    files.into_iter().for_each(&mut add);
    targets.iter().flat_map(|(path, _)| entries(path)).for_each(&mut add);
    listing
}

/// Read, not mapped: truncating the file meanwhile must not kill the traced process.
fn hash(path: &Path) -> io::Result<u128> {
    let (mut file, mut hash, mut buffer) = (File::open(path)?, Xxh3::new(), vec![0; 256 * 1024]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.digest128()),
            read => hash.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests;
