//! `phases` and `proxy` on the real llama.cpp, compared with the device's log.

use rocshim_tests::gguf::{self, Quantisation};
use rocshim_tests::rocm::bench::run;
use rocshim_tests::rocm::device::{self, Dispatch};
use rocshim_tests::rocm::{self, Bench, HIP6, server::Server};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

fn bench(graphs: bool) -> Bench {
    let bench = Bench::new(&HIP6, "gfx1100");
    if graphs { bench } else { bench.env("GGML_CUDA_DISABLE_GRAPHS", "1") }
}

/// A pass in the device's log.
#[derive(Debug, PartialEq)]
struct Pass {
    families: BTreeMap<String, u64>,
    tokens: u64,
}

/// The reported passes, and the same intervals of the device's log.
#[track_caller]
fn both(bench: &Bench) -> (Vec<Pass>, Vec<Pass>) {
    let printed = bench.printed(["phases", "--passes"], []);
    let mut dispatches = device::dispatches(&bench.log()).into_iter();
    let (mut ours, mut devices) = (Vec::new(), Vec::new());
    for pass in printed["passes"].as_array().expect("passes") {
        let name = |row: &Value| row["family"].as_str().unwrap_or("none").to_owned();
        let rows = pass["families"].as_array().expect("families").iter();
        let families = rows.map(|row| (name(row), row["launches"].as_u64().unwrap())).collect();
        assert_eq!(pass["columns"]["least"], pass["columns"]["most"], "{pass}");
        ours.push(Pass { families, tokens: pass["columns"]["most"].as_u64().expect("columns") });
        let launches = pass["launches"].as_u64().expect("launches") as usize;
        devices.push(seen(dispatches.by_ref().take(launches)));
    }
    assert_eq!(dispatches.count(), 0, "every kernel is of a pass");
    (ours, devices)
}

fn seen(dispatches: impl Iterator<Item = Dispatch>) -> Pass {
    let mut pass = Pass { families: BTreeMap::new(), tokens: 0 };
    for dispatch in dispatches {
        let family = rocshim_trace::family(&dispatch.name, None).map_or("none", |family| family.name);
        *pass.families.entry(family.to_owned()).or_default() += 1;
        if pass.tokens == 0 && dispatch.name.contains("rms_norm") {
            pass.tokens = u64::from(dispatch.grid[0] / dispatch.block[0]);
        }
    }
    pass
}

/// Kind, passes, and passes by columns.
type Kinds = Vec<(String, u64, Vec<(u64, u64)>)>;

/// Kinds with their passes, warm-ups excluded.
fn kinds(printed: &Value) -> Kinds {
    let number = |value: &Value| value.as_u64().expect("a number");
    let columns = |row: &Value| {
        let all = row["columns"].as_array().expect("columns").iter();
        all.map(|columns| (number(&columns["most"]), number(&columns["passes"]))).collect()
    };
    let rows = printed["phases"].as_array().expect("phases").iter();
    let printed = rows
        .map(|row| (row["kind"].as_str().expect("a kind").to_owned(), number(&row["passes"]), columns(row)));
    printed.filter(|(kind, ..)| kind != "warm_up").collect()
}

#[test]
fn prompts_of_every_length_and_their_tokens_match_the_device_log() {
    let long = |model| (model, 1300, vec![(512, 2), (276, 1)]);
    let alone = |model, tokens| (model, tokens, vec![(tokens as u64, 1)]);
    let ladder = [8, 9, 290].map(|tokens| alone(Quantisation::Q4_0, tokens));
    let others = [alone(Quantisation::Q8_0, 46), alone(Quantisation::F16, 46), long(Quantisation::Q4_0)];
    for (place, (model, tokens, chunks)) in ladder.into_iter().chain(others).enumerate() {
        let bench = bench(place % 2 == 0);
        let mut command = bench.traced();
        command.arg("llama-completion").arg("-m").arg(rocm::model(model)).args(["-ngl", "99", "-n", "6"]);
        command.args(["-ub", "512", "-p", &gguf::prompt(tokens), "--temp", "0", "--seed", "1", "-no-cnv"]);
        let (_, err, code) = run(&mut command);
        assert_eq!(code, Some(0), "{err}");
        let (ours, devices) = both(&bench);
        assert_eq!(ours, devices, "{model:?}, {tokens} tokens");
        let printed = bench.printed(["phases"], []);
        let passes = chunks.iter().map(|(_, passes)| passes).sum();
        // The first of the six comes from the prompt.
        let decode = ("decode".to_owned(), 5, vec![(1, 5)]);
        assert_eq!(
            kinds(&printed),
            [("prompt".to_owned(), passes, chunks), decode],
            "{model:?}, {tokens} tokens"
        );
        let prompt =
            printed["kinds"].as_array().unwrap().iter().find(|kind| kind["kind"] == "prompt").unwrap();
        let launches = |family: &str| {
            let rows = prompt["families"].as_array().unwrap().iter();
            rows.filter(|row| row["family"] == family)
                .map(|row| row["launches"].as_u64().unwrap())
                .sum::<u64>()
        };
        // The counts agree where a summary is that of one phase.
        let compared = bench.printed(["compare", "--phase", "prompt", "--phase", "decode"], []);
        for (side, kind) in compared["sides"].as_array().unwrap().iter().zip(["prompt", "decode"]) {
            let row = printed["kinds"].as_array().unwrap().iter().find(|row| row["kind"] == kind).unwrap();
            assert_eq!((&side["launches"], &side["lost"]), (&row["launches"], &json!(0)), "{kind}");
        }
        match (model, tokens) {
            (Quantisation::F16, _) => assert!(launches("Tensile product") > 0 && launches("mmq") == 0),
            (_, 8) => assert!(launches("mmvq") > 0 && launches("mmq") == 0),
            _ => assert!(launches("mmq") > 0 && launches("Tensile product") == 0),
        }
    }
}

/// Sends a request, and records when.
fn ask(server: &Server, question: &Value, label: &str) -> Value {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos().to_string();
    let sent = now();
    let response = server.ask(question);
    json!({ "label": label, "sent": sent, "received": now(), "response": response })
}

fn question(prompt: &str, cache: bool) -> Value {
    json!({ "prompt": prompt, "n_predict": 4, "temperature": 0, "seed": 1, "cache_prompt": cache, "ignore_eos": true })
}

fn write(bench: &Bench, name: &str, answers: &[Value]) -> PathBuf {
    let path = bench.folder().join(name);
    let lines: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
    std::fs::write(&path, lines).expect("it is written");
    path
}

/// Verdicts on the prompt, the path and the generated tokens of each request.
fn verdicts(proxy: &Value) -> Vec<[&str; 3]> {
    let verdict = |request: &Value, what: &str| match request[what]["verdict"].as_str() {
        Some("confirmed") => "confirmed",
        Some("contradicted") => "contradicted",
        Some("limited") => "limited",
        Some("unresolved") => "unresolved",
        other => panic!("{other:?}: {request}"),
    };
    let requests = proxy["requests"].as_array().expect("requests").iter();
    requests.map(|request| ["prompt", "path", "generated"].map(|what| verdict(request, what))).collect()
}

#[test]
fn a_ladder_over_the_boundary_cold_and_warm_and_two_slots_at_once() {
    let bench = bench(false);
    let mut command = bench.traced();
    command.args(["llama-server", "--temp", "0", "--seed", "1", "--parallel", "2", "-ub", "512"]);
    let server = Server::start(command, &rocm::model(Quantisation::Q4_0));
    let tokens = [7, 8, 9, 11, 290];
    let mut answers = Vec::new();
    for count in tokens {
        answers.push(ask(&server, &question(&gguf::prompt(count), false), &format!("{count} cold")));
        answers.push(ask(&server, &question(&gguf::prompt(count), true), &format!("{count} warm")));
    }
    let at_once = std::thread::scope(|scope| {
        let asked = [("abcd", 9), ("efgh", 12)].map(|(word, times)| {
            let server = &server;
            scope.spawn(move || ask(server, &question(&word.repeat(times), false), word))
        });
        asked.map(|asked| asked.join().expect("an answer"))
    });
    answers.extend(at_once);
    answers.sort_by_key(|answer| answer["sent"].as_str().unwrap().parse::<u128>().unwrap());
    server.stop();

    let (ours, devices) = both(&bench);
    assert_eq!(ours, devices);
    let path = write(&bench, "answers.ndjson", &answers);
    let proxy = bench.printed(["proxy"], [Path::new("--responses"), &path]);
    let expected = vec![["confirmed"; 3]; 2 * tokens.len()];
    assert_eq!(verdicts(&proxy)[..expected.len()], expected);
    assert_eq!(verdicts(&proxy)[expected.len()..], [["limited"; 3]; 2]);
    for (request, answer) in proxy["requests"].as_array().unwrap().iter().zip(&answers) {
        let launched: u64 =
            request["chunks"].as_array().unwrap().iter().map(|c| c["most"].as_u64().unwrap()).sum();
        if request["prompt"]["verdict"] == "confirmed" {
            assert_eq!(launched, answer["response"]["timings"]["prompt_n"].as_u64().unwrap());
        }
    }
    let together = proxy["requests"].as_array().unwrap().last().unwrap()["prompt"]["why"].as_str().unwrap();
    let numbers: Vec<&str> = together.split(' ').filter(|word| word.parse::<u64>().is_ok()).collect();
    assert!(numbers.len() == 2 && numbers[0] == numbers[1], "{together}");

    // Ollama adds the tokens from the cache (CacheN + PromptN).
    let as_ollama = |answer: &Value| {
        let timings = &answer["response"]["timings"];
        let number = |key: &str| timings[key].as_u64().unwrap();
        json!({ "label": answer["label"], "sent": answer["sent"], "received": answer["received"], "response": {
            "model": "m", "created_at": "2026-01-01T00:00:00Z", "response": "", "done": true, "total_duration": 1,
            "prompt_eval_count": number("cache_n") + number("prompt_n"), "prompt_eval_duration": 1,
            "eval_count": number("predicted_n"), "eval_duration": 1,
        } })
    };
    let ollama: Vec<Value> = answers[..expected.len()].iter().map(as_ollama).collect();
    let proxy =
        bench.printed(["proxy"], [Path::new("--responses"), &write(&bench, "ollama.ndjson", &ollama)]);
    // A cold prompt's count is the number launched. A warm one's is not, and above eight tokens it
    // even implies the wrong kernels.
    let expected: Vec<[&str; 3]> = tokens
        .iter()
        .flat_map(|count| {
            let zone = if *count <= 8 { "confirmed" } else { "contradicted" };
            [["confirmed"; 3], ["contradicted", zone, "confirmed"]]
        })
        .collect();
    assert_eq!(verdicts(&proxy), expected);
    let warm = &proxy["requests"][7]["prompt"];
    assert_eq!((&warm["said"], &warm["observed"]), (&json!("11"), &json!("1")));
    assert!(warm["why"].as_str().unwrap().starts_with("cached prefix"), "{warm}");
}

/// llama.cpp captures a prompt's kernels the second time and launches the graph from then on, with
/// its BLAS GEMMs inside.
#[test]
fn prompts_of_several_chunks_are_the_same_by_launches_and_by_graphs() {
    for (model, path) in [(Quantisation::Q4_0, "confirmed"), (Quantisation::F16, "unresolved")] {
        let bench = bench(true);
        let mut command = bench.traced();
        command.args(["llama-server", "--temp", "0", "--seed", "1", "--parallel", "1", "-ub", "128"]);
        let server = Server::start(command, &rocm::model(model));
        let mut answers = Vec::new();
        for count in [20, 129, 150, 257] {
            answers.extend((0..4).map(|_| ask(&server, &question(&gguf::prompt(count), false), "again")));
        }
        server.stop();
        let (ours, devices) = both(&bench);
        assert_eq!(ours, devices, "{model:?}");
        let proxy =
            bench.printed(["proxy"], [Path::new("--responses"), &write(&bench, "answers.ndjson", &answers)]);
        assert_eq!(verdicts(&proxy), vec![["confirmed", path, "confirmed"]; answers.len()], "{model:?}");
        let captured = bench.trace().gemms().filter(|gemm| gemm.capture.is_some()).count();
        assert_eq!(captured > 0, model == Quantisation::F16);
        for phase in bench.printed(["phases"], [])["phases"].as_array().expect("phases") {
            let rocblas = phase["libraries"].as_array().unwrap().iter();
            let rocblas = rocblas.filter(|row| row["library"] == "librocblas.so").collect::<Vec<_>>()[0];
            let is_called = phase["families"].as_array().unwrap().iter().any(|row| row["of"] == "BLAS");
            assert_eq!(rocblas["evidence"] == "confirmed", is_called, "{rocblas}");
        }
    }
}
