//! `RequestStats`: requests by method and status code, and the times of their responses.

use http::{Method, StatusCode};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::Duration;

/// The upper bounds of the time buckets in milliseconds: those of client-go's
/// `rest_client_request_duration_seconds`.
pub const REQUEST_TIME_BOUNDS: [u64; 12] = [
    5, 25, 100, 250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000,
];

/// What requests with one method came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestStats {
    /// Responses by status code. Requests without one, such as broken connections, have code 0.
    pub codes: BTreeMap<u16, u64>,
    /// Requests whose response head took no longer than each of [`REQUEST_TIME_BOUNDS`], not
    /// cumulated; those that took longer are last.
    pub times: [u64; REQUEST_TIME_BOUNDS.len() + 1],
    /// The sum of the times.
    pub time: Duration,
}

impl RequestStats {
    /// Returns the number of requests.
    pub fn count(&self) -> u64 {
        self.times.iter().sum()
    }
}

/// Counts requests. Methods that the API does not know share an entry, so that there are few.
#[derive(Debug, Default)]
pub(crate) struct RequestCounters {
    by_method: Mutex<BTreeMap<&'static str, RequestStats>>,
}

impl RequestCounters {
    pub(crate) fn count(&self, method: &'static str, code: Option<StatusCode>, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let bucket = REQUEST_TIME_BOUNDS.partition_point(|&bound| bound < millis);
        let mut by_method = self.by_method.lock();
        let stats = by_method.entry(method).or_default();
        *stats
            .codes
            .entry(code.map_or(0, |it| it.as_u16()))
            .or_default() += 1;
        stats.times[bucket] += 1;
        stats.time += time;
    }

    pub(crate) fn snapshot(&self) -> BTreeMap<&'static str, RequestStats> {
        self.by_method.lock().clone()
    }
}

/// Returns the name of a method.
pub(crate) fn name_of(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_the_first_bucket_that_it_does_not_exceed() {
        let counters = RequestCounters::default();
        for millis in [0, 5, 6, 60_000, 60_001] {
            counters.count("GET", Some(StatusCode::OK), Duration::from_millis(millis));
        }
        counters.count("GET", None, Duration::ZERO);
        let stats = counters.snapshot().remove("GET").expect("it was counted");
        assert_eq!(stats.times, [3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(stats.codes, [(0, 1), (200, 5)].into());
        assert_eq!(stats.count(), 6);
        assert_eq!(stats.time, Duration::from_millis(120_012));
    }
}
