//! Code objects and library functions that not all runs used.

use super::{labels, standing};
use crate::{section::Part, table::Style};
use rocshim_analysis::units::counted;
use rocshim_analysis::{COMPARED_FUNCTIONS, COMPARED_OBJECTS, Comparison, PerRun, Presence};

pub(crate) fn code_objects(all: &Comparison, style: &Style) -> Option<String> {
    let labels = labels(all);
    Part::new(&COMPARED_OBJECTS, &all.code_objects)
        .runs(&labels)
        .grouped(|row| {
            let used = row.runs.iter().map(|launches| launches.is_some_and(|launches| *launches > 0));
            (false, heading(&labels, &used.collect::<Vec<_>>(), &row.versus))
        })
        .remark("launches in each run; -: not loaded there")
        .section(style)
}

pub(crate) fn functions(all: &Comparison, style: &Style) -> Option<String> {
    let labels = labels(all);
    let number = counted(all.functions.len() as u64, "function");
    Part::new(&COMPARED_FUNCTIONS, &all.functions)
        .runs(&labels)
        .grouped(|row| (false, heading(&labels, &row.called(), &row.versus)))
        .remark(format!("{number}; calls in each run; ?: called, but not counted; -: not hooked there"))
        .section(style)
}

fn heading(labels: &[&str], has: &[bool], versus: &PerRun<Presence>) -> String {
    let presences: Vec<&Presence> = versus.iter().flatten().collect();
    standing(labels, has, &presences, "")
}
