//! Problems as lines for the libraries' own benchmark programs, so that each can be run again by itself:
//! `rocblas-bench`, `hipblaslt-bench`, `MIOpenDriver`.
//!
//! The options are those that the libraries print when they are asked to log (`ROCBLAS_LAYER=2`, `HIPBLASLT_LOG_MASK=32`,
//! `MIOPEN_ENABLE_LOGGING_CMD=1`); the tests hold them against these. What scalars point to is not recorded: alpha is 1
//! and beta 0 in every line.

mod blas;
mod conv;

use super::interner::Interner;
use foldhash::{HashMap, HashMapExt};
use rocshim_reader::Taker;
use rocshim_trace::{Call, Hook, Record};
use serde::Serialize;
use std::collections::BTreeMap;

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayRow {
    /// What runs it again.
    pub line: String,
    /// Calls that succeeded, trials of searches among them.
    pub calls: u64,
    /// Host time of these calls.
    pub total_ns: u64,
}

/// Calls that no line can be written for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoReplayRow {
    /// Why.
    pub why: String,
    /// How many.
    pub calls: u64,
}

/// What can be run again, and what cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Replay {
    /// Longest host time first.
    pub lines: Vec<ReplayRow>,
    /// Most calls first.
    pub without: Vec<NoReplayRow>,
    /// Files that could not be read.
    pub notes: Vec<String>,
}

/// A line, or why there is none.
type Line = Result<String, &'static str>;

/// Takes the records of one file after the other.
pub struct Replays {
    hooks: HashMap<u16, Hook>,
    lines: Interner<String, ReplayRow>,
    without: BTreeMap<String, u64>,
    /// By thread: the call inside which rocBLAS made its last product.
    inside: HashMap<u32, u64>,
}

impl Default for Replays {
    fn default() -> Replays {
        Replays {
            hooks: HashMap::new(),
            lines: Interner::new(),
            without: BTreeMap::new(),
            inside: HashMap::new(),
        }
    }
}

impl Replays {
    fn count(&mut self, call: &Call, line: Line) {
        if call.status != 0 || call.unwound {
            return;
        }
        match line {
            Ok(line) => {
                let row = self.lines.value(line.clone(), || ReplayRow { line, calls: 0, total_ns: 0 });
                row.calls += 1;
                row.total_ns += call.dur;
            }
            Err(why) => {
                let function = self.hooks.get(&call.hook).map_or("unknown function", |hook| &hook.name);
                *self.without.entry(format!("{function}: {why}")).or_default() += 1;
            }
        }
    }

    /// Everything that was taken.
    pub fn finish(self) -> Replay {
        let mut lines = self.lines.values().to_vec();
        lines.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.line.cmp(&b.line)));
        let mut without: Vec<_> =
            self.without.into_iter().map(|(why, calls)| NoReplayRow { why, calls }).collect();
        without.sort_by_key(|row| std::cmp::Reverse(row.calls));
        Replay { lines, without, notes: Vec::new() }
    }
}

impl Taker for Replays {
    fn take(&mut self, record: Record) {
        self.look(&record);
    }

    fn wants_arguments(&self, _kernel: Option<u32>) -> bool {
        false
    }
}

impl Replays {
    /// Looks at a record.
    pub fn look(&mut self, record: &Record) {
        match record {
            Record::Header(_) => {
                self.hooks.clear();
                self.inside.clear();
            }
            Record::HookTable(table) => self.hooks.extend(table.hooks().map(|hook| (hook.id, hook))),
            Record::Hook(hook) => drop(self.hooks.insert(hook.id, hook.clone())),
            Record::Gemm(gemm) => {
                let call = &gemm.call;
                if let Some(parent) = call.parent {
                    self.inside.insert(call.tid, parent);
                }
                // hipBLAS has had it made by rocBLAS, which has its line.
                if self.inside.get(&call.tid) != Some(&call.id) {
                    let name = self.hooks.get(&call.hook).map_or("", |hook| &hook.name);
                    self.count(call, blas::gemm(gemm, name));
                }
            }
            Record::Matmul(matmul) => self.count(&matmul.call, blas::matmul(matmul)),
            Record::Conv(conv) => {
                if let Some(line) = conv::line(conv) {
                    self.count(&conv.call, line);
                }
            }
            _ => {}
        }
    }
}
