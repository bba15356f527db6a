//! The stand-in libraries themselves, where a test has no meaning unless they behave as the real
//! ones.

use rocshim_tests::{Traced, artifacts};
use std::collections::BTreeMap;

/// The functions of HIP's dispatch table in its order, as in the stand-ins.
fn dispatch_table() -> Vec<String> {
    let table = std::fs::read_to_string(artifacts::root().join("tests/vendor/hip.def")).unwrap();
    let row = |line: &str| Some(line.strip_prefix("X(")?.split_once(',')?.0.to_owned());
    table.lines().filter_map(row).collect()
}

/// Byte offsets in HipDispatchTable, from the static asserts of ROCm's hip_api_trace.cpp and
/// rocprofiler-sdk's abi.cpp: from the beginning, the middle and the end of each step's entries.
const OFFSETS: &[(&str, usize)] = &[
    ("hipApiName", 8),
    ("hipDeviceSynchronize", 536),
    ("hipEventRecord", 656),
    ("hipExtLaunchKernel", 680),
    ("hipFree", 728),
    ("hipGetDevicePropertiesR0600", 848),
    ("hipGraphInstantiate", 1280),
    ("hipGraphLaunch", 1336),
    ("hipKernelNameRef", 1672),
    ("hipLaunchByPtr", 1688),
    ("hipLaunchCooperativeKernel", 1696),
    ("hipLaunchKernel", 1720),
    ("hipMalloc", 1728),
    ("hipMemcpy", 2080),
    ("hipMemcpyAsync", 2152),
    ("hipModuleGetFunction", 2432),
    ("hipModuleLaunchCooperativeKernel", 2456),
    ("hipModuleLaunchKernel", 2472),
    ("hipModuleLoad", 2480),
    ("hipModuleUnload", 2536),
    ("hipStreamBeginCapture", 2672),
    ("hipStreamSynchronize", 2776),
    ("hipExtModuleLaunchKernel", 3112),
    ("hipHccModuleLaunchKernel", 3120),
    ("hipLaunchKernel_spt", 3360),
    ("hipGraphInstantiateWithParams", 3512),
    ("hipGetProcAddress", 3544),
    ("hipGetFuncBySymbol", 3560),
    ("hipLaunchKernelExC", 3800),
    ("hipDrvLaunchKernelEx", 3808),
    ("hipModuleLoadFatBinary", 3896),
    ("hipLibraryLoadData", 3976),
    ("hipLibraryGetKernel", 4000),
];

#[test]
fn the_dispatch_table_is_in_rocms_order() {
    let table = dispatch_table();
    let at: BTreeMap<&str, usize> =
        table.iter().enumerate().map(|(entry, name)| (name.as_str(), 8 + 8 * entry)).collect();
    assert_eq!(at.len(), table.len(), "no function has two entries");
    for (name, offset) in OFFSETS {
        assert_eq!(at.get(name), Some(offset), "{name}");
    }
    // 6.2 has 452 entries, 7.2.53211 has 506: 3624 and 4056 bytes.
    assert_eq!((table.len(), at["hipMemcpy2DArrayToArray"]), (506, 3624 - 8));
}

#[test]
fn a_hip_call_while_a_dispatch_table_is_registered_ends_the_process() {
    let tool = artifacts::program("calls_in_register.so");
    let outcome = Traced::program("by_ptr").on(&["registering"]).preloaded([tool]);
    assert_eq!(outcome.signal, Some(6), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("while a dispatch table was being registered"), "{}", outcome.stderr);
}

#[test]
fn both_tables_are_registered_once_and_a_profiler_sees_every_call_through_them() {
    let outcome =
        Traced::program("launch_forms").on(&["registering"]).env("STANDIN_PROFILER", "1").run().ok();
    let log = outcome.standin_log();
    let registered =
        log.registered.iter().map(|call| (call.symbol.as_str(), call.field("size"), call.status));
    assert_eq!(registered.collect::<Vec<_>>(), [("hip_compiler", "80", 0), ("hip", "4056", 0)]);
    let mut launched: BTreeMap<&str, u64> = BTreeMap::new();
    for launch in &log.launches {
        *launched.entry(&launch.symbol).or_default() += 1;
    }
    let wrapped = log.wrapped.iter().filter(|call| call.symbol.contains("Launch"));
    let wrapped: BTreeMap<&str, u64> =
        wrapped.map(|call| (call.symbol.as_str(), call.field("calls").parse().unwrap())).collect();
    assert_eq!(wrapped, launched);
}

#[test]
fn an_entry_beyond_the_tables_size_is_not_supported() {
    let run =
        |size: &str| Traced::program("by_dlsym").on(&["registering"]).env("STANDIN_TABLE_SIZE", size).run();
    assert_eq!(run("3624").code, Some(0), "all that it calls is in ROCm 6.2's table");
    assert_eq!(run("8000").code, Some(0), "a table of the future");
    assert_ne!(run("2400").code, Some(0), "a table without module functions");
}

#[test]
fn each_copy_of_hip_has_its_own_log() {
    let outcome = Traced::program("two_copies").run().ok();
    let (system, wheel) = (outcome.standin_log(), outcome.wheel_log());
    assert!(!system.launches.is_empty() && !wheel.launches.is_empty());
    assert!(system.launches.iter().all(|launch| !launch.kernel.contains("wheel")));
    assert!(wheel.launches.iter().all(|launch| launch.kernel.contains("wheel")));
}

#[test]
fn a_captured_launch_runs_when_its_graph_does_and_not_before() {
    let log = Traced::program("graph_capture").run().ok().standin_log();
    let kernels = |launches: &[rocshim_tests::standin::Launch]| -> Vec<String> {
        launches.iter().map(|launch| format!("{} {:?}", launch.kernel, launch.block)).collect()
    };
    // A step of two layers at two widths, then one of three: the first was captured first and ran
    // five times.
    assert_eq!((log.launches.len(), log.captured.len()), (7, 7 + 7 + 10));
    let mut runs: Vec<Vec<_>> = vec![Vec::new()];
    for call in log.calls.iter().filter(|call| call.symbol.starts_with("hipGraphLaunch") && call.status == 0)
    {
        let ran = runs.iter().map(Vec::len).sum::<usize>();
        let kernels = if call.field("nodes") == "10" { 7 } else { 10 };
        runs.push(log.replays[ran..ran + kernels].iter().map(|replay| replay.launch.clone()).collect());
    }
    let runs: Vec<_> = runs[1..].iter().map(|run| kernels(run)).collect();
    assert_eq!(runs.iter().map(Vec::len).sum::<usize>(), log.replays.len());
    let (first, wider, longer) =
        (kernels(&log.captured[..7]), kernels(&log.captured[7..14]), kernels(&log.captured[14..]));
    let expected: [&[String]; 10] =
        [&first, &first, &first, &first, &first, &wider, &wider, &longer, &first, &longer];
    assert_eq!(runs, expected);
}
