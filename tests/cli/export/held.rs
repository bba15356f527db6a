//! An export, and who holds it against its traces: `check.py`, which shares nothing with rocshim.

use rocshim_tests::{Outcome, Traced, artifacts::root};
use std::path::{Path, PathBuf};

/// The samples.
pub(crate) fn sample(name: &str) -> PathBuf {
    root().join("samples/traces").join(name)
}

/// `rocshim export --to FORM`, to `out` in its folder.
pub(crate) fn export(form: &str, traces: &[PathBuf]) -> Outcome {
    Traced::rocshim(["export", "--to", form, "-o", "out"]).args(traces).run()
}

/// Exports to `form` and holds that against the traces; Python finds its packages in `packages`.
#[track_caller]
pub(crate) fn held(form: &str, traces: &[PathBuf], packages: &Path) {
    let exported = export(form, traces).ok();
    assert_eq!(exported.stderr, "");
    let said = |command: &str| {
        let path = exported.folder().join(command);
        let told = Traced::rocshim([command, "--json"]).args(traces).run().ok();
        std::fs::write(&path, told.stdout).expect("it can be written");
        path
    };
    let (summary, phases) = (said("summary"), said("phases"));
    let check = Traced::command("/usr/bin/env".as_ref()).env("PYTHONPATH", packages).arg("python3");
    let check =
        check.arg(root().join("tests/cli/export/check.py")).arg(form).arg(exported.folder().join("out"));
    let told = check.args([summary, phases]).args(traces).run();
    assert_eq!(told.code, Some(0), "{form} of {traces:?}:\n{}{}", told.stdout, told.stderr);
    assert!(told.stdout.starts_with(&format!("{form}: {{")), "{}", told.stdout);
}

/// Programs on stand-ins whose traces have what the samples lack: products of several libraries, ranges, graphs, errors, parts.
pub(crate) fn traced() -> Vec<Outcome> {
    let run = |program: &str| Traced::program(program).with_shim();
    let parts = Traced::program("many_threads").args(["4", "2000", "3"]).env("ROCSHIM_ROTATE_MIB", "0.2");
    let mut all: Vec<Outcome> =
        ["gemm", "matmul", "conv", "marks", "told", "failing", "graph_nodes"].map(run).into();
    all.push(parts.with_shim());
    all
}
