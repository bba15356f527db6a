//! Decides whether kernels of Tensile's fallback library were dispatched, with the evidence.
//!
//! A launch is certain if its kernel's code object is a known file whose name states its library.
//! Otherwise the kernel's own name may decide: only the fallback library contains source kernels
//! compiled for any target (ISA000), and it contains no others. Helper kernels of a GEMM (beta,
//! post-GSU) serve all libraries and do not count here.

use super::{
    evidence::{
        Evidence,
        observations::{Limit, Observation},
        rules::{Class, Rule, RuleRow, premises},
    },
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
    /// Number of these whose library is unknown.
    pub unknown: u64,
    /// Kernels of the fallback library, most launches first.
    pub kernels: Vec<FallbackRow>,
    /// How certain it is that there were some, or none.
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

/// Launches of GEMM kernels, by origin.
#[derive(Clone, Default)]
struct Tally {
    fallback: BTreeMap<(SymbolId, Option<String>), FallbackRow>,
    /// From a file of another library.
    own: u64,
    /// Not from the fallback library, by the kernel's name.
    by_name: u64,
    unknown: u64,
    /// Why they are unknown.
    reasons: BTreeSet<String>,
}

/// The library that a kernel belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Fallback(By),
    /// The target's own library, or none of Tensile's.
    Other(By),
    Unknown,
}

/// What shows a kernel's library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The name of the file that the kernel came from.
    File,
    /// The kernel's name.
    Kernel,
}

impl By {
    fn evidence(self) -> Evidence {
        match self {
            By::File => Observation::Origin.evidence(),
            By::Kernel => Evidence::Inferred,
        }
    }
}

/// Product launches by what is known of their library, and why launches may be missing.
struct Facts {
    /// From the fallback library, by the file.
    fallback: u64,
    /// From it or from another one, by the kernel's name alone.
    by_name: u64,
    unknown: u64,
    limit: Limit,
}

const SOME: Rule<Facts> = Rule {
    says: "kernels of Tensile's fallback library were launched",
    class: Class::Confirmed,
    premises: premises! {
        "the file that a launched kernel came from is one of the fallback library, by its name" Observed
            |facts: &Facts| Some(facts.fallback > 0);
    },
};

const NONE: Rule<Facts> = Rule {
    says: "no kernel of Tensile's fallback library was launched",
    class: Class::ConfirmedAbsent,
    premises: premises! {
        "no launched kernel came from a file of the fallback library" Observed |facts: &Facts| Some(facts.fallback == 0);
        "the file of every product kernel is known" Observed
            |facts: &Facts| if facts.by_name + facts.unknown == 0 { Some(true) } else { None };
        "no launch can have been missed" Observed |facts: &Facts| Some(facts.limit.is_none());
    },
};

/// Returns the module's rules, for `rocshim help evidence`.
pub(crate) fn rules() -> Vec<RuleRow> {
    [&SOME, &NONE].map(|rule| rule.row("fallback")).into()
}

impl Fallbacks {
    /// Counts successful launches of a kernel.
    pub(crate) fn add(&mut self, kernel: SymbolId, object: Option<CodeObjectId>, launches: u64) {
        if launches > 0 {
            *self.dispatched.entry((kernel, object)).or_default() += launches;
        }
    }

    /// Adds the launches inside a GEMM call.
    pub(crate) fn add_gemm(&mut self, inside: &Contents) {
        self.in_gemms.extend(inside.kernels.iter().map(|(kernel, _)| *kernel));
    }

    /// Returns the verdict. `gap`: why launches may have been missed, if so.
    pub(crate) fn judge(&self, session: &Session, gap: Option<&str>) -> Fallback {
        let tally = self.tally(session);
        let launches: u64 = tally.fallback.values().map(|row| row.launches).sum();
        let products = launches + tally.own + tally.by_name + tally.unknown;
        let (open, unknown) = (tally.open(), tally.unknown);
        let mut rows: Vec<FallbackRow> = tally.fallback.into_values().collect();
        rows.sort_by(|a, b| b.launches.cmp(&a.launches).then_with(|| a.kernel.cmp(&b.kernel)));
        let by_file = rows.iter().filter(|row| row.evidence.is_confirmed()).map(|row| row.launches).sum();
        let facts = Facts {
            fallback: by_file,
            by_name: tally.by_name + launches - by_file,
            unknown,
            limit: gap.map(str::to_owned),
        };
        let (evidence, why) = match (rows.is_empty(), open) {
            (true, Some(open)) => (Evidence::Unresolved, open),
            (true, None) => none_dispatched(products, &facts),
            (false, open) => {
                let some = format!("{} of {} product launches", count(launches), count(products));
                let why = [Some(some), open].into_iter().flatten().collect::<Vec<_>>().join("; ");
                (SOME.evidence(&facts).unwrap_or(Evidence::Inferred), why)
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
                Origin::Fallback(by) => {
                    let (kernel, file) = (*kernel, object.and_then(file));
                    let name = symbol.name.clone();
                    let evidence = by.evidence();
                    let new = FallbackRow { kernel: name, launches: 0, file: file.clone(), evidence };
                    tally.fallback.entry((kernel, file)).or_insert(new).launches += launches;
                }
                Origin::Other(By::File) => tally.own += launches,
                Origin::Other(By::Kernel) => tally.by_name += launches,
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
    /// Returns the sentence about launches of unknown libraries, if there are any.
    fn open(&self) -> Option<String> {
        let reasons = self.reasons.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let unknown = counted(self.unknown, "launch");
        (self.unknown > 0).then(|| format!("of {unknown} the library is not known: {reasons}"))
    }
}

/// Returns why the library of a kernel of this code object is unknown.
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

fn none_dispatched(products: u64, facts: &Facts) -> (Evidence, String) {
    if let Some(why) = &facts.limit {
        return (Evidence::Limited, why.clone());
    }
    let (some, all) = (count(facts.by_name), count(products));
    match (NONE.evidence(facts), products) {
        (Some(evidence), 0) => (evidence, "no product of Tensile's was dispatched".into()),
        (Some(evidence), _) => (evidence, format!("all {all} product launches came out of other files")),
        (None, _) => {
            let which = format!("{some} of {all} launches are placed by their kernels' names");
            (Evidence::Inferred, format!("{which}: the fallback library holds only ISA000 source kernels"))
        }
    }
}

fn origin(tensile: Option<&Tensile>, object: Option<&CodeObject>) -> Origin {
    let said = object.and_then(|object| object.fallback);
    let (language, isa) = tensile.map_or((None, None), |t| (t.language.as_deref(), t.isa.as_deref()));
    match (said, tensile, language, isa) {
        (Some(true), ..) => Origin::Fallback(By::File),
        (Some(false), ..) => Origin::Other(By::File),
        // A kernel that is embedded in a library.
        (None, None, ..) if object.is_some_and(is_no_tensile_file) => Origin::Other(By::File),
        (None, _, Some("source"), Some("any")) => Origin::Fallback(By::Kernel),
        (None, _, Some("assembly"), _) => Origin::Other(By::Kernel),
        (None, _, _, Some(isa)) if isa != "any" => Origin::Other(By::Kernel),
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
