//! Renders the pages of `rocshim compare`: differences between runs, and (`--observer`) the cost of
//! recording.

use super::{
    section::{Part, paragraph},
    sections::compared,
    table::Style,
};
use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{Comparison, OBSERVED, Observed, Speed};

/// Returns the whole page.
pub fn compare(all: &Comparison, style: &Style) -> String {
    let mut page = paragraph(&sentence(all), style);
    let sections = [
        compared::runs(all, style),
        compared::conditions(all, style),
        compared::ranks(all, style),
        compared::families(all, style),
        compared::kernels(all, style),
        compared::gpu(all, style),
        compared::gemms(all, style),
        compared::convolutions(all, style),
        compared::code_objects(all, style),
        compared::functions(all, style),
    ];
    for section in sections.into_iter().flatten() {
        page.push('\n');
        page.push_str(&section);
    }
    page
}

/// Returns the first sentence: what changed in each run relative to the baseline.
fn sentence(all: &Comparison) -> String {
    let baseline = &all.runs[0].run;
    let changes = all.runs.iter().enumerate().skip(1).map(|(run, row)| {
        let kernels = || all.kernels.iter().filter_map(|row| row.versus.get(run - 1));
        let calls =
            all.gemms.iter().map(|row| &row.versus).chain(all.convolutions.iter().map(|row| &row.versus));
        let changed = calls.filter(|versus| versus.get(run - 1).is_some_and(|call| call.is_change())).count();
        let speed = |speed| kernels().filter(|kernel| kernel.times.speed == speed).count() as u64;
        let new = kernels().filter(|kernel| kernel.is_new()).count() as u64;
        let gone = kernels().filter(|kernel| kernel.is_gone()).count() as u64;
        let changed = match changed {
            0 => "No GEMM or convolution".to_string(),
            1 => "1 GEMM or convolution".to_string(),
            many => format!("{} GEMMs or convolutions", count(many as u64)),
        };
        let (slower, faster) = (speed(Speed::Slower), speed(Speed::Faster));
        format!(
            "{changed} changed kernel or solver from {baseline} to {}. {} new, {} gone, {} slower, {} faster.",
            row.run,
            counted(new, "kernel"),
            count(gone),
            count(slower),
            count(faster)
        )
    });
    changes.collect::<Vec<_>>().join(" ")
}

/// Returns a sentence for each condition that holds.
pub fn failed_conditions(all: &Comparison) -> Vec<String> {
    let failed = all.conditions.iter().filter(|checked| checked.holds);
    failed
        .map(|checked| {
            let why =
                checked.why.as_ref().map(|why| format!(" ({}: {why})", checked.evidence)).unwrap_or_default();
            format!("failed: {}: {} has {}{why}", checked.condition, checked.run, checked.value_in_words())
        })
        .collect()
}

/// Returns the page of `--observer`.
pub fn observed(all: &Observed, style: &Style) -> String {
    let title = format!(
        "Tokens a second of {}, with the shim ({}) and without ({})",
        all.program, all.traced, all.untraced
    );
    let mut remarks: Vec<String> = Vec::new();
    for row in &all.tests {
        if !remarks.iter().any(|known| known == row.why) {
            remarks.push(row.why.into());
        }
    }
    Part::new(&OBSERVED, &all.tests).titled(title).remarks(remarks).even_empty(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::{ComparedRun, Condition, compare as compare_runs, testing::compared::*};

    /// A launches `both` ten times, one problem by a small tile, a product of m = 4 by `both`.
    fn a() -> ComparedRun {
        let small = "Cijk_Alik_Bljk_HHS_BH_MT32x32x8_SN_GSU1_ISA1100_KLA";
        let lines =
            [kernel(1, "both"), kernel(2, small), launches(1, 100, 1, &[10; 10]), launches(2, 200, 1, &[7])];
        run("A", &[lines.concat(), gemm(300, 4, -1, 1), conv(400, 91, "GemmFwdRest")])
    }

    /// B launches `both` twice as often, six times as long, the problem by a large tile, the
    /// product by that; it lost nine events.
    fn b() -> ComparedRun {
        let large = "Cijk_Alik_Bljk_HHS_BH_MT128x64x8_SN_GSU1_ISA1100_KLA";
        let lines =
            [kernel(1, "both"), kernel(2, large), launches(1, 100, 1, &[60; 20]), launches(2, 200, 1, &[9])];
        let gap = "{\"type\":\"gap\",\"tid\":7,\"t\":3,\"dur\":4,\"lost\":9,\"reason\":\"ring_full\"}\n"
            .to_string();
        run("B", &[lines.concat(), gemm(300, 4, -1, 2), conv(400, 85, "ConvDirectNaiveConvFwd"), gap])
    }

    const PAGE: &str = "\
2 GEMMs or convolutions changed kernel or solver from A to B. 1 kernel new, 1 gone, 1 slower, 0 faster.

Runs
  run  launches  kernels  host time  GEMMs  convs  fallback  failed  lost  traces
  A          12        2     112 ns      1      1         0       0     0  A.ndjson
      fallback: unresolved (of 11 launches the library is not known: its code object was never seen being loaded)
  B          22        2    1.21 µs      1      1         0       0     9  B.ndjson
      fallback: limited (9 events were lost)
      limited: 9 events were lost; more may have happened than is shown
  A is the baseline; fallback: launches from Tensile's fallback library

Conditions: the comparison fails where one holds
          condition           run                       is  evidence  why
  FAILED  launches > 1.5x     B    1.83x (22, baseline 12)  limited   B: 9 events were lost
  FAILED  slower_kernels > 0  B                          1  limited   B: 9 events were lost

Kernel families, inferred from kernel names (host time)
  A launches  B launches    B change  A total  B total  family
          11          20  +9 (1.82x)   105 ns  1.20 µs  unresolved: of no known family
           1           2  +1 (2.00x)     7 ns    14 ns  BLAS: Tensile product

Kernels (host time of the launch calls, not GPU time)
  A launches  B launches    B change       B takes  A median  B median  A total  B total  kernel
  ONLY IN B; not in A, confirmed absent
           -           2         new             -         -      5 ns        -    14 ns  Cijk_Alik_Bljk_HHS_BH_MT128x64x8…
      inferred (same problem): instead of Cijk_Alik_Bljk_HHS_BH_MT32x32x8…
  ONLY IN A; not in B, limited (9 events were lost)
           1           -        gone             -         -         -     7 ns        -  Cijk_Alik_Bljk_HHS_BH_MT32x32x8…
      inferred (same problem): B has instead Cijk_Alik_Bljk_HHS_BH_MT128x64x8…
  in both
          11          20  +9 (1.82x)  6.00x slower     10 ns     60 ns   105 ns  1.20 µs  both
  takes: the median of the calls but the first of each process, as a multiple of A's; too few: less than 8 calls in a run
  slower, faster: a Mann-Whitney U test gives q < 0.05 (p adjusted for all kernels by Benjamini and Hochberg), and the medians differ by at least 5 % and 50 ns
  the test compares the calls of these runs, whatever made them differ: repeat the runs to see how much the machine varies
  same problem: both names are Tensile's and say the same types, transposes and extras
  no GPU times of any run: `rocshim run --gpu-time` records them

GEMMs (host time; below each, the kernels launched inside the call)
  A calls  B calls  B change  A total  B total  op  m  n  k  batch  types       function
  in both, CHANGED solution or kernels
        1        1         =   100 ns   100 ns  TN  4  5  6      1  f16 in f32  rocblas_gemm_ex
      A: 1 x both
      B: 1 x Cijk_Alik_Bljk_HHS_BH_MT128x64x8…
      B: other kernels, limited (9 events were lost)

Convolutions (runs, host time; below each, the solvers and the kernels launched inside)
  A calls  B calls  B change  A total  B total  problem
  in both, CHANGED solver or kernels
        1        1         =     9 ns     9 ns  forward,
      A: 91 GemmFwdRest: unresolved: no launch was seen inside: it was a query, or the library launched from another thread or through a function that is not hooked
      B: 85 ConvDirectNaiveConvFwd: limited: 9 events were lost
      B: another choice, limited (9 events were lost)
  solver ids: confirmed; their names: inferred, from MIOpen's id table
";

    #[test]
    fn the_page_tells_what_differs_and_how_sure_that_is() {
        let conditions =
            ["launches > 1.5x", "slower_kernels > 0"].map(|text| Condition::parse(text).unwrap());
        let all = compare_runs(&[a(), b()], &conditions);
        let page = compare(&all, &Style::default());
        assert_eq!(page, PAGE, "\n{page}");
        assert_eq!(
            failed_conditions(&all),
            [
                "failed: launches > 1.5x: B has 1.83x (22, baseline 12) (limited: B: 9 events were lost)",
                "failed: slower_kernels > 0: B has 1 (limited: B: 9 events were lost)"
            ]
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let all = compare_runs(&[a(), b(), a()], &[Condition::parse("lost > 0").unwrap()]);
        for width in [100, 120] {
            let style = Style { width: Some(width), rows: Some(20), ..Style::default() };
            for line in compare(&all, &style).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}
