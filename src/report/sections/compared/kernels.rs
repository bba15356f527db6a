//! Kernels and families of the runs.

use super::{KernelLabels, labels, standing};
use crate::{section::Part, table::Style};
use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{
    COMPARED_FAMILIES, COMPARED_GPU, COMPARED_KERNELS, COUNTERPART_RULES, ComparedKernel, Comparison,
    LEAST_CALLS, LEAST_EFFECT,
};

const NO_GPU_TIMES: &str = "no GPU times of any run: `rocshim run --gpu-time` records them";

pub(crate) fn kernels(all: &Comparison, style: &Style) -> Option<String> {
    let (labels, names) = (labels(all), KernelLabels::of(all, style));
    let is_everywhere = |row: &ComparedKernel| has_run(row).iter().all(|ran| *ran);
    Part::new(&COMPARED_KERNELS, &all.kernels)
        .runs(&labels)
        .under(|row| {
            let others = counterparts(row, &labels[1..], |name| names.get(name, style));
            [trials(row, &labels), others].concat()
        })
        .grouped(|row| (is_everywhere(row), heading(&labels, row)))
        .remarks(remarks(all, labels[0]))
        .remarks(all.runs.iter().all(|run| run.gpu_ns.is_none()).then(|| NO_GPU_TIMES.to_owned()))
        .section(style)
}

/// The same kernels by their time on the GPU; nothing where no run has any.
pub(crate) fn gpu(all: &Comparison, style: &Style) -> Option<String> {
    let missing =
        all.runs.iter().filter(|run| run.gpu_ns.is_none()).map(|run| {
            format!("unresolved: no GPU times of {}: `rocshim run --gpu-time` records them", run.run)
        });
    let has_times = |row: &&ComparedKernel| row.runs.iter().flatten().any(|cell| cell.gpu_calls > 0);
    let part = Part::new(&COMPARED_GPU, all.kernels.iter().filter(has_times)).runs(&labels(all));
    let is_timed = all.runs.iter().any(|run| run.gpu_ns.is_some());
    is_timed.then(|| part.remarks(missing).even_empty(style))
}

/// Whether a launch of it succeeded, in each run.
fn has_run(row: &ComparedKernel) -> Vec<bool> {
    row.runs.iter().map(|cell| cell.is_some_and(|cell| cell.ran > 0)).collect()
}

fn heading(labels: &[&str], row: &ComparedKernel) -> String {
    let has = has_run(row);
    if has.iter().all(|ran| !ran) {
        return "IN NONE: each launch failed".into();
    }
    let presences: Vec<_> = row.versus.iter().flatten().map(|change| &change.presence).collect();
    standing(labels, &has, &presences, "")
}

/// How many of the launches were autotuning trials.
fn trials(row: &ComparedKernel, labels: &[&str]) -> Vec<String> {
    let differs = labels.iter().zip(row.runs.iter());
    differs
        .filter_map(|(label, cell)| {
            let cell = cell.filter(|cell| cell.trials > 0)?;
            Some(format!("{label}: {}", trials_of(cell.trials, cell.launches)))
        })
        .collect()
}

/// `3 of 12 launches were autotuning trials`.
fn trials_of(trials: u64, launches: u64) -> String {
    match (trials, launches) {
        (1, 1) => "the only launch was an autotuning trial".into(),
        (all, launches) if all == launches => format!("all {} launches were autotuning trials", count(all)),
        (1, _) => format!("1 of {} was an autotuning trial", counted(launches, "launch")),
        _ => format!("{} of {} were autotuning trials", count(trials), counted(launches, "launch")),
    }
}

/// The kernel that seems to replace one that a run lacks.
fn counterparts(row: &ComparedKernel, others: &[&str], name: impl Fn(&str) -> String) -> Vec<String> {
    let differs = others.iter().zip(row.versus.iter().flatten());
    differs
        .filter_map(|(run, differs)| {
            let instead = differs.counterpart.as_ref()?;
            let name = name(&instead.name);
            let place = if differs.is_gone() { format!("{run} has instead") } else { "instead of".into() };
            Some(format!("{} ({}): {place} {name}", instead.evidence, instead.rule))
        })
        .collect()
}

fn remarks(all: &Comparison, baseline: &str) -> Vec<String> {
    let mut remarks = vec![
        format!("takes: the median of the calls but the first of each process, as a multiple of {baseline}'s; too few: less than {LEAST_CALLS} calls in a run"),
        format!(
            "slower, faster: a Mann-Whitney U test gives q < 0.05 (p adjusted for all kernels by Benjamini and Hochberg), and the \
             medians differ by at least {LEAST_EFFECT}"
        ),
        "the test compares the calls of these runs, whatever made them differ: repeat the runs to see how much the machine varies".into(),
    ];
    let counterparts = || {
        let versus = all.kernels.iter().flat_map(|row| row.versus.iter().flatten());
        versus.filter_map(|differs| differs.counterpart.as_ref())
    };
    for (rule, why) in COUNTERPART_RULES {
        remarks.extend(counterparts().any(|differs| differs.rule == rule).then(|| format!("{rule}: {why}")));
    }
    if all.runs.iter().any(|run| run.totals.by_graphs > 0) {
        let graphs =
            "Kernels that graphs launch have no call of their own: they count as launches, without a time.";
        remarks.push(graphs.into());
    }
    remarks
}

pub(crate) fn families(all: &Comparison, style: &Style) -> Option<String> {
    let is_known = all.families.iter().any(|row| row.family.is_some());
    is_known.then(|| Part::new(&COMPARED_FAMILIES, &all.families).runs(&labels(all)).section(style))?
}
