//! The random order of the runs of an experiment.

use serde::{Deserialize, Serialize};

/// The order of the runs: two with the change and two without it in random order, then all others
/// in random order, so that an experiment in which nothing follows the change can end after four
/// runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// For each run, whether it is made with the change.
    pub changed: Vec<bool>,
}

/// Runs after which an experiment can end.
const FIRST: usize = 4;

impl Order {
    /// Draws an order of `each` runs with the change and as many without it, at least two; the
    /// program must not know `seed`.
    pub fn draw(each: usize, seed: u64) -> Order {
        let mut lots = Lots(seed);
        let mut changed = lots.shuffled(FIRST);
        changed.extend(lots.shuffled(2 * each.max(FIRST / 2) - FIRST));
        Order { changed }
    }

    /// The probability that choices which do not depend on the change separate, after `runs` runs
    /// in this order, into one choice without and another one with it: 2 in the number of orders
    /// that could have been drawn. A block that was not finished counts as nothing.
    pub fn chance(&self, runs: usize) -> f64 {
        let rest = self.changed.len() - FIRST;
        let orders = match runs {
            runs if runs >= self.changed.len() => halves(FIRST) * halves(rest),
            runs if runs >= FIRST => halves(FIRST),
            _ => 1.0,
        };
        (2.0 / orders).min(1.0)
    }
}

/// Returns the number of ways to choose half of `runs` runs.
fn halves(runs: usize) -> f64 {
    // Each product is a binomial coefficient, so the division leaves no rest; doubles have room for
    // any number of runs.
    (1..=runs / 2).fold(1.0, |ways, at| ways * (runs / 2 + at) as f64 / at as f64)
}

/// Pseudo-random numbers (SplitMix64).
struct Lots(u64);

impl Lots {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns half of the runs with the change and half without, in random order (Fisher-Yates).
    fn shuffled(&mut self, runs: usize) -> Vec<bool> {
        let mut runs: Vec<bool> = (0..runs).map(|at| at % 2 == 1).collect();
        for at in (1..runs.len()).rev() {
            runs.swap(at, (self.next() % (at as u64 + 1)) as usize);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_has_as_many_runs_with_the_change_as_without() {
        for seed in 0..200 {
            let order = Order::draw(8, seed).changed;
            let with = |runs: &[bool]| runs.iter().filter(|changed| **changed).count();
            assert_eq!((order.len(), with(&order[..4]), with(&order)), (16, 2, 8), "{seed}");
        }
        assert_eq!(Order::draw(0, 1).changed.len(), 4);
    }

    #[test]
    fn all_orders_of_a_block_come_equally_often() {
        let mut counts = std::collections::BTreeMap::<Vec<bool>, u32>::new();
        (0..6000).for_each(|seed| *counts.entry(Order::draw(2, seed).changed).or_default() += 1);
        // 1000 of each expected; the standard deviation is 29.
        assert!(counts.len() == 6 && counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_chance_is_two_in_the_number_of_orders() {
        // 6 orders of four; 924 of twelve.
        let order = Order::draw(8, 1);
        assert_eq!([0, 4, 15, 16].map(|runs| order.chance(runs)), [1.0, 2.0 / 6.0, 2.0 / 6.0, 2.0 / 5544.0]);
        assert_eq!(Order::draw(2, 1).chance(4), 2.0 / 6.0);
    }
}
