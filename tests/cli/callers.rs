//! `rocshim why` names who launched a kernel first, by the files' symbols and debug information.

use rocshim_tests::{Outcome, Traced, artifacts};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The page of `why` for `kernel`.
fn page(of: &Outcome, kernel: &str) -> String {
    let traces = of.folder().join("out");
    Traced::rocshim(["why".as_ref(), traces.as_os_str(), kernel.as_ref()]).run().ok().stdout
}

#[test]
fn why_names_the_callers_of_a_kernel_and_the_lines_of_their_calls() {
    let outcome = Traced::program("callers").with_shim().ok();
    let page = page(&outcome, "by_qsort");
    let functions: Vec<&str> = page
        .lines()
        .filter_map(|line| line.trim().split_once("  "))
        .filter(|(number, _)| number.parse::<u32>().is_ok())
        .filter_map(|(_, rest)| rest.split([',', ' ']).find(|word| !word.is_empty()))
        .collect();
    assert_eq!(functions[..3], ["launch_first", "called", "compare"], "{page}");
    assert!(functions.contains(&"main"), "{page}");
    assert!(page.contains("callers.c:"), "{page}");
    assert!(page.contains("Confirmed: callers of the first launch of by_qsort"), "{page}");
    let handler = self::page(&outcome, "by_handler_on_stack");
    assert!(handler.contains("a signal handler called the last one"), "{handler}");
    let coroutine = self::page(&outcome, "by_coroutine");
    assert!(coroutine.contains("who called the last one is unresolved"), "{coroutine}");
}

#[test]
fn another_build_of_a_file_names_no_function() {
    let program = Traced::program("callers");
    let copy = program.folder().join("callers");
    std::fs::copy(artifacts::program("callers"), &copy).unwrap();
    let outcome = Traced::command(&copy).env("LD_LIBRARY_PATH", artifacts::vendor()).with_shim().ok();
    let traces = outcome.folder().join("out");
    let named = || {
        let json =
            Traced::rocshim(["why".as_ref(), traces.as_os_str(), "by_main".as_ref(), "--json".as_ref()]);
        let why: Value = serde_json::from_str(&json.run().ok().stdout).unwrap();
        let callers = why["first_launches"][0]["callers"].as_array().unwrap().clone();
        callers.iter().filter_map(|caller| caller["function"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(named()[..2], ["launch_first", "called"]);
    let other = artifacts::program("copies");
    std::fs::copy(other, &copy).unwrap();
    assert!(!named().iter().any(|function| function == "called"));
    assert!(page(&outcome, "by_main").contains("the file was replaced since the program ran"));
    std::fs::remove_file(&copy).unwrap();
    assert!(page(&outcome, "by_main").contains("it cannot be read"));
}

#[test]
fn a_stripped_program_names_what_it_exports_and_no_more() {
    let program = Traced::program("callers");
    let stripped = program.folder().join("stripped");
    let strip = Command::new("strip").arg("-o").args([&stripped, &artifacts::program("callers")]).status();
    assert!(strip.expect("strip runs").success());
    let outcome = Traced::command(&stripped).env("LD_LIBRARY_PATH", artifacts::vendor()).with_shim().ok();
    let page = page(&outcome, "by_main");
    assert!(page.contains("stripped+0x") && !page.contains("launch_first"), "{page}");
}

#[test]
fn why_names_the_first_callers_of_a_shape() {
    let outcome = Traced::program("gemm_callers").with_shim().ok();
    let page = page(&outcome, "19x8x8");
    assert!(page.contains("Confirmed: callers of the first call of rocblas_sgemm with this shape"), "{page}");
    assert!(
        page.contains("Linear::forward(int), gemm_callers.cpp:") || page.contains("Linear::forward(int)"),
        "{page}"
    );
    assert!(!page.contains("callers of the first launch"), "{page}");
}

#[test]
fn why_prints_the_python_functions() {
    let python = ["/usr/bin/python3.11", "/usr/bin/python3.13"].map(Path::new);
    let Some(python) = python.into_iter().find(|path| path.exists()) else {
        eprintln!("NOT RUN, for it takes python3.11 or python3.13 in /usr/bin");
        return;
    };
    let library = artifacts::vendor().join("librocblas.so.4");
    let script = artifacts::root().join("tests/programs/hosts/callers.py");
    let run = Traced::command(python).arg(&script).arg(&library).env("PYTHONUTF8", "1");
    let outcome = run.env("LD_LIBRARY_PATH", artifacts::vendor()).with_shim().ok();
    let page = page(&outcome, "17x8x8");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("Python, innermost first: "), "{page}");
    assert!(page.contains(" in Model.step; "), "{page}");
}
