//! The folder of Tensile files that a library uses, as it is now, and whether it can have changed
//! since a given time.

use crate::{Catalog, Product, Solutions, msgpack, msgpack::Value};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// Limit of a file's size in bytes: Tensile's files are smaller.
const LARGEST: u64 = 1 << 30;

/// A folder with the catalog of one target and the requested solution files.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The folder's present path.
    pub path: PathBuf,
    /// The catalog's file.
    pub file: PathBuf,
    /// The target, such as `gfx1100`.
    pub target: String,
    /// The catalog, or why there is none.
    pub catalog: Result<Catalog, Unread>,
    /// When the catalog or the folder's list of files last changed, in Unix ns.
    pub changed: Option<i128>,
    files: BTreeMap<String, Result<Solutions, Unread>>,
}

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unread {
    /// The file does not exist.
    Missing,
    /// It is truncated or damaged at this byte.
    Damaged(usize),
    /// It is valid MessagePack, but not of Tensile's form.
    Foreign,
    /// The system's reason.
    Refused(String),
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unread::Missing => f.write_str("is missing"),
            Unread::Damaged(at) => write!(f, "ends early or is damaged at byte {at}"),
            Unread::Foreign => f.write_str("is not in a form that is known"),
            Unread::Refused(why) => write!(f, "cannot be read: {why}"),
        }
    }
}

/// Identity of a file's present state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Length in bytes.
    pub bytes: u64,
    /// When its content, name or owner last changed, in Unix ns (`st_ctime`, which no program can
    /// set).
    pub changed: i128,
}

/// Returns the stamp of a file or folder; `None` when it cannot be read.
pub fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    Some(Stamp { bytes: metadata.len(), changed })
}

/// Returns whether a file has this length and XXH3-128 hash (in hex); `None` when it cannot be
/// read.
pub fn has_content(path: &Path, bytes: u64, xxh3: &str) -> Option<bool> {
    if stamp(path)?.bytes != bytes {
        return Some(false);
    }
    let (mut file, mut hash, mut buffer) = (File::open(path).ok()?, Xxh3::new(), vec![0; 256 * 1024]);
    loop {
        match file.read(&mut buffer).ok()? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Some(u128::from_str_radix(xxh3, 16).ok()? == hash.digest128())
}

impl Folder {
    /// Reads the catalog of `target` (`gfx1100`, without features) in the folder `path`.
    pub fn open(path: &Path, target: &str) -> Folder {
        let file = path.join(format!("TensileLibrary_lazy_{target}.dat"));
        let catalog = read(&file, |value| Catalog::read(value, target));
        let changed = stamp(&file).zip(stamp(path)).map(|(file, folder)| file.changed.max(folder.changed));
        let (path, target) = (path.to_owned(), target.to_owned());
        Folder { path, file, target, catalog, changed, files: BTreeMap::new() }
    }

    /// Reads the solution files in which the library searches for `product`.
    pub fn load(&mut self, product: &Product) {
        let Ok(catalog) = &self.catalog else { return };
        for reached in catalog.reached(product) {
            let path = self.path.join(&reached.file).with_extension_of("dat");
            let changed = stamp(&path).map(|stamp| stamp.changed);
            self.changed = self.changed.max(changed);
            self.files.entry(reached.file).or_insert_with(|| read(&path, Solutions::read));
        }
    }

    /// Returns a loaded solution file by its name without extension.
    pub fn solutions(&self, file: &str) -> Option<&Result<Solutions, Unread>> {
        self.files.get(file)
    }

    /// Returns true when the folder has a code object for a solution file; a fallback file's name
    /// contains the target.
    pub fn has_code_object(&self, file: &str) -> bool {
        let names = [format!("{file}.co"), format!("{file}.hsaco"), format!("{file}_{}.hsaco", self.target)];
        names.iter().any(|name| self.path.join(name).exists())
    }
}

/// Like `with_extension`, but keeps dots in the name.
trait WithExtension {
    fn with_extension_of(self, extension: &str) -> PathBuf;
}

impl WithExtension for PathBuf {
    fn with_extension_of(self, extension: &str) -> PathBuf {
        let mut name = self.into_os_string();
        name.push(".");
        name.push(extension);
        name.into()
    }
}

fn read<T>(path: &Path, parse: impl Fn(&Value) -> Option<T>) -> Result<T, Unread> {
    let bytes = read_bounded(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Unread::Missing,
        _ => Unread::Refused(error.to_string()),
    })?;
    let value = msgpack::parse(&bytes).map_err(Unread::Damaged)?;
    parse(&value).ok_or(Unread::Foreign)
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other("it is larger than 1 GiB"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{write_catalog, write_solutions};
    use rocshim_trace::{Gemm, Matrix};

    const OPERATION: &str = "Contraction_l_Alik_Bljk_Cijk_Dijk";

    fn product(element: &str, m: i64) -> Product {
        let matrix = Matrix { element: element.into(), ld: 64, ..Matrix::default() };
        let gemm = Gemm {
            form: "plain".into(),
            trans_a: "T".into(),
            trans_b: "N".into(),
            m,
            n: 16,
            k: 64,
            batch: 1,
            a: matrix.clone(),
            b: matrix.clone(),
            c: matrix.clone(),
            d: matrix,
            compute: "f32_r".into(),
            ..Gemm::default()
        };
        Product::of(&gemm).unwrap()
    }

    /// Half has native and fallback solutions, float only fallback ones.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let fallback = [("Half", true, "HH_fallback"), ("Float", false, "SS_fallback")];
        write_catalog(folder.path(), "gfx9", OPERATION, &[("Half", true, "HH_gfx9")], &fallback);
        let native = [(10, 1, [32, 16, 64], 1.0), (11, 64, [64, 16, 64], 2.0), (12, 1, [128, 16, 64], 1.0)];
        write_solutions(folder.path(), "HH_gfx9", &native);
        write_solutions(folder.path(), "HH_fallback", &[(1, 1, [64, 64, 64], 1.0)]);
        folder
    }

    #[test]
    fn a_catalog_names_its_files_and_which_are_looked_into() {
        let made = folder();
        let folder = Folder::open(made.path(), "gfx9");
        let catalog = folder.catalog.as_ref().unwrap();
        let entries = catalog.entries();
        let listed: Vec<_> = entries.iter().map(|e| (e.types[0].as_str(), e.is_fallback())).collect();
        assert_eq!(listed, [("Half", false), ("Half", true), ("Float", true)]);
        let reached = |element: &str| {
            let reached = catalog.reached(&product(element, 64));
            reached.iter().map(|r| (r.file.clone(), r.certain)).collect::<Vec<_>>()
        };
        assert_eq!(reached("f16_r"), [("HH_gfx9".into(), true), ("HH_fallback".into(), true)]);
        assert_eq!(reached("f32_r"), [("SS_fallback".into(), true)]);
        assert_eq!((reached("f64_r"), catalog.unread()), (vec![], None));
    }

    #[test]
    fn the_nearest_benchmarked_size_with_a_solution_that_fits_decides() {
        let made = folder();
        let mut folder = Folder::open(made.path(), "gfx9");
        let chosen = |folder: &Folder, m: i64| {
            let solutions = folder.solutions("HH_gfx9").unwrap().as_ref().unwrap();
            let chosen = solutions.choose(&product("f16_r", m), "gfx9").unwrap().unwrap();
            (chosen.index, chosen.size[0], chosen.exact, chosen.others)
        };
        folder.load(&product("f16_r", 64));
        assert_eq!(chosen(&folder, 64), (11, 64, true, 2));
        assert_eq!(chosen(&folder, 70), (11, 64, false, 2));
        assert_eq!(chosen(&folder, 100), (12, 128, false, 2));
        // 64 is the nearest size, but its solution requires an m of 64; 32 is nearer than 128.
        assert_eq!(chosen(&folder, 60), (10, 32, false, 1));
        let counted = folder.solutions("HH_gfx9").unwrap().as_ref().unwrap();
        let counted = counted.count(&product("f16_r", 60), "gfx9");
        assert_eq!((counted.solutions, counted.fit, counted.undecided), (3, 2, 0));
        assert_eq!(counted.excluded, [("m of 64 or more".to_owned(), 1)].into());
    }

    #[test]
    fn a_missing_and_a_cut_file_are_named() {
        let made = folder();
        let native = made.path().join("HH_gfx9.dat");
        let bytes = std::fs::read(&native).unwrap();
        std::fs::write(&native, &bytes[..bytes.len() / 2]).unwrap();
        std::fs::remove_file(made.path().join("HH_fallback.dat")).unwrap();
        let mut folder = Folder::open(made.path(), "gfx9");
        folder.load(&product("f16_r", 64));
        let state = |file: &str| folder.solutions(file).unwrap().as_ref().map(drop).unwrap_err().clone();
        assert!(matches!(state("HH_gfx9"), Unread::Damaged(at) if at <= bytes.len() / 2));
        assert_eq!(
            (state("HH_fallback"), folder.solutions("SS_fallback").is_none()),
            (Unread::Missing, true)
        );
        assert_eq!(Folder::open(made.path(), "gfx8").catalog.unwrap_err(), Unread::Missing);
        std::fs::write(made.path().join("TensileLibrary_lazy_gfx8.dat"), [0x80]).unwrap();
        assert_eq!(Folder::open(made.path(), "gfx8").catalog.unwrap_err(), Unread::Foreign);
    }

    #[test]
    fn a_change_of_a_file_is_seen_in_its_stamp() {
        let made = folder();
        let file = made.path().join("HH_gfx9.dat");
        let before = Folder::open(made.path(), "gfx9").changed.unwrap();
        let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&std::fs::read(&file).unwrap()));
        let bytes = stamp(&file).unwrap().bytes;
        assert_eq!(has_content(&file, bytes, &hash), Some(true));
        assert_eq!(has_content(&file, bytes + 1, &hash), Some(false));
        assert_eq!(has_content(&file, bytes, "0"), Some(false));
        assert_eq!(has_content(&made.path().join("none"), 1, "0"), None);
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::write(made.path().join("another.dat"), "x").unwrap();
        assert!(Folder::open(made.path(), "gfx9").changed.unwrap() > before);
    }
}
