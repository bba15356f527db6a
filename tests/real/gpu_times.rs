//! GPU times on the real HIP: every dispatch of the device's log is in the trace once, under its
//! launch, with its name, and with the device's times.

use rocshim_tests::Trace;
use rocshim_tests::gguf::{self, Quantisation};
use rocshim_tests::rocm::bench::run;
use rocshim_tests::rocm::device::{Dispatch, every_dispatch};
use rocshim_tests::rocm::{self, Bench, HIP6, HIP7, Tree};
use rocshim_trace::{Gpu, Record};
use std::collections::{BTreeMap, HashMap};
use std::process::Stdio;

fn bench(tree: &'static Tree) -> Bench {
    Bench::new(tree, "gfx1100").env("ROCSHIM_GPU_TIME", "on").env("DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING", "0")
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
            assert_eq!(seen(&bench), (launches, graphs, "confirmed".to_owned()), "{asked:?}");
        }
    }
}

#[test]
fn llama_completion_with_graphs_is_reported_whole() {
    let bench = bench(&HIP6);
    let mut command = bench.traced();
    command
        .arg("llama-completion")
        .arg("-m")
        .arg(rocm::model(Quantisation::Q4_0))
        .args(["-ngl", "99", "-n", "24"]);
    command.args(["-p", &gguf::prompt(17), "--temp", "0", "--seed", "1", "-no-cnv"]).stdin(Stdio::null());
    let (_, err, code) = run(&mut command);
    assert_eq!(code, Some(0), "{err}");
    let asked = assert_equal(&bench.trace(), &every_dispatch(&bench.log()));
    assert!(asked[&Asked::GraphLaunch] > asked[&Asked::Launch], "{asked:?}");
    assert!(asked[&Asked::Runtime] > 0, "{asked:?}");
    let (launches, graphs, evidence) = seen(&bench);
    let counted = [asked[&Asked::Launch], asked[&Asked::GraphLaunch]].map(|count| count as u64);
    assert_eq!(([launches, graphs], evidence.as_str()), (counted, "confirmed"));
}
