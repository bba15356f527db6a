//! Exports rows in Chrome's trace event format: a JSON array with an event per line.
//! chrome://tracing, Speedscope, Perfetto and others open it.
//!
//! Times are µs since the earliest process began, with three decimals, so ns are exact. A track
//! that is not a thread's is written as a thread with an unused number.

use super::Exporter;
use anyhow::{Context, Result};
use foldhash::HashMap;
use rocshim_analysis::{Track, TrackProcess, TrackRow};
use rocshim_report::slices;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::{collections::hash_map::Entry, io::Write};

/// Writer of the format.
pub struct Chrome {
    out: Box<dyn Write>,
    /// Time 0 in Unix ns.
    epoch: u64,
    /// The numbers of tracks, by process.
    tracks: HashMap<(usize, Track), u32>,
    /// The number of the last track that is not a thread's, by process.
    beside: HashMap<usize, u32>,
    begun: bool,
}

/// Threads have smaller numbers.
const FIRST_BESIDE: u32 = 1 << 30;

impl Chrome {
    /// Creates a writer to `out`; `epoch` is time 0 in Unix ns.
    pub fn new(out: Box<dyn Write>, epoch: u64) -> Chrome {
        Chrome { out, epoch, tracks: HashMap::default(), beside: HashMap::default(), begun: false }
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        self.out.write_all(if self.begun { b",\n" } else { b"[\n" }).context(CANNOT)?;
        self.begun = true;
        serde_json::to_writer(&mut self.out, event).map_err(std::io::Error::from).context(CANNOT)
    }

    /// Writes a metadata event: a name or sort index of a process or thread.
    fn metadata(&mut self, pid: u32, tid: u32, name: &str, args: Args<'_>) -> Result<()> {
        self.event(&Event {
            ph: "M",
            pid,
            tid,
            name,
            ts: None,
            dur: None,
            cat: None,
            id: None,
            bp: None,
            args: Some(args),
        })
    }

    /// Returns the number of a track; describes a new one.
    fn track(&mut self, row: &TrackRow, process: &TrackProcess) -> Result<u32> {
        let pid = process.shown_pid;
        if let Entry::Vacant(last) = self.beside.entry(row.process) {
            last.insert(FIRST_BESIDE);
            let label = format!("host {}, pid {}", process.host, process.pid);
            self.metadata(pid, 0, "process_name", Args::Text("name", &process.name()))?;
            self.metadata(pid, 0, "process_labels", Args::Text("labels", &label))?;
        }
        if let Some(tid) = self.tracks.get(&(row.process, row.track)) {
            return Ok(*tid);
        }
        let tid = match row.track {
            Track::Thread(tid) => tid,
            Track::Other { .. } => {
                let last = self.beside.entry(row.process).or_default();
                *last += 1;
                *last
            }
        };
        self.tracks.insert((row.process, row.track), tid);
        let name = match row.track {
            Track::Thread(tid) if tid == process.pid => process.name().to_string(),
            Track::Thread(tid) => format!("thread {tid}"),
            Track::Other { .. } => slices::title(row.track),
        };
        self.metadata(pid, tid, "thread_name", Args::Text("name", &name))?;
        if let Track::Other { what, .. } = row.track {
            self.metadata(pid, tid, "thread_sort_index", Args::Rank(what as i32 - 100))?;
        }
        Ok(tid)
    }
}

const CANNOT: &str = "cannot write the export";

impl Exporter for Chrome {
    fn row(&mut self, row: &TrackRow, process: &TrackProcess) -> Result<()> {
        let (pid, tid) = (process.shown_pid, self.track(row, process)?);
        let ts = Some(Micros(row.begin.saturating_sub(self.epoch)));
        let cat = Some(row.table.name);
        let name = slices::name(row);
        let slice = Event {
            ph: if row.dur.is_some() { "X" } else { "B" },
            pid,
            tid,
            name: &name,
            ts,
            dur: row.dur.map(Micros),
            cat,
            id: None,
            bp: None,
            args: Some(Args::Cells(row)),
        };
        self.event(&slice)?;
        let arrow = |ph, name, id, bp| Event {
            ph,
            pid,
            tid,
            name,
            ts,
            dur: None,
            cat: Some("arrow"),
            id: Some(id),
            bp,
            args: None,
        };
        for number in row.arrows.begin.iter().cloned().flatten() {
            self.event(&arrow("s", "launches", number, None))?;
        }
        if let Some(number) = row.arrows.end {
            self.event(&arrow("f", "launches", number, Some("e")))?;
        }
        if let Some(through) = row.arrows.through {
            let ph = if through.is_first { "s" } else { "t" };
            self.event(&arrow(ph, "graph", through.number, None))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.out.write_all(if self.begun { b"\n]\n" } else { b"[]\n" }).context(CANNOT)?;
        self.out.flush().context(CANNOT)
    }
}

/// An event; members that its kind does not have are absent.
#[derive(Serialize)]
struct Event<'a> {
    ph: &'static str,
    pid: u32,
    tid: u32,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<Micros>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<Micros>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Args<'a>>,
}

/// Nanoseconds, written as µs.
#[derive(Clone, Copy)]
struct Micros(u64);

impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // The shortest decimal form of the number, which is exact up to 2^53 ns (104 days).
        to.serialize_f64(self.0 as f64 / 1000.0)
    }
}

/// An event's further arguments.
enum Args<'a> {
    Text(&'static str, &'a str),
    Rank(i32),
    Cells(&'a TrackRow),
}

impl Serialize for Args<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        match self {
            Args::Text(key, text) => map.serialize_entry(key, text)?,
            Args::Rank(rank) => map.serialize_entry("sort_index", rank)?,
            Args::Cells(row) => {
                for (column, cell) in slices::details(row) {
                    map.serialize_entry(column.name, &slices::Value(cell))?;
                }
            }
        }
        map.end()
    }
}
