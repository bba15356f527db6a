//! However a process ends, its recorded events are kept: complete lines in the file, the rest in
//! its ring files.

use rocshim_tests::{Outcome, Trace, Traced};
use rocshim_trace::Record;
use std::fs;
use std::path::{Path, PathBuf};

/// The trace after `rocshim recover`.
fn recovered(outcome: &Outcome) -> Trace {
    let files = outcome.trace_files();
    assert_eq!(files.len(), 1, "{files:?}");
    Trace::read(&files[0]); // complete lines only, before recovery
    Traced::rocshim(["recover".as_ref(), files[0].as_os_str()]).run().ok();
    Trace::read(&files[0])
}

#[test]
fn after_sigkill_all_n_launches_are_there() {
    for n in ["1", "100", "5000", "16000"] {
        let outcome = Traced::program("kill_self").args([n, "kill"]).with_shim();
        assert_eq!(outcome.signal, Some(9));
        let files = outcome.trace_files();
        let summary =
            Traced::rocshim(["summary".as_ref(), "--json".as_ref(), files[0].as_os_str()]).run().ok();
        let summary: serde_json::Value = serde_json::from_str(&summary.stdout).unwrap();
        let calls: u64 =
            summary["kernels"].as_array().unwrap().iter().map(|k| k["launches"].as_u64().unwrap()).sum();
        assert_eq!(calls.to_string(), n, "summary reads what the dead process left, changing nothing");
        let trace = recovered(&outcome);
        assert_eq!(trace.launches().count().to_string(), n);
        let grids: Vec<u32> = trace.launches().map(|launch| launch.grid[0]).collect();
        assert_eq!(grids, (1..=n.parse().unwrap()).collect::<Vec<_>>(), "each once, in order");
        assert!(trace.launches().all(|launch| trace.kernel_of(launch) == "last_words"));
        assert_eq!(trace.footers().map(|footer| footer.end.as_str()).collect::<Vec<_>>(), ["recovered"]);
        assert_eq!(trace.headers().count(), 1);
    }
}

#[test]
fn every_other_abrupt_end_leaves_all_launches_too() {
    let ends = [
        ("segv", Err(11)),
        ("abort", Err(6)),
        ("uncaught", Err(6)),
        ("_exit", Ok(3)),
        ("quick_exit", Ok(4)),
        ("exit", Ok(5)),
    ];
    for (how, end) in ends {
        let outcome = Traced::program("kill_self").args(["3000", how]).with_shim();
        assert_eq!(outcome.code.ok_or(outcome.signal.unwrap_or(0)), end, "{how}");
        let trace = recovered(&outcome);
        assert_eq!(trace.launches().count(), 3000, "{how}");
        assert_eq!(trace.gaps().count(), 0, "{how}");
    }
}

#[test]
fn an_out_of_memory_kill_leaves_all_launches() {
    let Some(group) = MemoryGroup::new(64 << 20) else {
        println!("not run, as no group of processes with little memory can be made: {}", MemoryGroup::NEEDS);
        return;
    };
    let program = rocshim_tests::artifacts::program("kill_self");
    let script =
        format!("echo $$ >{}/cgroup.procs && exec {} 3000 memory", group.0.display(), program.display());
    let outcome = Traced::command("/bin/sh".as_ref()).args(["-c", &script]).with_shim();
    assert_eq!(outcome.signal, Some(9), "{}", outcome.stderr);
    let trace = recovered(&outcome);
    assert_eq!((trace.launches().count(), trace.gaps().count()), (3000, 0));
}

/// A cgroup with a memory limit.
struct MemoryGroup(PathBuf);

impl MemoryGroup {
    const NEEDS: &str = "that takes root, and the memory controller of cgroups";

    fn new(bytes: u64) -> Option<MemoryGroup> {
        let name = format!("rocshim-deaths-{}", std::process::id());
        let folders = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
        folders.into_iter().find_map(|(folder, limit)| {
            let group = Path::new(folder).join(&name);
            fs::create_dir(&group).ok()?;
            let group = MemoryGroup(group);
            fs::write(group.0.join(limit), bytes.to_string()).ok()?;
            // Swap would be used first.
            let _ = fs::write(group.0.join("memory.swap.max"), "0");
            Some(group)
        })
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn the_call_in_flight_at_death_is_named() {
    let outcome = Traced::program("kill_self").args(["50", "gemm"]).env("STANDIN_DIE_AT", "51").with_shim();
    assert_eq!(outcome.signal, Some(9));
    let trace = recovered(&outcome);
    let in_flight = trace.records.iter().filter_map(|record| match record {
        Record::InFlight(in_flight) => Some(&*in_flight.event),
        _ => None,
    });
    let in_flight: Vec<_> = in_flight.collect();
    assert!(
        in_flight.iter().any(
            |event| matches!(event, Record::Launch(launch) if trace.kernel_of(launch).starts_with("Cijk_"))
        ),
        "{in_flight:?}"
    );
    assert_eq!(trace.launches().count(), 50, "a call that had not returned is not among the launches");
}

#[test]
fn kills_at_random_moments_lose_nothing_and_double_nothing() {
    for round in 0..20 {
        let outcome = Traced::program("kill_self")
            .args(["100", "thread"])
            .env("ROCSHIM_MEMORY_MIB", "0.25")
            .with_shim();
        assert_eq!(outcome.signal, Some(9), "round {round}");
        let trace = recovered(&outcome);
        let mut threads: std::collections::BTreeMap<u32, Vec<u64>> = Default::default();
        trace.launches().for_each(|launch| threads.entry(launch.call.tid).or_default().push(launch.call.id));
        for (tid, ids) in threads {
            assert!(
                ids.windows(2).all(|pair| pair[0] < pair[1]),
                "round {round}: an event of {tid} came twice"
            );
            let account = trace.threads().find(|thread| thread.tid == tid).expect("an account");
            assert_eq!(account.produced, account.written + account.lost, "round {round}: {account:?}");
            let others = trace.loads().filter(|load| load.call.tid == tid).count();
            assert_eq!(account.written, (ids.len() + others) as u64, "round {round}");
        }
    }
}

#[test]
fn a_forked_child_writes_its_own_file_and_the_parents_is_unharmed() {
    let outcome = Traced::program("fork_both").arg("10000").with_shim().ok();
    let traces: Vec<_> = outcome.trace_files().iter().map(|file| Trace::read(file)).collect();
    assert_eq!(traces.len(), 2);
    for (file, trace) in outcome.trace_files().iter().zip(&traces) {
        let header = trace.headers().next().expect("a header");
        assert!(file.to_string_lossy().contains(&format!("-{}.", header.pid)), "a child's header is its own");
    }
    let pids: Vec<_> = traces.iter().flat_map(|trace| trace.headers()).map(|h| (h.pid, h.ppid)).collect();
    assert!(pids[0].0 == pids[1].1 || pids[1].0 == pids[0].1, "one is the other's parent: {pids:?}");
    let count = |kernel: &str| {
        let of = |trace: &Trace| trace.launches().filter(|launch| trace.kernel_of(launch) == kernel).count();
        traces.iter().map(of).collect::<Vec<_>>()
    };
    let logged = |kernel: &str| outcome.standin_log().launches.iter().filter(|l| l.kernel == kernel).count();
    for kernel in ["before_fork", "in_parent", "in_child"] {
        let counts = count(kernel);
        assert_eq!(counts.iter().sum::<usize>(), logged(kernel), "{kernel}");
        assert!(counts.contains(&0), "{kernel} belongs to one process: {counts:?}");
    }
}

#[test]
fn programs_that_are_spawned_and_executed_each_write_their_own_file() {
    let outcome = Traced::program("fork_exec").with_shim().ok();
    let mut kernels: Vec<String> = outcome
        .trace_files()
        .iter()
        .flat_map(|file| {
            let trace = Trace::read(file);
            trace.kernels().map(|kernel| kernel.name.clone()).collect::<Vec<_>>()
        })
        .collect();
    kernels.sort();
    kernels.dedup();
    assert_eq!(kernels, ["by_first", "by_forked", "by_replaced", "by_spawned"]);
}
