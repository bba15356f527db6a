//! Real names: those of rocBLAS 4.4 and hipBLASLt 1.2 with their own metadata, and others of ROCm 4
//! to 7 as users published them (some truncated).

use super::*;

/// The expected result, in the columns of `names.tsv`; `-` for absent.
fn row(kernel: &Tensile) -> Vec<String> {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let with = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
    let instruction = kernel.instruction.map(|i| match i.k {
        Some(k) => with(&[i.m, i.n, k, i.blocks]),
        None => with(&[i.m, i.n, i.blocks]),
    });
    let cells = [
        kernel.kind.clone(),
        text(&kernel.trans_a) + &text(&kernel.trans_b),
        text(&kernel.a),
        text(&kernel.b),
        text(&kernel.d),
        text(&kernel.compute),
        text(&kernel.batch),
        kernel.tile.map(|tile| with(&tile)).unwrap_or_default(),
        instruction.unwrap_or_default(),
        kernel.split.map(|split| split.to_string()).unwrap_or_default(),
        text(&kernel.language),
        text(&kernel.isa),
        kernel.extras.join(","),
    ];
    cells.into_iter().map(|cell| if cell.is_empty() { "-".into() } else { cell }).collect()
}

#[test]
fn a_real_name_says_what_the_kernel_is() {
    let table = include_str!("names.tsv");
    let mut rows = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let titles = rows.next().unwrap();
    let mut checked = 0;
    for expected in rows {
        let name = expected[0];
        let kernel = Tensile::of(name).unwrap_or_else(|| panic!("not decoded: {name}"));
        assert_eq!(row(&kernel), expected[1..], "{name}\n{titles:?}");
        checked += 1;
    }
    assert_eq!(checked, table.lines().count() - 1);
}

#[test]
fn what_the_grammar_does_not_have_is_not_decoded() {
    for name in [
        "",
        "Cijk_",
        "Cijk_MT64x64",                                           // no operands, no depth
        "Cijk_Ailk_Bljk_SB_MT64x64x8",                            // cut before SE or SN
        "Cijk_Ailk_Bljk_SB_MT64x64_SE_K1",                        // a tile of two numbers
        "Cijk_Ailk_Bljk_QQS_BH_MT64x64x8_SE_K1",                  // unknown types
        "Cijk_Ailk_Bljk_SX_MT64x64x8_SE_K1",                      // unknown flags
        "Cijk_Ailk_SB_MT64x64x8_SE_K1",                           // no B
        "Cijk_Alik_Bljk_BBS_BH_Bias_SAV_UserArgs_MT96x96xQmnABc", // a file's name
        "Cijk_S_Unknown",
        "Custom_kernel",
        "Dij_kernel_Reduction",
        "_Z6vecaddPf",
        "rocblas_gemm_kernel",
        "mul_mat_vec_q",
    ] {
        assert_eq!(Tensile::of(name), None, "{name}");
    }
}

#[test]
fn a_contraction_that_is_no_matrix_product_has_no_transposes() {
    for (contraction, transposes) in [
        ("Cijk_Ailk_Bjlk", Some(("N", "T"))),
        ("Cijk_AlikC_Bljk", Some(("C", "N"))),
        ("Cij_Aik_Bjk", Some(("N", "T"))),
        ("Cijk_AilkC_Bljk", None),
        ("Cijk_Aklj_Bilk", None),
        ("Cij_AIlj_Bil", None),
    ] {
        let kernel = Tensile::of(&format!("{contraction}_ZB_MT32x32x8_SE_K1")).unwrap();
        assert_eq!(kernel.trans_a.as_deref().zip(kernel.trans_b.as_deref()), transposes, "{contraction}");
        assert_eq!(kernel.contraction.as_deref(), Some(contraction));
    }
}

#[test]
fn types_are_decoded_as_far_as_the_name_has_them() {
    let types = |problem: &str| {
        let kernel = Tensile::of(&format!("Cijk_Ailk_Bljk_{problem}_MT32x32x8_SN_K1")).unwrap();
        let [a, b, d, compute] =
            [kernel.a, kernel.b, kernel.d, kernel.compute].map(Option::unwrap_or_default);
        format!("{a} {b} {d} {compute} {}", kernel.extras.join(","))
    };
    for (problem, expected) in [
        ("SB", "f32_r f32_r f32_r f32_r "),
        ("SBI", "f32_r f32_r f32_r f32_r "),
        ("I8II_BH", "i8_r i8_r i32_r i32_r "),
        ("4xi8BH", "i8x4 i8x4 i32_r i32_r "),
        ("I8BH_HAI_SAV", "i8_r i8_r   HAI,SAV"), // i8 or i32, by release
        ("HHS_BHRZ", "f16_r f16_r f16_r f32_r "),
        ("F8H_HHS_BH", "f8_r f16_r f16_r f32_r "),
        ("F8B8NSS_BH", "f8_fnuz_r bf8_fnuz_r f32_r f32_r "),
        ("F8NB8NSS_BH", "f8_fnuz_r bf8_fnuz_r f32_r f32_r "),
        // Separate words, as from ROCm 7 on.
        ("S_B", "f32_r f32_r f32_r f32_r "),
        ("H_BH_UserArgs", "f16_r f16_r   UserArgs"),
        ("B8F8_BH_Bias_SHB_HA_S", "bf8_r f8_r   Bias,SHB,HA,S"),
        ("C_C_B", "f32_c f32_c f32_c f32_c "), // B conjugated
        ("C_B", "f32_c f32_c f32_c f32_c "),
        ("F4SS_MXAE8B32_MXBE8B32_BH_Bias", "f4_r f4_r f32_r f32_r MXAE8B32,MXBE8B32,Bias"),
    ] {
        assert_eq!(types(problem), expected, "{problem}");
    }
}
