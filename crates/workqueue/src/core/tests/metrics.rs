//! The metrics of a queue.

use super::*;

#[derive(Debug)]
struct NoSink;

impl MetricsSink for NoSink {
    fn record(&self, _metric: Metric) {}
}

#[test]
fn metrics_tell_adds_retries_waits_and_work() {
    let mut it = Bench::new(Config {
        limiter: limiter(10 * MS),
        metrics: Some(Arc::new(NoSink)),
        ..Config::default()
    });
    it.add("a");
    it.add("a");
    it.now = 5 * MS;
    it.take();
    let report = it.core.take_report();
    assert_eq!((report.adds, report.queue_duration), (1, Some(5 * MS)));
    it.add("a");
    it.now = 8 * MS;
    let stats = it.core.stats(it.now);
    assert_eq!((stats.depth, stats.processing, stats.adds), (1, 1, 2));
    assert_eq!(
        (stats.unfinished_work, stats.longest_running),
        (3 * MS, 3 * MS)
    );
    it.fail("a");
    let report = it.core.take_report();
    assert_eq!((report.retries, report.work_duration), (1, Some(3 * MS)));
    it.now = 9 * MS;
    it.take();
    assert_eq!(
        it.core.take_report().queue_duration,
        Some(4 * MS),
        "since it was added again"
    );
    let stats = it.core.stats(it.now);
    assert_eq!((stats.depth, stats.delayed, stats.retries), (0, 1, 1));
}
