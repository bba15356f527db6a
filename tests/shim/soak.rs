//! A long-lived process: threads and streams come and go, children are forked, the trace has many
//! segments; nothing grows, and every launch is written or counted.

use rocshim_tests::{Traced, artifacts};
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

fn seconds() -> u64 {
    std::env::var("ROCSHIM_SOAK_S").map_or(10, |seconds| seconds.parse().expect("a number of seconds"))
}

/// Resident memory in KiB, file descriptors, mappings, and threads of a process.
fn held(pid: u32) -> Option<[u64; 4]> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as u64;
    let mappings = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?.lines().count() as u64;
    Some([field("VmRSS:")?, descriptors, mappings, field("Threads:")?])
}

#[test]
fn the_memory_of_a_process_does_not_grow_with_threads_children_or_time() {
    let (scratch, seconds) = (tempfile::tempdir().unwrap(), seconds());
    let rings = scratch.path().join("rings");
    fs::create_dir(&rings).unwrap();
    let mut child = Command::new(artifacts::program("come_and_go"))
        .arg(seconds.to_string())
        .env("LD_PRELOAD", artifacts::shim())
        .env("ROCSHIM_OUT", scratch.path().join("out"))
        .env("ROCSHIM_RINGS", &rings)
        .env("ROCSHIM_MEMORY_MIB", "1")
        .env("ROCSHIM_ROTATE_MIB", "1")
        .spawn()
        .expect("the program starts");
    let (begun, mut samples) = (Instant::now(), Vec::new());
    while child.try_wait().expect("a child").is_none() {
        samples.extend(held(child.id()).map(|held| (begun.elapsed(), held)));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(child.wait().unwrap().success());

    // The maximum of the second quarter against that of the last: threads come and go all the time.
    let highest = |from: f64, to: f64, what: usize| {
        let whole = seconds as f64;
        let of = samples.iter().filter(|(at, _)| (from * whole..to * whole).contains(&at.as_secs_f64()));
        of.map(|(_, held)| held[what]).max().expect("samples")
    };
    // Thousands of threads end. Those whose rings a busy collector has not read yet, 64 at most,
    // have their mappings. A sample may see none of the program's four threads, another one all.
    let allowed = [("KiB of memory", 2048), ("descriptors", 2), ("mappings", 128), ("threads", 4)];
    for (index, (what, slack)) in allowed.into_iter().enumerate() {
        let (early, late) = (highest(0.25, 0.5, index), highest(0.75, 1.0, index));
        assert!(late <= early + slack, "{what}: {early} early, {late} late");
    }
    let out = scratch.path().join("out");
    let verified = Traced::rocshim(["verify".as_ref(), "--json".as_ref(), out.as_os_str()]).run().ok();
    let traces: Vec<serde_json::Value> = serde_json::from_str(&verified.stdout).unwrap();
    assert!(traces.len() > 1, "children wrote traces");
    let parts = traces.iter().filter(|trace| trace["trace"].as_str().unwrap().contains(".part-")).count();
    assert!(parts > 2, "{parts} parts beyond the first");
    let sum = |key: &str| traces.iter().map(|trace| trace[key].as_u64().unwrap()).sum::<u64>();
    // A megabyte is full where a busy machine lets the collector wait: `verify` counts the rest.
    assert!(sum("written") > 0, "{} lost", sum("lost"));
    assert_eq!(sum("produced"), sum("written") + sum("lost"));
    assert_eq!(fs::read_dir(&rings).unwrap().count(), 0, "ring files are gone");
}
