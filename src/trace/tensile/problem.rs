//! Decodes the first part of a Tensile kernel's name: contraction, element types, further
//! properties of the problem.

use super::{Tensile, types};

/// `Cijk_Ailk_Bljk_HHS_BH_Bias_…`: everything before the macro tile.
pub(super) fn decode(words: &[&str]) -> Option<Tensile> {
    let (c, rest) = words.split_first().filter(|(c, _)| is_indices(c, 'C'))?;
    let (a, rest) = matrix('A', rest)?;
    let (b, rest) = matrix('B', rest)?;
    let TypeWords { types, mut extras } = type_words(rest)?;
    let batch = batch(&extras);
    extras.retain(|word| !matches!(*word, "" | "GB" | "GG"));
    let own = |word: Option<&str>| word.map(str::to_owned);
    let [a_type, b_type, d_type, compute] = types.map(own);
    let (trans_a, trans_b) = transposes(c, &a, &b).unzip();
    Some(Tensile {
        contraction: Some(format!("{c}_{}_{}", a.written(), b.written())),
        trans_a: own(trans_a),
        trans_b: own(trans_b),
        a: a_type,
        b: b_type,
        d: d_type,
        compute,
        batch: Some(batch.into()),
        extras: extras.into_iter().map(str::to_owned).collect(),
        ..Tensile::default()
    })
}

/// How the matrices of a batch are given, by the word for it in a problem's or a helper's name.
pub(super) fn batch(words: &[&str]) -> &'static str {
    match words.iter().find(|word| matches!(**word, "GB" | "GG")) {
        Some(&"GB") => "general",
        Some(_) => "grouped",
        None => "strided",
    }
}

/// A letter for the tensor and one for each of its indices: `Cijk`.
pub(super) fn is_indices(word: &str, tensor: char) -> bool {
    word.strip_prefix(tensor).is_some_and(|indices| {
        !indices.is_empty() && indices.bytes().all(|b| (b'i'..=b'z').contains(&b.to_ascii_lowercase()))
    })
}

/// A or B, with its indices and whether it is conjugated.
struct Operand<'a> {
    word: &'a str,
    conjugated: bool,
}

impl Operand<'_> {
    fn written(&self) -> String {
        format!("{}{}", self.word, if self.conjugated { "C" } else { "" })
    }
}

/// Conjugated ones end with a C; from ROCm 7 on, before a complex type, the C is a separate word.
fn matrix<'a, 'w>(tensor: char, words: &'w [&'a str]) -> Option<(Operand<'a>, &'w [&'a str])> {
    let (word, rest) = words.split_first()?;
    let (word, conjugated) = match word.strip_suffix('C') {
        Some(bare) => (bare, true),
        None => (*word, false),
    };
    if !is_indices(word, tensor) {
        return None;
    }
    let next = |at: usize| rest.get(at).copied().unwrap_or_default();
    let is_complex = |word: &str| word.starts_with(['C', 'Z']);
    let apart = next(0) == "C" && (is_indices(next(1), 'B') || is_complex(next(1)));
    Some((Operand { word, conjugated: conjugated || apart }, if apart { &rest[1..] } else { rest }))
}

/// N if the index of D comes first (A) or the inner one does (B); `None` if it is no GEMM.
fn transposes(c: &str, a: &Operand, b: &Operand) -> Option<(&'static str, &'static str)> {
    let [a_n, a_t, b_n, b_t] = match c {
        "Cijk" => ["Ailk", "Alik", "Bljk", "Bjlk"],
        "Cij" => ["Aik", "Aki", "Bkj", "Bjk"],
        _ => return None,
    };
    let operation = |operand: &Operand, plain: &str, transposed: &str| match operand.conjugated {
        false if operand.word == plain => Some("N"),
        false if operand.word == transposed => Some("T"),
        true if operand.word == transposed => Some("C"),
        _ => None, // conjugated without being transposed: no BLAS operation
    };
    Some((operation(a, a_n, a_t)?, operation(b, b_n, b_t)?))
}

/// Decodes the words after the contraction: the types of A, B, D and the compute type, and all
/// others.
struct TypeWords<'a> {
    types: types::Four,
    extras: Vec<&'a str>,
}

/// The flags follow the types in the same word (`SB`) or in the next (`HHS_BH`); from ROCm 7 on
/// always in a separate word, after the words for f32 emulation, scales and swizzles.
fn type_words<'a>(words: &[&'a str]) -> Option<TypeWords<'a>> {
    let (word, rest) = words.split_first()?;
    // A and B may be stored in other types than they are multiplied in: F8H_HHS.
    if let (Some([a, b]), Some((next, rest))) = (types::pair(word), rest.split_first())
        && let Some([_, _, d, compute]) = types::mixed(next)
    {
        return Some(TypeWords { types: [Some(a), Some(b), d, compute], extras: without_flags(rest).1 });
    }
    if let Some(types) = types::mixed(word) {
        return Some(TypeWords { types, extras: without_flags(rest).1 });
    }
    let (a, joined) = types::first(word)?;
    if !joined.is_empty() && are_flags(joined) {
        return Some(TypeWords {
            types: types::single(a, joined.contains('H'), true),
            extras: rest.to_vec(),
        });
    }
    let (flags, extras) = without_flags(rest);
    let types = match types::pair(word) {
        Some([a, b]) if !flags.is_empty() => [Some(a), Some(b), None, None], // B8F8_BH
        None if joined.is_empty() => types::single(a, flags.contains('H'), false),
        _ => return None,
    };
    Some(TypeWords { types, extras })
}

/// The flags, if they are a separate word, and the other words.
fn without_flags<'a>(words: &[&'a str]) -> (&'a str, Vec<&'a str>) {
    let is_before = |word: &&&str| {
        matches!(**word, "MX" | "STA" | "STB") || word.starts_with("MXA") || word.starts_with("MXB")
    };
    let at = words.iter().take_while(is_before).count();
    let mut others = words.to_vec();
    match words.get(at) {
        Some(flags) if are_flags(flags) => (others.remove(at), others),
        _ => ("", others),
    }
}

/// B: beta is used; H: higher-precision accumulation; R, RZ: f16 through bf16 and its rounding; I,
/// Ic: first indices have strides.
fn are_flags(word: &str) -> bool {
    let mut rest = word;
    for options in [&["B"][..], &["H"], &["RZ", "R"], &["IIc", "Ic", "I"]] {
        rest = options.iter().find_map(|flag| rest.strip_prefix(flag)).unwrap_or(rest);
    }
    rest.is_empty()
}
