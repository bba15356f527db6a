//! Analyses traces of one or more processes: converts their records to tables of numbers, in one
//! pass and in bounded memory.
//!
//! Layers, lowest first:
//! - `units` (numbers in words), `names` (of kernels, as people read them), `evidence` (evidence
//!   classes, and the rules and observations by which alone they are given), `table` (how a
//!   table is described, beside the type of its rows), `interner` (names to numbers),
//!   `durations`, `time_range`, `pauses`, `reorder` (events in order of time);
//! - `graphs` (what graph launches execute), `session` (each record resolved once, for all
//!   analyses);
//! - `status_words` and `status` (names of statuses), `traits` (what ranks do, compared),
//!   `solution_index`, `verdict` (the state of a hook), `coverage`, `nesting` (launches inside a
//!   call);
//! - `host_times`, and a module for each kind of table: `gpu`, `streams`, `kernels`, `calls`,
//!   `gemms`, `sweeps`, `threads`, `processes`, `job_ranks`, `activity`, `columns`, `losses`,
//!   `code_objects`, `convolutions`, `failures`, `fallback`, `families`, `modules`, `spans`,
//!   `transfers`, `environment`;
//! - `summary` (the result), `phases`, `builder` (records to a summary);
//! - `compare` (differences of summaries), `decisions` (what a run decided), `differences` (of two
//!   environments), `experiment` (which decisions follow a change), `bisect` (which difference they
//!   follow), `tracks` (records to timeline rows), `verify` (counts only), `replay`, `proxy` (a
//!   server's responses), `ranks` (a job's ranks together), `answers`, `flow`;
//! - `live` and `tail` (processes that still record), `run` (everything from one pass, for the
//!   page);
//! - `why` (the chain of causes of each decision);
//! - `evidence_rules` (every rule, listed);
//! - `testing` (small traces, for the tests of this crate and of those above it).

#![forbid(unsafe_code)]

mod activity;
mod answers;
mod bisect;
mod builder;
mod calls;
mod code_objects;
mod columns;
mod compare;
mod convolutions;
mod coverage;
mod decisions;
mod differences;
mod durations;
mod environment;
mod evidence;
mod evidence_rules;
mod experiment;
mod failures;
mod fallback;
mod families;
mod flow;
mod gemms;
mod gpu;
mod graphs;
mod host_times;
mod interner;
mod job_ranks;
mod kernels;
mod live;
mod losses;
mod modules;
pub mod names;
mod nesting;
mod pauses;
mod phases;
mod processes;
mod proxy;
mod ranks;
mod reorder;
mod replay;
mod run;
mod session;
mod solution_index;
mod spans;
mod status;
mod status_words;
mod streams;
mod summary;
mod sweeps;
pub mod table;
mod tail;
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
mod threads;
mod time_range;
mod tracks;
mod traits;
mod transfers;
pub mod units;
mod verdict;
mod verify;
mod why;

pub use activity::Activity;
pub use answers::{Answer, Answers, QUESTIONS};
pub use bisect::{Bench, BisectPage, Bisection, Cause, Differences, Others, bisect};
pub use builder::SummaryBuilder;
pub use calls::CallCounts;
pub use code_objects::{CODE_OBJECTS, CodeObjectRow};
pub use columns::{COLUMNS, ColumnsRow};
pub use compare::quantities;
pub use compare::{
    COMPARED_CONVOLUTIONS, COMPARED_FAMILIES, COMPARED_FUNCTIONS, COMPARED_GEMMS, COMPARED_GPU,
    COMPARED_KERNELS, COMPARED_OBJECTS, COMPARED_RANKS, COMPARED_RUNS, CONDITIONS, COUNTERPART_RULES,
    CallCell, CallChange, Checked, ComparedConv, ComparedFamily, ComparedFunction, ComparedGemm,
    ComparedKernel, ComparedObject, ComparedRank, ComparedRun, ComparedRunRow, Comparison, Condition,
    FamilyCell, KernelCell, KernelChange, KernelTest, LEAST_CALLS, LEAST_EFFECT, OBSERVED, Observed,
    ObservedTest, PerRun, Presence, RankCell, RankChange, Rate, Seen, Speed, compare, observe,
};
pub use convolutions::{CONVOLUTIONS, ConvProblem, ConvRow};
pub use coverage::{LIBRARIES, LibraryRow};
pub use decisions::{Choice, Decision, Decisions, Observed as ObservedDecision, Subject, SubjectKind};
pub use differences::{Difference, between, variables};
pub use environment::{Environment, LIBRARY_FILES};
pub use evidence::rules::{Basis, Class, RuleRow};
pub use evidence::{Evidence, Outcome};
pub use evidence_rules::evidence_rules;
pub use experiment::{
    Chosen, Experiment, ExperimentRun, JUDGED, Judged, LEAST_RUNS, Measure, Order, TIMES, TimeRow, Trial,
    TrialRun, USUAL_RUNS, Verdict as FollowVerdict, judge, times,
};
pub use failures::{FAILURES, FailureRow};
pub use fallback::{FALLBACK_KERNELS, Fallback};
pub use families::{FAMILIES, FamilyRow};
pub use flow::{EDGES, Edge, Flow, Layer, Node};
pub use gemms::{GEMMS, GemmProblem, GemmRow};
pub use gpu::{
    GPU_KERNELS, GPU_OVERLAPS, GPU_PRODUCTS, GPU_QUEUES, GPU_SHARES, GPU_TRANSFERS, GpuKernelRow,
    GpuQueueRow, GpuShareRow, GpuTimes, LaunchArrow, LaunchDelay, OverlapRow, PastRow, PauseShare,
    ProductRow, TransferRow,
};
pub use graphs::{GRAPHS, GraphRow};
pub use host_times::HostTimes;
pub use job_ranks::{JOB_RANKS, JobRankRow};
pub use kernels::{Inside, KERNELS, KernelRow};
pub use live::{
    Collector, Growth, Live, LiveCounters, LiveCounts, LivePhase, LiveProcess, LiveRow, LiveState, LiveStats,
};
pub use losses::{IN_FLIGHT, InFlightRow, LOSSES, LossRow};
pub use modules::{MODULES, ModuleRow};
pub(crate) use phases::Recent;
pub use phases::{
    BARS, Bar, Bound, FAMILIES_BY_KIND, GPU_FAMILIES_BY_KIND, GPU_PHASES, KIND_RULES, KindRule, KindsRow,
    LIBRARIES_BY_KIND, Level, OBJECTS_BY_KIND, PASSES, PHASES, PassRow, Phase, PhaseFamily, PhaseGpu,
    PhaseGpuFamily, PhaseKind, PhaseObject, Phases, PhasesBuilder, PlacedBar, Timeline, TimelineRow,
};
pub use processes::{PROCESSES, ProcessRow};
pub use proxy::{
    Chunk, Claim, GENERATED_CLAIMS, PATH_CLAIMS, PROMPT_CLAIMS, Proxy, REQUESTS, Request as ProxyRequest,
    RequestTimes, STATED_TIMES, StatedTime, TimeParts, VECTORS as MMVQ_COLUMNS, proxy,
};
pub use ranks::{
    AROUND, AroundCollective, CLOCK_RULE, CLOCKS, COMMUNICATORS, ClockRow, CollectiveRow, GroupRow,
    RANK_FINDINGS, RANK_STEPS, RANKS, RankFinding, RankFindingKind, RankRow, RankTimes, Ranks, RanksBuilder,
    STRAGGLER_RULE, StepRow, StepTime,
};
pub use replay::{Replay, Replays};
pub use run::{Run, RunBuilder};
pub use session::{
    Analyses, Analysis, CallKey, CodeObjectId, Event, Function, FunctionId, Identity, Ids, KernelId,
    KernelOf, LocalHook, LocalKernel, Process, ProcessId, Scope, Session, Spine, Symbol, SymbolId,
};
pub use spans::{SPANS, SpanRow};
pub use streams::{STREAMS, StreamRow};
pub use summary::{Summary, Totals};
pub use sweeps::{RULE as SWEEP_RULE, SWEEPS, SweepRow};
pub use tail::{Patterns, Tail, TraceChange, Wanted};
pub use threads::{GAPS, GapRow, THREADS, ThreadRow};
pub use tracks::{
    COMMON, Cell, Column, ColumnKind, TABLES, Table, TableId, Track, TrackKind, TrackProcess, TrackRow,
    Tracks, queue_of,
};
pub use transfers::{COPIES, CopyRow, Counts, SYNCS, SyncRow};
pub use verdict::{FUNCTIONS, FunctionRow};
pub use verify::{Verdict, Verified, Verifier, find_missing_parts};
pub use why::{
    BinaryFile, CALLERS, CallChain, CallerRow, CatalogFolder, Change as ProposedChange, DECISIONS,
    Decision as Explained, FirstCall, FirstLaunch, FoundProblem, Functions, LINKS, LibraryText, Link, OnDisk,
    SET_VARIABLES, STEERING_VARIABLES, Subject as ExplainedSubject, VariableRow, Wanted as WantedCatalog,
    WantedProblem, Why, WhyBuilder, variables as steering_variables,
};
