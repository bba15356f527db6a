//! Everything that the traces of one or more processes say, as tables of numbers.

use super::{
    CodeObjectRow, ColumnsRow, ConvRow, CopyRow, FailureRow, Fallback, FamilyRow, FunctionRow, GapRow,
    GemmRow, GraphRow, InFlightRow, KernelRow, LibraryRow, LossRow, ModuleRow, ProcessRow, SpanRow,
    StreamRow, SweepRow, SyncRow, ThreadRow,
};
use serde::Serialize;

/// The whole summary; also the JSON form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// The form of this object: 1.
    pub(crate) format: u32,
    /// The phases of which it is the summary; absent: of everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<String>,
    /// The earliest epoch of the traces, Unix nanoseconds: what the kernels' `first_ns` and `last_ns` are relative to. (Times of
    /// processes, threads, streams and losses are since their own process's epoch.)
    pub(crate) epoch: Option<String>,
    pub(crate) totals: Totals,
    pub(crate) unseen: Unseen,
    pub(crate) processes: Vec<ProcessRow>,
    pub(crate) kernels: Vec<KernelRow>,
    pub(crate) families: Vec<FamilyRow>,
    pub(crate) columns: Vec<ColumnsRow>,
    pub(crate) graphs: Vec<GraphRow>,
    pub(crate) gemms: Vec<GemmRow>,
    pub(crate) sweeps: Vec<SweepRow>,
    pub(crate) convolutions: Vec<ConvRow>,
    pub(crate) spans: Vec<SpanRow>,
    pub(crate) copies: Vec<CopyRow>,
    pub(crate) syncs: Vec<SyncRow>,
    pub(crate) streams: Vec<StreamRow>,
    pub(crate) threads: Vec<ThreadRow>,
    pub(crate) gaps: Vec<GapRow>,
    pub(crate) modules: Vec<ModuleRow>,
    pub(crate) fallback: Fallback,
    pub(crate) code_objects: Vec<CodeObjectRow>,
    pub(crate) libraries: Vec<LibraryRow>,
    pub(crate) functions: Vec<FunctionRow>,
    pub(crate) failures: Vec<FailureRow>,
    pub(crate) losses: Vec<LossRow>,
    pub(crate) in_flight: Vec<InFlightRow>,
    /// Files that could not be read.
    pub(crate) notes: Vec<String>,
}

/// Why there may have been more than the tables tell; each is absent where nothing can have been missed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Unseen {
    /// Calls of any kind.
    pub(crate) calls: Option<String>,
    /// Launches of a kernel by its name.
    pub(crate) launches: Option<String>,
    /// Launches out of a code object.
    pub(crate) origins: Option<String>,
}

/// Numbers over everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Totals {
    /// Processes that recorded.
    pub(crate) processes: u64,
    /// Those that still run.
    pub(crate) running: u64,
    /// Events in the traces.
    pub(crate) events: u64,
    /// Kernel launches: direct ones, which are events, and those that launched graphs made.
    pub(crate) launches: u64,
    /// Those of them that launched graphs made.
    pub(crate) by_graphs: u64,
    /// Those of them that were trials: made while a library searched for the fastest way.
    pub(crate) trials: u64,
    /// Those of them that seem to be trials of the program's own: made in sweeps.
    pub(crate) swept: u64,
    /// Launch calls that were to be recorded into a graph instead of being executed, failed ones among them.
    pub(crate) captured: u64,
    /// Those of them that came after their capture had failed to end: they may have been executed.
    pub(crate) launches_in_doubt: u64,
    /// Launches of graphs.
    pub(crate) graph_launches: u64,
    /// Those of them whose kernels are not known.
    pub(crate) unlisted_graph_launches: u64,
    /// Different kernels that were launched or captured.
    pub(crate) kernels: u64,
    /// Launches of a kernel that could not be named: its handle was never seen being made.
    pub(crate) unnamed_launches: u64,
    /// Launches of a kernel whose code object is not known, the unnamed ones among them.
    pub(crate) unplaced_launches: u64,
    /// Matrix products, each counted once although one library may make it through another.
    pub(crate) gemms: u64,
    /// Calls of matrix products, the inner ones too.
    pub(crate) gemm_calls: u64,
    /// Convolution calls: searches, runs, questions.
    pub(crate) convolutions: u64,
    /// Calls that are known by their name alone: transforms, solves, collectives, layers, and those of BLAS libraries that
    /// make no product.
    pub(crate) spans: u64,
    /// Marks, ranges and names of the programs' own.
    pub(crate) marks: u64,
    /// Module loads and unloads.
    pub(crate) module_calls: u64,
    /// Calls that failed.
    pub(crate) failed: u64,
    /// Events that were lost.
    pub(crate) lost: u64,
    /// For how long recording was stopped, over all processes.
    pub(crate) stopped_ns: u64,
    /// Calls that came after recording had ended.
    pub(crate) late: u64,
    /// Calls that had not returned when their process died.
    pub(crate) in_flight: u64,
}
