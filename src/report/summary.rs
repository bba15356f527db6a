//! The page of `rocshim summary`: one sentence, then a section for each kind of thing that the
//! traces hold.

use super::{names, section::paragraph, sections, table::Style};
use rocshim_analysis::units::{count, counted, percent, time};
use rocshim_analysis::{ProcessRow, Summary, Totals};
use std::collections::BTreeSet;

/// The whole page.
pub fn summary(summary: &Summary, style: &Style) -> String {
    let mut page = String::new();
    for limit in limited(summary) {
        page.push_str(&paragraph(&limit, style));
    }
    page.push_str(&paragraph(&sentence(&summary.totals), style));
    for answer in [
        sections::ranks_sentence(summary),
        most_launched(summary),
        path(summary),
        called(summary),
        gpus(summary),
    ]
    .into_iter()
    .flatten()
    {
        page.push_str(&paragraph(&answer, style));
    }
    if let Some(phase) = &summary.phase {
        page.push_str(&paragraph(&format!("Only the phases `{phase}` of `rocshim phases`."), style));
    }
    // In this order; `true`: only with `all`.
    type Section = fn(&Summary, &Style) -> Option<String>;
    let sections: [(bool, &str, Section); 27] = [
        (false, "", sections::ranks),
        (false, "", sections::processes),
        (false, "", sections::families),
        (false, "", sections::kernels),
        (false, "", sections::gpu),
        (false, "", sections::products),
        (false, "", sections::transfers),
        (false, "", sections::queues),
        (true, "shares of the GPU's time", sections::shares),
        (false, "", sections::columns),
        (false, "", sections::graphs),
        (false, "", sections::gemms),
        (false, "", sections::sweeps),
        (false, "", sections::convolutions),
        (true, "other library calls", sections::spans),
        (true, "copies", sections::copies),
        (true, "waiting and ordering", sections::syncs),
        (true, "streams", sections::streams),
        (true, "threads", sections::threads),
        (true, "time between calls", sections::gaps),
        (true, "modules", sections::modules),
        (false, "", sections::fallback),
        (false, "", sections::code_objects),
        (false, "", sections::failures),
        (false, "", sections::losses),
        (false, "", sections::in_flight),
        (false, "", sections::libraries),
    ];
    let mut left_out = Vec::new();
    for (is_detail, name, section) in sections {
        let Some(text) = section(summary, style) else { continue };
        if is_detail && !style.all {
            left_out.push(name);
            continue;
        }
        page.push('\n');
        page.push_str(&text);
    }
    if !left_out.is_empty() {
        page.push_str(&format!(
            "\n{}",
            paragraph(&format!("With --all also: {}.", left_out.join(", ")), style)
        ));
    }
    for note in &summary.notes {
        page.push_str(&format!("\n{}", paragraph(&format!("not read: {note}"), style)));
    }
    page
}

/// Whether GEMMs ran fallback kernels: the question of those whose GPU has few kernels of its own.
fn path(summary: &Summary) -> Option<String> {
    let fallback = &summary.fallback;
    (fallback.products > 0).then(|| match fallback.kernels.is_empty() {
        true => format!("No fallback kernels: {} ({}).", fallback.evidence, fallback.why),
        false => format!("Fallback kernels: {} ({}).", fallback.why, fallback.evidence),
    })
}

/// What limits every statement of the page: traces that end early or are damaged.
fn limited(summary: &Summary) -> Vec<String> {
    let processes = &summary.processes;
    let cut: Vec<u32> = processes.iter().filter(|row| row.end == "cut").map(|row| row.pid).collect();
    let has_note = |row: &&ProcessRow| {
        row.notes.iter().any(|note| note.starts_with("limited: ") || note.contains("passed over"))
    };
    let damaged: Vec<u32> = processes.iter().filter(has_note).map(|row| row.pid).collect();
    let list = |pids: &[u32]| {
        let (of, more) = (pids.len().min(3), pids.len().saturating_sub(3));
        let shown = pids[..of].iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let processes = if pids.len() == 1 { "process" } else { "processes" };
        if more > 0 { format!("{processes} {shown} and {more} more") } else { format!("{processes} {shown}") }
    };
    let mut limits = Vec::new();
    if !cut.is_empty() {
        limits.push(format!(
            "Limited: the trace of {} is cut: what was not written yet is not known.",
            list(&cut)
        ));
    }
    if !damaged.is_empty() {
        limits.push(format!("Limited: not all that {} did could be read (notes below).", list(&damaged)));
    }
    limits
}

/// The families with most launches.
fn most_launched(summary: &Summary) -> Option<String> {
    let all = summary.totals.launches.max(1) as f64;
    let launched = summary.families.iter().filter(|row| row.launches > 0);
    let shown: Vec<String> = launched
        .take(3)
        .map(|row| format!("{} {}", names::family(row.of, row.family), percent(row.launches as f64 / all)))
        .collect();
    (!shown.is_empty()).then(|| format!("Most launched: {}.", shown.join(", ")))
}

/// How often each library was called.
fn called(summary: &Summary) -> Option<String> {
    let called = summary.libraries.iter().filter(|row| row.calls > 0);
    let called: Vec<String> =
        called.map(|row| format!("{} {}", row.library.trim_end_matches(".so"), count(row.calls))).collect();
    (!called.is_empty()).then(|| format!("Calls: {}.", called.join(", ")))
}

/// On what it ran: as HIP reported to the programs, else by the code objects whose kernels were
/// launched.
fn gpus(summary: &Summary) -> Option<String> {
    let list = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    if !summary.gpus.is_empty() {
        return Some(format!("On {}.", list(&summary.gpus)));
    }
    let dispatched = summary.code_objects.iter().filter(|row| row.launches > 0);
    let ran: BTreeSet<String> = dispatched.flat_map(|row| row.ran.iter().cloned()).collect();
    (!ran.is_empty())
        .then(|| format!("On {}, by the code objects whose kernels were launched (inferred).", list(&ran)))
}

/// The most important numbers in one sentence.
pub(crate) fn sentence(totals: &Totals) -> String {
    let mut launches =
        format!("{} of {}", counted(totals.launches, "launch"), counted(totals.kernels, "kernel"));
    if totals.graph_launches > 0 {
        let graphs = counted(totals.graph_launches, "graph launch");
        launches.push_str(&format!(" ({} of them by {graphs})", count(totals.by_graphs)));
    }
    if totals.trials > 0 {
        launches.push_str(&format!(" ({} of them autotuning trials)", count(totals.trials)));
    }
    let mut parts = vec![launches];
    parts.push(match totals.gemm_calls - totals.gemms {
        0 => counted(totals.gemms, "BLAS GEMM"),
        inner => format!(
            "{} ({} calls, {} inside another)",
            counted(totals.gemms, "BLAS GEMM"),
            count(totals.gemm_calls),
            count(inner)
        ),
    });
    parts.extend((totals.queries > 0).then(|| format!("{} workspace queries", count(totals.queries))));
    parts.push(counted(totals.convolutions, "convolution call"));
    parts.extend((totals.spans > 0).then(|| counted(totals.spans, "other library call")));
    parts.extend((totals.marks > 0).then(|| counted(totals.marks, "mark")));
    parts.push(format!("{} failed", count(totals.failed)));
    parts.push(format!("{} lost", count(totals.lost)));
    if totals.stopped_ns > 0 {
        parts.push(format!("not recorded for {}", time(totals.stopped_ns)));
    }
    if totals.in_flight > 0 {
        parts.push(format!("{} in flight at death", count(totals.in_flight)));
    }
    let who = match totals.processes {
        1 => "1 process".to_string(),
        many => format!("{} processes", count(many)),
    };
    format!("{who}: {}", parts.join(", "))
}

/// Two launches of one kernel (100 + 300 ns, the second one failing with 9), and a product
/// (1000 ns) that launched another kernel (600 ns): 1000 ns of launches in all.
#[cfg(test)]
pub(crate) const TRACE: &str = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog","-x"],"env":{},"host":"h","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}
{"type":"library","id":1,"path":"/opt/rocm/lib/libamdhip64.so.6"}
{"type":"library","id":2,"path":"/opt/rocm/lib/librocblas.so.4"}
{"type":"hook","id":0,"name":"hipLaunchKernel","of":"libamdhip64.so","point":"preload","state":"bound","library":1}
{"type":"hook","id":1,"name":"rocblas_gemm_ex","of":"librocblas.so","point":"preload","state":"bound","library":2}
{"type":"hook","id":2,"name":"miopenConvolutionForward","of":"libMIOpen.so","point":"preload","state":"armed"}
{"type":"code_object","id":1,"source":"fat_binary","path":"/usr/lib/libggml-hip.so","ordinal":30,"offset":4096,"bytes":2048,"targets":["gfx1100","gfx1201"]}
{"type":"code_object","id":2,"source":"fat_binary","path":"/usr/lib/libggml-hip.so","ordinal":31,"offset":8192,"bytes":2048,"targets":["gfx1100","gfx1201"]}
{"type":"code_object","id":3,"source":"memory","bytes":4096,"xxh3":"00ff","targets":["gfx1201"],"file":"/opt/rocm/lib/rocblas/library/TensileLibrary_fallback_gfx1201.hsaco","fallback":true}
{"type":"kernel","id":1,"name":"_Z3addIiEvPT_","demangled":"void add<int>(int*)","code_object":1}
{"type":"kernel","id":2,"name":"Cijk_Alik_Bljk_HHS_BH_MT64x64x8_SE_GSU4_ISA000_K1_KLS","code_object":3}
{"type":"launch","tid":7,"id":1,"t":1000,"dur":100,"hook":0,"kernel":1,"grid":[4,1,1],"block":[64,1,1]}
{"type":"launch","tid":7,"id":2,"t":2000,"dur":300,"hook":0,"status":9,"kernel":1,"grid":[4,2,1],"block":[64,1,1]}
{"type":"launch","tid":7,"id":4,"parent":3,"t":3200,"dur":600,"hook":0,"kernel":2,"grid":[8,8,1],"block":[256,1,1]}
{"type":"gemm","tid":7,"id":3,"t":3000,"dur":1000,"hook":1,"form":"plain","handle":"0x1","trans_a":"T","trans_b":"N","m":4096,"n":12,"k":512,"batch":1,"a":{"ptr":"0x1","type":"f16_r","ld":8},"b":{"ptr":"0x1","type":"f16_r","ld":8},"c":{"ptr":"0x1","type":"f16_r","ld":8},"d":{"ptr":"0x1","type":"f16_r","ld":8},"alpha":"0x1","beta":"0x2","compute":"f32_r","algo":"standard","solution":0}
{"type":"thread","tid":7,"produced":4,"written":4,"lost":0}
{"type":"footer","t":9000,"end":"exit"}"#;

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::testing::summary_of_text;
    use rocshim_reader::End;

    const PAGE: &str = "\
1 process: 3 launches of 2 kernels, 1 BLAS GEMM, 0 convolution calls, 1 failed, 0 lost
Most launched: unresolved: of no known family 66.7%, BLAS: Tensile product 33.3%.
Fallback kernels: 1 of 1 product launches (confirmed).
Calls: libamdhip64 3, librocblas 1.

Processes
  pid  events  launches  lost     span  end   program
    7       4         3     0  3.00 µs  exit  prog -x
      t/prog-7.ndjson

Kernel families, inferred from kernel names (host time)
  launches  kernels  failed   total  first calls   share  family                 what it does
         2        1       1  400 ns       100 ns  100.0%  unresolved             of no known family
         1        1       0  600 ns       600 ns       -  BLAS: Tensile product  matrix product of rocBLAS or hipBLASLt

Kernels (host time of the launch calls, not GPU time)
  calls  failed   total  first calls   share  grid x block  kernel
      2       1  400 ns       100 ns  100.0%     4 x 64 +1  add<int>
      1       0  600 ns       600 ns       -     8x8 x 256  Cijk_Alik_Bljk_HHS_BH_MT64x64x8…
  +n: n more shapes; the most common one is shown
  first calls: one in each process, which may load code; the columns after it are of the later calls
  no GPU times in this trace: `rocshim run --gpu-time` records them, as does `rocshim ctl PID gpu-time on`

GEMMs (host time; below each, the kernels launched inside the call)
  calls    total  first calls  op     m   n    k  batch  types       function
      1  1.00 µs      1.00 µs  TN  4096  12  512      1  f16 in f32  rocblas_gemm_ex
      launched 1 x Cijk_Alik_Bljk_HHS_BH_MT64x64x8… source any target split 4

Fallback kernels: 1 of 1 product launches
  calls  evidence   kernel                            file
      1  confirmed  Cijk_Alik_Bljk_HHS_BH_MT64x64x8…  TensileLibrary_fallback_gfx1201.hsaco

Code objects: 2 dispatched from, of 3 loaded
  launches  kernels      size  target    object
         1        1  4.00 KiB  gfx1201   TensileLibrary_fallback_gfx1201.hsaco
         1        1  2.00 KiB  one of 2  libggml-hip.so bundle 30 at 0x1000
  not dispatched from, limited (a caller that takes its functions with dlsym would not be seen): 1 of libggml-hip.so

Failed calls
  calls  function         returned
      1  hipLaunchKernel  9 hipErrorInvalidConfiguration

Coverage: was it called? (3 functions hooked)
  library      calls  evidence   why
  libamdhip64      3  confirmed  1 of 1 hooked functions called
  librocblas       1  confirmed  1 of 1 hooked functions called
  confirmed absent, not loaded in the process: libMIOpen
  `rocshim hooks TRACE` lists every function

With --all also: time between calls.
";

    #[test]
    fn the_page_tells_what_the_trace_holds() {
        let page = summary(&summary_of_text(TRACE, End::Footer), &Style::default());
        assert_eq!(page, PAGE, "\n{page}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [72, 80, 120] {
            let style = Style { width: Some(width), rows: Some(20), ..Style::default() };
            let page = summary(&summary_of_text(TRACE, End::Footer), &style);
            for line in page.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}
