//! The page of `rocshim phases`.

mod gpu;

use super::{
    names,
    section::{paragraph, section},
    sections::missing_gpu_times,
    table::{Column, Style, Table},
};
use rocshim_analysis::units::{count, counted, range, time};
use rocshim_analysis::{Evidence, Phase, PhaseFamily, PhaseObject, Phases};
use rocshim_trace::file_name;
use std::collections::BTreeMap;

/// The whole page.
pub fn phases(phases: &Phases, style: &Style) -> String {
    let mut page = paragraph(&sentence(phases), style);
    let sections = [
        table_of_phases(phases, style),
        gpu::times(phases, style),
        table_of_passes(phases, style),
        gpu::families(phases, style),
        families(phases, style),
        libraries(phases, style),
        objects(phases, style),
        rules(phases, style),
        losses(phases, style),
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

/// A section, if its table has rows.
fn filled(title: &str, table: &Table, style: &Style, remarks: &[String]) -> Option<String> {
    if table.rows().is_empty() {
        return None;
    }
    section(title, table, style, remarks)
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

/// `46`, `1..8`, `512 x3, 276`.
fn columns(phase: &Phase) -> String {
    let one = |(least, most, passes): (u64, u64, u64)| {
        let range = range(least, most);
        if passes > 1 && phase.columns.len() > 1 { format!("{range} x{passes}") } else { range }
    };
    let parts = phase.columns.iter().map(|columns| one((columns.least, columns.most, columns.passes)));
    match phase.columns.len() {
        0 => "-".into(),
        1..=4 => parts.collect::<Vec<_>>().join(", "),
        more => format!("{}, … ({more})", parts.take(3).collect::<Vec<_>>().join(", ")),
    }
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or("-".into(), |value| value.to_string())
}

fn table_of_phases(phases: &Phases, style: &Style) -> Option<String> {
    let processes = phases.processes.len() > 1;
    let several_groups = phases.phases.iter().any(|phase| phase.stream_group > 0);
    let mut titles = vec![Column::Right("begin")];
    titles.extend(processes.then_some(Column::Right("process")));
    titles.extend(several_groups.then_some(Column::Missable("group")));
    titles.extend([
        Column::Right("request"),
        Column::Left("phase"),
        Column::Left("evidence"),
        Column::Right("passes"),
        Column::Left("ne11"),
        Column::Right("tokens"),
        Column::Missable("launches"),
        Column::Missable("a token"),
        Column::Missable("host"),
        Column::Missable("waits"),
        Column::Missable("between"),
        Column::Text("families"),
    ]);
    let mut table = Table::new(&titles);
    for phase in &phases.phases {
        let mut cells = vec![time(phase.begin_ns)];
        cells.extend(processes.then(|| optional(phase.pid)));
        cells.extend(several_groups.then(|| phase.stream_group.to_string()));
        cells.extend([
            optional(phase.request),
            phase.name().to_string(),
            phase.evidence.to_string(),
            count(phase.passes),
            columns(phase),
            phase.tokens.map_or("-".into(), count),
            count(phase.launches),
            phase.launches_per_token.map_or("-".into(), |launches| format!("{launches:.1}")),
            time(phase.host_ns),
            time(phase.wait_ns),
            time(phase.between_ns),
            in_short(phase),
        ]);
        table.row(cells);
    }
    let mut notes = vec!["host: in calls that do not wait; waits: in those that do; between: from the end of a pass to the next".to_string()];
    notes.extend(
        several_groups
            .then(|| "group: the streams on which one model runs, by a number in their process".into()),
    );
    notes.extend(missing_gpu_times(phases.kinds.iter().any(|kind| kind.gpu.is_some())));
    filled("Phases, in order of time (host time)", &table, style, &notes)
}

/// The families that show the path: GEMMs and attention.
fn in_short(phase: &Phase) -> String {
    let telling = |row: &&PhaseFamily| {
        row.is_product() || row.family.is_some_and(|family| family.ends_with("attention"))
    };
    let parts: Vec<String> = phase
        .families
        .iter()
        .filter(telling)
        .map(|row| format!("{} {}", row.family.unwrap_or_default(), count(row.launches)))
        .collect();
    if parts.is_empty() { "no GEMM".into() } else { parts.join(", ") }
}

fn table_of_passes(phases: &Phases, style: &Style) -> Option<String> {
    let mut table = Table::new(&[
        Column::Right("begin"),
        Column::Missable("process"),
        Column::Left("phase"),
        Column::Right("ne11"),
        Column::Right("outputs"),
        Column::Right("launches"),
        Column::Missable("host"),
        Column::Missable("waits"),
        Column::Missable("before"),
        Column::Text("families"),
    ]);
    for pass in &phases.passes {
        let range = pass.columns.map_or("-".into(), |columns| range(columns.least, columns.most));
        let parts: Vec<String> = pass
            .families
            .iter()
            .map(|row| format!("{} {}", row.family.unwrap_or("unresolved"), row.launches))
            .collect();
        table.row(vec![
            time(pass.begin_ns),
            pass.pid.to_string(),
            phases.phases[pass.phase].name().to_string(),
            range,
            optional(pass.outputs),
            count(pass.launches),
            time(pass.host_ns),
            time(pass.wait_ns),
            time(pass.between_ns),
            parts.join(", "),
        ]);
    }
    filled("Passes, in time", &table, style, &[])
}

/// A table with a column for each kind, from the cells that `rows` returns.
fn by_kind<K: Ord>(
    phases: &Phases,
    style: &Style,
    title: &str,
    last: Column,
    rows: impl Fn(&Phase) -> Vec<(K, String)>,
    called: impl Fn(&K) -> String,
    notes: &[String],
) -> Option<String> {
    const MOST: usize = 6;
    let kinds = &phases.kinds[..phases.kinds.len().min(MOST)];
    let mut columns = vec![Column::Right(""); kinds.len()];
    columns.push(last);
    let titles = kinds.iter().map(|kind| kind.name().to_string()).chain([last.title().to_string()]).collect();
    let mut table = Table::titled(&columns, titles);
    let mut cells: BTreeMap<K, Vec<String>> = BTreeMap::new();
    for (at, kind) in kinds.iter().enumerate() {
        for (key, cell) in rows(kind) {
            cells.entry(key).or_insert_with(|| vec!["0".into(); kinds.len()])[at] = cell;
        }
    }
    for (key, mut row) in cells {
        row.push(called(&key));
        table.row(row);
    }
    filled(title, &table, style, notes)
}

fn families(phases: &Phases, style: &Style) -> Option<String> {
    let rows = |phase: &Phase| {
        let row = |row: &PhaseFamily| ((row.of, row.family), count(row.launches));
        phase.families.iter().map(row).collect()
    };
    let called = |(of, family): &(Option<&'static str>, Option<&'static str>)| names::family(*of, *family);
    by_kind(phases, style, "Launches by family", Column::Text("family"), rows, called, &[])
}

fn libraries(phases: &Phases, style: &Style) -> Option<String> {
    let rows = |phase: &Phase| {
        let cell = |calls: u64, evidence: Evidence| match calls {
            0 => format!("0 {evidence}"),
            calls => count(calls),
        };
        let called = |library: &str| {
            phases
                .kinds
                .iter()
                .any(|kind| kind.libraries.iter().any(|row| row.library == library && row.calls > 0))
        };
        let rows = phase.libraries.iter().filter(|row| called(&row.library));
        rows.map(|row| (row.library.clone(), cell(row.calls, row.evidence))).collect()
    };
    let mut remarks: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for library in phases.libraries.iter().filter(|library| library.calls == 0) {
        let remark = format!("no call, {} ({})", library.evidence, library.why);
        remarks.entry(remark).or_default().push(&library.library);
    }
    let remarks: Vec<String> = remarks
        .into_iter()
        .map(|(remark, libraries)| format!("{remark}: {}", libraries.join(", ")))
        .collect();
    by_kind(phases, style, "Calls of libraries", Column::Left("library"), rows, String::clone, &remarks)
}

fn objects(phases: &Phases, style: &Style) -> Option<String> {
    let rows = |phase: &Phase| {
        let row = |row: &PhaseObject| {
            let file = row.file.as_deref().or(row.path.as_deref()).unwrap_or(match row.source.as_deref() {
                Some("memory") => "from memory",
                _ => "unresolved: its code object is not known",
            });
            let ordinal = row.ordinal.map_or(String::new(), |ordinal| format!(" bundle {ordinal}"));
            let target = row.target.as_deref().map_or(String::new(), |target| format!(" {target}"));
            (format!("{}{ordinal}{target}", file_name(file)), count(row.launches))
        };
        phase.code_objects.iter().map(row).collect()
    };
    by_kind(phases, style, "Launches by code object", Column::Left("code object"), rows, String::clone, &[])
}

/// The rule by which each kind was classified.
fn rules(phases: &Phases, style: &Style) -> Option<String> {
    let mut rules: BTreeMap<(&str, &str), (Evidence, u64)> = BTreeMap::new();
    for phase in &phases.phases {
        let rule = rules.entry((phase.kind.name(), phase.why)).or_insert((phase.evidence, 0));
        rule.1 += phase.passes;
    }
    let mut table = Table::new(&[
        Column::Left("phase"),
        Column::Left("evidence"),
        Column::Right("passes"),
        Column::Text("why"),
    ]);
    for ((kind, why), (evidence, passes)) in rules {
        table.row(vec![kind.into(), evidence.to_string(), count(passes), why.into()]);
    }
    filled("Why each phase was classified so", &table, style, &[])
}

fn losses(phases: &Phases, style: &Style) -> Option<String> {
    let mut table = Table::new(&[Column::Right("lost"), Column::Right("process"), Column::Text("reason")]);
    for loss in &phases.losses {
        table.row(vec![count(loss.lost), loss.pid.to_string(), loss.reason.to_string()]);
    }
    filled("Lost events", &table, style, &[])
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
}
