//! The segments of a trace that were verified: whether one is missing among them.

use super::{Verdict, Verified};
use crate::session::Identity;
use rocshim_trace::{TracePath, segment_path};
use std::path::{Path, PathBuf};

/// A file among the segments of a trace.
#[derive(Clone, Debug)]
pub struct Segment {
    pub(super) process: Identity,
    pub(super) number: u32,
    /// The first segment that was not deleted to make room.
    pub(super) oldest: u32,
    pub(super) continues: bool,
    /// It was started because the segment before it was deleted.
    pub(super) after_deletion: bool,
}

/// Adds to the faults of `all` where, between the first segment that is left of a trace and its
/// last, one is not among them.
pub fn find_missing_parts(all: &mut [Verified]) {
    let segments: Vec<Segment> = all.iter().filter_map(|one| one.segment.clone()).collect();
    let is_deleted = |one: &&Verified| one.verdict == Verdict::Deleted;
    let deleted: Vec<PathBuf> = all.iter().filter(is_deleted).map(|one| one.trace.clone().into()).collect();
    for one in all {
        let Some(segment) = &one.segment else { continue };
        let of_trace = || segments.iter().filter(|other| other.process == segment.process);
        let is_there = |number: u32| of_trace().any(|other| other.number == number);
        let oldest = of_trace().map(|other| other.oldest).max();
        let before = segment.number.checked_sub(1).filter(|before| Some(*before) >= oldest);
        if let Some(before) = before.filter(|before| !is_there(*before)) {
            if segment.after_deletion {
                let what = format!("segment {before} of its trace was deleted while the process ran");
                one.deleted = Some(what);
            } else {
                one.wrong.push(format!("segment {before} of its trace, the one before it, is not there"));
            }
        }
        let next = segment.number + 1;
        if segment.continues && !is_there(next) {
            let path = TracePath::of(Path::new(&one.trace)).map(|path| segment_path(&path.first, next));
            if path.is_some_and(|path| deleted.contains(&path)) {
                one.deleted = Some(format!("segment {next} of its trace was deleted"));
            } else {
                one.wrong.push(format!("it continues in segment {next}, which is missing"));
            }
        }
        if !one.wrong.is_empty() {
            one.verdict = Verdict::Wrong;
        }
    }
}
