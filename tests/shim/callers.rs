//! The callers of each kernel's first launch are in the trace, or absent: never wrong, whatever the
//! stack.

use rocshim_tests::{Outcome, Trace, Traced, artifacts};
use rocshim_trace::Callers;
use std::collections::BTreeMap;
use std::process::Command;

/// Kernel → the addresses that the program printed: the function that launches, and where those on
/// its stack return to.
fn printed(outcome: &Outcome) -> BTreeMap<&str, Vec<u64>> {
    let address = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).expect("an address");
    let lines = outcome.stdout.lines().filter_map(|line| line.split_once(' '));
    let launched = lines.filter(|(_, rest)| rest.starts_with("0x"));
    launched.map(|(name, rest)| (name, rest.split(' ').map(address).collect())).collect()
}

/// Kernel → its recorded callers.
fn recorded(trace: &Trace) -> BTreeMap<String, Option<Callers>> {
    trace.kernels().map(|kernel| (kernel.name.clone(), kernel.callers.clone())).collect()
}

/// Asserts that the chains are those printed, and how each ends.
fn assert_chains(outcome: &Outcome) {
    let (trace, printed) = (outcome.trace(), printed(outcome));
    let recorded = recorded(&trace);
    let ends = [
        ("by_main", "whole"),
        ("by_recursion", "limit"),
        ("by_qsort", "whole"),
        ("by_alloca", "whole"),
        ("by_thread", "whole"),
        ("by_handler", "signal"),
        ("by_handler_on_stack", "signal"),
        ("by_coroutine", "unknown"),
        ("returns_to_nothing", "unknown"),
        ("returns_to_data", "unknown"),
        ("returns_to_a_start", "unknown"),
        ("frame_at_8", "unknown"),
        ("frame_far_up", "unknown"),
        ("frame_odd", "unknown"),
        ("frame_not_canonical", "unknown"),
        ("by_made_code", "unknown"),
        ("by_bare_code", "unknown"),
    ];
    assert_eq!(printed.len(), ends.len());
    for (kernel, end) in ends {
        let callers = recorded[kernel].as_ref().unwrap_or_else(|| panic!("{kernel} has no callers"));
        assert_eq!(callers.end, end, "{kernel}: {callers:?}");
        let [launching, returns @ ..] = &printed[kernel][..] else { panic!("{kernel} has no line") };
        let at: Vec<u64> = callers.frames.iter().map(|frame| frame.at.0).collect();
        assert!((1..1024).contains(&(at[0] - launching)), "{kernel} is launched at {:#x}", at[0]);
        // The functions of the C library print nothing.
        let is_in_order = |at: &[u64]| {
            let mut rest = at.iter();
            returns.iter().all(|expected| rest.any(|at| at == expected))
        };
        match end {
            "limit" => assert_eq!(at[1..], returns[..31], "{kernel}"),
            _ => assert!(is_in_order(&at[1..]), "{kernel}: {at:#x?} has not {returns:#x?}"),
        }
        if kernel.starts_with("returns_to") || kernel.starts_with("frame_") {
            assert!(at.len() <= 5, "{kernel}: nothing is behind the damage: {at:#x?}");
        }
    }
}

#[test]
fn callers_are_right_or_absent_on_stacks_of_all_kinds() {
    let outcome = Traced::program("callers").with_shim().ok();
    assert_chains(&outcome);
    let trace = outcome.trace();
    let binaries: BTreeMap<u32, _> = trace.binaries().map(|binary| (binary.id, binary)).collect();
    let program = artifacts::program("callers");
    for callers in recorded(&trace).values().flatten() {
        let first = &binaries[&callers.frames[0].binary];
        assert_eq!(first.path, program.canonicalize().unwrap().to_str().unwrap());
    }
}

#[test]
fn callers_in_a_stripped_program_are_found_by_its_unwind_tables() {
    let program = Traced::program("callers");
    let stripped = program.folder().join("stripped");
    let strip = Command::new("strip").arg("-o").args([&stripped, &artifacts::program("callers")]).status();
    assert!(strip.expect("strip runs").success());
    let outcome = Traced::command(&stripped).env("LD_LIBRARY_PATH", artifacts::vendor()).with_shim().ok();
    assert_chains(&outcome);
}

#[test]
fn the_number_of_callers_is_set_by_a_variable() {
    let longest = |number: &str| {
        let outcome = Traced::program("callers").env("ROCSHIM_CALLERS", number).with_shim().ok();
        let lengths = recorded(&outcome.trace()).into_values().flatten().map(|callers| callers.frames.len());
        lengths.max()
    };
    assert_eq!(["0", "3", "32"].map(longest), [None, Some(3), Some(32)]);
}
