//! GPU times on the real HIP: every dispatch of the device's log is in the trace once, under its
//! launch, with its name, and with the device's times.

use rocshim_tests::gguf::{self, Quantisation};
use rocshim_tests::rocm::bench::run;
use rocshim_tests::rocm::device::{Dispatch, every_dispatch};
use rocshim_tests::rocm::server::Server;
use rocshim_tests::rocm::{self, Bench, HIP6, HIP7, TRITON, Tree};
use rocshim_tests::{Trace, artifacts};
use rocshim_trace::{Gpu, Record};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn bench(tree: &'static Tree) -> Bench {
    bench_on(tree, "gfx1100")
}

fn bench_on(tree: &'static Tree, gfx: &'static str) -> Bench {
    Bench::new(tree, gfx).env("ROCSHIM_GPU_TIME", "on").env("DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING", "0")
}

/// The cause of a dispatch.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    Launch,
    GraphLaunch,
    /// A copy or fill, or the runtime itself.
    Runtime,
}

/// Compares the reports with the device's log; returns how many dispatches each call caused.
#[track_caller]
fn assert_equal(trace: &Trace, log: &[Dispatch]) -> BTreeMap<Asked, usize> {
    let names: HashMap<u32, &str> =
        trace.gpu_kernels().map(|kernel| (kernel.id, kernel.name.as_str())).collect();
    let launches: HashMap<(u32, u64), String> =
        trace.launches().map(|launch| ((launch.call.tid, launch.call.id), trace.kernel_of(launch))).collect();
    let graphs: Vec<(u32, u64)> = trace
        .records
        .iter()
        .filter_map(|record| match record {
            Record::GraphLaunch(launch) => Some((launch.call.tid, launch.call.id)),
            _ => None,
        })
        .collect();
    let mut dispatches: HashMap<(u64, u64), Vec<&Gpu>> = HashMap::new();
    let mut copies: Vec<&Gpu> = Vec::new();
    for report in trace.reports().filter(|report| report.op == "dispatch" || report.op == "copy") {
        assert!(report.begin + report.busy <= report.call.t, "{report:?}");
        match report.kernel.map(|id| names[&id]) {
            Some(name) if !name.starts_with("__amd_rocclr_") => {
                dispatches.entry((report.raw, report.raw + report.busy)).or_default().push(report);
            }
            _ => copies.push(report),
        }
    }
    let mut asked = BTreeMap::new();
    // A name with # is launched below HIP: ROCr's own copies.
    for dispatch in log.iter().filter(|dispatch| !dispatch.name.starts_with('#')) {
        let (start, end) = (dispatch.start, dispatch.end);
        let who = if dispatch.is_builtin() {
            // A copy may take several kernels.
            let has_it = |copy: &&Gpu| copy.raw <= start && end <= copy.raw + copy.busy;
            assert!(copies.iter().any(has_it), "{dispatch:?} was not reported");
            Asked::Runtime
        } else {
            let found = dispatches.remove(&(start, end)).unwrap_or_default();
            let [report] = found[..] else { panic!("{dispatch:?} was reported {} times", found.len()) };
            assert_eq!(report.kernel.map(|id| names[&id]), Some(dispatch.name.as_str()), "{report:?}");
            match report.of.expect("a call") {
                call if graphs.contains(&call) => Asked::GraphLaunch,
                call => {
                    assert_eq!(launches.get(&call), Some(&dispatch.name), "{report:?}");
                    Asked::Launch
                }
            }
        };
        *asked.entry(who).or_default() += 1;
    }
    assert!(dispatches.is_empty(), "reported and not dispatched: {dispatches:?}");
    asked
}

/// The GPU times in `rocshim summary`.
fn seen(bench: &Bench) -> (u64, u64, String) {
    let gpu = &bench.summary()["gpu"];
    let number = |key: &str| gpu[key].as_u64().expect("a number");
    (number("of_launches"), number("of_graphs"), gpu["evidence"].as_str().expect("a word").to_owned())
}

#[test]
fn each_launch_and_each_kernel_of_a_graph_has_the_times_that_the_device_had() {
    for tree in [&HIP6, &HIP7] {
        for program in ["hip_module", "graphs"] {
            let bench = bench(tree);
            bench.run_both([tree.program(program), rocm::code_object()]);
            let asked = assert_equal(&bench.trace(), &every_dispatch(&bench.log()));
            let of = |who| asked.get(&who).copied().unwrap_or(0) as u64;
            let (launches, graphs) = (of(Asked::Launch), of(Asked::GraphLaunch));
            assert_eq!((launches > 0, graphs > 0), (true, program == "graphs"), "{asked:?}");
            // The graphs copy and fill.
            assert!(program != "graphs" || of(Asked::Runtime) > 0, "{asked:?}");
            assert_eq!(seen(&bench), (launches, graphs, "confirmed".to_owned()), "{asked:?}");
        }
    }
}

/// Runs a program; compares its reports with the device's log, and `rocshim summary` with both.
#[track_caller]
fn assert_whole(bench: &Bench, command: &mut Command) -> BTreeMap<Asked, usize> {
    let (out, err, code) = run(command);
    assert_eq!(code, Some(0), "{out}{err}");
    compare(bench)
}

#[track_caller]
fn compare(bench: &Bench) -> BTreeMap<Asked, usize> {
    let asked = assert_equal(&bench.trace(), &every_dispatch(&bench.log()));
    let of = |who| asked.get(&who).copied().unwrap_or(0) as u64;
    let counted = (of(Asked::Launch), of(Asked::GraphLaunch), "confirmed".to_owned());
    assert_eq!(seen(bench), counted, "{asked:?}");
    asked
}

#[test]
fn four_streams_are_reported_each_on_its_queue() {
    for tree in [&HIP6, &HIP7] {
        let bench = bench(tree);
        let program = [tree.program("streams"), rocm::code_object()];
        let asked = assert_whole(&bench, bench.traced().args(program));
        assert_eq!(asked[&Asked::Launch], 32, "{asked:?}");
        let launches: BTreeMap<_, _> = bench
            .trace()
            .launches()
            .map(|launch| ((launch.call.tid, launch.call.id), launch.stream))
            .collect();
        let trace = bench.trace();
        let mut queues: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
        for report in trace.reports().filter(|report| report.op == "dispatch") {
            if let Some(stream) = report.of.and_then(|call| launches.get(&call)) {
                queues.entry(report.queue).or_default().insert(format!("{stream:?}"));
            }
        }
        assert!(queues.values().all(|streams| streams.len() == 1), "a stream keeps its queue: {queues:?}");
        let gpu = &bench.summary()["gpu"];
        assert_eq!(gpu["delay"]["kernels"].as_u64(), Some(32), "{gpu}");
        let commands = gpu["queues"].as_array().expect("queues").iter().map(|row| row["commands"].as_u64());
        assert!(commands.map(Option::unwrap).sum::<u64>() >= 32, "{gpu}");
    }
}

#[test]
fn the_kernels_of_libraries_are_reported_and_give_each_shape_its_rate() {
    let programs = [(&HIP6, "rocblas_gemm"), (&HIP7, "rocblas_gemm"), (&HIP7, "hipblaslt_matmul")];
    for (tree, program) in programs {
        let bench = bench(tree);
        let asked = assert_whole(&bench, bench.traced().arg(tree.program(program)));
        assert!(asked[&Asked::Launch] > 0, "{program}: {asked:?}");
        let summary = bench.summary();
        let products = summary["gpu"]["products"].as_array().expect("products");
        assert!(!products.is_empty(), "{program}");
        for row in products {
            assert_eq!((&row["reported"], &row["evidence"]), (&row["kernels"], &"confirmed".into()), "{row}");
            // Where the problem was given to an object before, its sizes are not known.
            let is_known = !row["shape"].as_str().expect("a shape").contains('?');
            assert_eq!(row["tflops"].as_f64().is_some_and(|rate| rate > 0.0), is_known, "{row}");
        }
    }
}

#[test]
fn the_kernels_of_miopen_are_reported() {
    let bench = bench(&HIP6)
        .env("MIOPEN_CUSTOM_CACHE_DIR", rocm::made_here("miopen"))
        .env("NULL_GPU_KERNEL_NS", "20000")
        .env("CCC_OVERRIDE_OPTIONS", "#X-isystem");
    let found = bench.folder().join("found");
    let bench = bench.env("MIOPEN_USER_DB_PATH", found);
    let asked = assert_whole(&bench, bench.traced().arg(HIP6.program("miopen_conv")));
    assert!(asked[&Asked::Launch] > 0, "{asked:?}");
    let summary = bench.summary();
    let products = summary["gpu"]["products"].as_array().expect("products");
    let is_conv = |row: &&Value| row["function"].as_str().is_some_and(|name| name.starts_with("miopen"));
    assert!(products.iter().any(|row| is_conv(&row) && row["tflops"].as_f64().is_some()), "{products:?}");
}

#[test]
fn the_launches_of_triton_are_reported() {
    for (tree, gfx, compiler) in [(&HIP6, "gfx1100", "clang-21"), (&HIP7, "gfx1201", "clang-22")] {
        let python = artifacts::root().join("tests/programs/real/python/triton_client.py");
        let bench = bench_on(tree, gfx)
            .env("PYTHONPATH", TRITON.folder())
            .env("TRITON_CACHE_DIR", rocm::made_here("triton"))
            .env("TRITON_DEFAULT_FP_FUSION", "1")
            .env("CC", compiler);
        let library = tree.inside("amdhip64");
        let program: [PathBuf; 4] = ["/usr/bin/python3".into(), python, library, "100".into()];
        let asked = assert_whole(&bench, bench.traced().args(program));
        assert_eq!(asked[&Asked::Launch], 101, "{gfx}: {asked:?}");
    }
}

/// The time of a phase's kernels on the GPU, as `phases` gives it, and that of the device's log.
#[track_caller]
fn assert_phases_are_whole(bench: &Bench) {
    let printed = bench.printed(["phases", "--passes"], []);
    let phases = printed["phases"].as_array().expect("phases");
    let mut sum = 0;
    for phase in phases {
        let gpu = &phase["gpu"];
        assert_eq!((&gpu["reported"], &gpu["evidence"]), (&gpu["executed"], &"confirmed".into()), "{gpu}");
        let of = |key: &str| gpu[key].as_u64().expect("ns");
        assert_eq!(of("elapsed_ns"), of("busy_ns") + of("not_launched_ns") + of("held_ns"), "{gpu}");
        assert!(of("busy_ns") > 0 && of("busy_ns") <= of("kernels_ns") + of("transfers_ns"), "{gpu}");
        sum += of("kernels_ns");
    }
    let log = every_dispatch(&bench.log());
    let kernels = log.iter().filter(|dispatch| !dispatch.is_builtin());
    assert_eq!(sum, kernels.map(|dispatch| dispatch.end - dispatch.start).sum::<u64>());
    // `summary --phase` has the reports of the phase's launches.
    let of_decode = phases.iter().filter(|phase| phase["kind"] == "decode");
    let reported: u64 = of_decode.map(|phase| phase["gpu"]["reported"].as_u64().expect("a number")).sum();
    let gpu = &bench.printed(["summary", "--phase", "decode"], [])["gpu"];
    let number = |key: &str| gpu[key].as_u64().expect("a number");
    let evidence = gpu["evidence"].as_str();
    assert_eq!(
        (number("of_launches") + number("of_graphs"), evidence),
        (reported, Some("confirmed")),
        "{gpu}"
    );
    assert!(reported > 0);
    for pass in printed["passes"].as_array().expect("passes") {
        assert_eq!(pass["gpu"]["executed"], pass["launches"], "{pass}");
    }
}

#[test]
fn llama_server_is_reported_whole_request_after_request_with_graphs_and_without() {
    for graphs in [true, false] {
        let bench = bench(&HIP6);
        let bench = if graphs { bench } else { bench.env("GGML_CUDA_DISABLE_GRAPHS", "1") };
        let mut command = bench.traced();
        command.args(["llama-server", "--temp", "0", "--seed", "1", "--parallel", "1"]);
        let server = Server::start(command, &rocm::model(Quantisation::Q4_0));
        for (prompt, steps) in [(17, 24), (46, 12)] {
            server.complete(&gguf::prompt(prompt), steps);
        }
        server.stop();
        let asked = compare(&bench);
        assert_eq!(asked.contains_key(&Asked::GraphLaunch), graphs, "{asked:?}");
        assert_phases_are_whole(&bench);
    }
}

#[test]
fn llama_completion_is_reported_whole_with_graphs_and_without() {
    for graphs in [true, false] {
        let bench = bench(&HIP6);
        let bench = if graphs { bench } else { bench.env("GGML_CUDA_DISABLE_GRAPHS", "1") };
        let mut command = bench.traced();
        command.arg("llama-completion").arg("-m").arg(rocm::model(Quantisation::Q4_0));
        command.args(["-ngl", "99", "-n", "24", "-p", &gguf::prompt(17), "--temp", "0", "--seed", "1"]);
        let asked = assert_whole(&bench, command.arg("-no-cnv").stdin(Stdio::null()));
        match graphs {
            true => assert!(asked[&Asked::GraphLaunch] > asked[&Asked::Launch], "{asked:?}"),
            false => assert!(!asked.contains_key(&Asked::GraphLaunch), "{asked:?}"),
        }
        assert!(asked[&Asked::Runtime] > 0, "{asked:?}");
        assert_phases_are_whole(&bench);
    }
}

#[test]
fn the_gemms_of_graphs_have_the_times_of_their_kernels() {
    let bench = bench(&HIP6);
    let mut command = bench.traced();
    command.args(["llama-bench", "-ngl", "99", "-p", "64", "-n", "0", "-r", "5", "-t", "1", "-m"]);
    let asked = assert_whole(&bench, command.arg(rocm::model(Quantisation::F16)));
    assert!(asked[&Asked::GraphLaunch] > 0, "{asked:?}");
    let summary = bench.summary();
    let rows = summary["gpu"]["products"].as_array().expect("products");
    let rows: Vec<&Value> = rows.iter().filter(|row| row["function"] == "rocblas_gemm_ex").collect();
    let sum = |key: &str| rows.iter().map(|row| row[key].as_u64().expect("a number")).sum::<u64>();
    let log = every_dispatch(&bench.log());
    let tensile: Vec<&Dispatch> = log.iter().filter(|dispatch| dispatch.name.starts_with("Cijk_")).collect();
    let ns = tensile.iter().map(|dispatch| dispatch.end - dispatch.start).sum::<u64>();
    assert_eq!((sum("kernels"), sum("total_ns"), sum("unknown")), (tensile.len() as u64, ns, 0), "{rows:?}");
    assert!(sum("in_graphs") > 0, "{rows:?}");
    for row in rows {
        let class = if row["in_graphs"] == 0 { "confirmed" } else { "inferred" };
        assert_eq!((row["tflops"].is_f64(), &row["evidence"]), (true, &class.into()), "{row}");
    }
}
