//! Catalogs that would explain a trace's GEMMs, and what was read of them.

use rocshim_catalog::{Folder, Product};
use rocshim_trace::CodeObject;

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

/// The folders that were read.
pub type Catalogs = [CatalogFolder];
