//! Matrix products: what was asked for, and the kernels that each kind launched.

use super::{
    calls::{count_cells, count_columns, inside},
    section,
};
use crate::{
    names::function,
    table::{Column, Style, Table},
};
use rocshim_analysis::{Evidence, GemmProblem, GemmRow, Summary};
use rocshim_trace::Word;
use std::fmt::Display;

pub(crate) fn gemms(summary: &Summary, style: &Style) -> Option<String> {
    if summary.gemms.is_empty() {
        return None;
    }
    let (failed, mut columns) = count_columns(summary.gemms.iter().map(|row| &row.counts));
    columns.extend(PROBLEM);
    let mut table = Table::new(&columns);
    for row in &summary.gemms {
        let mut cells = count_cells(&row.counts, failed);
        cells.extend(problem(&row.problem, &row.function));
        table.row_with(cells, [asked(row), inside(&row.counts, style)].concat());
    }
    section("GEMMs (host time; below each, the kernels launched inside the call)", &table, style, &[])
}

/// The columns of `problem`.
pub(super) const PROBLEM: [Column; 7] = [
    Column::Left("op"),
    Column::Right("m"),
    Column::Right("n"),
    Column::Right("k"),
    Column::Right("batch"),
    Column::Left("types"),
    Column::Left("function"),
];

/// What was asked for, and through which function.
pub(super) fn problem(problem: &GemmProblem, name: &str) -> [String; 7] {
    [
        format!("{}{}", known(&problem.trans_a), known(&problem.trans_b)),
        known(&problem.m),
        known(&problem.n),
        known(&problem.k),
        known(&problem.batch),
        types(&problem.types, &problem.compute),
        function(name),
    ]
}

/// The value, or `?` where the trace does not have it.
fn known<T: Display>(value: &Option<T>) -> String {
    value.as_ref().map_or_else(|| "?".into(), T::to_string)
}

/// What was requested in addition to the problem, and why it is not known.
pub fn asked(row: &GemmRow) -> Vec<String> {
    let epilogue = row.problem.epilogue.as_ref().filter(|epilogue| *epilogue != "default");
    let solution = row.problem.solution;
    [
        row.unknown.map(|why| format!("{}: {why}", Evidence::Unresolved)),
        epilogue.map(|epilogue| format!("then {epilogue}")),
        solution.map(|solution| format!("solution index {solution} was asked for{}", whose(row))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whose solution the index means, with the rule.
fn whose(row: &GemmRow) -> String {
    let Some(owner) = &row.solution_of else { return String::new() };
    let library = match owner.library.as_deref() {
        Some("fallback") => " of the fallback library".to_string(),
        Some(target) => format!(" of the library for {target}"),
        None => String::new(),
    };
    format!(", {}{library}: {}", owner.evidence, owner.why)
}

/// `f16_r>f32_r, f32_r`: inputs, result, and the type in which it is computed; one word where all
/// are the same.
pub fn types([a, b, _, d]: &[Option<Word>; 4], compute: &Option<Word>) -> String {
    let short = |element: &Option<Word>| {
        let element = known(element);
        element.strip_suffix("_r").unwrap_or(&element).to_string()
    };
    let inputs = if a == b { short(a) } else { format!("{}*{}", short(a), short(b)) };
    let result = if a == b && a == d { inputs } else { format!("{inputs}>{}", short(d)) };
    let compute = short(compute);
    if result == compute { result } else { format!("{result} in {compute}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::testing::summary_of_text;
    use rocshim_reader::End;

    /// A product by descriptors with an algorithm, one whose descriptors are not known, and an
    /// object's.
    const TRACE: &str = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{},"host":"h","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}
{"type":"hook","id":0,"name":"hipExtModuleLaunchKernel","of":"libamdhip64.so","point":"preload","state":"armed"}
{"type":"hook","id":1,"name":"hipblasLtMatmul","of":"libhipblaslt.so","point":"preload","state":"armed"}
{"type":"hook","id":2,"name":"_ZN13hipblaslt_ext12GemmInstance3runEP12ihipStream_tP11ihipEvent_tS4_","of":"libhipblaslt.so","point":"preload","state":"armed"}
{"type":"kernel","id":1,"name":"Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x32_MI16x16x16x1_SN_ISA1100"}
{"type":"launch","tid":7,"id":2,"parent":1,"t":10,"dur":5,"hook":0,"kernel":1,"grid":[1,1,1],"block":[64,1,1]}
{"type":"matmul","tid":7,"id":1,"t":10,"dur":300,"hook":1,"handle":"0x1","trans_a":"T","trans_b":"N","m":64,"n":16,"k":96,"batch":5,"a":{"ptr":"0x1","type":"bf16_r","ld":96,"stride":1,"order":"col"},"b":{"type":"bf16_r","ld":96,"stride":1,"order":"col"},"c":{"type":"bf16_r","ld":64,"stride":1,"order":"col"},"d":{"type":"bf16_r","ld":64,"stride":1,"order":"col"},"compute":"32f","scale_type":"f32_r","epilogue":"gelu_bias","algo":1039}
{"type":"launch","tid":7,"id":4,"parent":3,"t":20,"dur":5,"hook":0,"kernel":1,"grid":[1,1,1],"block":[64,1,1]}
{"type":"matmul","tid":7,"id":3,"t":20,"dur":200,"hook":1,"handle":"0x1","a":{"ptr":"0x1"}}
{"type":"launch","tid":7,"id":6,"parent":5,"t":30,"dur":5,"hook":0,"kernel":1,"grid":[1,1,1],"block":[64,1,1]}
{"type":"matmul","tid":7,"id":5,"t":30,"dur":100,"hook":2,"instance":"0x2"}
{"type":"footer","t":9000,"end":"exit"}"#;

    const SECTION: &str = "\
GEMMs (host time; below each, the kernels launched inside the call)
  calls   total    mean  op   m   n   k  batch  types        function
      1  300 ns  300 ns  TN  64  16  96      5  bf16 in 32f  hipblasLtMatmul
      then gelu_bias
      solution index 1039 was asked for
      launched 1 x Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x32… gfx1100
      1  200 ns  200 ns  ??   ?   ?   ?      ?  ?            hipblasLtMatmul
      unresolved: a descriptor was not seen being made, or there was no room to keep it
      launched 1 x Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x32… gfx1100
      1  100 ns  100 ns  ??   ?   ?   ?      ?  ?            hipblaslt_ext::GemmInstance::run
      unresolved: the object was given its problem and its algorithm before
      launched 1 x Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x32… gfx1100
";

    #[test]
    fn a_product_of_hipblaslt_stands_there_with_what_is_known_of_it() {
        let section = gemms(&summary_of_text(TRACE, End::Footer), &Style::default()).unwrap();
        assert_eq!(section, SECTION, "\n{section}");
    }
}
