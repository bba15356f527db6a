//! Formats GEMMs and convolutions as command lines of the libraries' benchmark programs, each of
//! which runs one problem again: `rocblas-bench`, `hipblaslt-bench`, `MIOpenDriver`.
//!
//! The options are those that the libraries print when they log (`ROCBLAS_LAYER=2`,
//! `HIPBLASLT_LOG_MASK=32`, `MIOPEN_ENABLE_LOGGING_CMD=1`); the tests compare with these. What
//! scalars point to is not recorded: alpha is 1 and beta 0 in every line.

mod blas;
mod conv;

use super::{
    interner::Interner,
    session::{Analysis, Event, Session},
};
use foldhash::HashMap;
use rocshim_trace::Record;
use serde::Serialize;
use std::collections::BTreeMap;

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayRow {
    /// The command that runs it again.
    pub line: String,
    /// Calls that succeeded, trials of searches among them.
    pub calls: u64,
    /// Host time of these calls.
    pub total_ns: u64,
}

/// Calls for which no command can be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoReplayRow {
    /// The reason.
    pub why: String,
    /// Number of calls.
    pub calls: u64,
}

/// Commands for the problems of a reading, and calls without one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Replay {
    /// Longest host time first.
    pub lines: Vec<ReplayRow>,
    /// Most calls first.
    pub without: Vec<NoReplayRow>,
    /// Files that could not be read.
    pub notes: Vec<String>,
}

/// A command, or why there is none.
type Line = Result<String, &'static str>;

/// Collects the problems of a reading.
#[derive(Default)]
pub struct Replays {
    lines: Interner<String, ReplayRow>,
    without: BTreeMap<String, u64>,
    /// By thread: the call inside which rocBLAS ran its last GEMM.
    inside: HashMap<u32, u64>,
}

impl Replays {
    fn count(&mut self, session: &Session, event: &Event, line: Line) {
        if event.failed() {
            return;
        }
        match line {
            Ok(line) => {
                let row = self.lines.value(line.clone(), || ReplayRow { line, calls: 0, total_ns: 0 });
                row.calls += 1;
                row.total_ns += event.call.dur;
            }
            Err(why) => {
                let function = name(session, event).unwrap_or("unknown function");
                *self.without.entry(format!("{function}: {why}")).or_default() += 1;
            }
        }
    }

    /// Returns the problems, with the files that could not be read.
    pub fn finish(self, session: &Session) -> Replay {
        let mut lines = self.lines.values().to_vec();
        lines.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.line.cmp(&b.line)));
        let mut without: Vec<_> =
            self.without.into_iter().map(|(why, calls)| NoReplayRow { why, calls }).collect();
        without.sort_by_key(|row| std::cmp::Reverse(row.calls));
        Replay { lines, without, notes: session.unread().to_vec() }
    }
}

fn name<'a>(session: &'a Session, event: &Event) -> Option<&'a str> {
    event.ids.function.map(|function| &*session.function(function).name)
}

impl Analysis for Replays {
    fn begin_process(&mut self, _session: &Session) {
        self.inside.clear();
    }

    fn event(&mut self, session: &Session, event: &Event) {
        match event.record {
            Record::Gemm(gemm) => {
                let call = event.call;
                if let Some(parent) = call.parent {
                    self.inside.insert(call.tid, parent);
                }
                // A GEMM of hipBLAS that rocBLAS ran has its line from rocBLAS.
                if self.inside.get(&call.tid) != Some(&call.id) {
                    let line = blas::gemm(gemm, name(session, event).unwrap_or_default());
                    self.count(session, event, line);
                }
            }
            Record::Matmul(matmul) => self.count(session, event, blas::matmul(matmul)),
            Record::Conv(conv) => {
                if let Some(line) = conv::line(conv) {
                    self.count(session, event, line);
                }
            }
            _ => {}
        }
    }
}
