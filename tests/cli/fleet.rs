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
fn the_summary_has_a_row_for_each_rank_and_says_which_differ() {
    let (_ran, folder) = generated("--kernels 2 --fallback 4 --missing 7 --per-host 4");
    let said = Traced::rocshim(["summary", "--json"]).arg(&folder).run().ok().stdout;
    let said: Value = serde_json::from_str(&said).unwrap();
    let rows = said["ranks"].as_array().unwrap();
    let of = |row: &Value| {
        let number = |key: &str| row[key].as_u64().unwrap();
        (number("rank"), row["host"].as_str().unwrap().to_owned(), number("fallback_launches") > 0)
    };
    let host = |rank| if rank < 4 { "node0000".to_owned() } else { "node0001".to_owned() };
    assert_eq!(
        rows.iter().map(of).collect::<Vec<_>>(),
        Vec::from_iter((0..7).map(|rank| (rank, host(rank), rank == 4)))
    );
    let differs: Vec<_> =
        rows.iter().filter(|row| !row["differs"].is_null()).map(|row| row["rank"].as_u64()).collect();
    assert_eq!(differs, [Some(2), Some(4)]);
    assert_eq!((&rows[2]["evidence"], &rows[2]["why"]), (&"confirmed".into(), &Value::Null));
    let text = Traced::rocshim(["summary"]).arg(&folder).run().ok().stdout;
    let sentence = "7 ranks on 2 hosts: ranks 2, 4 do something else than most. No trace of rank 7.";
    assert!(text.lines().any(|line| line == sentence), "{text}");
}

#[test]
fn a_comparison_pairs_the_ranks_of_two_runs() {
    let ((_a, baseline), (_b, other)) = (generated("--ranks 4"), generated("--ranks 5 --kernels 2"));
    let said = Traced::rocshim(["compare", "--json"]).arg(&baseline).arg(&other).run().ok().stdout;
    let said: Value = serde_json::from_str(&said).unwrap();
    let rows = said["ranks"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    for (rank, row) in rows.iter().enumerate() {
        let (change, launches) = (&row["versus"]["B"], &row["versus"]["B"]["launches"]);
        assert_eq!(row["rank"], rank);
        assert_eq!(*launches, if rank == 4 { Value::Null } else { 0.into() }, "{row}");
        let what = change["what"].as_str().unwrap_or_default();
        assert_eq!(
            what.starts_with("only in A: launches gelu(") && what.contains("only in B: launches gelu_tanh("),
            rank == 2,
            "{row}"
        );
    }
    assert_eq!(
        (&rows[2]["versus"]["B"]["evidence"], &rows[4]["sides"]["A"]),
        (&"confirmed".into(), &Value::Null)
    );
}

#[test]
fn a_worker_that_inherited_a_ranks_number_is_not_the_rank() {
    let (_ran, folder) = generated("--ranks 2");
    let rank = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let rank = rank.into_iter().find(|path| path.to_string_lossy().contains("10001")).expect("rank 1");
    let text = std::fs::read_to_string(&rank).unwrap();
    // Its header and its definitions, one launch late in the job, and an end after the rank's.
    let is_kept =
        |line: &&str| !["\"dur\":", "\"thread\"", "\"footer\""].iter().any(|word| line.contains(word));
    let lines: Vec<&str> = text.lines().filter(is_kept).collect();
    let launch = text.lines().rfind(|line| line.contains("\"type\":\"launch\"")).expect("a launch");
    let tid = serde_json::from_str::<Value>(launch).unwrap()["tid"].clone();
    let end = serde_json::from_str::<Value>(text.lines().last().unwrap()).unwrap()["t"].as_u64().unwrap()
        + 1_000_000;
    let worker = lines.join("\n").replace("\"pid\":10001", "\"pid\":20001")
        + &format!(
            "\n{launch}\n{{\"type\":\"thread\",\"tid\":{tid},\"produced\":1,\"written\":1,\"lost\":0}}\n"
        )
        + &format!("{{\"type\":\"footer\",\"t\":{end},\"end\":\"exit\"}}\n");
    std::fs::write(folder.join("worker-20001.ndjson"), worker).unwrap();
    let said = Traced::rocshim(["ranks", "--json"]).arg(&folder).run().ok().stdout;
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(findings(&said), Vec::<String>::new());
    assert_eq!(said["ranks"][1]["pid"], 10001);
    assert!(said["notes"][0].as_str().unwrap().contains("workers"), "{}", said["notes"]);
    let summary = Traced::rocshim(["summary", "--json"]).arg(&folder).run().ok().stdout;
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(
        (&summary["ranks"][0]["processes"], &summary["ranks"][1]["processes"]),
        (&1.into(), &2.into())
    );
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
fn the_page_draws_each_ranks_own_time_in_each_step() {
    let (ran, folder) = generated("--slow 3:1.3 --kernels 2 --ranks 16 --steps 6 --gpu-time");
    let place = ran.folder().join("page.html");
    Traced::rocshim(["report", "-o"]).arg(&place).arg(&folder).run().ok();
    let page = std::fs::read_to_string(&place).unwrap();
    assert!(page.contains("data-section=\"ranks\"") && page.contains("data-table=\"rank_findings\""));
    let (_, spec) = page.split_once("id=\"ranks-figure-spec\">").expect("the figure");
    let spec: Value = serde_json::from_str(spec.split_once("</script>").unwrap().0).unwrap();
    let drawn = &spec["views"][0]["data"][0];
    let ratios: Vec<Vec<f64>> = serde_json::from_value(drawn["z"].clone()).unwrap();
    assert_eq!((ratios.len(), drawn["x"].to_string().as_str()), (16, "[2,3,4,5,6]"));
    for (rank, of_steps) in ratios.iter().enumerate() {
        assert!(of_steps.iter().all(|ratio| (*ratio > 1.15) == (rank == 3)), "rank {rank}: {of_steps:?}");
    }
    let one = artifacts::root().join("samples/traces/gfx942.ndjson");
    Traced::rocshim(["report", "--force", "-o"]).arg(&place).arg(one).run().ok();
    assert!(!std::fs::read_to_string(&place).unwrap().contains("data-section=\"ranks\""));
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
