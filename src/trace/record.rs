//! The records of a trace: one type per record, one field per JSON key, each with its unit.

use crate::tensile::Tensile;
use crate::{Arg, Hex, StreamRef, Word, dims};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of a trace. Large records are boxed, so that a launch, the most frequent record, stays
/// cheap to move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// First line of every file: the process, the clock, the recorder.
    Header(Header),
    /// A ROCm library found in the process.
    Library(Library),
    /// An executable or shared library on a chain of callers.
    Binary(Binary),
    /// Who made the first call of a function with a problem of one shape.
    Callers(CallCallers),
    /// An interception point beside the exported symbols.
    Interception(Interception),
    /// An object whose calls can bypass the hooks.
    Bypass(Bypass),
    /// Functions of a library that are hooked.
    HookTable(HookTable),
    /// A hooked function: its interception points and the library it is bound to.
    Hook(Hook),
    /// Device code that was registered or loaded.
    CodeObject(CodeObject),
    /// A device that the program queried.
    Device(Device),
    /// A kernel, defined before its first launch.
    Kernel(Box<Kernel>),
    /// A stream, defined before its first use.
    Stream(Stream),
    /// A kernel launch, whichever API made it.
    Launch(Launch),
    /// A GEMM of rocBLAS or hipBLAS.
    Gemm(Box<Gemm>),
    /// A GEMM of hipBLASLt.
    Matmul(Box<Matmul>),
    /// A call of a BLAS library that computes no GEMM.
    Blas(Box<Blas>),
    /// A convolution call of MIOpen: search, run, or immediate mode.
    Conv(Box<Conv>),
    /// A call of which only the name is recorded: an FFT, a solver, an RCCL collective, …
    Span(Span),
    /// A marker or range set by the program (roctx, rocshim.h).
    Mark(Mark),
    /// A module load or unload.
    Load(Load),
    /// A copy or a fill.
    Copy(Copy),
    /// A synchronisation: the host waits, or one stream is ordered after another.
    Sync(Sync),
    /// A capture of streams into a graph.
    Capture(Capture),
    /// The kernels that a graph executes when it is launched.
    Graph(Graph),
    /// A graph is captured, instantiated or updated.
    GraphCall(GraphCall),
    /// A graph is launched.
    GraphLaunch(GraphLaunch),
    /// Whether and how GPU times are requested from the HIP runtime.
    GpuTime(GpuTime),
    /// The name of a kernel in the runtime's reports.
    GpuKernel(GpuKernel),
    /// A report of the runtime: begin and end of a command on the GPU.
    Gpu(Gpu),
    /// Recording stops or starts.
    Recording(Recording),
    /// Lost events, counted at their place in the order.
    Gap(Gap),
    /// A call that had not returned when the process died.
    InFlight(InFlight),
    /// The event counts of a thread, written when it ends or at the end of the trace.
    Thread(Thread),
    /// Last line of a complete file.
    Footer(Footer),
    /// A type that this version does not know.
    #[serde(other)]
    Unknown,
}

impl Record {
    /// The call of an event; `None` for a record that is not an event.
    pub fn call(&self) -> Option<&Call> {
        Some(match self {
            Record::Launch(event) => &event.call,
            Record::Gemm(event) => &event.call,
            Record::Matmul(event) => &event.call,
            Record::Blas(event) => &event.call,
            Record::Conv(event) => &event.call,
            Record::Span(event) => &event.call,
            Record::Mark(event) => &event.call,
            Record::Load(event) => &event.call,
            Record::Copy(event) => &event.call,
            Record::Sync(event) => &event.call,
            Record::GraphCall(event) => &event.call,
            Record::GraphLaunch(event) => &event.call,
            Record::Gpu(event) => &event.call,
            _ => return None,
        })
    }
}

/// The process and how it was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The format number, [`crate::FORMAT`].
    pub format: u32,
    /// The version of rocshim that wrote the file.
    pub rocshim: String,
    /// Process id, as the process itself sees it.
    pub pid: u32,
    /// Parent process id when recording began.
    pub ppid: u32,
    /// Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat);
    /// distinguishes it from a later process with the same pid.
    pub start_ticks: u64,
    /// The executable.
    pub exe: String,
    /// The command line.
    pub argv: Vec<String>,
    /// The environment variables that configure ROCm, ggml, PyTorch and rocshim; no others are
    /// recorded.
    pub env: BTreeMap<String, String>,
    /// The host's name.
    pub host: String,
    /// `tsc` (invariant time-stamp counter) or `clock_gettime` (fallback).
    pub clock: String,
    /// Frequency of that clock, Hz.
    pub tick_hz: u64,
    /// Time 0 of the trace: nanoseconds since 1970 as a decimal string.
    pub epoch: String,
    /// The folder of the ring files; it exists while they hold events that are not in this file.
    pub rings: String,
    /// Why the trace is not at the path that `ROCSHIM_OUT` names; absent if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The number of this segment of the trace, from 2; 0 (absent) for the first. A segment repeats
    /// the definitions that it uses.
    #[serde(default, skip_serializing_if = "is_zero_32")]
    pub part: u32,
    /// The first segment that still exists, from 2; 0 (absent) if none was removed.
    #[serde(default, skip_serializing_if = "is_zero_32")]
    pub oldest: u32,
    /// True if this segment was started because the file of the one before it was deleted;
    /// absent if not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub after_deletion: bool,
}

impl Header {
    /// The number of this segment of the trace, from 1.
    pub fn part(&self) -> u32 {
        self.part.max(1)
    }
}

/// A ROCm library in the process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Library {
    /// Referred to by `hook.library`.
    pub id: u32,
    /// Path of its file.
    pub path: String,
    /// Its soname; absent if the file could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soname: Option<String>,
    /// Its GNU build id in hex; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Number of exported functions of its API: C functions with the library's name prefix. Absent
    /// if the file could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<u64>,
    /// How many of those are hooked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooked: Option<u64>,
}

/// An executable or shared library on a chain of callers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Binary {
    /// Referred to by [`Caller::binary`].
    pub id: u32,
    /// The file as the loader names it; for the executable the resolved path.
    pub path: String,
    /// The build id of that file, hex; absent if it has none or could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
}

/// An interception point beside the exported symbols. Written for each at the start, and again for
/// every dispatch table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interception {
    /// `dlsym` (and `dlvsym`), `get_proc_address` (`hipGetProcAddress` and its variants), `table`
    /// (HIP's dispatch tables).
    pub point: String,
    /// `open`, `closed` (by `ROCSHIM_INTERCEPT`), or `waiting` (no library has registered a table
    /// yet).
    pub state: String,
    /// Which table: `hip`, `hip_compiler`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The [`Library`] that registered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<u32>,
    /// Number of functions in the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u32>,
    /// Number of those that are hooked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<u32>,
}

/// An object whose calls of exported symbols bypass the hooks. Its calls through HIP's dispatch
/// table are still intercepted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bypass {
    /// The path that the program passed to the loader.
    pub path: String,
    /// `deepbind`: opened with RTLD_DEEPBIND, so its dependencies come before the shim in symbol
    /// lookup. `namespace`: opened with dlmopen.
    pub how: String,
}

/// Hooked functions of one library: armed by preload until a [`Hook`] changes their state. Written
/// at the start, in several lines for a library with many functions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HookTable {
    /// Their ROCm library, without version: `libamdhip64.so`.
    pub of: String,
    /// The hook id of the first function; the others have consecutive ids.
    pub first: u16,
    /// Their symbols, as exported.
    pub names: Vec<String>,
}

impl HookTable {
    /// Every hook of the table, armed.
    pub fn hooks(&self) -> impl Iterator<Item = Hook> {
        (self.first..).zip(&self.names).map(|(id, name)| Hook::armed(id, name, &self.of))
    }
}

/// A hooked function at one interception point. Written when its state changes or another
/// interception point returns it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hook {
    /// Referred to by `hook` of the events.
    pub id: u16,
    /// The function's symbol, as exported.
    pub name: String,
    /// Its ROCm library, without version: `libamdhip64.so`.
    pub of: String,
    /// The interception point: `preload` (the exported symbol), `dlsym`, `get_proc_address`,
    /// `table`; joined by `+` if several led to the same entry point.
    pub point: String,
    /// `armed` (exported, not called yet), `bound` (called, real function found), `unbound`
    /// (called, real function not found), `off` (excluded by `ROCSHIM_RECORD`).
    pub state: String,
    /// The [`Library`] that holds the real function, once bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<u32>,
    /// Why it is unbound or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Hook {
    /// A function of library `of` in its initial state: exported, not called yet.
    pub fn armed(id: u16, name: &str, of: &str) -> Hook {
        let (name, of) = (name.into(), of.into());
        Hook { id, name, of, point: "preload".into(), state: "armed".into(), ..Hook::default() }
    }
}

/// Device code: a fat binary inside a library, a module file, or an image in memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CodeObject {
    /// Referred to by `kernel.code_object` and `load.code_object`.
    pub id: u32,
    /// `fat_binary` (registered by a library or program), `file` (hipModuleLoad), `memory`
    /// (hipModuleLoadData).
    pub source: String,
    /// The file that holds it: the registering library, or the module's file. Absent for `memory`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Fat binary: its ordinal in that file, in order of registration, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u32>,
    /// Fat binary: its offset in that file, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// `elf`, `bundle`, `compressed_bundle`, or `opaque`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Length of the image in bytes; absent if its format does not state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// XXH3-128 of those bytes, for an image that was loaded from memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xxh3: Option<String>,
    /// The GPU targets it carries: `gfx1100`, `gfx90a:sramecc+:xnack-`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// For an image from memory: the file in rocBLAS's or hipBLASLt's library folder with the same
    /// size and XXH3-128.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Whether that file (or the module's own, `path`) holds solutions of Tensile's fallback
    /// library, by its name: `…_fallback_gfx900.hsaco`. Absent if the name does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<bool>,
    /// Why no such file was found for an image from memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmatched: Option<String>,
    /// Number of kernels, equal for all targets. Absent if it differs, and for a compressed bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernels: Option<u32>,
}

/// A device, as a query of the program returned it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Its ordinal in the process.
    pub ordinal: i32,
    /// Its target: `gfx1100`, `gfx90a:sramecc+:xnack-`.
    pub gfx: String,
    /// Its marketing name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The function that returned it.
    pub how: String,
}

/// A kernel of a code object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Referred to by `launch.kernel`.
    pub id: u32,
    /// The symbol, as the program or the compiler named it.
    pub name: String,
    /// The demangled name; absent if the symbol is not a mangled C++ name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// The [`Hook`] of its first launch; launches without a hook of their own came through this
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<u16>,
    /// The [`CodeObject`] it comes from; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_object: Option<u32>,
    /// The decoded name of a Tensile or TensileLite kernel; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensile: Option<Tensile>,
    /// The target of its code. The fields below are the code object's metadata for this target,
    /// chosen by the devices that the program queried. Absent if several targets are possible: then
    /// only fields that are equal for all of them are present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Vector registers per work-item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vgprs: Option<u32>,
    /// Accumulation registers per work-item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agprs: Option<u32>,
    /// Scalar registers per wavefront.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sgprs: Option<u32>,
    /// Spilled vector registers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vgpr_spills: Option<u32>,
    /// Spilled scalar registers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sgpr_spills: Option<u32>,
    /// Static LDS per work-group, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lds: Option<u32>,
    /// Scratch memory per work-item, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<u32>,
    /// Work-items per wavefront.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wavefront: Option<u32>,
    /// Size of all arguments, hidden ones included, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernarg: Option<u32>,
    /// Maximum block size, work-items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_block: Option<u32>,
    /// The explicit arguments, in the order of `launch.args`. Absent if unknown; empty if the
    /// kernel has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<Argument>>,
    /// Who launched it first, in a stream or into a capture. Absent if each of its launches was
    /// made without arguments (but for `hipLaunchByPtr`), or `ROCSHIM_CALLERS` is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callers: Option<Callers>,
}

/// Who made a call of a GEMM, a matmul or a convolution, the first one of its function with a
/// problem of that shape: sizes, types, layouts, without addresses. Written before the call's own
/// line.
/// Absent if `ROCSHIM_CALLERS` is 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallCallers {
    /// The call's id on the thread of `callers`.
    pub id: u64,
    /// Its callers.
    pub callers: Callers,
}

/// The callers of a kernel's first launch, or of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Callers {
    /// The thread that launched or called.
    pub tid: u32,
    /// Innermost first: where each call returns to.
    pub frames: Vec<Caller>,
    /// Why the chain ends: `whole` (at the thread's first function), `limit` (at as many callers as
    /// `ROCSHIM_CALLERS` allows), `signal` (at a signal handler), `unknown` (at code without
    /// unwind information, or at a stack that does not agree with it).
    pub end: String,
    /// The Python functions on the stack, innermost first, at most `ROCSHIM_CALLERS`. Absent if
    /// there are none, or the interpreter is none of CPython 3.11 to 3.14.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub python: Vec<PythonCaller>,
}

/// A Python function on the stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PythonCaller {
    /// Its source file, as the interpreter names it.
    pub file: String,
    /// The line that runs; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its qualified name: `Model.step`.
    pub function: String,
}

/// A caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The [`Binary`] that holds its code.
    pub binary: u32,
    /// The return address, as an address of that file as linked (as `addr2line` takes it, less 1).
    pub at: Hex,
}

/// An explicit argument of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// Offset in the argument buffer, bytes.
    pub offset: u32,
    /// Size, bytes.
    pub size: u32,
    /// `by_value`, `global_buffer`, …, as in the code object's metadata.
    pub kind: String,
    /// Its name; absent if the metadata have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its type by the metadata, else by the parameter in the kernel's demangled name. Absent if
    /// neither has it: then its value is decoded by kind and size.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
}

/// What all events have in common: thread, position in the call tree, times, status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Linux thread id.
    pub tid: u32,
    /// The call's number in its thread, from 1, in order of entry.
    pub id: u64,
    /// The id of the enclosing hooked call of the same thread. Its line comes later: lines of one
    /// thread are in order of return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// Time of entry, ns since the epoch.
    pub t: u64,
    /// Duration of the real call, ns.
    pub dur: u64,
    /// The [`Hook`] that intercepted it; absent ([`OF_KERNEL`]) for a launch through the hook of
    /// its [`Kernel`].
    #[serde(default = "of_kernel", skip_serializing_if = "is_of_kernel")]
    pub hook: u16,
    /// What the call returned; absent for success (0).
    #[serde(default, skip_serializing_if = "is_success")]
    pub status: i32,
    /// A C++ exception left the call, not a return.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwound: bool,
}

/// Value of a launch's hook that means: [`Kernel::hook`].
pub const OF_KERNEL: u16 = u16::MAX;

fn of_kernel() -> u16 {
    OF_KERNEL
}

fn is_of_kernel(hook: &u16) -> bool {
    *hook == OF_KERNEL
}

fn is_success(status: &i32) -> bool {
    *status == 0
}

fn is_zero_32(value: &u32) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// A stream. A handle that is reused after its stream was destroyed is a new stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Referred to by `stream` of the events; never 0.
    pub id: u32,
    /// Its handle in the program (`hipStream_t`).
    pub handle: Hex,
}

/// A kernel launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// The [`Kernel`]; absent if the creation of its handle was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<u32>,
    /// The handle or host stub, if the kernel is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Hex>,
    /// The grid in blocks (x, y, z), in whichever unit the API takes it: work-items are divided by
    /// the block size, rounded up. Trailing ones of this and the next two fields are omitted;
    /// absent for one block.
    #[serde(default = "dims::one", skip_serializing_if = "dims::is_one", with = "dims")]
    pub grid: [u32; 3],
    /// The block in work-items (x, y, z).
    #[serde(with = "dims")]
    pub block: [u32; 3],
    /// The grid in work-items as passed, for APIs that take it so (`hipExtModuleLaunchKernel`,
    /// `hipHcc…`).
    #[serde(default, skip_serializing_if = "Option::is_none", with = "dims::option")]
    pub items: Option<[u32; 3]>,
    /// Dynamic LDS in bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lds: u64,
    /// The stream; absent for the default one (NULL).
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The start and stop events of the Ext forms; absent if neither is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<[Hex; 2]>,
    /// The flags argument; absent if the API has none or it is 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flags: u64,
    /// A cooperative launch, by function or by attribute.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cooperative: bool,
    /// The [`Capture`] that recorded it into a graph instead of executing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
    /// The values of the kernel's explicit arguments, in the order of [`Kernel::args`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Arg>,
    /// Number of further arguments that were not recorded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub args_cut: u64,
    /// The argument buffer of an unknown kernel in hex; its first 376 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub args_raw: String,
}

/// One matrix of a [`Gemm`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// Address (batched form: address of the pointer array).
    pub ptr: Hex,
    /// Element type: `f16_r`, `bf16_r`, `f32_r`, `f8_e4m3`, …, or the number if it is unknown.
    #[serde(rename = "type")]
    pub element: Word,
    /// Leading dimension, in elements; form `any_order`: the column stride.
    pub ld: i64,
    /// Batch stride, in elements; strided batched form only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<i64>,
    /// Row stride, in elements; form `any_order` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_stride: Option<i64>,
}

/// A GEMM of rocBLAS or hipBLAS: D = alpha * op(A) * op(B) + beta * C.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gemm {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// `plain`, `batched`, `strided_batched`, or `any_order` (rocblas_gemm_ext2: one GEMM on
    /// matrices with arbitrary row and column strides).
    pub form: Word,
    /// The library handle.
    pub handle: Hex,
    /// op(A): `N`, `T` or `C`.
    pub trans_a: Word,
    /// op(B).
    pub trans_b: Word,
    /// Rows of D.
    pub m: i64,
    /// Columns of D.
    pub n: i64,
    /// The inner dimension.
    pub k: i64,
    /// Batch count; 1 for the plain form.
    pub batch: i64,
    /// A, as passed.
    pub a: Matrix,
    /// B, as passed.
    pub b: Matrix,
    /// C, as passed.
    pub c: Matrix,
    /// D, as passed; equal to C if the function has no D (all of hipBLAS, the typed functions of
    /// rocBLAS).
    pub d: Matrix,
    /// Address of alpha (host or device, by the handle's pointer mode; never dereferenced).
    pub alpha: Hex,
    /// Address of beta.
    pub beta: Hex,
    /// The compute type: an element type (rocBLAS; hipBLAS up to ROCm 6; typed functions by their
    /// name), a compute type of hipBLAS (`32f`, `32f_fast_16f`, …), or one of rocBLAS's ex3
    /// (`f8_f8_f32`, …).
    pub compute: Word,
    /// `standard` or `solution_index` (rocBLAS), `default` (hipBLAS), `none` (the function has no
    /// such argument), or the number.
    pub algo: Word,
    /// The requested solution index (meaningful with `solution_index`).
    pub solution: i32,
    /// The flags argument.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flags: u64,
    /// The stream set on the handle (0: default); absent if not observed, or changed so often that
    /// it is no longer tracked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamRef>,
    /// Where the scalars are, as last set on the handle (`host`, `device`); absent if the program
    /// set nothing. The same holds for the three fields below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer_mode: Option<Word>,
    /// Whether kernels may use atomic operations: `allowed`, `not_allowed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomics: Option<Word>,
    /// Whether f32 may be computed as xf32: `default`, `xf32_xdl`, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub math_mode: Option<Word>,
    /// The performance metric for the choice of a solution: `default`, `device_efficiency`,
    /// `cu_efficiency`, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Word>,
    /// The [`Capture`] that recorded it into a graph instead of executing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// One matrix of a [`Problem`]; unknown fields are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LtMatrix {
    /// Address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptr: Option<Hex>,
    /// Element type, named as in [`Matrix`].
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub element: Option<Word>,
    /// Leading dimension, in elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ld: Option<i64>,
    /// Batch stride, in elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<i64>,
    /// `col`, `row`, `col16_4r16`, …, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Word>,
}

/// A GEMM problem given by descriptors, or the problem of a query. Fields set in a descriptor whose
/// creation was not observed, or in a C++ object, are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// op(A): `N`, `T` or `C`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trans_a: Option<Word>,
    /// op(B).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trans_b: Option<Word>,
    /// Rows of D.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m: Option<i64>,
    /// Columns of D.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<i64>,
    /// The inner dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<i64>,
    /// Batch count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<i64>,
    /// A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<LtMatrix>,
    /// B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<LtMatrix>,
    /// C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c: Option<LtMatrix>,
    /// D.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub d: Option<LtMatrix>,
    /// Address of alpha; never dereferenced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Hex>,
    /// Address of beta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<Hex>,
    /// `host`, `alpha_device_vector_beta_host`, or the number: 1 means device, except in ROCm 6.0,
    /// where 1 was the second name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer_mode: Option<Word>,
    /// The compute type: `32f`, `32f_fast_16f`, …, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute: Option<Word>,
    /// Element type of alpha and beta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_type: Option<Word>,
    /// The operation on the result: `default` (none), `relu`, `bias`, `gelu_aux_bias`, …, or the
    /// number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epilogue: Option<Word>,
    /// Address of the bias; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<Hex>,
    /// Element type of the bias, if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias_type: Option<Word>,
    /// Address of A's scale; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_a: Option<Hex>,
    /// Address of B's scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_b: Option<Hex>,
    /// Address of C's scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_c: Option<Hex>,
    /// Address of D's scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_d: Option<Hex>,
    /// How A's scale applies: `scalar_32f`, `vec32_ue8m0`, …, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_mode_a: Option<Word>,
    /// How B's scale applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_mode_b: Option<Word>,
    /// Address of the epilogue's auxiliary matrix; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aux: Option<Hex>,
    /// Leading dimension of the auxiliary matrix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aux_ld: Option<i64>,
}

/// A GEMM of hipBLASLt: D = epilogue(alpha * op(A) * op(B) + beta * C).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matmul {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// The library handle (hipblasLtMatmul).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Hex>,
    /// The C++ object that runs (hipblaslt_ext::GemmInstance::run); earlier [`Blas`] calls with the
    /// same instance describe its problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Hex>,
    /// The problem.
    #[serde(flatten)]
    pub problem: Problem,
    /// The index of the algorithm that was passed. Absent if none was passed (the library chooses),
    /// if it was set on the instance before, if the call failed, and if the descriptor is unknown
    /// or of ROCm 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algo: Option<i32>,
    /// Workspace passed to the call, bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub workspace: u64,
    /// The stream; absent for the default one (NULL).
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The [`Capture`] that recorded it into a graph instead of executing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A call of a BLAS library that computes no GEMM.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Blas {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// `create` and `destroy` (a handle), `initialize` (rocblas_initialize), `solutions`
    /// (rocblas_gemm…_get_solutions), `heuristic` (hipblasLtMatmulAlgoGetHeuristic), `transform`
    /// (hipblasLtMatrixTransform: C = alpha * op(A) + beta * op(B)); of a C++ object of hipBLASLt,
    /// `problem` (Gemm::setProblem) and `prepare` (GemmInstance::initialize).
    pub action: Word,
    /// The library handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Hex>,
    /// The C++ object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Hex>,
    /// The form of the GEMMs that `solutions` queries; absent if it queries by types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Word>,
    /// The problem.
    #[serde(flatten)]
    pub problem: Problem,
    /// The flags argument of `solutions`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flags: u64,
    /// The index of the algorithm that was passed, in `prepare`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algo: Option<i32>,
    /// Number of results requested, in `heuristic`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub requested: u64,
    /// Number of results; absent if the call does not return it (`solutions` that fills an array)
    /// or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<u64>,
    /// The indices of the first results (at most 8), in `heuristic`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solutions: Vec<i32>,
    /// Workspace that the first result needs, bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub needs: u64,
    /// The stream, of `transform` and `prepare`; absent for the default one (NULL).
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The [`Capture`] that recorded it into a graph instead of executing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A tensor of a convolution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tensor {
    /// Element type: `f32`, `f16`, `bf16`, …, or the number.
    #[serde(rename = "type")]
    pub element: Word,
    /// Lengths, outermost first (n, c, h, w).
    pub dims: Vec<i32>,
    /// Strides in elements, in the same order.
    pub strides: Vec<i32>,
}

impl Tensor {
    /// Its lengths as text: `1x3x224x224`.
    pub fn lengths(&self) -> String {
        self.dims.iter().map(i32::to_string).collect::<Vec<_>>().join("x")
    }
}

/// One result that MIOpen returned for a convolution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConvResult {
    /// `gemm`, `direct`, `fft`, `winograd`, `transpose_gemm`, `implicit_gemm`, or the number. Find
    /// 2.0 returns none: there it is that of the solver in the id table, or `unknown`.
    pub algorithm: Word,
    /// Measured or estimated time, ms, as MIOpen returned it; absent if not finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<f32>,
    /// Required workspace, bytes.
    pub workspace: u64,
    /// The solver id; immediate mode and Find 2.0 only (`find` returns none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution_id: Option<u64>,
    /// The solver's name in the id table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
}

/// A convolution call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conv {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// `find`, `run`; in immediate mode `get_solution`, `compile_solution`, `immediate`; in Find
    /// 2.0 `find_solutions`, `run_solution`; for fusion plans `compile_plan`, `execute_plan`.
    pub action: Word,
    /// `forward`, `backward_data`, `backward_weights`; `unknown` for a solution loaded from bytes.
    pub direction: Word,
    /// The input (or its gradient).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Tensor>,
    /// The filter (or its gradient).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub w: Option<Tensor>,
    /// The output (or its gradient).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<Tensor>,
    /// Padding for each spatial dimension.
    pub pads: Vec<i32>,
    /// Stride for each spatial dimension.
    pub strides: Vec<i32>,
    /// Dilation for each spatial dimension.
    pub dilations: Vec<i32>,
    /// Group count.
    pub groups: i32,
    /// `convolution`, `transpose`, `group`, `depthwise`, or the number; `unknown` if the descriptor
    /// could not be read.
    pub mode: Word,
    /// The operations of the fusion plan or fused problem, in order: `convolution`, `bias`,
    /// `activation`, `batch_norm`, `softmax`, `mha`; empty for a plain convolution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// The stream of the MIOpen handle; absent for the default one (NULL) and if it could not be
    /// queried.
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The handle of the problem being searched, or of the solution or fusion plan being run.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub subject: Hex,
    /// The requested algorithm, in `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<Word>,
    /// The solver id, in immediate mode and for a solution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution_id: Option<u64>,
    /// The solver's name in the id table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// `find` with `exhaustiveSearch` set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exhaustive: bool,
    /// Workspace passed to the call, bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub workspace: u64,
    /// Number of results that MIOpen returned.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub returned: u64,
    /// The first results (at most 8).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ConvResult>,
    /// The [`Capture`] that recorded it into a graph instead of executing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A call of which only the name is recorded; for an RCCL collective or message also what it moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// Element count as passed: per rank sent (`ncclAllGather`) or received (`ncclReduceScatter`),
    /// else in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Element type: `f16`, `bf16`, `f32`, …, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datatype: Option<Word>,
    /// The reduction: `sum`, `prod`, `max`, `min`, `avg`, or the number of an operation that the
    /// program created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Word>,
    /// The other rank of a message, or the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<i32>,
    /// The communicator.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub comm: Hex,
    /// `ncclCommInitRank…`: the number of ranks of the communicator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<u32>,
    /// … this rank's number in it, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<u32>,
    /// … a hash of the unique id, which all its ranks share.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub group: Hex,
    /// The stream that was passed, or that of the MIOpen handle; absent for the default one (NULL)
    /// and if the function takes none.
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// MIOpen problems, solutions and fusion plans other than convolutions: their operations, as in
    /// [`Conv::operations`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// MIOpen: the solver id of the solution that is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution_id: Option<u64>,
    /// MIOpen: the solver's name in the id table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// The [`Capture`] that recorded it into a graph instead of executing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A marker or range set by the program through roctx or rocshim.h.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// `mark`; `push` and `pop` (nested ranges of a thread); `start` and `stop` (ranges with an id,
    /// across threads); `pause` and `resume` (requests to profilers; recording continues);
    /// `name_thread`, `name_agent`, `name_device`, `name_stream`.
    pub action: Word,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The text was longer than 432 bytes and is truncated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The nesting level that the library returned for a `push` or `pop`: 0 for the outermost
    /// range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<i32>,
    /// `start`, `stop`: the range's id. `pause`, `resume`: the thread (absent: all). `name_…`: the
    /// handle, or the device's ordinal.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub value: Hex,
}

/// A module load or unload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// `load` or `unload`.
    pub action: Word,
    /// The module handle; absent if the load failed.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub module: Hex,
    /// The [`CodeObject`] that was loaded; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_object: Option<u32>,
}

/// A copy or a fill.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Copy {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// `copy` or `memset`.
    pub action: Word,
    /// The direction of a copy: `h2h`, `h2d`, `d2h`, `d2d`, `d2d_no_cu`, `default` (the runtime
    /// decides), `peer` (between devices), or the number. Absent if the arguments do not determine
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Word>,
    /// Total bytes copied or set; absent if an array's elements are counted instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Destination: an address, or what `via` says.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub dst: Hex,
    /// Source: an address, or what `via` says.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub src: Hex,
    /// The stream; absent for the default one (NULL).
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The asynchronous form of the function.
    #[serde(default, rename = "async", skip_serializing_if = "std::ops::Not::not")]
    pub is_async: bool,
    /// What one end of a copy is, if not plain memory: `symbol` (host handle of a device variable),
    /// `array`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Word>,
    /// The fill value of each element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u32>,
    /// Element size of a fill, bytes; absent for 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<u8>,
    /// Width, height and depth, for two and three dimensions: width in bytes, or in elements if
    /// `bytes` is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<[u64; 3]>,
    /// Row pitches in bytes, for two and three dimensions: destination, source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pitches: Option<[u64; 2]>,
    /// The devices of a copy between devices: destination, source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<[u32; 2]>,
    /// The [`Capture`] that recorded it into a graph instead of executing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A wait of the host (`device`, `stream`, `event`), or an ordering of streams by an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sync {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// `device`, `stream`, `event`: the host waits for it; `wait_event`: the stream waits for the
    /// event; `record_event`: the event completes when all work now in the stream has.
    pub action: Word,
    /// The stream; absent for the default one (NULL) and for calls without a stream.
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The event.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub event: Hex,
    /// The flags argument; absent for 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flags: u64,
    /// The [`Capture`] that recorded it into a graph instead of executing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A capture: work submitted to its streams goes into a graph instead of being executed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// Referred to by `capture` of the events and graphs.
    pub id: u32,
    /// Begin, ns since the epoch.
    pub t: u64,
    /// The thread that began it.
    pub tid: u32,
    /// The stream on which it began.
    pub stream: StreamRef,
    /// The capture mode, which restricts other calls meanwhile: `global`, `thread_local`,
    /// `relaxed`, or the number.
    pub mode: Word,
}

/// A kernel of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GraphKernel {
    /// The [`Kernel`]; absent if the creation of its handle was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<u32>,
    /// The handle or host stub, if the kernel is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Hex>,
    /// The grid in blocks (x, y, z), as in [`Launch::grid`].
    #[serde(default = "dims::one", skip_serializing_if = "dims::is_one", with = "dims")]
    pub grid: [u32; 3],
    /// The block in work-items (x, y, z).
    #[serde(with = "dims")]
    pub block: [u32; 3],
    /// Dynamic LDS in bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lds: u64,
}

/// The kernels of a graph. Each launch of the graph executes each of them once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Graph {
    /// Referred to by `graph` of the events. Instantiated graphs with equal contents share one.
    pub id: u32,
    /// The [`Capture`] that it came from; absent if it was built node by node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
    /// All its kernels are listed.
    pub complete: bool,
    /// Why the list is not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Its kernels in the order in which the runtime lists its nodes; those of a child graph at its
    /// node.
    pub kernels: Vec<GraphKernel>,
    /// Number of disabled kernels (`hipGraphNodeSetEnabled`), which are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub off: u64,
    /// Counts of its other nodes by kind: `memcpy`, `memset`, `host`, `empty`, …, or the number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, u64>,
}

/// The begin or end of a capture, or the instantiation or update of a graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphCall {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// `begin_capture`, `end_capture`, `instantiate` or `update`.
    pub action: Word,
    /// The stream of a capture.
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The graph's handle (`hipGraph_t`): the one captured, or the one instantiated.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub source: Hex,
    /// The handle of the instantiated graph (`hipGraphExec_t`).
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub exec: Hex,
    /// The [`Graph`] that the instantiated graph executes from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<u32>,
    /// The [`Capture`] that begins or ends, or that the graph came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A launch of an instantiated graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphLaunch {
    /// Thread, ids, times and status.
    #[serde(flatten)]
    pub call: Call,
    /// The [`Graph`]; absent if the creation of its handle was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<u32>,
    /// The handle of the instantiated graph (`hipGraphExec_t`).
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub exec: Hex,
    /// The stream; absent for the default one (NULL).
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
}

/// Whether GPU times are requested from one copy of the HIP runtime from here on, and what its
/// reports contain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuTime {
    /// From when, ns since the epoch.
    pub t: u64,
    /// `on`, `off`, or `unavailable`: this copy cannot report.
    pub state: Word,
    /// The [`Library`] of the runtime.
    pub library: u32,
    /// Number of functions in the runtime's own list of API calls.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub apis: u64,
    /// The release whose list has this length, hence a known layout: reports name their calls.
    /// Absent if unknown: they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<Word>,
    /// Another tool is registered too, and receives every report.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Why it cannot report, or cannot name calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The name of a kernel in the runtime's reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuKernel {
    /// Referred to by `kernel` of [`Gpu`]; not the id of a [`Kernel`].
    pub id: u32,
    /// The symbol.
    pub name: String,
}

/// A report of the HIP runtime that a command completed on the GPU. It belongs to the runtime's
/// thread that observed the completion; its `t` is when the report arrived.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// The reporting thread, ids and time of arrival.
    #[serde(flatten)]
    pub call: Call,
    /// `dispatch`, `copy` (a copy or fill, with or without a kernel), `barrier`; `link`: not a
    /// report, but the call `of` has the number `other` in another tool; `unread`: a report that
    /// could not be decoded.
    pub op: Word,
    /// The kind of command: `kernel`, `graph`, `h2d`, `d2h`, `d2d`, `fill`, …, or the runtime's
    /// number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Word>,
    /// Begin on the GPU, ns since the epoch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub begin: u64,
    /// Duration on the GPU, ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub busy: u64,
    /// Begin by the runtime's own clock, ns, as reported.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub raw: u64,
    /// Uncertainty of `begin` from how the runtime's clock was read, ns; absent below 1,000.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub error: u64,
    /// The device, by the driver's node number.
    #[serde(default, skip_serializing_if = "is_zero_32")]
    pub device: u32,
    /// The queue, by the runtime's number within the device.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub queue: u64,
    /// The [`GpuKernel`] that was dispatched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<u32>,
    /// Bytes copied or filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The call that caused it: its thread and id. Absent if no recorded call did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<(u32, u64)>,
    /// Its index among the dispatches reported for this call, from 0: a graph launch has many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub place: u64,
    /// The runtime function that caused it, if that bypassed every hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The call's number in another tool.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other: u64,
}

/// Recording stops or starts: calls made while it is stopped are neither in the trace nor counted
/// as lost. The same change may be written twice, with the same time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// When, ns since the epoch. `stopped`: from here on calls may be missing. `started`: from here
    /// on none is.
    pub t: u64,
    /// `stopped` or `started`.
    pub state: Word,
}

/// Lost events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The thread that lost them; 0 for threads that got no ring.
    pub tid: u32,
    /// Time of the first lost event, ns since the epoch.
    pub t: u64,
    /// From the first lost event to the last, ns.
    pub dur: u64,
    /// Number of lost events.
    pub lost: u64,
    /// `ring_full`, `no_memory`, `nested_too_deep`, `unreadable`, `interrupted`, `thread_ended`,
    /// `overwritten`, `disk_full`, `disk_error`, `disk_cap`, `file_limit`, `part_removed`.
    pub reason: Word,
}

/// A call in flight when the process died.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InFlight {
    /// The event as far as it was filled in (its `dur` is 0 and it has no status).
    pub event: Box<Record>,
}

/// The event counts of a thread in this file: `produced` = `written` + `lost`. Those of all
/// segments of a trace add up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Linux thread id.
    pub tid: u32,
    /// Hooked calls of the thread that returned.
    pub produced: u64,
    /// Events of this thread in this file.
    pub written: u64,
    /// Events counted in this thread's gaps.
    pub lost: u64,
}

/// The end of the trace, or of a segment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Footer {
    /// The end of recording, ns since the epoch: no time in the trace is later.
    pub t: u64,
    /// `exit` (the process ended normally), `recovered` (it died; the rest was read from the ring
    /// files), `snapshot` (the process still ran), or `rotated` (the trace continues in its next
    /// segment).
    pub end: String,
    /// Calls of hooks that make no event (registrations, look-ups), as (hook id, calls); known only
    /// if `end` is `exit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<(u16, u64)>,
    /// Calls after recording had ended (exit handlers, dying threads); they are not in the trace.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late: u64,
    /// Drift of the clock against the system's real-time clock since the header, parts per million.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_ppm: Option<f64>,
    /// CPU time of the collector thread, ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub collector_ns: u64,
}
