//! Every interception point: however a program obtains a function, each launch is recorded once,
//! bound to the right copy of the library.

use rocshim_tests::standin::Log;
use rocshim_tests::{Outcome, Trace, Traced, artifacts};
use rocshim_trace::Record;
use std::collections::{BTreeMap, BTreeSet};

/// A launch to count: kernel, grid as passed, block, status.
type Counted = BTreeMap<(String, [u32; 3], [u32; 3], i32), u64>;

fn launched(trace: &Trace) -> Counted {
    let mut counted = Counted::new();
    for launch in trace.launches() {
        let kernel = launch.kernel.map_or_else(|| "-".into(), |_| trace.kernel_of(launch));
        let grid = launch.items.unwrap_or(launch.grid);
        *counted.entry((kernel, grid, launch.block, launch.call.status)).or_default() += 1;
    }
    counted
}

fn reached<'a>(logs: impl IntoIterator<Item = &'a Log>) -> Counted {
    let mut counted = Counted::new();
    for launch in logs.into_iter().flat_map(|log| &log.launches) {
        let launch = (launch.kernel.clone(), launch.grid, launch.block, launch.status);
        *counted.entry(launch).or_default() += 1;
    }
    counted
}

/// Number of calls by interception point, including those without events: `dlsym` → 12.
fn calls_by_point(trace: &Trace) -> BTreeMap<String, u64> {
    let points: BTreeMap<u16, &str> = trace.hooks().map(|hook| (hook.id, hook.point.as_str())).collect();
    let mut calls = BTreeMap::new();
    for record in &trace.records {
        let hook = match record {
            Record::Launch(launch) => launch.call.hook,
            Record::Load(load) => load.call.hook,
            _ => continue,
        };
        *calls.entry(points[&hook].to_owned()).or_default() += 1;
    }
    for (hook, count) in trace.footers().flat_map(|footer| &footer.calls) {
        *calls.entry(points[hook].to_owned()).or_default() += count;
    }
    calls
}

fn points_of(trace: &Trace) -> Vec<String> {
    calls_by_point(trace).into_keys().collect()
}

#[track_caller]
fn run(program: &str, args: &[&str], on: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let traced = Traced::program(program).args(args);
    let traced = if on.is_empty() { traced } else { traced.on(on) };
    variables.iter().fold(traced, |traced, (name, value)| traced.env(name, value)).with_shim().ok()
}

/// A program, its arguments, the builds of HIP for it, and the interception points of its calls.
type Situation = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

#[rustfmt::skip]
const SITUATIONS: &[Situation] = &[
    ("launch_forms",        &[],        &[],                &["preload"]),
    ("launch_forms",        &[],        &["registering"],   &["preload"]),
    ("load_local",          &[],        &[],                &["preload"]),
    ("load_global",         &[],        &[],                &["preload"]),
    ("load_deep",           &["first"], &["registering"],   &["table"]),
    ("by_dlsym",            &[],        &[],                &["dlsym"]),
    ("by_dlsym",            &[],        &["registering"],   &["dlsym"]),
    ("by_dlsym",            &[],        &["old"],           &["dlsym"]),
    ("by_dlvsym",           &[],        &[],                &["dlsym"]),
    ("by_get_proc_address", &[],        &[],                &["dlsym+get_proc_address", "get_proc_address"]),
    ("by_get_proc_address", &[],        &["registering"],   &["dlsym+get_proc_address", "get_proc_address"]),
    ("dlsym_early",         &[],        &[],                &["dlsym"]),
    ("dlsym_early",         &[],        &["registering"],   &["dlsym"]),
    ("lacks",               &[],        &["old"],           &["preload"]),
    ("reload",              &[],        &[],                &["preload"]),
    ("reload",              &["moved"], &[],                &["preload"]),
    ("reload",              &["moved"], &["registering"],   &["preload"]),
    ("reload",              &["dlsym"], &[],                &["dlsym"]),
    ("reload",              &["dlsym"], &["registering"],   &["dlsym"]),
    ("register_race",       &[],        &["registering"],   &["preload"]),
    ("unregister",          &[],        &["registering"],   &["preload"]),
];

#[test]
fn every_launch_is_recorded_once_whatever_interception_point_it_passes() {
    for (program, args, on, points) in SITUATIONS {
        let outcome = run(program, args, on, &[]);
        let trace = outcome.trace();
        let reached = reached([&outcome.standin_log()]);
        assert_eq!(launched(&trace), reached, "{program} {args:?} on {on:?}");
        assert!(!reached.is_empty(), "{program} {args:?} on {on:?} launches");
        assert_eq!(points_of(&trace), *points, "{program} {args:?} on {on:?}");
    }
}

#[test]
fn two_copies_of_a_library_get_their_own_calls_and_are_distinguished() {
    let on_both: &[&[&str]] = &[&[], &["registering", "wheel-registering"]];
    for (program, args) in [("two_copies", "plt"), ("two_copies", "dlsym"), ("two_copies_linked", "plain")] {
        for on in on_both {
            let outcome = run(program, &[args], on, &[]);
            let (trace, logs) = (outcome.trace(), [outcome.standin_log(), outcome.wheel_log()]);
            assert_eq!(launched(&trace), reached(&logs), "{program} {args} on {on:?}");
            let bare = Traced::program(program).args([args]);
            let bare = if on.is_empty() { bare } else { bare.on(on) }.run().ok();
            for (ours, without) in logs.iter().zip([bare.standin_log(), bare.wheel_log()]) {
                assert_eq!(reached([ours]), reached([&without]), "{program} {args} on {on:?}, each copy");
            }
            // The file in a hook record is the copy whose log has the launches.
            for (log, is_wheel) in logs.iter().zip([false, true]) {
                let of_copy = launches_bound_to(&trace, is_wheel);
                assert_eq!(
                    of_copy,
                    log.launches.len() as u64,
                    "{program} {args} on {on:?}, wheel {is_wheel}"
                );
            }
        }
    }
}

/// Launches through hooks bound to the wheel's copy, or to the other.
fn launches_bound_to(trace: &Trace, wheel: bool) -> u64 {
    let libraries = trace.records.iter().filter_map(|record| match record {
        Record::Library(library) => Some((library.id, library.path.ends_with("/libamdhip64.so"))),
        _ => None,
    });
    let libraries: BTreeMap<u32, bool> = libraries.collect();
    let mut hooks = BTreeMap::new();
    let mut launches = 0;
    // A hook may be rebound, so the records are read in order.
    for record in &trace.records {
        match record {
            Record::Hook(hook) => drop(hooks.insert(hook.id, hook.library)),
            Record::Launch(launch) => {
                let library = hooks[&launch.call.hook].expect("a bound hook");
                launches += u64::from(libraries[&library] == wheel);
            }
            _ => {}
        }
    }
    launches
}

#[test]
fn a_profiler_under_the_tables_sees_every_call_and_so_do_we() {
    for program in ["launch_forms", "by_dlsym", "by_get_proc_address"] {
        let outcome = run(program, &[], &["registering"], &[("STANDIN_PROFILER", "1")]);
        let log = outcome.standin_log();
        assert_eq!(launched(&outcome.trace()), reached([&log]), "{program}");
        let by_profiler = log.wrapped.iter().filter(|call| call.symbol.contains("Launch"));
        let by_profiler: u64 = by_profiler.map(|call| call.field("calls").parse::<u64>().unwrap()).sum();
        assert_eq!(by_profiler, log.launches.len() as u64, "{program}, by the profiler");
    }
}

#[test]
fn a_table_is_patched_within_its_size_and_no_further() {
    for (size, entries) in [("3624", 452), ("4056", 506), ("8000", 999)] {
        let outcome = run("by_dlsym", &[], &["registering"], &[("STANDIN_TABLE_SIZE", size)]);
        let trace = outcome.trace();
        let tables = trace.records.iter().filter_map(|record| match record {
            Record::Interception(point) => point.table.as_deref().zip(point.entries).zip(point.functions),
            _ => None,
        });
        let hip = tables.filter(|((name, _), _)| *name == "hip").collect::<Vec<_>>();
        let [((_, reported), functions)] = hip[..] else { panic!("{hip:?} with {size} bytes") };
        assert_eq!(reported, entries, "{size} bytes");
        assert!(functions > 0 && functions <= reported, "{functions} of {reported}");
    }
}

#[test]
fn a_closed_interception_point_lets_calls_pass_unseen_and_the_trace_says_that_it_was_closed() {
    let outcome = run("handle_reuse", &[], &["registering"], &[("ROCSHIM_INTERCEPT", "none")]);
    let trace = outcome.trace();
    let points = trace.records.iter().filter_map(|record| match record {
        Record::Interception(point) => Some((point.point.as_str(), point.state.as_str())),
        _ => None,
    });
    let closed = ["dlsym", "get_proc_address", "table"].map(|point| (point, "closed"));
    assert_eq!(points.collect::<Vec<_>>(), closed);
    assert_eq!(points_of(&trace), ["preload"]);
    assert!(
        Traced::program("by_dlsym")
            .env("ROCSHIM_INTERCEPT", "none")
            .with_shim()
            .ok()
            .trace_files()
            .is_empty()
    );
}

#[test]
fn an_object_that_bypasses_the_hooks_is_reported() {
    let outcome = run("load_deep", &["first"], &["registering"], &[]);
    let trace = outcome.trace();
    let bypasses = trace.records.iter().filter_map(|record| match record {
        Record::Bypass(bypass) => Some((bypass.path.rsplit('/').next().unwrap(), bypass.how.as_str())),
        _ => None,
    });
    assert_eq!(bypasses.collect::<BTreeSet<_>>(), BTreeSet::from([("plugin.so", "deepbind")]));
}

#[test]
fn a_copy_that_another_thread_closes_takes_no_call_of_the_other_copy_with_it() {
    for on in [&[][..], &["registering", "wheel-registering"]] {
        let outcome = run("reload", &["thread"], on, &[]);
        let logs = [outcome.standin_log(), outcome.wheel_log()];
        assert_eq!(logs.each_ref().map(|log| log.launches.len()), [110, 1800], "on {on:?}");
        assert_eq!(launched(&outcome.trace()), reached(&logs), "on {on:?}");
    }
}

#[test]
fn another_tracer_that_is_preloaded_before_ours_sees_what_it_saw_and_so_do_we() {
    let tracer = artifacts::program("other_hook.so");
    for on in ["", "registering"] {
        let program = || Traced::program("by_ptr").on(&[on]);
        let alone = program().preloaded([tracer.as_path()]).ok();
        let both = program().preloaded([tracer.as_path(), artifacts::shim()]).ok();
        assert!(alone.stdout.contains("the other tracer saw 10"), "{}", alone.stdout);
        assert_eq!(alone.stdout, both.stdout, "on {on}");
        let through_it = both.trace().launches().filter(|l| l.block == [32, 1, 1]).count();
        assert_eq!(through_it, 10, "on {on}");
    }
}

#[test]
fn a_lookup_finds_what_it_finds_without_the_shim_and_dlerror_says_the_same() {
    // The shim exports HIP's names, as any preloaded interposer does: a lookup in the global scope
    // finds them.
    let without_hip = |text: &str| -> Vec<String> {
        let is_ours = |line: &&str| line.starts_with("hipLaunchKernel") || line.contains("HIP by handle");
        let lines = text.lines().filter(|line| !is_ours(line) && !line.contains("only behind RTLD_LOCAL"));
        lines.map(str::to_owned).collect()
    };
    let libraries = ["who_first.so", "who_second.so"].map(artifacts::program);
    for program in ["where_found", "dlerror_kept"] {
        let bare = Traced::program(program).preloaded(&libraries).ok();
        let after = libraries.iter().map(|path| path.as_path()).chain([artifacts::shim()]);
        let traced = Traced::program(program).preloaded(after).ok();
        let lines = without_hip(&bare.stdout);
        assert_eq!(lines, without_hip(&traced.stdout), "{program}");
        assert!(lines.len() > 10, "{program}");
    }
    // A name looked up from the first library is found in the second: its caller is still the
    // first.
    let printed = Traced::program("where_found").preloaded(&libraries).ok().stdout;
    assert!(printed.contains("who from the first: n who_second.so"), "{printed}");
}

#[test]
fn a_launch_that_continues_in_another_export_is_recorded_once() {
    // Up to ROCm 6.0, hipLaunchByPtr calls hipModuleLaunchKernel through the PLT, with a function
    // that the program never requested.
    let outcome = run("by_ptr", &[], &["old"], &[]);
    let shapes = |counted: Counted| -> BTreeMap<([u32; 3], [u32; 3]), u64> {
        let succeeded = counted.into_iter().filter(|((.., status), _)| *status == 0);
        succeeded.map(|((_, grid, block, _), count)| ((grid, block), count)).collect()
    };
    // A launch that was never configured fails: the trace has it, with its return value.
    let reached = shapes(reached([&outcome.standin_log()]));
    assert_eq!((shapes(launched(&outcome.trace())), reached.len()), (reached, 20));
}

#[test]
fn doctor_finds_nothing_wrong_with_the_shim_and_a_program() {
    let program = artifacts::program("demo");
    let outcome = Traced::rocshim(["doctor".as_ref(), program.as_os_str()]).run().ok();
    assert!(outcome.stdout.contains("ok    shim"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("fail"), "{}", outcome.stdout);
}

#[test]
fn doctor_finds_the_libraries_that_a_program_would_open_and_says_so_in_json() {
    let found = |folder: &std::path::Path| {
        let doctor = Traced::rocshim(["doctor", "--json"]).env("LD_LIBRARY_PATH", folder).run();
        let page: serde_json::Value = serde_json::from_str(&doctor.stdout).expect("one object");
        let findings = page["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["subject"] == "ROCm libraries").expect("a finding")
    };
    let opened = found(artifacts::vendor());
    let hip = artifacts::vendor().canonicalize().unwrap().join("libamdhip64.so.6");
    assert_eq!(opened["level"], "ok", "{opened}");
    assert!(opened["what"].as_str().unwrap().contains(hip.to_str().unwrap()), "{opened}");
    assert_eq!(opened["next_step"], serde_json::Value::Null);
    let none = found("/nowhere".as_ref());
    if none["level"] == "warn" {
        assert!(none["next_step"].as_str().unwrap().contains("LD_LIBRARY_PATH"), "{none}");
    }
}
