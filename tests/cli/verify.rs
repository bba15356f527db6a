//! `rocshim verify`: consistent traces pass, and traces with anything removed, added or changed
//! fail.

use rocshim_tests::{Outcome, Traced};
use std::path::{Path, PathBuf};

/// The output of `rocshim verify --json` for a trace, and whether it passed.
fn verified(trace: &Path) -> (serde_json::Value, bool) {
    let outcome = Traced::rocshim(["verify".as_ref(), "--json".as_ref(), trace.as_os_str()]).run();
    assert_eq!(outcome.stderr, "");
    let mut all: Vec<serde_json::Value> = serde_json::from_str(&outcome.stdout).expect("JSON");
    (all.remove(0), outcome.code == Some(0))
}

/// The errors with which `rocshim verify` rejects a trace of these lines.
fn refused(lines: &[String]) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("t.ndjson");
    std::fs::write(&path, lines.concat()).unwrap();
    let (verified, is_content) = verified(&path);
    assert!(!is_content && verified["verdict"] == "wrong", "{verified}");
    let wrong = verified["wrong"].as_array().unwrap().iter().map(|w| w.as_str().unwrap().to_owned());
    wrong.collect::<Vec<_>>().join("; ")
}

fn lines_of(outcome: &Outcome) -> Vec<String> {
    let text = std::fs::read_to_string(&outcome.trace_files()[0]).unwrap();
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// The index of the first line with this beginning.
fn at(lines: &[String], begin: &str) -> usize {
    lines.iter().position(|line| line.starts_with(begin)).expect("such a line")
}

#[test]
fn a_whole_trace_is_right_with_and_without_losses() {
    let outcome = Traced::program("busy").args(["3", "30000"]).with_shim().ok();
    let (whole, is_content) = verified(&outcome.trace_files()[0]);
    assert!(is_content && whole["verdict"] == "right", "{whole}");
    let number = |key: &str| whole[key].as_u64().unwrap();
    assert_eq!(number("produced"), number("written") + number("lost"));
    assert!(number("written") > 0 && number("threads") == 4, "{whole}");

    let program = Traced::program("busy").args(["3", "30000"]).env("ROCSHIM_FULL", "overwrite");
    let outcome = program.env("ROCSHIM_MEMORY_MIB", "0.25").with_shim().ok();
    let (lossy, is_content) = verified(&outcome.trace_files()[0]);
    assert!(is_content && lossy["reasons"]["overwritten"].as_u64() > Some(0), "{lossy}");
}

#[test]
fn remains_of_a_killed_process_are_counted_before_and_after_recovery() {
    let outcome = Traced::program("busy").args(["2", "100000", "kill"]).with_shim();
    let trace = &outcome.trace_files()[0];
    let (before, is_content) = verified(trace);
    assert!(is_content, "{before}");
    Traced::rocshim(["recover".as_ref(), trace.as_os_str()]).run().ok();
    let (after, is_content) = verified(trace);
    assert!(is_content, "{after}");
    assert_eq!((&before["written"], &before["produced"]), (&after["written"], &after["produced"]));
}

#[test]
fn without_its_ring_files_a_killed_processs_trace_is_not_right() {
    let outcome = Traced::program("busy").args(["2", "100000", "kill"]).with_shim();
    let path = &outcome.trace_files()[0];
    let header: serde_json::Value = serde_json::from_str(&lines_of(&outcome)[0]).unwrap();
    std::fs::remove_dir_all(header["rings"].as_str().unwrap()).unwrap();
    let (verified, is_content) = verified(path);
    assert!(!is_content, "{verified}");
    assert!(verified["wrong"][0].as_str().unwrap().contains("ring files"), "{verified}");
}

#[test]
fn a_trace_that_its_user_deleted_is_not_wrong() {
    let rings = tempfile::tempdir().unwrap();
    let rocshim = |args: &[&str]| Traced::rocshim(args).env("ROCSHIM_RINGS", rings.path()).run();
    let killed = || {
        let program = Traced::program("busy").args(["2", "100000", "kill"]);
        program.env("ROCSHIM_RINGS", rings.path()).with_shim()
    };

    // The file of a killed process, whose ring files are left.
    let outcome = killed();
    let (out, trace) = (outcome.folder().join("out"), outcome.trace_files().remove(0));
    let (out, name) = (out.to_str().unwrap(), trace.to_str().unwrap());
    std::fs::remove_file(&trace).unwrap();
    let deleted = format!(
        "{name}: deleted\n  its file was deleted or moved away: `rocshim recover --discard` removes its ring files\n"
    );
    assert_eq!(rocshim(&["verify", out]).ok().stdout, deleted);
    assert_ne!(rocshim(&["summary", out]).code, Some(0), "its last events are no trace");
    let left = rocshim(&["recover"]).ok().stdout;
    assert!(left.contains(&format!("{name}: deleted; ")), "{left}");
    rocshim(&["recover", "--finish-all"]).ok();
    assert!(!trace.exists() && rings.path().read_dir().unwrap().count() == 1);

    // Beside another trace.
    let other = Traced::program("busy").args(["1", "1000"]).with_shim().ok();
    let copy = std::path::Path::new(out).join("other-1.ndjson");
    std::fs::copy(&other.trace_files()[0], &copy).unwrap();
    let both = rocshim(&["verify", out]).ok().stdout;
    assert!(both.starts_with("1 of 2 traces are right: ") && both.ends_with(&deleted), "{both}");
    rocshim(&["recover", "--discard"]).ok();
    assert_eq!(rings.path().read_dir().unwrap().count(), 0);
    assert!(!rocshim(&["verify", out]).ok().stdout.contains("deleted"));

    // The file of a process that runs, which continues in the next segment.
    let words = ["1000", "sleep 0.2", "rm $ROCSHIM_OUT/*", "1000"];
    let outcome = Traced::program("steps").args(words).with_shim().ok();
    let (verified, is_content) = verified(&outcome.folder().join("out"));
    assert!(is_content && verified["verdict"] == "right", "{verified}");
    assert_eq!(verified["deleted"], "segment 1 of its trace was deleted while the process ran");
    assert_eq!(verified["written"], 1000);
}

#[test]
fn a_line_that_is_missing_doubled_changed_or_undefined_is_found() {
    let outcome = Traced::program("busy").args(["1", "10000"]).with_shim().ok();
    let lines = lines_of(&outcome);
    let launch = at(&lines, r#"{"type":"launch""#);

    let mut cut = lines.clone();
    cut.remove(launch);
    assert!(refused(&cut).contains("are in the trace"), "{}", refused(&cut));

    let mut doubled = lines.clone();
    doubled.insert(launch, lines[launch].clone());
    assert!(refused(&doubled).contains("more than once"), "{}", refused(&doubled));

    // One replaced by another: the counts agree, the ids do not.
    let mut swapped = lines.clone();
    swapped[launch] = lines[at(&lines[launch + 1..], r#"{"type":"launch""#) + launch + 1].clone();
    assert!(refused(&swapped).contains("more than once"), "{}", refused(&swapped));

    let mut undefined = lines.clone();
    undefined.remove(at(&lines, r#"{"type":"kernel""#));
    assert!(refused(&undefined).contains("not defined"), "{}", refused(&undefined));

    let mut garbled = lines.clone();
    garbled.insert(launch, "{\"type\":\"launch\"\n".into());
    assert!(refused(&garbled).contains("no record"), "{}", refused(&garbled));

    let mut unaccounted = lines.clone();
    unaccounted.remove(at(&lines, r#"{"type":"thread""#));
    assert!(refused(&unaccounted).contains("no account"), "{}", refused(&unaccounted));

    let mut continued = lines.clone();
    continued.push(lines[launch].clone());
    assert!(refused(&continued).contains("follows the footer"), "{}", refused(&continued));

    let unended = &lines[..lines.len() - 1];
    assert!(refused(unended).contains("no footer"), "{}", refused(unended));
}

#[test]
fn wrong_thread_totals_are_found() {
    let outcome = Traced::program("busy").args(["1", "10000"]).with_shim().ok();
    let lines = lines_of(&outcome);
    let account = lines.iter().rposition(|line| line.starts_with(r#"{"type":"thread""#)).unwrap();
    for key in ["produced", "written", "lost"] {
        let mut record: serde_json::Value = serde_json::from_str(&lines[account]).unwrap();
        record[key] = (record[key].as_u64().unwrap() + 1).into();
        let mut changed = lines.clone();
        // The type comes first in every line.
        let text =
            record.to_string().replace(r#","type":"thread""#, "").replacen('{', r#"{"type":"thread","#, 1);
        changed[account] = text + "\n";
        assert!(refused(&changed).contains("its counters "), "{key}: {}", refused(&changed));
    }
}

/// A number of kills, which a script sets for the long form.
fn kills() -> usize {
    std::env::var("ROCSHIM_KILLS").map_or(1000, |kills| kills.parse().expect("a number"))
}

#[test]
fn after_kills_at_random_moments_every_trace_is_right() {
    let kills = kills();
    let one = |round: usize| {
        // Moments from before the first line to well into the middle, evenly spaced and all
        // different.
        let us = (round * 7919) % 24_000;
        let program = Traced::program("busy").args(["2", &us.to_string(), "kill"]).env_remove("STANDIN_LOG");
        let outcome = program.env("ROCSHIM_MEMORY_MIB", ["0.25", "256"][round % 2]).with_shim();
        assert_eq!(outcome.signal, Some(9), "round {round}");
        let out = outcome.folder().join("out");
        Traced::rocshim(["recover".as_ref(), out.as_os_str()]).run().ok();
        let (verified, is_content) = verified(&out);
        assert!(is_content, "round {round}, killed after {us} µs: {verified}");
        assert!(verified["produced"].as_u64() > Some(0), "round {round}: {verified}");
    };
    // Two at a time: a kill under load falls at other moments.
    std::thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || (half..kills).step_by(2).for_each(one));
        }
    });
}

#[test]
fn unfinished_traces_are_found_and_recovered() {
    let rings = tempfile::tempdir().unwrap();
    let outcome =
        Traced::program("busy").args(["2", "20000", "kill"]).env("ROCSHIM_RINGS", rings.path()).with_shim();
    let trace: &PathBuf = &outcome.trace_files()[0];
    let recover = |args: &[&str]| {
        Traced::rocshim(["recover"]).args(args).env("ROCSHIM_RINGS", rings.path()).run().ok().stdout
    };
    let name = trace.display().to_string();
    assert!(recover(&[]).contains(&format!("{name}: not finished")), "{}", recover(&[]));
    assert_eq!(std::fs::read_dir(rings.path()).unwrap().count(), 1, "it only looked");
    // Other processes' ring files in /dev/shm are left alone.
    recover(&[&name]);
    assert_eq!(std::fs::read_dir(rings.path()).unwrap().count(), 0);
    assert!(!recover(&[]).contains(&name));
}

#[test]
fn ring_files_that_a_trace_names_and_that_are_not_ours_are_left_alone() {
    let outcome = Traced::program("busy").args(["1", "100000", "kill"]).with_shim();
    let trace = &outcome.trace_files()[0];
    let lines = lines_of(&outcome);
    let header: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    let rings = PathBuf::from(header["rings"].as_str().unwrap());
    let precious = outcome.folder().join("precious");
    std::fs::create_dir(&precious).unwrap();
    for entry in std::fs::read_dir(&rings).unwrap().flatten() {
        std::fs::copy(entry.path(), precious.join(entry.file_name())).unwrap();
    }
    std::fs::remove_dir_all(&rings).unwrap();
    let named =
        std::fs::read_to_string(trace).unwrap().replace(rings.to_str().unwrap(), precious.to_str().unwrap());
    std::fs::write(trace, named).unwrap();
    let outcome = Traced::rocshim(["recover".as_ref(), trace.as_os_str()]).run();
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stdout.contains("not a folder that rocshim made"), "{}", outcome.stdout);
    assert!(precious.join("control").exists(), "nothing was removed");
}
