//! The shell: wake-ups, timers, cancellation, shutdown. On a paused clock.

use std::{
    future::poll_fn, panic::AssertUnwindSafe, pin::pin, sync::Arc, task::Poll, time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use super::*;
use crate::{
    metrics::{Metric, MetricsSink},
    rate_limiter::{Bucket, Exponential},
};

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

/// Whether nothing comes although all timers may fire for `wait`.
async fn silent(queue: &WorkQueue<&'static str>, wait: Duration) -> bool {
    timeout(wait, queue.next()).await.is_err()
}
