//! Metric families built from numbers that are counted elsewhere.

use kubist_registry::metrics::HistogramState;
use prometheus::proto::{
    Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType,
};

/// A metric family under construction.
pub(super) struct Family {
    name: &'static str,
    help: &'static str,
    labels: &'static [&'static str],
    kind: MetricType,
    metrics: Vec<Metric>,
}

/// Converts an integer to a metric value; beyond 2^53 it is rounded.
#[expect(clippy::cast_precision_loss, reason = "that is the format's limit")]
pub(super) fn number(value: u64) -> f64 {
    value as f64
}

impl Family {
    pub(super) fn counter(
        name: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
    ) -> Self {
        Self::new(name, help, labels, MetricType::COUNTER)
    }

    pub(super) fn gauge(
        name: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
    ) -> Self {
        Self::new(name, help, labels, MetricType::GAUGE)
    }

    pub(super) fn histogram(
        name: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
    ) -> Self {
        Self::new(name, help, labels, MetricType::HISTOGRAM)
    }

    fn new(
        name: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
        kind: MetricType,
    ) -> Self {
        Self {
            name,
            help,
            labels,
            kind,
            metrics: Vec::new(),
        }
    }

    /// Adds a counter.
    pub(super) fn count(&mut self, values: &[&str], count: u64) {
        let mut counter = Counter::default();
        counter.set_value(number(count));
        let mut metric = self.metric(values);
        metric.set_counter(counter);
        self.metrics.push(metric);
    }

    /// Adds a counter unless it is zero.
    pub(super) fn count_some(&mut self, values: &[&str], count: u64) {
        if count > 0 {
            self.count(values, count);
        }
    }

    /// Adds a gauge.
    pub(super) fn set(&mut self, values: &[&str], value: f64) {
        let mut gauge = Gauge::default();
        gauge.set_value(value);
        let mut metric = self.metric(values);
        metric.set_gauge(gauge);
        self.metrics.push(metric);
    }

    /// Adds a histogram unless it is empty.
    pub(super) fn observed(&mut self, values: &[&str], state: &HistogramState) {
        if state.count() == 0 {
            return;
        }
        let mut below = 0;
        let buckets = state
            .bounds
            .iter()
            .zip(&state.counts)
            .map(|(bound, count)| {
                below += count;
                let mut bucket = Bucket::default();
                bucket.set_upper_bound(*bound);
                bucket.set_cumulative_count(below);
                bucket
            });
        let mut histogram = Histogram::default();
        histogram.set_bucket(buckets.collect());
        histogram.set_sample_count(state.count());
        histogram.set_sample_sum(state.seconds);
        let mut metric = self.metric(values);
        metric.set_histogram(histogram);
        self.metrics.push(metric);
    }

    fn metric(&self, values: &[&str]) -> Metric {
        debug_assert_eq!(values.len(), self.labels.len(), "{}", self.name);
        let pairs = self.labels.iter().zip(values).map(|(name, value)| {
            let mut pair = LabelPair::default();
            pair.set_name((*name).to_owned());
            pair.set_value((*value).to_owned());
            pair
        });
        Metric::from_label(pairs.collect())
    }

    /// Returns the family, unless it has no metrics: the text format cannot express that.
    pub(super) fn finish(self) -> Option<MetricFamily> {
        if self.metrics.is_empty() {
            return None;
        }
        let mut family = MetricFamily::default();
        family.set_name(self.name.to_owned());
        family.set_help(self.help.to_owned());
        family.set_field_type(self.kind);
        family.set_metric(self.metrics);
        Some(family)
    }
}
