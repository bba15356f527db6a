//! Renders what `rocshim ctl` prints: the status of one process, and the list of all that record.

use super::{section::Part, table::Style};
use rocshim_analysis::table;
use rocshim_analysis::units::{bytes, count, percent, time};
use serde::Serialize;
use std::collections::BTreeMap;

/// Whether a process records now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Recording is on.
    Recording,
    /// Recording was stopped, or never started.
    Stopped,
}

/// The status of a process, also as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// Process id.
    pub pid: u32,
    /// Path of its executable.
    pub exe: String,
    /// Its command line.
    pub argv: Vec<String>,
    /// Whether it records.
    pub state: State,
    /// Time since it last changed, ns.
    pub for_ns: u64,
    /// A problem, in a sentence; absent without one.
    pub trouble: Option<String>,
    /// Path of its trace.
    pub trace: String,
    /// Bytes of the trace.
    pub bytes: u64,
    /// True for a flight recorder: its rings are overwritten, and written on request or at its end.
    pub flight_recorder: bool,
    /// Threads that have rings.
    pub threads: u64,
    /// Threads that had one and have ended.
    pub threads_ended: u64,
    /// Calls of the threads that have rings.
    pub calls: u64,
    /// Events written to the trace.
    pub written: u64,
    /// Events that were lost, by reason.
    pub lost: BTreeMap<String, u64>,
    /// Limit of the process's ring slots.
    pub ring_slots: u64,
    /// Share of these that the fullest ring uses, 0 to 1.
    pub fullest_ring: f64,
    /// The thread of that ring.
    pub fullest_thread: Option<u32>,
    /// Slots in all rings with unread events.
    pub slots_in_use: u64,
    /// Ring memory in use or ready, bytes.
    pub memory: u64,
    /// How often a thread found no ring memory ready and reserved some itself.
    pub reserved: u64,
    /// CPU time of the collector, ns.
    pub collector_ns: u64,
}

table! {
    /// The processes that record.
    LIVE: Status = "processes", "Processes that record", "a process that has librocshim.so loaded";
    |row|
    number("pid", "pid", "its number") => row.pid;
    words("state", "state", "recording, stopped, or flight recorder") => row.state();
    count("written", "written", "events written to the trace") => row.written;
    count("lost", "lost", "events that were lost, for any reason") => row.all_lost();
    count("threads", "threads", "threads that have rings") => row.threads;
    sentence("argv", "program, trace", "its command line") => row.program();
}

impl Status {
    fn program(&self) -> String {
        if self.argv.is_empty() { self.exe.clone() } else { self.argv.join(" ") }
    }

    fn state(&self) -> &'static str {
        match (self.state, self.flight_recorder) {
            (State::Stopped, _) => "stopped",
            (State::Recording, true) => "flight recorder",
            (State::Recording, false) => "recording",
        }
    }

    fn all_lost(&self) -> u64 {
        self.lost.values().sum()
    }
}

/// Returns the status of one process, a line for each item.
pub fn status(status: &Status) -> String {
    let mut page = format!("{}: {}\n", status.pid, status.program());
    let mut line = |name: &str, what: String| page.push_str(&format!("  {name:<10} {what}\n"));
    line("state", format!("{}, for {}", status.state(), time(status.for_ns)));
    if let Some(trouble) = &status.trouble {
        line("trouble", trouble.clone());
    }
    line("trace", format!("{}, {}", status.trace, bytes(status.bytes)));
    let mut lost = format!("{} lost", count(status.all_lost()));
    if !status.lost.is_empty() {
        let reasons: Vec<String> =
            status.lost.iter().map(|(reason, lost)| format!("{} {reason}", count(*lost))).collect();
        lost.push_str(&format!(" ({})", reasons.join(", ")));
    }
    let written = count(status.written);
    line(
        "events",
        match status.flight_recorder {
            true => format!(
                "{} made by the threads that run, the last of which the rings hold; {written} written; {lost}",
                count(status.calls)
            ),
            false => format!("{written} written, {lost}"),
        },
    );
    let ended = match status.threads_ended {
        0 => String::new(),
        ended => format!(", and {} that have ended", count(ended)),
    };
    line("threads", format!("{}{ended}", count(status.threads)));
    if let Some(thread) = status.fullest_thread {
        let (memory, slots) = (bytes(status.memory), count(status.ring_slots));
        let used = format!("{memory}; {} of {slots} slots", count(status.slots_in_use));
        let what = match status.flight_recorder {
            true => used,
            false => {
                let full = percent(status.fullest_ring);
                format!("{used} wait to be written, {full} by thread {thread}")
            }
        };
        line("rings", what);
    }
    line("collector", format!("{} of CPU time", time(status.collector_ns)));
    page
}

/// Returns a row for each process that records, then why the `others` cannot be reached.
pub fn live_list(rows: &[Status], others: &[String], style: &Style) -> String {
    let mut page = String::new();
    if !rows.is_empty() {
        let under = |row: &Status| {
            row.trouble.iter().cloned().chain([format!("{}, {}", row.trace, bytes(row.bytes))]).collect()
        };
        page.push_str(&Part::new(&LIVE, rows).under(under).lines(style).text(style));
    }
    others.iter().for_each(|why| page.push_str(&format!("{why}\n")));
    if page.is_empty() {
        page.push_str("no process of yours has librocshim.so loaded: start one with `rocshim run -- CMD`\n");
    }
    page
}
