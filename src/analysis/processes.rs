//! The processes of a reading.

use super::session::Process;
use rocshim_reader::Reading;
use rocshim_trace::launcher;
use serde::Serialize;

/// A process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProcessRow {
    /// Its trace.
    pub trace: String,
    /// Number of its segments that were read.
    pub parts: u64,
    /// Its process id.
    pub pid: u32,
    /// The machine's name.
    pub host: String,
    /// Its rank, where a launcher numbered it.
    pub rank: Option<u32>,
    /// Its executable.
    pub exe: String,
    /// Its command line.
    pub argv: Vec<String>,
    /// `exit` (it ended in order), `recovered` (it died and its file was finished later), `killed`
    /// (it died; its remains were read, the file is not finished), `running`, `snapshot` (it
    /// continued), `cut` (it died and what was not written is lost), or `rotated` (it continues in
    /// a segment of the trace
    /// that was not read).
    pub end: String,
    /// Events in the trace.
    pub events: u64,
    /// Kernel launches: direct ones, which are events, and those that launched graphs made.
    pub launches: u64,
    /// Events that were lost.
    pub lost: u64,
    /// Time in which recording was stopped: calls in it are neither events nor counted as lost.
    pub stopped_ns: u64,
    /// Calls that came after recording had ended.
    pub late: u64,
    /// When the first call was entered, since the process's epoch.
    pub first_ns: u64,
    /// When the last call returned.
    pub last_ns: u64,
    /// Further remarks on this trace, a sentence each.
    pub notes: Vec<String>,
    /// What a recount of its events says, where there was one.
    #[serde(skip)]
    pub recount: Option<String>,
}

crate::table! {
    /// The processes.
    PROCESSES: ProcessRow = "processes", "Processes", "a process";
    |row|
    number("pid", "pid", "its number") => row.pid;
    number("rank", "rank", "its rank in the job, where a launcher numbered it").if_any() => row.rank;
    count("events", "events", "events in the trace") => row.events;
    count("launches", "launches", "kernel launches, those of graphs among them") => row.launches;
    count("lost", "lost", "events that were lost") => row.lost;
    time("span_ns", "span", "from the first call to the return of the last").derived().no_sum().optional()
        => row.last_ns.saturating_sub(row.first_ns);
    words("end", "end", "exit, recovered, killed, running, snapshot, cut or rotated: see below the table")
        => &row.end;
    code("argv", "program", "its command line").name()
        => if row.argv.is_empty() { row.exe.clone() } else { row.argv.join(" ") };
    words("recount", "recount", "whether a recount of its events adds up").on_page().derived()
        => row.recount.as_ref();
    words("notes", "notes", "what else there is to say of this trace").on_page() => row.notes.join("; ");
    path("trace", "trace", "its trace").on_page() => &row.trace;
}

impl ProcessRow {
    /// Creates the row of a process that has ended, with this many launches.
    pub(crate) fn new(process: &Process, reading: &Reading, launches: u64) -> ProcessRow {
        let header = &process.header;
        let (first_ns, last_ns) = process.first_and_last();
        ProcessRow {
            trace: process.trace.clone(),
            parts: process.segments(),
            pid: header.pid,
            host: header.host.clone(),
            rank: launcher::rank(|name| header.env.get(name)).map(|(rank, ..)| rank),
            exe: header.exe.clone(),
            argv: header.argv.clone(),
            end: process.end_word(reading.end),
            events: process.events,
            launches,
            lost: process.lost,
            stopped_ns: process.stopped_ns(),
            late: process.footer.as_ref().map_or(0, |footer| footer.late),
            first_ns,
            last_ns,
            notes: process.notes(reading.notes.clone()),
            recount: None,
        }
    }
}
