//! The log: one line for each thing that the device did, in the order of each queue.
//!
//! A line is a word and `key=value` fields, separated by one space; values hold no spaces. Every
//! line is appended by one `write`, so lines of several processes never mix. A dispatch is logged
//! before its completion signal fires: a program that has synchronised finds all of its kernels in
//! the file.
//!
//! ```text
//! queue pid=71 id=0 kind=aql bytes=1048576
//! kernel pid=71 queue=0 name=_Z4scalPff grid=1024,1,1 block=256,1,1 lds=0 kernarg=0x7f.. \
//!     start=5120 end=5300 header=0x1502 signal=1
//! barrier pid=71 queue=0 header=0x1503 signal=1
//! copy pid=71 queue=2 bytes=4096 from=0x7f.. to=0x7f..
//! rect pid=71 queue=2 size=64,8,1 element=4
//! fill pid=71 queue=2 bytes=4096 at=0x7f..
//! refused pid=71 queue=0 what=..
//! ```
//!
//! `name` is the kernel's mangled name as its code object spells it; `grid` and `block` are in
//! work-items, `lds` in bytes, times in nanoseconds of `CLOCK_MONOTONIC`. `header` is the packet's:
//! its kind, barrier bit and fences; `signal` is 1 if it has one to complete. Names that begin with
//! `#` are not from a code object: the runtime's own hand-assembled copies and fills
//! (`#copy_aligned`, `#copy_misaligned`, `#fill`) and what could not be named (`#unknown`).
//! `refused` says that the runtime asked for something that this device does not know.

use std::fmt::Arguments;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process;
use std::sync::OnceLock;

/// Appends one line; `what` is its first word, `fields` the rest.
pub(crate) fn line(what: &str, fields: Arguments<'_>) {
    if let Some(mut file) = file() {
        let line = format!("{what} pid={} {fields}\n", process::id());
        // A full disk shows as missing lines in the test that reads them; the device goes on.
        let _ = file.write_all(line.as_bytes());
    }
}

fn file() -> Option<&'static File> {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    FILE.get_or_init(|| {
        let path = std::env::var_os("NULL_GPU_LOG")?;
        OpenOptions::new().create(true).append(true).open(path).ok()
    })
    .as_ref()
}
