//! A trace in segments, and a compressed one: each segment can be read alone, and together they
//! equal one file.

use super::reading::{ends, lost, numbers, parts, recover, summary};
use rocshim_tests::trace::read_lines;
use rocshim_tests::{Trace, Traced};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

// ---- rotation ----

#[test]
fn a_trace_in_parts_is_what_one_file_would_be() {
    let program = Traced::program("many_threads").args(["4", "25000", "3"]);
    let outcome = program.env("ROCSHIM_ROTATE_MIB", "1").with_shim().ok();
    let parts = parts(&outcome);
    assert!(parts.len() > 5, "{} parts", parts.len());
    assert_eq!(lost(&parts), BTreeMap::new());
    assert!(ends(&parts)[..parts.len() - 1].iter().all(|end| *end == "rotated"), "{:?}", ends(&parts));
    assert_eq!(ends(&parts).last(), Some(&"exit"));
    assert!(
        parts.iter().all(|part| part.bytes.len() < 3 << 20),
        "a part is not much longer than was asked for"
    );
    let launches: usize = parts.iter().map(|part| part.launches().count()).sum();
    assert_eq!(launches, outcome.standin_log().launches.len());
    let printed = summary(&[&outcome.folder().join("out")]);
    assert_eq!(printed["totals"]["processes"], 1);
    assert_eq!(printed["totals"]["launches"], 100_000);
    assert_eq!(printed["processes"][0]["end"], "exit");
    assert_eq!(printed["processes"][0]["parts"], parts.len());
    assert_eq!(printed["processes"][0]["notes"], Value::Array(Vec::new()));
}

#[test]
fn a_part_that_is_read_alone_says_that_it_is_one() {
    let program = Traced::program("steps").args(["20000", "sleep 0.2", "100"]);
    let outcome = program.env("ROCSHIM_ROTATE_MIB", "0.2").with_shim().ok();
    assert!(parts(&outcome).len() > 1);
    let files = outcome.trace_files();
    let first = summary(&[&files[0]]);
    assert_eq!(first["processes"][0]["end"], "rotated");
    let last = summary(&[files.last().unwrap()]);
    assert_eq!(last["processes"][0]["end"], "exit");
    let note = last["processes"][0]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("limited: part"), "{note}");
    for printed in [first, last] {
        let fallback = printed["libraries"].to_string();
        assert!(
            !fallback.contains("loaded in the process, no call seen\""),
            "nothing is absent for certain: {fallback}"
        );
    }
}

#[test]
fn a_part_ends_when_it_is_as_old_as_was_asked_for() {
    let program =
        Traced::program("steps").args(["10", "sleep 0.3", "10", "sleep 0.3", "10", "sleep 0.7", "10"]);
    let outcome = program.env("ROCSHIM_ROTATE_S", "0.2").with_shim().ok();
    let parts = parts(&outcome);
    assert_eq!(numbers(&parts), (1..=40).collect::<Vec<_>>());
    assert!((3..=5).contains(&parts.len()), "nothing was written to some: {} parts", parts.len());
}

#[test]
fn kills_at_random_moments_of_a_rotation_lose_nothing_and_double_nothing() {
    let mut rotated = 0;
    for round in 0..30 {
        let program = Traced::program("kill_self").args(["2000", "thread"]).env("ROCSHIM_MEMORY_MIB", "0.25");
        let outcome = program.env("ROCSHIM_ROTATE_MIB", "0.1").with_shim();
        assert_eq!(outcome.signal, Some(9), "round {round}");
        let before = summary(&[&outcome.folder().join("out")]);
        recover(&outcome);
        let parts = parts(&outcome);
        assert_eq!(ends(&parts).last(), Some(&"recovered"), "round {round}");
        rotated += usize::from(parts.len() > 2);
        let mut accounts: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for thread in parts.iter().flat_map(Trace::threads) {
            let (produced, printed) = accounts.entry(thread.tid).or_default();
            (*produced, *printed) = (*produced + thread.produced, *printed + thread.written + thread.lost);
        }
        let mut ids: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let launches = parts.iter().flat_map(Trace::launches).map(|launch| &launch.call);
        let loads = parts.iter().flat_map(Trace::loads).map(|load| &load.call);
        launches.chain(loads).for_each(|call| ids.entry(call.tid).or_default().push(call.id));
        for (tid, ids) in &mut ids {
            ids.sort_unstable();
            let gaps = parts.iter().flat_map(Trace::gaps).filter(|gap| gap.tid == *tid);
            let lost: u64 = gaps.map(|gap| gap.lost).sum();
            let (produced, printed) = accounts[tid];
            assert_eq!(
                (produced, printed),
                (ids.len() as u64 + lost, ids.len() as u64 + lost),
                "round {round}"
            );
            assert!(ids.last().unwrap() - ids.len() as u64 <= lost, "round {round}: {tid} has holes");
        }
        let after = summary(&[&outcome.folder().join("out")]);
        assert_eq!(
            before["totals"], after["totals"],
            "round {round}: summary reads what is left, where it is left"
        );
    }
    assert!(rotated > 10, "most of them have several parts: {rotated}");
}

/// A kill may fall between a segment's last line and the commit of the next segment.
#[test]
fn a_part_whose_end_was_written_and_never_committed_is_the_last_one() {
    let program = Traced::program("kill_self").args(["20000", "thread"]).env("ROCSHIM_FULL", "wait");
    let outcome = program.env("ROCSHIM_ROTATE_MIB", "0.1").with_shim();
    let whole = summary(&[&outcome.folder().join("out")]);
    let files = outcome.trace_files();
    let last_line = |file: &Path| {
        let text = String::from_utf8(read_lines(file).unwrap()).unwrap();
        text.lines().last().unwrap_or_default().to_string()
    };
    let (footer, last) = (last_line(&files[0]), files.last().unwrap());
    assert!(files.len() > 1 && footer.contains("rotated"), "{footer}");
    // A segment without lines follows one with a footer.
    if !last_line(last).is_empty() && !last_line(last).contains("rotated") {
        let mut file = std::fs::OpenOptions::new().append(true).open(last).unwrap();
        file.write_all(format!("{footer}\n").as_bytes()).unwrap();
    }
    assert_eq!(summary(&[&outcome.folder().join("out")])["totals"], whole["totals"]);
    recover(&outcome);
    let parts = parts(&outcome);
    assert_eq!(ends(&parts).last(), Some(&"recovered"));
    assert_eq!(summary(&[&outcome.folder().join("out")])["totals"], whole["totals"]);
}

#[test]
fn repeated_names_are_equal_in_every_segment() {
    for name in ["graph_capture", "gemm", "conv", "stream_reuse", "copies"] {
        let outcome = Traced::program(name).env("ROCSHIM_ROTATE_MIB", "0.000001").with_shim().ok();
        let one = Traced::program(name).with_shim().ok();
        let events = |parts: &[Trace]| parts.iter().flat_map(Trace::threads).map(|t| t.written).sum::<u64>();
        assert_eq!(events(&parts(&outcome)), events(&parts(&one)), "{name}");
    }
}

// ---- compressed ----

#[test]
fn a_compressed_trace_holds_what_a_plain_one_does_and_any_zstd_reads_it() {
    let run = |compress: &str| {
        let program = Traced::program("steps").args(["T500", "30000", "T10"]);
        program.env("ROCSHIM_COMPRESS", compress).with_shim().ok()
    };
    let outcomes = ["", "zstd", "zstd:9"].map(run);
    let traces = outcomes.each_ref().map(parts);
    for (outcome, traces) in outcomes.iter().zip(&traces) {
        let mut numbers = numbers(traces);
        numbers.sort_unstable(); // of three threads
        assert_eq!(numbers, (1..=30_510).collect::<Vec<_>>());
        assert_eq!(ends(traces), ["exit"]);
        let accounts: Vec<_> = traces[0].threads().map(|thread| (thread.produced, thread.lost)).collect();
        assert_eq!(accounts.iter().map(|(produced, _)| produced).sum::<u64>(), 30_511);
        assert_eq!(summary(&[&outcome.folder().join("out")])["totals"]["launches"], 30_510);
    }
    for (outcome, traces) in outcomes.iter().zip(&traces).skip(1) {
        let file = &outcome.trace_files()[0];
        assert!(file.to_str().unwrap().ends_with(".ndjson.zst"));
        let size = std::fs::metadata(file).unwrap().len();
        assert!(size * 5 < traces[0].bytes.len() as u64, "{size} bytes of {}", traces[0].bytes.len());
        let output = std::process::Command::new("zstd").arg("-dcq").arg(file).output();
        if let Ok(output) = output {
            assert!(output.status.success() && output.stdout == traces[0].bytes);
        }
    }
}

#[test]
fn a_compressed_trace_in_parts_that_is_killed_loses_nothing_and_doubles_nothing() {
    for round in 0..10 {
        let program =
            Traced::program("kill_self").args(["30000", "thread"]).env("ROCSHIM_MEMORY_MIB", "0.25");
        let variables =
            [("ROCSHIM_COMPRESS", "zstd"), ("ROCSHIM_ROTATE_MIB", "0.02"), ("ROCSHIM_FULL", "wait")];
        let outcome =
            variables.iter().fold(program, |program, (name, value)| program.env(name, value)).with_shim();
        assert_eq!(outcome.signal, Some(9), "round {round}");
        let before = summary(&[&outcome.folder().join("out")]);
        recover(&outcome);
        let parts = parts(&outcome);
        assert!(parts.len() > 1 || round > 0, "several parts");
        let numbered: Vec<u32> = numbers(&parts).into_iter().filter(|number| *number != 2).collect();
        assert_eq!(numbered[..], [&[1], &(3..=30_000).collect::<Vec<_>>()[..]].concat()[..], "round {round}");
        assert_eq!(before["totals"], summary(&[&outcome.folder().join("out")])["totals"], "round {round}");
    }
}

#[test]
fn a_compressed_trace_waits_for_no_more_than_a_second_or_so() {
    let steps = ["10", "sleep 2", "cp -r $ROCSHIM_OUT copy", "10"];
    let outcome = Traced::program("steps").args(steps).env("ROCSHIM_COMPRESS", "zstd").with_shim().ok();
    let copy = outcome.folder().join("copy").join(outcome.trace_files()[0].file_name().unwrap());
    assert_eq!(numbers(&[Trace::read(&copy)]), (1..=10).collect::<Vec<_>>());
    assert_eq!(numbers(&parts(&outcome)), (1..=20).collect::<Vec<_>>());
}

#[test]
fn a_compressed_trace_whose_last_frame_is_cut_is_read_up_to_it() {
    let program =
        Traced::program("steps").args(["20000", "sleep 0.1", "5000"]).env("ROCSHIM_COMPRESS", "zstd");
    let outcome = program.with_shim().ok();
    let file = &outcome.trace_files()[0];
    let bytes = std::fs::read(file).unwrap();
    std::fs::write(file, &bytes[..bytes.len() - 10]).unwrap();
    let printed = summary(&[file]);
    assert_eq!(printed["processes"][0]["end"], "cut");
    assert!(printed["totals"]["launches"].as_u64().unwrap() >= 10_000, "{}", printed["totals"]);
}
