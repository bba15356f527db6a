//! `rocshim tail`: what it prints of running programs, its filters, and how it ends.

use rocshim_tests::{Outcome, Running, Terminal, Traced, artifacts};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

fn obedient(words: &[&str]) -> Running {
    let mut running = Traced::program("obedient").args(words).start();
    assert_eq!(running.answer(), format!("ready {}", running.pid()));
    running
}

/// A running `rocshim tail`, whose lines are read as they arrive.
struct Tail {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Tail {
    fn start(words: &[&str], what: &Path) -> Tail {
        let mut command = Command::new(artifacts::command());
        command.arg("tail").args(words).arg(what).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        let lines = BufReader::new(child.stdout.take().expect("a pipe"));
        Tail { child, lines }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("text");
        line
    }

    fn object(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// It ends by itself: the rest of both its outputs.
    fn rest(mut self) -> (String, String, ExitStatus) {
        let (mut out, mut err) = (String::new(), String::new());
        self.lines.read_to_string(&mut out).expect("text");
        self.child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
        (out, err, self.child.wait().expect("it ends"))
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tail(words: &[&str]) -> Outcome {
    Traced::rocshim([&["tail"], words].concat()).run()
}

#[test]
fn requested_calls_are_printed_as_they_arrive() {
    let mut running = obedient(&[]);
    running.tell("launch 3");
    running.ctl(&["flush"]).ok();
    let (file, pid) = (running.trace_files().remove(0), running.pid());
    let mut printed = Tail::start(&["--json", "-n", "1", "--kernel", "COMMANDED"], &file);
    let mut products = Tail::start(&["--library", "*rocblas*"], &file);
    // The last of what was there; then everything.
    let grid = |object: Value| (object["table"].clone(), object["kernel"].clone(), object["grid_x"].clone());
    assert_eq!(grid(printed.object()), ("launches".into(), "commanded".into(), 3.into()));
    running.tell("product");
    running.tell("launch 2");
    for number in 4..=5 {
        let object = printed.object();
        assert_eq!((object["pid"].as_u64(), object["block_x"].as_u64()), (Some(pid.into()), Some(64)));
        assert_eq!(grid(object), ("launches".into(), "commanded".into(), number.into()));
    }
    let lines: Vec<String> = (0..2).map(|_| products.line()).collect();
    for (line, has) in lines.iter().zip(["rocblas_create_handle", "rocblas_sgemm NN 8x8x8 f32_r"]) {
        assert!(
            line.contains(&format!("{pid}/{pid}")) && line.contains(" rocblas ") && line.contains(has),
            "{line}"
        );
    }
    // The only file has ended: so does tail.
    running.finish().ok();
    let (out, err, status) = printed.rest();
    assert_eq!((out.as_str(), status.code()), ("", Some(0)), "{err}");
    let about = |what| format!("obedient ({pid} on {}, {}) {what}\n", host(), file.display());
    assert_eq!(err, about("is followed") + &about("has ended"));
    let (out, _, status) = products.rest();
    assert_eq!((out.lines().count(), status.code()), (0, Some(0)), "{out}");
}

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").expect("text").trim_end().to_string()
}

#[test]
fn processes_of_a_folder_come_and_go() {
    let mut first = obedient(&[]);
    let out = first.folder().join("out");
    let mut second = Traced::program("obedient").start_into(&out);
    second.answer();
    let [first_pid, second_pid] = [first.pid(), second.pid()];
    let mut all = Tail::start(&["--json", "-n", "all", "--kernel", "commanded"], &out);
    let mut of_second = Tail::start(&["--json", "-n", "all", "--process", &second_pid.to_string()], &out);
    let pid = |tail: &mut Tail| tail.object()["pid"].as_u64();
    first.tell("launch 1");
    assert_eq!(pid(&mut all), Some(first_pid.into()));
    second.tell("launch 1");
    assert_eq!(pid(&mut all), Some(second_pid.into()));
    assert_eq!(pid(&mut of_second), Some(second_pid.into()));
    // A later one is followed as well.
    let mut third = Traced::program("obedient").start_into(&out);
    third.answer();
    third.tell("launch 1");
    let third_pid = u64::from(third.pid());
    assert_eq!(pid(&mut all), Some(third_pid));
    third.signal(Signal::KILL);
    drop((first, second, third));
    // A folder may get more files: it continues until it is interrupted.
    assert!(all.child.try_wait().expect("ours").is_none());
    all.child.kill().expect("it runs");
    let (_, err, _) = all.rest();
    assert!(err.contains(&format!("obedient ({third_pid} on ")) && err.contains("is followed"), "{err}");
}

#[test]
fn a_killed_program_is_reported_with_its_leftover() {
    let mut running = obedient(&[]);
    let file = running.trace_files().remove(0);
    let tail = Tail::start(&["-n", "all", "--kernel", "commanded"], &file);
    running.tell("launch 4");
    running.signal(Signal::KILL);
    let (out, err, status) = tail.rest();
    assert_eq!(
        (out.lines().filter(|line| line.contains(" commanded grid ")).count(), status.code()),
        (4, Some(0)),
        "{out}"
    );
    assert!(err.ends_with(" was killed; what it left in its rings was read\n"), "{err}");
}

#[test]
fn a_trace_that_has_ended_is_written_to_its_end() {
    let mut running = obedient(&[]);
    running.tell("launch 30");
    running.tell("product");
    let outcome = running.finish().ok();
    let file = outcome.trace_files().remove(0);
    let file = file.to_str().expect("UTF-8");
    let last = tail(&["-n", "2", "--kernel", "commanded", file]).ok();
    let grids: Vec<&str> =
        last.stdout.lines().filter_map(|line| line.split(" grid ").nth(1)?.split(' ').next()).collect();
    assert_eq!((grids, last.stderr.as_str()), (vec!["29", "30"], ""));
    // Everything: every call of the trace, in order.
    let all = tail(&["-n", "all", "--json", file]).ok();
    let objects = all.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let objects: Vec<Value> = objects.collect();
    let launches = objects.iter().filter(|object| object["table"] == "launches").count();
    assert_eq!(launches, outcome.trace().launches().count());
    assert!(objects.is_sorted_by_key(|object| object["begin_ns"].as_u64()));
    assert_eq!(objects.iter().filter(|object| object["table"] == "gemms").count(), 1);
}

#[test]
fn in_a_terminal_lines_fit_and_control_c_ends_it() {
    let mut running = obedient(&[]);
    let out = running.folder().join("out");
    let terminal = Terminal::start(&["tail", out.to_str().expect("UTF-8")], &[], [110, 24]);
    terminal.shows("the process", |shown| shown.contains("is followed"));
    running
        .tell("load a_kernel_with_a_name_that_is_much_longer_than_what_is_left_of_a_line_in_this_terminal");
    running.tell("launch 2");
    let shown = terminal.shows("two launches", |shown| shown.matches(" grid ").count() == 2);
    let lines: Vec<&str> = shown.lines().filter(|line| line.contains(" grid ")).collect();
    assert!(lines.iter().all(|line| line.contains("a_kernel_with") && line.contains('…')), "{shown}");
    assert!(lines.iter().all(|line| line.ends_with(" stream 0") && line.chars().count() == 110), "{shown}");
    terminal.press(&["C-c"]);
    let shown = terminal.shows("the end", |shown| shown.contains("ended: ") && shown.contains("icanon"));
    assert!(shown.contains("^Cended: 130\nicanon echo"), "{shown}");
}

#[test]
fn what_cannot_be_followed_is_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let alien = folder.path().join("alien.ndjson");
    std::fs::write(&alien, "{\"ts\":1}\n").unwrap();
    let refused = |words: &[&str], code: i32| {
        let outcome = tail(words);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""), "{}", outcome.stderr);
        outcome.stderr
    };
    let is_none = refused(&[alien.to_str().unwrap()], 1);
    assert!(
        is_none.contains("alien.ndjson is not a rocshim trace: its first line is not a header"),
        "{is_none}"
    );
    assert_eq!(is_none.lines().count(), 1);
    assert_eq!(
        refused(&["/nowhere"], 1),
        "rocshim: there is no file or folder /nowhere: `rocshim run -o DIR -- CMD` writes traces to DIR\n"
    );
    let number = refused(&["-n", "few", "."], 2);
    assert!(number.contains("give a number, or `all`"), "{number}");
}
