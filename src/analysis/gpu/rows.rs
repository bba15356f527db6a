//! The rows of the tables of GPU times: shares, shapes, copies and fills, queues.

use crate::durations::Durations;
use crate::evidence::Evidence;
use crate::table::Cell;
use crate::units;
use serde::Serialize;

/// A kernel on the GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GpuKernelRow {
    /// Its demangled name.
    pub kernel: String,
    /// The family that its name matches.
    pub family: Option<&'static str>,
    /// Dispatches of it.
    pub calls: u64,
    /// Time of all of them on the GPU.
    pub total_ns: u64,
    /// `total_ns` as a part of that of all kernels, 0 to 1.
    pub share: f64,
    /// The shortest.
    pub min_ns: u64,
    /// Median duration (accurate to 0.8 %).
    pub median_ns: u64,
    /// 99th percentile (accurate to 0.8 %).
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
    #[serde(skip)]
    pub(crate) durations: Durations,
}

crate::table! {
    /// Each kernel's time on the GPU, most time first.
    GPU_KERNELS: GpuKernelRow = "gpu.kernels", "Kernels on the GPU (as the HIP runtime reported them)",
        "a kernel with its time on the GPU";
    |row|
    count("calls", "calls", "dispatches") => row.calls;
    time("total_ns", "total", "time of all of them on the GPU") => row.total_ns;
    share("share", "share", "that as a part of all kernels' time") => row.share;
    time("median_ns", "median", "half of them took no longer (right to 0.8 %)").no_sum() => row.median_ns;
    time("p99_ns", "p99", "99 of 100 took no longer (right to 0.8 %)").no_sum().optional() => row.p99_ns;
    time("max_ns", "longest", "the longest").no_sum().optional() => row.max_ns;
    kernel("kernel", "kernel", "its name, as people write it").name()
        => Cell::Kernel(row.kernel.clone(), None);
}

/// Dispatches that belong to no intercepted call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PastRow {
    /// The kernel.
    pub kernel: String,
    /// The runtime function that launched it, if known.
    pub function: Option<String>,
    /// Number of dispatches.
    pub dispatches: u64,
}

/// A part of the kernels' time on the GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GpuShareRow {
    /// What is named: `family`, `code object` or `graph`.
    #[serde(skip)]
    pub of: &'static str,
    /// A family, a code object or a graph; absent for what is not known.
    pub name: Option<String>,
    /// Dispatches that the HIP runtime reported.
    pub kernels: u64,
    /// Their time on the GPU.
    pub total_ns: u64,
    /// `total_ns` as a fraction of that of all kernels, 0 to 1.
    pub share: f64,
    /// Half of the kernels took no longer (right to 0.8 %).
    pub median_ns: u64,
    /// 99 of 100 kernels took no longer (right to 0.8 %).
    pub p99_ns: u64,
}

crate::table! {
    /// The kernels' time on the GPU by family, code object or graph, most time first.
    GPU_SHARES: GpuShareRow = "gpu.families", "Shares of the kernels' time on the GPU",
        "a family of kernels, in gpu.code_objects a code object, in gpu.graphs a graph, with its time on the GPU";
    |row|
    count("kernels", "kernels", "dispatches") => row.kernels;
    time("total_ns", "total", "time of all of them on the GPU") => row.total_ns;
    share("share", "share", "that as a part of all kernels' time") => row.share;
    time("median_ns", "median", "half of them took no longer (right to 0.8 %)").no_sum().optional()
        => row.median_ns;
    time("p99_ns", "p99", "99 of 100 took no longer (right to 0.8 %)").no_sum().optional() => row.p99_ns;
    words("of", "of a", "family, code object or graph").in_text().derived() => row.of;
    sentence("name", "name", "the family, code object or graph").name()
        => row.name.clone().unwrap_or_else(|| "unresolved: not known".into());
}

/// A shape of a GEMM or convolution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProductRow {
    /// The library's function.
    pub function: String,
    /// Sizes and types of the GEMM or convolution.
    pub shape: String,
    /// Calls whose kernels ran. A call in a graph counts with each launch of the graph.
    pub calls: u64,
    /// Calls of them that graph launches executed.
    pub in_graphs: u64,
    /// Calls that graph launches executed, and whose kernels are not known: they are not among
    /// `calls`.
    pub unknown: u64,
    /// Kernels that these calls launched.
    pub kernels: u64,
    /// Those kernels that the HIP runtime reported.
    pub reported: u64,
    /// Time of the reported kernels on the GPU.
    pub total_ns: u64,
    /// Operations of all calls by the shape's sizes, in `total_ns`, in 10¹² a second; absent where
    /// the sizes are not known or not all kernels were reported.
    pub tflops: Option<f64>,
    /// `confirmed` if every kernel was reported, `inferred` if some are known by their place in a
    /// graph, else `limited`.
    pub evidence: Evidence,
}

crate::table! {
    /// GEMMs and convolutions by shape, most time first.
    GPU_PRODUCTS: ProductRow = "gpu.products", "GEMMs and convolutions on the GPU",
        "a shape of a GEMM or convolution with its kernels' time on the GPU";
    |row|
    count("calls", "calls", "calls whose kernels ran; in graphs, with each launch of the graph") => row.calls;
    count("in_graphs", "in graphs", "those of them that graph launches executed").if_any() => row.in_graphs;
    count("unknown", "unknown", "further ones, of which it is not known which kernels of a graph were theirs")
        .if_any() => row.unknown;
    count("kernels", "kernels", "kernels that they launched").optional() => row.kernels;
    count("reported", "reported", "those of them that were reported").on_page() => row.reported;
    time("total_ns", "total", "time of these on the GPU") => row.total_ns;
    number("tflops", "TFLOP/s", "operations by the sizes of the shape in that time, 10^12 a second")
        => row.tflops.map(rate);
    evidence("evidence", "evidence", "whether all of their kernels are known") => row.evidence;
    words("shape", "shape", "transposes, m, n, k and type; or the convolution's") => &row.shape;
    words("function", "function", "the library's function").name() => &row.function;
}

/// A rate with two decimals.
fn rate(rate: f64) -> Cell {
    Cell::Shown(format!("{rate:.2}"), (rate * 1e6) as u64)
}

/// Copies or fills of a kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TransferRow {
    /// `h2d`, `d2h`, `d2d`, `fill`, …
    pub command: String,
    /// Copies or fills that the HIP runtime reported.
    pub commands: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Their time on the GPU.
    pub total_ns: u64,
    /// Bytes in `total_ns`, in 10⁹ a second.
    pub gb_per_s: Option<f64>,
}

crate::table! {
    /// Copies and fills by kind, most time first.
    GPU_TRANSFERS: TransferRow = "gpu.transfers", "Copies and fills on the GPU",
        "a kind of copy or fill with its time on the GPU";
    |row|
    count("commands", "commands", "copies or fills") => row.commands;
    bytes("bytes", "bytes", "bytes of all of them") => row.bytes;
    time("total_ns", "total", "time of all of them on the GPU") => row.total_ns;
    number("gb_per_s", "GB/s", "bytes in that time, 10^9 a second") => row.gb_per_s.map(rate);
    words("command", "kind", "h2d, d2h, d2d, fill, …").name() => &row.command;
}

/// A queue of a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GpuQueueRow {
    /// The process that uses the queue.
    pub pid: u32,
    /// The driver's node number of the device.
    pub device: u32,
    /// The runtime's number of the queue.
    pub queue: u64,
    /// Kernels, copies and fills.
    pub commands: u64,
    /// Time in which at least one of them ran, ns.
    pub busy_ns: u64,
    /// From the begin of the first command to the end of the last, ns.
    pub span_ns: u64,
    /// Times in which none ran, between the first and the last.
    pub pauses: u64,
    /// Their sum, ns.
    pub pauses_ns: u64,
    /// The median pause, accurate to 0.8 %; absent without pauses.
    pub median_pause_ns: Option<u64>,
    /// The longest pause.
    pub longest_pause_ns: u64,
    /// Part of `pauses_ns` before the return of the call that launched the next command.
    pub not_launched_ns: u64,
    /// Part of `pauses_ns` after the return of that call: the command waited on the GPU.
    pub held_ns: u64,
    /// Part of `pauses_ns` where that call is not known.
    pub unknown_ns: u64,
    /// What the host did in `not_launched_ns`, most time first.
    pub host: Vec<PauseShare>,
    /// How certain the three parts and `host` are.
    pub evidence: Evidence,
    /// The premise that does not hold; absent if all do.
    pub why: Option<&'static str>,
}

crate::table! {
    /// The queues of each device.
    GPU_QUEUES: GpuQueueRow = "gpu.queues", "Queues of the GPU", "a queue of a device";
    |row|
    number("pid", "process", "its process").if_differs() => row.pid;
    number("device", "device", "the driver's node number of the device") => row.device;
    number("queue", "queue", "the runtime's number of the queue") => row.queue;
    count("commands", "commands", "kernels, copies and fills") => row.commands;
    time("busy_ns", "busy", "while one of them ran") => row.busy_ns;
    share("share", "share", "that as a part of the time from the first to the end of the last").derived()
        => row.busy_ns as f64 / row.span_ns.max(1) as f64;
    time("pauses_ns", "pauses", "while none ran, between the first and the last") => row.pauses_ns;
    time("median_pause_ns", "median", "half of the pauses were no longer (right to 0.8 %)").no_sum().optional()
        => row.median_pause_ns;
    time("longest_pause_ns", "longest", "the longest pause").no_sum().optional() => row.longest_pause_ns;
    time("not_launched_ns", "not launched", "of the pauses: the call that asks for the next had not returned")
        => row.not_launched_ns;
    time("held_ns", "held", "of the pauses: it had, and the command waited on the GPU") => row.held_ns;
    words("host", "the host meanwhile", "what the launching thread was in while the next was not launched")
        .on_page() => row.host_in_words();
    sentence("why", "why", "the premise that does not hold where it is limited").on_page() => row.why;
    evidence("evidence", "evidence", "how sure the parts of the pauses are") => row.evidence;
}

impl GpuQueueRow {
    /// `hipStreamSynchronize 1.20 ms, outside hooked calls 300 µs`.
    pub fn host_in_words(&self) -> String {
        let part = |share: &PauseShare| {
            let function = share.function.as_deref().unwrap_or("outside hooked calls");
            format!("{function} {}", units::time(share.total_ns))
        };
        self.host.iter().map(part).collect::<Vec<_>>().join(", ")
    }
}

/// What the host did in the pauses of a queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PauseShare {
    /// The hooked function that the launching thread was in; absent: outside all of them.
    pub function: Option<String>,
    /// Time in that function during the pauses.
    pub total_ns: u64,
}

/// How long kernels waited from the entry of their launch call to their begin on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchDelay {
    /// Kernels, the first of each graph launch among them.
    pub kernels: u64,
    /// The median delay, accurate to 0.8 %.
    pub median_ns: u64,
    /// The 99th percentile, accurate to 0.8 %.
    pub p99_ns: u64,
    /// The longest delay.
    pub max_ns: u64,
    /// The sum of all delays.
    #[serde(skip)]
    pub total_ns: u64,
}

/// A launch, and the begin of its first kernel; times are Unix ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchArrow {
    /// The process.
    pub pid: u32,
    /// The launching thread.
    pub tid: u32,
    /// The driver's node number of the device.
    pub device: u32,
    /// The runtime's number of the queue.
    pub queue: u64,
    /// Entry of the call.
    pub launched_ns: u64,
    /// Begin of the kernel on the GPU.
    pub begin_ns: u64,
}

/// Two queues of a device that were busy at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OverlapRow {
    /// The process that uses both.
    pub pid: u32,
    /// The driver's node number of the device.
    pub device: u32,
    /// The runtime's numbers of the two queues.
    pub queues: [u64; 2],
    /// While both were busy, ns.
    pub total_ns: u64,
}

crate::table! {
    /// Queues that were busy at the same time.
    GPU_OVERLAPS: OverlapRow = "gpu.overlaps", "Queues that were busy at the same time",
        "two queues of a device that were busy at the same time";
    |row|
    number("pid", "process", "the process that uses both") => row.pid;
    number("device", "device", "the driver's node number of the device") => row.device;
    words("queues", "queues", "the runtime's numbers of the two")
        => format!("{} and {}", row.queues[0], row.queues[1]);
    time("total_ns", "both busy", "while both were busy") => row.total_ns;
}
