//! The page of `rocshim phases`.

use super::{
    section::{Part, paragraph},
    sections::{clock_error, missing_gpu_times},
    table::Style,
};
use rocshim_analysis::table::Table;
use rocshim_analysis::units::{count, counted, range};
use rocshim_analysis::{
    FAMILIES_BY_KIND, GPU_FAMILIES_BY_KIND, GPU_PHASES, KIND_RULES, KindsRow, LIBRARIES_BY_KIND, LOSSES,
    OBJECTS_BY_KIND, PASSES, PHASES, Phase, Phases,
};
use std::collections::{BTreeMap, BTreeSet};

/// The whole page.
pub fn phases(phases: &Phases, style: &Style) -> String {
    let mut page = paragraph(&sentence(phases), style);
    let kinds = |table, rows: Vec<KindsRow>| by_kind(phases, table, &rows).section(style);
    let sections = [
        table_of_phases(phases, style),
        times(phases, style),
        Part::new(&PASSES, &phases.passes).section(style),
        kinds(&GPU_FAMILIES_BY_KIND, phases.gpu_families_by_kind()),
        kinds(&FAMILIES_BY_KIND, phases.families_by_kind()),
        libraries(phases, style),
        kinds(&OBJECTS_BY_KIND, phases.objects_by_kind()),
        Part::new(&KIND_RULES, &phases.kind_rules()).section(style),
        Part::new(&LOSSES, &phases.losses).section(style),
    ];
    for section in sections.into_iter().flatten() {
        page.push('\n');
        page.push_str(&section);
    }
    for note in &phases.notes {
        page.push('\n');
        page.push_str(&paragraph(&format!("not read: {note}"), style));
    }
    page
}

fn sentence(phases: &Phases) -> String {
    if phases.phases.is_empty() {
        return "No kernel was launched.".into();
    }
    let kinds = phases.kinds.iter().map(|kind| {
        let passes = if kind.passes == 1 { "pass" } else { "passes" };
        format!("{} {} {passes}{}", count(kind.passes), kind.name(), taken(kind))
    });
    let processes = counted(phases.processes.len() as u64, "process");
    let lost: u64 = phases.losses.iter().map(|row| row.lost).sum();
    let lost = if lost > 0 { format!(" Limited: {} lost.", counted(lost, "event")) } else { String::new() };
    format!("{} in {processes}.{lost}", kinds.collect::<Vec<_>>().join(", "))
}

/// ` (2..512 columns: mmq, mmvq)`: the columns and GEMM kernels of a kind, those of most columns
/// first.
fn taken(kind: &Phase) -> String {
    let least = kind.columns.iter().map(|columns| columns.least).min();
    let most = kind.columns.iter().map(|columns| columns.most).max();
    let columns = least.zip(most).map(|(least, most)| match (least, most) {
        (1, 1) => "1 column".to_string(),
        (least, most) => format!("{} columns", range(least, most)),
    });
    let families: Vec<&str> =
        kind.families.iter().filter(|row| row.is_product()).filter_map(|row| row.family).collect();
    let families = (!families.is_empty()).then(|| families.join(", "));
    let words: Vec<String> = columns.into_iter().chain(families).collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(": ")) }
}

fn table_of_phases(phases: &Phases, style: &Style) -> Option<String> {
    let is_grouped = phases.phases.iter().any(|phase| phase.stream_group > 0);
    let group = "group: the streams on which one model runs, by a number in their process";
    Part::new(&PHASES, &phases.phases)
        .remark("host: in calls that do not wait; waits: in those that do; between: from the end of a pass to the next")
        .remarks(is_grouped.then(|| group.into()))
        .remarks(missing_gpu_times(phases.kinds.iter().any(|kind| kind.gpu.is_some())))
        .section(style)
}

/// A table with a column for each of the first kinds.
fn by_kind<'a>(
    phases: &'a Phases,
    table: &'static Table<KindsRow>,
    rows: &'a [KindsRow],
) -> Part<'a, KindsRow> {
    const MOST: usize = 6;
    Part::new(table, rows).runs(&phases.kinds.iter().take(MOST).map(Phase::name).collect::<Vec<_>>())
}

fn libraries(phases: &Phases, style: &Style) -> Option<String> {
    let mut remarks: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for library in phases.libraries.iter().filter(|library| library.calls == 0) {
        let remark = format!("no call, {} ({})", library.evidence, library.why);
        remarks.entry(remark).or_default().push(&library.library);
    }
    let remarks =
        remarks.into_iter().map(|(remark, libraries)| format!("{remark}: {}", libraries.join(", ")));
    by_kind(phases, &LIBRARIES_BY_KIND, &phases.libraries_by_kind()).remarks(remarks).section(style)
}

/// Each phase's time on the GPU.
fn times(phases: &Phases, style: &Style) -> Option<String> {
    let mut notes = BTreeSet::new();
    for (name, gpu) in phases.phases.iter().filter_map(|phase| Some((phase.name(), phase.gpu.as_ref()?))) {
        notes.insert(match gpu.bound {
            Some(_) => format!("{} {}", gpu.bound_evidence, gpu.bound_why),
            None => {
                format!("{}: it does not hold, or is not known, that {}", gpu.bound_evidence, gpu.bound_why)
            }
        });
        if gpu.reported != gpu.executed {
            let (reported, executed) = (count(gpu.reported), count(gpu.executed));
            notes.insert(format!("{name}: {reported} of {executed} kernels were reported"));
        }
    }
    let timed = phases.phases.iter().filter(|phase| phase.gpu.is_some());
    let error = timed.clone().filter_map(|phase| phase.gpu.as_ref()).map(|gpu| gpu.clock_error_ns).max();
    Part::new(&GPU_PHASES, timed)
        .remark("from the entry of a pass's first launch to the end of its last command: busy (a command runs), not launched (none runs, and the call that asks for the next has not returned), held (none runs, although the next was launched)")
        .remarks(notes)
        .remarks(error.map(clock_error))
        .section(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::testing::Text;

    #[test]
    fn a_page_of_phases() {
        // Call N is entered at 100 N and takes 10. A prompt of five columns: calls 1 (a norm) to 4,
        // the copy 5, the wait 6. Two tokens: 7 to 12 and 13 to 18.
        let mut text = Text::new(0);
        text.pass(&[5, 5, 1]);
        (0..2).for_each(|_| text.pass(&[1, 1, 1]));
        let page = phases(&text.phases(Vec::new()), &Style::default());
        // The prompt: 4 launches of 5 tokens are 0.8 a token; 5 calls of 10 ns, and a wait of 10.
        // Decode begins with call 7; 8 launches of 2 tokens; 10 calls; from the end of 12 at 1210
        // to 13 at 1300 are 90. Calls of HIP: 6 and 12.
        let expected = "\
1 prompt pass (5 columns: mmvq), 2 decode passes (1 column: mmvq) in 1 process.

Phases, in order of time (host time)
   begin  request  phase   evidence  passes  ne11  tokens  launches  a token    host  waits  between  families
  100 ns        1  prompt  inferred       1  5          5         4      0.8   50 ns  10 ns     0 ns  mmvq 3
  700 ns        1  decode  inferred       2  1          2         8      4.0  100 ns  20 ns    90 ns  mmvq 6
  host: in calls that do not wait; waits: in those that do; between: from the end of a pass to the next
  no GPU times in this trace: `rocshim run --gpu-time` records them, as does `rocshim ctl PID gpu-time on`

Passes, in time
    begin  process  phase   ne11  outputs  launches   host  waits  before  families
   100 ns        7  prompt     5        1         4  50 ns  10 ns    0 ns  mmvq 3, norm 1
   700 ns        7  decode     1        1         4  50 ns  10 ns   90 ns  mmvq 3, norm 1
  1.30 µs        7  decode     1        1         4  50 ns  10 ns   90 ns  mmvq 3, norm 1

Launches by family
  prompt  decode  family
       3       6  ggml: mmvq
       1       2  ggml: norm

Calls of libraries
  prompt  decode  library
       6      12  libamdhip64.so
  no call, confirmed absent (not loaded in the process): libhipblas.so

Launches by code object
  prompt  decode  code object
       4       8  libggml-hip.so bundle 30 gfx1100

Why each phase was classified so
  phase   evidence  passes  why
  decode  inferred       2  every GEMM has one column: one token
  prompt  inferred       1  the last GEMM has fewer columns than the others: only the last positions are needed
";
        assert_eq!(page, expected);
    }

    #[test]
    fn the_time_on_the_gpu_has_a_table_with_its_rule() {
        let mut text = Text::new(0);
        text.ask_for_gpu_times();
        text.pass(&[5, 5, 1]);
        (1..=4).for_each(|id| text.ran(1, id, 2, 1_000_000 * id, 900_000));
        let phases = text.phases(Vec::new());
        let expected = "\
Time on the GPU (as the HIP runtime reported it)
   begin  request  phase   evidence      busy  share  not launched     held  first token  busy a token  elapsed a token  bound by
  100 ns        1  prompt  confirmed  3.60 ms  73.5%         10 ns  1.30 ms      4.90 ms        720 µs           980 µs  mixed
  from the entry of a pass's first launch to the end of its last command: busy (a command runs), not launched (none runs, and the call that asks for the next has not returned), held (none runs, although the next was launched)
  inferred mixed: neither the GPU, nor the launches, nor waits on the GPU take most of the time
  a begin on the GPU is uncertain by 5.00 µs against host times, which `rocshim help gpu-time` explains
";
        assert_eq!(times(&phases, &Style::default()).as_deref(), Some(expected));
        let rows = phases.gpu_families_by_kind();
        let page = by_kind(&phases, &GPU_FAMILIES_BY_KIND, &rows).even_empty(&Style::default());
        let expected = "Time on the GPU by family\n   prompt  family\n  3.60 ms  mmvq\n";
        assert_eq!(page, expected);
    }
}
