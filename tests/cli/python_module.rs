//! The Python module: its documented examples, and a script that has itself recorded.

use rocshim_tests::{Traced, artifacts};
use std::path::{Path, PathBuf};

/// The machine's Python with the module of this source tree.
fn python() -> Traced {
    let module = artifacts::root().join("src/python");
    Traced::command(Path::new("/usr/bin/env"))
        .arg("python3")
        .env("PYTHONPATH", module)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("ROCSHIM_COMMAND", artifacts::command())
        .env("ROCSHIM_LIB", artifacts::shim())
}

#[test]
fn the_documented_examples_run() {
    let root = artifacts::root().display();
    let script = format!("cd '{root}' && exec python3 -m doctest src/python/README.md");
    let ran = Traced::command(Path::new("/bin/sh"))
        .env("PYTHONPATH", artifacts::root().join("src/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("ROCSHIM_COMMAND", artifacts::command())
        .args(["-c", &script])
        .run();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.stderr);
}

#[test]
fn a_script_that_asks_for_it_is_recorded_from_its_first_line_with_its_phases() {
    let python = python();
    let script = python.folder().join("script.py");
    let text = "\
import rocshim, sys
rocshim.trace('out')
import ctypes
hip = ctypes.CDLL(sys.argv[1])
assert rocshim.recording()
with rocshim.phase('decode'):
    hip.hipDeviceSynchronize()
rocshim.mark('done')
assert rocshim.flush()
print(len(sys.argv))
";
    std::fs::write(&script, text).unwrap();
    let hip = artifacts::vendor().join("libamdhip64.so.6");
    let ran = python.arg(&script).arg(hip).run().ok();
    assert_eq!(ran.stdout, "2\n", "the script ran once: {}", ran.stderr);
    let files: Vec<PathBuf> = ran.trace_files();
    assert_eq!(files.len(), 1, "{files:?}");
    let text = std::fs::read_to_string(&files[0]).unwrap();
    for word in ["\"decode\"", "\"done\"", "hipDeviceSynchronize"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_missing_trace_is_one_sentence() {
    let ran = python().args(["-c", "import rocshim; rocshim.read('/nowhere')"]).run();
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("rocshim._files.Error: ") && ran.stderr.contains("/nowhere"),
        "{}",
        ran.stderr
    );
}
