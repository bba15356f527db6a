//! What is told once and referred to by number: the process, hooks, libraries, device code, kernels.
//!
//! A definition's number is its place in the log, from 0; ids in the trace are these numbers, so that whoever reads the
//! log again (after a crash) gives the same ids.

mod stream;

pub use stream::Stream;

use crate::conv::Conv;
use crate::gpu::GpuTime;
use crate::kernel::KernelCode;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Text that is borrowed on the way in and on the way out.
pub type Text<'a> = Cow<'a, str>;

/// Rows that a hook table may have; see [`Definition::Bound`].
pub const ROWS: u16 = 1 << 13;

/// The ways in to a function, each with its number in a sum.
pub const INTERCEPTION_POINTS: [(u8, &str); 4] =
    [(1, "preload"), (2, "dlsym"), (4, "get_proc_address"), (8, "table")];

/// A definition with who told it, and when.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame<'a> {
    /// From when on it holds.
    pub stamp: u64,
    /// What is told.
    #[serde(borrow)]
    pub definition: Definition<'a>,
}

/// What is told.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Definition<'a> {
    /// The process; always the first.
    Process(#[serde(borrow)] Process<'a>),
    /// How fast the clock of the stamps runs, once measured.
    Clock {
        /// Ticks in a second.
        tick_hz: u64,
    },
    /// The hook table.
    Hooks {
        /// In order: (symbol, library, whether its calls are recorded).
        #[serde(borrow)]
        hooks: Vec<(Text<'a>, Text<'a>, bool)>,
        /// The interception points beside the exported symbols that are open, added together as in [`INTERCEPTION_POINTS`].
        points: u8,
    },
    /// A library handed over a dispatch table.
    Table {
        /// What it called itself: `hip`, `hip_compiler`.
        #[serde(borrow)]
        name: Text<'a>,
        /// The file that holds the table.
        #[serde(borrow)]
        path: Text<'a>,
        /// Its entries.
        entries: u32,
        /// Those that lead to us now.
        functions: u32,
    },
    /// An object was opened that passes the hooks by.
    Bypass {
        /// What the program asked for.
        #[serde(borrow)]
        path: Text<'a>,
        /// It lives in a namespace of its own (dlmopen), else its own libraries come first (RTLD_DEEPBIND).
        namespace: bool,
    },
    /// A ROCm library in the process.
    Library {
        /// Its file.
        #[serde(borrow)]
        path: Text<'a>,
    },
    /// A hook found its real function (or did not).
    Bound {
        /// Row of the hook table, plus [`ROWS`] times the number of the way in.
        hook: u16,
        /// The interception points that gave the way out, added together as in [`INTERCEPTION_POINTS`].
        points: u8,
        /// The file that holds it; `None`: not found.
        #[serde(borrow)]
        path: Option<Text<'a>>,
    },
    /// `__hipRegisterFatBinary`.
    FatBinary {
        /// What it returned.
        handle: u64,
        /// The file it lies in.
        #[serde(borrow)]
        path: Text<'a>,
        /// Where in that file, bytes.
        offset: u64,
        /// Which of that file's fat binaries, from 0.
        ordinal: u32,
        /// Where it lies in memory.
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
    /// A handle of a kernel that has another one: `hipGetFuncBySymbol`, `hipKernelGetFunction`.
    SameFunction {
        /// The new handle.
        function: u64,
        /// The one that is known.
        of: u64,
    },
    /// A capture began.
    Capture {
        /// The stream that it began on.
        stream: Stream,
        /// `hipStreamCaptureMode`.
        mode: u8,
        /// The thread that began it.
        tid: u32,
    },
    /// Another stream takes part in a capture from now on.
    Join {
        /// The number of the capture's definition.
        capture: u32,
        /// The stream.
        stream: Stream,
    },
    /// A stream takes part in no capture any more: it was destroyed.
    Leave {
        /// The stream.
        stream: Stream,
    },
    /// A stream is about to be destroyed: what its handle means from now on is another one.
    StreamGone {
        /// The stream's handle.
        stream: u64,
    },
    /// What a stream is called in the trace; told by whoever writes that.
    StreamId {
        /// Its handle.
        stream: u64,
        /// How many streams that had this handle were destroyed before it was made.
        after: u32,
        /// Its id.
        id: u32,
    },
    /// What a kernel is called in the trace; told by whoever writes that.
    KernelId {
        /// The number of the kernel's definition.
        kernel: u32,
        /// Its id.
        id: u32,
        /// The hook that its record tells.
        hook: Option<u16>,
    },
    /// A capture ended in order; no stream takes part in it any more.
    EndCapture {
        /// The number of the capture's definition.
        capture: u32,
    },
    /// What a graph does when it is launched.
    Graph(#[serde(borrow)] Graph<'a>),
    /// What an instantiated graph does from now on.
    Exec {
        /// `hipGraphExec_t`.
        exec: u64,
        /// The number of the graph's definition; `None`: it is destroyed.
        graph: Option<u32>,
    },
    /// A kernel of an instantiated graph is another from now on, or takes no part any more.
    ExecNode {
        /// `hipGraphExec_t`.
        exec: u64,
        /// Which of the graph's kernels, from 0.
        index: u32,
        /// What it is; `None`: it is switched off.
        kernel: Option<GraphKernel>,
    },
    /// What the code object says of the kernel that `function` means at this stamp; told before its first launch.
    Code {
        /// `hipFunction_t` or host stub.
        function: u64,
        /// Its code.
        #[serde(borrow)]
        code: KernelCode<'a>,
    },
    /// A device was asked about.
    Device {
        /// Its number.
        ordinal: i32,
        /// Its target: `gfx1100`, `gfx90a:sramecc+:xnack-`.
        #[serde(borrow)]
        gfx: Text<'a>,
        /// What it is sold as.
        #[serde(borrow)]
        name: Text<'a>,
        /// The function that said so.
        #[serde(borrow)]
        how: Text<'a>,
    },
    /// A solution or fusion plan of MIOpen may be run from now on.
    Solution {
        /// The solution or plan.
        handle: u64,
        /// Solver id; 0 where it is not known.
        solver: u64,
        /// The convolution that it stands for; `None`: something else, or not known.
        conv: Option<Box<Conv>>,
    },
    /// MIOpen has told the program the solver id of a solution.
    SolutionSolver {
        /// The solution.
        handle: u64,
        /// Solver id.
        solver: u64,
    },
    /// A BLAS library's handle has a setting from now on.
    Setting {
        /// The handle.
        handle: u64,
        /// Index into [`SETTINGS`].
        setting: u8,
        /// The stream, or the library's own number; `None`: it is not known any more.
        value: Option<u64>,
    },
    /// A BLAS library's handle was destroyed.
    HandleGone {
        /// The handle.
        handle: u64,
    },
    /// The runtime is asked for GPU times from now on, or is not any more.
    GpuTime(#[serde(borrow)] GpuTime<'a>),
    /// The name of a kernel that the runtime reports; its number stands for it.
    GpuKernel {
        /// The symbol.
        #[serde(borrow)]
        name: Text<'a>,
    },
    /// Recording began (true): from this stamp on no call is missing. Or it was stopped: from this stamp on any may be.
    Recording(bool),
}

impl Definition<'_> {
    /// True for what a forked child does not have from its parent.
    pub(crate) fn is_of_one_process(&self) -> bool {
        use Definition::*;
        let of_process = matches!(self, Process(_) | Clock { .. } | Hooks { .. } | Recording(_));
        let of_gpu = matches!(self, GpuTime(_) | GpuKernel { .. });
        let of_capture = matches!(self, Capture { .. } | Join { .. } | Leave { .. } | EndCapture { .. });
        of_process || of_capture || of_gpu || matches!(self, Graph(_) | Exec { .. } | ExecNode { .. })
    }
}

/// What a graph does when it is launched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Graph<'a> {
    /// The number of the definition of the capture that it came from; `None`: it was built node by node.
    pub capture: Option<u32>,
    /// Its kernels, as the runtime lists them, those of child graphs in their places; `None`: one that is switched off.
    pub kernels: Vec<Option<GraphKernel>>,
    /// Its other nodes: `hipGraphNodeType` and how many.
    pub others: Vec<(u32, u32)>,
    /// Why the kernels are not all there.
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

/// What a BLAS library's handle can be set to.
pub const SETTINGS: [&str; 5] = ["stream", "pointer_mode", "atomics", "math_mode", "metric"];
/// The stream of its work.
pub const STREAM: u8 = 0;
/// Where the scalars lie.
pub const POINTER_MODE: u8 = 1;
/// Whether its kernels may use atomic operations.
pub const ATOMICS: u8 = 2;
/// Whether narrower types may be used inside.
pub const MATH_MODE: u8 = 3;
/// By what a solution is chosen.
pub const METRIC: u8 = 4;

/// The process that is traced.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process<'a> {
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
    /// Allowed environment variables.
    #[serde(borrow)]
    pub env: Vec<(Text<'a>, Text<'a>)>,
    /// Host name.
    #[serde(borrow)]
    pub host: Text<'a>,
    /// Stamps are time-stamp counter ticks.
    pub tsc: bool,
    /// The moment of the process's first stamp in ns since 1970; the stamp is the frame's.
    pub unix_ns: u64,
    /// The trace file, absolute.
    #[serde(borrow)]
    pub trace: Text<'a>,
    /// Folder of the ring files; empty when they are private memory.
    #[serde(borrow)]
    pub rings: Text<'a>,
    /// Why the trace is not where it was asked for.
    #[serde(borrow)]
    pub note: Option<Text<'a>>,
}

/// An image given to `hipModuleLoad…`.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Image<'a> {
    /// The file, for `hipModuleLoad`.
    #[serde(borrow)]
    pub path: Option<Text<'a>>,
    /// `elf`, `bundle`, `compressed_bundle`, `opaque`; empty for a file that was not looked into.
    #[serde(borrow)]
    pub format: Text<'a>,
    /// Its length, where its format tells.
    pub bytes: Option<u64>,
    /// XXH3-128 of those bytes.
    pub hash: Option<u128>,
    /// GPU targets.
    #[serde(borrow)]
    pub targets: Vec<Text<'a>>,
    /// Kernels for each target, where that is known.
    pub kernels: Option<u32>,
}
