//! Real programs on the real ROCm user space: the launches of the trace are the packets that the
//! device retired.

use rocshim_tests::Trace;
use rocshim_tests::executed::by_graphs;
use rocshim_tests::gguf::{self, Quantisation};
use rocshim_tests::rocm::bench::run;
use rocshim_tests::rocm::counted::{assert_equal, of_family};
use rocshim_tests::rocm::{self, Bench, HIP6, server::Server};
use rocshim_trace::Gemm;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

/// A bench on gfx1100 without HIP graphs.
fn bench() -> Bench {
    with_graphs().env("GGML_CUDA_DISABLE_GRAPHS", "1")
}

/// The same with HIP graphs, llama.cpp's default.
fn with_graphs() -> Bench {
    Bench::new(&HIP6, "gfx1100")
}

#[test]
fn a_hip_program_launches_what_the_device_retires() {
    let bench = bench();
    bench.run_both([HIP6.program("hip_module"), rocm::code_object()]);
    let trace = bench.trace();
    assert_equal(&trace, &bench.log());
    let sources: Vec<_> = trace.code_objects().map(|object| object.source.as_str()).collect();
    assert!(sources.contains(&"file") && sources.contains(&"memory"), "{sources:?}");
    let in_memory = trace.code_objects().find(|object| object.source == "memory").unwrap();
    assert_eq!(in_memory.bytes, Some(std::fs::metadata(rocm::code_object()).unwrap().len()));
    assert_eq!(in_memory.targets, ["gfx1100"]);
}

#[test]
fn what_launched_graphs_execute_is_what_the_device_retires_however_they_are_made_and_changed() {
    let bench = bench();
    // It also prints HIP's last error, which listing a graph's nodes must not change.
    bench.run_both([HIP6.program("graphs"), rocm::code_object()]);
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

/// Validates every line against the schema; returns the types.
#[track_caller]
fn every_line_is_valid(trace: &Trace) -> BTreeSet<String> {
    let schema = crate::trace::schema::tolerant();
    let lines = trace.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let value: serde_json::Value = serde_json::from_slice(line).expect("JSON");
            assert!(schema.is_valid(&value), "{value}");
            value["type"].as_str().expect("a type").to_owned()
        })
        .collect()
}

fn completion(
    command: &mut Command,
    model: Quantisation,
    tokens: usize,
    steps: &str,
) -> (String, String, Option<i32>) {
    command.arg("llama-completion").arg("-m").arg(rocm::model(model)).args(["-ngl", "99", "-n", steps]);
    command.args(["-p", &gguf::prompt(tokens), "--temp", "0", "--seed", "1", "-no-cnv"]);
    run(command.stdin(Stdio::null()))
}

#[test]
fn llama_completion_launches_what_the_device_retires_and_says_the_same() {
    for (tokens, steps) in [(17, "4"), (46, "16")] {
        let bench = bench();
        let (out, err, code) = completion(&mut bench.traced(), Quantisation::Q4_0, tokens, steps);
        let (bare_out, _, bare_code) = completion(&mut bench.bare(), Quantisation::Q4_0, tokens, steps);
        assert_eq!((&out, code), (&bare_out, bare_code), "{err}");
        let counted = assert_equal(&bench.trace(), &bench.log());
        let (vector, matrix) = (of_family(&counted, "mul_mat_vec_q"), of_family(&counted, "9mul_mat_q"));
        assert!(vector > 0 && matrix > 0, "{counted:?}");
        // The whole prompt in one batch; then one token at a time, after the two of llama.cpp's
        // warm-up.
        let summary = bench.summary();
        let rows = summary["columns"].as_array().expect("columns").iter();
        let printed: Vec<_> = rows
            .map(|row| {
                let launches = row["launches"].as_u64().unwrap();
                (row["least"].as_u64(), row["most"].as_u64(), row["rule"].as_str().unwrap(), launches)
            })
            .collect();
        let with = |columns: u64| {
            let rows = printed.iter().filter(move |row| (row.0, row.1) == (Some(columns), Some(columns)));
            rows.map(|row| row.3).sum::<u64>()
        };
        assert_eq!((with(tokens as u64), with(1) + with(2)), (matrix, vector), "{printed:?}");
        assert!(with(1) > 0 && printed.iter().any(|row| row.2 == "argument ncols_dst"), "{printed:?}");
    }
}

#[test]
fn with_graphs_the_direct_launches_and_the_kernels_of_the_launched_graphs_are_what_the_device_retires() {
    for (quantisation, tokens, steps) in [(Quantisation::Q4_0, 17, "24"), (Quantisation::F16, 46, "16")] {
        let bench = with_graphs();
        let (_, err, code) = completion(&mut bench.traced(), quantisation, tokens, steps);
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
        let printed =
            rows.iter().map(|row| (row["name"].as_str().unwrap(), row["launches"].as_u64().unwrap()));
        assert_eq!(printed.filter(|(_, launches)| *launches > 0).collect::<BTreeMap<_, _>>(), of_kernel);
        let graphs = summary["graphs"].as_array().expect("graphs");
        assert!(graphs.iter().all(|row| row["evidence"] == "confirmed"), "{graphs:?}");
    }
}

#[test]
fn an_f16_model_has_its_gemms_with_their_kernels_inside() {
    let bench = bench();
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
        assert_eq!(problem(gemm), problem(within[0]), "one problem at both layers, whatever its numbers");
        assert_eq!((gemm.n, gemm.a.element.as_str()), (46, "f16_r"));
        assert!(trace.launches().any(|launch| launch.call.parent == Some(within[0].call.id)), "{gemm:?}");
    }
}

#[test]
fn llama_server_launches_what_the_device_retires_request_after_request() {
    let bench = bench();
    let (asked, longer) = (gguf::prompt(17), gguf::prompt(46));
    let serve = |mut command: Command| {
        command.args(["llama-server", "--temp", "0", "--seed", "1", "--parallel", "1"]);
        let server = Server::start(command, &rocm::model(Quantisation::Q4_0));
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
    // Why prompt_n is only a proxy: the same prompt again evaluates one token.
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
    let bench = bench();
    let list = |mut command: Command| run(command.args(["llama-server", "--list-devices"]));
    let ((out, err, code), (bare_out, _, bare_code)) = (list(bench.traced()), list(bench.bare()));
    assert_eq!((&out, code), (&bare_out, bare_code), "{err}");
    assert!(out.contains("ROCm0"), "{out}");
}
