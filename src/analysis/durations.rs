//! Durations of calls in buckets: medians and comparisons of millions of calls in bounded memory.
//!
//! Below 64 ns each length has its own bucket; above, there are 64 buckets between two powers of
//! two, so none is wider than 1/64 (1.6 %) of its values. Only buckets with calls take memory: a
//! program may have ten thousand kernels (JAX), and the calls of each are mostly alike. A fixed
//! array for each, as in histogram crates, would be a hundred times larger.

/// Buckets between a power of two and the next.
const PARTS: u64 = 64;

/// The durations of one kind of call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Durations {
    /// Buckets by their number, ascending, with their calls.
    buckets: Vec<(u16, u64)>,
    calls: u64,
}

impl Durations {
    /// Counts a call that took `ns`.
    pub(crate) fn add(&mut self, ns: u64) {
        self.add_bucket(bucket(ns), 1);
    }

    /// Adds the durations of another kind of call.
    pub(crate) fn merge(&mut self, other: &Durations) {
        other.buckets.iter().for_each(|(bucket, calls)| self.add_bucket(*bucket, *calls));
    }

    fn add_bucket(&mut self, bucket: u16, calls: u64) {
        self.calls += calls;
        match self.buckets.binary_search_by_key(&bucket, |(number, _)| *number) {
            Ok(at) => self.buckets[at].1 += calls,
            Err(at) => self.buckets.insert(at, (bucket, calls)),
        }
    }

    /// Returns the number of calls.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// Returns the buckets that have calls, shortest first: index and calls.
    pub(crate) fn buckets(&self) -> &[(u16, u64)] {
        &self.buckets
    }

    /// Returns the index of the median's bucket; of two middle calls that of the shorter one.
    pub(crate) fn median_bucket(&self) -> Option<u16> {
        let middle = self.calls.div_ceil(2);
        let mut before = 0;
        self.buckets.iter().find_map(|(bucket, calls)| {
            before += calls;
            (before >= middle).then_some(*bucket)
        })
    }

    /// Returns the duration in ns that `percent` of 100 calls did not exceed, as the middle of its
    /// bucket: accurate to 0.8 %.
    pub(crate) fn quantile(&self, percent: u64) -> Option<u64> {
        let rank = (self.calls * percent).div_ceil(100);
        let mut before = 0;
        let found = self.buckets.iter().find(|(_, calls)| {
            before += calls;
            before >= rank
        });
        found.map(|(bucket, _)| middle(*bucket))
    }

    /// Returns the median in ns, as the middle of its bucket: accurate to 0.8 %.
    pub(crate) fn median(&self) -> Option<u64> {
        self.median_bucket().map(middle)
    }
}

/// Returns the index of the bucket for a duration.
fn bucket(ns: u64) -> u16 {
    if ns < PARTS {
        return ns as u16;
    }
    let shift = ns.ilog2() - PARTS.ilog2();
    ((u64::from(shift) + 1) * PARTS + ((ns >> shift) & (PARTS - 1))) as u16
}

/// Returns the middle of a bucket in ns.
fn middle(bucket: u16) -> u64 {
    let bucket = u64::from(bucket);
    if bucket < PARTS {
        return bucket;
    }
    let shift = bucket / PARTS - 1;
    let (first, width) = ((PARTS + bucket % PARTS) << shift, 1 << shift);
    first + (width - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_no_wider_than_a_64th_and_they_follow_one_another() {
        assert_eq!(
            [0, 1, 63, 64, 65, 127, 128, 129, 130].map(bucket),
            [0, 1, 63, 64, 65, 127, 128, 128, 129]
        );
        let mut last = 0;
        for ns in (0..64).map(|power| 1_u64 << power).flat_map(|power| [power - 1, power, power + power / 3])
        {
            let (number, found) = (bucket(ns), middle(bucket(ns)));
            assert!(number >= last && bucket(found) == number, "{ns}");
            assert!(ns.abs_diff(found) <= ns / 128, "{ns} is found as {found}");
            last = number;
        }
        assert_eq!(bucket(u64::MAX), 58 * 64 + 63);
    }

    #[test]
    fn the_median_is_the_middle_call() {
        let of = |lengths: &[u64]| {
            let mut durations = Durations::default();
            lengths.iter().for_each(|ns| durations.add(*ns));
            durations
        };
        assert_eq!(of(&[]).median(), None);
        assert_eq!(of(&[9, 1, 5]).median(), Some(5));
        assert_eq!(of(&[9, 1, 5, 7]).median(), Some(5), "of two middle ones the shorter");
        // 1000 is between 512 and 1024, where buckets are 8 wide: 1000 to 1007.
        assert_eq!(of(&[1000]).median(), Some(1003));
        let (mut both, other) = (of(&[1, 2]), of(&[2, 3, 3]));
        both.merge(&other);
        assert_eq!((both.calls(), both.median()), (5, Some(2)));
        assert_eq!(both.buckets(), [(1, 1), (2, 2), (3, 2)]);
    }
}
