//! Wake-ups, timers, cancellation and shutdown, on a paused clock.

use super::*;
use crate::metrics::{Metric, MetricsSink};
use crate::rate_limiter::{Bucket, Exponential};
use parking_lot::Mutex;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

mod failures;
mod metrics;
mod shutdown;
mod waking;

const MS: Duration = Duration::from_millis(1);

fn queue() -> WorkQueue<&'static str> {
    WorkQueue::default()
}

async fn next(queue: &WorkQueue<&'static str>) -> Work<&'static str> {
    queue.next().await.expect("the queue is open")
}

/// Reports whether nothing arrives although all timers may fire for `wait`.
async fn silent(queue: &WorkQueue<&'static str>, wait: Duration) -> bool {
    timeout(wait, queue.next()).await.is_err()
}
