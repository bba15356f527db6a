//! Code objects and library functions that not all runs used.

use super::{each, grouped, labels, own, standing, titled};
use crate::{
    names::function,
    section::section,
    table::{Column, Style},
};
use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{BySide, Comparison, Evidence, Presence, Seen};

pub(crate) fn code_objects(all: &Comparison, style: &Style) -> Option<String> {
    if all.code_objects.is_empty() {
        return None;
    }
    let labels = labels(all);
    let mut table =
        titled([each(&labels, Column::Right(""), ""), vec![own(Column::Left("code object"))]].concat());
    let rows = all.code_objects.iter().map(|row| {
        let has: Vec<bool> =
            row.sides.iter().map(|launches| launches.is_some_and(|launches| *launches > 0)).collect();
        (false, heading(&labels, &has, &row.versus), row)
    });
    for (heading, rows) in grouped(rows) {
        table.heading(heading);
        for row in rows {
            let mut cells: Vec<String> = row
                .sides
                .iter()
                .map(|launches| launches.map_or_else(|| "-".into(), |launches| count(*launches)))
                .collect();
            let doubt =
                if row.same == Evidence::Inferred { " (inferred to be the same, by its name)" } else { "" };
            cells.push(format!("{}{doubt}", row.object));
            table.row(cells);
        }
    }
    let remark = "launches in each run; -: not loaded there".to_string();
    section("Code objects that not all runs dispatched from", &table, style, &[remark])
}

pub(crate) fn functions(all: &Comparison, style: &Style) -> Option<String> {
    let labels = labels(all);
    let title = "Library functions that not all runs called";
    if all.functions.is_empty() {
        return None;
    }
    let mut table =
        titled([each(&labels, Column::Right(""), ""), vec![own(Column::Left("function"))]].concat());
    let rows = all.functions.iter().map(|row| {
        let presences = || row.versus.iter().flatten();
        let baseline = presences().any(|presence| matches!(presence.seen, Seen::Both | Seen::Gone));
        let others = presences().map(|presence| matches!(presence.seen, Seen::Both | Seen::New));
        let has: Vec<bool> = [baseline].into_iter().chain(others).collect();
        (false, heading(&labels, &has, &row.versus), (row, has))
    });
    for (heading, rows) in grouped(rows) {
        table.heading(heading);
        for (row, has) in rows {
            let calls = row.sides.iter().zip(&has).map(|(calls, called)| match (calls, called) {
                (Some(0), true) => "?".into(),
                (Some(calls), _) => count(*calls),
                (None, _) => "-".into(),
            });
            let mut cells: Vec<String> = calls.collect();
            cells.push(format!("{} of {}", function(&row.function), row.library.trim_end_matches(".so")));
            table.row(cells);
        }
    }
    let number = counted(all.functions.len() as u64, "function");
    let remark = format!("{number}; calls in each run; ?: called, but not counted; -: not hooked there");
    section(title, &table, style, &[remark])
}

fn heading(labels: &[&str], has: &[bool], versus: &BySide<Presence>) -> String {
    let presences: Vec<&Presence> = versus.iter().flatten().collect();
    standing(labels, has, &presences, "")
}
