//! Determines the library that a rocBLAS solution index belongs to.
//!
//! `rocblas_gemm_ex` counts solutions from 1 above Tensile's own number. From rocBLAS 4.2 (ROCm
//! 6.2) on, Tensile numbers the solutions of a target from its hex digits shifted left by 18, and
//! those of the fallback library from 0 (`MasterSolutionLibrary.ArchitectureIndexMap`); in earlier
//! versions, one counter runs through all libraries. With hipBLASLt as its backend, rocBLAS passes
//! on hipBLASLt's own small numbers.

use super::evidence::Evidence;
use serde::Serialize;

/// A target has this many numbers.
const BITS: u32 = 18;
/// gfx600 to gfx1fff: all that a target's digits may be.
const TARGETS: std::ops::RangeInclusive<i32> = 0x600..=0x1fff;

/// The library that a solution index refers to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SolutionLibrary {
    /// `gfx1100`, or `fallback`.
    pub library: Option<String>,
    /// How certain that is.
    pub evidence: Evidence,
    /// The rule, or why it cannot be applied.
    pub why: String,
}

/// How the rocBLAS of a reading numbers its solutions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbering {
    /// Every rocBLAS seen is 4.2 or later.
    pub(crate) by_target: bool,
    /// hipBLASLt is loaded beside it.
    pub hipblaslt: bool,
}

/// Applies the rule to the index that a GEMM requested; `None` if it requested none.
pub(crate) fn library(index: i32, numbering: Numbering) -> Option<SolutionLibrary> {
    let base = index.checked_sub(1).filter(|number| *number >= 0)? >> BITS;
    let found = |library: Option<String>, evidence, why: &str| {
        Some(SolutionLibrary { library, evidence, why: why.into() })
    };
    match base {
        base if TARGETS.contains(&base) => {
            let rule = format!("({index} - 1) >> {BITS} is {base:#x}");
            found(Some(format!("gfx{base:x}")), Evidence::Inferred, &rule)
        }
        0 if numbering.by_target && !numbering.hipblaslt => {
            found(Some("fallback".into()), Evidence::Inferred, &format!("({index} - 1) >> {BITS} is 0"))
        }
        0 if numbering.hipblaslt => found(None, Evidence::Unresolved, "it may be a number of hipBLASLt's"),
        0 => found(
            None,
            Evidence::Unresolved,
            "rocBLAS before 4.2 does not number by target, and which this is is not known",
        ),
        _ => found(None, Evidence::Unresolved, "no target has such numbers"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_tells_its_library_where_the_rule_holds() {
        let found = |index, by_target, hipblaslt| {
            let found = library(index, Numbering { by_target, hipblaslt })?;
            Some((found.library.unwrap_or_default(), found.evidence))
        };
        let inferred = |library: &str| Some((library.to_string(), Evidence::Inferred));
        let unresolved = Some((String::new(), Evidence::Unresolved));
        for (by_target, hipblaslt) in [(false, false), (false, true), (true, true)] {
            assert_eq!(found((0x1100 << 18) + 1, by_target, hipblaslt), inferred("gfx1100"));
            assert_eq!(found(0x90b << 18, by_target, hipblaslt), inferred("gfx90a"), "the last one");
            assert_eq!(found(583, by_target, hipblaslt), unresolved);
        }
        assert_eq!(found(583, true, false), inferred("fallback"));
        assert_eq!(found(1 << 18, true, false), inferred("fallback"), "the last one");
        assert_eq!(found(i32::MAX, true, false), inferred("gfx1fff"));
        assert_eq!(found((0x5ff << 18) + 1, true, false), unresolved);
        assert_eq!(
            (found(0, true, false), found(-1, true, false), found(i32::MIN, true, false)),
            (None, None, None)
        );
    }
}
