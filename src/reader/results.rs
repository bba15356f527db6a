//! Reads files of a program's own results into tokens per second: llama-bench's, Ollama's,
//! llama-server's.

use super::responses::{Response, Server, read_responses};
use anyhow::{Context, Result, bail};
use rocshim_trace::file_name;
use serde::Deserialize;
use std::path::Path;

/// Contents of one results file.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The file.
    pub file: String,
    /// The program: `llama-bench`, `Ollama` or `llama-server`.
    pub program: &'static str,
    /// Tests by name, in the file's order, with tokens per second of each sample.
    pub tests: Vec<(String, Vec<f64>)>,
}

impl Results {
    /// Adds the results of another run of the same program.
    pub fn add(&mut self, other: Results) -> Result<()> {
        if self.program != other.program {
            bail!("{} holds results of {}, {} of {}", self.file, self.program, other.file, other.program);
        }
        self.file = format!("{}, {}", self.file, other.file);
        other.tests.into_iter().for_each(|(name, samples)| add(&mut self.tests, name, samples));
        Ok(())
    }
}

/// A test of llama-bench (`-o json`, `-o jsonl`), as its `print_test` writes it.
#[derive(Deserialize)]
struct Bench {
    model_filename: Option<String>,
    n_prompt: u64,
    n_gen: u64,
    #[serde(default)]
    n_depth: u64,
    avg_ts: f64,
    /// Samples, one per repetition.
    #[serde(default)]
    samples_ts: Vec<f64>,
}

/// `-o json` writes one list, `-o jsonl` one line per test.
#[derive(Deserialize)]
#[serde(untagged)]
enum Benches {
    All(Vec<Bench>),
    One(Bench),
}

/// Reads a file of results.
///
/// # Errors
/// When the file cannot be read, or holds no tokens and times of a known program.
pub fn read_results(path: &Path) -> Result<Results> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {file}"))?;
    if let Some(tests) = benches(&text) {
        return Ok(Results { file, program: "llama-bench", tests });
    }
    let known = "llama-bench -o json, or responses of Ollama or llama-server with their counts and times";
    let responses = read_responses(&[path.to_path_buf()])
        .with_context(|| format!("{file} holds no results that are known ({known})"))?
        .list;
    let (mut tests, mut program) = (Vec::new(), None);
    for response in responses.iter().filter(|response| response.error.is_none()) {
        let own = match response.server {
            Server::Ollama => "Ollama",
            Server::LlamaServer => "llama-server",
        };
        if *program.get_or_insert(own) != own {
            bail!("{file} holds responses of Ollama and of llama-server: give those of one program");
        }
        rates(response).into_iter().flatten().for_each(|(name, rate)| add(&mut tests, name, [rate]));
    }
    match program.filter(|_| !tests.is_empty()) {
        Some(program) => Ok(Results { file, program, tests }),
        None => bail!("{file} holds responses without counts and times of their tokens; give {known}"),
    }
}

/// Returns the tests of llama-bench, if the text holds any.
fn benches(text: &str) -> Option<Vec<(String, Vec<f64>)>> {
    let mut tests = Vec::new();
    for benches in serde_json::Deserializer::from_str(text).into_iter::<Benches>() {
        let benches = match benches.ok()? {
            Benches::All(benches) => benches,
            Benches::One(bench) => vec![bench],
        };
        for bench in benches {
            let name = name(&bench);
            let samples = if bench.samples_ts.is_empty() { vec![bench.avg_ts] } else { bench.samples_ts };
            add(&mut tests, name, samples);
        }
    }
    (!tests.is_empty()).then_some(tests)
}

/// Returns the name as in llama-bench's tables, `pp512` or `tg128 @ d1024`, with the model's file.
fn name(bench: &Bench) -> String {
    let mut name = match (bench.n_prompt, bench.n_gen) {
        (prompt, 0) => format!("pp{prompt}"),
        (0, generated) => format!("tg{generated}"),
        (prompt, generated) => format!("pp{prompt}+tg{generated}"),
    };
    if bench.n_depth > 0 {
        name.push_str(&format!(" @ d{}", bench.n_depth));
    }
    let model = bench.model_filename.as_deref().map(file_name);
    model.map_or(name.clone(), |model| format!("{name} {model}"))
}

/// Returns the rates of a response. Ollama's prompt count includes cached tokens, which took no
/// time, so it gives no rate.
fn rates(response: &Response) -> [Option<(String, f64)>; 2] {
    let of = |what: &str, tokens: Option<u64>, ns: Option<u64>| {
        let (tokens, ns) = tokens.zip(ns).filter(|(tokens, ns)| *tokens > 0 && *ns > 0)?;
        let model = response.model.as_ref().map(|model| format!(" {model}")).unwrap_or_default();
        Some((format!("{what}{model}"), tokens as f64 * 1e9 / ns as f64))
    };
    let prompt_tokens = response.prompt_tokens.filter(|_| response.server == Server::LlamaServer);
    [
        of("prompt", prompt_tokens, response.prompt_ns),
        of("generation", response.generated, response.generated_ns),
    ]
}

fn add(tests: &mut Vec<(String, Vec<f64>)>, name: String, samples: impl IntoIterator<Item = f64>) {
    match tests.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) => known.extend(samples),
        None => tests.push((name, samples.into_iter().collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Results> {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("r.json");
        std::fs::write(&path, text).unwrap();
        read_results(&path)
    }

    #[test]
    fn a_list_of_llama_bench_and_its_lines_are_the_same() {
        let pp = r#"{"model_filename":"m/tiny.gguf","n_prompt":512,"n_gen":0,"n_depth":0,"avg_ns":9,"avg_ts":110.0,"stddev_ts":1.5,"samples_ns":[5,4],"samples_ts":[100.0,120.0]}"#;
        let tg = r#"{"model_filename":"m/tiny.gguf","n_prompt":0,"n_gen":128,"n_depth":64,"avg_ts":50.5}"#;
        let expected = [
            ("pp512 tiny.gguf".to_string(), vec![100.0, 120.0]),
            ("tg128 @ d64 tiny.gguf".into(), vec![50.5]),
        ];
        for text in [format!("[{pp},{tg}]"), format!("{pp}\n{tg}\n")] {
            let parsed = read(&text).unwrap();
            assert_eq!((parsed.program, parsed.tests), ("llama-bench", expected.to_vec()));
        }
    }

    #[test]
    fn responses_give_the_rates_of_their_tokens() {
        // 20 tokens in 0.5 s, 30 in 1 s: 40 and 30 a second. The prompt's count may hold tokens
        // from the cache.
        let one = r#"{"model":"m","created_at":"2026-01-01T00:00:00Z","response":"x","done":true,"total_duration":900000000,"prompt_eval_count":7,"prompt_eval_duration":1000,"eval_count":20,"eval_duration":500000000}"#;
        let two = one.replace(
            "\"eval_count\":20,\"eval_duration\":500000000",
            "\"eval_count\":30,\"eval_duration\":1000000000",
        );
        let parsed = read(&format!("{one}\n{two}\n")).unwrap();
        assert_eq!(
            (parsed.program, parsed.tests),
            ("Ollama", vec![("generation m".to_string(), vec![40.0, 30.0])])
        );
        // 8 tokens in 4 ms, 10 in 100 ms: 2000 and 100 a second.
        let server = r#"{"content":"x","stop":true,"timings":{"cache_n":0,"prompt_n":8,"prompt_ms":4.0,"predicted_n":10,"predicted_ms":100.0}}"#;
        let parsed = read(server).unwrap();
        let expected = vec![("prompt".to_string(), vec![2000.0]), ("generation".to_string(), vec![100.0])];
        assert_eq!((parsed.program, parsed.tests), ("llama-server", expected));
    }

    #[test]
    fn the_samples_of_several_runs_are_one_spread() {
        let of = |file: &str, program, tests: &[(&str, f64)]| {
            let tests = tests.iter().map(|(name, rate)| (name.to_string(), vec![*rate])).collect();
            Results { file: file.into(), program, tests }
        };
        let mut all = of("a", "Ollama", &[("x", 1.0)]);
        all.add(of("b", "Ollama", &[("x", 3.0), ("y", 2.0)])).unwrap();
        let tests = vec![("x".to_string(), vec![1.0, 3.0]), ("y".to_string(), vec![2.0])];
        assert_eq!((all.file.as_str(), &all.tests), ("a, b", &tests));
        let error = all.add(of("c", "llama-bench", &[])).unwrap_err().to_string();
        assert_eq!(error, "a, b holds results of Ollama, c of llama-bench");
    }

    #[test]
    fn what_holds_no_results_is_reported() {
        for text in ["", "nonsense", "[]", "{\"a\":1}", "[{\"n_prompt\":5}]"] {
            let parsed = crate::format_error(&read(text).unwrap_err());
            assert!(parsed.contains("r.json") && parsed.contains("llama-bench -o json"), "{text}: {parsed}");
        }
    }
}
