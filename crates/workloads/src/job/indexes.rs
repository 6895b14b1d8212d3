//! `Indexes`: a set of completion indexes as a Job's status writes it: `0,2-5,7`.
//!
//! It is a list of intervals, so that millions of indexes that succeeded in order cost little.

use std::fmt;

/// A set of indexes, in growing order and with gaps between the intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Indexes(Vec<Interval>);

/// From the first to the last, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    first: i32,
    last: i32,
}

impl Indexes {
    /// Parses a list, leaving out what is no number, and what is not below `completions`.
    pub(super) fn parse(text: &str, completions: i32) -> Self {
        let mut found = Vec::new();
        for part in text.split(',').filter(|it| !it.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>()) else {
                tracing::info!(
                    interval = part,
                    "a corrupted interval of indexes is ignored"
                );
                continue;
            };
            if first >= completions {
                break;
            }
            let last = last.min(completions - 1);
            found.push(Interval { first, last });
        }
        Self::default().merged(&Self(found))
    }

    /// Returns the set with further indexes, in any order.
    pub(super) fn with(&self, indexes: impl IntoIterator<Item = i32>) -> Self {
        let mut further: Vec<i32> = indexes.into_iter().collect();
        further.sort_unstable();
        let single = |index| Interval {
            first: index,
            last: index,
        };
        self.merged(&Self(further.into_iter().map(single).collect()))
    }

    /// Returns the union.
    pub(super) fn merged(&self, other: &Self) -> Self {
        let mut all: Vec<Interval> = self.0.iter().chain(&other.0).copied().collect();
        all.sort_by_key(|it| it.first);
        let mut union: Vec<Interval> = Vec::with_capacity(all.len());
        for next in all {
            match union.last_mut() {
                Some(before) if next.first <= before.last.saturating_add(1) => {
                    before.last = before.last.max(next.last);
                }
                _ => union.push(next),
            }
        }
        Self(union)
    }

    /// The number of indexes.
    pub(super) fn total(&self) -> i32 {
        self.0.iter().map(|it| it.last - it.first + 1).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, index: i32) -> bool {
        let at = self.0.partition_point(|it| it.last < index);
        self.0.get(at).is_some_and(|it| it.first <= index)
    }

    /// The number of indexes in both.
    pub(super) fn common(&self, other: &Self) -> i32 {
        let overlap = |one: &Interval, two: &Interval| {
            (one.last.min(two.last) - one.first.max(two.first) + 1).max(0)
        };
        let (mut one, mut two, mut sum) = (0, 0, 0);
        while let (Some(a), Some(b)) = (self.0.get(one), other.0.get(two)) {
            sum += overlap(a, b);
            one += usize::from(a.last <= b.last);
            two += usize::from(b.last <= a.last);
        }
        sum
    }

    /// Returns the first indexes below `completions` that are not in the set, at most `count`.
    pub(super) fn first_missing(&self, count: usize, completions: i32) -> Vec<i32> {
        let mut missing = Vec::new();
        let mut candidate = 0;
        for interval in &self.0 {
            let gap = candidate..interval.first.min(completions);
            missing.extend(gap.take(count - missing.len()));
            candidate = candidate.max(interval.last.saturating_add(1));
        }
        missing.extend((candidate..completions).take(count - missing.len()));
        missing
    }
}

impl fmt::Display for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Interval { first, last }) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{first}")?;
            match last - first {
                0 => {}
                1 => write!(f, ",{last}")?,
                _ => write!(f, "-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn lists_are_read_and_written_as_upstream_does() {
        for (text, completions, written) in [
            ("", 5, ""),
            ("0", 5, "0"),
            ("0,1", 5, "0,1"),
            ("0-2", 5, "0-2"),
            ("1,3-4", 5, "1,3,4"),
            ("0,1,2,5-9", 7, "0-2,5,6"),
            ("x,2,7", 5, "2"),
        ] {
            assert_eq!(Indexes::parse(text, completions).to_string(), written);
        }
    }

    fn count_of(number: usize) -> i32 {
        crate::pod_state::count(number)
    }

    proptest! {
        #[test]
        fn it_is_a_set(
            one in btree_set(0..40_i32, 0..30),
            two in vec(0..40_i32, 0..30),
            count in 0..20_usize,
        ) {
            let first = Indexes::default().with(one.iter().copied());
            let both = first.with(two.iter().copied());
            let model: BTreeSet<i32> = one.iter().chain(&two).copied().collect();
            prop_assert_eq!(both.total(), count_of(model.len()));
            prop_assert_eq!(&Indexes::parse(&both.to_string(), 40), &both);
            for index in 0..41 {
                prop_assert_eq!(both.has(index), model.contains(&index));
            }
            let second = Indexes::default().with(two.iter().copied());
            let common = two.iter().collect::<BTreeSet<_>>();
            let common = common.iter().filter(|it| one.contains(it)).count();
            prop_assert_eq!(first.common(&second), count_of(common));
            let missing: Vec<i32> =
                (0..35).filter(|it| !model.contains(it)).take(count).collect();
            prop_assert_eq!(both.first_missing(count, 35), missing);
        }
    }
}
