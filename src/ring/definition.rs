//! Definitions: facts that are written once and then referred to by number: the process, hooks,
//! libraries, device code, kernels.
//!
//! A definition's number is its index in the log, from 0. Ids in the trace are these numbers, so a
//! second reader (after a crash) assigns the same ids.

mod chain;
mod stream;

pub use chain::{Chain, ChainEnd};
pub use stream::Stream;

use crate::conv::Conv;
use crate::gpu::GpuTime;
use crate::kernel::KernelCode;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Text that is borrowed both when written and when read.
pub type Text<'a> = Cow<'a, str>;

/// The most rows of a hook table; see [`Definition::Bound`].
pub const ROWS: u16 = 1 << 13;

/// The interception points, each with its bit.
pub const INTERCEPTION_POINTS: [(u8, &str); 4] =
    [(1, "preload"), (2, "dlsym"), (4, "get_proc_address"), (8, "table")];

/// A definition with its stamp.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct StampedDefinition<'a> {
    /// From when on it holds.
    pub stamp: u64,
    /// The definition.
    #[serde(borrow)]
    pub definition: Definition<'a>,
}

/// One fact, written once.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Definition<'a> {
    /// The process; always the first.
    Process(#[serde(borrow)] ProcessIdentity<'a>),
    /// The clock rate, once measured.
    Clock {
        /// Ticks per second.
        tick_hz: u64,
    },
    /// The hook table.
    Hooks {
        /// In order: (symbol, library, whether its calls are recorded).
        #[serde(borrow)]
        hooks: Vec<(&'a str, &'a str, bool)>,
        /// The open interception points beside the exported symbols, as bits of
        /// [`INTERCEPTION_POINTS`].
        points: u8,
    },
    /// A library registered a dispatch table.
    Table {
        /// The table's name: `hip`, `hip_compiler`.
        #[serde(borrow)]
        name: Text<'a>,
        /// The file that holds the table.
        #[serde(borrow)]
        path: Text<'a>,
        /// Number of its entries.
        entries: u32,
        /// Number of entries that now point to hooks.
        functions: u32,
    },
    /// An object was opened whose calls bypass the hooks.
    Bypass {
        /// The path that the program passed.
        #[serde(borrow)]
        path: Text<'a>,
        /// Opened in a separate namespace (dlmopen); else its dependencies come first in symbol
        /// lookup (RTLD_DEEPBIND).
        namespace: bool,
    },
    /// A ROCm library in the process.
    Library {
        /// Its file.
        #[serde(borrow)]
        path: Text<'a>,
    },
    /// A hook found its real function, or did not.
    Bound {
        /// Row of the hook table, plus [`ROWS`] times the number of the entry point.
        hook: u16,
        /// The interception points that returned this entry point, as bits of
        /// [`INTERCEPTION_POINTS`].
        points: u8,
        /// The file that holds the real function; `None`: not found.
        #[serde(borrow)]
        path: Option<Text<'a>>,
    },
    /// `__hipRegisterFatBinary`.
    FatBinary {
        /// Its return value.
        handle: u64,
        /// The file that contains it.
        #[serde(borrow)]
        path: Text<'a>,
        /// Offset in that file, bytes.
        offset: u64,
        /// Its ordinal among that file's fat binaries, from 0.
        ordinal: u32,
        /// Its address in memory.
        address: u64,
    },
    /// `__hipRegisterFunction`.
    HostFunction {
        /// The fat binary's handle.
        handle: u64,
        /// The host stub.
        stub: u64,
        /// The kernel's symbol.
        #[serde(borrow)]
        name: Text<'a>,
    },
    /// `__hipUnregisterFatBinary`.
    Unregister {
        /// The fat binary's handle.
        handle: u64,
    },
    /// An image was loaded as a module.
    Module {
        /// The module handle.
        module: u64,
        /// The image.
        #[serde(borrow)]
        image: Image<'a>,
    },
    /// `hipModuleUnload` succeeded.
    Unload {
        /// The module handle.
        module: u64,
    },
    /// `hipModuleGetFunction`.
    Function {
        /// `hipFunction_t`.
        function: u64,
        /// The module handle.
        module: u64,
        /// The kernel's symbol.
        #[serde(borrow)]
        name: Text<'a>,
    },
    /// A second handle of a known kernel: `hipGetFuncBySymbol`, `hipKernelGetFunction`.
    SameFunction {
        /// The new handle.
        function: u64,
        /// The known handle.
        of: u64,
    },
    /// A capture began.
    Capture {
        /// The stream on which it began.
        stream: Stream,
        /// `hipStreamCaptureMode`.
        mode: u8,
        /// The thread that began it.
        tid: u32,
    },
    /// Another stream joins a capture.
    Join {
        /// The number of the capture's definition.
        capture: u32,
        /// The stream.
        stream: Stream,
    },
    /// A stream leaves its capture, because it was destroyed.
    Leave {
        /// The stream.
        stream: Stream,
    },
    /// A stream is about to be destroyed: from now on its handle means another stream.
    StreamGone {
        /// The stream's handle.
        stream: u64,
    },
    /// The id of a stream in the trace; written by the collector.
    StreamId {
        /// Its handle.
        stream: u64,
        /// How many streams with this handle were destroyed before it was created.
        after: u32,
        /// Its id.
        id: u32,
    },
    /// The id of a kernel in the trace; written by the collector.
    KernelId {
        /// The number of the kernel's definition.
        kernel: u32,
        /// Its id.
        id: u32,
        /// The hook in its record.
        hook: Option<u16>,
    },
    /// A capture ended normally; no stream belongs to it any more.
    EndCapture {
        /// The number of the capture's definition.
        capture: u32,
    },
    /// The contents of a graph.
    Graph(#[serde(borrow)] Graph<'a>),
    /// What an instantiated graph executes from now on.
    Exec {
        /// `hipGraphExec_t`.
        exec: u64,
        /// The number of the graph's definition; `None`: it was destroyed.
        graph: Option<u32>,
    },
    /// A kernel node of an instantiated graph was changed or disabled.
    ExecNode {
        /// `hipGraphExec_t`.
        exec: u64,
        /// Index of the kernel in the graph, from 0.
        index: u32,
        /// The new kernel; `None`: disabled.
        kernel: Option<GraphKernel>,
    },
    /// The metadata of the kernel that `function` refers to at this stamp; written before its first
    /// launch.
    Code {
        /// `hipFunction_t` or host stub.
        function: u64,
        /// Its code.
        #[serde(borrow)]
        code: KernelCode<'a>,
    },
    /// An executable or shared library on a chain of callers.
    Binary {
        /// Its file.
        #[serde(borrow)]
        path: Text<'a>,
    },
    /// A Python function on a chain of callers.
    PythonFunction {
        /// Its source file, as the interpreter names it.
        #[serde(borrow)]
        file: Text<'a>,
        /// Its qualified name.
        #[serde(borrow)]
        name: Text<'a>,
    },
    /// The callers of the first launch of what `function` refers to at this stamp; written before
    /// the launch.
    Callers {
        /// `hipFunction_t` or host stub.
        function: u64,
        /// Its callers.
        chain: Chain,
    },
    /// The callers of a call, the first one of its function and shape; written before it returns.
    CallCallers {
        /// The call's id on its thread.
        id: u64,
        /// Its callers.
        chain: Chain,
    },
    /// A device was queried.
    Device {
        /// Its ordinal.
        ordinal: i32,
        /// Its target: `gfx1100`, `gfx90a:sramecc+:xnack-`.
        #[serde(borrow)]
        gfx: Text<'a>,
        /// Its marketing name.
        #[serde(borrow)]
        name: Text<'a>,
        /// The function that returned it.
        #[serde(borrow)]
        how: Text<'a>,
    },
    /// A solution or fusion plan of MIOpen may be run from now on.
    Solution {
        /// The solution or plan.
        handle: u64,
        /// Solver id; 0 if unknown.
        solver: u64,
        /// Its convolution; `None`: not a convolution, or unknown.
        conv: Option<Box<Conv>>,
    },
    /// MIOpen returned the solver id of a solution to the program.
    SolutionSolver {
        /// The solution.
        handle: u64,
        /// Solver id.
        solver: u64,
    },
    /// A BLAS library's handle has a new setting.
    Setting {
        /// The handle.
        handle: u64,
        /// Index into [`SETTINGS`].
        setting: u8,
        /// The stream, or the library's own number; `None`: no longer known.
        value: Option<u64>,
    },
    /// A BLAS library's handle was destroyed.
    HandleGone {
        /// The handle.
        handle: u64,
    },
    /// GPU times are requested from the runtime from now on, or no longer.
    GpuTime(#[serde(borrow)] GpuTime<'a>),
    /// The name of a kernel in the runtime's reports, which refer to it by number.
    GpuKernel {
        /// The symbol.
        #[serde(borrow)]
        name: Text<'a>,
    },
    /// Recording started (true): from this stamp on no call is missing. Or it stopped: from this
    /// stamp on any call may be missing.
    Recording(bool),
}

impl Definition<'_> {
    /// True for what a forked child does not inherit.
    pub(crate) fn is_of_one_process(&self) -> bool {
        use Definition::*;
        let of_process = matches!(self, Process(_) | Clock { .. } | Hooks { .. } | Recording(_));
        let of_gpu = matches!(self, GpuTime(_) | GpuKernel { .. });
        let of_callers =
            matches!(self, Binary { .. } | PythonFunction { .. } | Callers { .. } | CallCallers { .. });
        let of_capture = matches!(self, Capture { .. } | Join { .. } | Leave { .. } | EndCapture { .. });
        of_process
            || of_capture
            || of_gpu
            || of_callers
            || matches!(self, Graph(_) | Exec { .. } | ExecNode { .. })
    }
}

/// The contents of a graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Graph<'a> {
    /// The number of the capture's definition; `None`: it was built node by node.
    pub capture: Option<u32>,
    /// Its kernels in the order in which the runtime lists them, those of a child graph at its
    /// node; `None`: a disabled one.
    pub kernels: Vec<Option<GraphKernel>>,
    /// Its other nodes: `hipGraphNodeType` and count.
    pub others: Vec<(u32, u32)>,
    /// Why the list of kernels is incomplete.
    #[serde(borrow)]
    pub why: Option<Text<'a>>,
}

/// A kernel of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GraphKernel {
    /// `hipFunction_t` or host stub.
    pub function: u64,
    /// Grid in blocks.
    pub grid: [u32; 3],
    /// Block in work-items.
    pub block: [u32; 3],
    /// Dynamic LDS, bytes.
    pub lds: u32,
}

/// Names of the settings of a BLAS library's handle.
pub const SETTINGS: [&str; 5] = ["stream", "pointer_mode", "atomics", "math_mode", "metric"];
/// The stream of its work.
pub const STREAM: u8 = 0;
/// Where the scalars are: host or device.
pub const POINTER_MODE: u8 = 1;
/// Whether its kernels may use atomic operations.
pub const ATOMICS: u8 = 2;
/// Whether narrower types may be used internally.
pub const MATH_MODE: u8 = 3;
/// The metric for the choice of a solution.
pub const METRIC: u8 = 4;

/// The traced process.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessIdentity<'a> {
    /// Version of the shim.
    #[serde(borrow)]
    pub rocshim: Text<'a>,
    /// Process id.
    pub pid: u32,
    /// Parent process id.
    pub ppid: u32,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
    /// Executable.
    #[serde(borrow)]
    pub exe: Text<'a>,
    /// Command line.
    #[serde(borrow)]
    pub argv: Vec<Text<'a>>,
    /// Environment variables, only those on the allow list.
    #[serde(borrow)]
    pub env: Vec<(Text<'a>, Text<'a>)>,
    /// Host name.
    #[serde(borrow)]
    pub host: Text<'a>,
    /// Stamps are TSC ticks.
    pub tsc: bool,
    /// The time of the first stamp in ns since 1970; the stamp is the frame's.
    pub unix_ns: u64,
    /// The trace file, absolute.
    #[serde(borrow)]
    pub trace: Text<'a>,
    /// Folder of the ring files; empty if they are private memory.
    #[serde(borrow)]
    pub rings: Text<'a>,
    /// Why the trace is not at the requested path.
    #[serde(borrow)]
    pub note: Option<Text<'a>>,
}

/// An image passed to `hipModuleLoad…`.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Image<'a> {
    /// The file, for `hipModuleLoad`.
    #[serde(borrow)]
    pub path: Option<Text<'a>>,
    /// `elf`, `bundle`, `compressed_bundle`, `opaque`; empty for a file that was not inspected.
    #[serde(borrow)]
    pub format: Text<'a>,
    /// Its length in bytes; `None` if its format does not state it.
    pub bytes: Option<u64>,
    /// XXH3-128 of those bytes.
    pub hash: Option<u128>,
    /// GPU targets.
    #[serde(borrow)]
    pub targets: Vec<Text<'a>>,
    /// Number of kernels per target, if known.
    pub kernels: Option<u32>,
}
