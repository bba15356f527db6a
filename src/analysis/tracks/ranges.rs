//! Pairs a program's ranges: a `push` with its `pop`, a `start` with the `stop` of its id.

use super::{
    others,
    row::{Arrows, Cell, Track, TrackKind, TrackRow},
    slots::Slots,
};
use foldhash::HashMap;
use rocshim_trace::{Call, Mark, Word};

/// One that has begun.
struct OpenRange {
    text: Word,
    tid: u32,
    begin: u64,
    /// The call that it was begun inside.
    parent: Option<u64>,
    level: Option<i32>,
    id: Option<u64>,
}

/// Those of a process.
#[derive(Default)]
pub(super) struct Ranges {
    /// The process, by number.
    process: usize,
    /// Of each thread, the outermost first.
    of_threads: HashMap<u32, Vec<OpenRange>>,
    started: Vec<OpenRange>,
    slots: Slots,
}

impl Ranges {
    pub(super) fn new(process: usize) -> Ranges {
        Ranges { process, ..Ranges::default() }
    }

    /// Adds the ranges that a mark ends: they last from the return of what began them to the entry
    /// of what ends them. The mark's own time is since `epoch`, Unix ns.
    pub(super) fn mark(&mut self, mark: &Mark, epoch: u64, rows: &mut Vec<TrackRow>) {
        let call = &mark.call;
        let end = epoch.saturating_add(call.t);
        match mark.action.as_str() {
            "push" => {
                let open = self.of_threads.entry(call.tid).or_default();
                // What a level says of the ranges that are open is right; the ends of others were
                // lost.
                let height = mark.level.and_then(|level| usize::try_from(level).ok());
                let lost = open.split_off(height.unwrap_or(open.len()).min(open.len()));
                open.push(OpenRange { level: mark.level, ..OpenRange::new(mark, epoch, None) });
                for range in lost.into_iter().rev() {
                    rows.push(self.row(range, Some((end, call))));
                }
            }
            "pop" => {
                let Some(open) = self.of_threads.get_mut(&call.tid) else { return };
                let height = mark.level.and_then(|level| usize::try_from(level).ok());
                let ended = open.split_off(height.unwrap_or(open.len().saturating_sub(1)).min(open.len()));
                if open.is_empty() {
                    self.of_threads.remove(&call.tid);
                }
                for range in ended.into_iter().rev() {
                    rows.push(self.row(range, Some((end, call))));
                }
            }
            "start" => self.started.push(OpenRange::new(mark, epoch, Some(mark.value.0))),
            "stop" => {
                if let Some(at) = self.started.iter().position(|open| open.id == Some(mark.value.0)) {
                    let range = self.started.remove(at);
                    rows.push(self.row(range, Some((end, call))));
                }
            }
            _ => {}
        }
    }

    /// At the end of the trace: those that never ended.
    pub(super) fn finish(&mut self, rows: &mut Vec<TrackRow>) {
        let mut threads: Vec<(u32, Vec<OpenRange>)> =
            std::mem::take(&mut self.of_threads).into_iter().collect();
        threads.sort_unstable_by_key(|(tid, _)| *tid);
        let started = std::mem::take(&mut self.started);
        for range in threads.into_iter().flat_map(|(_, open)| open).chain(started) {
            rows.push(self.row(range, None));
        }
    }

    /// A range with its end, and the call that ended it. It encloses calls of its thread where it
    /// ends inside the same call as it began.
    fn row(&mut self, range: OpenRange, ended: Option<(u64, &Call)>) -> TrackRow {
        let dur = ended.map(|(end, _)| end.saturating_sub(range.begin));
        let encloses = range.id.is_none() && ended.is_none_or(|(_, call)| call.parent == range.parent);
        let track = match encloses {
            true => Track::Thread(range.tid),
            false => self.slots.track(TrackKind::Ranges, None, range.begin, dur),
        };
        let across = Cell::Flag(range.id.is_some());
        let cells = vec![
            (&range.text).into(),
            range.level.into(),
            across,
            range.id.map_or(Cell::Absent, Cell::Address),
        ];
        let (tid, begin) = (Some(range.tid), range.begin);
        TrackRow {
            table: &others::RANGES,
            process: self.process,
            tid,
            track,
            begin,
            dur,
            name: range.text,
            cells,
            arrows: Arrows::default(),
        }
    }
}

impl OpenRange {
    fn new(mark: &Mark, epoch: u64, id: Option<u64>) -> OpenRange {
        let text = mark.text.as_deref().unwrap_or_default().into();
        OpenRange {
            text,
            tid: mark.call.tid,
            begin: epoch.saturating_add(mark.call.t).saturating_add(mark.call.dur),
            parent: mark.call.parent,
            level: None,
            id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_trace::Hex;

    fn mark(action: &str, t: u64, text: &str) -> Mark {
        let call = Call { tid: 7, t, dur: 2, ..Call::default() };
        Mark { call, action: action.into(), text: Some(text.into()), ..Mark::default() }
    }

    fn found(marks: &[Mark]) -> Vec<(String, u64, Option<u64>, Track)> {
        let (mut ranges, mut rows) = (Ranges::default(), Vec::new());
        marks.iter().for_each(|it| ranges.mark(it, 1000, &mut rows));
        ranges.finish(&mut rows);
        rows.into_iter().map(|row| (row.name.to_string(), row.begin, row.dur, row.track)).collect()
    }

    #[test]
    fn a_range_lasts_from_the_return_of_its_push_to_its_pop() {
        let own = Track::Thread(7);
        let all = found(&[
            mark("push", 10, "a"),
            mark("push", 20, "b"),
            mark("pop", 30, ""),
            mark("pop", 40, ""),
            mark("push", 50, "c"),
        ]);
        assert_eq!(
            all,
            [
                ("b".into(), 1022, Some(8), own),
                ("a".into(), 1012, Some(28), own),
                ("c".into(), 1052, None, own)
            ]
        );
    }

    #[test]
    fn levels_tell_which_ends_were_lost() {
        let level = |mark: Mark, level| Mark { level: Some(level), ..mark };
        let all = found(&[
            level(mark("push", 10, "a"), 0),
            level(mark("push", 20, "b"), 1),
            level(mark("push", 30, "c"), 0),
            level(mark("pop", 40, ""), 0),
        ]);
        let times: Vec<_> = all.iter().map(|(name, begin, dur, _)| (name.as_str(), *begin, *dur)).collect();
        assert_eq!(times, [("b", 1022, Some(8)), ("a", 1012, Some(18)), ("c", 1032, Some(8))]);
    }

    #[test]
    fn what_may_overlap_is_beside_its_thread() {
        let id = |mark: Mark, id| Mark { value: Hex(id), ..mark };
        let slot = |slot| Track::Other { what: TrackKind::Ranges, of: None, slot };
        let all = found(&[
            id(mark("start", 10, "a"), 1),
            id(mark("start", 20, "b"), 2),
            id(mark("stop", 30, ""), 1),
            id(mark("stop", 40, ""), 2),
            id(mark("start", 50, "c"), 1),
            id(mark("stop", 60, ""), 1),
        ]);
        assert_eq!(
            all,
            [
                ("a".into(), 1012, Some(18), slot(0)),
                ("b".into(), 1022, Some(18), slot(1)),
                ("c".into(), 1052, Some(8), slot(0))
            ]
        );
        // Begun inside a call, and ended outside of it.
        let mut begun = mark("push", 10, "d");
        begun.call.parent = Some(3);
        assert_eq!(found(&[begun, mark("pop", 20, "")]), [("d".into(), 1012, Some(8), slot(0))]);
    }
}
