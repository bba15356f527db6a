//! Traces as a user passes them: standard input, a pipe, compressed files; and the output of
//! `recover` and of a wrong process id.

use flate2::{Compression, write::GzEncoder};
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
};

fn sample(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(path)
}

fn rocshim(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rocshim"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn kernels_of(trace: &str) -> String {
    printed(rocshim(&["summary", "--csv", "kernels", trace]).output().unwrap())
}

/// Returns the output of a command that succeeds.
fn printed(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn kernels_of_input(input: &Path) -> String {
    let mut command = rocshim(&["summary", "--csv", "kernels", "-"]);
    printed(command.stdin(File::open(input).unwrap()).output().unwrap())
}

#[test]
fn a_trace_is_the_same_from_a_file_standard_input_a_pipe_and_compressed() {
    let scratch = tempfile::tempdir().unwrap();
    let plain = sample("traces/graphs.ndjson");
    let expected = kernels_of(plain.to_str().unwrap());
    assert!(expected.lines().count() > 1, "{expected}");

    let gzip = scratch.path().join("graphs.ndjson.gz");
    let mut file = GzEncoder::new(File::create(&gzip).unwrap(), Compression::fast());
    file.write_all(&fs::read(&plain).unwrap()).unwrap();
    file.finish().unwrap();

    assert_eq!(kernels_of_input(&plain), expected);
    assert_eq!(kernels_of(gzip.to_str().unwrap()), expected);
    assert_eq!(kernels_of_input(&gzip), expected);

    let fifo = scratch.path().join("graphs.fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let writer = thread::spawn({
        let fifo = fifo.clone();
        move || fs::write(fifo, fs::read(plain).unwrap()).unwrap()
    });
    assert_eq!(kernels_of(fifo.to_str().unwrap()), expected);
    writer.join().unwrap();
}

#[test]
fn a_zstd_trace_is_the_same_from_standard_input() {
    let trace = sample("ladder/traces/llama-server-14061.ndjson.zst");
    let expected = kernels_of(trace.to_str().unwrap());
    assert!(expected.lines().count() > 1, "{expected}");
    assert_eq!(kernels_of_input(&trace), expected);
}

#[test]
fn recover_prints_json() {
    let trace = sample("traces/graphs.ndjson");
    let text = printed(rocshim(&["recover", "--json", trace.to_str().unwrap()]).output().unwrap());
    let files: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(files, serde_json::json!([{ "trace": trace.to_str().unwrap(), "outcome": "whole" }]));

    let input = File::open(&trace).unwrap();
    let output = rocshim(&["recover", "--json", "-"]).stdin(input).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let files: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&files[0]["trace"], &files[0]["outcome"]), (&"standard input".into(), &"failed".into()));
}

#[test]
fn a_process_id_that_is_no_number_is_refused_in_one_sentence() {
    let output = rocshim(&["ctl", "abc"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "rocshim: invalid value 'abc' for '[PID]': a process id is a number; `rocshim ctl` lists the processes \
         that record; see rocshim ctl --help\n"
    );
}
