//! A trace with a disk budget, or whose file cannot be written: losses are reported at their place
//! with the reason, and the program is not affected.

use super::reading::{ends, lost, numbers, parts, recover, summary};
use rocshim_tests::{Outcome, Trace, Traced, artifacts};
use rocshim_trace::{Record, TracePath};
use serde_json::Value;
use std::collections::BTreeMap;

// ---- disk budget ----

#[test]
fn a_trace_that_has_taken_its_room_ends_and_says_what_is_missing() {
    for steps in [
        &["20000", "sleep 0.1", "T20000", "T10", "500"][..],
        &["T300", "T30000", "T1000", "sleep 0.3", "T10"],
    ] {
        let program = Traced::program("steps").args(steps);
        let outcome = program.env("ROCSHIM_DISK_MIB", "1").with_shim().ok();
        let parts = parts(&outcome);
        assert_eq!((parts.len(), ends(&parts)), (1, vec!["exit"]));
        let (bytes, lost) = (parts[0].bytes.len(), lost(&parts));
        assert!(bytes <= 1 << 20 && bytes > 600_000, "{bytes} bytes");
        assert_eq!(lost.keys().collect::<Vec<_>>(), ["disk_cap"]);
        let numbers = numbers(&parts);
        assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>(), "what came first");
        assert_eq!(numbers.len() + lost["disk_cap"] as usize, outcome.standin_log().launches.len());
        let printed = summary(&[&outcome.folder().join("out")]);
        assert_eq!(printed["totals"]["lost"], lost["disk_cap"]);
    }
}

#[test]
fn a_trace_that_makes_room_keeps_what_came_last() {
    let steps = ["T2000", "20000", "sleep 0.1", "T3000", "20000", "sleep 0.1", "T20000", "T10"];
    let program = Traced::program("steps").args(steps);
    let program = program.env("ROCSHIM_DISK_MIB", "1.5").env("ROCSHIM_DISK_FULL", "oldest");
    let outcome = program.with_shim().ok();
    let parts = parts(&outcome);
    let bytes: usize = parts.iter().map(|part| part.bytes.len()).sum();
    assert!(bytes <= 3 << 19 && bytes > 700_000, "{bytes} bytes");
    let (numbers, lost) = (numbers(&parts), lost(&parts));
    assert_eq!(lost.keys().collect::<Vec<_>>(), ["part_removed"]);
    assert_eq!(*numbers.last().unwrap(), 65_010);
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "the last, without a hole");
    let loads: usize = parts.iter().map(|part| part.loads().count()).sum();
    assert_eq!(numbers.len() + loads + lost["part_removed"] as usize, 65_011, "one load, and the launches");
    let printed = summary(&[&outcome.folder().join("out")]);
    assert_eq!(printed["totals"]["processes"], 1);
    assert_eq!(printed["totals"]["lost"], lost["part_removed"]);
    assert_eq!(printed["processes"][0]["notes"], Value::Array(Vec::new()));
}

#[test]
fn kills_while_room_is_made_lose_nothing_that_is_not_counted() {
    for round in 0..20 {
        let program =
            Traced::program("kill_self").args(["20000", "thread"]).env("ROCSHIM_MEMORY_MIB", "0.25");
        let program = program.env("ROCSHIM_DISK_MIB", "0.8").env("ROCSHIM_DISK_FULL", "oldest");
        let outcome = program.with_shim();
        assert_eq!(outcome.signal, Some(9), "round {round}");
        recover(&outcome);
        let folder = outcome.folder().join("out");
        let printed = summary(&[&folder]);
        assert_eq!(printed["processes"][0]["notes"], Value::Array(Vec::new()), "round {round}");
        // What the process had no time to delete does not count.
        let files = outcome.trace_files();
        let oldest =
            files.iter().map(|file| Trace::read(file).headers().next().unwrap().oldest).max().unwrap();
        for file in files.iter().filter(|file| TracePath::of(file).unwrap().part < oldest) {
            std::fs::remove_file(file).unwrap();
        }
        let parts = parts(&outcome);
        let (mut ids, mut lost): (BTreeMap<u32, Vec<u64>>, BTreeMap<u32, u64>) = Default::default();
        for part in &parts {
            part.launches().for_each(|launch| ids.entry(launch.call.tid).or_default().push(launch.call.id));
            part.loads().for_each(|load| ids.entry(load.call.tid).or_default().push(load.call.id));
            part.gaps().for_each(|gap| *lost.entry(gap.tid).or_default() += gap.lost);
        }
        for (tid, ids) in ids {
            let highest = ids.iter().max().unwrap();
            let all = ids.len() as u64 + lost.get(&tid).copied().unwrap_or(0);
            assert!(*highest <= all, "round {round}: {tid} has holes: {highest} of {all}");
        }
    }
}

// ---- write errors ----

#[test]
fn a_file_that_is_removed_is_followed_by_the_next_part() {
    let remove = ["rm -r $ROCSHIM_OUT", "rm $ROCSHIM_OUT/*"];
    for remove in remove {
        let outcome = Traced::program("steps").args(["1000", "sleep 0.2", remove, "1000"]).with_shim().ok();
        assert_eq!(outcome.stdout, "launched 2000\n");
        let parts = parts(&outcome);
        let header = parts[0].headers().next().unwrap();
        assert_eq!((parts.len(), header.part()), (1, 2));
        let note = header.note.clone().expect("it says so");
        assert!(note.contains("the file was deleted; recording continues in this segment"), "{note}");
        assert_eq!(
            numbers(&parts),
            (1001..=2000).collect::<Vec<_>>(),
            "what had been written is gone, no more"
        );
        assert_eq!(lost(&parts), BTreeMap::new());
        let printed = summary(&[&outcome.folder().join("out")]);
        let notes = printed["processes"][0]["notes"].to_string();
        assert!(notes.contains("limited: part 1 of the trace was not read"), "{notes}");
    }
}

#[test]
fn where_files_may_not_get_long_a_trace_is_in_parts() {
    let limited = "ulimit -f 512; exec \"$0\" \"$@\"";
    let outcome = Traced::command("/bin/sh".as_ref())
        .args(["-c".as_ref(), limited.as_ref(), artifacts::program("steps").as_os_str()])
        .args(["1000", "sleep 0.2", "T30000", "100"])
        .env_remove("STANDIN_LOG")
        .with_shim();
    assert_eq!((outcome.code, outcome.signal), (Some(0), None), "SIGXFSZ is not the program's");
    assert_eq!(outcome.stdout, "launched 31100\n");
    let parts = parts(&outcome);
    assert!(
        parts.len() > 1 && parts.iter().all(|part| part.bytes.len() <= 512 << 10),
        "none is longer than it may be"
    );
    // Ring memory is a file too, and so short that the collector may be late.
    let (numbers, mut lost) = (numbers(&parts), lost(&parts));
    let late = lost.remove("ring_full").unwrap_or(0);
    assert_eq!((numbers.len() as u64 + late, lost), (31100, BTreeMap::new()));
}

#[test]
fn a_process_that_may_write_no_file_runs_unharmed() {
    let limited = "ulimit -f 0; exec \"$0\" \"$@\"";
    for out in ["out", "a-file/out"] {
        let program = Traced::command("/bin/sh".as_ref()).args([
            "-c".as_ref(),
            limited.as_ref(),
            artifacts::program("steps").as_os_str(),
        ]);
        let folder = program.folder().to_path_buf();
        std::fs::write(folder.join("a-file"), "").unwrap();
        let program =
            program.args(["1000", "T100"]).env_remove("STANDIN_LOG").env("LD_PRELOAD", artifacts::shim());
        let program = program.env("ROCSHIM_OUT", folder.join(out)).env("TMPDIR", folder.join("a-file"));
        let outcome = program.env("ROCSHIM_LOG", folder.join("log")).run();
        let ended = (outcome.code, outcome.signal, outcome.stdout.as_str());
        assert_eq!(ended, (Some(0), None, "launched 1100\n"), "{out}");
        let mut files = outcome.trace_files();
        files.extend(folder.join("log").exists().then(|| folder.join("log")));
        assert!(files.iter().all(|file| std::fs::metadata(file).unwrap().len() == 0), "{files:?}");
    }
}

/// Runs `steps` in a mount namespace in which the folder of its traces is a file system of 500 KiB;
/// returns its final contents. `None` if this machine does not allow that.
fn on_a_small_disk(steps: &[&str], variables: &[(&str, &str)]) -> Option<Outcome> {
    let may = std::process::Command::new("unshare").args(["-rm", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        eprintln!("no mount namespace can be made here: not tested");
        return None;
    }
    let script = "mkdir disk out && mount -t tmpfs -o size=500k none disk && ROCSHIM_OUT=$PWD/disk LD_PRELOAD=$SHIM \"$@\"; \
                  code=$?; rm -f disk/ballast; cp disk/* out; exit $code";
    let traced = Traced::command("/usr/bin/env".as_ref()).args(["unshare", "-rm", "sh", "-c", script, "sh"]);
    let traced = traced.arg(artifacts::program("steps")).args(steps).env("SHIM", artifacts::shim());
    let traced = variables.iter().fold(traced, |traced, (name, value)| traced.env(name, value));
    Some(traced.run())
}

#[test]
fn losses_by_a_full_disk_are_reported_in_place_and_the_trace_continues() {
    let fill = "head -c 1000000 /dev/zero 2>/dev/null >disk/ballast; true";
    let steps = [
        "100",
        "T5",
        "sleep 0.2",
        fill,
        "300",
        "sleep 0.3",
        "5000",
        "T2000",
        "sleep 0.3",
        "rm disk/ballast",
        "sleep 0.6",
        "50",
        "T5",
    ];
    let Some(outcome) = on_a_small_disk(&steps, &[("ROCSHIM_MEMORY_MIB", "0.125")]) else { return };
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "launched 7460\n"), "{}", outcome.stderr);
    let parts = parts(&outcome);
    assert_eq!((parts.len(), ends(&parts)), (1, vec!["exit"]));
    let lost = lost(&parts);
    assert_eq!(lost.keys().collect::<Vec<_>>(), ["disk_full"], "and for no other reason: {lost:?}");
    let numbers = numbers(&parts);
    assert_eq!(numbers.len() as u64 + lost["disk_full"], 7460);
    assert_eq!(numbers[..100], (1..=100).collect::<Vec<_>>()[..]);
    assert_eq!(numbers[numbers.len() - 55..], (7406..=7460).collect::<Vec<_>>()[..], "it went on");
    for thread in parts[0].threads() {
        assert_eq!(thread.produced, thread.written + thread.lost);
    }
    let at = |wanted: &dyn Fn(&Record) -> bool| parts[0].records.iter().position(wanted).unwrap();
    let gap = at(&|record| matches!(record, Record::Gap(gap) if gap.lost > 3000));
    let first_after = at(&|record| matches!(record, Record::Launch(launch) if launch.grid[0] == 7406));
    assert!(gap < first_after, "the gap stands where the events would have stood");
}

#[test]
fn what_waits_when_a_process_ends_on_a_full_disk_is_recovered() {
    let fill = "head -c 1000000 /dev/zero 2>/dev/null >disk/ballast; true";
    let Some(outcome) = on_a_small_disk(&["100", "sleep 0.2", fill, "500"], &[]) else { return };
    assert_eq!(outcome.code, Some(0));
    // The trace was copied: the ring files name another path.
    let text = std::fs::read_to_string(&outcome.trace_files()[0]).unwrap();
    assert!(text.ends_with('\n'));
    recover(&outcome);
    let parts = parts(&outcome);
    assert_eq!(numbers(&parts), (1..=600).collect::<Vec<_>>());
    assert_eq!(ends(&parts), ["recovered"]);
}
