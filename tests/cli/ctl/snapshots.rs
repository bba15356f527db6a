//! Snapshots of processes that keep running.

use super::*;

#[test]
fn a_snapshot_of_a_flight_recorder_is_complete_while_its_threads_continue() {
    let mut running = obedient(&["4", "0"], &[("ROCSHIM_FULL", "overwrite"), ("ROCSHIM_MEMORY_MIB", "1")]);
    sleep(Duration::from_millis(50));
    let mut last = BTreeMap::new();
    for number in 1..=8 {
        let said = asked(&running, &["snapshot"]);
        let path = running.folder().join(format!("out/snapshots/obedient-{}-{number}.ndjson", running.pid()));
        assert!(said.contains(path.to_str().unwrap()), "{said}");
        let trace = Trace::read(&path);
        assert_eq!(trace.footers().map(|footer| footer.end.as_str()).collect::<Vec<_>>(), ["snapshot"]);
        accounts_are_right(&trace);
        let threads = work(&trace);
        assert_eq!(threads.len(), 4);
        for (thread, launches) in threads {
            let follow = |pair: &[&Launch]| {
                pair[0].grid[0] + 1 == pair[1].grid[0] && pair[0].call.id + 1 == pair[1].call.id
            };
            assert!(launches.windows(2).all(follow), "one after the other");
            assert!(launches.iter().all(|launch| launch.grid[1..] == [1, 1] && launch.call.status == 0));
            let tid = launches[0].call.tid;
            let lost: u64 = trace.gaps().filter(|gap| gap.tid == tid).map(|gap| gap.lost).sum();
            assert_eq!(lost + 1, u64::from(launches[0].grid[0]), "what came before is counted");
            let newest = launches.last().unwrap().grid[0];
            assert!(last.insert(thread, newest).is_none_or(|before| before < newest), "it goes on");
        }
        let printed = summary(&path);
        assert_eq!(
            (&printed["processes"][0]["end"], &printed["processes"][0]["notes"]),
            (&"snapshot".into(), &serde_json::json!([]))
        );
    }
    assert!(refused(running.ctl(&["flush"])).contains("is a flight recorder"));
    // The contents of its rings are not in its own trace.
    let (evidence, why) = evidence(&summary(&running.trace_files()[0]), "librocblas.so");
    assert_eq!(evidence, "limited", "{why}");
    running.tell("halt");
    let outcome = running.finish().ok();
    accounts_are_right(&outcome.trace());
}

#[test]
fn a_snapshot_of_a_stopped_flight_recorder_holds_what_came_last() {
    let mut running = obedient(&[], &[("ROCSHIM_FULL", "overwrite"), ("ROCSHIM_MEMORY_MIB", "0.25")]);
    running.tell("launch 5000");
    asked(&running, &["stop"]);
    running.tell("launch 5000");
    let path = running.folder().join("mine.ndjson");
    asked(&running, &["snapshot", "-o", path.to_str().unwrap()]);
    let trace = Trace::read(&path);
    let launches: Vec<_> = trace.launches().collect();
    assert_eq!(launches.last().unwrap().grid[0], 5000);
    assert!(launches.len() > 500);
    let refusal = refused(running.ctl(&["snapshot", "-o", path.to_str().unwrap()]));
    assert!(refusal.contains("cannot make") && refusal.contains("File exists"), "{refusal}");
    running.finish().ok();
}

#[test]
fn a_snapshot_of_a_trace_that_grows_is_a_trace() {
    let mut running = obedient(&["4", "2000"], &[]);
    for number in 1..=5 {
        running.tell("launch 10");
        asked(&running, &["snapshot"]);
        let path = running.folder().join(format!("out/snapshots/obedient-{}-{number}.ndjson", running.pid()));
        let trace = Trace::read(&path);
        assert_eq!(trace.footers().map(|footer| footer.end.as_str()).collect::<Vec<_>>(), ["snapshot"]);
        accounts_are_right(&trace);
        let launched = trace.launches().filter(|launch| trace.kernel_of(launch) == "commanded").count();
        assert_eq!(launched, number * 10);
        assert_eq!(work(&trace).len(), 4);
        assert!(
            work(&trace)
                .values()
                .all(|launches| launches.windows(2).all(|pair| pair[0].grid[0] + 1 == pair[1].grid[0]))
        );
    }
    running.tell("halt");
    let outcome = running.finish().ok();
    assert_eq!(outcome.trace_files().len(), 1, "the snapshots are not read with the trace");
}

#[test]
fn a_snapshot_of_a_trace_in_parts_is_the_part_that_is_written() {
    for compress in ["", "zstd"] {
        let variables = [("ROCSHIM_ROTATE_MIB", "0.2"), ("ROCSHIM_COMPRESS", compress)];
        let mut running = obedient(&["2", "1000"], &variables);
        let began = Instant::now();
        while running.trace_files().len() < 3 && began.elapsed() < Duration::from_secs(30) {
            sleep(Duration::from_millis(20));
        }
        let path = running.folder().join("mine.ndjson");
        running.tell("launch 10");
        asked(&running, &["flush"]);
        let said = asked(&running, &["snapshot", "-o", path.to_str().unwrap()]);
        assert!(said.contains("of part "), "{said}");
        let trace = Trace::read(&path);
        accounts_are_right(&trace);
        assert!(trace.headers().next().unwrap().part() > 1);
        assert_eq!(trace.footers().map(|footer| footer.end.as_str()).collect::<Vec<_>>(), ["snapshot"]);
        let printed = summary(&path);
        let absent = |row: &&Value| row["evidence"] == "confirmed_absent" && row["loaded_in"] != 0;
        assert_eq!(
            printed["libraries"].as_array().unwrap().iter().filter(absent).count(),
            0,
            "it is but a part"
        );
        running.tell("halt");
        running.finish().ok();
    }
}
