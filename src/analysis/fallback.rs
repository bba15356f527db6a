//! Decides whether kernels of Tensile's fallback library were dispatched, with the evidence.
//!
//! A launch is certain if its kernel's code object is a known file whose name states its library.
//! Otherwise the kernel's own name may decide: only the fallback library contains source kernels
//! compiled for any target (ISA000), and it contains no others. Helper kernels of a GEMM (beta,
//! post-GSU) serve all libraries and do not count here.

use super::{
    evidence::Evidence,
    nesting::Contents,
    session::{CodeObjectId, Session, SymbolId},
    table::Cell,
};
use crate::units::{count, counted};
use foldhash::HashSet;
use rocshim_trace::{CodeObject, Tensile, file_name};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Whether fallback kernels were dispatched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fallback {
    /// Launches of kernels that compute a product, and of unknown ones inside GEMM calls; failed
    /// launches do not count.
    pub products: u64,
    /// Those of which it is not known out of which library they came.
    pub unknown: u64,
    /// Those that came out of the fallback library, most launches first.
    pub kernels: Vec<FallbackRow>,
    /// How sure it is that there were some, or none.
    pub evidence: Evidence,
    /// The reason, in words.
    pub why: String,
}

/// A kernel of the fallback library.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FallbackRow {
    /// The kernel's symbol.
    pub kernel: String,
    /// Its launches that succeeded.
    pub launches: u64,
    /// The file that it came from, where that is known.
    pub file: Option<String>,
    /// Confirmed by the file's name, or inferred from the kernel's.
    pub evidence: Evidence,
}

crate::table! {
    /// Launches out of the fallback library, most launches first.
    FALLBACK_KERNELS: FallbackRow = "fallback.kernels", "Fallback kernels",
        "a kernel that was launched out of Tensile's fallback library";
    |row|
    count("launches", "calls", "its launches that succeeded") => row.launches;
    evidence("evidence", "evidence", "confirmed by the file's name, or inferred from the kernel's")
        => row.evidence;
    kernel("kernel", "kernel", "its symbol").name() => Cell::Kernel(row.kernel.clone(), None);
    path("file", "file", "the file that it came from") => row.file.as_deref().map(file_name);
}

/// Launches by kernel and code object, over all processes.
#[derive(Clone, Default)]
pub(crate) struct Fallbacks {
    dispatched: BTreeMap<(SymbolId, Option<CodeObjectId>), u64>,
    in_gemms: HashSet<SymbolId>,
}

/// Launches of products, by where they came from.
#[derive(Clone, Default)]
struct Tally {
    fallback: BTreeMap<(SymbolId, Option<String>), FallbackRow>,
    /// Out of a file of another library.
    own: u64,
    /// Not out of the fallback library, by the kernel's name.
    by_name: u64,
    unknown: u64,
    /// Why they are unknown.
    reasons: BTreeSet<String>,
}

/// Which library a kernel is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Fallback(Evidence),
    /// The target's own, or none of Tensile's.
    Other(Evidence),
    Unknown,
}

impl Fallbacks {
    /// Counts launches of a kernel that succeeded.
    pub(crate) fn add(&mut self, kernel: SymbolId, object: Option<CodeObjectId>, launches: u64) {
        if launches > 0 {
            *self.dispatched.entry((kernel, object)).or_default() += launches;
        }
    }

    /// Takes what was launched inside a GEMM call.
    pub(crate) fn add_gemm(&mut self, inside: &Contents) {
        self.in_gemms.extend(inside.kernels.iter().map(|(kernel, _)| *kernel));
    }

    /// The verdict. `gap`: why launches may have been missed, if so.
    pub(crate) fn judge(&self, session: &Session, gap: Option<&str>) -> Fallback {
        let tally = self.tally(session);
        let launches: u64 = tally.fallback.values().map(|row| row.launches).sum();
        let products = launches + tally.own + tally.by_name + tally.unknown;
        let (open, unknown) = (tally.open(), tally.unknown);
        let mut rows: Vec<FallbackRow> = tally.fallback.into_values().collect();
        rows.sort_by(|a, b| b.launches.cmp(&a.launches).then_with(|| a.kernel.cmp(&b.kernel)));
        let is_fact = rows.iter().any(|row| row.evidence == Evidence::Confirmed);
        let (evidence, why) = match (rows.is_empty(), open) {
            (true, Some(open)) => (Evidence::Unresolved, open),
            (true, None) => none_dispatched(products, tally.by_name, gap),
            (false, open) => {
                let some = format!("{} of {} product launches", count(launches), count(products));
                let why = [Some(some), open].into_iter().flatten().collect::<Vec<_>>().join("; ");
                (if is_fact { Evidence::Confirmed } else { Evidence::Inferred }, why)
            }
        };
        Fallback { products, unknown, kernels: rows, evidence, why }
    }

    fn tally(&self, session: &Session) -> Tally {
        let mut tally = Tally::default();
        for ((kernel, object), launches) in &self.dispatched {
            let symbol = session.symbol(*kernel);
            let tensile = symbol.tensile.as_ref();
            let is_relevant = tensile.map_or(self.in_gemms.contains(kernel), Tensile::is_product);
            let object = object.map(|object| session.code_object(object));
            match origin(tensile, object) {
                _ if !is_relevant => {}
                Origin::Fallback(evidence) => {
                    let (kernel, file) = (*kernel, object.and_then(file));
                    let name = symbol.name.clone();
                    let new = FallbackRow { kernel: name, launches: 0, file: file.clone(), evidence };
                    tally.fallback.entry((kernel, file)).or_insert(new).launches += launches;
                }
                Origin::Other(Evidence::Confirmed) => tally.own += launches,
                Origin::Other(_) => tally.by_name += launches,
                Origin::Unknown => {
                    tally.unknown += launches;
                    tally.reasons.insert(reason(object));
                }
            }
        }
        tally
    }
}

impl Tally {
    /// What is said of launches whose library is not known, if there are any.
    fn open(&self) -> Option<String> {
        let reasons = self.reasons.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let unknown = counted(self.unknown, "launch");
        (self.unknown > 0).then(|| format!("of {unknown} the library is not known: {reasons}"))
    }
}

/// Why the library of a kernel of this code object is not known.
fn reason(object: Option<&CodeObject>) -> String {
    match object {
        None => "its code object was never seen being loaded".into(),
        Some(object) => match (&object.unmatched, file(object)) {
            (Some(why), _) => why.clone(),
            (None, Some(file)) => format!("the name of {} does not say", file_name(&file)),
            (None, None) => "its code object was not looked up".into(),
        },
    }
}

fn none_dispatched(products: u64, by_name: u64, gap: Option<&str>) -> (Evidence, String) {
    match (products, by_name, gap) {
        (_, _, Some(why)) => (Evidence::Limited, why.into()),
        (0, _, None) => (Evidence::ConfirmedAbsent, "no product of Tensile's was dispatched".into()),
        (all, 0, None) => (
            Evidence::ConfirmedAbsent,
            format!("all {} product launches came out of other files", count(all)),
        ),
        (all, some, None) => {
            let which =
                format!("{} of {} launches are placed by their kernels' names", count(some), count(all));
            (Evidence::Inferred, format!("{which}: the fallback library holds only ISA000 source kernels"))
        }
    }
}

fn origin(tensile: Option<&Tensile>, object: Option<&CodeObject>) -> Origin {
    let said = object.and_then(|object| object.fallback);
    let (language, isa) = tensile.map_or((None, None), |t| (t.language.as_deref(), t.isa.as_deref()));
    match (said, tensile, language, isa) {
        (Some(true), ..) => Origin::Fallback(Evidence::Confirmed),
        (Some(false), ..) => Origin::Other(Evidence::Confirmed),
        // A kernel that a library brings in its own code.
        (None, None, ..) if object.is_some_and(is_no_tensile_file) => Origin::Other(Evidence::Confirmed),
        (None, _, Some("source"), Some("any")) => Origin::Fallback(Evidence::Inferred),
        (None, _, Some("assembly"), _) => Origin::Other(Evidence::Inferred),
        (None, _, _, Some(isa)) if isa != "any" => Origin::Other(Evidence::Inferred),
        _ => Origin::Unknown,
    }
}

fn is_no_tensile_file(object: &CodeObject) -> bool {
    let name = object.path.as_deref().map(file_name);
    name.is_some_and(|name| !name.starts_with("TensileLibrary") && !name.starts_with("Kernels"))
}

/// Returns the file of a code object: its own, or the one with the same bytes as an image from
/// memory.
fn file(object: &CodeObject) -> Option<String> {
    object.file.as_ref().or(object.path.as_ref()).cloned()
}

#[cfg(test)]
mod tests;
