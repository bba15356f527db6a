//! What the handles of MIOpen's Find 2.0 and fusion plans stand for: kept while they are built up, told when they are to
//! be run. What was not seen being made is not here, and is nothing that anyone knows.

use crate::platform::signals::lock;
use parking_lot::Mutex;
use rocshim_ring::{clock, conv::Conv};
use std::collections::HashMap;

/// What was last told of a solution or plan: its solver id, what it stands for.
type Told = (u64, Option<Conv>);

/// Problems and plans being built, and what was told of solutions and plans; each with the stamp since when.
#[derive(Default)]
pub(crate) struct Problems {
    /// Problem or plan → what it stands for.
    built: Mutex<HashMap<u64, (u64, Conv)>>,
    told: Mutex<HashMap<u64, (u64, Told)>>,
}

impl Problems {
    /// `handle` is new and stands for `conv`, which may be something else than a convolution.
    pub(crate) fn begin(&self, handle: u64, conv: Conv) {
        lock(&self.built).insert(handle, (clock::now(), conv));
    }

    /// Adds to what `handle` stands for, if that is known.
    pub(crate) fn change(&self, handle: u64, change: impl FnOnce(&mut Conv)) {
        if let Some((_, conv)) = lock(&self.built).get_mut(&handle) {
            change(conv);
        }
    }

    /// `first` becomes both; nobody knows what, unless both are known.
    pub(crate) fn fuse(&self, first: u64, second: u64) {
        let mut built = lock(&self.built);
        let both = built.get(&first).zip(built.get(&second)).map(|((since, a), (_, b))| {
            let operations = a.operations.then(b.operations);
            let problem = if b.is_convolution && !a.is_convolution { b } else { a };
            (*since, Conv { operations, ..*problem })
        });
        match both {
            Some(both) => built.insert(first, both),
            None => built.remove(&first),
        };
    }

    /// What `handle` stands for by now.
    pub(crate) fn get(&self, handle: u64) -> Option<Conv> {
        lock(&self.built).get(&handle).map(|(_, conv)| *conv)
    }

    /// True when it was not told yet that solution or plan `handle` is run by `solver` and stands for `conv`.
    pub(crate) fn is_news(&self, handle: u64, solver: u64, conv: Option<Conv>) -> bool {
        let told = lock(&self.told).insert(handle, (clock::now(), (solver, conv)));
        told.map(|(_, told)| told) != Some((solver, conv))
    }

    /// True when it was not told yet that MIOpen calls the solver of solution `handle` so.
    pub(crate) fn is_new_solver(&self, handle: u64, solver: u64) -> bool {
        let mut told = lock(&self.told);
        let (_, known) = told.entry(handle).or_insert_with(|| (clock::now(), Told::default()));
        std::mem::replace(&mut known.0, solver) != solver
    }

    /// What `handle` stood for before `stamp` is gone; true when something was told of it.
    pub(crate) fn forget(&self, handle: u64, stamp: u64) -> bool {
        // Another thread may have been given the handle since.
        let is_old = |since: u64| since <= stamp;
        lock(&self.built).retain(|known, (since, _)| *known != handle || !is_old(*since));
        let mut told = lock(&self.told);
        let is_told = told.get(&handle).is_some_and(|(since, _)| is_old(*since));
        is_told && told.remove(&handle).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_ring::conv::{Operation, Operations};

    fn problem(operation: Operation) -> Conv {
        let is_convolution = operation == Operation::Convolution;
        Conv { is_convolution, groups: 7, operations: Operations::of(&[operation]), ..Conv::default() }
    }

    #[test]
    fn a_fused_problem_is_both_and_nothing_when_one_is_not_known() {
        let problems = Problems::default();
        problems.begin(1, problem(Operation::Convolution));
        problems.begin(2, problem(Operation::Bias));
        problems.begin(3, problem(Operation::Activation));
        problems.fuse(2, 3);
        problems.fuse(1, 2);
        let fused = problems.get(1).unwrap();
        assert!(fused.is_convolution);
        assert_eq!(fused.operations.words(), ["convolution", "bias", "activation"]);
        problems.fuse(1, 4);
        assert_eq!(problems.get(1), None);
    }

    #[test]
    fn what_was_destroyed_is_forgotten_unless_its_handle_was_given_out_anew() {
        let problems = Problems::default();
        problems.begin(1, problem(Operation::Bias));
        assert!(problems.is_news(1, 5, None) && !problems.is_news(1, 5, None));
        let before = clock::now();
        assert!(problems.forget(1, before));
        assert_eq!(problems.get(1), None);
        assert!(!problems.forget(1, before));
        problems.begin(1, problem(Operation::Softmax));
        assert!(problems.is_news(1, 5, None));
        assert!(!problems.forget(1, before), "destroyed before it was made anew");
        assert!(problems.get(1).is_some() && !problems.is_news(1, 5, None));
    }
}
