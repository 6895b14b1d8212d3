//! `Lags`: the distribution of durations.

use serde_json::{Value, json};
use std::time::Duration;

/// Durations, in microseconds.
#[derive(Default)]
pub struct Lags(Vec<u32>);

impl Lags {
    pub fn push(&mut self, lag: Duration) {
        self.0
            .push(u32::try_from(lag.as_micros()).unwrap_or(u32::MAX));
    }

    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the median and the 99th percentile, in milliseconds.
    pub fn json(mut self) -> Value {
        self.0.sort_unstable();
        let at = |part: f64| {
            let index = (self.0.len() as f64 * part) as usize;
            self.0.get(index).map(|&it| f64::from(it) / 1e3)
        };
        json!({"p50_ms": at(0.5), "p99_ms": at(0.99)})
    }
}
