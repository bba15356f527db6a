//! Contents of MIOpen's Find 2.0 problems and of fusion plans: tracked while they are built,
//! emitted when they are about to run. A handle whose creation was not intercepted is absent.

use crate::platform::signals::lock;
use parking_lot::Mutex;
use rocshim_ring::{clock, conv::Conv};
use std::collections::HashMap;

/// What was last emitted of a solution or plan: its solver id and its contents.
type Emitted = (u64, Option<Conv>);

/// Problems and plans being built, and what is emitted of solutions and plans, each with the stamp
/// of its first use.
#[derive(Default)]
pub(crate) struct Problems {
    /// Problem or plan → its contents.
    built: Mutex<HashMap<u64, (u64, Conv)>>,
    emitted: Mutex<HashMap<u64, (u64, Emitted)>>,
}

impl Problems {
    /// Adds a new `handle` for `conv`, which may describe another operation than a convolution.
    pub(crate) fn insert(&self, handle: u64, conv: Conv) {
        lock(&self.built).insert(handle, (clock::now(), conv));
    }

    /// Changes the contents of `handle`, if they are known.
    pub(crate) fn change(&self, handle: u64, change: impl FnOnce(&mut Conv)) {
        if let Some((_, conv)) = lock(&self.built).get_mut(&handle) {
            change(conv);
        }
    }

    /// Appends `second` to `first`; the result is unknown unless both are known.
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

    /// Returns the present contents of `handle`.
    pub(crate) fn get(&self, handle: u64) -> Option<Conv> {
        lock(&self.built).get(&handle).map(|(_, conv)| *conv)
    }

    /// Notes that solution or plan `handle` is emitted as `conv` run by `solver`; returns true if
    /// the last definition differs.
    pub(crate) fn mark_emitted(&self, handle: u64, solver: u64, conv: Option<Conv>) -> bool {
        let emitted = lock(&self.emitted).insert(handle, (clock::now(), (solver, conv)));
        emitted.map(|(_, emitted)| emitted) != Some((solver, conv))
    }

    /// Notes the solver of solution `handle`; returns true if it was not emitted.
    pub(crate) fn mark_solver(&self, handle: u64, solver: u64) -> bool {
        let mut emitted = lock(&self.emitted);
        let (_, known) = emitted.entry(handle).or_insert_with(|| (clock::now(), Emitted::default()));
        std::mem::replace(&mut known.0, solver) != solver
    }

    /// Removes `handle` as it was before `stamp`; returns true if anything was emitted of it.
    pub(crate) fn remove(&self, handle: u64, stamp: u64) -> bool {
        // Another thread may have been given the handle since.
        let is_old = |since: u64| since <= stamp;
        lock(&self.built).retain(|known, (since, _)| *known != handle || !is_old(*since));
        let mut emitted = lock(&self.emitted);
        let is_emitted = emitted.get(&handle).is_some_and(|(since, _)| is_old(*since));
        is_emitted && emitted.remove(&handle).is_some()
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
    fn a_fused_problem_has_both_operations_and_is_unknown_when_one_is() {
        let problems = Problems::default();
        problems.insert(1, problem(Operation::Convolution));
        problems.insert(2, problem(Operation::Bias));
        problems.insert(3, problem(Operation::Activation));
        problems.fuse(2, 3);
        problems.fuse(1, 2);
        let fused = problems.get(1).unwrap();
        assert!(fused.is_convolution);
        assert_eq!(fused.operations.words(), ["convolution", "bias", "activation"]);
        problems.fuse(1, 4);
        assert_eq!(problems.get(1), None);
    }

    #[test]
    fn a_destroyed_handle_is_removed_unless_it_was_given_out_again() {
        let problems = Problems::default();
        problems.insert(1, problem(Operation::Bias));
        assert!(problems.mark_emitted(1, 5, None) && !problems.mark_emitted(1, 5, None));
        let before = clock::now();
        assert!(problems.remove(1, before));
        assert_eq!(problems.get(1), None);
        assert!(!problems.remove(1, before));
        problems.insert(1, problem(Operation::Softmax));
        assert!(problems.mark_emitted(1, 5, None));
        assert!(!problems.remove(1, before), "destroyed before it was created again");
        assert!(problems.get(1).is_some() && !problems.mark_emitted(1, 5, None));
    }
}
