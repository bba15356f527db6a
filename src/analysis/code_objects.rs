//! Code objects with their loads and dispatches: a loaded one is not evidence of a dispatch.

use super::{
    evidence::{
        Evidence,
        observations::{Observation, absence},
    },
    interner::PerId,
    session::{CodeObjectId, Session, SymbolId},
    table::Cell,
};
use rocshim_trace::{CodeObject, file_name, is_library};
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};

/// A code object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodeObjectRow {
    /// `fat_binary`, `file` or `memory`.
    pub source: String,
    /// The file that holds it.
    pub path: Option<String>,
    /// Fat binary: its number in that file, from 0.
    pub ordinal: Option<u32>,
    /// Fat binary: where it starts in that file, in bytes.
    pub offset: Option<u64>,
    /// `elf`, `bundle`, `compressed_bundle` or `opaque`.
    pub format: Option<String>,
    /// Length of the image in bytes.
    pub bytes: Option<u64>,
    /// XXH3-128 of an image from memory.
    pub xxh3: Option<String>,
    /// The GPU targets it carries.
    pub targets: Vec<String>,
    /// The targets of the kernels that were launched from it.
    pub ran: BTreeSet<String>,
    /// The library file with the same bytes, for an image from memory.
    pub file: Option<String>,
    /// True if its file belongs to Tensile's fallback library, by the file's name.
    pub fallback: Option<bool>,
    /// Why no library file was found for an image from memory.
    pub unmatched: Option<String>,
    /// How often it was registered or loaded, in all processes.
    pub loaded: u64,
    /// Launches of its kernels that succeeded.
    pub launches: u64,
    /// Number of the kernels that these launched.
    pub kernels: u64,
    /// Whether "dispatched" or "not dispatched" is certain.
    pub evidence: Evidence,
    /// The reason, if it is not certain.
    pub why: Option<String>,
}

crate::table! {
    /// The code objects, most launches first.
    CODE_OBJECTS: CodeObjectRow = "code_objects", "Code objects", "a code object that was loaded";
    |row|
    count("launches", "launches", "launches of its kernels that succeeded") => row.launches;
    count("kernels", "kernels", "its kernels that were launched").no_sum() => row.kernels;
    bytes("bytes", "size", "length of the image").optional() => row.bytes;
    words("ran", "target", "the GPU targets of its kernels that ran") => row.ran_in_short();
    words("targets", "code for", "all GPU targets that it has code for").on_page() => row.targets.join(", ");
    words("fallback", "fallback", "whether its file is one of Tensile's fallback library").on_page()
        => row.fallback.map(|is_fallback| if is_fallback { "yes" } else { "no" });
    evidence("evidence", "evidence", "whether it is certain that it was dispatched from, or not").on_page()
        => Cell::Evidence(row.evidence, row.why.clone().or_else(|| row.unmatched.clone()));
    code("path", "object", "the file that holds it, its number there (ordinal) and where it begins (offset)")
        .name() => row.place();
    path("file", "file", "the library's file that an image from memory is").on_page()
        => row.file.as_ref().or(row.path.as_ref());
}

impl CodeObjectRow {
    /// `libggml-hip.so bundle 30 at 0x1f000`: the file's name, because its folder is in the library
    /// list.
    pub fn place(&self) -> String {
        let mut text = match (self.path.as_ref().or(self.file.as_ref()), &self.xxh3) {
            (Some(path), _) => file_name(path).to_string(),
            (None, Some(hash)) => format!("from memory, {hash}"),
            (None, None) => "from memory".to_string(),
        };
        if let Some(ordinal) = self.ordinal {
            text.push_str(&format!(" bundle {ordinal}"));
        }
        if let Some(offset) = self.offset {
            text.push_str(&format!(" at {offset:#x}"));
        }
        text
    }

    /// Returns the targets (gfx1100, …) of its kernels that ran; if they are not known, the number
    /// of all.
    fn ran_in_short(&self) -> String {
        match (self.targets.as_slice(), self.ran.is_empty()) {
            (_, false) => self.ran.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
            ([], true) => "-".into(),
            ([one], true) => one.clone(),
            (several, true) => format!("one of {}", several.len()),
        }
    }
}

/// Returns true if a code object belongs to `library`: it is embedded in the library's file
/// (`path`), or is a file of its folder (`file`, for an image from memory).
pub(crate) fn is_of_library(path: Option<&str>, file: Option<&str>, library: &str) -> bool {
    let folder = match library {
        "librocblas.so" => "rocblas",
        "libhipblaslt.so" => "hipblaslt",
        _ => return path.is_some_and(|path| is_library(path, library)),
    };
    let is_in_folder = |path: &str| is_in_library_folder(path, folder);
    path.is_some_and(|path| is_library(path, library) || is_in_folder(path)) || file.is_some_and(is_in_folder)
}

/// Returns true if a path leads through a library's kernel folder: `rocblas/library`, or
/// `rocblas/5/library` with Debian's version.
fn is_in_library_folder(path: &str, folder: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    parts.windows(2).any(|two| two == [folder, "library"])
        || parts.windows(3).any(|three| matches!(three, [name, _, "library"] if *name == folder))
}

#[derive(Clone, Default)]
struct Stats {
    loaded: u64,
    launches: u64,
    kernels: HashSet<SymbolId>,
    ran: BTreeSet<String>,
}

/// The counts of all code objects, by id.
#[derive(Clone, Default)]
pub(crate) struct CodeObjects(PerId<CodeObjectId, Stats>);

impl CodeObjects {
    /// Counts a registration or load.
    pub(crate) fn load(&mut self, id: CodeObjectId) {
        self.0.of(id).loaded += 1;
    }

    /// Notes that a launched kernel of it is code for this target.
    pub(crate) fn run(&mut self, id: CodeObjectId, target: &str) {
        let ran = &mut self.0.of(id).ran;
        if !ran.contains(target) {
            ran.insert(target.to_owned());
        }
    }

    /// Counts successful launches of `kernel` from this object; `first`: its first ones in this
    /// process.
    pub(crate) fn dispatch(&mut self, id: CodeObjectId, kernel: SymbolId, first: bool, launches: u64) {
        let stats = self.0.of(id);
        stats.launches += launches;
        if first {
            stats.kernels.insert(kernel);
        }
    }

    /// Returns every object, most launches first. `gap`: why launches may be missing, if so.
    pub(crate) fn rows(&self, session: &Session, gap: Option<&str>) -> Vec<CodeObjectRow> {
        let row = |(id, stats): (_, &Stats)| stats.row(session.code_object(id), gap);
        let mut rows: Vec<CodeObjectRow> = self.0.iter().map(row).collect();
        rows.sort_by(|a, b| {
            b.launches
                .cmp(&a.launches)
                .then_with(|| a.path.cmp(&b.path))
                .then_with(|| a.ordinal.cmp(&b.ordinal))
        });
        rows
    }
}

impl Stats {
    fn row(&self, object: &CodeObject, gap: Option<&str>) -> CodeObjectRow {
        let (evidence, why) = match self.launches {
            0 => absence(gap.map(str::to_owned)),
            _ => (Observation::Launch.evidence(), None),
        };
        let object = object.clone();
        CodeObjectRow {
            source: object.source,
            path: object.path,
            ordinal: object.ordinal,
            offset: object.offset,
            format: object.format,
            bytes: object.bytes,
            xxh3: object.xxh3,
            targets: object.targets,
            ran: self.ran.clone(),
            file: object.file,
            fallback: object.fallback,
            unmatched: object.unmatched,
            loaded: self.loaded,
            launches: self.launches,
            kernels: self.kernels.len() as u64,
            evidence,
            why,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::{CONFIRMED, CONFIRMED_ABSENT};
    use crate::interner::Id;

    fn fat_binary(id: u32, ordinal: u32) -> CodeObject {
        let path = Some("/opt/libggml-hip.so".to_string());
        CodeObject { id, source: "fat_binary".into(), path, ordinal: Some(ordinal), ..CodeObject::default() }
    }

    #[test]
    fn a_library_brings_the_objects_of_its_file_and_folder() {
        let is_rocblas = |path| is_of_library(Some(path), None, "librocblas.so");
        assert!(is_rocblas("/opt/rocm/lib/librocblas.so.5"));
        assert!(is_rocblas("/opt/rocm/lib/rocblas/library/Kernels.so-000-gfx1201.hsaco"));
        assert!(is_rocblas("/usr/lib/x86_64-linux-gnu/rocblas/5/library/Kernels.so-000-gfx1201.hsaco"));
        assert!(!is_rocblas("/opt/hipblaslt/library/rocblas.hsaco"));
        assert!(!is_of_library(Some("/opt/rocblas/library/k.co"), None, "librocsolver.so"));
    }

    #[test]
    fn loaded_is_not_dispatched() {
        let (mut objects, mut session) = (CodeObjects::default(), Session::default());
        let mut object = |process, id, ordinal| session.intern_code_object(process, &fat_binary(id, ordinal));
        let (used, unused) = (object("0", 1, 30), object("0", 2, 31));
        assert_eq!(object("1", 9, 30), used, "another process, the same object");
        [used, unused, used].into_iter().for_each(|number| objects.load(number));
        objects.dispatch(used, SymbolId::at(5), true, 1);
        objects.dispatch(used, SymbolId::at(5), false, 1);
        objects.dispatch(used, SymbolId::at(6), true, 1);

        let rows = objects.rows(&session, None);
        let found: Vec<_> =
            rows.iter().map(|r| (r.ordinal, r.loaded, r.launches, r.kernels, r.evidence)).collect();
        assert_eq!(found, [(Some(30), 2, 3, 2, CONFIRMED), (Some(31), 1, 0, 0, CONFIRMED_ABSENT)]);
        let rows = objects.rows(&session, Some("5 events were lost"));
        assert_eq!((rows[0].evidence, rows[1].evidence), (CONFIRMED, Evidence::Limited));
        assert_eq!(rows[1].why.as_deref(), Some("5 events were lost"));
    }
}
