//! Formats names of kernels, families and functions for people.

use rocshim_drain::demangle;
use std::borrow::Cow;

/// Removes return type and parameters from a name, and replaces ggml's type numbers by their names:
/// `mul_mat_vec_q<q4_0, 1>` for `void mul_mat_vec_q<(ggml_type)2, 1>(void const*, float*)`. Returns
/// other names unchanged.
pub fn tidy(name: &str) -> Cow<'_, str> {
    let name = name.strip_suffix(" [clone .kd]").unwrap_or(name);
    let Some(open) = parameters(name) else { return name.into() };
    let called = &name[..open];
    ggml_types(called.get(return_type(called)..).unwrap_or(called))
}

/// The quantisation types of ggml that have kernels, by number (`enum ggml_type` of ggml.h; the
/// numbers from 40 on differ between forks).
const GGML_TYPES: [(u8, &str); 28] = [
    (0, "f32"),
    (1, "f16"),
    (2, "q4_0"),
    (3, "q4_1"),
    (6, "q5_0"),
    (7, "q5_1"),
    (8, "q8_0"),
    (9, "q8_1"),
    (10, "q2_K"),
    (11, "q3_K"),
    (12, "q4_K"),
    (13, "q5_K"),
    (14, "q6_K"),
    (15, "q8_K"),
    (16, "iq2_xxs"),
    (17, "iq2_xs"),
    (18, "iq3_xxs"),
    (19, "iq1_s"),
    (20, "iq4_nl"),
    (21, "iq3_s"),
    (22, "iq2_s"),
    (23, "iq4_xs"),
    (26, "i32"),
    (29, "iq1_m"),
    (30, "bf16"),
    (34, "tq1_0"),
    (35, "tq2_0"),
    (39, "mxfp4"),
];

/// Replaces `(ggml_type)2` by `q4_0`; keeps unknown numbers.
fn ggml_types(name: &str) -> Cow<'_, str> {
    const CAST: &str = "(ggml_type)";
    if !name.contains(CAST) {
        return name.into();
    }
    let mut parts = name.split(CAST);
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: Option<u8> = part[..digits].parse().ok();
        match GGML_TYPES.iter().find(|(known, _)| Some(*known) == number) {
            Some((_, known)) => text.extend([known, &part[digits..]]),
            None => text.extend([CAST, part]),
        }
    }
    text.into()
}

/// Formats a family with its owner: `ggml: mmvq`.
pub fn family(of: Option<&str>, family: Option<&str>) -> String {
    match (of, family) {
        (Some(of), Some(family)) => format!("{of}: {family}"),
        _ => "unresolved: of no known family".into(),
    }
}

/// Formats a function's name; a mangled one as `hipblaslt_ext::GemmInstance::run`.
pub fn function(symbol: &str) -> String {
    demangle(symbol).map_or_else(|| symbol.to_string(), |name| tidy(&name).to_string())
}

/// Returns the name of a Tensile GEMM kernel up to its macro tile, `Cijk_Ailk_Bljk_SB_MT128x64x8`,
/// without the dozens of parameters that follow.
pub fn to_tile(name: &str) -> Option<&str> {
    let tile = name.find("_MT").filter(|_| name.starts_with("Cijk_"))?;
    let end = tile + 1 + name[tile + 1..].find('_')?;
    Some(&name[..end])
}

/// Returns the position of the parameter list: the parenthesis that the final one closes, outside
/// of template arguments.
fn parameters(name: &str) -> Option<usize> {
    let trimmed = name.trim_end_matches(" const");
    if !trimmed.ends_with(')') {
        return None;
    }
    let mut depth = 0_u32;
    for (at, byte) in trimmed.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then_some(at);
        }
    }
    None
}

/// Returns the position of the name: after the last space outside of template arguments and
/// parentheses.
fn return_type(called: &str) -> usize {
    let mut depth = 0_i32;
    let mut begin = 0;
    for (at, byte) in called.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'{' => depth += 1,
            b'>' | b')' | b'}' => depth -= 1,
            b' ' if depth == 0 => begin = at + 1,
            _ => {}
        }
    }
    begin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn return_type_and_parameters_go() {
        for (name, tidied) in [
            (
                "void mul_mat_vec_q<(ggml_type)2, 1, false>(void const*, float*, int)",
                "mul_mat_vec_q<q4_0, 1, false>",
            ),
            ("void k<(ggml_type)39, (ggml_type)99, (x)1>()", "k<mxfp4, (ggml_type)99, (x)1>"),
            ("vecadd(float*, int)", "vecadd"),
            (
                "void at::native::k<4, at::F<float>, std::array<char*, 1ul> >(int, F, A)",
                "at::native::k<4, at::F<float>, std::array<char*, 1ul> >",
            ),
            ("void (anonymous namespace)::softmax<float>(float*)", "(anonymous namespace)::softmax<float>"),
            ("Cijk_Alik_Bljk_SB_MT64x64x8_SN", "Cijk_Alik_Bljk_SB_MT64x64x8_SN"),
            ("k(int) [clone .kd]", "k"),
            ("unknown kernel 0x7f of process 12", "unknown kernel 0x7f of process 12"),
            ("()", "()"),
        ] {
            assert_eq!(tidy(name), tidied);
        }
    }

    #[test]
    fn of_a_tensile_name_the_problem_and_the_tile_are_shown() {
        let name = "Cijk_Ailk_Bljk_SB_GB_MT128x64x8_SE_GSU1_ISA000_K1_KLS_WGM8";
        assert_eq!(to_tile(name), Some("Cijk_Ailk_Bljk_SB_GB_MT128x64x8"));
        for other in ["Cijk_S_GA", "Cijk_Ailk_Bljk_SB_MT128x64x8", "my_MT_kernel_1", ""] {
            assert_eq!(to_tile(other), None, "{other}");
        }
    }
}
