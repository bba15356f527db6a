//! `rocshim ctl`: requests to a running process for status, stop, start, flush and snapshot;
//! nothing else changes, and the counters of its trace add up.

mod accounts;
mod snapshots;
mod surroundings;

use accounts::{accounts_are_right, pauses};
use rocshim_tests::{Outcome, Running, Trace, Traced, artifacts};
use rocshim_trace::Launch;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn obedient(args: &[&str], variables: &[(&str, &str)]) -> Running {
    let program = Traced::program("obedient").args(args);
    begun(variables.iter().fold(program, |program, (name, value)| program.env(name, value)))
}

fn begun(program: Traced) -> Running {
    let mut running = program.start();
    assert_eq!(running.answer(), format!("ready {}", running.pid()));
    running
}

#[track_caller]
fn asked(running: &Running, words: &[&str]) -> String {
    running.ctl(words).ok().stdout
}

#[track_caller]
fn refused(outcome: Outcome) -> String {
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "one sentence: {}", outcome.stderr);
    outcome.stderr
}

fn status(running: &Running) -> Value {
    serde_json::from_str(&asked(running, &["status", "--json"])).expect("JSON")
}

fn summary(path: &Path) -> Value {
    let printed = Traced::rocshim(["summary".as_ref(), "--json".as_ref(), path.as_os_str()]).run().ok();
    serde_json::from_str(&printed.stdout).expect("JSON")
}

/// Launches of `work` per thread: the block identifies the thread, the grid the launch.
fn work(trace: &Trace) -> BTreeMap<u32, Vec<&Launch>> {
    let mut threads: BTreeMap<u32, Vec<&Launch>> = BTreeMap::new();
    for launch in trace.launches().filter(|launch| trace.kernel_of(launch) == "work") {
        threads.entry(launch.block[0]).or_default().push(launch);
    }
    threads
}

fn evidence(summary: &Value, library: &str) -> (String, String) {
    let rows = summary["libraries"].as_array().expect("libraries");
    let row = rows.iter().find(|row| row["library"] == library).expect("the library");
    (row["evidence"].as_str().unwrap().into(), row["why"].as_str().unwrap().into())
}

#[test]
fn status_describes_a_process_and_the_list_contains_it() {
    let mut running = obedient(&["2"], &[]);
    running.tell("launch 500");
    let printed = status(&running);
    assert_eq!(
        (&printed["state"], printed["pid"].as_u64()),
        (&"recording".into(), Some(running.pid().into()))
    );
    assert_eq!(printed["trace"].as_str(), running.trace_files()[0].to_str());
    assert_eq!(printed["threads"].as_u64(), Some(3));
    assert!(
        printed["calls"].as_u64() > Some(500) && printed["written"].as_u64() <= printed["calls"].as_u64(),
        "{printed}"
    );
    assert_eq!(printed["lost"], serde_json::json!({}));
    assert!(printed["collector_ns"].as_u64() > Some(0) && printed["for_ns"].as_u64() > Some(0));
    let text = asked(&running, &[]);
    assert!(text.contains("recording, for ") && text.contains("0 lost"), "{text}");
    let doctor = Traced::rocshim(["doctor", &running.pid().to_string()]).run().stdout;
    assert!(doctor.contains("it records, to "), "{doctor}");
    let list = Traced::rocshim(["ctl"]).run().ok().stdout;
    let row = list.lines().find(|line| line.trim_start().starts_with(&running.pid().to_string()));
    assert!(row.is_some_and(|row| row.contains("recording") && row.contains("obedient")), "{list}");
    running.finish().ok();
}

#[test]
fn flush_writes_what_was_recorded_by_then() {
    let mut running = obedient(&[], &[]);
    for round in 1..=20 {
        running.tell("launch 50");
        let said = asked(&running, &["flush"]);
        assert!(said.contains(running.trace_files()[0].to_str().unwrap()), "{said}");
        let trace = Trace::read(&running.trace_files()[0]);
        assert_eq!(trace.launches().count(), round * 50, "at once");
    }
    running.finish().ok();
}

#[test]
fn stopping_and_starting_under_load_misses_exactly_what_was_called_in_between() {
    let program = Traced::program("obedient").args(["4", "500"]);
    stop_and_start(begun(program));
}

#[test]
fn stopping_misses_exactly_the_calls_in_between_by_the_dispatch_table_too() {
    let program = Traced::program("obedient").args(["4", "500"]);
    stop_and_start(begun(program.on(&["registering"])));
}

fn stop_and_start(mut running: Running) {
    for _ in 0..5 {
        sleep(Duration::from_millis(60));
        assert!(asked(&running, &["stop"]).contains("stopped;"));
        sleep(Duration::from_millis(60));
        assert!(asked(&running, &["start"]).contains("recording, to"));
    }
    sleep(Duration::from_millis(60));
    running.tell("halt");
    let outcome = running.finish().ok();
    let trace = outcome.trace();
    let counts: Vec<u64> =
        outcome.stdout.split_whitespace().filter_map(|word| word.parse().ok()).skip(1).collect();
    assert_eq!(trace.gaps().count(), 0);
    accounts_are_right(&trace);
    let pauses = pauses(&trace);
    assert_eq!(pauses.len(), 5);
    let threads = work(&trace);
    assert_eq!(threads.len(), 4);
    for (thread, launches) in threads {
        assert_eq!(launches[0].grid[0], 1);
        assert_eq!(u64::from(launches.last().unwrap().grid[0]), counts[thread as usize - 1], "the last one");
        let mut holes = 0;
        for pair in launches.windows(2) {
            let (before, after) = (pair[0], pair[1]);
            if after.grid[0] == before.grid[0] + 1 {
                continue;
            }
            assert!(after.grid[0] > before.grid[0], "in order");
            let end = before.call.t + before.call.dur;
            let is_pause = |(from, to): &&(u64, u64)| *from <= after.call.t && end <= *to;
            assert!(pauses.iter().any(|pause| is_pause(&pause)), "a hole at {end} that is no pause");
            holes += 1;
        }
        assert_eq!(holes, 5, "thread {thread} was never stopped elsewhere");
        // Calls between the two switches of the functions are not recorded.
        let slack = 25_000_000;
        let between = |(from, to): &(u64, u64), t: u64| t > from + slack && t + slack < *to;
        let late = |launch: &&&Launch| pauses.iter().any(|pause| between(pause, launch.call.t));
        assert_eq!(launches.iter().filter(late).count(), 0);
    }
    let printed = summary(&outcome.trace_files()[0]);
    let stopped: u64 = pauses.iter().map(|(from, to)| to - from).sum();
    assert_eq!(printed["totals"]["stopped_ns"].as_u64(), Some(stopped));
    let functions = printed["functions"].as_array().unwrap();
    let launches = functions.iter().find(|row| row["function"] == "hipModuleLaunchKernel").unwrap();
    assert!(launches["uncounted"].as_u64() > Some(0), "there were more: {launches}");
    let (_, why) = evidence(&printed, "libamdhip64.so");
    assert!(why.contains("; recording was stopped for "), "{why}");
}

#[test]
fn objects_created_while_recording_is_stopped_have_their_names_afterwards() {
    let mut running = obedient(&[], &[]);
    running.tell("launch 3");
    asked(&running, &["stop"]);
    running.tell("load learned_meanwhile");
    running.tell("launch 5");
    running.tell("capture");
    asked(&running, &["start"]);
    running.tell("launch 7");
    running.tell("end");
    let trace = running.finish().ok().trace();
    let launched = |name: &str| trace.launches().filter(|launch| trace.kernel_of(launch) == name).count();
    assert_eq!((launched("commanded"), launched("learned_meanwhile")), (3, 7 + 1));
    let captured: Vec<_> = trace.launches().filter(|launch| launch.capture.is_some()).collect();
    assert_eq!(captured.len(), 1, "the stream that joined the capture meanwhile is known to capture");
    let graph = trace.graph_launches().next().expect("it is launched");
    assert_eq!(
        trace.graphs().find(|known| Some(known.id) == graph.graph).map(|graph| graph.kernels.len()),
        Some(1)
    );
    accounts_are_right(&trace);
}

#[test]
fn a_process_may_begin_stopped_and_absence_is_not_confirmed_then() {
    let mut running = obedient(&[], &[("ROCSHIM_START", "off")]);
    running.tell("launch 100");
    running.tell("product");
    let printed = status(&running);
    assert_eq!((&printed["state"], printed["written"].as_u64()), (&"stopped".into(), Some(0)));
    let said = asked(&running, &["start"]);
    assert!(said.contains("recording, to "), "{said}");
    assert!(asked(&running, &["start"]).contains("recording already"));
    running.tell("launch 20");
    asked(&running, &["stop"]);
    assert!(asked(&running, &["stop"]).contains("stopped already"));
    running.tell("launch 20");
    running.tell("product");
    let outcome = running.finish().ok();
    let trace = outcome.trace();
    assert_eq!(trace.launches().count(), 20);
    assert_eq!(pauses(&trace)[0].0, 0, "from the beginning");
    let printed = summary(&outcome.trace_files()[0]);
    assert_eq!(
        printed["libraries"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["evidence"] == "confirmed_absent" && row["loaded_in"] != 0)
            .count(),
        0
    );
    let note = printed["processes"][0]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("limited: recording was stopped for "), "{note}");
}

#[test]
fn a_stopped_process_says_nothing_and_does_nothing_later() {
    let mut running = obedient(&[], &[]);
    running.tell("launch 10");
    running.stop();
    let sentence = refused(running.ctl(&["stop", "--wait", "1"]));
    assert!(sentence.contains("is stopped by a signal") && sentence.contains("kill -CONT"), "{sentence}");
    let printed = status(&running);
    assert_eq!(printed["state"], "recording");
    assert!(printed["trouble"].as_str().unwrap().contains("stopped by a signal"), "{printed}");
    running.signal(Signal::CONT);
    running.tell("launch 10");
    assert_eq!(status(&running)["state"], "recording", "what was not answered was taken back");
    let trace = running.finish().ok().trace();
    assert_eq!((trace.launches().count(), trace.recordings().count()), (20, 0));
}

#[test]
fn a_process_that_dies_during_a_request_is_reported() {
    let mut running = obedient(&[], &[]);
    running.tell("launch 10");
    let trace = running.trace_files().remove(0);
    artifacts::command();
    running.stop();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| running.ctl(&["flush", "--wait", "20"]));
        sleep(Duration::from_millis(200));
        let killed = Instant::now();
        running.signal(Signal::KILL);
        let sentence = refused(asking.join().unwrap());
        assert!(sentence.contains("has ended") && sentence.contains(trace.to_str().unwrap()), "{sentence}");
        assert!(killed.elapsed() < Duration::from_secs(10), "at once");
    });
    let pid = running.pid();
    let outcome = running.finish();
    let gone = refused(Traced::rocshim(["ctl", &pid.to_string(), "flush"]).run());
    assert!(gone.contains("there is no process"), "{gone}");
    Traced::rocshim(["recover".as_ref(), trace.as_os_str()]).run().ok();
    assert_eq!(outcome.trace().launches().count(), 10);
}

#[test]
fn a_pause_is_reported_after_a_kill_too() {
    let mut running = obedient(&[], &[]);
    running.tell("launch 10");
    asked(&running, &["stop"]);
    running.tell("launch 10");
    running.signal(Signal::KILL);
    let outcome = running.finish();
    let trace = outcome.trace_files().remove(0);
    let limited = |printed: &Value| {
        let (evidence, why) = evidence(printed, "librocblas.so");
        evidence == "limited" && why.contains("recording was stopped")
    };
    assert!(limited(&summary(&trace)));
    Traced::rocshim(["recover".as_ref(), trace.as_os_str()]).run().ok();
    assert!(limited(&summary(&trace)));
    assert_eq!(outcome.trace().launches().count(), 10);
}

#[test]
fn a_forked_child_is_controlled_by_its_own_pid_and_inherits_a_stop() {
    let mut running = obedient(&[], &[]);
    running.tell("launch 10");
    asked(&running, &["stop"]);
    let answer = running.tell("fork");
    let child = answer.rsplit(' ').next().unwrap().to_owned();
    assert_ne!(child, running.pid().to_string());
    let ctl = |words: &[&str]| Traced::rocshim(["ctl", &child]).args(words).run();
    assert!(refused(ctl(&["status"])).contains("has called no hooked function yet"));
    running.tell("launch 20");
    let said = ctl(&["status"]).ok().stdout;
    assert!(said.contains("stopped, for "), "{said}");
    ctl(&["start"]).ok();
    running.tell("launch 30");
    ctl(&["flush"]).ok();
    assert_eq!(status(&running)["state"], "stopped", "the parent's state is its own");
    let outcome = running.finish().ok();
    let mut launches: Vec<_> =
        outcome.trace_files().iter().map(|file| Trace::read(file).launches().count()).collect();
    launches.sort_unstable();
    assert_eq!(launches, [10, 30]);
}

#[test]
fn an_unreachable_process_is_reported_with_the_reason() {
    let ctl = |pid: u32| refused(Traced::rocshim(["ctl", &pid.to_string(), "stop"]).run());
    assert!(ctl(4_194_300).contains("there is no process 4194300"));
    assert!(ctl(std::process::id()).contains("does not have librocshim.so loaded"));
    let mut off = Traced::program("obedient").env("ROCSHIM_OFF", "1").start();
    off.answer();
    assert!(ctl(off.pid()).contains("was started with ROCSHIM_OFF"));
    let mut running = obedient(&[], &[]);
    running.tell("launch 1");
    let rings = running.trace_files().remove(0);
    asked(&running, &["flush"]);
    let rings = Trace::read(&rings).headers().next().unwrap().rings.clone();
    let mode =
        |mode| std::fs::set_permissions(&rings, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    mode(0o777);
    assert!(ctl(running.pid()).contains("not a folder that rocshim made"));
    mode(0o700);
    asked(&running, &["stop"]);
    running.finish().ok();
    let wrong = Traced::rocshim(["ctl", "1", "flush", "-o", "x"]).run();
    assert!(refused(wrong).contains("-o is for a snapshot"));
}
