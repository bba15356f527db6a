//! Programs built with gcc's sanitizers print and end as without the shim, and are traced. Their
//! run-time libraries call `dlsym` before they are initialised, must be loaded first, and check
//! memory accesses.

use rocshim_tests::{Outcome, Traced, artifacts};
use std::path::Path;
use std::process::Command;

/// Programs for each sanitizer: threads, GEMMs; with the number of processes.
const PROGRAMS: &[(&str, &[&str], usize)] = &[
    ("many_threads", &["4", "500", "3"], 1),
    ("gemm", &[], 1),
    ("handle_reuse", &[], 1),
    ("fork_both", &[], 2),
];

/// Builds a program of `tests/programs` with a sanitizer, in a separate folder; false if that is
/// not possible.
fn build(name: &str, sanitizer: &str, to: &Path) -> bool {
    let vendor = artifacts::vendor();
    let source = artifacts::source(name);
    let text = std::fs::read_to_string(&source).expect("a program");
    let linked =
        text.lines().find_map(|line| line.strip_prefix("// link: ")).expect("what it is linked with");
    let libraries = linked.split(' ').map(|library| match library {
        "amdhip64" => "-l:libamdhip64.so.6",
        "rocblas" => "-l:librocblas.so.4",
        other => panic!("{name} is linked with {other}"),
    });
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-D_GNU_SOURCE=", "-O1", "-g", "-pthread", "-Wl,--no-as-needed"]);
    compiler.arg(format!("-fsanitize={sanitizer}")).args(artifacts::includes());
    let path = vendor.display();
    compiler
        .arg(&source)
        .args(libraries)
        .args([format!("-L{path}"), format!("-Wl,-rpath,{path},-rpath-link,{path}")]);
    compiler.args(["-ldl", "-o"]).arg(to).output().expect("the compiler runs").status.success()
}

/// The last words of a sanitizer's report. (Leaks are off: which of the stand-ins' own it finds
/// varies from run to run.)
fn verdicts(outcome: &Outcome) -> Vec<&str> {
    outcome
        .stderr
        .lines()
        .filter(|line| line.starts_with("SUMMARY: ") || line.contains("WARNING: "))
        .collect()
}

fn is_unaffected(sanitizer: &str) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    for (name, args, processes) in PROGRAMS {
        let path = scratch.path().join(name);
        if !build(name, sanitizer, &path) {
            eprintln!("NOT RUN, for the compiler cannot link it: {name} with -fsanitize={sanitizer}");
            continue;
        }
        let program = || Traced::command(&path).args(*args).env("ASAN_OPTIONS", "detect_leaks=0");
        let (bare, traced) = (program().run(), program().with_shim());
        let what = format!("{name} with -fsanitize={sanitizer}: {}", traced.stderr);
        assert_eq!(
            (&traced.stdout, traced.code, traced.signal),
            (&bare.stdout, bare.code, bare.signal),
            "{what}"
        );
        assert_eq!(verdicts(&traced), verdicts(&bare), "{what}");
        let verified = Traced::rocshim(["verify".as_ref(), traced.folder().join("out").as_os_str()]).run();
        assert_eq!(verified.code, Some(0), "{what}\n{}", verified.stdout);
        assert_eq!(traced.trace_files().len(), *processes, "{what}");
        if sanitizer == "address" && *processes == 1 {
            let leaks = Traced::command(&path).args(*args).env("ASAN_OPTIONS", "detect_leaks=1").with_shim();
            assert!(!leaks.stderr.contains("Suppressions used"), "none of ours: {}", leaks.stderr);
        }
    }
}

#[test]
fn a_program_under_the_address_sanitizer_is_unaffected() {
    is_unaffected("address");
}

#[test]
fn a_program_under_the_thread_sanitizer_is_unaffected() {
    is_unaffected("thread");
}

#[test]
fn a_program_under_the_undefined_behaviour_sanitizer_is_unaffected() {
    is_unaffected("undefined");
}
