//! `Times` and `Counts`: what is counted under the names of stored objects.
//!
//! The keys are the values of labels. Names come and go with stored objects, so the number of keys
//! has a bound: beyond it, all are forgotten, as if the server had started anew. Counting takes a
//! lock for a moment, which only requests take that a webhook or a policy is about.

use kubist_apimachinery::Str;
use kubist_registry::metrics::{Histogram, HistogramState};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::Duration;

/// Keys at most.
const KEYS_MAX: usize = 10_000;

/// Durations by the values of `N` labels.
#[derive(Debug)]
pub(crate) struct Times<const N: usize> {
    bounds: &'static [f64],
    all: Mutex<BTreeMap<[Str; N], Histogram>>,
}

impl<const N: usize> Times<N> {
    /// Creates it with these upper bounds of buckets in seconds.
    pub(crate) const fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            all: Mutex::new(BTreeMap::new()),
        }
    }

    pub(crate) fn took(&self, labels: [Str; N], took: Duration) {
        let mut all = self.all.lock();
        if all.len() >= KEYS_MAX && !all.contains_key(&labels) {
            all.clear();
        }
        let of = all.entry(labels);
        of.or_insert_with(|| Histogram::new(self.bounds))
            .observe(took);
    }

    /// Returns everything, in the order of the labels.
    pub(crate) fn counted(&self) -> Vec<([Str; N], HistogramState)> {
        let all = self.all.lock();
        all.iter()
            .map(|(labels, it)| (labels.clone(), it.state()))
            .collect()
    }
}

/// Counts by the values of `N` labels.
#[derive(Debug)]
pub(crate) struct Counts<const N: usize>(Mutex<BTreeMap<[Str; N], u64>>);

impl<const N: usize> Default for Counts<N> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<const N: usize> Counts<N> {
    pub(crate) fn add(&self, labels: [Str; N]) {
        let mut all = self.0.lock();
        if all.len() >= KEYS_MAX && !all.contains_key(&labels) {
            all.clear();
        }
        *all.entry(labels).or_default() += 1;
    }

    /// Returns everything, in the order of the labels.
    pub(crate) fn counted(&self) -> Vec<([Str; N], u64)> {
        let all = self.0.lock();
        all.iter()
            .map(|(labels, it)| (labels.clone(), *it))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_a_bound() {
        let (counts, times) = (Counts::<1>::default(), Times::<1>::new(&[1.0]));
        for number in 0..=KEYS_MAX {
            counts.add([number.to_string().into()]);
            times.took([number.to_string().into()], Duration::ZERO);
        }
        let last = KEYS_MAX.to_string();
        assert_eq!(counts.counted(), [([Str::from(&*last)], 1)]);
        assert_eq!(times.counted().len(), 1);
        counts.add([Str::from(&*last)]);
        assert_eq!(counts.counted()[0].1, 2);
    }
}
