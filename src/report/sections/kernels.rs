//! The kernels, longest host time first.

use super::section;
use crate::{
    names::{tidy, to_tile},
    table::{Column, Style, Table},
};
use rocshim_analysis::units::{count, counted, dims, percent, time};
use rocshim_analysis::{KernelRow, Summary};
use std::collections::HashMap;

pub(crate) fn kernels(summary: &Summary, style: &Style) -> Option<String> {
    if summary.kernels.is_empty() {
        return None;
    }
    let by_graphs = summary.totals.by_graphs > 0;
    let trials = summary.totals.trials > 0;
    let swept = summary.totals.swept > 0;
    let captured = summary.totals.captured > 0;
    let failed = summary.kernels.iter().any(|row| row.failed > 0);
    let mut columns = vec![Column::Right(if by_graphs { "launches" } else { "calls" })];
    columns.extend(by_graphs.then_some(Column::Right("by graphs")));
    columns.extend(trials.then_some(Column::Right("trials")));
    columns.extend(swept.then_some(Column::Right("in a row")));
    columns.extend(captured.then_some(Column::Right("captured")));
    columns.extend(failed.then_some(Column::Right("failed")));
    columns.extend([
        Column::Right("total"),
        Column::Right("share"),
        Column::Right("grid x block"),
        Column::Missable("mean"),
        Column::Missable("first"),
        Column::Missable("last"),
        Column::Left("kernel"),
    ]);
    let mut table = Table::new(&columns);
    let names: Vec<Name> =
        summary.kernels.iter().map(|row| (row.name.as_str(), row.demangled.as_deref())).collect();
    for (row, label) in summary.kernels.iter().zip(labels(&names, style)) {
        let mut cells = vec![count(row.launches)];
        cells.extend(by_graphs.then(|| count(row.by_graphs)));
        cells.extend(trials.then(|| count(row.trials)));
        cells.extend(swept.then(|| count(row.swept)));
        cells.extend(captured.then(|| count(row.captured)));
        cells.extend(failed.then(|| count(row.failed)));
        cells.extend([
            time(row.total_ns),
            percent(row.share),
            shape(row),
            time(row.total_ns / calls(row).max(1)),
            row.first_ns.map_or_else(|| "-".into(), time),
            row.last_ns.map_or_else(|| "-".into(), time),
            label,
        ]);
        table.row(cells);
    }
    let mut remarks = Vec::new();
    if summary.kernels.iter().any(|row| row.shapes > 1) {
        remarks.push("+n: n more shapes; the most common one is shown".to_string());
    }
    if summary.totals.processes > 1 {
        remarks.push("first, last: since the first process began to record".to_string());
    }
    if by_graphs {
        remarks
            .push("by graphs: launches made by graph launches, which have no call of their own".to_string());
    }
    if trials {
        remarks.push("trials: launches of a library's search for its fastest kernel (autotuning)".into());
    }
    if swept {
        remarks.push("in a row: launches that seem to be trials by the program itself, see below".into());
    }
    if captured {
        remarks
            .push("captured: calls recorded into a graph; they took time and launched nothing".to_string());
    }
    let unlisted = summary.totals.unlisted_graph_launches;
    if unlisted > 0 {
        remarks.push(format!(
            "limited: the kernels of {} are not known and not counted here",
            counted(unlisted, "graph launch")
        ));
    }
    let in_doubt = summary.totals.launches_in_doubt;
    if in_doubt > 0 {
        remarks.push(format!(
            "limited: {} of the captured calls came after their capture had failed to end, and may have launched",
            count(in_doubt)
        ));
    }
    let unnamed = summary.totals.unnamed_launches;
    if unnamed > 0 {
        remarks.push(format!(
            "unresolved: {} launches have no name, because the creation of their handle was not seen",
            count(unnamed)
        ));
    }
    remarks.extend(missing_gpu_times(summary.gpu.is_some()));
    section("Kernels (host time of the launch calls, not GPU time)", &table, style, &remarks)
}

/// Launch calls: those that launched and those that were captured.
fn calls(row: &KernelRow) -> u64 {
    row.launches - row.by_graphs + row.captured
}

fn shape(row: &KernelRow) -> String {
    let shape = format!("{} x {}", dims(row.shape.grid), dims(row.shape.block));
    if row.shapes > 1 { format!("{shape} +{}", row.shapes - 1) } else { shape }
}

/// How to get GPU times, for a page of traces without them.
pub(crate) fn missing_gpu_times(has_them: bool) -> Option<String> {
    let how = "no GPU times in this trace: `rocshim run --gpu-time` records them, as does `rocshim ctl PID gpu-time on`";
    (!has_them).then(|| how.to_owned())
}

/// A kernel's name as it is shown.
pub(crate) fn label(name: &str, demangled: Option<&str>, style: &Style) -> String {
    let readable = demangled.unwrap_or(name);
    match (style.full_names, to_tile(name)) {
        (true, _) => readable.into(),
        (false, Some(short)) => format!("{short}…"),
        (false, None) => tidy(readable).into(),
    }
}

/// A symbol, and the name as people write it, where that differs.
pub(super) type Name<'a> = (&'a str, Option<&'a str>);

/// The names of all rows; two kernels that differ only in what is usually left out keep it: of a
/// Tensile product, those parameters that not all of them have.
pub(super) fn labels(names: &[Name], style: &Style) -> Vec<String> {
    let label = |(name, demangled): Name| label(name, demangled, style);
    let mut alike: HashMap<String, Vec<&str>> = HashMap::new();
    for name in names {
        alike.entry(label(*name)).or_default().push(name.0);
    }
    names
        .iter()
        .map(|name| match label(*name) {
            short if alike[&short].len() == 1 => short,
            short => own_parameters(name.0, &alike[&short])
                .map_or_else(|| name.1.unwrap_or(name.0).to_string(), |own| short + &own),
        })
        .collect()
}

/// The parameters in a Tensile kernel's name that the others lack; `None` where there are none.
fn own_parameters(name: &str, alike: &[&str]) -> Option<String> {
    to_tile(name)?;
    let lacks = |other: &str, word: &str| !other.split('_').any(|known| known == word);
    let own: Vec<&str> =
        name.split('_').filter(|word| alike.iter().any(|other| lacks(other, word))).collect();
    (!own.is_empty()).then(|| own.join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(names: &[&str]) -> Vec<String> {
        labels(&names.iter().map(|name| (*name, None)).collect::<Vec<_>>(), &Style::default())
    }

    #[test]
    fn products_of_one_tile_are_told_apart_by_what_they_do_not_share() {
        let [one, other] =
            ["Cijk_Ailk_Bljk_SB_MT64x64x8_SN_TLDS1_VW4", "Cijk_Ailk_Bljk_SB_MT64x64x8_SN_TLDS2_VW4"];
        assert_eq!(labelled(&[one]), ["Cijk_Ailk_Bljk_SB_MT64x64x8…"]);
        assert_eq!(
            labelled(&[one, other]),
            ["Cijk_Ailk_Bljk_SB_MT64x64x8…TLDS1", "Cijk_Ailk_Bljk_SB_MT64x64x8…TLDS2"]
        );
        // One that has nothing that the other lacks.
        let longer = format!("{one}_PGR2");
        assert_eq!(
            labelled(&[one, &longer]),
            [one.to_string(), "Cijk_Ailk_Bljk_SB_MT64x64x8…PGR2".to_string()]
        );
    }
}
