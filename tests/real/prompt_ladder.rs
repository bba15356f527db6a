//! The prompt ladder against the real llama-server on the null GPU: the tokens evaluated according
//! to the server are those launched.

use rocshim_tests::artifacts;
use rocshim_tests::gguf::Quantisation;
use rocshim_tests::rocm::{self, Bench, HIP6, bench::run, counted::assert_equal, server::Server};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn a_ladder_on_llama_server_counts_the_columns_that_were_launched() {
    let bench = Bench::new(&HIP6, "gfx1100").env("GGML_CUDA_DISABLE_GRAPHS", "1");
    let mut command = bench.traced();
    command.args(["llama-server", "--parallel", "1"]);
    let server = Server::start(command, &rocm::model(Quantisation::Q4_0));
    let file = bench.folder().join("ladder.ndjson");
    let mut ladder = Command::new("python3");
    ladder.arg("-B").arg(artifacts::root().join("samples/prompt_ladder.py"));
    ladder.args([
        "--server",
        "llama-server",
        "--url",
        &server.url(),
        "--tokens",
        "7-9,46",
        "--num-predict",
        "2",
    ]);
    let (out, err, code) = run(ladder.arg("--out").arg(&file));
    assert_eq!((err.as_str(), code), ("", Some(0)), "{out}");
    server.stop();

    let read = rocshim_cli::read_response_files(&[file]).expect("rocshim reads it");
    let read: Value = serde_json::from_str(&read).expect("JSON");
    let responses = read["responses"].as_array().expect("a list");
    let counts: Vec<_> =
        responses.iter().map(|r| (r["prompt_tokens"].as_u64(), r["cached"].as_u64())).collect();
    // All tokens of a cold prompt, only the last token of a warm one.
    let expected = [(7, 0), (1, 6), (8, 0), (1, 7), (9, 0), (1, 8), (46, 0), (1, 45)];
    assert_eq!(counts, expected.map(|(evaluated, cached)| (Some(evaluated), Some(cached))), "{out}");

    assert_equal(&bench.trace(), &bench.log());
    let summary = bench.summary();
    let rows = summary["columns"].as_array().expect("columns").iter();
    let launched: BTreeSet<u64> =
        rows.filter_map(|row| row["least"].as_u64().filter(|least| row["most"] == *least)).collect();
    // 2: the server's warm-up.
    assert_eq!(launched, BTreeSet::from([1, 2, 7, 8, 9, 46]));
}
