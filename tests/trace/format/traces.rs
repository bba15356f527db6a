//! The traces for the tests of the format: programs run under the shim, recovered with `rocshim
//! recover` if they died.

use rocshim_tests::{Outcome, Trace, Traced};
use serde_json::Value;
use std::path::Path;
use std::sync::OnceLock;

/// A program, its arguments, its variables (`on`: the build of HIP for it).
type Run = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

/// The programs. In order: every kind of event; code loaded and unloaded; losses; threads; ends;
/// jumps.
#[rustfmt::skip]
const RUNS: &[Run] = &[
    ("demo",            &[],                &[]),
    ("launch_forms",    &[],                &[]),
    ("gemm",            &[],                &[("STANDIN_ROCBLAS_BETA", "1")]),
    ("gemm_forms",      &[],                &[]),
    ("blas_calls",      &[],                &[]),
    ("matmul",          &[],                &[]),
    ("conv",            &[],                &[]),
    ("conv_solutions",  &[],                &[]),
    ("layers",          &[],                &[]),
    ("failing",         &[],                &[]),
    ("graph_capture",   &[],                &[]),
    ("graph_capture",   &[],                &[("on", "registering"), ("STANDIN_DIE_AT", "30")]),
    ("graph_fork",      &[],                &[]),
    ("graph_nodes",     &[],                &[]),
    ("copies",          &[],                &[]),
    ("devices",         &[],                &[("STANDIN_DEVICES", "3")]),
    ("by_ptr",          &[],                &[]),
    ("libraries",       &[],                &[("on", "registering")]),
    ("collectives",     &[],                &[]),
    ("marks",           &[],                &[]),
    ("marks_local",     &[],                &[]),
    ("handle_reuse",    &[],                &[]),
    ("stream_reuse",    &[],                &[]),
    ("arguments",       &["ask"],           &[]),
    ("module_file",     &["module.co"],     &[]),
    ("unregister",      &[],                &[]),
    ("reload",          &[],                &[]),
    ("gpu_times",       &["order"],         &[("ROCSHIM_GPU_TIME", "on"), ("DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING", "0")]),
    ("by_dlsym",        &[],                &[]),
    ("handle_reuse",    &[],                &[("ROCSHIM_INTERCEPT", "none")]),
    ("by_get_proc_address", &[],            &[]),
    ("load_deep",       &["first"],                &[("on", "registering")]),
    ("two_copies",      &["plt"],           &[]),
    ("many_threads",    &["2", "2000"],     &[("ROCSHIM_MEMORY_MIB", "0.25")]),
    ("many_threads",    &["2", "60000"],    &[("ROCSHIM_MEMORY_MIB", "0.25")]),
    ("short_threads",   &[],                &[]),
    ("exit_launches",   &[],                &[]),
    ("kill_self",       &["300", "kill"],   &[]),
    ("kill_self",       &["50", "gemm"],    &[("STANDIN_DIE_AT", "51")]),
    ("kill_self",       &["10", "thread"],  &[("ROCSHIM_MEMORY_MIB", "0.25")]),
    ("gemm",            &[],                &[("STANDIN_DIE_AT", "4")]),
    ("conv",            &[],                &[("STANDIN_DIE_AT", "1")]),
    ("conv",            &[],                &[("STANDIN_DIE_AT", "20")]),
    ("fork_both",       &["50"],            &[]),
    ("fork_exec",       &[],                &[]),
    ("demo",            &[],                &[("ROCSHIM_START", "off")]),
    ("longjmp_through", &[],                &[]),
    ("throw_through",   &[],                &[]),
];

/// A trace, line by line as untyped JSON.
pub(crate) struct Recorded {
    /// The program and what is special about this run.
    pub(crate) name: String,
    /// The lines.
    pub(crate) lines: Vec<Value>,
    /// The file.
    pub(crate) text: String,
    /// The ring folder in its header still existed after it was complete.
    pub(crate) has_rings: bool,
}

/// Every trace of every run, made once.
pub(crate) fn recorded() -> &'static [Recorded] {
    static RECORDED: OnceLock<Vec<Recorded>> = OnceLock::new();
    RECORDED.get_or_init(|| RUNS.iter().flat_map(|run| record(*run)).chain(asked()).collect())
}

/// The traces of a process under `rocshim ctl`: snapshots of both kinds, and a trace with a pause.
fn asked() -> Vec<Recorded> {
    let mut recorded = Vec::new();
    for (full, what) in [("overwrite", "of a flight recorder"), ("drop", "of a trace")] {
        let program = Traced::program("obedient").args(["3", "100"]);
        let mut running = program.env("ROCSHIM_FULL", full).env("ROCSHIM_MEMORY_MIB", "1").start();
        running.answer();
        running.tell("product");
        for word in ["stop", "start"] {
            running.ctl(&[word]).ok();
        }
        running.tell("launch 10");
        let path = running.folder().join("snapshot.ndjson");
        running.ctl(&["snapshot", "-o", path.to_str().expect("text")]).ok();
        // Its rings are those of the process, which still runs.
        recorded.push(Recorded { has_rings: false, ..read(&path, &format!("a snapshot {what}")) });
        running.tell("halt");
        recorded.extend(finished(&running.finish().ok(), &format!("obedient, asked for snapshots {what}")));
    }
    recorded
}

fn record((program, args, variables): Run) -> Vec<Recorded> {
    let traced = Traced::program(program).args(args);
    let with = |traced: Traced, (name, value): &(&str, &str)| match *name {
        "on" => traced.on(&[value]),
        name => traced.env(name, value),
    };
    let outcome = variables.iter().fold(traced, with).with_shim();
    let words = variables.iter().map(|(name, value)| format!("{name}={value}")).chain([program.to_string()]);
    let name = words.chain(args.iter().map(|arg| arg.to_string())).collect::<Vec<_>>().join(" ");
    finished(&outcome, &name)
}

/// The traces of `outcome`, each complete; at least one.
pub(crate) fn finished(outcome: &Outcome, name: &str) -> Vec<Recorded> {
    let files = outcome.trace_files();
    assert!(!files.is_empty(), "{name} left no trace; stderr: {}", outcome.stderr);
    let finished = |file: &Path| {
        if Trace::read(file).footers().count() == 0 {
            Traced::rocshim(["recover".as_ref(), file.as_os_str()]).run().ok();
        }
        read(file, name)
    };
    files.iter().map(|file| finished(file)).collect()
}

/// Reads a trace file; every line must be complete, the last one too.
pub(crate) fn read(file: &Path, name: &str) -> Recorded {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    assert!(text.ends_with('\n'), "{name} ends in the middle of a line");
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{name}: {e}: {line}"));
    let lines: Vec<Value> = text.lines().map(line).collect();
    let rings = lines.first().and_then(|header| header["rings"].as_str()).unwrap_or_default();
    let has_rings = !rings.is_empty() && Path::new(rings).exists();
    Recorded { name: name.into(), lines, text, has_rings }
}
