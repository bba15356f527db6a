//! Every `ROCSHIM_*` variable, a row each, read once when the library is loaded.

use crate::platform::signals::without_signals_of_writing;
use crate::table::row::InterceptionPoint;
use rocshim_ring::WhenFull;
use rocshim_trace::{fits, is_chosen, patterns};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// MiB of ring memory of a process.
const MEMORY_MIB: u64 = 256;

macro_rules! variables {
    ($($name:ident = $default:literal, $meaning:literal;)*) => {
        /// The table as `rocshim variables` and the README show it: name, default, meaning.
        const TABLE: &str = concat!($(stringify!($name), "\t", $default, "\t", $meaning, "\x1e"),*);
    };
}

// In the order in which a user meets them.
variables! {
    ROCSHIM_OUT = "./rocshim-out", "Folder of the traces, one `.ndjson` a process. Where it cannot be written: `/tmp/rocshim-UID`, and the header says so.";
    ROCSHIM_LOG = "", "Where the shim may report its own troubles: `stderr`, or a file's path. Unset: nowhere, never.";
    ROCSHIM_OFF = "", "Any value but `0` keeps the shim loaded and idle: calls pass through, nothing is recorded.";
    ROCSHIM_START = "on", "`off`: recording begins stopped, until `rocshim ctl PID start`. Kernels, graphs and handles are followed all the same, so that what is recorded then has its names.";
    ROCSHIM_ONLY = "", "The programs that are recorded, by name or path: patterns with `*`, separated by commas. All others are left as they are, as if `ROCSHIM_OFF` were set.";
    ROCSHIM_SKIP = "", "Programs that are not, in the same way: `sh,bash,git*,/usr/bin/python*`.";
    ROCSHIM_INTERCEPT = "dlsym,get_proc_address,table", "The ways in beside the exported symbols: addresses from `dlsym`, from `hipGetProcAddress`, and HIP's dispatch table. `none` closes them all.";
    ROCSHIM_RECORD = "*", "The functions that are recorded, by their names: patterns with `*`, separated by commas, of which the last that fits counts; one that begins with `-` leaves out. `*,-hipMemcpy*,-hip*Synchronize`: all but copies and waits. Kernels are named all the same.";
    ROCSHIM_ARGS = "on", "`off`: launches are recorded without their kernels' arguments.";
    ROCSHIM_GPU_TIME = "", "Any value but `0` and `off` asks the HIP runtime when each command began and ended on the GPU, and records its reports.";
    ROCSHIM_MEMORY_MIB = "256", "So many MiB of ring memory a process takes at most, from 0.25 on: 256 hold 4 million launches that are not in the trace yet. A thread takes 40 KiB of it (1,000 threads: 40 MiB) and, in a burst, pieces of 32 KiB, which are given back when the burst is written. Beyond that: see `ROCSHIM_FULL`.";
    ROCSHIM_FULL = "drop", "When all ring memory is in use: `drop` counts the events that find no room as lost. `wait` lets their thread wait for the collector, up to a second, but not in a signal handler. `overwrite` keeps what came last (a flight recorder): the rings are read when a thread or the process ends, by `rocshim ctl PID snapshot`, or by `rocshim recover` after a kill.";
    ROCSHIM_ROTATE_MIB = "", "A trace file of so many MiB is followed by another: parts, each of which can be read alone. Fractions are allowed. Unset: one file a process.";
    ROCSHIM_ROTATE_S = "", "A trace file that was begun so many seconds ago is followed by another, if anything was written to it.";
    ROCSHIM_DISK_MIB = "", "So many MiB all parts of a trace may take. Unset: as many as there are.";
    ROCSHIM_DISK_FULL = "stop", "When they do: `stop` counts what comes later as lost. `oldest` removes the oldest part, and counts what it told of as lost; parts are an eighth of the room long then, if `ROCSHIM_ROTATE_MIB` asks for nothing else.";
    ROCSHIM_COMPRESS = "", "`zstd`, or `zstd:LEVEL` (1 to 9, else 3): the trace is compressed, in files that end in `.ndjson.zst`. Its lines wait until there are many, up to a second.";
    ROCSHIM_RINGS = "/dev/shm", "Folder of the ring files, which hold what is not yet in the trace. Best in memory.";
}

rocshim_section!(".rocshim.variables", TABLE);

/// What becomes of a trace that takes as much room as it may.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DiskFull {
    /// It ends: what comes later is counted as lost.
    Stop,
    /// Its oldest part is removed.
    Oldest,
}

/// What the variables say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    /// The folder of the traces: as it was meant when the program began, wherever it goes then.
    pub(crate) out: PathBuf,
    /// It was asked for.
    pub(crate) is_out_given: bool,
    /// Where to log; `None`: nowhere.
    pub(crate) log: Option<String>,
    /// Nothing is recorded.
    pub(crate) off: bool,
    /// Nothing is recorded until asked for.
    pub(crate) stopped: bool,
    /// The programs that are recorded, and those that are not: patterns.
    only: String,
    skip: String,
    /// The interception points that are open, [`InterceptionPoint`]s added together.
    pub(crate) points: u8,
    /// The functions that are recorded, as patterns; without one, all.
    record: Vec<String>,
    /// Launches are recorded with their arguments.
    pub(crate) args: bool,
    /// The HIP runtime is asked for GPU times.
    pub(crate) gpu_time: bool,
    /// Ring memory of the process, bytes.
    pub(crate) memory_bytes: u64,
    /// What becomes of an event for which there is none.
    pub(crate) when_full: WhenFull,
    /// How long a part of the trace gets, bytes.
    pub(crate) rotate_bytes: Option<u64>,
    /// How old it gets.
    pub(crate) rotate_after: Option<Duration>,
    /// How much room all parts may take, bytes.
    pub(crate) disk_bytes: Option<u64>,
    /// What becomes of the trace when they do.
    pub(crate) disk_full: DiskFull,
    /// The trace is compressed, with this level of zstd.
    pub(crate) compress: Option<i32>,
    /// The folder of the ring files.
    pub(crate) rings: PathBuf,
}

impl Config {
    /// Reads the variables through `get`. What cannot be understood falls back to its default.
    pub(crate) fn read(get: impl Fn(&str) -> Option<String>) -> Config {
        let given = |name| get(name).filter(|value| !value.is_empty());
        let out = given("ROCSHIM_OUT").map(PathBuf::from);
        let asked = out.clone().unwrap_or_else(|| "rocshim-out".into());
        Config {
            is_out_given: out.is_some(),
            out: std::path::absolute(&asked).unwrap_or(asked),
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

fn positive(number: String) -> Option<f64> {
    number.trim().parse().ok().filter(|number: &f64| *number > 0.0)
}

/// The level that `zstd` or `zstd:LEVEL` asks for.
fn zstd_level(asked: String) -> Option<i32> {
    let level = asked.strip_prefix("zstd")?;
    match level.strip_prefix(':') {
        // A higher one takes seconds for what a program launches in one.
        Some(level) => Some(level.trim().parse().map_or(3, |level: i32| level.clamp(1, 9))),
        None => level.is_empty().then_some(3),
    }
}

/// MiB as bytes.
fn mebibytes(number: String) -> Option<u64> {
    positive(number).map(|number| (number * f64::from(1 << 20)) as u64)
}

/// The interception points that a list names; all of them without a list.
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
    /// True when calls of function `name` are recorded.
    pub(crate) fn records(&self, name: &str) -> bool {
        let rule = |pattern: &'_ String| match pattern.strip_prefix('-') {
            Some(pattern) => fits(pattern, name).then_some(false),
            None => fits(pattern, name).then_some(true),
        };
        // A list that begins by leaving something out leaves out nothing else.
        let otherwise = self.record.first().is_none_or(|first| first.starts_with('-'));
        self.record.iter().rev().find_map(rule).unwrap_or(otherwise)
    }

    /// True when the program that goes by `names` is to be left alone.
    pub(crate) fn leaves_out(&self, names: impl FnOnce() -> Vec<String>) -> bool {
        if self.only.is_empty() && self.skip.is_empty() {
            return false;
        }
        let names = names();
        !is_chosen(&self.only, &self.skip, &names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Says something where `ROCSHIM_LOG` asks for it; nowhere else, ever.
    pub(crate) fn report(&self, what: &str) {
        let Some(log) = &self.log else { return };
        let line = format!("rocshim[{}]: {what}\n", std::process::id());
        let to_file =
            |path| OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes());
        // A log that cannot be written has nowhere to say so.
        let _ = without_signals_of_writing(|| match log.as_str() {
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
        let asked = RefCell::new(Vec::new());
        Config::read(|name| {
            asked.borrow_mut().push(name.to_owned());
            None
        });
        let mut rows: Vec<_> =
            TABLE.split_terminator('\x1e').map(|row| row.split('\t').next().unwrap().to_owned()).collect();
        rows.sort();
        asked.borrow_mut().sort();
        assert_eq!(*asked.borrow(), rows);
        assert!(
            TABLE.split_terminator('\x1e').all(|row| row.split('\t').count() == 3),
            "every row has a name, a default, a meaning"
        );
    }

    #[test]
    fn ring_memory_is_asked_for_in_mebibytes() {
        let memory = |value: &'static str| {
            Config::read(|name| (name == "ROCSHIM_MEMORY_MIB").then(|| value.into())).memory_bytes
        };
        assert_eq!(
            [memory(""), memory("0.5"), memory("1024"), memory("nonsense")],
            [256 << 20, 1 << 19, 1 << 30, 256 << 20]
        );
    }

    #[test]
    fn every_interception_point_is_open_unless_a_list_leaves_it_out() {
        let points = |value: &'static str| {
            Config::read(|name| (name == "ROCSHIM_INTERCEPT").then(|| value.into())).points
        };
        assert_eq!(
            [points(""), points("none"), points("table, dlsym"), points("get_proc_address")],
            [14, 0, 10, 4]
        );
    }

    #[test]
    fn the_last_pattern_that_fits_says_whether_a_function_is_recorded() {
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
    fn arguments_are_recorded_unless_they_are_switched_off() {
        let args =
            |value: &'static str| Config::read(|name| (name == "ROCSHIM_ARGS").then(|| value.into())).args;
        assert_eq!([args(""), args("on"), args("off"), args("0")], [true, true, false, false]);
    }

    #[test]
    fn gpu_times_are_asked_for_by_any_word_but_off() {
        let asked = |value: &'static str| {
            Config::read(|name| (name == "ROCSHIM_GPU_TIME").then(|| value.into())).gpu_time
        };
        assert_eq!(["", "0", "off", "1", "on"].map(asked), [false, false, false, true, true]);
    }

    #[test]
    fn a_full_ring_drops_unless_something_else_is_asked_for() {
        let full = |value: &'static str| {
            Config::read(|name| (name == "ROCSHIM_FULL").then(|| value.into())).when_full
        };
        assert_eq!(
            [full(""), full("drop"), full("wait"), full("overwrite"), full("nonsense")],
            [WhenFull::Drop, WhenFull::Drop, WhenFull::Wait, WhenFull::Overwrite, WhenFull::Drop]
        );
    }

    #[test]
    fn how_much_may_be_written_and_how_is_asked_for_in_words() {
        let config = |name: &'static str, value: &'static str| {
            Config::read(|asked| (asked == name).then(|| value.into()))
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
