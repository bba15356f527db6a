//! Kernels and families of the runs.

use super::{Names, change, each, grouped, labels, multiple, own, standing, titled};
use crate::{
    names,
    section::section,
    table::{Column, Style},
};
use rocshim_analysis::units::{count, counted, time};
use rocshim_analysis::{
    COUNTERPART_RULES, ComparedFamily, ComparedKernel, Comparison, KernelCell, KernelTest, LEAST_CALLS, Seen,
    Speed,
};

pub(crate) fn kernels(all: &Comparison, style: &Style) -> Option<String> {
    if all.kernels.is_empty() {
        return None;
    }
    let labels = labels(all);
    let others = &labels[1..];
    let names = Names::of(all, style);
    let columns = [
        each(&labels, Column::Right(""), "launches"),
        each(others, Column::Right(""), "change"),
        each(others, Column::Right(""), "takes"),
        each(&labels, Column::Missable(""), "median"),
        each(&labels, Column::Missable(""), "total"),
        vec![own(Column::Left("kernel"))],
    ];
    let mut table = titled(columns.concat());
    let rows = all
        .kernels
        .iter()
        .map(|row| (row.sides.iter().all(|cell| cell.is_some()), heading(&labels, row), row));
    for (heading, rows) in grouped(rows) {
        table.heading(heading);
        for row in rows {
            table.row_with(
                cells(row, names.get(&row.name, style)),
                [trials(row, &labels), counterparts(row, others, |name| names.get(name, style))].concat(),
            );
        }
    }
    section("Kernels (host time of the launch calls, not GPU time)", &table, style, &remarks(all, labels[0]))
}

/// The same kernels by their time on the GPU; nothing where no run has any.
pub(crate) fn gpu(all: &Comparison, style: &Style) -> Option<String> {
    if all.sides.iter().all(|side| side.gpu_ns.is_none()) {
        return None;
    }
    let labels = labels(all);
    let names = Names::of(all, style);
    let columns = [
        each(&labels, Column::Right(""), "calls"),
        each(&labels[1..], Column::Right(""), "takes"),
        each(&labels, Column::Right(""), "median"),
        each(&labels, Column::Missable(""), "total"),
        vec![own(Column::Left("kernel"))],
    ];
    let mut table = titled(columns.concat());
    let dash = || "-".to_string();
    let on_gpu = |cell: &&KernelCell| cell.gpu_calls > 0;
    for row in all.kernels.iter().filter(|row| row.sides.iter().flatten().any(|cell| on_gpu(&cell))) {
        let cells = || row.sides.iter().map(|cell| cell.filter(on_gpu));
        let mut texts: Vec<String> =
            cells().map(|cell| cell.map_or_else(dash, |cell| count(cell.gpu_calls))).collect();
        texts.extend(row.versus.iter().flatten().map(|differs| takes(&differs.gpu)));
        texts.extend(cells().map(|cell| cell.and_then(|cell| cell.gpu_median_ns).map_or_else(dash, time)));
        texts.extend(cells().map(|cell| cell.map_or_else(dash, |cell| time(cell.gpu_total_ns))));
        texts.push(names.get(&row.name, style));
        table.row(texts);
    }
    let missing: Vec<String> = all
        .sides
        .iter()
        .filter(|side| side.gpu_ns.is_none())
        .map(|side| {
            format!("unresolved: no GPU times of {}: `rocshim run --gpu-time` records them", side.side)
        })
        .collect();
    section("Kernels on the GPU (as the HIP runtime reported them; the same test)", &table, style, &missing)
}

fn heading(labels: &[&str], row: &ComparedKernel) -> String {
    let has: Vec<bool> = row.sides.iter().map(|cell| cell.is_some()).collect();
    let presences: Vec<_> = row.versus.iter().flatten().map(|change| &change.presence).collect();
    standing(labels, &has, &presences, "")
}

fn cells(row: &ComparedKernel, name: String) -> Vec<String> {
    let dash = || "-".to_string();
    let side = || row.sides.iter();
    let versus = || row.versus.iter().flatten();
    let mut cells: Vec<String> =
        side().map(|cell| cell.map_or_else(dash, |cell| count(cell.launches))).collect();
    cells.extend(versus().map(|differs| match differs.presence.seen {
        Seen::Neither => dash(),
        _ => change(differs.launches, differs.launches_ratio),
    }));
    cells.extend(versus().map(|differs| takes(&differs.times)));
    cells.extend(side().map(|cell| cell.and_then(|cell| cell.median_ns).map_or_else(dash, time)));
    cells.extend(side().map(|cell| cell.map_or_else(dash, |cell| time(cell.total_ns))));
    cells.push(name);
    cells
}

/// How long its calls take, as a multiple of the baseline's.
fn takes(times: &KernelTest) -> String {
    let ratio = times.median_ratio.map(multiple).unwrap_or_default();
    match times.speed {
        Speed::Slower => format!("{ratio} slower"),
        Speed::Faster => format!("{ratio} faster"),
        Speed::NoDifference => "no difference".into(),
        Speed::TooFewCalls => "too few calls".into(),
        Speed::NotTimed => "-".into(),
    }
}

/// How many of the launches were autotuning trials.
fn trials(row: &ComparedKernel, labels: &[&str]) -> Vec<String> {
    let differs = labels.iter().zip(row.sides.iter());
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
        .filter_map(|(side, differs)| {
            let instead = differs.counterpart.as_ref()?;
            let name = name(&instead.name);
            let place = if differs.is_gone() { format!("{side} has instead") } else { "instead of".into() };
            Some(format!("{} ({}): {place} {name}", instead.evidence, instead.rule))
        })
        .collect()
}

fn remarks(all: &Comparison, baseline: &str) -> Vec<String> {
    let mut remarks = vec![
        format!("takes: the median of the calls, as a multiple of {baseline}'s; too few: less than {LEAST_CALLS} calls in a run"),
        "slower, faster: a Mann-Whitney U test gives q < 0.05 (p adjusted for all kernels by Benjamini and Hochberg), and the \
         medians lie in different buckets of 1.6%"
            .into(),
        "the test compares the calls of these runs, whatever made them differ: repeat the runs to see how much the machine varies".into(),
    ];
    let counterparts = || {
        let versus = all.kernels.iter().flat_map(|row| row.versus.iter().flatten());
        versus.filter_map(|differs| differs.counterpart.as_ref())
    };
    for (rule, why) in COUNTERPART_RULES {
        remarks.extend(counterparts().any(|differs| differs.rule == rule).then(|| format!("{rule}: {why}")));
    }
    if all.sides.iter().any(|side| side.totals.by_graphs > 0) {
        let graphs =
            "Kernels that graphs launch have no call of their own: they count as launches, without a time.";
        remarks.push(graphs.into());
    }
    remarks
}

pub(crate) fn families(all: &Comparison, style: &Style) -> Option<String> {
    if all.families.iter().all(|row| row.family.is_none()) {
        return None;
    }
    let labels = labels(all);
    let columns = [
        each(&labels, Column::Right(""), "launches"),
        each(&labels[1..], Column::Right(""), "change"),
        each(&labels, Column::Missable(""), "total"),
        vec![own(Column::Left("family"))],
    ];
    let mut table = titled(columns.concat());
    for row in &all.families {
        table.row(family(row));
    }
    section("Kernel families, inferred from kernel names (host time)", &table, style, &[])
}

fn family(row: &ComparedFamily) -> Vec<String> {
    let dash = || "-".to_string();
    let mut cells: Vec<String> =
        row.sides.iter().map(|cell| cell.map_or_else(dash, |cell| count(cell.launches))).collect();
    cells.extend(row.versus.iter().flatten().map(|differs| change(differs.launches, differs.launches_ratio)));
    cells.extend(row.sides.iter().map(|cell| cell.map_or_else(dash, |cell| time(cell.total_ns))));
    cells.push(names::family(row.of, row.family));
    cells
}
