//! Real programs on the real ROCm user space: the trace's launches are the packets that the device retired.
//!
//! The device is the null GPU of `tests/null-gpu`, whose own log is an independent count. llama.cpp runs without HIP graphs
//! here, so that every launch is a call, but for the tests that say so: those count what graph launches execute.

use rocshim_tests::executed::{Counted, by_graphs, executed};
use rocshim_tests::gguf::{self, Quantisation};
use rocshim_tests::real::{self, HIP6, device, server::Server};
use rocshim_tests::{Trace, artifacts};
use rocshim_trace::Gemm;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const GFX: &str = "gfx1100";

fn dispatched(log: &Path) -> Counted {
    let mut counted = Counted::new();
    device::dispatches(log)
        .into_iter()
        .for_each(|d| *counted.entry((d.name, d.grid, d.block)).or_default() += 1);
    counted
}

/// Every launch by name, grid and block, in the same number on both sides.
#[track_caller]
fn assert_equal(trace: &Trace, log: &Path) -> Counted {
    let (ours, devices) = (executed(trace), dispatched(log));
    for key in ours.keys().chain(devices.keys()) {
        let counts = [ours.get(key), devices.get(key)].map(|count| count.copied().unwrap_or(0));
        assert_eq!(counts[0], counts[1], "launches in the trace, packets of the device: {key:?}");
    }
    assert!(!ours.is_empty(), "something was launched");
    ours
}

fn of_family(counted: &Counted, family: &str) -> u64 {
    counted.iter().filter(|((name, ..), _)| name.contains(family)).map(|(_, count)| count).sum()
}

/// A scratch folder for traces and the device's log.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Bench {
        HIP6.folder();
        Bench { folder: tempfile::tempdir().expect("a scratch folder") }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("device.log")
    }

    /// A command in the user space under `rocshim run`; add the program and its arguments.
    fn traced(&self) -> Command {
        let mut command = self.traced_with_graphs();
        command.env("GGML_CUDA_DISABLE_GRAPHS", "1");
        command
    }

    /// The same with HIP graphs, llama.cpp's default.
    fn traced_with_graphs(&self) -> Command {
        let mut command = HIP6.command(GFX, &self.log());
        command.arg(artifacts::command()).arg("run").arg("-o").arg(self.folder.path().join("out")).arg("--");
        command
    }

    /// The same without the shim, and with a log of its own.
    fn bare(&self) -> Command {
        let mut command = HIP6.command(GFX, &self.folder.path().join("bare.log"));
        command.env("GGML_CUDA_DISABLE_GRAPHS", "1");
        command
    }

    /// `rocshim summary --json` of the trace.
    fn summary(&self) -> serde_json::Value {
        let mut command = Command::new(artifacts::command());
        let output = command.args(["summary", "--json"]).arg(self.folder.path().join("out")).output();
        serde_json::from_slice(&output.expect("it runs").stdout).expect("JSON")
    }

    fn trace(&self) -> Trace {
        let out =
            std::fs::read_dir(self.folder.path().join("out")).expect("traces").flatten().map(|e| e.path());
        let files: Vec<_> = out.filter(|path| path.extension().is_some_and(|e| e == "ndjson")).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        Trace::read(&files[0])
    }
}

#[track_caller]
fn run(command: &mut Command) -> (String, String, Option<i32>) {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(&stdout), text(&stderr), status.code())
}

#[test]
fn a_hip_program_launches_what_the_device_retires() {
    let bench = Bench::new();
    let (mut traced, mut bare) = (bench.traced(), bench.bare());
    let program = [HIP6.program("hip_module"), real::code_object()];
    traced.args(&program);
    bare.args(&program);
    let ((out, err, code), (bare_out, _, bare_code)) = (run(&mut traced), run(&mut bare));
    assert_eq!((&out, code), (&bare_out, bare_code), "{err}");
    let trace = bench.trace();
    assert_equal(&trace, &bench.log());
    let sources: Vec<_> = trace.code_objects().map(|object| object.source.as_str()).collect();
    assert!(sources.contains(&"file") && sources.contains(&"memory"), "{sources:?}");
    let in_memory = trace.code_objects().find(|object| object.source == "memory").unwrap();
    assert_eq!(in_memory.bytes, Some(std::fs::metadata(real::code_object()).unwrap().len()));
    assert_eq!(in_memory.targets, ["gfx1100"]);
}

#[test]
fn what_launched_graphs_execute_is_what_the_device_retires_however_they_are_made_and_changed() {
    let bench = Bench::new();
    let (mut traced, mut bare) = (bench.traced(), bench.bare());
    let program = [HIP6.program("graphs"), real::code_object()];
    traced.args(&program);
    bare.args(&program);
    let ((out, err, code), (bare_out, _, bare_code)) = (run(&mut traced), run(&mut bare));
    // With the last error of HIP in it, which listing a graph's nodes must leave alone.
    assert_eq!((&out, code), (&bare_out, bare_code), "{err}");
    let trace = bench.trace();
    assert_equal(&trace, &bench.log());
    let captured = trace.launches().filter(|launch| launch.capture.is_some()).count();
    assert_eq!((trace.captures().count(), captured), (2, 8), "both streams of each capture");
    let actions: Vec<_> = trace.graph_calls().map(|call| (call.action.as_str(), call.call.status)).collect();
    assert_eq!(actions.iter().filter(|(action, _)| *action == "update").count(), 1, "{actions:?}");
    assert!(actions.contains(&("end_capture", 401)), "{actions:?}");
    let shapes: Vec<_> = trace.graphs().map(|g| (g.capture.is_some(), g.kernels.len(), g.off)).collect();
    assert_eq!(shapes, [(true, 4, 0), (true, 4, 0), (false, 4, 0), (false, 3, 1), (false, 4, 0)]);
    assert!(trace.graphs().all(|graph| graph.complete && graph.others["memcpy"] == 1));
    let types = every_line_is_valid(&trace);
    assert!(
        ["capture", "graph", "graph_call", "graph_launch"].iter().all(|kind| types.contains(*kind)),
        "{types:?}"
    );
}

/// Every line fulfils the schema; gives their types.
#[track_caller]
fn every_line_is_valid(trace: &Trace) -> BTreeSet<String> {
    let schema = serde_json::from_str(rocshim_trace::SCHEMA).expect("the schema is JSON");
    let schema = jsonschema::draft202012::new(&schema).expect("the schema is one");
    let lines = trace.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let value: serde_json::Value = serde_json::from_slice(line).expect("JSON");
            assert!(schema.is_valid(&value), "{value}");
            value["type"].as_str().expect("a type").to_owned()
        })
        .collect()
}

#[test]
fn a_rocblas_gemm_has_its_tensile_kernel_as_its_child() {
    let bench = Bench::new();
    let (mut traced, mut bare) = (bench.traced(), bench.bare());
    traced.arg(HIP6.program("rocblas_gemm"));
    bare.arg(HIP6.program("rocblas_gemm"));
    let ((out, err, code), (bare_out, _, bare_code)) = (run(&mut traced), run(&mut bare));
    assert_eq!((&out, code), (&bare_out, bare_code), "{err}");
    let trace = bench.trace();
    assert_equal(&trace, &bench.log());
    let passed = trace.gemms().map(|g| {
        let op = format!("{}{}", g.trans_a, g.trans_b);
        (
            g.form.as_str(),
            op,
            [g.m, g.n, g.k, g.batch],
            g.a.element.as_str(),
            g.d.element.as_str(),
            g.compute.as_str(),
            g.call.status,
        )
    });
    // As tests/programs/real/rocblas_gemm.c passes them.
    assert_eq!(
        passed.collect::<Vec<_>>(),
        [
            ("plain", "NN".into(), [512, 512, 512, 1], "f32_r", "f32_r", "f32_r", 0),
            ("plain", "TN".into(), [512, 16, 256, 1], "f16_r", "f16_r", "f32_r", 0),
            ("strided_batched", "TN".into(), [64, 32, 128, 4], "f16_r", "f32_r", "f32_r", 0),
            ("batched", "TN".into(), [64, 32, 128, 3], "f16_r", "f16_r", "f16_r", 0),
            ("plain", "NN".into(), [-1, 512, 512, 1], "f32_r", "f32_r", "f32_r", 4),
        ]
    );
    for gemm in trace.gemms().filter(|gemm| gemm.call.status == 0) {
        let children: Vec<_> =
            trace.launches().filter(|launch| launch.call.parent == Some(gemm.call.id)).collect();
        assert!(children.iter().any(|launch| trace.kernel_of(launch).starts_with("Cijk_")), "{gemm:?}");
        assert!(children.iter().all(|launch| launch.call.tid == gemm.call.tid && launch.items.is_some()));
    }
    assert!(
        trace.launches().all(|launch| launch.call.parent.is_some()),
        "every kernel of this program is a GEMM's"
    );
}

fn completion(
    command: &mut Command,
    model: Quantisation,
    tokens: usize,
    steps: &str,
) -> (String, String, Option<i32>) {
    command.arg("llama-completion").arg("-m").arg(real::model(model)).args(["-ngl", "99", "-n", steps]);
    command.args(["-p", &gguf::prompt(tokens), "--temp", "0", "--seed", "1", "-no-cnv"]);
    run(command.stdin(std::process::Stdio::null()))
}

#[test]
fn llama_completion_launches_what_the_device_retires_and_says_the_same() {
    for (tokens, steps) in [(17, "4"), (46, "16")] {
        let bench = Bench::new();
        let (out, err, code) = completion(&mut bench.traced(), Quantisation::Q4_0, tokens, steps);
        let (bare_out, _, bare_code) = completion(&mut bench.bare(), Quantisation::Q4_0, tokens, steps);
        assert_eq!((&out, code), (&bare_out, bare_code), "{err}");
        let counted = assert_equal(&bench.trace(), &bench.log());
        assert!(
            of_family(&counted, "mul_mat_vec_q") > 0 && of_family(&counted, "9mul_mat_q") > 0,
            "{counted:?}"
        );
    }
}

#[test]
fn with_graphs_the_direct_launches_and_the_kernels_of_the_launched_graphs_are_what_the_device_retires() {
    for (quantisation, tokens, steps) in [(Quantisation::Q4_0, 17, "24"), (Quantisation::F16, 46, "16")] {
        let bench = Bench::new();
        let (_, err, code) = completion(&mut bench.traced_with_graphs(), quantisation, tokens, steps);
        assert_eq!(code, Some(0), "{err}");
        let trace = bench.trace();
        let counted = assert_equal(&trace, &bench.log());
        assert!(trace.graph_launches().count() > 0 && !by_graphs(&trace).is_empty());
        let captured = trace.launches().filter(|launch| launch.capture.is_some()).count();
        assert!(captured > 0 && trace.captures().count() > 0);
        // The command's own expansion of the same records.
        let summary = bench.summary();
        assert_eq!(summary["totals"]["launches"], counted.values().sum::<u64>());
        assert_eq!(summary["totals"]["by_graphs"], by_graphs(&trace).values().sum::<u64>());
        assert_eq!(summary["totals"]["captured"], captured);
        assert_eq!(summary["totals"]["unlisted_graph_launches"], 0);
        let mut of_kernel: BTreeMap<&str, u64> = BTreeMap::new();
        counted.iter().for_each(|((name, ..), times)| *of_kernel.entry(name).or_default() += times);
        let rows = summary["kernels"].as_array().expect("kernels");
        let told = rows.iter().map(|row| (row["name"].as_str().unwrap(), row["launches"].as_u64().unwrap()));
        assert_eq!(told.filter(|(_, launches)| *launches > 0).collect::<BTreeMap<_, _>>(), of_kernel);
        let graphs = summary["graphs"].as_array().expect("graphs");
        assert!(graphs.iter().all(|row| row["evidence"] == "confirmed"), "{graphs:?}");
    }
}

#[test]
fn an_f16_model_has_its_gemms_with_their_kernels_inside() {
    let bench = Bench::new();
    let (_, err, code) = completion(&mut bench.traced(), Quantisation::F16, 46, "4");
    assert_eq!(code, Some(0), "{err}");
    let trace = bench.trace();
    assert_equal(&trace, &bench.log());
    let hooks = trace.hook_names();
    let through =
        |name: &str| trace.gemms().filter(|gemm| hooks[&gemm.call.hook] == name).collect::<Vec<_>>();
    let (outer, inner) = (through("hipblasGemmEx"), through("rocblas_gemm_ex"));
    assert!(
        !outer.is_empty() && outer.len() == inner.len() && outer.len() + inner.len() == trace.gemms().count()
    );
    for gemm in outer {
        let within: Vec<_> = inner.iter().filter(|inner| inner.call.parent == Some(gemm.call.id)).collect();
        assert_eq!(within.len(), 1, "{gemm:?}");
        let problem =
            |gemm: &Gemm| ([gemm.m, gemm.n, gemm.k], gemm.a.element.clone(), gemm.d.element.clone());
        assert_eq!(problem(gemm), problem(within[0]), "one problem at both floors, whatever its numbers");
        assert_eq!((gemm.n, gemm.a.element.as_str()), (46, "f16_r"));
        assert!(trace.launches().any(|launch| launch.call.parent == Some(within[0].call.id)), "{gemm:?}");
    }
}

#[test]
fn llama_server_launches_what_the_device_retires_request_after_request() {
    let bench = Bench::new();
    let (asked, longer) = (gguf::prompt(17), gguf::prompt(46));
    let serve = |mut command: Command| {
        command.args(["llama-server", "--temp", "0", "--seed", "1", "--parallel", "1"]);
        let server = Server::start(command, &real::model(Quantisation::Q4_0));
        let answers =
            [(&asked, 4), (&asked, 16), (&longer, 8)].map(|(prompt, steps)| server.complete(prompt, steps));
        (server.stop(), answers)
    };
    let (ended, answers) = serve(bench.traced());
    let (bare_ended, bare_answers) = serve(bench.bare());
    assert_eq!(ended.code(), bare_ended.code());
    for (ours, bare) in answers.iter().zip(&bare_answers) {
        assert_eq!(ours["content"], bare["content"]);
        for key in ["prompt_n", "cache_n", "predicted_n"] {
            assert_eq!(ours["timings"][key], bare["timings"][key], "{key}");
        }
    }
    // What makes prompt_n a mere proxy: the same prompt again evaluates one token.
    let timing = |i: usize, key: &str| answers[i]["timings"][key].as_u64();
    assert_eq!(
        [timing(0, "prompt_n"), timing(1, "prompt_n"), timing(2, "prompt_n")].map(Option::unwrap)[..2],
        [17, 1]
    );
    let counted = assert_equal(&bench.trace(), &bench.log());
    assert!(of_family(&counted, "mul_mat_vec_q") > 0 && of_family(&counted, "9mul_mat_q") > 0);
    for ((name, grid, block), count) in counted.iter().filter(|((name, ..), _)| name.contains("mul_mat")) {
        assert!(grid.iter().chain(block).all(|extent| *extent > 0), "{count} x {name}");
    }
}

#[test]
fn the_devices_that_llama_server_lists_are_the_same() {
    let bench = Bench::new();
    let list = |mut command: Command| run(command.args(["llama-server", "--list-devices"]));
    let ((out, err, code), (bare_out, _, bare_code)) = (list(bench.traced()), list(bench.bare()));
    assert_eq!((&out, code), (&bare_out, bare_code), "{err}");
    assert!(out.contains("ROCm0"), "{out}");
}
