//! Many ranks: traces of a job whose faults are known (tests/fleet/generate.py), and what the
//! commands say of them.

use crate::trace::schema;
use rocshim_tests::{Outcome, Traced, artifacts};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The traces that the generator writes with these options; they exist as long as the outcome.
pub(crate) fn generated(options: &str) -> (Outcome, PathBuf) {
    let generator = Traced::command(Path::new("/usr/bin/env")).arg("python3");
    let folder = generator.folder().join("ranks");
    let script = artifacts::root().join("tests/fleet/generate.py");
    let ran = generator.arg(script).arg(&folder).args(options.split_whitespace()).run().ok();
    (ran, folder)
}

const FAULTS: &str = "--gpu-time --slow 1:1.3 --kernels 2 --solution 3 --fallback 4 --hang 5:3 \
                      --unfinished 6:1 --missing 7 --skew-us 400 --per-host 2 --steps 5";

#[test]
fn the_generators_traces_are_of_the_format_and_add_up() {
    let (_ran, folder) = generated(FAULTS);
    let mut traces: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    traces.retain(|path| path.extension().is_some_and(|end| end == "ndjson"));
    assert_eq!(traces.len(), 7, "one is missing");
    for trace in &traces {
        for line in std::fs::read_to_string(trace).unwrap().lines() {
            assert_eq!(schema::violation(&serde_json::from_str(line).unwrap()), None);
        }
    }
    let cut = traces.iter().position(|path| path.to_string_lossy().contains("10006")).expect("rank 6");
    traces.remove(cut);
    let verified = Traced::rocshim(["verify"]).args(&traces).run().ok();
    assert_eq!(verified.stdout.matches(": right").count(), 6, "{}", verified.stdout);
}

#[test]
fn each_ranks_trace_goes_where_the_pattern_says() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("%q{CLUSTER}-%j/%h/rank%r-%p");
    for rank in ["0", "11"] {
        let run = Traced::rocshim(["run", "-o"]).arg(&out).arg("--");
        let run = run.arg(artifacts::program("steps")).env("RANK", rank).env("WORLD_SIZE", "12");
        let run = run.env("CLUSTER", "a/b").env_remove("SLURM_JOB_ID").run().ok();
        assert!(run.stderr.contains(" launches of "), "the tally reads what was written: {}", run.stderr);
    }
    let summary = Traced::rocshim(["summary", "--json"]).arg(place.path()).run().ok();
    let summary: Value = serde_json::from_str(&summary.stdout).unwrap();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let folder = place.path().join("a_b-none").join(host.trim());
    for (process, rank) in summary["processes"].as_array().expect("processes").iter().zip([0, 11]) {
        assert_eq!((&process["rank"], &process["host"]), (&rank.into(), &host.trim().into()));
        let file = format!("rank{rank}-{}.ndjson", process["pid"]);
        assert_eq!(process["trace"], folder.join(file).to_str().expect("a path"));
    }
    assert_eq!(summary["processes"].as_array().map(Vec::len), Some(2));
}

/// What `ranks` says of the traces that the generator writes with these options.
fn ranks(options: &str) -> Value {
    let (_ran, folder) = generated(options);
    let ran = Traced::rocshim(["ranks", "--json", "--steps"]).arg(&folder).run().ok();
    serde_json::from_str(&ran.stdout).unwrap()
}

/// `KIND RANKS EVIDENCE` of each finding.
fn findings(ranks: &Value) -> Vec<String> {
    let all = ranks["findings"].as_array().expect("findings").iter();
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    all.map(|of| format!("{} {} {}", word(&of["kind"]), of["ranks"], word(&of["evidence"]))).collect()
}

#[test]
fn ranks_that_are_equal_have_no_finding() {
    for options in ["--ranks 2", "--gpu-time", "--ranks 64 --steps 8 --skew-us 900", "--ranks 16 --group 4"] {
        assert_eq!(findings(&ranks(options)), Vec::<String>::new(), "{options}");
    }
}

#[test]
fn every_planted_fault_is_found_and_nothing_else() {
    let faults = "--slow 1:1.3 --kernels 2 --solution 3 --fallback 4 --unfinished 6:5 --missing 7";
    let many = std::env::var("ROCSHIM_RANKS").map(|ranks| format!("--ranks {ranks} --gpu-time --steps 8"));
    let sizes = ["--ranks 8 --gpu-time", "--ranks 8", "--ranks 64 --gpu-time --steps 8"];
    for size in sizes.map(str::to_owned).into_iter().chain(many) {
        let found = findings(&ranks(&format!("{faults} {size}")));
        let expected = [
            "missing [7] confirmed",
            "ends_early [6] limited",
            "straggler [1] inferred",
            "differs [4] confirmed",
            "differs [3] confirmed",
            "differs [2] confirmed",
        ];
        // Of eight ranks, four that are alike and whole are no majority: none is said to differ.
        let expected = if size.contains("--ranks 8") { &expected[..3] } else { &expected[..] };
        assert_eq!(found, expected, "{size}");
    }
    let different = findings(&ranks("--kernels 2 --solution 3 --fallback 4"));
    assert_eq!(different, ["differs [4] confirmed", "differs [3] confirmed", "differs [2] confirmed"]);
    assert_eq!(findings(&ranks("--slow 3:1.2 --slow 9:1.2 --ranks 16")).len(), 2);
}

#[test]
fn the_collective_in_which_a_job_ended_is_named_with_the_rank_that_is_not_in_it() {
    for size in ["", "--ranks 64 --gpu-time"] {
        let said = ranks(&format!("--hang 5:4 {size}"));
        assert_eq!(findings(&said), ["unfinished_collective [5] confirmed"]);
        let what = said["findings"][0]["what"].as_str().unwrap();
        let others = if size.is_empty() { 7 } else { 63 };
        let begin = "did not enter collective 14, ncclAllReduce bf16 sum, 262 144 elements \
                     (step 5, number 2 of 3), in which";
        assert!(what.starts_with(&format!("{begin} {others} other ranks waited for ")), "{what}");
        assert!(what.contains(" when the job ended: it was in hipStreamSynchronize"), "{what}");
    }
}

#[test]
fn the_clocks_of_hosts_are_within_the_stated_error() {
    for options in ["--per-host 2 --skew-us 5000 --gpu-time", "--per-host 8 --ranks 64 --skew-us 700"] {
        let (_ran, folder) = generated(options);
        let ran = Traced::rocshim(["ranks", "--json"]).arg(&folder).run().ok();
        let said: Value = serde_json::from_str(&ran.stdout).unwrap();
        let truth: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join("truth.json")).unwrap()).unwrap();
        for clock in said["clocks"].as_array().unwrap() {
            let host = clock["host"].as_str().unwrap();
            let (ahead, error) = (clock["ahead_ns"].as_i64().unwrap(), clock["error_ns"].as_i64().unwrap());
            let true_skew = truth["skew_ns"][host].as_i64().unwrap();
            assert!((ahead - true_skew).abs() <= error, "{host}: {true_skew} is not {ahead} ± {error}");
            assert!(error < 100_000, "{host}: {error}");
        }
    }
}

#[test]
fn the_answer_comes_first_in_plain_words() {
    let (_ran, folder) = generated("--slow 1:1.3 --missing 7 --ranks 8");
    let said = Traced::rocshim(["ranks"]).arg(&folder).run().ok().stdout;
    let first = said.lines().next().unwrap();
    assert_eq!(
        first,
        "No trace of rank 7. The others wait for rank 1. 7 ranks on 1 host, 12 steps of 3 collectives (host times)."
    );
    let none =
        Traced::rocshim(["ranks"]).arg(artifacts::root().join("samples/traces/gfx942.ndjson")).run().ok();
    assert!(none.stdout.starts_with("No rank: no process calls RCCL"), "{}", none.stdout);
}

#[test]
fn a_folder_that_is_no_dataset_is_left_alone() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join("mine.txt"), "mine").unwrap();
    let trace = artifacts::root().join("samples/traces/demo.ndjson");
    let ran = Traced::rocshim(["export", "--to", "dataset", "-o"]).arg(scratch.path()).arg(&trace).run();
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("is no dataset and not empty"), "{}", ran.stderr);
    let ran = Traced::rocshim(["export", "--to", "csv", "--run", "x", "-o", "out"]).arg(&trace).run();
    assert!(ran.stderr.contains("--run needs --to dataset"), "{}", ran.stderr);
    let ran = Traced::rocshim(["sql", "/nowhere"]).env("ROCSHIM_PYTHON", "/nowhere/python").run();
    assert!(ran.stderr.contains("sql needs Python"), "{}", ran.stderr);
}
