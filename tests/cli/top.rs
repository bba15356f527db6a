//! `rocshim top` in a real terminal: what it shows of programs that run, start and end, its keys,
//! and how it restores the terminal.

use rocshim_tests::{Running, Terminal, Traced};
use rustix::process::{Pid, Signal, kill_process};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SIZE: [u32; 2] = [80, 24];

fn launching(threads: &str) -> Running {
    let mut running = Traced::program("obedient").args([threads, "20000"]).start();
    assert_eq!(running.answer(), format!("ready {}", running.pid()));
    running
}

fn top(running: &Running, variables: &[(&str, &str)]) -> Terminal {
    let folder = running.folder().join("out");
    Terminal::start(&["top", "--every", "0.2", folder.to_str().expect("a path in UTF-8")], variables, SIZE)
}

/// The words of the table row that contains this text.
fn row<'a>(shown: &'a str, has: &str) -> Option<Vec<&'a str>> {
    let line = shown.lines().find(|line| line.contains(has) && !line.starts_with("rows with: "))?;
    Some(line.split_whitespace().collect())
}

fn rate(shown: &str) -> f64 {
    let rates = shown.lines().find_map(|line| line.strip_prefix("launches ")).unwrap_or_default();
    rates.split("/s").next().unwrap_or_default().replace(' ', "").parse().unwrap_or(0.0)
}

/// It has ended, and the terminal is restored: echo, line mode, and the previous screen.
#[track_caller]
fn has_left(terminal: &Terminal) {
    let shown = terminal.shows("the end", |shown| shown.contains("ended: 0") && shown.contains("icanon"));
    let mut words: Vec<&str> = shown.split_whitespace().collect();
    words.sort_unstable();
    assert_eq!(words, ["0", "echo", "ended:", "icanon"], "{shown}");
}

#[test]
fn top_shows_what_a_program_does_now() {
    let mut running = launching("2");
    let terminal = top(&running, &[]);
    let shown = terminal.shows("launches", |shown| rate(shown) > 100.0 && shown.contains(" work"));
    assert!(shown.contains("1 running, 0 ended  every 0.2 s") && shown.contains("lost 0"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    // New launches appear and are counted.
    assert!(!shown.contains(" commanded"));
    running.tell("launch 5");
    terminal.press(&["/", "commanded", "Enter"]);
    let shown = terminal.shows("the new kernel", |shown| row(shown, " commanded").is_some());
    assert!(!shown.contains(" work"), "only what was asked for: {shown}");
    let printed = row(&shown, " commanded").unwrap();
    assert_eq!(printed[1..3], ["5", "100.0%"], "{shown}");
    running.tell("launch 7");
    terminal.shows("7 more", |shown| row(shown, " commanded").is_some_and(|row| row[1] == "12"));
    // GEMMs have a separate table.
    running.tell("product");
    terminal.press(&["/"]);
    terminal.press(&["BSpace"; "commanded".len()]);
    terminal.press(&["Enter", "3"]);
    terminal.shows("a product", |shown| shown.contains("rocblas_"));
    terminal.press(&["6"]);
    let pid = running.pid().to_string();
    let shown = terminal.shows("the process", |shown| shown.contains(&pid) && shown.contains("running "));
    assert!(shown.contains("obedient"), "{shown}");
    terminal.press(&["?"]);
    terminal.shows("help", |shown| shown.contains("Any key goes back."));
    terminal.press(&["x"]);
    terminal.shows("the table again", |shown| shown.contains(&pid));
    terminal.press(&["q"]);
    has_left(&terminal);
    // The program was not affected.
    let outcome = running.finish().ok();
    assert_eq!(outcome.trace().gaps().count(), 0);
}

#[test]
fn the_screen_freezes_and_continues() {
    let running = launching("1");
    let terminal = top(&running, &[]);
    terminal.shows("launches", |shown| rate(shown) > 50.0);
    terminal.press(&["p"]);
    let held = terminal.shows("a pause", |shown| shown.contains("PAUSED"));
    sleep(Duration::from_secs(1));
    assert_eq!(terminal.shown(), held);
    terminal.press(&["p"]);
    terminal.shows("other numbers", |shown| shown != held && !shown.contains("PAUSED"));
    // A resized terminal is redrawn.
    terminal.resize([120, 30]);
    terminal.shows("a longer last line", |shown| shown.contains("+/- pace  ? help"));
    terminal.press(&["C-c"]);
    has_left(&terminal);
}

#[test]
fn processes_come_and_go() {
    let first = launching("1");
    let terminal = top(&first, &[]);
    terminal.shows("launches", |shown| rate(shown) > 50.0);
    terminal.press(&["6"]);
    terminal.shows("the first", |shown| shown.contains("1 running, 0 ended"));
    let next = || Traced::program("obedient").args(["1"]).start_into(&first.folder().join("out"));
    let (second, third) = (next(), next());
    terminal.shows("three", |shown| shown.contains("3 running, 0 ended"));
    third.signal(Signal::KILL);
    let (second_pid, third_pid) = (second.pid().to_string(), third.pid().to_string());
    second.finish();
    let shown = terminal.shows("two ends", |shown| shown.contains("1 running, 2 ended"));
    let state = |pid: &str| row(&shown, pid).map(|row| row[1]);
    assert_eq!((state(&second_pid), state(&third_pid)), (Some("exit"), Some("killed")), "{shown}");
    // A signal restores the terminal too.
    let pid = Pid::from_raw(terminal.program() as i32).expect("a number");
    kill_process(pid, Signal::TERM).expect("it runs");
    has_left(&terminal);
}

#[test]
fn top_ends_with_its_terminal() {
    let running = launching("1");
    let terminal = top(&running, &[]);
    terminal.shows("launches", |shown| rate(shown) > 50.0);
    let program = format!("/proc/{}", terminal.program());
    assert!(std::fs::exists(&program).unwrap());
    drop(terminal);
    let begin = Instant::now();
    while std::fs::exists(&program).unwrap() {
        assert!(begin.elapsed() < Duration::from_secs(20), "it goes on without a terminal");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn colour_is_used_unless_it_is_refused() {
    let running = launching("1");
    // The sixth terminal colour: cyan, used by the line of the last rates.
    let is_cyan = |terminal: &Terminal| terminal.painted().contains("\x1b[38;5;6m");
    let with = top(&running, &[]);
    with.shows("launches", |shown| rate(shown) > 50.0);
    let without = top(&running, &[("NO_COLOR", "1")]);
    without.shows("launches", |shown| rate(shown) > 50.0);
    assert!(is_cyan(&with), "{}", with.painted());
    let painted = without.painted();
    assert!(!painted.contains("\x1b[38;") && !is_cyan(&without), "{painted}");
}

#[test]
fn what_cannot_be_shown_is_one_sentence() {
    let refused = |words: &[&str]| {
        let outcome = Traced::rocshim(words).run();
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{}", outcome.stderr);
        outcome.stderr
    };
    let no_terminal = "rocshim: top draws on a terminal, and this is none: `rocshim tail` and `rocshim summary` write text, --listen serves metrics\n";
    assert_eq!(refused(&["top", "."]), no_terminal);
    let running = launching("1");
    let alien = running.folder().join("out/alien.ndjson");
    std::fs::write(&alien, "{\"ts\":1}\n").unwrap();
    for (what, sentence) in [
        (alien.to_str().unwrap(), "is not a rocshim trace: its first line is not a header"),
        (
            "/nowhere",
            "rocshim: there is no file or folder /nowhere: `rocshim run -o DIR -- CMD` writes traces",
        ),
    ] {
        let terminal = Terminal::start(&["top", what], &[], [160, 10]);
        let shown = terminal.shows("the end", |shown| shown.contains("ended: 1") && shown.contains("icanon"));
        assert!(shown.contains(sentence), "{shown}");
    }
    // Among traces it is reported, and the others are shown.
    let terminal = top(&running, &[]);
    terminal.shows("both", |shown| rate(shown) > 50.0 && shown.contains("is not a rocshim trace"));
}
