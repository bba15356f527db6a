//! Exports traces and checks the result with `check.py`, which shares no code with rocshim.

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

/// Exports to `form` and checks the result against the traces; Python finds its packages in
/// `packages`.
#[track_caller]
pub(crate) fn held(form: &str, traces: &[PathBuf], packages: &Path) {
    let exported = export(form, traces).ok();
    assert_eq!(exported.stderr, "rocshim: the export is out\n");
    let said = |command: &str| {
        let path = exported.folder().join(command);
        let printed = Traced::rocshim([command, "--json"]).args(traces).run().ok();
        std::fs::write(&path, printed.stdout).expect("it can be written");
        path
    };
    let (summary, phases) = (said("summary"), said("phases"));
    let check = Traced::command("/usr/bin/env".as_ref()).env("PYTHONPATH", packages).arg("python3");
    let check =
        check.arg(root().join("tests/cli/export/check.py")).arg(form).arg(exported.folder().join("out"));
    let printed = check.args([summary, phases]).args(traces).run();
    assert_eq!(printed.code, Some(0), "{form} of {traces:?}:\n{}{}", printed.stdout, printed.stderr);
    assert!(printed.stdout.starts_with(&format!("{form}: {{")), "{}", printed.stdout);
}

/// Programs on stand-ins whose traces contain what the samples lack: GEMMs of several libraries,
/// ranges, graphs, errors, segments.
pub(crate) fn traced() -> Vec<Outcome> {
    let run = |program: &str| Traced::program(program).with_shim();
    let parts = Traced::program("many_threads").args(["4", "2000", "3"]).env("ROCSHIM_ROTATE_MIB", "0.2");
    let mut all: Vec<Outcome> =
        ["gemm", "matmul", "conv", "marks", "rocshim_api", "failing", "graph_nodes"].map(run).into();
    all.push(parts.with_shim());
    all
}
