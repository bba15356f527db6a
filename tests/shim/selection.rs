//! What `ROCSHIM_RECORD` excludes is recorded at no interception point, the program is not
//! affected, and calls that the trace cannot contain are not called absent.

use rocshim_tests::{Outcome, Traced};
use serde_json::Value;

fn run(program: &str, record: &str) -> Outcome {
    let bare = Traced::program(program).run().ok();
    let outcome = Traced::program(program).env("ROCSHIM_RECORD", record).with_shim().ok();
    assert_eq!(outcome.stdout, bare.stdout, "the program's own words");
    outcome
}

fn summary(outcome: &Outcome) -> Value {
    let files = outcome.trace_files();
    let printed = Traced::rocshim(["summary", "--json", files[0].to_str().unwrap()]).run().ok();
    serde_json::from_str(&printed.stdout).unwrap()
}

/// Evidence and reason of a library's calls.
fn coverage<'a>(summary: &'a Value, library: &str) -> (&'a str, &'a str) {
    let row = summary["libraries"].as_array().unwrap().iter().find(|row| row["library"] == library).unwrap();
    (row["evidence"].as_str().unwrap(), row["why"].as_str().unwrap())
}

#[test]
fn an_excluded_library_is_reported_and_the_rest_is_unchanged() {
    let outcome = run("gemm", "-rocblas_*");
    let trace = outcome.trace();
    assert_eq!((trace.gemms().count(), trace.blas_calls().count()), (0, 0));
    assert_eq!(trace.launches().count(), outcome.standin_log().launches.len());
    assert!(trace.launches().all(|launch| launch.call.parent.is_none() && launch.kernel.is_some()));
    let off: Vec<_> = trace.hooks().filter(|hook| hook.state == "off").collect();
    assert!(!off.is_empty() && off.iter().all(|hook| hook.name.starts_with("rocblas_")));
    let summary = summary(&outcome);
    let (evidence, why) = coverage(&summary, "librocblas.so");
    // Handles are recorded nevertheless.
    assert_eq!((evidence, why.contains("are left out by ROCSHIM_RECORD")), ("confirmed", true), "{why}");
    assert_eq!(coverage(&summary, "libamdhip64.so").0, "confirmed");
}

#[test]
fn excluded_launches_are_not_reported_as_absent() {
    let outcome = run("gemm", "*,-hip*Launch*");
    let trace = outcome.trace();
    assert_eq!(trace.launches().count(), 0);
    assert!(trace.gemms().count() > 0 && !outcome.standin_log().launches.is_empty());
    let summary = summary(&outcome);
    let objects = summary["code_objects"].as_array().unwrap();
    assert!(!objects.is_empty() && objects.iter().all(|row| row["evidence"] == "limited"), "{objects:?}");
    let gemms = summary["gemms"].as_array().unwrap();
    assert!(!gemms.is_empty() && gemms.iter().all(|row| row["evidence"] != "confirmed_absent"), "{gemms:?}");
}

#[test]
fn an_exclusion_holds_at_every_interception_point() {
    let outcome = run("by_dlsym", "-hip*Launch*");
    assert!(!outcome.standin_log().launches.is_empty());
    assert_eq!(outcome.trace().launches().count(), 0);
}
