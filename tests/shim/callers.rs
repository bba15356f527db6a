//! The callers of each kernel's first launch, and of the first call with each shape, are in the
//! trace, or absent: never wrong, whatever the stack.

use rocshim_tests::{Outcome, Trace, Traced, artifacts};
use rocshim_trace::Callers;
use std::collections::BTreeMap;
use std::path::Path;
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

/// Rows → the callers of the GEMMs with so many, of which exactly the first has some.
fn of_gemms(trace: &Trace) -> BTreeMap<i64, Callers> {
    let recorded: BTreeMap<_, _> =
        trace.callers().map(|first| ((first.callers.tid, first.id), &first.callers)).collect();
    let mut seen = BTreeMap::new();
    for gemm in trace.gemms() {
        let callers = recorded.get(&(gemm.call.tid, gemm.call.id));
        match seen.contains_key(&gemm.m) {
            true => assert_eq!(callers, None, "callers of a call that is not the first"),
            false => {
                let callers = callers.unwrap_or_else(|| panic!("no callers of {} rows", gemm.m));
                seen.insert(gemm.m, (*callers).clone());
            }
        }
    }
    assert_eq!(recorded.len(), seen.len());
    seen
}

/// Asserts that the chains of GEMMs are those printed, in the order of the stack.
fn assert_gemms(outcome: &Outcome) {
    let (trace, printed) = (outcome.trace(), printed(outcome));
    let found = of_gemms(&trace);
    assert_eq!(found.len(), printed.len());
    let binaries: BTreeMap<u32, &str> = trace.binaries().map(|binary| (binary.id, &*binary.path)).collect();
    for (rows, callers) in found {
        let [calling, returns @ ..] = &printed[&*rows.to_string()][..] else { panic!("no line of {rows}") };
        assert_eq!(callers.end, "whole", "{rows}: {callers:?}");
        let program = binaries[&callers.frames[0].binary];
        let own = callers.frames.iter().filter(|frame| binaries[&frame.binary] == program);
        let mut own = own.map(|frame| frame.at.0);
        let first = own.next().expect("the call itself");
        assert!((1..4096).contains(&(first - calling)), "{rows} is called at {first:#x}");
        for expected in returns {
            assert!(own.any(|at| at == *expected), "{rows}: {callers:x?} has not {expected:#x}");
        }
    }
}

#[test]
fn callers_of_the_first_call_of_each_shape_are_found_in_cpp() {
    assert_gemms(&Traced::program("gemm_callers").with_shim().ok());
}

#[test]
fn callers_of_the_first_call_of_each_shape_are_found_in_rust() {
    let folder = Traced::program("gemm_callers");
    let (source, program) =
        (artifacts::root().join("tests/programs/hosts/callers.rs"), folder.folder().join("in_rust"));
    for level in ["0", "3", "s"] {
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-C", "force-frame-pointers=yes", "-C"]);
        rustc.arg(format!("opt-level={level}")).arg("-L").arg(artifacts::vendor());
        rustc.args(["-C", "link-arg=-l:librocblas.so.4"]);
        let status = rustc.arg(&source).arg("-o").arg(&program).status();
        assert!(status.expect("rustc runs").success(), "{level}");
        let outcome = Traced::command(&program).env("LD_LIBRARY_PATH", artifacts::vendor());
        assert_gemms(&outcome.with_shim().ok());
    }
}

/// Each release of CPython that this machine has: its executable and minor version.
fn interpreters() -> BTreeMap<String, u32> {
    let minors = 9..=14;
    let homes = std::env::var("PYENV_ROOT").ok().or_else(|| Some(std::env::var("HOME").ok()? + "/.pyenv"));
    let homes = homes.map(|root| std::fs::read_dir(root + "/versions").into_iter().flatten().flatten());
    let homes = homes.into_iter().flatten().map(|home| home.path().join("bin"));
    let folders: Vec<_> = homes.chain(["/usr/bin".into(), "/usr/local/bin".into()]).collect();
    let at = |minor: u32| folders.iter().map(move |folder| (folder.join(format!("python3.{minor}")), minor));
    let found = minors.flat_map(at).filter(|(path, _)| path.exists());
    found.map(|(path, minor)| (path.to_str().expect("a path in UTF-8").to_owned(), minor)).collect()
}

#[test]
fn python_functions_are_right_or_absent() {
    let library = std::fs::read_dir(artifacts::vendor()).expect("the stand-ins").flatten();
    let library = library.map(|entry| entry.path());
    let library = library.filter(|path| path.to_str().is_some_and(|path| path.contains("librocblas.so")));
    let library = library.min().expect("a rocBLAS");
    let script = artifacts::root().join("tests/programs/hosts/callers.py");
    let interpreters = interpreters();
    assert!(!interpreters.is_empty(), "this machine has no Python");
    for (python, minor) in interpreters {
        let run = Traced::command(Path::new(&python)).arg(&script).arg(&library);
        let outcome = run.env("LD_LIBRARY_PATH", artifacts::vendor()).env("PYTHONUTF8", "1").with_shim().ok();
        let found = of_gemms(&outcome.trace());
        let lines: Vec<&str> = outcome.stdout.lines().collect();
        assert_eq!((lines.len(), found.len()), (15, 15), "{python}");
        for line in lines {
            let (rows, stack) = line.split_once('\t').expect("a stack");
            let expected: Vec<&str> = stack.split('\t').take(32).collect();
            let callers = &found[&rows.parse().expect("a number")];
            let python_callers = callers.python.iter().map(|caller| {
                // A qualified name ends in the name.
                let name = caller.function.rsplit('.').next().unwrap_or_default();
                format!("{}:{}:{name}", caller.file, caller.line.expect("a line"))
            });
            let python_callers: Vec<String> = python_callers.collect();
            match minor {
                11..=14 => assert_eq!(python_callers, expected, "{python}"),
                _ => assert!(python_callers.is_empty(), "{python}: {python_callers:?}"),
            }
        }
    }
}
