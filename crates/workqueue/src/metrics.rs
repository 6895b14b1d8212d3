//! The metrics of a queue: counters and durations as they occur, gauges on request.
//!
//! The names are client-go's, so that dashboards keep working. Gauges are read with
//! [`WorkQueue::stats`](crate::WorkQueue::stats) at collection time, without a timer. This module
//! depends on no metrics library.

use std::time::Duration;

/// A metric event of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metric {
    /// This many items entered the queue; an item that was already waiting does not count.
    Adds(u64),
    /// The time between entering the queue and being taken.
    QueueDuration(Duration),
    /// This many items were requeued, after a failure or with a delay.
    Retries(u64),
    /// The time for which a worker processed an item.
    WorkDuration(Duration),
}

impl Metric {
    /// Returns client-go's metric name, for instance `workqueue_adds_total`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Adds(_) => "workqueue_adds_total",
            Self::QueueDuration(_) => "workqueue_queue_duration_seconds",
            Self::Retries(_) => "workqueue_retries_total",
            Self::WorkDuration(_) => "workqueue_work_duration_seconds",
        }
    }
}

/// Receives a queue's counters and durations.
///
/// It is called outside the queue's lock, by the user of the queue, and should return soon.
pub trait MetricsSink: Send + Sync {
    /// Records one metric.
    fn record(&self, metric: Metric);
}

/// The state of a queue at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Items to be run: those that wait for a worker, and those that were added again while they
    /// run. `workqueue_depth`.
    pub depth: usize,
    /// Delayed items.
    pub delayed: usize,
    /// Items being processed.
    pub processing: usize,
    /// The total processing time of the items being processed. Zero without a sink.
    /// `workqueue_unfinished_work_seconds`.
    pub unfinished_work: Duration,
    /// The longest of these times. Zero without a sink.
    /// `workqueue_longest_running_processor_seconds`.
    pub longest_running: Duration,
    /// Items that entered the queue so far. `workqueue_adds_total`.
    pub adds: u64,
    /// Items that were requeued so far. `workqueue_retries_total`.
    pub retries: u64,
}

impl Stats {
    /// Returns the gauges and totals under client-go's names and in its units.
    #[expect(
        clippy::cast_precision_loss,
        reason = "metrics are doubles, and counts stay below 2^53"
    )]
    pub fn samples(&self) -> [(&'static str, f64); 5] {
        [
            ("workqueue_depth", self.depth as f64),
            ("workqueue_adds_total", self.adds as f64),
            ("workqueue_retries_total", self.retries as f64),
            (
                "workqueue_unfinished_work_seconds",
                self.unfinished_work.as_secs_f64(),
            ),
            (
                "workqueue_longest_running_processor_seconds",
                self.longest_running.as_secs_f64(),
            ),
        ]
    }
}

/// The metrics of one operation, collected under the lock and recorded after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Report {
    pub(crate) adds: u64,
    pub(crate) retries: u64,
    pub(crate) queue_duration: Option<Duration>,
    pub(crate) work_duration: Option<Duration>,
}

impl Report {
    pub(crate) fn record(self, sink: &dyn MetricsSink) {
        if self.adds > 0 {
            sink.record(Metric::Adds(self.adds));
        }
        if self.retries > 0 {
            sink.record(Metric::Retries(self.retries));
        }
        if let Some(waited) = self.queue_duration {
            sink.record(Metric::QueueDuration(waited));
        }
        if let Some(worked) = self.work_duration {
            sink.record(Metric::WorkDuration(worked));
        }
    }
}
