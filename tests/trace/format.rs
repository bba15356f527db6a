//! The format is as documented: every line of real traces is valid by the published schema, as an
//! independent validator reads it, and every trace keeps the ordering rules. Validator and rules
//! are shown to be able to fail.

mod breaks;
mod products;
mod records;
mod traces;
mod validation;

use super::order::{self, Complaints};
use super::schema;
use rocshim_ring::SLOT_BYTES;
use rocshim_tests::{Traced, artifacts};
use rocshim_trace::{Record, parse_line, write_record};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use traces::{Recorded, recorded};

/// Fails if `rule` finds violations in any of `traces`; prints the first of each trace.
#[track_caller]
fn check<'a>(traces: impl IntoIterator<Item = &'a Recorded>, rule: fn(&[Value]) -> Complaints) {
    let mut all = Vec::new();
    for trace in traces {
        let violations = rule(&trace.lines);
        let count = violations.len();
        all.extend(
            violations.into_iter().take(3).map(|violation| format!("{} ({count}): {violation}", trace.name)),
        );
    }
    assert!(all.is_empty(), "\n{}", all.join("\n"));
}

fn every_line_fulfils_the_schema(lines: &[Value]) -> Complaints {
    let wrong =
        |(at, line): (usize, &Value)| schema::violation(line).map(|e| format!("line {}: {e}", at + 1));
    lines.iter().enumerate().filter_map(wrong).collect()
}

/// A test for each rule, over all traces; and a table of all rules.
macro_rules! rules {
    ($($rule:ident)*) => {
        $(
            #[test]
            fn $rule() {
                check(recorded(), order::$rule);
            }
        )*
        const RULES: &[(&str, fn(&[Value]) -> Complaints)] = &[$((stringify!($rule), order::$rule)),*];
    };
}

rules! {
    the_header_is_the_first_line_and_no_other
    the_footer_is_the_last_line_and_no_other
    what_has_an_id_is_defined_before_its_first_use
    what_is_defined_again_is_the_same
    a_hook_is_bound_before_it_sees_a_call_and_stays_bound
    every_launch_has_a_hook
    no_two_events_have_one_number
    numbers_are_in_order_of_entry_without_holes_but_for_losses
    lines_of_a_thread_are_in_order_of_return
    a_parent_is_there_and_comes_after_its_children
    a_parent_encloses_its_children
    every_thread_has_one_account_and_it_is_right
    nothing_is_later_than_the_footer
    a_grid_is_its_work_items_divided_by_the_block
    an_unload_names_the_code_object_that_its_module_was_loaded_from
}

// ---- lines ----

#[test]
fn every_line_of_real_traces_fulfils_the_schema_and_has_no_key_beyond_it() {
    check(recorded(), every_line_fulfils_the_schema);
}

#[test]
fn every_line_is_read_and_written_again_as_it_was() {
    for trace in recorded() {
        for line in trace.text.lines() {
            let mut again = Vec::new();
            write_record(&mut again, &parse_line(line.as_bytes()).unwrap());
            // Spaces pad the last line of a page of the file.
            assert_eq!(
                String::from_utf8(again).unwrap().trim_end(),
                line.trim_end_matches(' '),
                "{}",
                trace.name
            );
            assert!(line.starts_with(r#"{"type":""#), "{}: the type comes first: {line}", trace.name);
        }
    }
}

#[test]
fn every_record_type_and_closed_word_occurs_in_a_real_trace() {
    let all = || recorded().iter().flat_map(|trace| &trace.lines);
    let seen = all().map(|line| line["type"].as_str().unwrap().into());
    assert_eq!(seen.collect::<BTreeSet<String>>(), schema::types());
    let words = |definition: &str, key: &str| {
        let listed = schema::schema()["$defs"][definition]["properties"][key]["enum"].as_array().unwrap();
        let seen = |word: &&Value| !all().any(|line| line["type"] == definition && line[key] == **word);
        listed.iter().filter(seen).map(|word| word.as_str().unwrap()).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(words("code_object", "source"), none);
    assert_eq!(words("gemm", "form"), none);
    assert_eq!(words("blas", "action"), none);
    assert_eq!(words("blas", "form"), none);
    assert_eq!(words("conv", "action"), none);
    assert_eq!(words("conv", "direction"), none);
    assert_eq!(words("copy", "action"), none);
    assert_eq!(words("sync", "action"), none);
    assert_eq!(words("graph_call", "action"), none);
    assert_eq!(words("load", "action"), none);
    // For a trace in segments: tests/trace/segments.rs.
    assert_eq!(words("footer", "end"), ["rotated"]);
}

#[test]
fn the_ring_files_are_gone_when_the_footer_is_there() {
    let left: Vec<&str> =
        recorded().iter().filter(|trace| trace.has_rings).map(|trace| trace.name.as_str()).collect();
    assert!(left.is_empty(), "{left:?}");
}

// ---- separate situations ----

#[test]
fn a_damaged_ring_file_becomes_a_gap_and_the_counters_add_up() {
    // The collector may have been so fast that the ring was empty.
    let damaged = (0..10).find_map(|_| {
        let outcome = Traced::program("kill_self").args(["300", "kill"]).with_shim();
        damage(&ring_of_dead(&outcome.trace_files()[0]));
        let traces = traces::finished(&outcome, "a damaged ring");
        traces[0].lines.iter().any(|line| line["reason"] == "unreadable").then_some(traces)
    });
    let traces = damaged.expect("a gap of ten tries");
    check(&traces, every_line_fulfils_the_schema);
    RULES.iter().for_each(|(_, rule)| check(&traces, *rule));
}

/// The ring memory of the dead process that wrote `trace`.
fn ring_of_dead(trace: &Path) -> PathBuf {
    let pid = trace.file_stem().unwrap().to_str().unwrap().rsplit_once('-').unwrap().1;
    let folders = std::fs::read_dir("/dev/shm").unwrap().flatten().map(|entry| entry.path());
    let (prefix, pid) = ("/dev/shm/rocshim-", format!("-{pid}-"));
    let is_its =
        |path: &PathBuf| path.to_str().is_some_and(|path| path.starts_with(prefix) && path.contains(&pid));
    folders.into_iter().find(is_its).expect("the dead process's ring files").join("chunks")
}

/// Overwrites the slots 100 to 119 of the first chunk.
fn damage(chunks: &Path) {
    let file = std::fs::OpenOptions::new().write(true).open(chunks).unwrap();
    file.write_all_at(&[0xff; 20 * SLOT_BYTES], 100 * SLOT_BYTES as u64).unwrap();
}

#[test]
fn the_footer_of_a_forked_child_counts_the_childs_own_calls() {
    let traces: Vec<_> = recorded().iter().filter(|trace| trace.name.starts_with("fork_both")).collect();
    let child = traces.iter().find(|trace| trace.text.contains("\"in_child\"")).expect("the child's trace");
    // It inherited its kernels and looked up none itself.
    assert_eq!(child.lines.last().unwrap().get("calls"), None);
}

#[test]
fn every_sample_is_a_trace_that_keeps_the_rules_and_can_be_summarised() {
    let entries = std::fs::read_dir(artifacts::root().join("samples/traces"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "ndjson")).collect();
    assert!(files.len() > 1, "samples");
    for file in files {
        let sample = traces::read(&file, &file.display().to_string());
        for line in sample.text.lines() {
            assert_ne!(parse_line(line.as_bytes()).unwrap(), Record::Unknown, "{}: {line}", sample.name);
        }
        let wrong = sample.lines.iter().find(|line| !schema::strict().is_valid(line));
        assert_eq!(wrong, None, "{}", sample.name);
        RULES.iter().for_each(|(_, rule)| check([&sample], *rule));
        Traced::rocshim(["summary".as_ref(), file.as_os_str()]).run().ok();
    }
}
