//! What a queue reports: counters and durations as they happen, gauges when asked.
//!
//! The names are client-go's, so that dashboards keep working. Gauges are read with
//! [`WorkQueue::stats`](crate::WorkQueue::stats) when somebody collects them; no timer runs for
//! their sake. This module depends on no metrics library.

use std::time::Duration;

/// Something that happened in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metric {
    /// So many items entered the queue; an item that was already waiting does not count.
    Adds(u64),
    /// An item waited so long between entering the queue and being taken.
    QueueDuration(Duration),
    /// So many items were put back for later, after a failure or with a delay.
    Retries(u64),
    /// A worker held an item for so long.
    WorkDuration(Duration),
}

impl Metric {
    /// The name in client-go's exposition, for instance `workqueue_adds_total`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Adds(_) => "workqueue_adds_total",
            Self::QueueDuration(_) => "workqueue_queue_duration_seconds",
            Self::Retries(_) => "workqueue_retries_total",
            Self::WorkDuration(_) => "workqueue_work_duration_seconds",
        }
    }
}

/// Where a queue's counters and durations go.
///
/// It is called outside the queue's lock, by whoever used the queue, and should be quick.
pub trait MetricsSink: Send + Sync {
    /// Takes one metric.
    fn record(&self, metric: Metric);
}

/// The state of a queue at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Items to be run: those that wait for a worker, and those that were added again while a
    /// worker has them. `workqueue_depth`.
    pub depth: usize,
    /// Items that wait for their time.
    pub delayed: usize,
    /// Items that workers have.
    pub processing: usize,
    /// How long the items that workers have were worked on, summed. Zero without a sink.
    /// `workqueue_unfinished_work_seconds`.
    pub unfinished_work: Duration,
    /// The longest of those. Zero without a sink.
    /// `workqueue_longest_running_processor_seconds`.
    pub longest_running: Duration,
    /// Items that entered the queue so far. `workqueue_adds_total`.
    pub adds: u64,
    /// Items that were put back for later so far. `workqueue_retries_total`.
    pub retries: u64,
}

impl Stats {
    /// The gauges and totals under client-go's names, in its units.
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

/// What one operation has to report; gathered under the lock, recorded after it.
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
