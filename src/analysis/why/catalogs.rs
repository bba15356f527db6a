//! Catalogs that would explain a trace's GEMMs, and what was read of them.

use super::callers::Functions;
use rocshim_catalog::{FindDatabase, Folder, Product};
use rocshim_trace::CodeObject;
use std::collections::BTreeMap;

/// A catalog that would explain GEMMs of a process.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The process's number, for [`CatalogFolder::process`].
    pub process: usize,
    /// The folder, as the process knew it.
    pub path: String,
    /// `gfx1100`.
    pub target: String,
    /// The machine's name.
    pub host: String,
    /// When the process began to record, Unix nanoseconds.
    pub epoch: u64,
    /// Code objects that it loaded out of the folder.
    pub objects: Vec<CodeObject>,
    /// What it asked rocBLAS for.
    pub products: Vec<Product>,
}

/// A folder that was read for a process.
#[derive(Clone, Debug)]
pub struct CatalogFolder {
    /// [`Wanted::process`].
    pub process: usize,
    /// What it contains.
    pub folder: Folder,
    /// A code object that the process loaded is a file of it.
    pub loaded: bool,
    /// It was read on the traced machine, under the process's own path.
    pub here: bool,
    /// No file of it has changed since the process began; `None`: that is not known.
    pub unchanged: Option<bool>,
    /// The code objects have the same bytes now; `None`: one could not be read.
    pub content: Option<bool>,
}

/// A convolution whose entry in MIOpen's find database is looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WantedProblem {
    /// The process's number.
    pub process: usize,
    /// The machine's name.
    pub host: String,
    /// `gfx1100`.
    pub target: String,
    /// Its key in the database.
    pub key: String,
    /// The user's folder, as the process knew it; `None` if it is in the home folder.
    pub user: Option<String>,
    /// The folder of installed databases, if a variable names it.
    pub installed: Option<String>,
}

/// What the databases have for a convolution.
#[derive(Clone, Debug, Default)]
pub struct FoundProblem {
    /// They were read on the traced machine, under the process's own paths.
    pub here: bool,
    /// The user's.
    pub user: Option<FindDatabase>,
    /// The installed ones.
    pub installed: Option<FindDatabase>,
}

/// A text that is looked for in the file of a library.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LibraryText {
    /// The library, as the process knew it.
    pub path: String,
    /// Its build id, hex.
    pub build_id: String,
    /// The text.
    pub text: &'static str,
}

/// What was read of the disk for a trace.
#[derive(Default)]
pub struct OnDisk {
    /// Catalogs of Tensile, for [`Wanted`].
    pub catalogs: Vec<CatalogFolder>,
    /// Functions of binaries on chains of callers.
    pub functions: Functions,
    /// MIOpen's find databases.
    pub problems: BTreeMap<WantedProblem, FoundProblem>,
    /// Whether a library's file has a text; `None`: the file cannot be read, or is another build.
    pub texts: BTreeMap<LibraryText, Option<bool>>,
}
