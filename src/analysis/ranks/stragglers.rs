//! Tests which ranks the others wait for, and measures what the waiting costs.

use super::steps::{StepTime, median};

/// Significance level, over all ranks of a group.
pub(super) const LEVEL: f64 = 0.01;
/// Minimum time outside of collectives that counts, relative to the median rank.
pub(super) const RATIO: f64 = 1.05;
/// The fewest steps that are tested.
pub(super) const FEWEST: usize = 4;

/// The rule, for people.
pub const RULE: &str = "a straggler spends at least 1.05 times the median rank's time outside of \
    collectives (median over steps), no more time in them than the median rank, and of equal ranks \
    one would be as slow in as many steps with a probability below 0.01 (Chernoff's bound on the sum \
    of its places in each step, times the number of ranks)";

/// The test's verdict on a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tested {
    pub(super) steps: usize,
    /// Median over steps: its time outside of collectives, relative to the step's median rank.
    pub(super) ratio: f64,
    /// The probability that one of as many equal ranks looks like this.
    pub(super) p: f64,
    /// Median over steps: its time in collectives less that of the median rank, ns.
    pub(super) in_less_ns: i64,
    /// Median over steps: how much longer the median rank waits than this one, ns.
    pub(super) cost_ns: u64,
}

impl Tested {
    pub(super) fn is_straggler(&self) -> bool {
        self.steps >= FEWEST && self.ratio >= RATIO && self.p < LEVEL && self.in_less_ns <= 0
    }
}

/// Tests each rank of a group; `times` are by rank and step.
pub(super) fn tested(times: &[Vec<Option<StepTime>>]) -> Vec<Tested> {
    let steps = times.iter().map(Vec::len).max().unwrap_or(0);
    let mut ranks: Vec<Sums> = vec![Sums::default(); times.len()];
    for step in 0..steps {
        let of_step: Vec<(usize, StepTime)> =
            times.iter().enumerate().filter_map(|(rank, times)| Some((rank, (*times.get(step)?)?))).collect();
        if of_step.len() < 2 {
            continue;
        }
        let mut own: Vec<u64> = of_step.iter().map(|(_, time)| time.own_ns).collect();
        let middle_in = median(of_step.iter().map(|(_, time)| time.in_ns).collect()) as i64;
        own.sort_unstable();
        let middle = own[(own.len() - 1) / 2].max(1) as f64;
        for (rank, time) in &of_step {
            // Number of other ranks that take as long or longer.
            let slower = own.len() - own.partition_point(|other| *other < time.own_ns) - 1;
            let sums = &mut ranks[*rank];
            sums.places += slower;
            sums.of += own.len();
            sums.ratios.push(time.own_ns as f64 / middle);
            sums.in_less.push(time.in_ns as i64 - middle_in);
        }
    }
    let all = ranks.len() as f64;
    ranks.into_iter().map(|sums| sums.tested(all)).collect()
}

#[derive(Clone, Default)]
struct Sums {
    /// Over steps: how many ranks were as slow or slower.
    places: usize,
    /// Over steps: how many ranks were compared.
    of: usize,
    ratios: Vec<f64>,
    in_less: Vec<i64>,
}

impl Sums {
    fn tested(mut self, ranks: f64) -> Tested {
        self.ratios.sort_by(f64::total_cmp);
        self.in_less.sort_unstable();
        let steps = self.ratios.len();
        let at = steps.saturating_sub(1) / 2;
        let in_less_ns = self.in_less.get(at).copied().unwrap_or(0);
        Tested {
            steps,
            ratio: self.ratios.get(at).copied().unwrap_or(1.0),
            p: (as_slow(self.places as f64, steps as f64, self.of as f64) * ranks).min(1.0),
            in_less_ns,
            cost_ns: in_less_ns.min(0).unsigned_abs(),
        }
    }
}

/// An upper bound of the probability that the places of one of equal ranks, from 0 for the slowest,
/// sum up to `places` or less over `steps` in which `of` ranks took part, all steps together.
///
/// Chernoff's bound: of the moment-generating function of a place that is equally likely to be any,
/// at its best parameter.
fn as_slow(places: f64, steps: f64, of: f64) -> f64 {
    if steps == 0.0 {
        return 1.0;
    }
    let ranks = of / steps;
    // The logarithm of the bound for parameter e^x; it has one minimum.
    let bound = |x: f64| {
        let t = libm::exp(x);
        t * places + steps * ((-libm::expm1(-t * ranks)).ln() - (-libm::expm1(-t)).ln() - ranks.ln())
    };
    let (mut low, mut high) = (-30.0, 6.0);
    for _ in 0..100 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if bound(a) < bound(b) { high = b } else { low = a }
    }
    libm::exp(bound(low).min(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise that a test can repeat: a linear congruential generator.
    fn noise(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % 40
    }

    fn times(ranks: usize, steps: usize, slow: impl Fn(usize) -> u64) -> Vec<Vec<Option<StepTime>>> {
        let mut seed = 7;
        let own: Vec<Vec<u64>> = (0..ranks)
            .map(|rank| (0..steps).map(|_| (1000 + noise(&mut seed)) * slow(rank) / 100).collect())
            .collect();
        let last = |step: usize| own.iter().map(|of| of[step]).max().unwrap();
        let time = |own: u64, step| StepTime { begin_ns: 0, own_ns: own, in_ns: last(step) - own + 50 };
        own.iter()
            .map(|of| of.iter().enumerate().map(|(step, own)| Some(time(*own, step))).collect())
            .collect()
    }

    fn stragglers(times: &[Vec<Option<StepTime>>]) -> Vec<usize> {
        let tested = tested(times);
        (0..tested.len()).filter(|rank| tested[*rank].is_straggler()).collect()
    }

    #[test]
    fn each_slow_rank_is_found_and_no_other() {
        for ranks in [4, 8, 64, 1024] {
            assert_eq!(stragglers(&times(ranks, 12, |_| 100)), Vec::<usize>::new(), "{ranks}");
            assert_eq!(
                stragglers(&times(ranks, 12, |rank| if rank == 3 { 110 } else { 100 })),
                [3],
                "{ranks}"
            );
        }
        let two = times(64, 12, |rank| if rank == 3 || rank == 9 { 120 } else { 100 });
        assert_eq!(stragglers(&two), [3, 9]);
    }

    #[test]
    fn few_steps_decide_nothing() {
        assert_eq!(stragglers(&times(64, 3, |rank| if rank == 3 { 300 } else { 100 })), Vec::<usize>::new());
    }

    #[test]
    fn the_bound_is_exact_for_the_slowest_and_nothing_for_the_middle() {
        let slowest = as_slow(0.0, 11.0, 88.0);
        assert!((slowest / 8f64.powi(-11) - 1.0).abs() < 0.1, "{slowest:e}");
        assert!(as_slow(39.0, 11.0, 88.0) > 0.9, "3.5 is the mean place of eight");
        let bound = as_slow(11.0, 11.0, 88.0);
        assert!(bound > slowest && bound < 0.001, "{bound:e}");
    }
}
