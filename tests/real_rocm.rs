//! Real programs on the real ROCm user space: the trace's launches are the packets that the device retired.
//!
//! The device is the null GPU of `tests/null-gpu`, whose own log is an independent count. HIP graphs are switched off for
//! llama.cpp: with them, launches are replayed by the runtime without a call.

use rocshim_tests::gguf::{self, Quantisation};
use rocshim_tests::real::{self, device, server::Server};
use rocshim_tests::{Trace, artifacts};
use rocshim_trace::Gemm;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const GFX: &str = "gfx1100";

/// A launch, counted: kernel, grid in work-items, block.
type Counted = BTreeMap<(String, [u32; 3], [u32; 3]), u64>;

fn dispatched(log: &Path) -> Counted {
    let mut counted = Counted::new();
    device::dispatches(log)
        .into_iter()
        .for_each(|d| *counted.entry((d.name, d.grid, d.block)).or_default() += 1);
    counted
}

fn launched(trace: &Trace) -> Counted {
    let names = trace.kernel_names();
    let mut counted = Counted::new();
    for launch in trace.launches().filter(|launch| launch.call.status == 0) {
        let name = names[&launch.kernel.unwrap_or_else(|| panic!("a launch without a kernel: {launch:?}"))];
        let items = launch.items.unwrap_or(std::array::from_fn(|i| launch.grid[i] * launch.block[i]));
        *counted.entry((name.to_owned(), items, launch.block)).or_default() += 1;
    }
    counted
}

/// Every launch by name, grid and block, in the same number on both sides.
#[track_caller]
fn assert_equal(trace: &Trace, log: &Path) -> Counted {
    let (ours, devices) = (launched(trace), dispatched(log));
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
        real::prepare();
        Bench { folder: tempfile::tempdir().expect("a scratch folder") }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("device.log")
    }

    /// A command in the user space under `rocshim run`; add the program and its arguments.
    fn traced(&self) -> Command {
        let mut command = real::command(GFX, &self.log());
        command.arg(artifacts::command()).arg("run").arg("-o").arg(self.folder.path().join("out")).arg("--");
        command.env("GGML_CUDA_DISABLE_GRAPHS", "1");
        command
    }

    /// The same without the shim, and with a log of its own.
    fn bare(&self) -> Command {
        let mut command = real::command(GFX, &self.folder.path().join("bare.log"));
        command.env("GGML_CUDA_DISABLE_GRAPHS", "1");
        command
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
    let program = [real::program("hip_module"), real::code_object()];
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
fn a_rocblas_gemm_has_its_tensile_kernel_as_its_child() {
    let bench = Bench::new();
    let (mut traced, mut bare) = (bench.traced(), bench.bare());
    traced.arg(real::program("rocblas_gemm"));
    bare.arg(real::program("rocblas_gemm"));
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
