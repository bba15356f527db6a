//! Tensile's letters for element types (`DataType.py`).

/// Letters and the type names of `gemm` records; longer letters precede shorter ones, so that `F8N`
/// is not read as `F8`.
#[rustfmt::skip]
const TYPES: &[(&str, &str)] = &[
    ("4xi8", "i8x4"), ("I64", "i64_r"), ("I8", "i8_r"), ("I", "i32_r"),
    ("F8N", "f8_fnuz_r"), ("B8N", "bf8_fnuz_r"), ("F8", "f8_r"), ("B8", "bf8_r"),
    ("F6", "f6_r"), ("B6", "bf6_r"), ("F4", "f4_r"),
    ("S", "f32_r"), ("D", "f64_r"), ("C", "f32_c"), ("Z", "f64_c"), ("H", "f16_r"), ("B", "bf16_r"), ("X", "xf32_r"),
];

/// The type that a word begins with, and the rest of the word.
pub(super) fn first(word: &str) -> Option<(&'static str, &str)> {
    TYPES.iter().find_map(|(letter, name)| Some((*name, word.strip_prefix(letter)?)))
}

/// All types of a word that holds nothing else.
pub(super) fn all(mut word: &str) -> Option<Vec<&'static str>> {
    let mut found = Vec::new();
    while !word.is_empty() {
        let (name, rest) = first(word)?;
        found.push(name);
        word = rest;
    }
    // A single letter for a pair of 8-bit types ends with the N of both: F8B8N.
    if let [a @ ("f8_r" | "bf8_r"), "f8_fnuz_r" | "bf8_fnuz_r", ..] = found.as_mut_slice() {
        *a = if *a == "f8_r" { "f8_fnuz_r" } else { "bf8_fnuz_r" };
    }
    (!found.is_empty()).then_some(found)
}

/// The types of A, B, D and the compute type.
pub(super) type Four = [Option<&'static str>; 4];

/// A word for three types or, if A and B differ, four: `HHS`, `I8II`, `F8B8BS`. Tensile writes it
/// where the compute type differs from A's and B's: f32, or i32 for integers (`HPATypes`).
pub(super) fn mixed(word: &str) -> Option<Four> {
    let found = all(word)?;
    let (a, b, d, compute) = match *found.as_slice() {
        [a, d, compute] => (a, a, d, compute),
        [a, b, d, compute] => (a, b, d, compute),
        _ => return None,
    };
    let is_integer = matches!(a, "i8_r" | "i8x4") && matches!(d, "i32_r" | "i8_r");
    (compute == "f32_r" || compute == "i32_r" && is_integer).then_some([
        Some(a),
        Some(b),
        Some(d),
        Some(compute),
    ])
}

/// Two types, those of A and B.
pub(super) fn pair(word: &str) -> Option<[&'static str; 2]> {
    all(word)?.try_into().ok()
}

/// The types if the name has only that of A and B: all are equal unless the kernel accumulates in
/// `higher` precision. Then they are known only if type and flags are one word (`HBH`), as up to
/// ROCm 5.2: later names have the others.
pub(super) fn single(a: &'static str, higher: bool, joined: bool) -> Four {
    match (a, higher) {
        ("f32_r" | "f64_r" | "f32_c" | "f64_c" | "f16_r", false) => [Some(a); 4],
        ("f16_r" | "bf16_r", true) if joined => [Some(a), Some(a), Some(a), Some("f32_r")],
        ("i8x4", true) if joined => [Some(a), Some(a), Some("i32_r"), Some("i32_r")],
        _ => [Some(a), Some(a), None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_does_not_hide_a_longer_one() {
        for (at, (letter, _)) in TYPES.iter().enumerate() {
            let hidden = TYPES[at + 1..].iter().find(|(later, _)| later.starts_with(letter));
            assert_eq!(hidden, None, "{letter}");
        }
    }
}
