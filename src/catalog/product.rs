//! A rocBLAS GEMM in Tensile's terms, as `ConstructTensileProblem` of rocBLAS constructs it
//! (`library/src/tensile_host.cpp`, rocBLAS 2.44 to 5.x).

use rocshim_trace::Gemm;

/// Element types: rocshim's name, Tensile's name, bytes per element.
const TYPES: &[(&str, &str, i64)] = &[
    ("f16_r", "Half", 2),
    ("bf16_r", "BFloat16", 2),
    ("f32_r", "Float", 4),
    ("f64_r", "Double", 8),
    ("f32_c", "ComplexFloat", 8),
    ("f64_c", "ComplexDouble", 16),
    ("i8_r", "Int8", 1),
    ("i32_r", "Int32", 4),
];

/// A GEMM, with what Tensile's predicates test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Product {
    /// `Contraction_l_Alik_Bljk_Cijk_Dijk`.
    pub operation: String,
    /// Element types of A, B, C and D in Tensile's names.
    pub types: [String; 4],
    /// Bytes per element of A, B and D.
    pub(crate) bytes: [i64; 3],
    /// True when computed in a wider type than that of A or B.
    pub high_precision: bool,
    /// Rows of D, columns of D, inner dimension, number of products.
    pub sizes: [i64; 4],
    /// Leading dimensions of A, B, C and D, in elements.
    pub leading: [i64; 4],
    /// True when a batch is given by strides, not by an array of pointers.
    pub strided: bool,
    /// True when atomic operations are forbidden; `None`: the library's default applies, which
    /// differs by version.
    pub deterministic: Option<bool>,
    /// True when f32 may be computed in xf32; `None`: unknown.
    pub xf32: Option<bool>,
}

impl Product {
    /// Returns `None` for a form or type that rocBLAS does not pass to Tensile this way.
    pub fn of(gemm: &Gemm) -> Option<Product> {
        let find = |word: &str| TYPES.iter().find(|(ours, ..)| *ours == word);
        let [a, b, c, d] = [&gemm.a, &gemm.b, &gemm.c, &gemm.d].map(|matrix| find(&matrix.element));
        let (a, b, c, d, compute) = (a?, b?, c?, d?, find(&gemm.compute)?);
        let is_complex = a.1.starts_with("Complex");
        let letter = |trans: &str, [plain, turned]: [&str; 2]| match trans {
            "N" => Some(plain.to_owned()),
            "C" if is_complex => Some(format!("{turned}C")),
            "T" | "C" => Some(turned.to_owned()),
            _ => None,
        };
        let left = letter(&gemm.trans_a, ["Ailk", "Alik"])?;
        let right = letter(&gemm.trans_b, ["Bljk", "Bjlk"])?;
        let strided = match &*gemm.form {
            "plain" | "strided_batched" => true,
            "batched" => false,
            _ => return None,
        };
        Some(Product {
            operation: format!("Contraction_l_{left}_{right}_Cijk_Dijk"),
            types: [a, b, c, d].map(|(_, word, _)| (*word).to_owned()),
            bytes: [a.2, b.2, d.2],
            high_precision: compute.2 > a.2 || compute.2 > b.2,
            sizes: [gemm.m, gemm.n, gemm.k, gemm.batch],
            leading: [gemm.a.ld, gemm.b.ld, gemm.c.ld, gemm.d.ld],
            strided,
            deterministic: gemm.atomics.as_ref().map(|atomics| atomics == "not_allowed"),
            // Only f32 can be computed in xf32.
            xf32: match (a.1, &gemm.math_mode) {
                ("Float", None) => Some(false),
                ("Float", Some(mode)) => Some(mode == "xf32_xdl"),
                _ => Some(false),
            },
        })
    }
}
