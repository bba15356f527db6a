//! A trace read into memory, with accessors for tests.

use rocshim_trace::{
    Binary, Blas, CallCallers as Callers, Capture, CodeObject, Conv, Copy, Device, Footer, Gap, Gemm, Gpu,
    GpuKernel, GpuTime, Graph, GraphCall, GraphLaunch, Header, Hook, HookTable, Kernel, Launch, Load, Mark,
    Matmul, OF_KERNEL, Record, Recording, Span, Stream, StreamRef, Sync, Thread, parse_line,
};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;

/// Every record of a trace file, in order.
pub struct Trace {
    /// The records.
    pub records: Vec<Record>,
    /// The file's bytes.
    pub bytes: Vec<u8>,
}

/// The lines of a trace file, compressed or not.
///
/// # Errors
/// If it cannot be read.
pub fn read_lines(path: &Path) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    rocshim_drain::lines_of(path, std::fs::File::open(path)?)?.read_to_end(&mut lines)?;
    Ok(lines)
}

macro_rules! all_of {
    ($($(#[$doc:meta])* $name:ident: $kind:ident;)*) => {
        $($(#[$doc])* pub fn $name(&self) -> impl Iterator<Item = &$kind> {
            self.records.iter().filter_map(|record| match record { Record::$kind(it) => { let it: &$kind = it; Some(it) } _ => None })
        })*
    };
}

impl Trace {
    /// Reads a file; every line must be a complete record.
    #[track_caller]
    pub fn read(path: &Path) -> Trace {
        let bytes = read_lines(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(
            bytes.is_empty() || bytes.ends_with(b"\n"),
            "{} ends in the middle of a line",
            path.display()
        );
        let line = |line: &[u8]| {
            parse_line(line).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(line)))
        };
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let mut trace = Trace { records: lines.map(line).collect(), bytes };
        trace.find_hooks();
        trace
    }

    /// Sets the hook of launches without one to that of their kernels.
    fn find_hooks(&mut self) {
        let hooks: HashMap<u32, Option<u16>> =
            self.kernels().map(|kernel| (kernel.id, kernel.hook)).collect();
        for record in &mut self.records {
            let record = match record {
                Record::InFlight(in_flight) => &mut *in_flight.event,
                record => record,
            };
            if let Record::Launch(launch) = record
                && launch.call.hook == OF_KERNEL
            {
                launch.call.hook =
                    hooks[&launch.kernel.expect("a kernel that tells the hook")].expect("a hook");
            }
        }
    }

    /// The handle of a stream.
    pub fn handle_of(&self, stream: StreamRef) -> u64 {
        match stream {
            StreamRef::Default => 0,
            StreamRef::Id(id) => self.streams().find(|stream| stream.id == id).expect("a stream").handle.0,
        }
    }

    all_of! {
        /// The launches.
        launches: Launch;
        /// The GEMMs of rocBLAS and hipBLAS.
        gemms: Gemm;
        /// The GEMMs of hipBLASLt.
        matmuls: Matmul;
        /// The other calls of BLAS libraries.
        blas_calls: Blas;
        /// The convolution calls.
        convs: Conv;
        /// The calls of which only the name is recorded.
        spans: Span;
        /// The marks.
        marks: Mark;
        /// The module loads and unloads.
        loads: Load;
        /// The copies and fills.
        copies: Copy;
        /// The synchronisation calls.
        syncs: Sync;
        /// The streams.
        streams: Stream;
        /// The captures.
        captures: Capture;
        /// The graphs' contents.
        graphs: Graph;
        /// The graph calls other than launches.
        graph_calls: GraphCall;
        /// The graph launches.
        graph_launches: GraphLaunch;
        /// The kernels.
        kernels: Kernel;
        /// The devices.
        devices: Device;
        /// The binaries on chains of callers.
        binaries: Binary;
        /// Callers of the first calls with each shape.
        callers: Callers;
        /// The code objects.
        code_objects: CodeObject;
        /// The hook table in its initial state.
        hook_tables: HookTable;
        /// Every change of a hook's state.
        hooks: Hook;
        /// Whether GPU times are requested from the runtime.
        gpu_times: GpuTime;
        /// The kernel names in its reports.
        gpu_kernels: GpuKernel;
        /// Its reports.
        reports: Gpu;
        /// Changes of recording: stopped, started.
        recordings: Recording;
        /// The losses.
        gaps: Gap;
        /// The threads' counters.
        threads: Thread;
        /// The footers: one, or none if the process died.
        footers: Footer;
        /// The headers.
        headers: Header;
    }

    /// Kernel id → symbol.
    pub fn kernel_names(&self) -> HashMap<u32, &str> {
        self.kernels().map(|kernel| (kernel.id, kernel.name.as_str())).collect()
    }

    /// Hook id → symbol.
    pub fn hook_names(&self) -> HashMap<u16, &str> {
        let armed = self.hook_tables().flat_map(|table| (table.first..).zip(&table.names));
        let changed = self.hooks().map(|hook| (hook.id, &hook.name));
        armed.chain(changed).map(|(id, name)| (id, name.as_str())).collect()
    }

    /// The symbol of the launched kernel.
    #[track_caller]
    pub fn kernel_of(&self, launch: &Launch) -> String {
        let id = launch.kernel.unwrap_or_else(|| panic!("a launch without a kernel: {launch:?}"));
        let kernel = self.kernels().find(|kernel| kernel.id == id);
        kernel.unwrap_or_else(|| panic!("kernel {id} was never defined")).name.to_string()
    }
}
