//! Records in, numbers out: what the traces of one or more processes say, in one pass and in bounded memory.
//!
//! Floors, lowest first: `evidence` (how sure a statement is), `interner` (names to numbers), `status` (what a status
//! means), `nesting` (what was launched inside a call), then one module for each kind of table, then `process` (one
//! file's definitions), `summary` (the result), `builder` (records to a summary) and `compare` (summaries to what differs). `live` is summaries and phases of processes that go on. `verify` stands beside them: it only counts. So does `replay`. `run` is everything at once, from one pass: for the page of `report`.
//! `tracks` stands beside them too: records to rows, for other programs, with what `phases` says at its end. `tail` is such rows of processes that go on.

mod activity;
mod answers;
mod builder;
mod calls;
mod code_objects;
mod columns;
mod compare;
mod convolutions;
mod coverage;
mod durations;
mod evidence;
mod failures;
mod fallback;
mod families;
mod flow;
mod gemms;
mod graphs;
mod interner;
mod kernels;
mod live;
mod losses;
mod modules;
mod nesting;
mod pauses;
mod phases;
mod process;
mod proxy;
mod replay;
mod run;
mod setting;
mod solution_index;
mod span;
mod spans;
mod status;
mod status_words;
mod streams;
mod summary;
mod sweeps;
mod tail;
#[cfg(test)]
mod tests;
mod threads;
mod tracks;
mod transfers;
mod verdict;
mod verify;

pub(crate) use activity::Activity;
pub(crate) use answers::{Answer, Answers};
pub(crate) use builder::SummaryBuilder;
pub(crate) use calls::CallCounts;
pub(crate) use code_objects::CodeObjectRow;
pub(crate) use columns::ColumnsRow;
pub(crate) use compare::{
    BySide, COUNTERPART_RULES, CallCell, CallChange, Checked, ComparedFamily, ComparedKernel, Comparison,
    Condition, FamilyCell, KernelChange, LEAST_CALLS, Observed, ObservedTest, Presence, Rate, Seen, Side,
    Speed, compare, observe,
};
#[cfg(test)]
pub(crate) use compare::{quantities, tests as compared};
pub(crate) use convolutions::{ConvProblem, ConvRow};
pub(crate) use coverage::LibraryRow;
pub(crate) use evidence::Evidence;
pub(crate) use failures::FailureRow;
pub(crate) use fallback::Fallback;
pub(crate) use families::FamilyRow;
pub(crate) use flow::{Edge, Floor, Flow, Place};
pub(crate) use gemms::{GemmProblem, GemmRow};
pub(crate) use graphs::GraphRow;
pub(crate) use kernels::{Inside, KernelRow};
pub(crate) use live::{Collector, Growth, Live, LivePhase, LiveProcess, LiveRow, Standing};
pub(crate) use losses::{InFlightRow, LossRow};
pub(crate) use modules::ModuleRow;
#[cfg(test)]
pub(crate) use phases::Text;
pub(crate) use phases::{
    Bar, Kind, Level, Only, Phase, PhaseFamily, PhaseObject, Phases, PhasesBuilder, Recent, Timeline,
    TimelineRow, Visit,
};
pub(crate) use process::ProcessRow;
pub(crate) use proxy::{
    Chunk, Outcome, Proxy, Request as ProxyRequest, Said, VECTORS as MMVQ_COLUMNS, proxy,
};
pub(crate) use replay::{Replay, Replays};
pub(crate) use run::{Run, RunBuilder};
pub(crate) use setting::Setting;
pub(crate) use spans::SpanRow;
pub(crate) use streams::StreamRow;
pub(crate) use summary::{Summary, Totals};
pub(crate) use sweeps::{RULE as SWEEP_RULE, SweepRow};
pub(crate) use tail::{News, Patterns, Tail, Wanted};
#[cfg(test)]
pub(crate) use tests::summary_of_text;
pub(crate) use threads::{GapRow, ThreadRow};
#[cfg(test)]
pub(crate) use tracks::tests as tracked;
pub(crate) use tracks::{
    Beside, COMMON, Cell, Column, Kind as ColumnKind, Process as TrackProcess, Row as TrackRow, TABLES,
    Table, TableId, Track, Tracks,
};
pub(crate) use transfers::{CopyRow, Counts, SyncRow};
pub(crate) use verdict::FunctionRow;
pub(crate) use verify::{Verdict, Verified, Verifier, find_missing_parts};
