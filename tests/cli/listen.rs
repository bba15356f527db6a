//! `rocshim top --listen` and `--push`: metrics of running programs, by a real HTTP client and a
//! receiver.

use rocshim_tests::{Running, Traced, artifacts, llm::Fake, llm::Reply};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A running `rocshim top --listen`.
struct Listening {
    child: Child,
    address: String,
}

impl Listening {
    fn start(words: &[&str], folder: &Path) -> Listening {
        let mut command = Command::new(artifacts::command());
        command.args(["top", "--listen", "0", "--every", "0.1"]).args(words).arg(folder);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it runs");
        let mut line = String::new();
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        said.read_line(&mut line).expect("text");
        // What it says later must not end it.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let address = line.trim().strip_prefix("rocshim: metrics at http://");
        let address =
            address.and_then(|rest| rest.strip_suffix("/metrics")).unwrap_or_else(|| panic!("{line}"));
        Listening { child, address: address.to_owned() }
    }

    /// The response to a request.
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("text");
        response
    }

    /// The metrics, once they are so.
    fn shows(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let response = self.ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
            if response.starts_with("HTTP/1.1 200 OK\r\n") && is_so(&response) {
                return response;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "no {what}: {response}");
            sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn launching() -> Running {
    let program = Traced::program("obedient").args(["0", "--model", "/m/tiny.gguf"]).env("RANK", "3");
    let mut running = program.start();
    assert_eq!(running.answer(), format!("ready {}", running.pid()));
    running
}

/// The value of the series that has this name and these words in its labels.
fn value(response: &str, name: &str, labels: &[&str]) -> Option<f64> {
    let has_all = |line: &&str| labels.iter().all(|label| line.contains(label));
    let line = response.lines().filter(|line| line.starts_with(&format!("{name}{{"))).find(has_all)?;
    line.rsplit(' ').next()?.parse().ok()
}

#[test]
fn prometheus_gets_the_counters_of_each_process() {
    let mut running = launching();
    let folder = running.folder().join("out");
    let listening = Listening::start(&[], &folder);
    running.tell("launch 5");
    running.tell("product");
    let pid = format!("pid=\"{}\"", running.pid());
    let labels = [pid.as_str(), "program=\"obedient\"", "rank=\"3\"", "model=\"tiny.gguf\""];
    let of = |response: &str, name: &str| value(response, name, &labels);
    let shown = listening.shows("launches", |shown| of(shown, "rocshim_gemms_total") == Some(1.0));
    assert!(shown.contains("Content-Type: text/plain; version=0.0.4"), "{shown}");
    assert_eq!(of(&shown, "rocshim_running"), Some(1.0));
    assert_eq!(of(&shown, "rocshim_lost_events_total"), Some(0.0));
    assert!(of(&shown, "rocshim_collector_seconds_total") > Some(0.0), "{shown}");
    let families = shown.lines().filter(|line| line.starts_with("rocshim_launches_total{"));
    let launches: f64 = families.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum();
    running.tell("launch 7");
    let is_more = |shown: &str| {
        let families = shown.lines().filter(|line| line.starts_with("rocshim_launches_total{"));
        families.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum::<f64>()
            == launches + 7.0
    };
    listening.shows("7 more", is_more);
    assert!(listening.ask("GET / HTTP/1.1\r\n\r\n").contains("/metrics"));
    assert!(listening.ask("GET /x HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(listening.ask("PUT /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    let head = listening.ask("HEAD /metrics HTTP/1.1\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
    // Its end shows, with the counters that it has then.
    let trace = running.finish().ok().trace();
    let events = trace.records.iter().filter(|record| record.call().is_some()).count();
    let ended = listening.shows("the end", |shown| of(shown, "rocshim_running") == Some(0.0));
    assert_eq!(of(&ended, "rocshim_events_total"), Some(events as f64));
}

#[test]
fn processes_beyond_the_limit_have_one_series() {
    let first = launching();
    let folder = first.folder().join("out");
    let second = Traced::program("obedient").args(["0"]).start_into(&folder);
    let listening = Listening::start(&["--processes", "1"], &folder);
    let shown = listening.shows("both", |shown| shown.contains("rocshim_processes 2"));
    let of = shown.lines().filter(|line| line.starts_with("rocshim_events_total{")).collect::<Vec<_>>();
    assert!(of.len() == 2 && of[1].starts_with("rocshim_events_total{program=\"others\"} "), "{of:?}");
    drop(second);
}

#[test]
fn opentelemetry_receives_what_is_pushed() {
    let mut running = launching();
    running.tell("launch 5");
    let receiver = Fake::start(|_| Reply::json(200, &json!({})));
    let folder = running.folder().join("out");
    let _listening = Listening::start(&["--push", &receiver.url()], &folder);
    let begin = Instant::now();
    let sent = loop {
        let received = receiver.asked("/v1/metrics");
        let of = |value: &Value| value["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].clone();
        let is_there = |of: &Value| of.as_array().is_some_and(|all| all[0]["name"] == "rocshim.launches");
        if let Some(metrics) = received.iter().map(of).find(is_there) {
            break metrics;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{received:?}");
        sleep(Duration::from_millis(50));
    };
    let attributes = &sent[0]["sum"]["dataPoints"][0]["attributes"];
    let rank = json!({"key": "rank", "value": {"stringValue": "3"}});
    assert!(attributes.as_array().unwrap().contains(&rank), "{attributes}");
}

#[test]
fn what_cannot_be_served_is_one_sentence() {
    let scratch = tempfile::tempdir().unwrap();
    let refused = |words: &[&str], code| {
        let ran = Traced::rocshim(["top"]).args(words).arg(scratch.path()).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{}", ran.stderr);
        ran.stderr
    };
    let said = refused(&["--listen", "nowhere"], 2);
    assert!(said.contains("give ADDRESS:PORT, as 127.0.0.1:9190"), "{said}");
    let said = refused(&["--push", "https://x"], 1);
    assert!(said.contains("--push needs a URL http://HOST:PORT"), "{said}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let said = refused(&["--listen", &taken.local_addr().unwrap().to_string()], 1);
    assert!(said.contains("cannot listen at 127.0.0.1:") && said.contains("in use"), "{said}");
}

#[test]
fn the_dashboard_and_the_alerts_use_names_that_are_served() {
    let served = Traced::rocshim(["help", "fleet"]).run().ok().stdout;
    let served: Vec<&str> = served.split_whitespace().filter(|word| word.starts_with("rocshim_")).collect();
    for file in ["dashboard.json", "alerts.yml"] {
        let text = std::fs::read_to_string(artifacts::root().join("samples/fleet").join(file)).unwrap();
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let used: Vec<&str> = words.filter(|word| word.starts_with("rocshim_")).collect();
        assert!(used.len() > 2, "{file}");
        assert_eq!(used.iter().find(|name| !served.contains(name)), None, "{file}");
    }
}
