//! The metrics of one queue in Prometheus' text format, under client-go's names.
//!
//! It is a sink that keeps the two histograms, and renders them with the queue's gauges and
//! counters. It needs no metrics library and serves no HTTP.

use crate::metrics::{Metric, MetricsSink, Stats};
use parking_lot::Mutex;
use std::fmt::{self, Write};
use std::time::Duration;

/// The upper bounds of the histograms' buckets in seconds: ten nanoseconds, then each ten times the
/// previous. client-go leaves them to its metrics provider; these twelve are those of
/// controller-runtime. Kubernetes' own programs (component-base) have ten: the last ten of these in
/// current releases, the first ten in older ones.
const BUCKETS: [f64; 12] = [
    1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0,
];

/// Records a queue's metrics for [`Self::render`].
///
/// ```
/// use std::sync::Arc;
/// use kubist_workqueue::{Config, Recorder, WorkQueue};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let recorder = Arc::new(Recorder::new("deployment"));
/// let queue = WorkQueue::new(Config { metrics: Some(recorder.clone()), ..Config::default() });
/// queue.add("default/web");
/// let mut text = String::new();
/// recorder.render(&queue.stats(), &mut text);
/// assert!(text.contains("workqueue_depth{name=\"deployment\"} 1\n"));
/// # }
/// ```
#[derive(Debug)]
pub struct Recorder {
    name: String,
    histograms: Mutex<[Histogram; 2]>,
}

#[derive(Debug, Default)]
struct Histogram {
    /// Of each bucket alone, without those below it.
    counts: [u64; BUCKETS.len()],
    count: u64,
    sum: Duration,
}

impl Recorder {
    /// Creates a recorder; `name` is the label that distinguishes queues.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            histograms: Mutex::default(),
        }
    }

    /// Appends the current metrics to `out` in Prometheus' text format. `stats` are the queue's.
    pub fn render(&self, stats: &Stats, out: &mut String) {
        // Writing to a string does not fail.
        let _written = self.write(stats, out);
    }

    fn write(&self, stats: &Stats, out: &mut String) -> fmt::Result {
        for (name, value) in stats.samples() {
            let kind = if name.ends_with("_total") {
                "counter"
            } else {
                "gauge"
            };
            writeln!(out, "# TYPE {name} {kind}")?;
            writeln!(out, "{name}{{name=\"{}\"}} {value}", Label(&self.name))?;
        }
        let histograms = self.histograms.lock();
        let [waits, works] = &*histograms;
        let (wait, work) = (Duration::ZERO, Duration::ZERO);
        self.write_histogram(Metric::QueueDuration(wait).name(), waits, out)?;
        self.write_histogram(Metric::WorkDuration(work).name(), works, out)
    }

    fn write_histogram(&self, name: &str, histogram: &Histogram, out: &mut String) -> fmt::Result {
        let label = Label(&self.name);
        writeln!(out, "# TYPE {name} histogram")?;
        let mut below = 0;
        for (bound, count) in BUCKETS.iter().zip(histogram.counts) {
            below += count;
            writeln!(
                out,
                "{name}_bucket{{name=\"{label}\",le=\"{bound}\"}} {below}"
            )?;
        }
        let (count, sum) = (histogram.count, histogram.sum.as_secs_f64());
        writeln!(out, "{name}_bucket{{name=\"{label}\",le=\"+Inf\"}} {count}")?;
        writeln!(out, "{name}_sum{{name=\"{label}\"}} {sum}")?;
        writeln!(out, "{name}_count{{name=\"{label}\"}} {count}")
    }
}

impl MetricsSink for Recorder {
    fn record(&self, metric: Metric) {
        let mut histograms = self.histograms.lock();
        let [waits, works] = &mut *histograms;
        match metric {
            Metric::QueueDuration(waited) => waits.record(waited),
            Metric::WorkDuration(worked) => works.record(worked),
            // The totals are in the queue's stats.
            Metric::Adds(_) | Metric::Retries(_) => {}
        }
    }
}

impl Histogram {
    fn record(&mut self, value: Duration) {
        let seconds = value.as_secs_f64();
        if let Some(bucket) = BUCKETS.iter().position(|bound| seconds <= *bound) {
            self.counts[bucket] += 1;
        }
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
    }
}

/// An escaped label value.
struct Label<'a>(&'a str);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            _ => f.write_char(c),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_every_metric_of_client_go() {
        let recorder = Recorder::new("a \"b\"\\");
        for metric in [
            Metric::Adds(3),
            Metric::Retries(1),
            Metric::QueueDuration(Duration::from_micros(10)),
            Metric::QueueDuration(Duration::from_millis(20)),
            Metric::WorkDuration(Duration::from_secs(2_000)),
        ] {
            recorder.record(metric);
        }
        let stats = Stats {
            depth: 2,
            adds: 3,
            retries: 1,
            unfinished_work: Duration::from_millis(2_500),
            longest_running: Duration::from_millis(1_500),
            ..Stats::default()
        };
        let mut text = String::new();
        recorder.render(&stats, &mut text);
        let name = "name=\"a \\\"b\\\"\\\\\"";
        for line in [
            "# TYPE workqueue_depth gauge".to_owned(),
            format!("workqueue_depth{{{name}}} 2"),
            "# TYPE workqueue_adds_total counter".to_owned(),
            format!("workqueue_adds_total{{{name}}} 3"),
            format!("workqueue_retries_total{{{name}}} 1"),
            format!("workqueue_unfinished_work_seconds{{{name}}} 2.5"),
            format!("workqueue_longest_running_processor_seconds{{{name}}} 1.5"),
            "# TYPE workqueue_queue_duration_seconds histogram".to_owned(),
            format!("workqueue_queue_duration_seconds_bucket{{{name},le=\"0.000001\"}} 0"),
            format!("workqueue_queue_duration_seconds_bucket{{{name},le=\"0.00001\"}} 1"),
            format!("workqueue_queue_duration_seconds_bucket{{{name},le=\"0.1\"}} 2"),
            format!("workqueue_queue_duration_seconds_bucket{{{name},le=\"+Inf\"}} 2"),
            format!("workqueue_queue_duration_seconds_sum{{{name}}} 0.02001"),
            format!("workqueue_queue_duration_seconds_count{{{name}}} 2"),
            format!("workqueue_work_duration_seconds_bucket{{{name},le=\"1000\"}} 0"),
            format!("workqueue_work_duration_seconds_bucket{{{name},le=\"+Inf\"}} 1"),
        ] {
            assert!(
                text.lines().any(|it| it == line),
                "{line}\nis not in\n{text}"
            );
        }
    }

    #[test]
    fn the_buckets_are_twelve_steps_of_ten_from_ten_nanoseconds() {
        // `ExponentialBuckets(10e-9, 10, 12)` of the Prometheus library for Go.
        let mut bound = 10e-9;
        for found in BUCKETS {
            assert!((found / bound - 1.0_f64).abs() < 1e-9, "{found} {bound}");
            bound *= 10.0;
        }
        let mut histogram = Histogram::default();
        for (nanos, bucket) in [(0, 0), (10, 0), (11, 1), (1_000_000_000, 8)] {
            histogram.record(Duration::from_nanos(nanos));
            assert!(histogram.counts[bucket] > 0, "{nanos} ns");
        }
        histogram.record(Duration::from_secs(1001));
        assert_eq!(
            (histogram.counts.iter().sum::<u64>(), histogram.count),
            (4, 5)
        );
    }
}
