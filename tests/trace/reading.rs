//! Reads the segments of a trace and checks the rules of the format: for each one, and for all
//! together.

use super::order::{self, Complaints};
use super::schema;
use rocshim_tests::trace::read_lines;
use rocshim_tests::{Outcome, Trace, Traced};
use rocshim_trace::TracePath;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rules for every segment.
const OF_A_PART: &[fn(&[Value]) -> Complaints] = &[
    order::the_header_is_the_first_line_and_no_other,
    order::the_footer_is_the_last_line_and_no_other,
    order::what_has_an_id_is_defined_before_its_first_use,
    order::a_hook_is_bound_before_it_sees_a_call_and_stays_bound,
    order::every_launch_has_a_hook,
    order::every_thread_has_one_account_and_it_is_right,
    order::nothing_is_later_than_the_footer,
];

/// Rules for all segments together.
const OF_ALL: &[fn(&[Value]) -> Complaints] = &[
    order::what_is_defined_again_is_the_same,
    order::no_two_events_have_one_number,
    order::numbers_are_in_order_of_entry_without_holes_but_for_losses,
    order::lines_of_a_thread_are_in_order_of_return,
    order::a_parent_is_there_and_comes_after_its_children,
    order::a_parent_encloses_its_children,
    order::a_grid_is_its_work_items_divided_by_the_block,
    order::an_unload_names_the_code_object_that_its_module_was_loaded_from,
];

fn lines(file: &Path) -> Vec<Value> {
    let text = String::from_utf8(read_lines(file).unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The segments of the only trace, in order, after checking the rules.
#[track_caller]
pub(crate) fn parts(outcome: &Outcome) -> Vec<Trace> {
    let files = outcome.trace_files();
    assert!(!files.is_empty(), "no trace; stderr: {}", outcome.stderr);
    let mut paths: Vec<TracePath> = files.iter().map(|file| TracePath::of(file).unwrap()).collect();
    paths.sort();
    let in_order: Vec<PathBuf> =
        paths.iter().map(|path| rocshim_trace::segment_path(&path.first, path.part)).collect();
    assert_eq!(in_order, files, "they stand in order in a listing");
    assert!(paths.iter().all(|path| path.first == paths[0].first), "one trace: {paths:?}");
    let mut all = Vec::new();
    for file in &files {
        let lines = lines(file);
        let name = file.display();
        lines.iter().for_each(|line| assert_eq!(schema::violation(line), None, "{name}"));
        OF_A_PART.iter().for_each(|rule| assert_eq!(rule(&lines)[..], [""; 0], "{name}"));
        all.extend(lines);
    }
    // Deletions by others are not recorded.
    let is_whole = paths[0].part == 1 || all.iter().any(|line| line["oldest"].is_u64());
    OF_ALL.iter().filter(|_| is_whole).for_each(|rule| assert_eq!(rule(&all)[..], [""; 0], "all parts"));
    let traces: Vec<Trace> = files.iter().map(|file| Trace::read(file)).collect();
    for (trace, path) in traces.iter().zip(&paths) {
        assert_eq!(trace.headers().next().unwrap().part(), path.part, "{path:?}");
    }
    traces
}

pub(crate) fn ends(parts: &[Trace]) -> Vec<&str> {
    parts.iter().map(|part| part.footers().next().map_or("none", |footer| footer.end.as_str())).collect()
}

/// The grids of all launches, by which the program numbers them.
pub(crate) fn numbers(parts: &[Trace]) -> Vec<u32> {
    parts.iter().flat_map(|part| part.launches().map(|launch| launch.grid[0])).collect()
}

/// Losses by reason.
pub(crate) fn lost(parts: &[Trace]) -> BTreeMap<String, u64> {
    let mut reasons = BTreeMap::new();
    for gap in parts.iter().flat_map(Trace::gaps) {
        *reasons.entry(gap.reason.to_string()).or_default() += gap.lost;
    }
    reasons
}

pub(crate) fn summary(of: &[&Path]) -> Value {
    let args =
        ["summary".as_ref(), "--json".as_ref()].into_iter().chain(of.iter().map(|path| path.as_os_str()));
    serde_json::from_str(&Traced::rocshim(args).run().ok().stdout).unwrap()
}

/// Recovers the trace of a dead process.
pub(crate) fn recover(outcome: &Outcome) {
    let folder = outcome.folder().join("out");
    Traced::rocshim(["recover".as_ref(), folder.as_os_str()]).run().ok();
}
