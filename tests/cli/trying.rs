//! `rocshim try` and `rocshim bisect` on a program whose decisions have known causes.

use rocshim_tests::{Outcome, Traced, artifacts};
use serde_json::Value;
use std::fs;

/// The command on `decider` with these words, in a folder of its own.
fn on_decider(command: &[&str], words: &[&str]) -> Traced {
    Traced::rocshim(command).arg("--").arg(artifacts::program("decider")).args(words)
}

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", outcome.stdout, outcome.stderr))
}

/// Verdict and evidence on the GEMM with so many rows.
fn verdict(page: &Value, rows: u32) -> (String, String) {
    let is_it = |row: &&Value| row["what"].as_str().unwrap().contains(&format!(" NN {rows}x64x32 "));
    let row = page["decisions"].as_array().unwrap().iter().find(is_it);
    let row = row.unwrap_or_else(|| panic!("no GEMM with {rows} rows: {page:#}"));
    let word = |key: &str| row[key].as_str().unwrap().to_string();
    (word("verdict"), word("evidence"))
}

fn pair(verdict: &str, evidence: &str) -> (String, String) {
    (verdict.into(), evidence.into())
}

#[test]
fn a_cause_is_confirmed_and_what_does_not_follow_it_is_not() {
    let words = ["set:X", "never", "chance", "rows", "set:X,Y"];
    let tried = on_decider(&["try", "X=1", "--runs", "10", "--json"], &words).run();
    let page = json(&tried);
    assert_eq!(tried.code, Some(0), "{page:#}");
    assert_eq!((page["with"].as_u64(), page["without"].as_u64()), (Some(10), Some(10)));
    assert_eq!(verdict(&page, 64), pair("follows", "confirmed"));
    for rows in [65, 67, 68] {
        assert_eq!(verdict(&page, rows), pair("stays", "confirmed"), "{rows}");
    }
    // Of 20 throws of a coin all are the same in 1 of 524,288 cases.
    assert!(verdict(&page, 66).0.starts_with("unstable"), "{page:#}");
    assert_eq!(tried.stderr.lines().filter(|line| line.starts_with("run ")).count(), 20, "{}", tried.stderr);
}

#[test]
fn the_text_says_what_follows_the_change_and_what_was_chosen() {
    let tried = on_decider(&["try", "X=1", "-q"], &["set:X", "never"]).run().ok();
    assert!(tried.stderr.is_empty(), "{}", tried.stderr);
    let first = tried.stdout.lines().next().unwrap();
    assert!(first.starts_with("1 of ") && first.ends_with(" follow X=1 (confirmed); 3 stay."), "{first}");
    assert!(tried.stdout.contains("without: librocblas.so, solution 1: Cijk_"), "{}", tried.stdout);
    assert!(tried.stdout.contains("with: librocblas.so, solution 2: Cijk_"), "{}", tried.stdout);
}

#[test]
fn a_change_without_effect_takes_four_runs() {
    let tried = on_decider(&["try", "Z=1", "--json"], &["set:X", "always"]).run();
    let page = json(&tried);
    assert_eq!((tried.code, page["with"].as_u64(), page["without"].as_u64()), (Some(1), Some(2), Some(2)));
    assert_eq!(verdict(&page, 64), pair("stays", "confirmed"));
}

#[test]
fn chance_time_and_the_number_of_runs_are_no_causes() {
    let words = ["chance", "clock", "count:1", "count:2", "count:3"];
    let page = json(&on_decider(&["try", "X=1", "--runs", "14", "--json"], &words).run());
    for rows in 64..=68 {
        let found = verdict(&page, rows);
        assert!(found.1 != "confirmed" || found.0 == "stays", "{rows}: {page:#}");
    }
}

#[test]
fn a_variable_is_unset_and_an_argument_is_added_or_left_out() {
    let unset = on_decider(&["try", "X=", "--json"], &["set:X"]).env("X", "1").run();
    assert_eq!(verdict(&json(&unset), 64), pair("follows", "confirmed"));
    let more = on_decider(&["try", "--arg", "always", "--json"], &["never"]).run();
    assert_eq!(verdict(&json(&more), 65), pair("follows", "confirmed"), "a GEMM that was not asked for");
    let less = on_decider(&["try", "--without-arg", "always", "--json"], &["never", "always"]).run();
    assert_eq!(verdict(&json(&less), 65), pair("follows", "confirmed"), "one that is no longer asked for");
    let skipped = on_decider(&["try", "X=1", "--json"], &["never", "skip:X"]).run();
    assert_eq!(verdict(&json(&skipped), 65), pair("follows", "confirmed"));
}

#[test]
fn a_run_that_crashes_hangs_or_fails_is_limited() {
    for (word, why) in [
        ("crash:X", "a run died by signal 11"),
        ("hang:X", "it took too long"),
        ("exit:X", "a run exited with code "),
    ] {
        let tried = on_decider(&["try", "X=1", "--timeout", "2"], &["set:X", word, "never"]).run();
        assert_eq!(tried.code, Some(3), "{word}: {}\n{}", tried.stdout, tried.stderr);
        assert!(tried.stdout.contains(why), "{word}: {}", tried.stdout);
        assert!(!tried.stdout.contains("follow the change"), "{word}: {}", tried.stdout);
    }
}

#[test]
fn a_trace_without_all_launches_is_limited() {
    let tried =
        on_decider(&["try", "X=1", "--json"], &["set:X"]).env("ROCSHIM_RECORD", "*,-hip*Launch*").run();
    let page = json(&tried);
    assert_eq!((tried.code, verdict(&page, 64)), (Some(3), pair("limited", "limited")));
}

#[test]
fn what_cannot_be_tried_is_reported_in_one_sentence() {
    let program = artifacts::program("decider");
    let program = program.to_str().unwrap();
    for (line, code, sentence) in [
        (&["try", "X=1", "--", "no-such-program"][..], 127, "no-such-program: command not found"),
        (&["try", "--", program], 125, "nothing is changed"),
        (&["try", "X", "--", program], 125, "`X` is no change"),
        (&["try", "ROCSHIM_OFF=1", "--", program], 125, "changes the recording"),
        (&["try", "--without-arg", "x", "--", program], 125, "has no argument `x`"),
        (&["try", "X=1", "--", "true"], 125, "no run recorded anything"),
        (&["bisect", "/no/such/a", "/no/such/b", "--", program], 125, "cannot read /no/such/a"),
    ] {
        let output = Traced::rocshim(line).run();
        let last = output.stderr.lines().last().unwrap_or_default().to_string();
        assert_eq!((output.code, last.contains(sentence)), (Some(code), true), "{line:?}: {}", output.stderr);
    }
}

/// Two files of variables that differ in `X` and in 11 others.
fn environments(bisect: &Traced) {
    let lines = |x: &str, value: &str| {
        let others = (0..11).map(|at| format!("OTHER_{at}={value}\n"));
        others.chain([format!("X={x}\nSAME=1\n")]).collect::<String>()
    };
    fs::write(bisect.folder().join("a.env"), lines("0", "1")).unwrap();
    fs::write(bisect.folder().join("b.env"), lines("1", "2")).unwrap();
}

#[test]
fn bisect_finds_the_variable_and_continues_from_its_state() {
    let run = |command: Traced| {
        environments(&command);
        command.run()
    };
    let state = tempfile::tempdir().unwrap();
    let state = state.path().join("state.json");
    let line = ["bisect", "a.env", "b.env", "--state", state.to_str().unwrap()];
    let words = ["set:X", "set:X", "never", "rows"];
    let first = run(on_decider(&line, &words));
    assert_eq!(first.code, Some(0), "{}\n{}", first.stdout, first.stderr);
    assert!(
        first.stdout.starts_with(
            "another solution for 2 GEMMs because of X=1 (confirmed); the other 11 differences do not matter."
        ),
        "{}",
        first.stdout
    );
    assert!(first.stderr.contains("run 1: "), "{}", first.stderr);
    let again = run(on_decider(&line, &words));
    assert_eq!((again.code, &again.stdout), (Some(0), &first.stdout));
    assert!(!again.stderr.contains("run "), "no run is made again: {}", again.stderr);
    let other = run(on_decider(&line, &["set:X"]));
    assert_eq!(other.code, Some(125));
    assert!(other.stderr.contains("is of another bisection"), "{}", other.stderr);
}

#[test]
fn bisect_says_where_no_difference_matters_and_where_nothing_is_stable() {
    let bisect = |words: &[&str]| {
        let command = on_decider(&["bisect", "a.env", "b.env", "-q", "--runs", "12"], words);
        environments(&command);
        command.run()
    };
    let none = bisect(&["never", "set:ABSENT"]);
    assert_eq!(none.code, Some(1), "{}", none.stderr);
    assert!(
        none.stdout.starts_with("None of these 12 differences: A and B decide the same."),
        "{}",
        none.stdout
    );
    let unstable = bisect(&["count:1"]);
    assert_eq!(unstable.code, Some(3), "{}\n{}", unstable.stdout, unstable.stderr);
    assert!(!unstable.stdout.contains("because of"), "{}", unstable.stdout);
}

#[test]
fn bisect_takes_the_variables_of_two_traces() {
    let traced = |value: &str| {
        Traced::program("decider")
            .arg("set:ROCBLAS_X")
            .env("ROCBLAS_X", value)
            .env("HIP_Y", value)
            .with_shim()
            .ok()
    };
    let (a, b) = (traced("0"), traced("1"));
    let files = [&a, &b].map(|side| side.trace_files()[0].to_str().unwrap().to_owned());
    let found = on_decider(&["bisect", "-q", "--json", &files[0], &files[1]], &["set:ROCBLAS_X"]).run();
    let page = json(&found);
    assert_eq!(found.code, Some(0), "{page:#}");
    let causes = page["causes"].as_array().unwrap();
    let names: Vec<&str> = causes[0]["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|at| page["differences"][at.as_u64().unwrap() as usize]["name"].as_str().unwrap())
        .collect();
    assert_eq!((causes.len(), names), (1, vec!["ROCBLAS_X"]));
}
