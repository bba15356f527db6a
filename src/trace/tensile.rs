//! Decodes the name of a Tensile kernel: the problem it solves, its macro tile, the instruction,
//! the language it was written in.
//!
//! rocBLAS takes its kernels from Tensile, hipBLASLt from TensileLite; both encode a kernel's
//! parameters in its name:
//! `Cijk_Ailk_Bljk_HHS_BH_MT128x64x16_MI16x16x16x1_SN_…_GSU4_…_ISA1100_…_KLA_…`. The grammar is
//! that of `Solution.getNameMin` and `ProblemType.__str__` (Tensile 4.33 to 4.43 in ROCm 5.2 to
//! 6.5; TensileLite from ROCm 5.5 to 7.x), for helper kernels that of `KernelWriterBetaOnly`,
//! `KernelWriterConversion` and `KernelWriterReduction`. A property that the name does not encode
//! is absent; a name outside of the grammar is not decoded at all.

mod helper;
mod problem;
mod types;

use serde::{Deserialize, Serialize};

/// A Tensile kernel, decoded from its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tensile {
    /// `product` (the GEMM), `beta` (scales C before a GEMM that accumulates), `post_gsu` (sums the
    /// partial results of a split GEMM), `reduction` (of a bias gradient), `stream_k_flags`, or
    /// `custom` (hand-written; its name encodes nothing more).
    pub kind: String,
    /// The indices of C, A and B, the fastest first, as in the name: `Cijk_Ailk_Bljk`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contraction: Option<String>,
    /// op(A), if the contraction is a GEMM: `N`, `T` or `C`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trans_a: Option<String>,
    /// op(B).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trans_b: Option<String>,
    /// Element type of A: `f16_r`, `bf16_r`, `f8_r`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// Element type of B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
    /// Element type of C and D.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub d: Option<String>,
    /// The compute type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute: Option<String>,
    /// How the matrices of a batch are given: `strided` (also a batch of one), `general` (an array
    /// of pointers), `grouped`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// The macro tile: rows and columns of D per work-group, and the depth of one loop iteration in
    /// the inner dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tile: Option<[u32; 3]>,
    /// The matrix instruction (MFMA, WMMA); absent for a kernel that uses none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<MatrixInstruction>,
    /// Global split U: the number of parts of the inner dimension; 1 for no split, 0 for a kernel
    /// that cannot split. Absent if the name does not say (TensileLite mostly passes it as an
    /// argument).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<u32>,
    /// `source` (HIP C++) or `assembly`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The target it was generated for: `gfx1100`; `any` for ISA000, source compiled for any
    /// target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isa: Option<String>,
    /// The remaining properties of the problem, in Tensile's words: `Bias`, `HA`, `SAV`,
    /// `UserArgs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extras: Vec<String>,
}

/// A matrix instruction: D (m × n) += A (m × k) · B (k × n), for several blocks at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixInstruction {
    /// Rows of a block.
    pub m: u32,
    /// Columns of a block.
    pub n: u32,
    /// The inner dimension; absent in TensileLite's names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<u32>,
    /// Number of blocks.
    pub blocks: u32,
}

impl Tensile {
    /// Decodes a kernel's name; `None` if it does not follow Tensile's grammar.
    ///
    /// ```
    /// let name = "Cijk_Ailk_Bljk_SB_MT128x64x8_SE_GSU1_ISA000_K1_KLS_TT8_4_WG16_16_1";
    /// let kernel = rocshim_trace::Tensile::of(name).unwrap();
    /// assert_eq!((kernel.kind.as_str(), kernel.tile), ("product", Some([128, 64, 8])));
    /// assert_eq!(kernel.language.as_deref(), Some("source"));
    /// assert_eq!(rocshim_trace::Tensile::of("_Z6vecaddPf"), None);
    /// ```
    pub fn of(name: &str) -> Option<Tensile> {
        let words: Vec<&str> = name.split('_').collect();
        helper::decode(&words).or_else(|| product(&words))
    }

    /// True for a kernel that computes a GEMM, false for a helper kernel.
    pub fn is_product(&self) -> bool {
        self.kind == "product" || self.kind == "custom"
    }
}

/// `PROBLEM_MT…[_MI…][_CMS]_SN_PARAMETERS`; SE and SN say whether C and D share their leading
/// dimension.
fn product(words: &[&str]) -> Option<Tensile> {
    let at = words.iter().position(|word| tile(word).is_some())?;
    let mut kernel = problem::decode(&words[..at])?;
    kernel.kind = "product".into();
    kernel.tile = tile(words[at]);
    let mut rest = &words[at + 1..];
    if let Some(found) = rest.first().and_then(|word| instruction(word)) {
        kernel.instruction = Some(found);
        rest = &rest[1..];
    }
    if rest.first() == Some(&"CMS") {
        rest = &rest[1..];
    }
    let parameters = rest.strip_prefix(&["SN"]).or_else(|| rest.strip_prefix(&["SE"]))?;
    kernel.split = parameters.iter().find_map(|word| word.strip_prefix("GSU")?.parse().ok());
    kernel.language = parameters.iter().find_map(|word| language(word)).map(str::to_owned);
    kernel.isa = parameters.iter().find_map(|word| isa(word));
    Some(kernel)
}

/// `128x64x16` → its numbers.
fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let numbers: Result<Vec<u32>, _> = text.split('x').map(str::parse).collect();
    numbers.ok()?.try_into().ok()
}

fn tile(word: &str) -> Option<[u32; 3]> {
    numbers(word.strip_prefix("MT")?)
}

/// `MI16x16x16x1` (m, n, k, blocks) in Tensile, `MI16x16x1` (m, n, blocks) in TensileLite.
fn instruction(word: &str) -> Option<MatrixInstruction> {
    let text = word.strip_prefix("MI")?;
    let with_k = numbers(text).map(|[m, n, k, blocks]| MatrixInstruction { m, n, k: Some(k), blocks });
    with_k.or_else(|| numbers(text).map(|[m, n, blocks]| MatrixInstruction { m, n, k: None, blocks }))
}

fn language(word: &str) -> Option<&'static str> {
    match word {
        "KLA" => Some("assembly"),
        "KLS" => Some("source"),
        _ => None,
    }
}

/// `ISA90a` → `gfx90a`: major and minor in decimal, the stepping in hex.
fn isa(word: &str) -> Option<String> {
    let digits = word.strip_prefix("ISA")?;
    let is_version = (3..=5).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_version.then(|| if digits == "000" { "any".into() } else { format!("gfx{digits}") })
}

#[cfg(test)]
mod tests;
