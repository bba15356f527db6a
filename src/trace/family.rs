//! Classifies a kernel by its name into a family of work, such as attention or normalisation;
//! `families.tsv` is the table.

use crate::pattern::{fits, patterns};
use std::{borrow::Cow, sync::OnceLock};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Family {
    /// Its name, unique within `of`: `mmvq`, `Tensile product`.
    pub name: &'static str,
    /// The library or project the kernels belong to: `ggml`, `BLAS`, `PyTorch`.
    pub of: &'static str,
    /// What the kernels do.
    pub what: &'static str,
    kernels: &'static str,
}

/// Every family, in the order in which they are matched.
pub fn families() -> &'static [Family] {
    static FAMILIES: OnceLock<Vec<Family>> = OnceLock::new();
    FAMILIES.get_or_init(|| include_str!("families.tsv").lines().filter_map(Family::of_line).collect())
}

/// The family of a kernel, by its symbol and, if that is a mangled name, by the demangled one.
/// `None` if no row matches.
pub fn family(symbol: &str, demangled: Option<&str>) -> Option<&'static Family> {
    let whole = demangled.map_or_else(|| identifier(symbol), Cow::Borrowed);
    let whole = whole.as_ref();
    let name = function(whole);
    let is = |pattern: &str| match pattern.contains('<') {
        true => fits(pattern, &whole[..whole.find('<').map_or(0, |at| template_end(whole, at))]),
        false => fits(pattern, name),
    };
    families().iter().find(|family| patterns(family.kernels).any(is))
}

impl Family {
    fn of_line(line: &'static str) -> Option<Family> {
        let mut words = line.split('\t').filter(|_| !line.starts_with('#'));
        Some(Family { name: words.next()?, of: words.next()?, kernels: words.next()?, what: words.next()? })
    }
}

/// `void a::(anonymous namespace)::f<1, g<2>>(int)` → `a::(anonymous namespace)::f`.
fn function(demangled: &str) -> &str {
    const ANONYMOUS: &str = "(anonymous namespace)";
    let mut end = demangled.len();
    for (at, _) in demangled.match_indices(['<', '(']) {
        if !demangled[at..].starts_with(ANONYMOUS) {
            end = at;
            break;
        }
    }
    // The return type precedes the name: `void` for a kernel.
    let name = &demangled[..end];
    let name = name.strip_prefix("void ").unwrap_or(name);
    name.strip_prefix(ANONYMOUS).and_then(|name| name.strip_prefix("::")).unwrap_or(name)
}

/// The end of the template list that begins at `from`, or of the text if the list is not closed.
fn template_end(text: &str, from: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().skip(from) {
        depth += i32::from(byte == b'<') - i32::from(byte == b'>');
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// The names in a mangled symbol that no demangler accepted, up to its template: `_ZN1a4nameIfEvPf`
/// → `a::name`. An unmangled symbol is returned unchanged.
fn identifier(symbol: &str) -> Cow<'_, str> {
    let Some(rest) = symbol.strip_prefix("_Z") else { return symbol.into() };
    let (is_nested, mut rest) = match rest.strip_prefix('N') {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix('L').unwrap_or(rest)),
    };
    let mut names: Vec<&str> = Vec::new();
    while names.is_empty() || is_nested {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[..digits].parse::<usize>() else { break };
        let Some((name, behind)) = rest[digits..].split_at_checked(length) else { break };
        names.push(if name == "_GLOBAL__N_1" { "(anonymous namespace)" } else { name });
        rest = behind;
    }
    if names.is_empty() { symbol.into() } else { names.join("::").into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(demangled: &str) -> Option<(&'static str, &'static str)> {
        family("_Z", Some(demangled)).map(|family| (family.name, family.of))
    }

    #[test]
    fn every_row_has_four_columns() {
        let lines = include_str!("families.tsv").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.count(), families().len());
        for family in families() {
            assert!(patterns(family.kernels).count() > 0 && !family.what.is_empty(), "{family:?}");
        }
        let mut names: Vec<_> = families().iter().map(|family| (family.of, family.name)).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), families().len(), "no two lines are one family");
    }

    #[test]
    fn the_function_name_decides_the_family() {
        for (demangled, expected) in [
            ("void mul_mat_q<(ggml_type)2, 32, false>(char const*)", ("mmq", "ggml")),
            ("mul_mat_vec_q_moe<(ggml_type)2, 2>(void const*)", ("mmvq", "ggml")),
            ("void flash_attn_ext_vec<128, 1, (ggml_type)1>(char const*)", ("flash attention", "ggml")),
            ("quantize_q8_1(float const*, void*)", ("quantize", "ggml")),
            ("void dequantize_block_q4_K<__half>(void const*, __half*)", ("dequantize", "ggml")),
            ("void unary_gated_op_kernel<&(op_silu(float)), float>(float*)", ("elementwise", "ggml")),
            (
                "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 3>(float*)",
                ("copy", "PyTorch"),
            ),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)",
                ("elementwise", "PyTorch"),
            ),
            (
                "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<A<3>>(A<3>)",
                ("optimiser", "PyTorch"),
            ),
            ("void ck::kernel_gemm_xdl_cshuffle_v3<ck::Gemm<1>>(int)", ("product", "Composable Kernel")),
            (
                "void ck_tile::kentry<256, 1, ck_tile::FmhaFwdKernel<ck_tile::Pipeline<1>>, int>(int)",
                ("attention", "Composable Kernel"),
            ),
            ("void rocprim::detail::trampoline_kernel<int>(int)", ("primitive", "rocPRIM")),
            ("void (anonymous namespace)::gemm_ex_scale_kernel<32>(int)", ("rocBLAS product", "BLAS")),
            ("rocblas_gemvn_kernel<64, 4>(int)", ("rocBLAS vector product", "BLAS")),
        ] {
            assert_eq!(of(demangled), Some(expected), "{demangled}");
        }
        assert_eq!(of("void my_kernel<1>(int)"), None);
        assert_eq!(of("my_mul_mat_q(int)"), None, "the whole name counts");
    }

    #[test]
    fn unmangled_symbols_are_matched() {
        let of = |symbol| family(symbol, None).map(|family| (family.name, family.of));
        assert_eq!(of("Cijk_Ailk_Bljk_HHS_BH_MT128x64x16"), Some(("Tensile product", "BLAS")));
        assert_eq!(of("naive_conv_fwd_nchw_half_double_half"), Some(("convolution, naive", "MIOpen")));
        assert_eq!(of("triton_poi_fused_add_0"), Some(("generated, elementwise", "Triton, Inductor")));
        assert_eq!(of("_Z20gated_delta_net_cudaILi128ELb1EEvPKf"), Some(("recurrent", "ggml")));
        assert_eq!(of("_ZL13k_get_rows_kqIiTnPFvPKv"), Some(("rows", "ggml")));
        for odd in ["", "_Z", "_Z99x", "_ZL", "<", "(", "_Z4ab\u{fc}"] {
            assert_eq!(of(odd), None, "{odd}");
        }
    }

    #[test]
    fn mangled_names_without_a_demangled_form_are_matched() {
        let of = |symbol| family(symbol, None).map(|family| (family.name, family.of));
        assert_eq!(of("_ZN9rocsolver10v33100_xyz5getf2ITnjLj4EEEvv"), Some(("solve", "rocSOLVER")));
        assert_eq!(
            of("_ZN11onnxruntime4rocm12_GLOBAL__N_120softmax_warp_forwardIfEEvv"),
            Some(("softmax", "ONNX Runtime"))
        );
        assert_eq!(of("_Z9rms_norm_"), Some(("norm", "ggml")));
        assert_eq!(of("_Z99short"), None);
    }
}
