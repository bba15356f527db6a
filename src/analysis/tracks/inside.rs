//! Finds the launches made inside a call: each has an arrow from the call that made it.
//!
//! A launch's line precedes its caller's. So each thread has a stack of calls that have not
//! returned but inside which something was launched; ids grow from bottom to top. A caller whose
//! line was lost passes its launches to the next one below.

use foldhash::HashMap;
use rocshim_trace::Call;
use std::ops::Range;

type Arrows = Vec<Range<u64>>;

#[derive(Default)]
pub(super) struct Inside {
    threads: HashMap<u32, Vec<(u64, Arrows)>>,
}

impl Inside {
    /// A launch was made inside a call: arrow `number` ends at it.
    pub(super) fn launch(&mut self, call: &Call, parent: u64, number: u64) {
        let open = self.threads.entry(call.tid).or_default();
        while open.last().is_some_and(|(id, _)| *id > parent) {
            open.pop();
        }
        if open.last().is_none_or(|(id, _)| *id < parent) {
            open.push((parent, Vec::new()));
        }
        let Some((_, arrows)) = open.last_mut() else { return };
        match arrows.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => arrows.push(number..number + 1),
        }
    }

    /// A call has returned: the arrows that begin at it.
    pub(super) fn take(&mut self, call: &Call) -> Arrows {
        let Some(open) = self.threads.get_mut(&call.tid) else { return Vec::new() };
        let mut arrows = Vec::new();
        while let Some((id, _)) = open.last().filter(|(id, _)| *id >= call.id) {
            let is_it = *id == call.id;
            let taken = open.pop();
            if is_it {
                arrows = taken.map(|(_, arrows)| arrows).unwrap_or_default();
            }
        }
        if open.is_empty() {
            self.threads.remove(&call.tid);
        }
        arrows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: u64) -> Call {
        Call { tid: 1, id, ..Call::default() }
    }

    #[test]
    fn arrows_go_to_the_call_that_made_the_launch_even_where_others_were_lost() {
        let mut inside = Inside::default();
        // 1 { 2 { 3 } 4 { 5 6 } 7 }: launches 3, 5, 6, 7; the line of 2 was lost.
        inside.launch(&call(3), 2, 10);
        inside.launch(&call(5), 4, 11);
        inside.launch(&call(6), 4, 12);
        assert_eq!(inside.take(&call(4)), [Range { start: 11, end: 13 }]);
        inside.launch(&call(7), 1, 13);
        assert_eq!(inside.take(&call(1)), [Range { start: 13, end: 14 }]);
        assert_eq!(inside.take(&call(8)), []);
        assert!(inside.threads.is_empty());
    }
}
