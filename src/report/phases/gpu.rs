//! The time of phases on the GPU, and what bounds them.

use super::{by_kind, filled, optional};
use crate::sections::clock_error;
use crate::table::{Column, Style, Table};
use rocshim_analysis::units::{count, percent, time};
use rocshim_analysis::{Evidence, Phase, PhaseGpu, PhaseGpuFamily, Phases};
use std::collections::BTreeSet;

/// Each phase's time on the GPU.
pub(super) fn times(phases: &Phases, style: &Style) -> Option<String> {
    let mut table = Table::new(&[
        Column::Right("begin"),
        Column::Right("request"),
        Column::Left("phase"),
        Column::Left("evidence"),
        Column::Right("busy"),
        Column::Missable("share"),
        Column::Right("not launched"),
        Column::Right("held"),
        Column::Missable("first token"),
        Column::Missable("busy a token"),
        Column::Missable("elapsed a token"),
        Column::Text("bound by"),
    ]);
    let mut notes = BTreeSet::new();
    for phase in &phases.phases {
        let Some(gpu) = &phase.gpu else { continue };
        let per_token = |ns: Option<f64>| ns.map_or("-".into(), |ns| time(ns.round() as u64));
        let first_token = phase.kind == rocshim_analysis::PhaseKind::Prompt && phase.request.is_some();
        table.row(vec![
            time(phase.begin_ns),
            optional(phase.request),
            phase.name().to_string(),
            gpu.evidence.to_string(),
            time(gpu.busy_ns),
            percent(gpu.busy_ns as f64 / gpu.elapsed_ns.max(1) as f64),
            time(gpu.not_launched_ns),
            time(gpu.held_ns),
            if first_token { time(gpu.span_ns) } else { "-".into() },
            per_token(gpu.busy_per_token_ns),
            per_token(gpu.elapsed_per_token_ns),
            bound(gpu),
        ]);
        notes.insert(match gpu.bound {
            Some(_) => format!("{} {}", gpu.bound_evidence, gpu.bound_why),
            None => {
                format!("{}: it does not hold, or is not known, that {}", gpu.bound_evidence, gpu.bound_why)
            }
        });
        if gpu.reported != gpu.executed {
            let (reported, executed) = (count(gpu.reported), count(gpu.executed));
            notes.insert(format!("{}: {reported} of {executed} kernels were reported", phase.name()));
        }
    }
    let mut remarks = vec![
        "from the entry of a pass's first launch to the end of its last command: busy (a command runs), not launched (none runs, and the call that asks for the next has not returned), held (none runs, although the next was launched)".to_owned(),
    ];
    remarks.extend(notes);
    let error =
        phases.phases.iter().filter_map(|phase| phase.gpu.as_ref()).map(|gpu| gpu.clock_error_ns).max();
    remarks.extend(error.map(clock_error));
    filled("Time on the GPU (as the HIP runtime reported it)", &table, style, &remarks)
}

fn bound(gpu: &PhaseGpu) -> String {
    match gpu.bound {
        Some(bound) if gpu.bound_evidence == Evidence::Inferred => bound.to_string(),
        _ => gpu.bound_evidence.to_string(),
    }
}

/// The time of each family's kernels, by kind of phase.
pub(super) fn families(phases: &Phases, style: &Style) -> Option<String> {
    let rows = |phase: &Phase| {
        let row = |row: &PhaseGpuFamily| (row.family, time(row.total_ns));
        phase.gpu.iter().flat_map(|gpu| gpu.families.iter().map(row)).collect()
    };
    let called = |family: &Option<&'static str>| family.unwrap_or("unresolved: no known family").to_owned();
    by_kind(phases, style, "Time on the GPU by family", Column::Text("family"), rows, called, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::testing::Text;

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
        let expected = "Time on the GPU by family\n   prompt  family\n  3.60 ms  mmvq\n";
        assert_eq!(families(&phases, &Style::default()).as_deref(), Some(expected));
    }
}
