//! The summary of one or more processes, as tables of numbers.

use super::{
    CodeObjectRow, ColumnsRow, ConvRow, CopyRow, FailureRow, Fallback, FamilyRow, FunctionRow, GapRow,
    GemmRow, GpuTimes, GraphRow, InFlightRow, JobRankRow, KernelRow, LibraryRow, LossRow, ModuleRow,
    ProcessRow, SpanRow, StreamRow, SweepRow, SyncRow, ThreadRow,
};
use serde::Serialize;
use std::collections::BTreeSet;

/// The whole summary, also as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Format of this object: 1.
    pub format: u32,
    /// The phases that it summarises; absent: everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The earliest epoch of the traces, Unix nanoseconds: what the kernels' `first_ns` and
    /// `last_ns` are relative to. (Times of processes, threads, streams and losses are since their
    /// own process's epoch.)
    pub epoch: Option<String>,
    /// Sums over all processes.
    pub totals: Totals,
    /// Why launches or calls may have been missed.
    #[serde(rename = "unseen")]
    pub visibility_gaps: VisibilityGaps,
    /// The processes.
    pub processes: Vec<ProcessRow>,
    /// The ranks of jobs, where a launcher numbered processes.
    pub ranks: Vec<JobRankRow>,
    /// Kernels, longest host time first.
    pub kernels: Vec<KernelRow>,
    /// Kernel families, most launches first.
    pub families: Vec<FamilyRow>,
    /// Columns (ne11) of ggml's GEMM kernels, fewest first.
    pub columns: Vec<ColumnsRow>,
    /// Graphs that were launched, with their kernels.
    pub graphs: Vec<GraphRow>,
    /// GPU times, as the HIP runtime reported them; absent if not requested.
    pub gpu: Option<GpuTimes>,
    /// GEMMs of BLAS libraries, longest host time first.
    pub gemms: Vec<GemmRow>,
    /// Loops of a program over many solutions of one GEMM.
    pub sweeps: Vec<SweepRow>,
    /// Convolution calls of MIOpen, longest host time first.
    pub convolutions: Vec<ConvRow>,
    /// Calls that are recorded by name only.
    pub spans: Vec<SpanRow>,
    /// Copies and memory sets, longest host time first.
    pub copies: Vec<CopyRow>,
    /// Calls that wait or order streams, longest host time first.
    pub syncs: Vec<SyncRow>,
    /// Streams with their calls.
    pub streams: Vec<StreamRow>,
    /// Threads with their calls.
    pub threads: Vec<ThreadRow>,
    /// The longest times in which a thread made no call.
    pub gaps: Vec<GapRow>,
    /// Module loads and unloads.
    pub modules: Vec<ModuleRow>,
    /// Whether kernels of Tensile's fallback library were launched.
    pub fallback: Fallback,
    /// Code objects that kernels were launched from, most launches first.
    pub code_objects: Vec<CodeObjectRow>,
    /// Hooked libraries: calls, or what their absence means.
    pub libraries: Vec<LibraryRow>,
    /// The GPUs that HIP reported to the programs: target and name.
    pub gpus: BTreeSet<String>,
    /// The same of each process alone, in the order of `processes`.
    #[serde(skip)]
    pub libraries_by_process: Vec<Vec<LibraryRow>>,
    /// Hooked functions with their calls.
    pub functions: Vec<FunctionRow>,
    /// Calls that returned an error, most calls first.
    pub failures: Vec<FailureRow>,
    /// Lost events by thread and reason, most events first.
    pub losses: Vec<LossRow>,
    /// Calls that had not returned when their process died.
    pub in_flight: Vec<InFlightRow>,
    /// Files that could not be read.
    pub notes: Vec<String>,
}

/// Reasons why there may have been more than the tables show; each is absent if nothing can have
/// been missed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VisibilityGaps {
    /// Calls of any kind.
    pub calls: Option<String>,
    /// Launches of a kernel by its name.
    pub launches: Option<String>,
    /// Launches out of a code object.
    pub origins: Option<String>,
}

/// Numbers over everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Processes that recorded.
    pub processes: u64,
    /// Processes that still run.
    pub running: u64,
    /// Events in the traces.
    pub events: u64,
    /// Kernel launches: direct ones, which are events, and those by graph launches.
    pub launches: u64,
    /// Those of them by graph launches.
    pub by_graphs: u64,
    /// Those of them that were trials: made while a library searched for the fastest solution.
    pub trials: u64,
    /// Those of them that seem to be trials by the program itself: made in sweeps.
    pub swept: u64,
    /// Launch calls recorded into a graph instead of executed, including failed ones.
    pub captured: u64,
    /// Captured launches after a failed end of their capture: they may have been executed.
    pub launches_in_doubt: u64,
    /// Launches of graphs.
    pub graph_launches: u64,
    /// Those of them whose kernels are not known.
    pub unlisted_graph_launches: u64,
    /// Different kernels that were launched or captured.
    pub kernels: u64,
    /// Launches of a kernel that could not be named: its handle was never seen being made.
    pub unnamed_launches: u64,
    /// Launches of a kernel whose code object is not known, the unnamed ones among them.
    pub(crate) unplaced_launches: u64,
    /// GEMMs, each counted once although one library may compute it through another.
    pub gemms: u64,
    /// GEMM calls, including those inside other GEMM calls.
    pub gemm_calls: u64,
    /// Calls of BLAS functions that only asked how much workspace they would need.
    pub queries: u64,
    /// Convolution calls: searches, runs, questions.
    pub convolutions: u64,
    /// Calls that are known by their name alone: transforms, solves, collectives, layers, and those
    /// of BLAS libraries that make no product.
    pub spans: u64,
    /// Marks, ranges and names set by the programs.
    pub marks: u64,
    /// Module loads and unloads.
    pub(crate) module_calls: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Events that were lost.
    pub lost: u64,
    /// Time in which recording was stopped, summed over all processes, ns.
    pub stopped_ns: u64,
    /// Calls that came after recording had ended.
    pub late: u64,
    /// Calls that had not returned when their process died.
    pub in_flight: u64,
}
