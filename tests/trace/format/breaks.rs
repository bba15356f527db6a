//! The ordering rules can fail: a trace with one broken property violates its rule.

use super::RULES;
use super::traces::recorded;
use crate::trace::order::Complaints;
use serde_json::{Value, json};

/// A trace with one broken property violates this rule.
type Break = (&'static str, fn(&mut Vec<Value>));

fn first(lines: &[Value], kind: &str) -> usize {
    lines.iter().position(|line| line["type"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

#[rustfmt::skip]
const BREAKS: &[Break] = &[
    ("the_header_is_the_first_line_and_no_other", |lines| lines.swap(0, 1)),
    ("the_footer_is_the_last_line_and_no_other", |lines| drop(lines.pop())),
    ("what_has_an_id_is_defined_before_its_first_use", |lines| drop(lines.remove(first(lines, "kernel")))),
    ("what_has_an_id_is_defined_before_its_first_use", |lines| drop(lines.remove(first(lines, "library")))),
    ("what_is_defined_again_is_the_same", |lines| { let mut again = lines[first(lines, "kernel")].clone(); again["name"] = json!("other"); lines.push(again); }),
    ("a_hook_is_bound_before_it_sees_a_call_and_stays_bound", |lines| for line in lines { if line["type"] == "hook" { line["state"] = json!("armed"); } }),
    ("every_launch_has_a_hook", |lines| { let at = first(lines, "kernel"); lines[at].as_object_mut().unwrap().remove("hook"); }),
    ("no_two_events_have_one_number", |lines| lines.push(lines[first(lines, "gemm")].clone())),
    ("numbers_are_in_order_of_entry_without_holes_but_for_losses", |lines| drop(lines.remove(first(lines, "gemm")))),
    ("lines_of_a_thread_are_in_order_of_return", |lines| { let at = first(lines, "gemm"); let gemm = lines.remove(at); lines.push(gemm); }),
    ("a_parent_is_there_and_comes_after_its_children", |lines| drop(lines.remove(first(lines, "gemm")))),
    ("a_parent_is_there_and_comes_after_its_children", |lines| { let at = first(lines, "gemm"); let gemm = lines.remove(at); lines.insert(1, gemm); }),
    ("a_parent_encloses_its_children", |lines| { let at = first(lines, "gemm"); lines[at]["dur"] = json!(0); }),
    ("every_thread_has_one_account_and_it_is_right", |lines| drop(lines.remove(first(lines, "gemm")))),
    ("every_thread_has_one_account_and_it_is_right", |lines| drop(lines.remove(first(lines, "thread")))),
    ("every_thread_has_one_account_and_it_is_right", |lines| { let at = first(lines, "thread"); lines[at]["lost"] = json!(1); }),
    ("nothing_is_later_than_the_footer", |lines| { let at = first(lines, "footer"); lines[at]["t"] = json!(0); }),
    ("a_grid_is_its_work_items_divided_by_the_block", |lines| for line in lines { if line.get("items").is_some() { line["grid"] = json!([7, 7, 7]); } }),
    ("an_unload_names_the_code_object_that_its_module_was_loaded_from", |lines| lines.extend([load(90, "load", 3), load(91, "unload", 4)])),
];

fn load(id: u64, action: &str, code_object: u64) -> Value {
    json!({"type": "load", "tid": 1, "id": id, "t": id, "dur": 0, "hook": 12, "action": action, "module": "0x1", "code_object": code_object})
}

#[test]
fn a_trace_with_one_thing_broken_breaks_its_rule() {
    let demo = &recorded()[0];
    for (name, break_it) in BREAKS {
        let rule = RULES.iter().find(|(rule, _)| rule == name).unwrap_or_else(|| panic!("no rule {name}")).1;
        let mut lines = demo.lines.clone();
        assert_eq!(rule(&lines), Complaints::new(), "{name}, before");
        break_it(&mut lines);
        assert!(!rule(&lines).is_empty(), "{name} did not see it");
    }
    let untried: Vec<_> =
        RULES.iter().filter(|(rule, _)| BREAKS.iter().all(|(name, _)| name != rule)).collect();
    assert!(untried.is_empty(), "{untried:?}");
}
