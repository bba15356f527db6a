//! `rocshim why` on the real MIOpen: find modes, immediate mode, a find database that has an entry
//! and one that has none, and solvers that variables switch off.

use rocshim_tests::rocm::why::{decisions, links};
use rocshim_tests::rocm::{self, Bench, HIP6};
use serde_json::Value;
use std::path::Path;

/// Function → (evidence, text) of what decided, of the forward 3x3 convolution's calls.
type Decided = Vec<(String, Vec<(String, String)>)>;

/// Runs the convolutions with the database in `folder` and these variables, and asks why.
fn decided(folder: &Path, variables: &[(&str, &str)]) -> Decided {
    let mut bench = Bench::new(&HIP6, "gfx1100")
        .env("MIOPEN_USER_DB_PATH", folder)
        .env("MIOPEN_CUSTOM_CACHE_DIR", rocm::made_here("miopen"))
        .env("NULL_GPU_KERNEL_NS", "20000")
        .env("CCC_OVERRIDE_OPTIONS", "#X-isystem");
    for (name, value) in variables {
        bench = bench.env(name, value);
    }
    let output = bench.traced().arg(HIP6.program("miopen_conv")).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let decisions = decisions(&bench, &[]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of_forward = decisions.iter().filter(|decision| {
        let title = decision["title"].as_str().unwrap_or_default();
        title.starts_with("forward convolution of 2x16x28x28") && !title.ends_with("miopenRunSolution")
    });
    of_forward.map(|decision| (text(&decision["title"]), links(decision, "decided"))).collect()
}

/// Asserts that each decision of `function` has a link that begins so.
#[track_caller]
fn assert_says(decided: &Decided, function: &str, evidence: &str, begin: &str) {
    let of: Vec<_> = decided.iter().filter(|(title, _)| title.ends_with(function)).collect();
    assert!(!of.is_empty(), "{decided:#?}");
    for (_, links) in of {
        let says = |(class, text): &(String, String)| class == evidence && text.starts_with(begin);
        assert!(links.iter().any(says), "no {evidence} {begin}: {links:#?}");
    }
}

const RUN: &str = ", miopenConvolutionForward";
const IMMEDIATE: &str = ", miopenConvolutionForwardImmediate";

#[test]
fn a_search_misses_the_find_database_and_the_next_run_hits_what_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let first = decided(folder.path(), &[]);
    assert_says(&first, RUN, "inferred", "miss: the search launched ");
    assert_says(&first, RUN, "inferred", "MIOPEN_FIND_MODE is not set");
    assert_says(&first, IMMEDIATE, "inferred", "hit: the answer has the times of the entry");
    let second = decided(folder.path(), &[]);
    for function in [RUN, IMMEDIATE] {
        assert_says(&second, function, "inferred", "hit: the user's find database had an entry before");
    }
    let off = decided(folder.path(), &[("MIOPEN_DEBUG_DISABLE_FIND_DB", "1")]);
    assert_says(&off, RUN, "inferred", "MIOPEN_DEBUG_DISABLE_FIND_DB is set");
}

#[test]
fn each_find_mode_is_named_and_an_estimate_is_a_miss() {
    let installed = tempfile::tempdir().unwrap();
    let none = installed.path().to_str().unwrap();
    for (mode, begin) in [("1", "normal"), ("3", "hybrid"), ("5", "dynamic hybrid")] {
        let folder = tempfile::tempdir().unwrap();
        let decided = decided(folder.path(), &[("MIOPEN_FIND_MODE", mode)]);
        assert_says(&decided, RUN, "inferred", &format!("find mode of MIOPEN_FIND_MODE={mode}: {begin}: "));
        assert_says(&decided, RUN, "inferred", "miss: the search launched ");
    }
    let folder = tempfile::tempdir().unwrap();
    let fast = decided(folder.path(), &[("MIOPEN_FIND_MODE", "2"), ("MIOPEN_SYSTEM_DB_PATH", none)]);
    assert_says(&fast, RUN, "inferred", "find mode of MIOPEN_FIND_MODE=2: fast: ");
    for function in [RUN, IMMEDIATE] {
        assert_says(&fast, function, "inferred", "miss: the user's find database, ");
    }
}

#[test]
fn solvers_that_a_variable_switches_off_are_named() {
    for (name, kind) in [("MIOPEN_DEBUG_CONV_GEMM", "gemm"), ("MIOPEN_DEBUG_CONV_DIRECT", "direct")] {
        let folder = tempfile::tempdir().unwrap();
        let decided = decided(folder.path(), &[(name, "0")]);
        let text = format!("{name} is off: solvers of {kind} are left out; none is among the results");
        for function in [RUN, IMMEDIATE] {
            assert_says(&decided, function, "inferred", &text);
        }
    }
}
