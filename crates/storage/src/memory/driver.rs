//! The background driver of the memory engine: its clock, its ticks, and the waking of many
//! watchers.
//!
//! The only part of the engine that uses tokio. Without it leases do not expire, and history is
//! bounded by count and bytes only.

use super::MemoryKv;
use crate::Clock;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// Tokio's clock, relative to its creation. It stops while a test pauses tokio's time.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock(Instant);

impl TokioClock {
    /// Creates a clock that starts at zero.
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

impl MemoryKv {
    /// Ticks, and wakes large numbers of watchers, until the store is closed. Needs a tokio runtime
    /// with time enabled. Run it once per store; a second run only ticks.
    ///
    /// # Cancel safety
    ///
    /// May be dropped at any time and run again.
    pub async fn run(&self) {
        self.drive(|| self.tick()).await;
    }

    /// Like [`run`](Self::run), for an engine with additional work at each tick.
    pub(crate) async fn drive(&self, mut tick: impl FnMut()) {
        let driver = self.shared.fanout.drive();
        let mut ticks = interval(self.shared.config.tick_every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        poll_fn(|cx| {
            if let Some(driver) = &driver {
                driver.poll(cx);
            }
            while ticks.poll_tick(cx).is_ready() {
                if self.is_closed() {
                    return Poll::Ready(());
                }
                tick();
            }
            if self.release_some() {
                // The rest comes after what other tasks have to do.
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        })
        .await;
    }
}
