//! The metrics that a queue records.

use super::*;

#[derive(Default)]
struct Sink(Mutex<Vec<Metric>>);

impl MetricsSink for Sink {
    fn record(&self, metric: Metric) {
        self.0.lock().push(metric);
    }
}

#[tokio::test(start_paused = true)]
async fn metrics_reach_the_sink_under_client_go_names() {
    let sink = Arc::new(Sink::default());
    let metrics: Arc<dyn MetricsSink> = Arc::<Sink>::clone(&sink);
    let queue = WorkQueue::new(Config {
        metrics: Some(metrics),
        ..Config::default()
    });
    queue.add("a");
    sleep(3 * MS).await;
    let work = next(&queue).await;
    sleep(4 * MS).await;
    assert_eq!(queue.stats().longest_running, 4 * MS);
    drop(work);
    let seen = std::mem::take(&mut *sink.0.lock());
    let expected = [
        Metric::Adds(1),
        Metric::QueueDuration(3 * MS),
        Metric::Retries(1),
        Metric::WorkDuration(4 * MS),
    ];
    assert_eq!(seen, expected);
    let names: Vec<_> = seen.iter().map(Metric::name).collect();
    let expected = [
        "workqueue_adds_total",
        "workqueue_queue_duration_seconds",
        "workqueue_retries_total",
        "workqueue_work_duration_seconds",
    ];
    assert_eq!(names, expected);
}
