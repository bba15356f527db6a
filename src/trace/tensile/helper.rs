//! Decodes the names of Tensile's helper kernels, which run before or after a GEMM.

use super::{Tensile, problem, types};

/// `Cijk_S`, `Cijk_HS_Bias_PostGSU4_VW2`, `Dij_SS_MT256x1_VW1_Reduction`, and kernels written by
/// hand.
pub(super) fn decode(words: &[&str]) -> Option<Tensile> {
    let kind = match words {
        ["WSFlags"] => "stream_k_flags",
        ["Custom" | "CustomGSUs", c, ..] if problem::is_indices(c, 'C') => "custom",
        ["DGEMM", "Aldebaran", ..] => "custom",
        [d, types, .., "Reduction"] if problem::is_indices(d, 'D') && types::all(types).is_some() => {
            "reduction"
        }
        [c, types, rest @ ..] if problem::is_indices(c, 'C') => {
            return of_product(types::all(types)?.last()?, rest);
        }
        _ => return None,
    };
    Some(Tensile { kind: kind.into(), ..Tensile::default() })
}

/// Before or after the GEMM. What follows PostGSU is a split factor in some releases only, so it is
/// not decoded as one.
fn of_product(d: &str, words: &[&str]) -> Option<Tensile> {
    let is_beta = |word: &&str| matches!(*word, "GB" | "GG" | "GA") || word.starts_with("Bias");
    let kind = match words.iter().any(|word| word.starts_with("PostGSU")) {
        true => "post_gsu",
        false if words.iter().all(is_beta) => "beta",
        false => return None,
    };
    Some(Tensile {
        kind: kind.into(),
        d: Some(d.into()),
        batch: Some(problem::batch(words).into()),
        ..Tensile::default()
    })
}
