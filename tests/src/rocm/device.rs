//! Reads the null GPU's log: the dispatches, counted independently of rocshim.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A kernel that the device retired; `tests/null-gpu/src/log.rs` describes the fields where it
/// writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Process id.
    pub pid: u32,
    /// The device's queue number.
    pub queue: u32,
    /// The kernel's mangled name.
    pub name: String,
    /// In work-items.
    pub grid: [u32; 3],
    /// In work-items.
    pub block: [u32; 3],
    /// Group memory, bytes.
    pub lds: u32,
    /// Begin, nanoseconds of `CLOCK_MONOTONIC`.
    pub start: u64,
    /// End, nanoseconds of `CLOCK_MONOTONIC`.
    pub end: u64,
}

impl Dispatch {
    /// True for the runtime's own copy and fill kernels, which no launch call requested.
    pub fn is_builtin(&self) -> bool {
        self.name.starts_with('#') || self.name.starts_with("__amd_rocclr_")
    }

    fn parse(line: &str) -> Option<Dispatch> {
        let fields: BTreeMap<&str, &str> =
            line.strip_prefix("kernel ")?.split(' ').filter_map(|field| field.split_once('=')).collect();
        let number = |name: &str| fields.get(name)?.parse::<u64>().ok();
        let triple = |name: &str| {
            let numbers: Option<Vec<u32>> =
                fields.get(name)?.split(',').map(|number| number.parse().ok()).collect();
            <[u32; 3]>::try_from(numbers?).ok()
        };
        Some(Dispatch {
            pid: number("pid")? as u32,
            queue: number("queue")? as u32,
            name: (*fields.get("name")?).to_owned(),
            grid: triple("grid")?,
            block: triple("block")?,
            lds: number("lds")? as u32,
            start: number("start")?,
            end: number("end")?,
        })
    }
}

/// All dispatches that programs requested, in the order of the log; the runtime's own copies and
/// fills are omitted.
///
/// # Panics
/// If the log cannot be read, or a kernel has no name: the oracle must not guess.
#[track_caller]
pub fn dispatches(log: &Path) -> Vec<Dispatch> {
    let text = fs::read_to_string(log).unwrap_or_else(|e| panic!("{}: {e}", log.display()));
    parse(&text)
}

/// All dispatches, the runtime's own copies and fills included.
///
/// # Panics
/// If the log cannot be read.
#[track_caller]
pub fn every_dispatch(log: &Path) -> Vec<Dispatch> {
    let text = fs::read_to_string(log).unwrap_or_else(|e| panic!("{}: {e}", log.display()));
    all(&text).collect()
}

/// Dispatch count per kernel.
///
/// # Panics
/// As [`dispatches`].
#[track_caller]
pub fn kernels(log: &Path) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    dispatches(log).into_iter().for_each(|dispatch| *counts.entry(dispatch.name).or_default() += 1);
    counts
}

fn all(text: &str) -> impl Iterator<Item = Dispatch> {
    let kernels = text.lines().filter(|line| line.starts_with("kernel "));
    kernels.map(|line| Dispatch::parse(line).unwrap_or_else(|| panic!("no dispatch: {line}")))
}

#[track_caller]
fn parse(text: &str) -> Vec<Dispatch> {
    let ours: Vec<Dispatch> =
        all(text).filter(|dispatch| !dispatch.is_builtin() || dispatch.name == "#unknown").collect();
    assert!(ours.iter().all(|dispatch| dispatch.name != "#unknown"), "the device could not name a kernel");
    ours
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str =
        "kernel pid=71 queue=1 name=_Z4scalPff grid=1024,2,1 block=256,1,1 lds=64 kernarg=0x10 start=5 end=9";

    #[test]
    fn a_line_is_read_field_by_field() {
        let scale = Dispatch {
            pid: 71,
            queue: 1,
            name: "_Z4scalPff".into(),
            grid: [1024, 2, 1],
            block: [256, 1, 1],
            lds: 64,
            start: 5,
            end: 9,
        };
        assert_eq!(parse(KERNEL), [scale]);
    }

    #[test]
    fn what_the_runtime_does_for_itself_is_left_out() {
        let copy = KERNEL.replace("_Z4scalPff", "#copy_aligned");
        let fill = KERNEL.replace("_Z4scalPff", "__amd_rocclr_fillBufferAligned");
        let text =
            format!("queue pid=71 id=1 kind=aql bytes=64\n{copy}\n{fill}\n{KERNEL}\ncopy pid=71 bytes=4\n");
        assert_eq!(parse(&text).len(), 1);
    }

    #[test]
    #[should_panic(expected = "could not name")]
    fn a_kernel_without_a_name_is_an_error() {
        parse(&KERNEL.replace("_Z4scalPff", "#unknown"));
    }

    #[test]
    #[should_panic(expected = "no dispatch")]
    fn a_torn_line_is_an_error() {
        parse(&KERNEL[..40]);
    }
}
