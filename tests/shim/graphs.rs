//! Graphs, captures, copies, synchronisation and unusual launches, checked call by call against the
//! stand-ins' log.

use object::{Object, ObjectSymbol};
use rocshim_tests::executed::{Counted, direct, executed};
use rocshim_tests::standin::{self, Call};
use rocshim_tests::{Outcome, Traced, artifacts};
use rocshim_trace::{Graph, GraphCall, Launch, Record, StreamRef};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A program, and the build of HIP for it; none: Debian's.
type Situation = (&'static str, Option<&'static str>);

const GRAPHS: &[Situation] = &[
    ("graph_capture", None),
    ("graph_capture", Some("registering")),
    ("graph_fork", None),
    ("graph_fork", Some("registering")),
    ("graph_nodes", None),
    ("graph_nodes", Some("registering")),
];

/// `hipErrorStreamCaptureInvalidated`.
const INVALIDATED: i32 = 901;

fn program((name, on): Situation) -> Traced {
    let program = Traced::program(name).env("STANDIN_DEVICES", "3");
    on.into_iter().fold(program, |program, folder| program.on(&[folder]))
}

fn run(situation: Situation) -> Outcome {
    program(situation).with_shim().ok()
}

/// What was executed by the stand-in's log: successful direct launches, and the kernel nodes of
/// launched graphs.
fn ran(log: &standin::Log) -> Counted {
    let launches = log.launches.iter().filter(|launch| launch.status == 0);
    counted(launches.chain(log.replays.iter().map(|replay| &replay.launch)))
}

fn counted<'a>(launches: impl Iterator<Item = &'a standin::Launch>) -> Counted {
    let mut counted = Counted::new();
    for launch in launches {
        let key =
            (launch.kernel.clone(), std::array::from_fn(|i| launch.grid[i] * launch.block[i]), launch.block);
        *counted.entry(key).or_default() += 1;
    }
    counted
}

#[test]
fn direct_and_graph_launches_are_what_ran() {
    for situation in GRAPHS {
        let outcome = run(*situation);
        let (trace, log) = (outcome.trace(), outcome.standin_log());
        assert!(!log.replays.is_empty());
        assert_eq!(executed(&trace), ran(&log), "{situation:?}");
        assert!(trace.graphs().all(|graph| graph.complete && graph.why.is_none()), "{situation:?}");
    }
}

#[test]
fn captured_and_executed_work_is_distinguished() {
    for situation in GRAPHS {
        let outcome = run(*situation);
        let trace = outcome.trace();
        let names = trace.kernel_names();
        let mut captured = Counted::new();
        let captures = |launch: &&Launch| launch.capture.is_some() && launch.call.status == 0;
        for launch in trace.launches().filter(captures) {
            let items = std::array::from_fn(|i| launch.grid[i] * launch.block[i]);
            let name = names[&launch.kernel.expect("a kernel")].to_owned();
            *captured.entry((name, items, launch.block)).or_default() += 1;
        }
        assert_eq!(captured, counted(outcome.standin_log().captured.iter()), "{situation:?}");
    }
}

#[test]
fn the_summary_counts_what_ran_and_keeps_apart_what_graphs_launched() {
    for situation in GRAPHS {
        let outcome = run(*situation);
        let (trace, log) = (outcome.trace(), outcome.standin_log());
        let file = outcome.trace_files().remove(0);
        let summary = Traced::rocshim(["summary".as_ref(), "--json".as_ref(), file.as_os_str()]).run().ok();
        let summary: Value = serde_json::from_str(&summary.stdout).unwrap();
        let mut kernels: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
        for row in summary["kernels"].as_array().unwrap() {
            let counts = ["launches", "by_graphs", "captured"].map(|key| row[key].as_u64().unwrap_or(0));
            let sum = kernels.entry(row["name"].as_str().unwrap()).or_default();
            *sum = std::array::from_fn(|i| sum[i] + counts[i]);
        }
        let (ran, mut logged) = (ran(&log), BTreeMap::<&str, [u64; 3]>::new());
        for ((name, ..), count) in &ran {
            logged.entry(name).or_default()[0] += count;
        }
        for replay in &log.replays {
            logged.entry(&replay.launch.kernel).or_default()[1] += 1;
        }
        let refused = log.launches.iter().filter(|launch| launch.status == INVALIDATED);
        for launch in log.captured.iter().chain(refused) {
            logged.entry(&launch.kernel).or_default()[2] += 1;
        }
        assert_eq!(kernels, logged, "{situation:?}");
        let launches: u64 = direct(&trace).values().sum();
        assert_eq!(launches + log.replays.len() as u64, logged.values().map(|[all, ..]| all).sum::<u64>());
    }
}

#[test]
fn the_streams_that_join_a_capture_belong_to_it_until_it_ends() {
    let trace = run(("graph_fork", None)).trace();
    let main = trace.headers().next().unwrap().pid;
    let captures: Vec<_> = trace.captures().filter(|capture| capture.tid == main).collect();
    let modes: Vec<&str> = captures.iter().map(|capture| capture.mode.as_str()).collect();
    assert_eq!(
        modes,
        ["relaxed", "relaxed", "global", "thread_local", "relaxed", "global", "global", "relaxed", "relaxed"]
    );
    // Forked and joined, never joined: two streams each; an unrelated stream runs.
    let streams = |id| {
        let of_it = |launch: &&Launch| launch.capture == Some(id);
        trace.launches().filter(of_it).map(|launch| launch.stream).collect::<BTreeSet<StreamRef>>().len()
    };
    assert_eq!([captures[0].id, captures[1].id].map(streams), [2, 2]);
    let strangers: Vec<_> = trace.launches().filter(|launch| launch.grid[0] == 5).collect();
    assert!(strangers.len() == 2 && strangers.iter().all(|launch| launch.capture.is_none()));
    // Each begin is followed by an end; failed calls are recorded with their return value.
    let ends = |status: i32| {
        let is_it = |call: &&GraphCall| call.action == "end_capture" && call.call.status == status;
        trace.graph_calls().filter(is_it).count()
    };
    assert_eq!([0, 901, 903, 904, 908, 401].map(ends), [65, 3, 1, 1, 1, 1]);
}

#[test]
fn a_changed_executable_gets_another_graph_record() {
    let trace = run(("graph_nodes", None)).trace();
    let graphs: Vec<_> = trace.graphs().collect();
    let others = BTreeMap::from([("empty", 1), ("host", 1), ("memcpy", 1), ("memset", 1)]);
    let of = |graph: &Graph| {
        let others: BTreeMap<_, _> =
            graph.others.iter().map(|(kind, count)| (kind.clone(), *count)).collect();
        (graph.kernels.len(), graph.off, others)
    };
    let others: BTreeMap<String, u64> =
        others.into_iter().map(|(kind, count)| (kind.into(), count)).collect();
    let expected = [(4, 0), (3, 1), (4, 0), (4, 0)].map(|(kernels, off)| (kernels, off, others.clone()));
    assert_eq!(graphs.iter().map(|graph| of(graph)).collect::<Vec<_>>(), expected);
    let launched: Vec<_> = trace.graph_launches().map(|launch| launch.graph).collect();
    let ids: Vec<_> = graphs.iter().map(|graph| Some(graph.id)).collect();
    assert_eq!(
        launched,
        [ids[0], ids[1], ids[2], ids[2], ids[3]],
        "the graph's own change waits for a new executable"
    );
}

#[test]
fn every_unusual_launch_is_recorded_once() {
    let situations = [("by_ptr", None), ("by_ptr", Some("registering")), ("by_ptr", Some("old"))];
    let situations = situations.into_iter().chain([("devices", None), ("devices", Some("registering"))]);
    for situation in situations.chain([("libraries", Some("registering"))]) {
        let outcome = run(situation);
        let (trace, log) = (outcome.trace(), outcome.standin_log());
        assert_eq!(executed(&trace), ran(&log), "{situation:?}");
        assert!(
            trace.launches().all(|launch| !launch.call.unwound && launch.call.parent.is_none()),
            "{situation:?}"
        );
    }
}

#[test]
fn a_launch_on_several_devices_is_an_event_for_each_and_the_first_has_the_calls_time() {
    let trace = run(("devices", None)).trace();
    let hooks = trace.hook_names();
    for name in [
        "hipLaunchCooperativeKernelMultiDevice",
        "hipExtLaunchMultiKernelMultiDevice",
        "hipModuleLaunchCooperativeKernelMultiDevice",
    ] {
        let is_it = |launch: &&Launch| hooks[&launch.call.hook] == name && launch.call.status == 0;
        let launches: Vec<&Launch> = trace.launches().filter(is_it).collect();
        let streams: BTreeSet<StreamRef> = launches.iter().map(|launch| launch.stream).collect();
        assert_eq!((launches.len(), streams.len()), (3, 3), "{name}");
        assert!(launches.iter().all(|launch| launch.cooperative == name.contains("Cooperative")), "{name}");
        assert!(
            launches[0].call.dur > 0 && launches[1..].iter().all(|launch| launch.call.dur == 0),
            "{name}"
        );
    }
}

#[test]
fn a_program_that_looks_for_what_only_newer_releases_have_is_not_misled() {
    let bytes = std::fs::read(artifacts::shim()).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let exported: BTreeSet<&str> =
        file.dynamic_symbols().filter(|it| it.is_definition()).map(|it| it.name().unwrap()).collect();
    for name in ["hipGraphLaunch", "hipMemcpyAsync", "hipLaunchCooperativeKernelMultiDevice"] {
        assert!(exported.contains(name), "{name}");
    }
    for name in
        ["hipLaunchKernelExC", "hipDrvLaunchKernelEx", "hipLibraryLoadData", "hipEventRecordWithFlags"]
    {
        assert!(!exported.contains(name), "{name}");
    }
}

// ---- copies and synchronisation ----

const COPYING: &[Situation] = &[("copies", None), ("copies", Some("registering")), ("graph_capture", None)];

/// A copy in the log, in the words of the trace.
fn logged_copy(call: &Call) -> String {
    let kind = match call.find("kind") {
        _ if call.symbol.contains("Peer") => "peer",
        Some(number) => ["h2h", "h2d", "d2h", "d2d", "default"][number.parse::<usize>().unwrap()],
        None => "-",
    };
    let (dst, src, stream) = (call.hex("dst"), call.hex("src"), call.hex("stream"));
    let value = call.find("value").map(|_| call.hex("value"));
    let element = call.find("element").unwrap_or("-");
    let (bytes, captured) = (call.field("bytes"), call.field("captured"));
    format!(
        "{} {kind} {bytes} {dst:x} {src:x} {stream:x} {value:?} {element} {captured} {}",
        call.symbol, call.status
    )
}

#[test]
fn every_copy_and_set_is_recorded_with_what_it_was_given() {
    for situation in COPYING {
        let outcome = run(*situation);
        let trace = outcome.trace();
        let hooks = trace.hook_names();
        let mut copies: Vec<_> = trace.copies().collect();
        copies.sort_by_key(|copy| copy.call.id);
        let traced = copies.iter().map(|copy| {
            let (name, kind) = (hooks[&copy.call.hook], copy.kind.as_deref().unwrap_or("-"));
            let (dst, src, stream) = (copy.dst.0, copy.src.0, trace.handle_of(copy.stream));
            let (bytes, value) = (copy.bytes.expect("bytes"), copy.value.map(u64::from));
            let element = copy.value.map_or("-".into(), |_| copy.unit.unwrap_or(1).to_string());
            let (captured, status) = (u8::from(copy.capture.is_some()), copy.call.status);
            assert_eq!(copy.is_async, name.contains("Async"), "{name}");
            format!(
                "{name} {kind} {bytes} {dst:x} {src:x} {stream:x} {value:?} {element} {captured} {status}"
            )
        });
        let log = outcome.standin_log();
        let is_copy =
            |call: &&Call| call.symbol.starts_with("hipMemcpy") || call.symbol.starts_with("hipMemset");
        let logged: Vec<_> = log.calls.iter().filter(is_copy).map(logged_copy).collect();
        assert_eq!(traced.collect::<Vec<_>>(), logged, "{situation:?}");
        assert!(logged.len() > 10);
    }
}

#[test]
fn every_call_that_waits_or_orders_is_recorded_and_polling_is_not() {
    const ACTIONS: [(&str, &str); 5] = [
        ("hipDeviceSynchronize", "device"),
        ("hipStreamSynchronize", "stream"),
        ("hipEventSynchronize", "event"),
        ("hipStreamWaitEvent", "wait_event"),
        ("hipEventRecord", "record_event"),
    ];
    for situation in COPYING.iter().chain([&("graph_fork", None)]) {
        let outcome = run(*situation);
        let trace = outcome.trace();
        let mut syncs: Vec<_> = trace.syncs().collect();
        syncs.sort_by_key(|sync| sync.call.id);
        let traced = syncs.iter().map(|sync| {
            let captured = u8::from(sync.capture.is_some() && sync.call.status == 0);
            (sync.action.as_str(), trace.handle_of(sync.stream), sync.event.0, captured, sync.call.status)
        });
        let log = outcome.standin_log();
        let logged = log.calls.iter().filter_map(|call| {
            let symbol = call.symbol.trim_end_matches("_spt");
            let (_, action) = *ACTIONS.iter().find(|(name, _)| *name == symbol)?;
            let captured = call.find("captured").map_or(0, |number| number.parse().unwrap());
            Some((action, call.hex("stream"), call.hex("event"), captured, call.status))
        });
        assert_eq!(traced.collect::<Vec<_>>(), logged.collect::<Vec<_>>(), "{situation:?}");
    }
    let trace = run(("copies", None)).trace();
    assert!(!trace.hook_names().values().any(|name| name.ends_with("Query")));
}

#[test]
fn internal_calls_of_the_runtime_are_not_recorded() {
    for situation in GRAPHS.iter().chain(COPYING) {
        let trace = run(*situation).trace();
        let parents = trace.records.iter().filter_map(|record| match record {
            Record::Copy(copy) => Some(copy.call.parent),
            Record::Sync(sync) => Some(sync.call.parent),
            Record::GraphCall(call) => Some(call.call.parent),
            Record::GraphLaunch(launch) => Some(launch.call.parent),
            _ => None,
        });
        assert!(parents.flatten().next().is_none(), "{situation:?}");
    }
}
