//! The trace contains what the program did, checked call by call against the stand-ins' log.

use rocshim_tests::{Outcome, Trace, Traced, standin};
use rocshim_trace::{Launch, StreamRef};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A launch in the trace, in the words of the stand-ins' log.
fn in_log_words(trace: &Trace) -> Vec<standin::Launch> {
    let (kernels, hooks) = (trace.kernel_names(), trace.hook_names());
    let mut numbers: HashMap<u32, u64> = HashMap::new();
    let word = |launch: &Launch| {
        let number = numbers.entry(launch.call.tid).or_default();
        *number += 1;
        standin::Launch {
            tid: launch.call.tid,
            number: *number,
            symbol: hooks[&launch.call.hook].into(),
            kernel: launch.kernel.map_or("-", |id| kernels[&id]).into(),
            grid: launch.items.unwrap_or(launch.grid),
            block: launch.block,
            shared: launch.lds,
            stream: trace.handle_of(launch.stream),
            status: launch.call.status,
        }
    };
    let mut launches: Vec<_> = trace.launches().map(word).collect();
    launches.sort();
    launches
}

#[track_caller]
fn assert_equal_launches(outcome: &Outcome) -> usize {
    let (trace, mut logged) = (outcome.trace(), outcome.standin_log().launches);
    logged.sort();
    let traced = in_log_words(&trace);
    if let Some((ours, theirs)) = traced.iter().zip(&logged).find(|(ours, theirs)| ours != theirs) {
        panic!("the trace has\n  {ours:?}\nwhere the library was called with\n  {theirs:?}");
    }
    assert_eq!(traced.len(), logged.len(), "launches in the trace and launches that reached the library");
    traced.len()
}

#[test]
fn a_hundred_thousand_launches_of_four_threads_are_recorded_one_by_one() {
    let outcome = Traced::program("many_threads").args(["4", "25000", "7"]).with_shim().ok();
    assert_eq!(assert_equal_launches(&outcome), 100_000);
    let trace = outcome.trace();
    assert_eq!(trace.gaps().count(), 0);
    let written: u64 = trace.threads().map(|thread| thread.written).sum();
    let kernels = trace.kernels().count();
    assert!(kernels > 400, "{kernels} of 500 kernels were drawn");
    assert!(written >= 100_000 && trace.threads().all(|t| t.produced == t.written && t.lost == 0));
}

#[test]
fn every_form_of_launch_is_recorded_with_its_name_and_grid() {
    let outcome = Traced::program("launch_forms").with_shim().ok();
    assert_equal_launches(&outcome);
    let trace = outcome.trace();
    let hooks = trace.hook_names();
    let mut seen: Vec<_> = trace.launches().map(|launch| hooks[&launch.call.hook]).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(
        seen,
        [
            "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
            "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_",
            "hipExtLaunchKernel",
            "hipExtModuleLaunchKernel",
            "hipHccModuleLaunchKernel",
            "hipLaunchCooperativeKernel",
            "hipLaunchCooperativeKernel_spt",
            "hipLaunchKernel",
            "hipLaunchKernel_spt",
            "hipModuleLaunchCooperativeKernel",
            "hipModuleLaunchKernel",
        ]
    );
    for launch in trace.launches().filter(|launch| launch.items.is_some()) {
        let (items, block) = (launch.items.unwrap(), launch.block);
        assert_eq!(
            launch.grid,
            std::array::from_fn(|i| items[i].div_ceil(block[i])),
            "work-items become blocks"
        );
    }
}

#[test]
fn a_plugin_that_is_opened_locally_is_seen_like_one_opened_globally() {
    let local = Traced::program("load_local").with_shim().ok();
    let global = Traced::program("load_global").with_shim().ok();
    assert_eq!(assert_equal_launches(&local), assert_equal_launches(&global));
    for outcome in [local, global] {
        let trace = outcome.trace();
        let bound: Vec<_> =
            trace.hooks().filter(|hook| hook.name == "hipLaunchKernel" && hook.state == "bound").collect();
        assert_eq!(bound.len(), 1, "the real function is found behind RTLD_LOCAL as well");
    }
}

#[test]
fn a_kernel_is_found_in_the_fat_binary_of_the_file_that_registered_it() {
    let trace = Traced::program("load_local").with_shim().ok().trace();
    let objects: HashMap<u32, _> = trace.code_objects().map(|object| (object.id, object)).collect();
    let mut from = BTreeMap::new();
    for kernel in trace.kernels() {
        let object = objects[&kernel.code_object.expect("a code object")];
        assert_eq!(object.source, "fat_binary");
        assert!(object.path.as_deref().unwrap().ends_with("plugin.so"), "{object:?}");
        assert!(object.targets.contains(&"gfx1100".to_string()), "{object:?}");
        let bytes = std::fs::read(object.path.as_deref().unwrap()).unwrap();
        let magic = b"__CLANG_OFFLOAD_BUNDLE__";
        let at = object.offset.unwrap() as usize;
        assert_eq!(&bytes[at..at + magic.len()], magic, "the bundle lies where the trace says");
        *from.entry(object.ordinal.unwrap()).or_insert(0) += 1;
    }
    assert_eq!(
        from.keys().copied().collect::<Vec<_>>(),
        [0, 1],
        "both fat binaries of the plug-in were used"
    );
}

#[test]
fn a_convolution_has_its_problem_its_solver_and_the_calls_inside_it() {
    let outcome = Traced::program("conv").with_shim().ok();
    assert_equal_launches(&outcome);
    let (trace, log) = (outcome.trace(), outcome.standin_log());
    let hooks = trace.hook_names();
    let hooked: Vec<_> =
        log.convs.iter().filter(|call| hooks.values().any(|name| *name == call.symbol)).collect();
    let convs: Vec<_> = trace.convs().collect();
    assert_eq!(convs.len(), hooked.len());
    let dims = |tensor: &Option<rocshim_trace::Tensor>| {
        tensor
            .as_ref()
            .map_or("-".into(), |t| t.dims.iter().map(i32::to_string).collect::<Vec<_>>().join("x"))
    };
    let spatial = |values: &[i32]| values.iter().map(i32::to_string).collect::<Vec<_>>().join("x");
    for (conv, call) in convs.iter().zip(&hooked) {
        assert_eq!(hooks[&conv.call.hook], call.symbol);
        assert_eq!(
            [dims(&conv.x), dims(&conv.w), dims(&conv.y)],
            ["x", "w", "y"].map(|name| call.field(name).to_string())
        );
        let geometry = [spatial(&conv.pads), spatial(&conv.strides), spatial(&conv.dilations)];
        assert_eq!(geometry, ["pad", "stride", "dilation"].map(|name| call.field(name).to_string()));
        assert_eq!(conv.groups.to_string(), call.field("groups"));
        assert_eq!(conv.solution_id.unwrap_or(0).to_string(), call.field("solution_id"));
        assert_eq!(conv.call.status, call.status);
    }
    let immediate = convs
        .iter()
        .find(|c| c.action == "immediate" && c.solution_id == Some(91))
        .expect("solution 91 is run");
    assert_eq!(immediate.solver.as_deref(), Some("GemmFwdRest"), "solver 91 by its name");
    let found: Vec<_> = convs.iter().filter(|conv| conv.action == "find" && conv.call.status == 0).collect();
    assert!(found.iter().all(|conv| conv.returned > 0 && conv.results.len() == conv.returned as usize));
    let offered: Vec<_> =
        convs.iter().filter(|conv| conv.action == "get_solution" && conv.returned > 0).collect();
    assert!(
        !offered.is_empty()
            && offered.iter().all(|conv| conv.results.iter().all(|result| result.solver.is_some()))
    );
    // find > gemm > launch
    let nested = trace.gemms().filter(|gemm| found.iter().any(|conv| gemm.call.parent == Some(conv.call.id)));
    let with_launch = nested.filter(|gemm| trace.launches().any(|l| l.call.parent == Some(gemm.call.id)));
    assert!(with_launch.count() > 0, "a search holds a GEMM that holds a launch");
}

#[test]
fn a_reused_handle_is_named_by_what_it_was_at_the_time() {
    let outcome = Traced::program("handle_reuse").with_shim().ok();
    assert!(outcome.stdout.contains("function handles reused"), "{}", outcome.stdout);
    assert_equal_launches(&outcome);
    let trace = outcome.trace();
    assert!(trace.loads().any(|load| load.action == "unload"));
    assert!(trace.launches().map(|launch| trace.kernel_of(launch)).collect::<BTreeSet<_>>().len() > 1);
}

#[test]
fn a_stream_with_the_handle_of_a_destroyed_one_is_another_stream() {
    let outcome = Traced::program("stream_reuse").with_shim().ok();
    assert!(outcome.stdout.contains("handles reused"), "{}", outcome.stdout);
    assert_equal_launches(&outcome);
    let trace = outcome.trace();
    let streams: Vec<_> = trace.launches().map(|launch| launch.stream).collect();
    assert_eq!(streams, [1, 1, 2, 2, 3, 3].map(StreamRef::Id));
    let handles: BTreeSet<_> = trace.streams().map(|stream| stream.handle).collect();
    assert_eq!((trace.streams().count(), handles.len()), (3, 1));
}

#[test]
fn a_failed_call_keeps_its_status() {
    let outcome = Traced::program("failing").with_shim().ok();
    let (trace, log) = (outcome.trace(), outcome.standin_log());
    let mut traced: Vec<_> = trace.launches().map(|launch| launch.call.status).collect();
    let mut logged: Vec<_> = log.launches.iter().map(|launch| launch.status).collect();
    traced.sort_unstable();
    logged.sort_unstable();
    assert_eq!(traced, logged);
    assert!([1, 9, 98, 400].iter().all(|status| traced.contains(status)), "{traced:?}");
}

#[test]
fn a_full_ring_drops_and_says_how_many() {
    // Two chunks, held by two of the threads.
    let program = Traced::program("many_threads").args(["4", "25000"]).env("ROCSHIM_MEMORY_MIB", "0.0625");
    let outcome = program.with_shim().ok();
    let (trace, log) = (outcome.trace(), outcome.standin_log());
    let lost: u64 = trace.gaps().map(|gap| gap.lost).sum();
    assert!(lost > 0, "the other threads' launches are lost");
    assert_eq!(trace.launches().count() as u64 + lost, log.launches.len() as u64);
    for thread in trace.threads() {
        let printed: u64 = trace.gaps().filter(|gap| gap.tid == thread.tid).map(|gap| gap.lost).sum();
        assert_eq!((thread.produced, thread.lost), (thread.written + thread.lost, printed));
    }
    assert!(trace.gaps().all(|gap| gap.reason == "ring_full"));
}

#[test]
fn a_full_ring_makes_its_thread_wait_where_that_is_asked_for() {
    let program = Traced::program("many_threads").args(["4", "25000"]).env("ROCSHIM_MEMORY_MIB", "0.25");
    let outcome = program.env("ROCSHIM_FULL", "wait").with_shim().ok();
    assert_equal_launches(&outcome);
    assert_eq!(outcome.trace().gaps().count(), 0);
}

/// How often the collector slept during a step of the program.
fn sleeps(outcome: &Outcome, step: &str) -> u64 {
    let threads = std::fs::read_to_string(outcome.folder().join(step)).unwrap();
    let collector = threads.split("Name:\t").find(|thread| thread.starts_with("rocshim\n")).unwrap();
    let line = collector.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:\t"));
    line.unwrap().parse().unwrap()
}

#[test]
fn an_idle_program_stays_idle_and_loses_nothing_when_it_continues() {
    let look = |name: &str| format!("cat /proc/$PPID/task/*/status > {name}");
    let (first, second) = (look("first"), look("second"));
    let steps = ["1000", "sleep 1.5", &first, "sleep 3", &second, "30000/4"];
    let outcome = Traced::program("steps").args(steps).with_shim().ok();
    let slept = sleeps(&outcome, "second") - sleeps(&outcome, "first");
    assert!((4..=40).contains(&slept), "{slept} times in 3 s");
    assert_eq!(outcome.trace().launches().count(), 31_000);
    assert_eq!(outcome.trace().gaps().map(|gap| gap.lost).sum::<u64>(), 0);
}

#[test]
fn a_flight_recorder_keeps_what_came_last() {
    let program = Traced::program("many_threads").args(["4", "25000"]).env("ROCSHIM_MEMORY_MIB", "1");
    let outcome = program.env("ROCSHIM_FULL", "overwrite").with_shim().ok();
    let (trace, log) = (outcome.trace(), outcome.standin_log());
    assert!(trace.gaps().all(|gap| gap.reason == "overwritten"));
    let mut threads: BTreeMap<u32, Vec<&standin::Launch>> = BTreeMap::new();
    log.launches.iter().for_each(|launch| threads.entry(launch.tid).or_default().push(launch));
    threads.retain(|_, logged| logged.len() > 10_000);
    assert_eq!(threads.len(), 4);
    for (tid, logged) in threads {
        let kept: Vec<_> = trace.launches().filter(|launch| launch.call.tid == tid).collect();
        let lost: u64 = trace.gaps().filter(|gap| gap.tid == tid).map(|gap| gap.lost).sum();
        assert_eq!(kept.len() as u64 + lost, logged.len() as u64);
        // One to five chunks, the last of which is being filled.
        assert!((1..=2520).contains(&kept.len()), "{}", kept.len());
        let last = &logged[logged.len() - kept.len()..];
        assert!(
            kept.iter().zip(last).all(|(kept, logged)| kept.items.unwrap_or(kept.grid) == logged.grid),
            "the last, in order"
        );
        let account = trace.threads().find(|thread| thread.tid == tid).expect("an account");
        assert_eq!((account.produced, account.lost), (account.written + account.lost, lost));
    }
}

#[test]
fn threads_that_come_and_go_keep_their_totals() {
    let outcome = Traced::program("short_threads").with_shim().ok();
    let trace = outcome.trace();
    assert_eq!(trace.launches().count(), outcome.standin_log().launches.len());
    assert_eq!(trace.gaps().count(), 0);
    assert!(trace.threads().count() > 400, "an account for every thread");
}
