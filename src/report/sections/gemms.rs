//! The section on GEMMs: the problems, and the kernels that each kind launched.

use super::calls::inside;
use crate::{section::Part, table::Style};
use rocshim_analysis::{GEMMS, Summary};

pub(crate) fn gemms(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&GEMMS, &summary.gemms)
        .under(|row| [row.asked(), inside(&row.counts, style)].concat())
        .section(style)
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
{"type":"thread","tid":7,"produced":6,"written":6,"lost":0}
{"type":"footer","t":9000,"end":"exit"}"#;

    const SECTION: &str = "\
GEMMs (host time; below each, the kernels launched inside the call)
  calls   total  first calls  op   m   n   k  batch  types        function
      1  300 ns       300 ns  TN  64  16  96      5  bf16 in 32f  hipblasLtMatmul
      then gelu_bias
      solution index 1039 was asked for
      launched 1 x Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x32… gfx1100
      1  200 ns       200 ns  ??   ?   ?   ?      ?  ?            hipblasLtMatmul
      unresolved: a descriptor was not seen being made, or there was no room to keep it
      launched 1 x Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x32… gfx1100
      1  100 ns       100 ns  ??   ?   ?   ?      ?  ?            hipblaslt_ext::GemmInstance::run
      unresolved: the object was given its problem and its algorithm before
      launched 1 x Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x32… gfx1100
";

    #[test]
    fn a_product_of_hipblaslt_stands_there_with_what_is_known_of_it() {
        let section = gemms(&summary_of_text(TRACE, End::Footer), &Style::default()).unwrap();
        assert_eq!(section, SECTION, "\n{section}");
    }
}
