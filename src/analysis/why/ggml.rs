//! Rules for the kernel family by which ggml serves a product, from its source.
//!
//! A trace does not contain ggml's version. A rule common to all versions that were read is
//! inferred if the launches follow it; one that differs by version is unresolved, with the
//! difference.
//! Read: ggml-cuda.cu, mmvq.cu, mmq.cu, mmvf.cu, mmf.cu and fattn.cu of llama.cpp, 2024 to 2026.

use super::{
    rows::{Change, Link},
    seen::{Kernel, Process, Seen},
};
use crate::Evidence;

/// What a rule is held against.
struct Facts<'a> {
    family: &'a str,
    /// Fewest and most columns of any launch, where all are known.
    columns: Option<(u64, u64)>,
    /// Some launches are of experts (`MUL_MAT_ID`).
    experts: bool,
    /// `gfx1100`.
    target: Option<&'a str>,
}

/// A rule of ggml's.
struct Row {
    family: &'static str,
    says: &'static str,
    /// Whether the launches are those that it speaks of; `None`: that is not known.
    applies: fn(&Facts) -> Option<bool>,
    /// Every version that was read has it.
    everywhere: bool,
    /// The versions that differ, where some do.
    versions: &'static str,
    source: &'static str,
    /// What would lead elsewhere.
    change: (&'static str, &'static str),
}

const BUILD: (&str, &str) = (
    "a build with GGML_CUDA_FORCE_CUBLAS",
    "weights to floats, then a BLAS library, for more than 8 columns",
);

/// The first row of a family that applies counts.
const ROWS: &[Row] = &[
    Row {
        family: "mmvq",
        says: "quantised weights and at most 8 columns (MMVQ_MAX_BATCH_SIZE): MMVQ",
        applies: |facts| facts.columns.map(|(_, most)| most <= 8),
        everywhere: true,
        versions: "2024 to 2026; some targets and types have a lower limit from 2026 on",
        source: "ggml/src/ggml-cuda/mmvq.cuh, ggml_cuda_mul_mat in ggml-cuda.cu",
        change: ("a batch of 9 or more tokens", "MMQ, or weights to floats and a BLAS library"),
    },
    Row {
        family: "mmq",
        says: "quantised weights and more than 8 columns, fewer than 64: MMQ on every GPU with dp4a",
        applies: |facts| match facts.columns {
            _ if facts.experts => Some(false),
            Some((least, most)) => Some(least > 8 && most < 64 && facts.target != Some("gfx900")),
            None => None,
        },
        everywhere: true,
        versions: "2024 to 2026, unless built with GGML_CUDA_FORCE_CUBLAS",
        source: "ggml/src/ggml-cuda/mmq.cu, ggml_cuda_should_use_mmq",
        change: BUILD,
    },
    Row {
        family: "mmq",
        says: "quantised weights and 64 columns or more: MMQ or a BLAS library, by target, type and version",
        applies: |facts| match facts.columns {
            _ if facts.experts => Some(false),
            Some((_, most)) => Some(most >= 64),
            None => None,
        },
        everywhere: false,
        versions: "2025: on RDNA3, RDNA4 and CDNA a BLAS library unless built with GGML_CUDA_FORCE_MMQ; \
                   from 2026 on RDNA4 always MMQ, RDNA3 and CDNA by type",
        source: "ggml/src/ggml-cuda/mmq.cu, ggml_cuda_should_use_mmq",
        change: BUILD,
    },
    Row {
        family: "mmq",
        says: "products of experts (MUL_MAT_ID): MMQ by the number of tokens and of experts",
        applies: |facts| Some(facts.experts),
        everywhere: false,
        versions: "2025 to 2026 differ in the limits",
        source: "ggml/src/ggml-cuda/ggml-cuda.cu, ggml_cuda_mul_mat_id",
        change: BUILD,
    },
    Row {
        family: "mmvf",
        says: "float weights and few columns: MMVF, up to 8 by target and type",
        applies: |facts| facts.columns.map(|(_, most)| most <= 8),
        everywhere: false,
        versions: "2025 to 2026 differ in the limits for each target and type",
        source: "ggml/src/ggml-cuda/mmvf.cu, ggml_cuda_should_use_mmvf",
        change: ("a larger batch", "MMF or a BLAS library"),
    },
    Row {
        family: "mmf",
        says: "float weights and up to 16 columns on GPUs with matrix instructions: MMF",
        applies: |facts| facts.columns.map(|(_, most)| most <= 16),
        everywhere: false,
        versions: "from 2025 on; for AMD's GPUs from late 2025 on",
        source: "ggml/src/ggml-cuda/mmf.cu, ggml_cuda_should_use_mmf",
        change: ("a batch of more than 16 tokens", "a BLAS library"),
    },
    Row {
        family: "flash attention",
        says: "flash attention was on and the head size has a kernel: one of tile, vector or matrix-instruction form",
        applies: |_| Some(true),
        everywhere: false,
        versions: "2024 to 2026 differ in which form they take",
        source: "ggml/src/ggml-cuda/fattn.cu, ggml_cuda_get_best_fattn_kernel",
        change: (
            "llama.cpp's -fa off",
            "attention by products and softmax; the products by the rules of float weights",
        ),
    },
];

/// Adds what was possible and what decided.
pub(super) fn explain(
    family: &str,
    seen: &Seen,
    kernels: &[&Kernel],
    process: &Process,
    links: &mut Vec<Link>,
    changes: &mut Vec<Change>,
) {
    let columns = (seen.without_columns == 0).then(|| {
        let least = seen.columns.keys().map(|(least, _)| *least).min();
        least.zip(seen.columns.keys().map(|(_, most)| *most).max())
    });
    let target = kernels.iter().find_map(|kernel| kernel.target.as_deref()).or(process.target());
    let target = target.map(|target| target.split(':').next().unwrap_or(target));
    let facts = Facts { family, columns: columns.flatten(), experts: seen.of_experts > 0, target };
    let rows = || ROWS.iter().filter(|row| row.family == facts.family);
    if let Some(row) = rows().find(|row| (row.applies)(&facts) == Some(true)) {
        let evidence = if row.everywhere { Evidence::Inferred } else { Evidence::Unresolved };
        let text = match row.everywhere {
            true => row.says.to_owned(),
            false => format!("{}; the version that ran is not in the trace ({})", row.says, row.versions),
        };
        links.push(Link::new("decided", evidence, text).from(format!("{}; {}", row.source, row.versions)));
        changes.push(Change { what: row.change.0.into(), effect: row.change.1.into() });
        return;
    }
    let text = match (rows().next(), facts.columns) {
        (None, _) => format!("no rule for {family} is known"),
        (Some(_), None) => "the columns of some launches are not known".to_owned(),
        (Some(_), Some((least, most))) => {
            format!("no rule that is known leads to {family} with {least} to {most} columns")
        }
    };
    links.push(Link::new("decided", Evidence::Unresolved, text));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(family: &str, columns: &[(u64, u64)], experts: u64, target: &str) -> (Evidence, String) {
        let seen = Seen {
            columns: columns.iter().map(|range| (*range, 1)).collect(),
            of_experts: experts,
            without_columns: u64::from(columns.is_empty()),
            ..Seen::default()
        };
        let kernel = Kernel { target: Some(target.into()), ..Kernel::default() };
        let mut links = Vec::new();
        explain(family, &seen, &[&kernel], &Process::default(), &mut links, &mut Vec::new());
        assert_eq!(links.len(), 1, "{links:?}");
        (links[0].evidence, links[0].text.clone())
    }

    #[test]
    fn a_rule_of_every_version_is_inferred_and_others_are_unresolved() {
        assert_eq!(decided("mmvq", &[(1, 1), (8, 8)], 0, "gfx1100").0, Evidence::Inferred);
        assert_eq!(decided("mmq", &[(9, 9), (12, 12)], 0, "gfx1201").0, Evidence::Inferred);
        for (family, columns, experts, target) in [
            ("mmq", &[(290, 290)][..], 0, "gfx1201"),
            ("mmq", &[(9, 9)], 0, "gfx900"),
            ("mmq", &[(9, 9)], 1, "gfx1201"),
            ("mmq", &[(8, 8)], 0, "gfx1201"),
            ("mmvq", &[(9, 9)], 0, "gfx1201"),
            ("mmvq", &[], 0, "gfx1201"),
            ("mmf", &[(9, 9)], 0, "gfx1100"),
            ("flash attention", &[], 0, "gfx1100"),
            ("rope", &[], 0, "gfx1100"),
        ] {
            let (evidence, text) = decided(family, columns, experts, target);
            assert_eq!(evidence, Evidence::Unresolved, "{family} {columns:?}: {text}");
        }
        let (_, text) = decided("mmq", &[(8, 8)], 0, "gfx1201");
        assert_eq!(text, "no rule that is known leads to mmq with 8 to 8 columns");
    }

    #[test]
    fn each_row_has_a_source_and_what_would_change_it() {
        for row in ROWS {
            let cells = [row.family, row.says, row.versions, row.source, row.change.0, row.change.1];
            assert!(cells.iter().all(|cell| !cell.is_empty()), "{}", row.says);
            assert!(
                rocshim_trace::families().iter().any(|family| family.name == row.family),
                "{}",
                row.family
            );
        }
    }
}
