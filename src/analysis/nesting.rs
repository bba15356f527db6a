//! Finds the launches inside a call, from lines in the order in which calls returned.
//!
//! A child's line precedes its parent's. So each thread has a stack of calls whose parent has not
//! returned: ids grow from bottom to top, because they are assigned at entry. A returning call
//! takes everything at and above its own id; what is between it and its parent belongs to calls
//! whose lines were lost. So the stack is never higher than the calls were deep.

use crate::session::SymbolId;
use foldhash::HashMap;
use rocshim_trace::Call;

/// Launches and GEMMs inside a call, at any depth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Kernels by symbol, in order of first launch.
    pub kernels: Vec<(SymbolId, Launches)>,
    /// GEMMs that the program requested (one inside another counts as that one).
    pub gemms: u64,
    /// Kinds of GEMMs by number, with the calls that are not known to be trials of a search.
    pub products: Vec<(usize, u64)>,
    /// The ids of executed launches, where their GPU times are wanted.
    pub launched: Vec<u64>,
}

/// Launches of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Launches {
    /// Executed launches.
    pub launches: u64,
    /// Launches that returned an error, and were not executed.
    pub failed: u64,
    /// Those of them that were trials: made while MIOpen searched for the fastest solver.
    pub trials: u64,
    /// Launches that a capture recorded into a graph instead.
    pub captured: u64,
}

impl Launches {
    /// Counts one launch: `captured` or executed, `failed` or not.
    pub(crate) fn one(captured: bool, failed: bool) -> Launches {
        let [launches, failed] = [!captured && !failed, !captured && failed].map(u64::from);
        Launches { launches, failed, trials: 0, captured: u64::from(captured) }
    }
}

impl Contents {
    fn is_empty(&self) -> bool {
        self.kernels.is_empty() && self.gemms == 0 && self.products.is_empty()
    }

    /// Adds the contents of another call.
    pub(crate) fn add(&mut self, other: &Contents) {
        for (kernel, launches) in &other.kernels {
            self.add_launches(*kernel, *launches);
        }
        self.gemms += other.gemms;
        for (product, calls) in &other.products {
            self.add_product(*product, *calls);
        }
        self.launched.extend(&other.launched);
    }

    /// Adds calls of a kind of GEMM.
    pub(crate) fn add_product(&mut self, product: usize, calls: u64) {
        match self.products.iter_mut().find(|(known, _)| *known == product) {
            Some((_, sum)) => *sum += calls,
            None => self.products.push((product, calls)),
        }
    }

    fn add_launches(&mut self, kernel: SymbolId, launches: Launches) {
        match self.kernels.iter_mut().find(|(known, _)| *known == kernel) {
            Some((_, sum)) => {
                sum.launches += launches.launches;
                sum.failed += launches.failed;
                sum.trials += launches.trials;
                sum.captured += launches.captured;
            }
            None => self.kernels.push((kernel, launches)),
        }
    }
}

/// The open calls of each thread of one process.
#[derive(Clone, Default)]
pub(crate) struct Nesting {
    threads: HashMap<u32, Vec<(u64, Contents)>>,
}

impl Nesting {
    /// Returns the contents of a call that has returned, and removes them.
    pub(crate) fn take(&mut self, call: &Call) -> Contents {
        match self.threads.get_mut(&call.tid) {
            Some(open) => pop_from(open, call.id),
            None => Contents::default(),
        }
    }

    /// Passes the contents of a call, and the kernel that it launched itself, to its parent.
    pub(crate) fn hand_up(
        &mut self,
        call: &Call,
        contents: &Contents,
        launched: Option<(SymbolId, Launches)>,
    ) {
        let Some(parent) = call.parent else {
            // No call is open on this thread: the rest belongs to calls whose lines were lost.
            if let Some(open) = self.threads.get_mut(&call.tid) {
                open.clear();
            }
            return;
        };
        let open = self.threads.entry(call.tid).or_default();
        let mut all = pop_from(open, parent);
        all.add(contents);
        if let Some((kernel, launches)) = launched {
            all.add_launches(kernel, launches);
        }
        if !all.is_empty() {
            open.push((parent, all));
        }
    }
}

/// Removes everything at and above `id`, oldest first.
fn pop_from(open: &mut Vec<(u64, Contents)>, id: u64) -> Contents {
    let first = open.iter().rposition(|(open, _)| *open < id).map_or(0, |below| below + 1);
    let mut taken = open.drain(first..).map(|(_, contents)| contents);
    let Some(mut all) = taken.next() else { return Contents::default() };
    taken.for_each(|contents| all.add(&contents));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interner::Id;

    fn call(id: u64, parent: Option<u64>) -> Call {
        Call { tid: 1, id, parent, ..Call::default() }
    }

    /// Handles the return of a call, perhaps a launch; returns what it contained.
    fn returns(
        nesting: &mut Nesting,
        id: u64,
        parent: Option<u64>,
        launched: Option<usize>,
    ) -> Vec<(usize, u64)> {
        let inside = nesting.take(&call(id, parent));
        nesting.hand_up(
            &call(id, parent),
            &inside,
            launched.map(|kernel| (SymbolId::at(kernel), Launches::one(false, false))),
        );
        launches(inside)
    }

    fn launches(contents: Contents) -> Vec<(usize, u64)> {
        contents.kernels.into_iter().map(|(kernel, launches)| (kernel.index(), launches.launches)).collect()
    }

    #[test]
    fn every_ancestor_contains_the_launch() {
        let mut nesting = Nesting::default();
        // 1 contains 2, which contains the launches 3 and 4 of kernel 7; then 1 itself launches 8
        // (id 5).
        assert!(returns(&mut nesting, 3, Some(2), Some(7)).is_empty());
        assert!(returns(&mut nesting, 4, Some(2), Some(7)).is_empty());
        assert_eq!(returns(&mut nesting, 2, Some(1), None), [(7, 2)]);
        assert!(returns(&mut nesting, 5, Some(1), Some(8)).is_empty());
        assert_eq!(returns(&mut nesting, 1, None, None), [(7, 2), (8, 1)]);
        // Nothing is left for the next call.
        assert!(returns(&mut nesting, 6, None, None).is_empty());
        assert!(nesting.threads[&1].is_empty());
    }

    #[test]
    fn a_lost_parent_hands_its_launches_to_the_call_around_it() {
        let mut nesting = Nesting::default();
        // 1 contains 2 (its line is lost), which launched kernel 7; then 1 launches 8 as call 4.
        returns(&mut nesting, 3, Some(2), Some(7));
        returns(&mut nesting, 4, Some(1), Some(8));
        assert_eq!(returns(&mut nesting, 1, None, None), [(7, 1), (8, 1)]);
    }

    #[test]
    fn a_lost_outermost_call_leaves_nothing_behind() {
        let mut nesting = Nesting::default();
        returns(&mut nesting, 2, Some(1), Some(7)); // the line of 1 is lost
        assert!(returns(&mut nesting, 3, None, Some(8)).is_empty());
        assert!(nesting.threads[&1].is_empty());
    }

    #[test]
    fn threads_do_not_mix() {
        let mut nesting = Nesting::default();
        returns(&mut nesting, 2, Some(1), Some(7));
        let other = Call { tid: 2, id: 1, ..Call::default() };
        assert_eq!(nesting.take(&other), Contents::default());
        assert_eq!(launches(nesting.take(&call(1, None))), [(7, 1)]);
    }
}
