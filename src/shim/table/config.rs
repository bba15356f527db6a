//! The `ROCSHIM_*` configuration variables, one row each, read once when the library is loaded.

use crate::platform::signals::without_write_signals;
use crate::table::row::InterceptionPoint;
use rocshim_ring::WhenFull;
use rocshim_trace::{fits, is_chosen, patterns};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Default of `ROCSHIM_CALLERS`.
const CALLERS: usize = 32;
/// The most callers that are recorded.
const MOST_CALLERS: usize = 64;
/// Default of `ROCSHIM_MEMORY_MIB`, MiB.
const MEMORY_MIB: u64 = 256;

macro_rules! variables {
    ($($name:ident = $default:literal, $meaning:literal;)*) => {
        /// The list of variables that `rocshim` prints: name, default, meaning.
        const TABLE: &str = concat!($(stringify!($name), "\t", $default, "\t", $meaning, "\x1e"),*);
    };
}

// In the order in which a user meets them.
variables! {
    ROCSHIM_OUT = "./rocshim-out",
        "Folder of the traces, one `.ndjson` file per process. If it is not writable, \
         `/tmp/rocshim-UID` is used, and the header says so. Each process fills in `%h` (host), \
         `%r` (rank), `%l` (rank on its machine), `%j` (job), `%e` (program), `%p` (process) and \
         `%q{NAME}` (a variable). A last component with `%p` names the file: `traces/%h/%r-%p`.";
    ROCSHIM_LOG = "",
        "Where the shim reports its own errors: `stderr`, or the path of a file. Unset: no \
         reports.";
    ROCSHIM_OFF = "",
        "Any value but `0` keeps the shim loaded and inactive: calls pass through, nothing is \
         recorded.";
    ROCSHIM_START = "on",
        "`off`: recording starts paused, until `rocshim ctl PID start`. Kernels, graphs and \
         handles are tracked meanwhile, so later events have their names.";
    ROCSHIM_ONLY = "",
        "Programs to record, by name or path: patterns with `*`, separated by commas. All others \
         run as if `ROCSHIM_OFF` were set.";
    ROCSHIM_SKIP = "",
        "Programs not to record, in the same form: `sh,bash,git*,/usr/bin/python*`.";
    ROCSHIM_INTERCEPT = "dlsym,get_proc_address,table",
        "Interception points beside the exported symbols: addresses from `dlsym`, addresses from \
         `hipGetProcAddress`, and HIP's dispatch table. `none` disables all of them.";
    ROCSHIM_RECORD = "*",
        "Functions to record, by name: patterns with `*`, separated by commas; the last match \
         decides, and a leading `-` excludes. `*,-hipMemcpy*,-hip*Synchronize` records all but \
         copies and waits. Kernel names are recorded in any case.";
    ROCSHIM_ARGS = "on",
        "`off`: launches are recorded without their kernels' arguments.";
    ROCSHIM_CALLERS = "32",
        "How many callers of each kernel's first launch, and of the first call with each shape, are \
         recorded, up to 64. `0`: none.";
    ROCSHIM_GPU_TIME = "",
        "Any value but `0` and `off` requests GPU begin and end times of each command from the HIP \
         runtime, and records them.";
    ROCSHIM_MEMORY_MIB = "256",
        "Limit of a process's ring memory in MiB, from 0.25; 256 MiB hold 4 million launches that \
         are not in the trace yet. A thread takes 40 KiB (1,000 threads: 40 MiB), and chunks of 32 \
         KiB during a burst, which are returned once the burst is written. At the limit, \
         `ROCSHIM_FULL` applies.";
    ROCSHIM_FULL = "drop",
        "When all ring memory is in use: `drop` counts further events as lost. `wait` lets their \
         thread wait for the collector, up to a second, except in a signal handler. `overwrite` \
         keeps the latest events (a flight recorder): the rings are read when a thread or the \
         process ends, by `rocshim ctl PID snapshot`, or by `rocshim recover` after a kill.";
    ROCSHIM_ROTATE_MIB = "",
        "Size in MiB at which the trace continues in a new segment, which can be read alone. \
         Fractions are allowed. Unset: one file per process.";
    ROCSHIM_ROTATE_S = "",
        "Age in seconds at which the trace continues in a new segment, if anything was written to \
         it.";
    ROCSHIM_DISK_MIB = "",
        "Disk budget per process in MiB, over all segments. Unset: unlimited.";
    ROCSHIM_DISK_FULL = "stop",
        "When the disk budget is used up: `stop` counts later events as lost. `oldest` deletes the \
         oldest segment and counts its events as lost; segments then have an eighth of the budget, \
         unless `ROCSHIM_ROTATE_MIB` sets another size.";
    ROCSHIM_COMPRESS = "",
        "`zstd`, or `zstd:LEVEL` (1 to 9, default 3): compresses the trace, in files named \
         `.ndjson.zst`. Lines are collected for up to a second before they are compressed.";
    ROCSHIM_RINGS = "/dev/shm",
        "Folder of the ring files, which hold events that are not in the trace yet. Best in \
         memory.";
}

rocshim_section!(".rocshim.variables", TABLE);

/// What the collector does when the trace reaches its disk budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DiskFull {
    /// Stops writing; later events are counted as lost.
    Stop,
    /// Deletes the oldest segment.
    Oldest,
}

/// The values of the configuration variables.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    /// Folder of the traces, made absolute at load, so that a later `chdir` does not move it.
    pub(crate) out: PathBuf,
    /// `ROCSHIM_OUT` is set.
    pub(crate) is_out_given: bool,
    /// Log destination (`stderr` or a path); `None`: no log.
    pub(crate) log: Option<String>,
    /// Recording is disabled for the whole process.
    pub(crate) off: bool,
    /// Recording starts paused, until a control request starts it.
    pub(crate) stopped: bool,
    /// Patterns of the programs to record (`only`) and to leave alone (`skip`).
    only: String,
    skip: String,
    /// Bit set of the enabled [`InterceptionPoint`]s.
    pub(crate) points: u8,
    /// Patterns of the functions to record; empty: all.
    record: Vec<String>,
    /// Launches are recorded with their kernels' arguments.
    pub(crate) args: bool,
    /// Length of the chains of callers; 0: none is recorded.
    pub(crate) callers: usize,
    /// GPU times are requested from the HIP runtime.
    pub(crate) gpu_time: bool,
    /// Limit of the process's ring memory, bytes.
    pub(crate) memory_bytes: u64,
    /// What a producer does when that memory is used up.
    pub(crate) when_full: WhenFull,
    /// Size at which a segment ends, bytes.
    pub(crate) rotate_bytes: Option<u64>,
    /// Age at which a segment ends.
    pub(crate) rotate_after: Option<Duration>,
    /// Disk budget of all segments, bytes.
    pub(crate) disk_bytes: Option<u64>,
    /// What happens when the disk budget is used up.
    pub(crate) disk_full: DiskFull,
    /// The zstd level; `None`: not compressed.
    pub(crate) compress: Option<i32>,
    /// Folder of the ring files.
    pub(crate) rings: PathBuf,
}

impl Config {
    /// Reads the variables through `get`. A value that does not parse falls back to its default.
    pub(crate) fn read(get: impl Fn(&str) -> Option<String>) -> Config {
        let given = |name| get(name).filter(|value| !value.is_empty());
        let out = given("ROCSHIM_OUT").map(PathBuf::from);
        let requested = out.clone().unwrap_or_else(|| "rocshim-out".into());
        Config {
            is_out_given: out.is_some(),
            out: std::path::absolute(&requested).unwrap_or(requested),
            log: given("ROCSHIM_LOG"),
            off: given("ROCSHIM_OFF").is_some_and(|value| value != "0"),
            stopped: given("ROCSHIM_START").is_some_and(|value| value == "off" || value == "0"),
            only: given("ROCSHIM_ONLY").unwrap_or_default(),
            skip: given("ROCSHIM_SKIP").unwrap_or_default(),
            points: points(given("ROCSHIM_INTERCEPT")),
            record: given("ROCSHIM_RECORD")
                .map(|list| patterns(&list).map(str::to_owned).collect())
                .unwrap_or_default(),
            args: given("ROCSHIM_ARGS").is_none_or(|value| value != "off" && value != "0"),
            callers: given("ROCSHIM_CALLERS").map_or(CALLERS, callers),
            gpu_time: given("ROCSHIM_GPU_TIME").is_some_and(|value| value != "off" && value != "0"),
            memory_bytes: given("ROCSHIM_MEMORY_MIB").and_then(mebibytes).unwrap_or(MEMORY_MIB << 20),
            when_full: match given("ROCSHIM_FULL").as_deref() {
                Some("wait") => WhenFull::Wait,
                Some("overwrite") => WhenFull::Overwrite,
                _ => WhenFull::Drop,
            },
            rotate_bytes: given("ROCSHIM_ROTATE_MIB").and_then(mebibytes),
            rotate_after: given("ROCSHIM_ROTATE_S")
                .and_then(positive)
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            disk_bytes: given("ROCSHIM_DISK_MIB").and_then(mebibytes),
            disk_full: match given("ROCSHIM_DISK_FULL").as_deref() {
                Some("oldest") => DiskFull::Oldest,
                _ => DiskFull::Stop,
            },
            compress: given("ROCSHIM_COMPRESS").and_then(zstd_level),
            rings: given("ROCSHIM_RINGS").unwrap_or_else(|| "/dev/shm".into()).into(),
        }
    }
}

/// Returns the number of callers to record; the default for what is no number.
fn callers(requested: String) -> usize {
    match requested.trim() {
        "off" => 0,
        number => number.parse().map_or(CALLERS, |number: usize| number.min(MOST_CALLERS)),
    }
}

fn positive(number: String) -> Option<f64> {
    number.trim().parse().ok().filter(|number: &f64| *number > 0.0)
}

/// Returns the level that `zstd` or `zstd:LEVEL` asks for; `None` for other values.
fn zstd_level(requested: String) -> Option<i32> {
    let level = requested.strip_prefix("zstd")?;
    match level.strip_prefix(':') {
        // Above 9, compressing what a program launches in a second takes several seconds.
        Some(level) => Some(level.trim().parse().map_or(3, |level: i32| level.clamp(1, 9))),
        None => level.is_empty().then_some(3),
    }
}

/// Converts a number of MiB to bytes.
fn mebibytes(number: String) -> Option<u64> {
    positive(number).map(|number| (number * f64::from(1 << 20)) as u64)
}

/// Returns the bit set of the interception points in `list`; all of them without a list.
fn points(list: Option<String>) -> u8 {
    const NAMED: [(&str, InterceptionPoint); 3] = [
        ("dlsym", InterceptionPoint::Dlsym),
        ("get_proc_address", InterceptionPoint::ProcAddress),
        ("table", InterceptionPoint::Table),
    ];
    let is_listed =
        |name: &str| list.as_ref().is_none_or(|list| list.split(',').any(|word| word.trim() == name));
    NAMED.iter().filter(|(name, _)| is_listed(name)).fold(0, |open, (_, point)| open | *point as u8)
}

impl Config {
    /// Returns true when calls of function `name` are recorded.
    pub(crate) fn records(&self, name: &str) -> bool {
        let rule = |pattern: &'_ String| match pattern.strip_prefix('-') {
            Some(pattern) => fits(pattern, name).then_some(false),
            None => fits(pattern, name).then_some(true),
        };
        // A list whose first pattern excludes starts from all functions.
        let otherwise = self.record.first().is_none_or(|first| first.starts_with('-'));
        self.record.iter().rev().find_map(rule).unwrap_or(otherwise)
    }

    /// Returns true when the program known as `names` is to be left alone.
    pub(crate) fn leaves_out(&self, names: impl FnOnce() -> Vec<String>) -> bool {
        if self.only.is_empty() && self.skip.is_empty() {
            return false;
        }
        let names = names();
        !is_chosen(&self.only, &self.skip, &names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Writes `what` to the log that `ROCSHIM_LOG` names; does nothing without one.
    pub(crate) fn report(&self, what: &str) {
        let Some(log) = &self.log else { return };
        let line = format!("rocshim[{}]: {what}\n", std::process::id());
        let to_file =
            |path| OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes());
        // A failure to write the log cannot be logged.
        let _ = without_write_signals(|| match log.as_str() {
            "stderr" => std::io::stderr().write_all(line.as_bytes()),
            path => to_file(path),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_of_the_table_is_read_and_no_other() {
        use std::cell::RefCell;
        let requested = RefCell::new(Vec::new());
        Config::read(|name| {
            requested.borrow_mut().push(name.to_owned());
            None
        });
        let mut rows: Vec<_> =
            TABLE.split_terminator('\x1e').map(|row| row.split('\t').next().unwrap().to_owned()).collect();
        rows.sort();
        requested.borrow_mut().sort();
        assert_eq!(*requested.borrow(), rows);
        assert!(
            TABLE.split_terminator('\x1e').all(|row| row.split('\t').count() == 3),
            "every row has a name, a default, a meaning"
        );
    }

    #[test]
    fn ring_memory_is_set_in_mebibytes() {
        let memory = |value: &'static str| {
            Config::read(|name| (name == "ROCSHIM_MEMORY_MIB").then(|| value.into())).memory_bytes
        };
        assert_eq!(
            [memory(""), memory("0.5"), memory("1024"), memory("nonsense")],
            [256 << 20, 1 << 19, 1 << 30, 256 << 20]
        );
    }

    #[test]
    fn every_interception_point_is_enabled_unless_a_list_omits_it() {
        let points = |value: &'static str| {
            Config::read(|name| (name == "ROCSHIM_INTERCEPT").then(|| value.into())).points
        };
        assert_eq!(
            [points(""), points("none"), points("table, dlsym"), points("get_proc_address")],
            [14, 0, 10, 4]
        );
    }

    #[test]
    fn the_last_matching_pattern_decides_whether_a_function_is_recorded() {
        let recorded = |value: &'static str| {
            let config = Config::read(|name| (name == "ROCSHIM_RECORD").then(|| value.into()));
            let names = ["hipLaunchKernel", "hipMemcpyAsync", "rocblas_gemm_ex"];
            names.map(|name| config.records(name))
        };
        assert_eq!(recorded(""), [true; 3]);
        assert_eq!(recorded("*"), [true; 3]);
        assert_eq!(recorded("-hipMemcpy*"), [true, false, true]);
        assert_eq!(recorded("rocblas_*, hip*Kernel"), [true, false, true]);
        assert_eq!(recorded("*,-hip*,hip*L*Kernel"), [true, false, true]);
        assert_eq!(recorded("-*"), [false; 3]);
        assert_eq!(recorded("hipLaunch"), [false; 3]);
    }

    #[test]
    fn arguments_are_recorded_unless_disabled() {
        let args =
            |value: &'static str| Config::read(|name| (name == "ROCSHIM_ARGS").then(|| value.into())).args;
        assert_eq!([args(""), args("on"), args("off"), args("0")], [true, true, false, false]);
    }

    #[test]
    fn thirty_two_callers_are_recorded_unless_another_number_is_set() {
        let callers = |value: &'static str| {
            Config::read(|name| (name == "ROCSHIM_CALLERS").then(|| value.into())).callers
        };
        assert_eq!(["", "0", "off", "4", "99", "many"].map(callers), [32, 0, 0, 4, 64, 32]);
    }

    #[test]
    fn any_value_but_off_requests_gpu_times() {
        let requested = |value: &'static str| {
            Config::read(|name| (name == "ROCSHIM_GPU_TIME").then(|| value.into())).gpu_time
        };
        assert_eq!(["", "0", "off", "1", "on"].map(requested), [false, false, false, true, true]);
    }

    #[test]
    fn a_full_ring_drops_by_default() {
        let full = |value: &'static str| {
            Config::read(|name| (name == "ROCSHIM_FULL").then(|| value.into())).when_full
        };
        assert_eq!(
            [full(""), full("drop"), full("wait"), full("overwrite"), full("nonsense")],
            [WhenFull::Drop, WhenFull::Drop, WhenFull::Wait, WhenFull::Overwrite, WhenFull::Drop]
        );
    }

    #[test]
    fn limits_and_compression_are_parsed() {
        let config = |name: &'static str, value: &'static str| {
            Config::read(|requested| (requested == name).then(|| value.into()))
        };
        let bytes = |value| config("ROCSHIM_ROTATE_MIB", value).rotate_bytes;
        let expected = [None, Some(1 << 20), Some(1 << 18), None, None];
        assert_eq!([bytes(""), bytes("1"), bytes("0.25"), bytes("-1"), bytes("much")], expected);
        let seconds = |value| config("ROCSHIM_ROTATE_S", value).rotate_after;
        assert_eq!(
            [seconds("60"), seconds("0"), seconds("1e300")],
            [Some(Duration::from_secs(60)), None, None]
        );
        assert_eq!(config("ROCSHIM_DISK_MIB", "2").disk_bytes, Some(2 << 20));
        let full = |value| config("ROCSHIM_DISK_FULL", value).disk_full;
        assert_eq!([full(""), full("oldest")], [DiskFull::Stop, DiskFull::Oldest]);
        let level = |value| config("ROCSHIM_COMPRESS", value).compress;
        assert_eq!(
            [level(""), level("zstd"), level("zstd:1"), level("zstd:99"), level("zstd:x"), level("gzip")],
            [None, Some(3), Some(1), Some(9), Some(3), None]
        );
    }

    #[test]
    fn off_means_off_unless_it_is_0() {
        let off =
            |value: &'static str| Config::read(|name| (name == "ROCSHIM_OFF").then(|| value.into())).off;
        assert_eq!([off("1"), off("yes"), off("0"), off("")], [true, true, false, false]);
    }
}
