//! Every record type of the trace, with its fields and their units.

use crate::tensile::Tensile;
use crate::{Arg, Hex, StreamRef, Word, dims};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of a trace. Large records are boxed: what is handed from place to place at every launch stays small.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// First line of every file: the process, the clock, the recorder.
    Header(Header),
    /// A ROCm library found in the process.
    Library(Library),
    /// A way in to the process's libraries beside the exported symbols.
    Interception(Interception),
    /// An object that passes the hooks by.
    Bypass(Bypass),
    /// Functions of a library that are hooked.
    HookTable(HookTable),
    /// A hooked function: how it is seen and which file it is bound to.
    Hook(Hook),
    /// Device code that was registered or loaded.
    CodeObject(CodeObject),
    /// A device that the program asked about.
    Device(Device),
    /// A kernel, defined before its first launch.
    Kernel(Box<Kernel>),
    /// A stream, defined before its first use.
    Stream(Stream),
    /// A kernel launch, whichever API made it.
    Launch(Launch),
    /// A matrix product of a BLAS library.
    Gemm(Box<Gemm>),
    /// A matrix product of hipBLASLt.
    Matmul(Box<Matmul>),
    /// A call of a BLAS library that makes no product.
    Blas(Box<Blas>),
    /// A convolution call of MIOpen: search, run, or immediate mode.
    Conv(Box<Conv>),
    /// A call of a library that is known by its name: a transform, a solve, a collective, …
    Span(Span),
    /// A mark or range of the program's own (roctx, rocshim.h).
    Mark(Mark),
    /// A module being loaded or unloaded.
    Load(Load),
    /// A copy, or memory being set.
    Copy(Copy),
    /// A call that waits, or that orders streams.
    Sync(Sync),
    /// A capture of streams into a graph.
    Capture(Capture),
    /// What a graph does when it is launched.
    Graph(Graph),
    /// A graph being captured, instantiated or updated.
    GraphCall(GraphCall),
    /// A graph being launched.
    GraphLaunch(GraphLaunch),
    /// Whether and how the HIP runtime is asked for GPU times.
    GpuTime(GpuTime),
    /// The name of a kernel that the runtime reports.
    GpuKernel(GpuKernel),
    /// A report of the runtime: when a command began and ended on the GPU.
    Gpu(Gpu),
    /// Recording being stopped, or begun again.
    Recording(Recording),
    /// Events that were lost, at their place.
    Gap(Gap),
    /// A call that had not returned when the process died.
    InFlight(InFlight),
    /// A thread's account, written when it has ended or at the end of the trace.
    Thread(Thread),
    /// Last line of a whole file.
    Footer(Footer),
    /// A type that this version does not know.
    #[serde(other)]
    Unknown,
}

impl Record {
    /// What every event has; `None` for what is no event.
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
    /// Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat): tells a reused pid.
    pub start_ticks: u64,
    /// The executable.
    pub exe: String,
    /// The command line.
    pub argv: Vec<String>,
    /// The environment variables that steer ROCm, ggml, PyTorch and rocshim; no others are recorded.
    pub env: BTreeMap<String, String>,
    /// The host's name.
    pub host: String,
    /// `tsc` (invariant time-stamp counter) or `clock_gettime` (fallback).
    pub clock: String,
    /// Ticks of that clock in a second.
    pub tick_hz: u64,
    /// What time 0 of the trace is, in nanoseconds since 1970 as a decimal string.
    pub epoch: String,
    /// The folder of the ring files; it exists as long as they hold events that are not in this file.
    pub rings: String,
    /// Why the trace is not where `ROCSHIM_OUT` asked for it, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Which part of the trace this file is, from 2 on; 0 (absent) for the first. The definitions that a part needs are in
    /// it again.
    #[serde(default, skip_serializing_if = "is_zero_32")]
    pub part: u32,
    /// The first part that is left, from 2 on; 0 (absent) where none was removed.
    #[serde(default, skip_serializing_if = "is_zero_32")]
    pub oldest: u32,
}

impl Header {
    /// Which part of the trace this file is, from 1 on.
    pub fn part(&self) -> u32 {
        self.part.max(1)
    }
}

/// A ROCm library in the process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Library {
    /// Referred to by `hook.library`.
    pub id: u32,
    /// Its file.
    pub path: String,
    /// Its soname, where the file could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soname: Option<String>,
    /// Its GNU build id in hex, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Functions of its interface that it exports: C functions by the name that those of the library begin with. Absent
    /// where the file could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<u64>,
    /// Those of them that are hooked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooked: Option<u64>,
}

/// A way in beside the exported symbols. Written for each at the start, and again for every dispatch table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interception {
    /// `dlsym` (and `dlvsym`), `get_proc_address` (`hipGetProcAddress` and its kin), `table` (HIP's dispatch tables).
    pub point: String,
    /// `open`, `closed` (by `ROCSHIM_INTERCEPT`), or `waiting` (no library has handed over a table).
    pub state: String,
    /// Which table: `hip`, `hip_compiler`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The [`Library`] that handed it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<u32>,
    /// How many functions the table has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u32>,
    /// How many of them are hooked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<u32>,
}

/// An object whose calls of exported symbols do not reach the hooks. What it calls through HIP's dispatch table is seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bypass {
    /// What the program asked for.
    pub path: String,
    /// `deepbind`: opened with RTLD_DEEPBIND, so that its own libraries come before ours. `namespace`: opened with dlmopen.
    pub how: String,
}

/// Functions of one library that are hooked: armed by preload until a [`Hook`] says otherwise. Written at the start, in
/// several lines for a library with many.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HookTable {
    /// Their ROCm library, without version: `libamdhip64.so`.
    pub of: String,
    /// The id of the first; the others follow it in order.
    pub first: u16,
    /// Their symbols, as exported.
    pub names: Vec<String>,
}

impl HookTable {
    /// Each of them, armed.
    pub fn hooks(&self) -> impl Iterator<Item = Hook> {
        (self.first..).zip(&self.names).map(|(id, name)| Hook::armed(id, name, &self.of))
    }
}

/// A hooked function by one way in. Written when its state changes or an interception point gives it out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hook {
    /// Referred to by `hook` of the events.
    pub id: u16,
    /// The function's symbol, as exported.
    pub name: String,
    /// Its ROCm library, without version: `libamdhip64.so`.
    pub of: String,
    /// The way in: `preload` (the exported symbol), `dlsym`, `get_proc_address`, `table`; joined by `+` where several led
    /// to one.
    pub point: String,
    /// `armed` (exported, not called yet), `bound` (called, the real function was found), `unbound` (called, not found), `off`
    /// (left out, as `ROCSHIM_RECORD` asks).
    pub state: String,
    /// The [`Library`] that holds the real function, once bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<u32>,
    /// Why it is unbound or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Hook {
    /// A function of library `of` as it is at the start: exported, not called yet.
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
    /// `fat_binary` (registered by a library or program), `file` (hipModuleLoad), `memory` (hipModuleLoadData).
    pub source: String,
    /// The file that holds it: the registering library, or the module's file. Absent for `memory`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Fat binary: its number among those of that file, in order of registration, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u32>,
    /// Fat binary: where it starts in that file, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// `elf`, `bundle`, `compressed_bundle`, or `opaque`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Length of the image in bytes, where its format tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// XXH3-128 of those bytes, for an image that was loaded from memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xxh3: Option<String>,
    /// The GPU targets it carries: `gfx1100`, `gfx90a:sramecc+:xnack-`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// For an image from memory: the file of rocBLAS's or hipBLASLt's folder that has its size and its XXH3-128.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Whether that file (or the module's own, `path`) holds solutions of Tensile's fallback library, as its name says:
    /// `…_fallback_gfx900.hsaco`. Absent where the name does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<bool>,
    /// Why no such file was found for an image from memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmatched: Option<String>,
    /// Its kernels, the same number for each target. Absent where that is not so, and for a compressed bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernels: Option<u32>,
}

/// A device, by what the program's own question was answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Its number in the process.
    pub ordinal: i32,
    /// Its target: `gfx1100`, `gfx90a:sramecc+:xnack-`.
    pub gfx: String,
    /// What it is sold as.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The function that said so.
    pub how: String,
}

/// A kernel of a code object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Referred to by `launch.kernel`.
    pub id: u32,
    /// The symbol, as the program or the compiler named it.
    pub name: String,
    /// The name as people write it, where the symbol is a mangled C++ one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// The [`Hook`] by which it was first launched: that of its launches which tell none themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<u16>,
    /// The [`CodeObject`] it comes from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_object: Option<u32>,
    /// What the name says, where it is one of Tensile's or TensileLite's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensile: Option<Tensile>,
    /// The target of its code. What follows is what the code object says for this target, which is that of the devices
    /// that the program asked about; absent where it could be one of several: then only what holds for all of them is
    /// told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Vector registers of a work-item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vgprs: Option<u32>,
    /// Accumulation registers of a work-item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agprs: Option<u32>,
    /// Scalar registers of a wavefront.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sgprs: Option<u32>,
    /// Vector registers that the compiler kept in memory for want of room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vgpr_spills: Option<u32>,
    /// Scalar registers that it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sgpr_spills: Option<u32>,
    /// Static LDS of a work-group, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lds: Option<u32>,
    /// Scratch of a work-item, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<u32>,
    /// Work-items of a wavefront.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wavefront: Option<u32>,
    /// All arguments, hidden ones too, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernarg: Option<u32>,
    /// The largest block, work-items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_block: Option<u32>,
    /// The explicit arguments, in the order of `launch.args`. Absent where they are not known; empty for a kernel that
    /// has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<Argument>>,
}

/// An explicit argument of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// Where it lies among the arguments, bytes.
    pub offset: u32,
    /// Its length, bytes.
    pub size: u32,
    /// `by_value`, `global_buffer`, …: the code object's word.
    pub kind: String,
    /// Its name, where the code object tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its type: the code object's word, or, where it has none, the kernel name's own parameter. Absent where neither
    /// tells: then its value is read by its kind and size.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
}

/// What every event has: who, where in the call tree, when, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Linux thread id.
    pub tid: u32,
    /// The call's number in its thread, from 1, in the order in which calls were entered.
    pub id: u64,
    /// The enclosing hooked call of the same thread. Its own line comes later: lines of one thread are in the order in
    /// which calls returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// When the call was entered, ns since the epoch.
    pub t: u64,
    /// How long the program's own call took, ns.
    pub dur: u64,
    /// The [`Hook`] that saw it; absent ([`OF_KERNEL`]) for a launch that came by the hook of its [`Kernel`].
    #[serde(default = "of_kernel", skip_serializing_if = "is_of_kernel")]
    pub hook: u16,
    /// What the call returned; absent for success (0).
    #[serde(default, skip_serializing_if = "is_success")]
    pub status: i32,
    /// The call was left by a C++ exception, not by a return.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwound: bool,
}

/// In place of a launch's hook: it is [`Kernel::hook`].
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

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// A stream. A handle that is given out again after its stream was seen being destroyed is another one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Referred to by `stream` of the events; never 0.
    pub id: u32,
    /// What the program calls it (`hipStream_t`).
    pub handle: Hex,
}

/// A kernel launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// The [`Kernel`]; absent when the handle was never seen being made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<u32>,
    /// The handle or host stub, where the kernel is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Hex>,
    /// The grid in blocks (x, y, z), whichever unit the API takes: work-items are divided by the block, rounded up. Of this
    /// and what follows, ones at the end are left out; absent for one block.
    #[serde(default = "dims::one", skip_serializing_if = "dims::is_one", with = "dims")]
    pub grid: [u32; 3],
    /// The block in work-items (x, y, z).
    #[serde(with = "dims")]
    pub block: [u32; 3],
    /// The grid in work-items as it was passed, for the APIs that take it so (`hipExtModuleLaunchKernel`, `hipHcc…`).
    #[serde(default, skip_serializing_if = "Option::is_none", with = "dims::option")]
    pub items: Option<[u32; 3]>,
    /// Dynamic LDS in bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lds: u64,
    /// The stream; absent for the default one (NULL).
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The start and stop events of the Ext forms, where one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<[Hex; 2]>,
    /// The flags argument, where the API has one and it is not 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flags: u64,
    /// Launched as cooperative: by a function for that, or by an attribute.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cooperative: bool,
    /// The [`Capture`] that recorded it into a graph: it was not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
    /// The kernel's explicit arguments in order, by its [`Kernel::args`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Arg>,
    /// How many more it has that were not recorded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub args_cut: u64,
    /// The buffer of arguments of a kernel that is not known, byte for byte, in hex; its first 376 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub args_raw: String,
}

/// One matrix of a [`Gemm`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// Where it lies (for the batched form: the array of pointers).
    pub ptr: Hex,
    /// Element type: `f16_r`, `bf16_r`, `f32_r`, `f8_e4m3`, … or the number where it is unknown.
    #[serde(rename = "type")]
    pub element: Word,
    /// Leading dimension, in elements; in any order, from one column to the next.
    pub ld: i64,
    /// Elements from one batch to the next; strided batched form only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<i64>,
    /// Elements from one row to the next; in any order only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_stride: Option<i64>,
}

/// A matrix product of rocBLAS or hipBLAS: D = alpha * op(A) * op(B) + beta * C.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gemm {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// `plain`, `batched`, `strided_batched`, or `any_order` (rocblas_gemm_ext2: one product whose matrices have any row
    /// and column strides).
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
    /// Number of products; 1 for the plain form.
    pub batch: i64,
    /// A, as passed.
    pub a: Matrix,
    /// B, as passed.
    pub b: Matrix,
    /// C, as passed.
    pub c: Matrix,
    /// D, as passed; the same as C where the function has no D (all of hipBLAS, the typed ones of rocBLAS).
    pub d: Matrix,
    /// Where alpha lies (host or device, by the handle's pointer mode; never read).
    pub alpha: Hex,
    /// Where beta lies.
    pub beta: Hex,
    /// The type in which it is computed: an element type (rocBLAS; hipBLAS up to ROCm 6; the typed functions, by their
    /// name), a compute type of hipBLAS (`32f`, `32f_fast_16f`, …), or one of rocBLAS's ex3 (`f8_f8_f32`, …).
    pub compute: Word,
    /// `standard` or `solution_index` (rocBLAS), `default` (hipBLAS), `none` (the function takes no such argument), or the
    /// number.
    pub algo: Word,
    /// The solution index that was asked for (meaningful with `solution_index`).
    pub solution: i32,
    /// The flags argument.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flags: u64,
    /// The stream that the handle was set to (0: the default one); absent where that was not seen, or changed so often
    /// that it is no longer told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamRef>,
    /// Where the scalars lie, as the program last set it (`host`, `device`); absent where it has set nothing, so for
    /// those below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer_mode: Option<Word>,
    /// Whether kernels may use atomic operations, which some solutions do: `allowed`, `not_allowed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomics: Option<Word>,
    /// Whether f32 may be computed in xf32: `default`, `xf32_xdl`, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub math_mode: Option<Word>,
    /// What the choice of a solution is to favour: `default`, `device_efficiency`, `cu_efficiency`, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Word>,
    /// The [`Capture`] that recorded it into a graph: it was not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// One matrix of a [`Problem`]; what is not known of it is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LtMatrix {
    /// Where it lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptr: Option<Hex>,
    /// Element type, in the words of [`Matrix`].
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub element: Option<Word>,
    /// Leading dimension, in elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ld: Option<i64>,
    /// Elements from one batch to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<i64>,
    /// `col`, `row`, `col16_4r16`, …, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Word>,
}

/// The problem of a product whose arguments are descriptors, or of a question about products. What was told by a
/// descriptor that was not seen being made, or by a C++ object, is absent.
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
    /// Number of products.
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
    /// Where alpha lies; never read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Hex>,
    /// Where beta lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<Hex>,
    /// `host`, `alpha_device_vector_beta_host`, or the number: 1 is the device, but in ROCm 6.0 it was the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer_mode: Option<Word>,
    /// The type in which it is computed: `32f`, `32f_fast_16f`, …, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute: Option<Word>,
    /// Element type of alpha and beta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_type: Option<Word>,
    /// What is done to the result: `default` (nothing), `relu`, `bias`, `gelu_aux_bias`, …, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epilogue: Option<Word>,
    /// Where the bias lies, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<Hex>,
    /// Its element type, where one was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias_type: Option<Word>,
    /// Where A's scale lies, where there is one; so for B, C and D.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_a: Option<Hex>,
    /// B's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_b: Option<Hex>,
    /// C's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_c: Option<Hex>,
    /// D's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_d: Option<Hex>,
    /// How A's scale applies: `scalar_32f`, `vec32_ue8m0`, …, or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_mode_a: Option<Word>,
    /// How B's does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_mode_b: Option<Word>,
    /// Where the epilogue's second output or input lies, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aux: Option<Hex>,
    /// Its leading dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aux_ld: Option<i64>,
}

/// A matrix product of hipBLASLt: D = epilogue(alpha * op(A) * op(B) + beta * C).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matmul {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// The library handle (hipblasLtMatmul).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Hex>,
    /// The C++ object that runs (hipblaslt_ext::GemmInstance::run): what it runs was told by [`Blas`] calls before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Hex>,
    /// What is computed.
    #[serde(flatten)]
    pub problem: Problem,
    /// The index of the algorithm that was given; absent where none was and the library picks, where it was given to the
    /// instance before, where the call failed, and where the descriptor is not known or of ROCm 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algo: Option<i32>,
    /// Workspace given to the call, bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub workspace: u64,
    /// The stream; absent for the default one (NULL).
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The [`Capture`] that recorded it into a graph: it was not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A call of a BLAS library that makes no product.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Blas {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// `create` and `destroy` (a handle), `initialize` (rocblas_initialize), `solutions` (rocblas_gemm…_get_solutions),
    /// `heuristic` (hipblasLtMatmulAlgoGetHeuristic), `transform` (hipblasLtMatrixTransform: C = alpha * op(A) + beta *
    /// op(B)); of a C++ object of hipBLASLt, `problem` (Gemm::setProblem) and `prepare` (GemmInstance::initialize).
    pub action: Word,
    /// The library handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Hex>,
    /// The C++ object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Hex>,
    /// The form of the products that `solutions` asks about; absent where it asks about types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Word>,
    /// What it is about.
    #[serde(flatten)]
    pub problem: Problem,
    /// The flags argument of `solutions`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flags: u64,
    /// The index of the algorithm that was given, in `prepare`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algo: Option<i32>,
    /// How many results were asked for, in `heuristic`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub requested: u64,
    /// How many there are; absent where the call does not tell (`solutions` that fills an array) or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<u64>,
    /// The indices of the first of them (at most 8), in `heuristic`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solutions: Vec<i32>,
    /// Workspace that the first of them needs, bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub needs: u64,
    /// The stream, of `transform` and `prepare`; absent for the default one (NULL).
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The [`Capture`] that recorded it into a graph: it was not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A tensor of a convolution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tensor {
    /// Element type: `f32`, `f16`, `bf16`, … or the number.
    #[serde(rename = "type")]
    pub element: Word,
    /// Lengths, outermost first (n, c, h, w).
    pub dims: Vec<i32>,
    /// Strides in elements, in the same order.
    pub strides: Vec<i32>,
}

impl Tensor {
    /// Its lengths in a word, `1x3x224x224`.
    pub fn lengths(&self) -> String {
        self.dims.iter().map(i32::to_string).collect::<Vec<_>>().join("x")
    }
}

/// What MIOpen offered for a convolution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConvResult {
    /// `gemm`, `direct`, `fft`, `winograd`, `transpose_gemm`, `implicit_gemm`, or the number. Of Find 2.0, which returns
    /// none: the solver's by the id table, or `unknown`.
    pub algorithm: Word,
    /// Measured or estimated time, ms, as MIOpen gave it; absent where that is no finite number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<f32>,
    /// Workspace it needs, bytes.
    pub workspace: u64,
    /// The solver id; immediate mode and Find 2.0 only (`find` returns none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution_id: Option<u64>,
    /// The solver's name by the id table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
}

/// A convolution call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conv {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// `find`, `run`; of immediate mode `get_solution`, `compile_solution`, `immediate`; of Find 2.0 `find_solutions`,
    /// `run_solution`; of fusion plans `compile_plan`, `execute_plan`.
    pub action: Word,
    /// `forward`, `backward_data`, `backward_weights`; `unknown` for a solution that was loaded from bytes.
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
    /// `convolution`, `transpose`, `group`, `depthwise`, or the number; `unknown` where the descriptor could not be read.
    pub mode: Word,
    /// What the fusion plan or fused problem does, in this order: `convolution`, `bias`, `activation`, `batch_norm`,
    /// `softmax`, `mha`; empty for a convolution alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// The stream of the MIOpen handle; absent for the default one (NULL) and where it could not be asked for.
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The problem that is searched for, or the solution or fusion plan that is run.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub subject: Hex,
    /// The algorithm asked for, in `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<Word>,
    /// The solver id, in immediate mode and of a solution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution_id: Option<u64>,
    /// The solver's name by the id table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// `find` with `exhaustiveSearch` set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exhaustive: bool,
    /// Workspace given to the call, bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub workspace: u64,
    /// How many results MIOpen returned.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub returned: u64,
    /// The first of them (at most 8).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ConvResult>,
    /// The [`Capture`] that recorded it into a graph: it was not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A call that is known by its name; a collective or message of RCCL tells what it moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// Elements, as passed: those that each rank gives (`ncclAllGather`) or gets (`ncclReduceScatter`), or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Their type: `f16`, `bf16`, `f32`, … or the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datatype: Option<Word>,
    /// How they are combined: `sum`, `prod`, `max`, `min`, `avg`, or the number of an operation that the program made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Word>,
    /// The other rank of a message, or the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<i32>,
    /// The communicator.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub comm: Hex,
    /// The stream that was passed, or that of the MIOpen handle; absent for the default one (NULL) and where the function
    /// takes none.
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// A problem, solution or fusion plan of MIOpen that is no convolution: what it does, as in [`Conv::operations`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// … the solver id of the solution that is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution_id: Option<u64>,
    /// … the solver's name by the id table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// The [`Capture`] that recorded it into a graph: it was not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// What the program says about itself through roctx or rocshim.h.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// `mark`; `push` and `pop` (ranges of a thread, one in another); `start` and `stop` (ranges with an id, across
    /// threads); `pause` and `resume` (what the program asks of profilers; we go on); `name_thread`, `name_agent`,
    /// `name_device`, `name_stream`.
    pub action: Word,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The text was longer than what is kept of one (432 bytes).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The level that the library returned for a `push` or `pop`: 0 for the outermost range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<i32>,
    /// `start`, `stop`: the range's id. `pause`, `resume`: the thread (absent: all). `name_…`: the handle, or the device's
    /// number.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub value: Hex,
}

/// A module load or unload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// `load` or `unload`.
    pub action: Word,
    /// The module handle; absent where the load failed.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub module: Hex,
    /// The [`CodeObject`] that was loaded, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_object: Option<u32>,
}

/// A copy, or memory being set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Copy {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// `copy` or `memset`.
    pub action: Word,
    /// The direction of a copy: `h2h`, `h2d`, `d2h`, `d2d`, `d2d_no_cu`, `default` (the runtime finds out), `peer` (between
    /// devices), or the number. Absent where the arguments do not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Word>,
    /// Bytes copied or set in all; absent where an array's elements are counted instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Where to: an address, or what `via` says.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub dst: Hex,
    /// Where from: an address, or what `via` says.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub src: Hex,
    /// The stream; absent for the default one (NULL).
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The form of the function that does not wait.
    #[serde(default, rename = "async", skip_serializing_if = "std::ops::Not::not")]
    pub is_async: bool,
    /// What one end of a copy is, where it is not plain memory: `symbol` (the host's handle of a device variable), `array`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Word>,
    /// The value that each element is set to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u32>,
    /// Bytes of an element that is set, where it is not 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<u8>,
    /// Width, height and depth, for two and three dimensions: width in bytes, or in elements where `bytes` is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<[u64; 3]>,
    /// Bytes from row to row, for two and three dimensions: where to, where from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pitches: Option<[u64; 2]>,
    /// The devices of a copy between devices: where to, where from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<[u32; 2]>,
    /// The [`Capture`] that recorded it into a graph: it was not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A call that waits (`device`, `stream`, `event`), or that orders streams by an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sync {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// `device`, `stream`, `event`: the host waits for it; `wait_event`: the stream waits for the event; `record_event`:
    /// the event stands for what is in the stream by now.
    pub action: Word,
    /// The stream; absent for the default one (NULL) or none.
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The event.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub event: Hex,
    /// The flags argument, where it is not 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flags: u64,
    /// The [`Capture`] that recorded it into a graph: it was not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A capture: what is launched and copied on its streams goes into a graph instead of being executed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// Referred to by `capture` of the events and graphs.
    pub id: u32,
    /// When it began, ns since the epoch.
    pub t: u64,
    /// The thread that began it.
    pub tid: u32,
    /// The stream that it began on.
    pub stream: StreamRef,
    /// What other calls are allowed meanwhile: `global`, `thread_local`, `relaxed`, or the number.
    pub mode: Word,
}

/// A kernel of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GraphKernel {
    /// The [`Kernel`]; absent when the handle was never seen being made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<u32>,
    /// The handle or host stub, where the kernel is not known.
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

/// What a graph does when it is launched. Each launch executes every kernel of it once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Graph {
    /// Referred to by `graph` of the events. Instantiated graphs that do the same share one.
    pub id: u32,
    /// The [`Capture`] that it came from; absent where it was built node by node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
    /// All its kernels are listed.
    pub complete: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Its kernels in the order in which the runtime lists its nodes, those of child graphs in their places.
    pub kernels: Vec<GraphKernel>,
    /// Kernels that are switched off (`hipGraphNodeSetEnabled`) and not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub off: u64,
    /// Its other nodes, counted by kind: `memcpy`, `memset`, `host`, `empty`, …, or the number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, u64>,
}

/// A capture beginning or ending, or a graph being instantiated or updated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphCall {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// `begin_capture`, `end_capture`, `instantiate` or `update`.
    pub action: Word,
    /// The stream of a capture.
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
    /// The graph's handle (`hipGraph_t`): captured, or given to be instantiated.
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub source: Hex,
    /// The handle of the instantiated graph (`hipGraphExec_t`).
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub exec: Hex,
    /// The [`Graph`] that it does from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<u32>,
    /// The [`Capture`] that begins or ends, or that the graph came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<u32>,
}

/// A graph being launched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphLaunch {
    /// Who and when.
    #[serde(flatten)]
    pub call: Call,
    /// The [`Graph`]; absent when the handle was never seen being made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<u32>,
    /// The handle of the instantiated graph (`hipGraphExec_t`).
    #[serde(default, skip_serializing_if = "Hex::is_zero")]
    pub exec: Hex,
    /// The stream; absent for the default one (NULL).
    #[serde(default, skip_serializing_if = "StreamRef::is_default")]
    pub stream: StreamRef,
}

/// Whether a copy of the HIP runtime is asked for GPU times from here on, and what it is known to tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuTime {
    /// From when on, ns since the epoch.
    pub t: u64,
    /// `on`, `off`, or `unavailable`: this copy cannot be asked.
    pub state: Word,
    /// The [`Library`] of the runtime.
    pub library: u32,
    /// The functions in the runtime's own list.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub apis: u64,
    /// The release that has this list, whose layout is known: reports name their calls. Absent where it is not: they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<Word>,
    /// Somebody else is registered too, and gets every report.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Why it cannot be asked, or cannot tell calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The name of a kernel that the runtime reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuKernel {
    /// Referred to by `kernel` of [`Gpu`]; not the id of a [`Kernel`].
    pub id: u32,
    /// The symbol.
    pub name: String,
}

/// A report of the HIP runtime about a command that the GPU has done, on the thread of the runtime that saw it complete. Its
/// `t` is when the report came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Who reports and when.
    #[serde(flatten)]
    pub call: Call,
    /// `dispatch`, `copy` (a copy or fill, by a kernel of the runtime's own or without one), `barrier`; `link`: no report, the
    /// call `of` goes by the number `other` of somebody else; `unread`: a report that was not understood.
    pub op: Word,
    /// The kind of command: `kernel`, `graph`, `h2d`, `d2h`, `d2d`, `fill`, …, or the runtime's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Word>,
    /// When it began on the GPU, ns since the epoch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub begin: u64,
    /// How long it took on the GPU, ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub busy: u64,
    /// When it began by the runtime's own clock, ns: as the runtime reported it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub raw: u64,
    /// How far `begin` may be off because of how the runtime's clock was read, ns; absent below 1,000.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub error: u64,
    /// The device, as the driver numbers its nodes.
    #[serde(default, skip_serializing_if = "is_zero_32")]
    pub device: u32,
    /// The queue, as the runtime numbers those of the device.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub queue: u64,
    /// The [`GpuKernel`] that was dispatched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<u32>,
    /// Bytes copied or filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The call that asked for it: its thread and its id. Absent for what no recorded call has asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<(u32, u64)>,
    /// Which of the dispatches that were reported for this call, from 0: those of a launch of a graph are many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub place: u64,
    /// The function of the runtime that asked for it, which was called past every hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The number by which somebody else knows the call.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other: u64,
}

/// Recording is stopped, or begins again: between the two, calls that were made are not in the trace and not counted as lost.
/// The same change may be told twice, by a line with the same time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// `stopped`: from here on calls may be missing. `started`: from here on none is. ns since the epoch.
    pub t: u64,
    /// `stopped` or `started`.
    pub state: Word,
}

/// Lost events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The thread that lost them; 0 for threads that could be given no ring.
    pub tid: u32,
    /// When the first was lost, ns since the epoch.
    pub t: u64,
    /// From the first lost to the last, ns.
    pub dur: u64,
    /// How many.
    pub lost: u64,
    /// `ring_full`, `no_memory`, `nested_too_deep`, `unreadable`, `interrupted`, `thread_ended`, `overwritten`, `disk_full`,
    /// `disk_error`, `disk_cap`, `file_limit`, `part_removed`.
    pub reason: Word,
}

/// A call in flight when the process died.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InFlight {
    /// The event as far as it had come (its `dur` is 0 and it has no status).
    pub event: Box<Record>,
}

/// A thread's account in this file: `produced` = `written` + `lost`. Those of all parts of a trace add up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Linux thread id.
    pub tid: u32,
    /// Calls that the thread made through hooks and that had returned.
    pub produced: u64,
    /// Events of this thread in this file.
    pub written: u64,
    /// Events counted in its gaps.
    pub lost: u64,
}

/// The end of the trace, or of a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Footer {
    /// The end of what was recorded, ns since the epoch: no time in the trace is later.
    pub t: u64,
    /// `exit` (the process ended in order), `recovered` (it died; the rest was read from the ring files), `snapshot` (it
    /// ran on; this is what there was then), or `rotated` (the trace goes on in its next part).
    pub end: String,
    /// Calls of the hooks that make no event of their own (registrations, look-ups), as (hook id, calls); known only where
    /// `end` is `exit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<(u16, u64)>,
    /// Calls that came after recording had ended (exit handlers, dying threads); they are not in the trace.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late: u64,
    /// How far the clock ran from the system's real-time clock since the header, in parts per million.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_ppm: Option<f64>,
    /// CPU time that the collector thread used, ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub collector_ns: u64,
}
