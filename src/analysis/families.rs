//! Groups kernels into families, by the kind of work that their names state.

use super::{evidence::Evidence, kernels::KernelRow, names};
use serde::Serialize;
use std::collections::BTreeMap;

/// Kernels of one family.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyRow {
    /// Its name; absent for kernels whose names match no family.
    pub family: Option<&'static str>,
    /// The library or program that the kernels belong to.
    pub of: Option<&'static str>,
    /// The work that they do.
    pub what: Option<&'static str>,
    /// `inferred`: a name is no proof. `unresolved` for the kernels whose names match no family.
    pub evidence: Evidence,
    /// Different kernels.
    pub kernels: u64,
    /// Launches, failed ones among them: direct ones, and those that launched graphs made.
    pub launches: u64,
    /// Those of them that launched graphs made.
    pub by_graphs: u64,
    /// Those of them that were trials: made while a library searched for the fastest solution.
    pub trials: u64,
    /// Launch calls that were to be recorded into a graph instead of being executed.
    pub captured: u64,
    /// Launches that returned an error.
    pub failed: u64,
    /// Launches that succeeded.
    #[serde(skip)]
    pub(crate) ran: u64,
    /// Host time of all launch calls.
    pub total_ns: u64,
    /// Host time of the first call of each kernel in each process, in ns: it may load code.
    pub first_calls_ns: u64,
    /// Host time of the later calls as a part of that of all kernels, 0 to 1; absent without one.
    pub share: Option<f64>,
}

crate::table! {
    /// The families, most launches first.
    FAMILIES: FamilyRow = "families", "Kernel families, inferred from kernel names (host time)",
        "the kernels that do one kind of work, by their names";
    |row|
    count("launches", "launches", "launches, failed ones among them") => row.launches;
    count("kernels", "kernels", "different kernels").no_sum().optional() => row.kernels;
    count("by_graphs", "by graphs", "launches that launched graphs made").on_page() => row.by_graphs;
    count("captured", "captured", "calls that were recorded into a graph instead").if_any() => row.captured;
    count("failed", "failed", "launches that returned an error").if_any() => row.failed;
    time("total_ns", "total", "host time of all launch calls") => row.total_ns;
    time("first_calls_ns", "first calls", "that of each kernel's first call in each process, which may load code")
        .optional() => row.first_calls_ns;
    share("share", "share", "the later calls' host time as a part of all kernels'") => row.share;
    words("family", "family", "whose kernels they are, and what they are called").name()
        => row.family.map_or("unresolved".into(), |_| names::family(row.of, row.family));
    evidence("evidence", "evidence", "inferred: a name is no proof").on_page() => row.evidence;
    sentence("what", "what it does", "the work that they do") => row.what.unwrap_or("of no known family");
}

/// Returns the families of these kernels, most launches first.
pub(crate) fn families(kernels: &[KernelRow]) -> Vec<FamilyRow> {
    let mut rows: BTreeMap<Option<&'static rocshim_trace::Family>, FamilyRow> = BTreeMap::new();
    for kernel in kernels {
        let family = rocshim_trace::family(&kernel.name, kernel.demangled.as_deref());
        let row = rows.entry(family).or_insert_with(|| FamilyRow {
            family: family.map(|family| family.name),
            of: family.map(|family| family.of),
            what: family.map(|family| family.what),
            evidence: if family.is_some() { Evidence::Inferred } else { Evidence::Unresolved },
            kernels: 0,
            launches: 0,
            by_graphs: 0,
            trials: 0,
            captured: 0,
            failed: 0,
            ran: 0,
            total_ns: 0,
            first_calls_ns: 0,
            share: None,
        });
        row.kernels += 1;
        row.launches += kernel.launches;
        row.by_graphs += kernel.by_graphs;
        row.trials += kernel.trials;
        row.captured += kernel.captured;
        row.failed += kernel.failed;
        row.ran += kernel.ran;
        row.total_ns += kernel.total_ns;
        row.first_calls_ns += kernel.times.first_calls_ns;
        row.share = kernel.share.map(|share| row.share.unwrap_or(0.0) + share).or(row.share);
    }
    let mut rows: Vec<FamilyRow> = rows.into_values().collect();
    rows.sort_by(|a, b| (b.launches, b.total_ns, a.of).cmp(&(a.launches, a.total_ns, b.of)));
    rows
}

/// Returns true for families that show the kernel path: GEMMs.
pub(crate) fn is_product(family: Option<&str>) -> bool {
    const PRODUCTS: [&str; 10] = [
        "mmvq",
        "mmq",
        "mmvf",
        "mmf",
        "dmmv",
        "Tensile product",
        "grouped product",
        "product",
        "rocBLAS product",
        "rocBLAS vector product",
    ];
    family.is_some_and(|family| PRODUCTS.contains(&family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_a_family_add_up_and_those_of_none_are_one_row() {
        let row = |name: &str, demangled: Option<&str>, launches, total_ns| KernelRow {
            name: name.into(),
            demangled: demangled.map(str::to_string),
            launches,
            captured: 1,
            failed: 1,
            total_ns,
            share: Some(total_ns as f64 / 1000.0),
            ..KernelRow::default()
        };
        let rows = families(&[
            row("_Z1", Some("void mul_mat_vec_q<(ggml_type)2, 1>(int)"), 30, 300),
            row("_Z2", Some("void mul_mat_vec_q<(ggml_type)2, 2>(int)"), 10, 100),
            row("Cijk_Ailk_Bljk_SB_MT64x64x8", None, 7, 500),
            row("mine", None, 50, 60),
            row("yours", None, 3, 40),
        ]);
        let found: Vec<_> = rows.iter().map(|row| (row.of, row.family, row.kernels, row.launches)).collect();
        // 50 + 3; 30 + 10; 7.
        let tensile = (Some("BLAS"), Some("Tensile product"), 1, 7);
        assert_eq!(found, [(None, None, 2, 53), (Some("ggml"), Some("mmvq"), 2, 40), tensile]);
        assert_eq!((rows[1].total_ns, rows[1].captured, rows[1].failed), (400, 2, 2));
        assert!((rows[1].share.unwrap() - 0.4).abs() < 1e-9, "{:?}", rows[1].share);
        assert_eq!([rows[0].evidence, rows[1].evidence], [Evidence::Unresolved, Evidence::Inferred]);
    }
}
