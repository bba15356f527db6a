//! The prompt ladder (`samples/prompt_ladder.py`): its requests to a server, its output, and its
//! errors.

use rocshim_tests::llm::{self, Asked, Fake, Reply};
use rocshim_tests::{Traced, artifacts};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Barrier, Condvar, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A finished run of the ladder.
struct Climbed {
    stdout: String,
    stderr: String,
    code: Option<i32>,
    folder: TempDir,
}

fn ladder(folder: &Path, url: &str, words: &str) -> Command {
    // Programs that a script starts in its background ignore SIGINT; it is set back for this one.
    let mut command = Command::new("env");
    command
        .args(["--default-signal=INT", "python3", "-B"])
        .arg(artifacts::root().join("samples/prompt_ladder.py"))
        .current_dir(folder);
    command.args(["--url", url]).args(words.split_whitespace()).stdin(Stdio::null());
    command
}

fn climb(url: &str, words: &str) -> Climbed {
    climb_in(tempfile::tempdir().expect("a scratch folder"), url, words)
}

fn climb_in(folder: TempDir, url: &str, words: &str) -> Climbed {
    let output = ladder(folder.path(), url, words).output().expect("python3 runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Climbed { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code(), folder }
}

impl Climbed {
    fn file(&self) -> PathBuf {
        self.folder.path().join("ladder.ndjson")
    }

    fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.file()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn labels(&self) -> Vec<String> {
        self.lines().iter().map(|line| line["label"].as_str().expect("a label").to_owned()).collect()
    }

    /// The output as rocshim reads it, without notes.
    #[track_caller]
    fn responses(&self) -> Vec<Value> {
        let read = rocshim_cli::read_response_files(&[self.file()]).expect("rocshim reads it");
        let mut read: Value = serde_json::from_str(&read).expect("JSON");
        assert_eq!(read["notes"], json!([]));
        let Value::Array(list) = read["responses"].take() else { panic!("no list: {read}") };
        assert_eq!(list.len(), self.lines().len());
        list
    }

    #[track_caller]
    fn ok(self) -> Climbed {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{}", self.stdout);
        self
    }

    /// It failed with this code and one line of error.
    #[track_caller]
    fn failed(&self, code: i32, sentence: &str) {
        assert_eq!(self.stderr, format!("prompt_ladder: {sentence}\n"), "{}", self.stdout);
        assert_eq!(self.code, Some(code));
    }
}

fn column<T>(responses: &[Value], read: impl Fn(&Value) -> T) -> Vec<T> {
    responses.iter().map(read).collect()
}

#[test]
fn ollama_is_asked_for_each_length_cold_and_warm() {
    let server = Fake::start(llm::ollama);
    let options =
        "--model tiny --words 6,8-9 --num-batch 256 --num-ctx 1024 --num-predict 4 --keep-alive 0s --raw";
    let climbed = climb(&server.url(), options).ok();
    let labels = [
        "6 words, cold",
        "6 words, warm",
        "8 words, cold",
        "8 words, warm",
        "9 words, cold",
        "9 words, warm",
    ];
    assert_eq!(climbed.labels(), labels);
    let asked = server.asked("/api/generate");
    let prompts =
        column(&asked, |body| body["prompt"].as_str().unwrap().split(' ').collect::<Vec<_>>().len());
    assert_eq!(prompts, [6, 6, 8, 8, 9, 9]);
    let begins =
        column(&asked, |body| body["prompt"].as_str().unwrap().split(' ').next().unwrap().to_owned());
    assert!(begins[0] != begins[2] && begins[2] != begins[4] && begins[0] != begins[4], "{begins:?}");
    assert!(asked[0] == asked[1] && asked[4] == asked[5], "the same again");
    let expected = json!({"num_batch": 256, "num_ctx": 1024, "num_predict": 4, "temperature": 0, "seed": 1});
    assert_eq!([&asked[0]["options"], &asked[0]["keep_alive"]], [&expected, &json!("0s")]);
    assert_eq!(
        [&asked[0]["stream"], &asked[0]["raw"], &asked[0]["model"]],
        [&json!(true), &json!(true), &json!("tiny")]
    );

    let responses = climbed.responses();
    assert_eq!(column(&responses, |r| r["prompt_tokens"].as_u64()), [9, 9, 11, 11, 12, 12].map(Some));
    for response in &responses {
        let time = |name: &str| response[name].as_u64().expect("a time");
        assert!(time("sent") <= time("first") && time("first") <= time("received"), "{response}");
        let kept = ["server", "endpoint", "streamed", "num_batch", "num_ctx", "num_predict"]
            .map(|key| &response[key]);
        let expected =
            [json!("ollama"), json!("/api/generate"), json!(true), json!(256), json!(1024), json!(4)];
        assert_eq!(kept, expected.each_ref());
    }
    let mode = std::fs::metadata(climbed.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(climbed.stdout.starts_with("request"), "{}", climbed.stdout);
    assert!(
        climbed.stdout.contains("6 words, cold       9       -  2.0 ms          2  4.0 ms"),
        "{}",
        climbed.stdout
    );
    assert!(climbed.stdout.ends_with("6 requests: ladder.ndjson\n"), "{}", climbed.stdout);
}

#[test]
fn a_chat_without_streaming_is_reported() {
    let server = Fake::start(llm::ollama);
    let climbed = climb(&server.url(), "--model tiny --words 7 --chat --no-stream --repeat 2").ok();
    let labels = [
        "7 words, cold, round 1",
        "7 words, warm, round 1",
        "7 words, cold, round 2",
        "7 words, warm, round 2",
    ];
    assert_eq!(climbed.labels(), labels);
    let asked = server.asked("/api/chat");
    assert!(asked.len() == 4 && asked[0] != asked[2], "each round has words of its own");
    for response in climbed.responses() {
        assert_eq!([&response["endpoint"], &response["streamed"]], [&json!("/api/chat"), &json!(false)]);
        assert_eq!(response["prompt_tokens"], 10);
    }
}

#[test]
fn llama_server_is_asked_for_exact_counts_of_tokens() {
    let server = Fake::start(llm::llama_server);
    let climbed = climb(&server.url(), "--server llama-server --tokens 7,290 --num-batch 512").ok();
    let labels = ["7 tokens, cold", "7 tokens, warm", "290 tokens, cold", "290 tokens, warm"];
    assert_eq!(climbed.labels(), labels);
    let asked = server.asked("/completion");
    assert_eq!(column(&asked, |body| body["prompt"].as_array().unwrap().len()), [7, 7, 290, 290]);
    assert_eq!(column(&asked, |body| body["cache_prompt"] == true), [false, true, false, true]);
    assert!(asked.iter().all(|body| body.get("num_batch").is_none() && body["n_predict"] == 8));
    let responses = climbed.responses();
    let counts =
        column(&responses, |r| (r["prompt_tokens"].as_u64().unwrap(), r["cached"].as_u64().unwrap()));
    assert_eq!(counts, [(7, 0), (1, 6), (290, 0), (1, 289)]);
    assert_eq!(
        column(&responses, |r| r["num_batch"].as_u64()),
        [Some(512); 4],
        "what the user says of the server"
    );
}

#[test]
fn slots_are_asked_at_once() {
    // No request is answered before three have arrived.
    let together = Barrier::new(3);
    let server = Fake::start(move |asked| {
        if asked.path == "/completion" {
            together.wait();
        }
        llm::llama_server(asked)
    });
    let climbed = climb(&server.url(), "--server llama-server --words 6 --slots 3 --timeout 60").ok();
    let expected: Vec<String> = ["cold", "warm"]
        .iter()
        .flat_map(|state| (1..=3).map(move |slot| format!("6 words, {state}, slot {slot}")))
        .collect();
    let mut labels = climbed.labels();
    labels.sort();
    assert_eq!(labels, expected);
    // Written in the order of sending, as the reader requires.
    assert_eq!(climbed.responses().len(), 6);
}

#[test]
fn an_error_of_the_server_is_one_sentence() {
    let ollama = Fake::start(llm::ollama);
    let url = ollama.url();
    climb(&url, "--model other").failed(
        1,
        "Ollama cannot use the model other: model 'other' not found; `ollama list` shows those there are, `ollama pull` fetches one",
    );
    climb(&url, "--server llama-server")
        .failed(1, &format!("{url} is no llama-server (GET /health: 404); for Ollama: --server ollama"));
    let llama = Fake::start(llm::llama_server);
    climb(&llama.url(), "--model tiny").failed(
        1,
        &format!(
            "{} is no Ollama server (GET /api/version: 404); for llama-server: --server llama-server",
            llama.url()
        ),
    );
    let nowhere = "http://127.0.0.1:1";
    climb(nowhere, "--model tiny").failed(
        1,
        &format!("no server listens at {nowhere}: start the server (`ollama serve`), or name it with --url"),
    );
    climb("ftp://x", "--model tiny").failed(1, "--url ftp://x is no address of a server: http://HOST:PORT");
    climb(&url, "").failed(2, "Ollama needs --model NAME, one of `ollama list`; see --help");
    climb(&url, "--model tiny --words 6,x")
        .failed(2, "argument --words: 'x' is no length; 6,7,9-12 is right; see --help");
}

#[test]
fn a_file_is_not_overwritten_unless_that_is_asked() {
    let server = Fake::start(llm::ollama);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ladder.ndjson"), "mine").unwrap();
    let refused = climb_in(folder, &server.url(), "--model tiny --words 6");
    refused.failed(1, "ladder.ndjson exists already: --force overwrites it, --out names another");
    assert_eq!(std::fs::read_to_string(refused.file()).unwrap(), "mine");
    let forced = climb_in(refused.folder, &server.url(), "--model tiny --words 6 --force").ok();
    assert_eq!(forced.labels().len(), 2);
    let elsewhere = climb(&server.url(), "--model tiny --out none/x");
    elsewhere.failed(1, "cannot write none/x: No such file or directory");
}

/// Like Ollama, except for the second request, which gets this.
fn second(reply: impl Fn() -> Reply + Send + Sync + 'static) -> Fake {
    let number = Mutex::new(0);
    Fake::start(move |asked: &Asked| {
        if asked.path != "/api/generate" {
            return llm::ollama(asked);
        }
        let mut number = number.lock().unwrap();
        *number += 1;
        if *number == 2 { reply() } else { llm::ollama(asked) }
    })
}

#[test]
fn an_error_during_the_ladder_is_kept_with_the_completed_requests() {
    let failing = |reply: fn() -> Reply, options: &str| {
        let server = second(reply);
        let climbed = climb(&server.url(), &format!("--model tiny --words 6,7 {options}"));
        let responses = climbed.responses();
        assert_eq!(column(&responses, |r| r["error"].is_null()), [true, false], "{responses:?}");
        let error = responses[1]["error"].as_str().unwrap().to_owned();
        climbed.failed(1, &format!("6 words, warm: {error}; 2 requests are in ladder.ndjson"));
        error.replace(&server.url(), "URL")
    };
    let error = failing(|| Reply::json(500, &json!({"error": "llama runner process has terminated"})), "");
    assert_eq!(error, "llama runner process has terminated");
    let silent = || Reply { wait: Duration::from_secs(20), ..Reply::json(200, &json!({})) };
    assert_eq!(
        failing(silent, "--timeout 0.5"),
        "timed out after 0.5 s: URL did not answer; --timeout S waits longer"
    );
    let piece = || Reply::lines(&[json!({"model": "tiny", "response": "a", "done": false})]);
    assert_eq!(failing(piece, ""), "the answer stopped before its end (status 200)");
    assert_eq!(
        failing(|| Reply { cut: true, ..Reply::lines(&[json!({"done": false})]) }, ""),
        "the answer stopped before its end (status 200)"
    );
    let page =
        || Reply { kind: "text/html", pieces: vec!["<html>".into()], ..Reply::json(200, &Value::Null) };
    assert_eq!(failing(page, ""), "the answer is no JSON");
}

/// Waits until the file has `count` lines.
fn wait_for_lines(file: &Path, lines: usize) {
    let begun = Instant::now();
    while std::fs::read_to_string(file).unwrap_or_default().lines().count() < lines {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} has no {lines} lines", file.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn requests_completed_before_an_interrupt_are_kept() {
    let (answered, more) = (Mutex::new(0), Condvar::new());
    let server = Fake::start(move |asked| {
        let mut answered = answered.lock().unwrap();
        if asked.path == "/api/generate" {
            *answered += 1;
        }
        // The third is never answered.
        let answered = more.wait_while(answered, |answered| *answered > 2).unwrap();
        drop(answered);
        llm::ollama(asked)
    });
    let folder = tempfile::tempdir().unwrap();
    let mut command = ladder(folder.path(), &server.url(), "--model tiny --words 6,7");
    let child: Child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_lines(&folder.path().join("ladder.ndjson"), 2);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), said.as_str()),
        (Some(130), "prompt_ladder: stopped; 2 requests are in ladder.ndjson\n")
    );
    let climbed = Climbed { stdout: String::new(), stderr: String::new(), code: None, folder };
    assert_eq!(climbed.responses().len(), 2);
}

#[test]
fn the_ladders_help_describes_it() {
    let help = climb("http://x", "--help").ok().stdout;
    for option in ["--words LIST", "--tokens LIST", "--slots N", "--out FILE", "Needs Python 3.9"] {
        assert!(help.contains(option), "{option}\n{help}");
    }
}

/// The claims of samples/ladder.
#[test]
fn the_climbed_sample_is_what_its_description_says() {
    let folder = artifacts::root().join("samples/ladder");
    let proxy = Traced::rocshim(["proxy", "--json"])
        .args([folder.join("traces")])
        .arg("--responses")
        .arg(folder.join("ladder.ndjson"))
        .run()
        .ok();
    let proxy: Value = serde_json::from_str(&proxy.stdout).expect("JSON");
    let requests = proxy["requests"].as_array().expect("requests");
    assert_eq!(requests.len(), 14);
    for request in requests {
        for statement in ["prompt", "path", "generated"] {
            assert_eq!(request[statement]["verdict"], "confirmed", "{request}");
        }
    }
    // A recording in asciicast format: a header, then terminal output with times.
    let cast = std::fs::read_to_string(folder.join("top.cast")).expect("text");
    let lines: Vec<Value> = cast.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((&lines[0]["version"], &lines[0]["width"]), (&json!(2), &json!(100)));
    assert!(lines[1..].iter().all(|event| event[1] == "o") && cast.contains("mul_mat"));
}
