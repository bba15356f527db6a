//! GPU times: the registration with the runtime, the conversion of reports, and coexistence with
//! other tools. The program plays the runtime's role (`programs/gpu`); reports of real runtimes are
//! in `real/gpu_times.rs`.

use rocshim_tests::{Outcome, Trace, Traced};
use serde_json::Value;
use std::collections::BTreeMap;

/// The variable that HIP 7.2 must be started with; `rocshim run --gpu-time` sets it.
const NAMES_OF_GRAPHS: &str = "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING";

fn traced(situation: &str) -> Traced {
    let traced = Traced::program("gpu_times").arg(situation).env("ROCSHIM_GPU_TIME", "on");
    traced.env(NAMES_OF_GRAPHS, "0")
}

#[track_caller]
fn run(situation: &str) -> (Outcome, Trace) {
    let outcome = traced(situation).with_shim().ok();
    let trace = outcome.trace();
    (outcome, trace)
}

/// The launches with reported dispatches: launch id, kernel name, time on the GPU in ns.
fn dispatches(trace: &Trace) -> Vec<(Option<u64>, &str, u64)> {
    let names: BTreeMap<u32, &str> =
        trace.gpu_kernels().map(|kernel| (kernel.id, kernel.name.as_str())).collect();
    let launcher = trace.launches().next().map(|launch| launch.call.tid);
    let of = |of: (u32, u64)| {
        assert_eq!(Some(of.0), launcher);
        of.1
    };
    let dispatches = trace.reports().filter(|report| report.op == "dispatch");
    dispatches
        .map(|report| (report.of.map(of), report.kernel.map_or("", |id| names[&id]), report.busy))
        .collect()
}

fn ids(trace: &Trace) -> Vec<u64> {
    trace.launches().map(|launch| launch.call.id).collect()
}

/// `gpu` of `rocshim COMMAND --json` for the only trace.
#[track_caller]
fn gpu(outcome: &Outcome, command: &str) -> Value {
    let file = &outcome.trace_files()[0];
    let words = [command.as_ref(), "--json".as_ref(), file.as_os_str()];
    let printed: Value = serde_json::from_str(&Traced::rocshim(words).run().ok().stdout).expect("JSON");
    match printed {
        Value::Array(files) => files[0]["gpu"].clone(),
        page => page["gpu"].clone(),
    }
}

#[test]
fn reports_of_any_thread_in_any_order_name_their_launches() {
    let (outcome, trace) = run("order");
    assert_eq!(outcome.stdout, "reported 4, wanted 4, dirty 0\n");
    let mut expected: Vec<_> =
        (1000..).zip(ids(&trace)).map(|(busy, id)| (Some(id), "gpu_times_kernel", busy)).collect();
    assert_eq!(expected.len(), 4);
    let mut reports = dispatches(&trace);
    reports.sort_unstable();
    expected.sort_unstable();
    assert_eq!(reports, expected);
    let on: Vec<_> = trace
        .gpu_times()
        .map(|reports| (reports.state.as_str(), reports.release.as_deref(), reports.apis))
        .collect();
    assert_eq!(on, [("on", Some("7.2"), 449)]);
    for report in trace.reports() {
        assert_eq!((report.device, report.queue, report.command.as_deref()), (1, 5, Some("kernel")));
        assert!(report.begin + report.busy <= report.call.t, "it ends before it is reported: {report:?}");
    }
}

#[test]
fn nothing_is_registered_or_reported_unless_requested() {
    let outcome = Traced::program("gpu_times").with_shim().ok();
    assert_eq!(outcome.stdout, "reported 0, wanted 0, dirty 0\n");
    let trace = outcome.trace();
    assert_eq!((trace.reports().count(), trace.gpu_times().count(), trace.launches().count()), (0, 0, 4));
}

#[test]
fn a_runtime_that_ends_programs_which_are_registered_is_not_asked() {
    let outcome = Traced::program("gpu_times").env("ROCSHIM_GPU_TIME", "on").with_shim().ok();
    assert_eq!(outcome.stdout, "reported 0, wanted 0, dirty 0\n");
    let trace = outcome.trace();
    let states: Vec<_> = trace.gpu_times().map(|reports| reports.state.as_str()).collect();
    assert_eq!((states, trace.reports().count()), (vec!["unavailable"], 0));
    assert!(
        trace
            .gpu_times()
            .all(|reports| reports.why.as_ref().is_some_and(|why| why.contains(NAMES_OF_GRAPHS)))
    );
}

#[test]
fn unusual_reports_are_recorded_unchanged_and_confirm_nothing_wrong() {
    let (outcome, trace) = run("strange");
    for command in ["summary", "verify"] {
        let gpu = gpu(&outcome, command);
        let past: Vec<_> = gpu["past"].as_array().expect("rows").iter().map(|row| &row["kernel"]).collect();
        assert!(past.contains(&&"past_every_hook".into()), "{command}: {gpu}");
        // A second report of a launch is no second launch.
        assert_eq!(
            (&gpu["evidence"], &gpu["of_launches"]),
            (&"limited".into(), &3.into()),
            "{command}: {gpu}"
        );
        assert_eq!((&gpu["of_runtime"], &gpu["unreported"]), (&1.into(), &1.into()), "{command}: {gpu}");
    }
    let ids = ids(&trace);
    let unread = trace.reports().filter(|report| report.op == "unread").count();
    let copies: Vec<_> =
        trace.reports().filter(|report| report.op == "copy").map(|copy| (copy.bytes, copy.busy)).collect();
    let mine = "gpu_times_kernel";
    let expected = [
        (Some(ids[0]), mine, 1000),
        (Some(ids[0]), mine, 1000),
        (None, "past_every_hook", 10),
        (None, "__amd_rocclr_fillBufferAligned", 10),
        (None, "", 10),
        (Some(ids[1]), mine, 5_000_000_000),
        (Some(ids[2]), mine, 1000),
    ];
    let reports = dispatches(&trace);
    // The report at exit arrives if the runtime's exit handlers run before ours, as they do.
    assert_eq!((unread, copies, &reports[..7]), (2, vec![(Some(4096), 30)], &expected[..]));
    assert!(
        reports[7..].iter().all(|late| *late == (Some(ids[0]), mine, 4000)) && reports.len() <= 8,
        "{reports:?}"
    );
}

#[test]
fn reports_of_an_unknown_release_name_no_calls() {
    let outcome = traced("order").env("STANDIN_APIS", "unknown").with_shim().ok();
    assert_eq!(outcome.stdout, "reported 4, wanted 4, dirty 0\n");
    let trace = outcome.trace();
    assert!(trace.gpu_times().all(|reports| reports.release.is_none() && reports.why.is_some()));
    let reports = dispatches(&trace);
    assert!(
        reports.len() == 4 && reports.iter().all(|(of, name, _)| of.is_none() && *name == "gpu_times_kernel")
    );
}

#[test]
fn an_unhooked_call_is_identified_by_its_function_name() {
    let (outcome, trace) = run("past");
    let functions: Vec<_> = trace.reports().map(|report| report.function.as_deref()).collect();
    assert_eq!(functions, [Some("hipModuleLaunchKernel"), None, None, None, None]);
    for command in ["summary", "verify"] {
        let gpu = gpu(&outcome, command);
        let expected = serde_json::json!([
            {"kernel": "gpu_times_kernel", "function": "hipModuleLaunchKernel", "dispatches": 1}
        ]);
        assert_eq!((&gpu["past"], &gpu["evidence"]), (&expected, &"limited".into()), "{command}: {gpu}");
        let file = outcome.trace_files();
        let text = Traced::rocshim([command.as_ref(), file[0].as_os_str()]).run().ok().stdout;
        let seen = ["limited: 4 of 5 dispatches seen", "seen by no hook: 1 dispatch of gpu_times_kernel"];
        assert!(seen.iter().all(|words| text.contains(words)), "{command}: {text}");
    }
}

#[test]
fn another_tracer_gets_every_report_with_its_own_numbers_in_either_order() {
    for situation in ["other_first", "other_last"] {
        let (outcome, trace) = run(situation);
        // Its numbers are 7001 to 7004.
        let reports = "reported 4, wanted 4, dirty 0\nthe other: 4 calls, 4 reports, numbers 28010\n";
        assert_eq!(outcome.stdout, reports, "{situation}");
        let links: BTreeMap<u64, u64> = trace
            .reports()
            .filter(|report| report.op == "link")
            .map(|link| (link.other, link.of.expect("a call").1))
            .collect();
        assert_eq!(links.into_iter().collect::<Vec<_>>(), (7001..).zip(ids(&trace)).collect::<Vec<_>>());
        let dispatches: Vec<_> =
            trace.reports().filter(|report| report.op == "dispatch").map(|report| report.other).collect();
        assert_eq!(dispatches, [7001, 7002, 7003, 7004], "{situation}");
    }
}

#[test]
fn a_report_is_never_tied_by_numbers_that_say_nothing() {
    for (situation, numbers) in [("other_zero", "0"), ("other_same", "28000"), ("other_imitates", "28010")] {
        let (outcome, trace) = run(situation);
        // It gets its own numbers in any case.
        let last = outcome.stdout.lines().last().expect("a line");
        assert!(last.starts_with("the other: 4 calls, 4 reports, numbers "), "{last}");
        assert!(last.ends_with(numbers), "{situation}: {last}");
        let of_calls = trace.reports().filter(|report| report.op == "dispatch" && report.of.is_some());
        assert_eq!(of_calls.count(), 0, "{situation}");
        for command in ["summary", "verify"] {
            let gpu = gpu(&outcome, command);
            assert_eq!(gpu["evidence"], "limited", "{situation}, {command}: {gpu}");
            assert_eq!((&gpu["of_launches"], &gpu["unreported"]), (&0.into(), &4.into()), "{situation}");
        }
    }
}

#[test]
fn a_tool_that_registers_nothing_leaves_ours_registered() {
    let (outcome, trace) = run("null");
    assert_eq!(outcome.stdout, "reported 4, wanted 4, dirty 0\nthe other: 0 calls, 0 reports, numbers 0\n");
    assert_eq!(
        dispatches(&trace).iter().map(|reports| reports.0).collect::<Vec<_>>(),
        ids(&trace).into_iter().map(Some).collect::<Vec<_>>()
    );
}

#[test]
fn a_forked_child_has_its_own_reports() {
    let outcome = traced("fork").with_shim().ok();
    let traces: Vec<Trace> = outcome.trace_files().iter().map(|file| Trace::read(file)).collect();
    let counts: Vec<_> =
        traces.iter().map(|trace| (trace.launches().count(), trace.reports().count())).collect();
    assert_eq!(traces.len(), 2, "{counts:?}");
    let parent = traces.iter().find(|trace| trace.launches().count() == 4).expect("the parent's");
    assert_eq!(dispatches(parent).len(), 4);
    let child = traces.iter().find(|trace| trace.launches().count() == 1).expect("the child's");
    let of: Vec<_> = dispatches(child).iter().map(|reports| reports.0).collect();
    assert_eq!(of, [Some(ids(child)[0])]);
}

/// Runs `gpu_copies SITUATION`: what it prints, and the kernel and GPU time of each launch that is
/// its report's.
fn copies(situation: &str) -> (String, Vec<(String, u64)>) {
    let run = Traced::program("gpu_copies").arg(situation).env("ROCSHIM_GPU_TIME", "on");
    let outcome = run.env(NAMES_OF_GRAPHS, "0").with_shim().ok();
    let trace = outcome.trace();
    let verified = gpu(&outcome, "verify");
    assert_eq!(verified["evidence"], "confirmed", "{situation}: {verified}");
    let mut of = Vec::new();
    let mut reported = Vec::new();
    for (launch, name, busy) in dispatches(&trace) {
        of.push(launch.expect("a launch"));
        reported.push((name.to_owned(), busy));
    }
    assert_eq!(of, ids(&trace), "{situation}: each launch has its own report");
    (outcome.stdout.clone(), reported)
}

#[test]
fn two_copies_of_the_runtime_report_to_a_callback_each() {
    let (stdout, reported) = copies("both");
    assert_eq!(stdout, "failed 0, callbacks 3\n");
    let of = |name: &str, busy| (name.to_owned(), busy);
    let both = vec![of("of_the_system", 1000), of("of_the_wheel", 2000)];
    assert_eq!(reported, [both.clone(), both.clone(), both].concat());
}

#[test]
fn a_runtime_that_is_closed_and_opened_again_is_registered_with_again() {
    let (stdout, reported) = copies("reloaded");
    assert_eq!(stdout, "failed 0, closed 0, gone 1, moved 1\n");
    assert_eq!(reported, [("before".into(), 1000), ("after".into(), 2000)]);
}
