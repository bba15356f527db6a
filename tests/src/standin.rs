//! Reads the stand-in libraries' log: the calls that reached them, counted independently of the
//! trace.

use std::path::Path;

/// A launch that reached libamdhip64.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Launch {
    /// Linux thread id.
    pub tid: u32,
    /// The launch's number in its thread, from 1.
    pub number: u64,
    /// The symbol that was called.
    pub symbol: String,
    /// The kernel; `-` if none.
    pub kernel: String,
    /// As passed: blocks, or work-items for the Ext and Hcc forms.
    pub grid: [u32; 3],
    /// In work-items.
    pub block: [u32; 3],
    /// Dynamic LDS, bytes.
    pub shared: u64,
    /// The stream handle.
    pub stream: u64,
    /// Return value.
    pub status: i32,
}

/// A kernel node of an executed graph; its grid is in blocks.
#[derive(Clone, Debug)]
pub struct Replay {
    /// As for a launch; the symbol is the graph launch's.
    pub launch: Launch,
    /// The executable graph's handle.
    pub exec: u64,
}

/// Any other call: its `key=value` fields by name.
#[derive(Clone, Debug)]
pub struct Call {
    /// Linux thread id.
    pub tid: u32,
    /// The call's number in its thread, from 1; for librocprofiler-register, the library instance,
    /// from 0.
    pub number: u64,
    /// The symbol that was called.
    pub symbol: String,
    fields: String,
    /// Return value.
    pub status: i32,
}

impl Call {
    /// A field's value.
    #[track_caller]
    pub fn field(&self, name: &str) -> &str {
        self.find(name).unwrap_or_else(|| panic!("no {name} in {}", self.fields))
    }

    /// A field's value; `None` if the call does not have the field.
    pub fn find(&self, name: &str) -> Option<&str> {
        let mut pairs = self.fields.split(' ').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The value of a field in hexadecimal (handle, address, number); 0 if there is none.
    pub fn hex(&self, name: &str) -> u64 {
        self.find(name).map_or(0, hex)
    }
}

/// The log, by type of line.
#[derive(Debug, Default)]
pub struct Log {
    /// `launch` lines.
    pub launches: Vec<Launch>,
    /// `captured` lines: launches that became nodes of a graph.
    pub captured: Vec<Launch>,
    /// `replay` lines: kernel nodes that were executed.
    pub replays: Vec<Replay>,
    /// `gemm` lines.
    pub gemms: Vec<Call>,
    /// `conv` lines.
    pub convs: Vec<Call>,
    /// `call` lines: memory, streams, events, graphs.
    pub calls: Vec<Call>,
    /// `register` lines: dispatch tables passed to librocprofiler-register.
    pub registered: Vec<Call>,
    /// `wrapped` lines: functions called through the profiler's wrappers, with their number of
    /// `calls`.
    pub wrapped: Vec<Call>,
}

impl Log {
    /// Reads a log file.
    #[track_caller]
    pub fn read(path: &Path) -> Log {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut log = Log::default();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields[0] {
                "launch" => log.launches.push(launch(&fields)),
                "captured" => log.captured.push(launch(&fields)),
                "replay" => log.replays.push(Replay { launch: launch(&fields), exec: hex(fields[10]) }),
                "gemm" => log.gemms.push(call(&fields)),
                "conv" => log.convs.push(call(&fields)),
                "call" => log.calls.push(call(&fields)),
                "register" => log.registered.push(call(&fields)),
                "wrapped" => log.wrapped.push(call(&fields)),
                other => panic!("a line of kind {other}"),
            }
        }
        log
    }
}

fn triple(field: &str) -> [u32; 3] {
    let mut numbers = field.split(' ').map(|number| number.parse().expect("a number"));
    std::array::from_fn(|_| numbers.next().expect("three numbers"))
}

fn hex(field: &str) -> u64 {
    u64::from_str_radix(field.trim_start_matches("0x"), 16).expect("a hexadecimal number")
}

fn launch(fields: &[&str]) -> Launch {
    Launch {
        tid: fields[1].parse().expect("a thread id"),
        number: fields[2].parse().expect("a number"),
        symbol: fields[3].into(),
        kernel: fields[4].into(),
        grid: triple(fields[5]),
        block: triple(fields[6]),
        shared: fields[7].parse().expect("bytes"),
        stream: hex(fields[8]),
        status: fields[9].parse().expect("a status"),
    }
}

fn call(fields: &[&str]) -> Call {
    Call {
        tid: fields[1].parse().expect("a thread id"),
        number: fields[2].parse().expect("a number"),
        symbol: fields[3].into(),
        fields: fields[4].into(),
        status: fields[fields.len() - 1].parse().expect("a status"),
    }
}
