//! Tests whether calls of one kind took longer in one run than in another: the Mann–Whitney U test.
//!
//! It tests whether a call of one run tends to be longer than one of the other, without assuming a
//! distribution of times, so a few slow calls do not decide. Times are compared by their buckets
//! (1.6 %), so ties are frequent: the variance is corrected for ties, U for continuity, and p
//! (two-sided) is that of the normal approximation, which holds from about eight calls on each run.
//! With enough calls the test finds differences without any effect: a kernel is called slower or
//! faster only if its median also changed by a smallest effect, 5 % and 50 ns.
//!
//! One page tests many kernels, so p is adjusted to q by Benjamini and Hochberg's procedure: of the
//! differences reported at q < 0.05, one in twenty is expected to be false.

use crate::{durations::Durations, units};
use serde::Serialize;

/// Calls that each run must have.
pub const LEAST_CALLS: u64 = 8;
/// Differences are reported below this q.
const LEVEL: f64 = 0.05;
/// The smallest change of the median that is reported, as a part of the baseline's. A recorded call
/// itself takes 20 ns more or less.
const LEAST_PART: f64 = 0.05;
/// The same in ns: both must be reached.
const LEAST_NS: u64 = 50;
/// The smallest effect in words.
pub const LEAST_EFFECT: &str = "5 % and 50 ns";

/// The test's verdict on a kernel's calls, compared with the baseline's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Speed {
    /// q < 0.05, and the median is longer by the smallest effect.
    Slower,
    /// q < 0.05, and the median is shorter by the smallest effect.
    Faster,
    /// Neither.
    NoDifference,
    /// A run has fewer than eight calls.
    TooFewCalls,
    /// No call in a run: only graphs launched it, which takes no call.
    #[default]
    NotTimed,
}

/// The test of one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Test {
    /// The verdict.
    pub speed: Speed,
    /// The median duration as a multiple of the baseline's.
    pub median_ratio: Option<f64>,
    /// Probability, 0 to 1, that a call took longer than a call of the baseline; ties count half.
    pub longer: Option<f64>,
    /// The test's p.
    pub p: Option<f64>,
    /// p adjusted for the number of kernels that were tested.
    pub q: Option<f64>,
}

impl Test {
    /// `1.50x slower`, `no difference`; nothing where no call was timed.
    pub(super) fn in_words(&self) -> Option<String> {
        let ratio = self.median_ratio.map(units::multiple).unwrap_or_default();
        Some(match self.speed {
            Speed::Slower => format!("{ratio} slower"),
            Speed::Faster => format!("{ratio} faster"),
            Speed::NoDifference => "no difference".into(),
            Speed::TooFewCalls => "too few calls".into(),
            Speed::NotTimed => return None,
        })
    }
}

/// Tests all kernels; a pair is the baseline's calls and the other run's.
pub(super) fn tests(pairs: &[(&Durations, &Durations)]) -> Vec<Test> {
    let measured: Vec<Option<(f64, f64)>> = pairs.iter().map(|(a, b)| mann_whitney(a, b)).collect();
    let mut q = adjusted(&measured.iter().flatten().map(|(p, _)| *p).collect::<Vec<_>>()).into_iter();
    pairs
        .iter()
        .zip(measured)
        .map(|((a, b), measured)| {
            let q = measured.and_then(|_| q.next());
            let medians = a.median().zip(b.median());
            Test {
                speed: speed(a, b, q),
                median_ratio: medians.map(|(a, b)| b as f64 / a.max(1) as f64),
                longer: measured.map(|(_, longer)| longer),
                p: measured.map(|(p, _)| p),
                q,
            }
        })
        .collect()
}

fn speed(a: &Durations, b: &Durations, q: Option<f64>) -> Speed {
    let (Some(was), Some(is)) = (a.median(), b.median()) else { return Speed::NotTimed };
    let change = was.abs_diff(is);
    let matters = change >= LEAST_NS && change as f64 >= LEAST_PART * was as f64;
    match q {
        None => Speed::TooFewCalls,
        Some(q) if q < LEVEL && matters && is > was => Speed::Slower,
        Some(q) if q < LEVEL && matters && is < was => Speed::Faster,
        Some(_) => Speed::NoDifference,
    }
}

/// Returns p, and the probability that a call of `b` is longer than one of `a`; `None` for too few
/// calls.
fn mann_whitney(a: &Durations, b: &Durations) -> Option<(f64, f64)> {
    if a.calls().min(b.calls()) < LEAST_CALLS {
        return None;
    }
    let (n_a, n_b) = (a.calls() as f64, b.calls() as f64);
    // U counts the pairs in which b's call is longer; ties count half.
    let (mut u, mut ties, mut below) = (0.0, 0.0, 0.0);
    for (in_a, in_b) in side_by_side(a, b) {
        u += in_b * (below + in_a / 2.0);
        below += in_a;
        ties += (in_a + in_b).powi(3) - (in_a + in_b);
    }
    let all = n_a + n_b;
    let variance = n_a * n_b / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    let distance = ((u - n_a * n_b / 2.0).abs() - 0.5).max(0.0);
    let p =
        if variance > 0.0 { libm::erfc(distance / variance.sqrt() / std::f64::consts::SQRT_2) } else { 1.0 };
    Some((p, u / (n_a * n_b)))
}

/// Returns the numbers of calls of both in each bucket that either has, shortest first.
fn side_by_side(a: &Durations, b: &Durations) -> Vec<(f64, f64)> {
    let (mut a, mut b) = (a.buckets().iter().peekable(), b.buckets().iter().peekable());
    let mut both = Vec::new();
    while let Some(next) = a.peek().into_iter().chain(b.peek()).map(|(bucket, _)| *bucket).min() {
        let calls = |(_, calls): &(u16, u64)| *calls as f64;
        let in_a = a.next_if(|(bucket, _)| *bucket == next).map_or(0.0, calls);
        let in_b = b.next_if(|(bucket, _)| *bucket == next).map_or(0.0, calls);
        both.push((in_a, in_b));
    }
    both
}

/// Benjamini and Hochberg: multiplies the k-th smallest of n by n/k, then makes the result
/// monotonic.
fn adjusted(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*b].total_cmp(&p[*a]));
    let (mut q, mut least) = (vec![1.0; p.len()], 1.0_f64);
    for (place, at) in order.into_iter().enumerate() {
        least = least.min(p[at] * p.len() as f64 / (p.len() - place) as f64);
        q[at] = least;
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lengths: &[u64]) -> Durations {
        let mut durations = Durations::default();
        lengths.iter().for_each(|ns| durations.add(*ns));
        durations
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }

    #[test]
    fn p_is_that_of_the_textbook() {
        // No ties, b all above a: U = 64, variance 8·8·17/12 = 90.667, z = (64 - 32 - 0.5)/9.5219 =
        // 3.30817, p = erfc(3.30817/√2) = 0.000939 (scipy: mannwhitneyu(range(8), range(8, 16),
        // method="asymptotic")).
        let (low, high) = (of(&[0, 1, 2, 3, 4, 5, 6, 7]), of(&[8, 9, 10, 11, 12, 13, 14, 15]));
        let (p, longer) = mann_whitney(&low, &high).unwrap();
        near(p, 0.000_939_109_1);
        near(longer, 1.0);
        assert_eq!(mann_whitney(&high, &low).unwrap(), (p, 0.0));
        // Ties: 6 of ten at 1 and 4 at 2, against 2 at 1 and 8 at 2. U = 2·3 + 8·(6 + 2) = 70, ties
        // 8³ - 8 + 12³ - 12 = 2220, variance 100/12·(21 - 2220/380) = 126.316, z = (70 - 50 -
        // 0.5)/11.239 = 1.73502, p = 0.082738.
        let (a, b) = (of(&[1, 1, 1, 1, 1, 1, 2, 2, 2, 2]), of(&[1, 1, 2, 2, 2, 2, 2, 2, 2, 2]));
        let (p, longer) = mann_whitney(&a, &b).unwrap();
        assert!((p - 0.0827).abs() < 1e-4, "{p}");
        near(longer, 0.7);
        // All alike: undecided.
        assert_eq!(mann_whitney(&of(&[5; 9]), &of(&[5; 8])), Some((1.0, 0.5)));
    }

    #[test]
    fn q_grows_with_the_number_of_tests() {
        // Four: 0.01·4/1, 0.02·4/2, 0.03·4/3 are 0.04; 0.5·4/4.
        assert_eq!(adjusted(&[0.5, 0.01, 0.03, 0.02]), [0.5, 0.04, 0.04, 0.04]);
        assert_eq!(adjusted(&[0.9, 0.2]), [0.9, 0.4]);
        assert_eq!(adjusted(&[]), [0.0; 0]);
    }

    #[test]
    fn a_verdict_wants_calls_and_medians_that_differ() {
        let (few, fast, slow, none) = (of(&[5; 7]), of(&[1000; 40]), of(&[1200; 40]), of(&[]));
        let found = |a, b| tests(&[(a, b)])[0];
        assert_eq!(found(&fast, &few).speed, Speed::TooFewCalls);
        assert_eq!(found(&fast, &none).speed, Speed::NotTimed);
        assert_eq!(found(&fast, &fast).speed, Speed::NoDifference);
        assert_eq!(found(&slow, &fast).speed, Speed::Faster);
        let found = found(&fast, &slow);
        let [was, is] = [&fast, &slow].map(|calls| calls.median().unwrap() as f64);
        assert_eq!(
            (found.speed, found.median_ratio, found.longer),
            (Speed::Slower, Some(is / was), Some(1.0))
        );
        assert!(found.q.unwrap() < 1e-9);
        // The same medians: a tail is no other speed.
        let tail = of(&[[1000; 30].as_slice(), &[9000; 10]].concat());
        assert_eq!(tests(&[(&fast, &tail)])[0].speed, Speed::NoDifference);
    }

    #[test]
    fn a_difference_below_the_smallest_effect_is_none() {
        let found = |was, is| {
            let found = tests(&[(&of(&[was; 500]), &of(&[is; 500]))])[0];
            assert!(found.q.unwrap() < 1e-9, "the test finds it");
            found.speed
        };
        assert_eq!(found(34, 36), Speed::NoDifference, "6 %, but 2 ns");
        assert_eq!(found(100_000, 103_000), Speed::NoDifference, "3 µs, but 3 %");
        assert_eq!([found(1_000, 1_100), found(1_100, 1_000)], [Speed::Slower, Speed::Faster]);
    }
}
