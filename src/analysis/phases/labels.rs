//! Labels of passes: the program's ranges (roctx), and the user's named times.

use crate::interner::Interner;
use foldhash::HashMap;
use rocshim_reader::Label;
use rocshim_trace::Mark;

/// A label, and whether it is one by time only.
pub(super) type Named = (String, bool);

/// The user's labels, by their begin.
pub(super) struct Labels(Vec<Label>);

/// Limit of the labels that are searched for one that has not ended: labels are not nested deeper.
const NESTED: usize = 64;

impl Labels {
    pub(super) fn new(mut labels: Vec<Label>) -> Labels {
        labels.sort_by_key(|label| label.begin);
        Labels(labels)
    }

    /// Returns the label at time `t`; of several, the last to begin.
    fn at(&self, t: u64) -> Option<&Label> {
        let begun = self.0.partition_point(|label| label.begin <= t);
        self.0[..begun].iter().rev().take(NESTED).find(|label| t < label.end)
    }
}

/// Open ranges of a process.
#[derive(Default)]
pub(super) struct Ranges {
    /// By thread, the outermost first.
    of_threads: HashMap<u32, Vec<usize>>,
    /// Those with an id, in the order of their begin.
    started: Vec<(u64, usize)>,
}

impl Ranges {
    pub(super) fn mark(&mut self, names: &mut Interner<Named, Named>, mark: &Mark) {
        let text = mark.text.clone().unwrap_or_default();
        let mut number = |by_time| names.number((text.clone(), by_time), || (text.clone(), by_time));
        match mark.action.as_str() {
            "push" => self.of_threads.entry(mark.call.tid).or_default().push(number(false)),
            "pop" => {
                if let Some(open) = self.of_threads.get_mut(&mark.call.tid) {
                    open.pop();
                    if open.is_empty() {
                        self.of_threads.remove(&mark.call.tid);
                    }
                }
            }
            "start" => self.started.push((mark.value.0, number(false))),
            "stop" => self.started.retain(|(id, _)| *id != mark.value.0),
            _ => {}
        }
    }

    /// Returns the label of a launch of `thread` at `t` (Unix ns): the user's; else the outermost
    /// range of the thread; else the first range with an id; else the range of the only other
    /// thread that has one.
    pub(super) fn label(
        &self,
        thread: u32,
        labels: &Labels,
        names: &mut Interner<Named, Named>,
        t: u64,
    ) -> Option<usize> {
        let mut by_time = |name: &str| names.number((name.to_string(), true), || (name.to_string(), true));
        if let Some(label) = labels.at(t) {
            return Some(by_time(&label.name));
        }
        let own = self.of_threads.get(&thread).and_then(|open| open.first().copied());
        own.or_else(|| self.started.first().map(|(_, label)| *label)).or_else(|| {
            let mut others = self.of_threads.values().filter_map(|open| open.first());
            let other = *others.next().filter(|_| self.of_threads.len() == 1)?;
            let name = names.get(other).0.clone();
            Some(names.number((name.clone(), true), || (name, true)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_trace::Call;

    fn mark(tid: u32, action: &str, text: &str) -> Mark {
        let call = Call { tid, ..Call::default() };
        Mark { call, action: action.into(), text: Some(text.into()), ..Mark::default() }
    }

    #[test]
    fn the_user_comes_before_the_outermost_range_and_that_before_another_threads() {
        let (mut names, mut ranges) = (Interner::new(), Ranges::default());
        let labels = Labels::new(vec![
            Label { name: "second".into(), begin: 20, end: 30 },
            Label { name: "first".into(), begin: 10, end: 100 },
        ]);
        ranges.mark(&mut names, &mark(1, "push", "forward"));
        ranges.mark(&mut names, &mark(1, "push", "linear"));
        let mut called = |ranges: &Ranges, thread, t| {
            ranges.label(thread, &labels, &mut names, t).map(|label| names.get(label).clone())
        };
        let found =
            [(1, 5), (2, 5), (1, 10), (1, 25), (1, 30), (1, 100)].map(|(tid, t)| called(&ranges, tid, t));
        let name = |name: &str, by_time| Some((name.to_string(), by_time));
        let forward = name("forward", false);
        assert_eq!(
            found,
            [
                forward.clone(),
                name("forward", true),
                name("first", true),
                name("second", true),
                name("first", true),
                forward
            ]
        );
        let mut names = Interner::new();
        ranges.mark(&mut names, &mark(1, "pop", ""));
        ranges.mark(&mut names, &mark(1, "pop", ""));
        assert_eq!(ranges.label(1, &labels, &mut names, 5), None);
    }
}
