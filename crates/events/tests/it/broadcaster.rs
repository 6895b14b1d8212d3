//! What a broadcaster writes, and when.

use crate::memory_sink::MemorySink;
use kubist_api::core::v1::ObjectReference;
use kubist_events::{EventBroadcaster, EventBroadcasterConfig, EventRecorder, EventType};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

const SECOND: Duration = Duration::from_secs(1);

fn broadcaster(sink: &MemorySink) -> (EventBroadcaster, EventRecorder) {
    let broadcaster = EventBroadcaster::new(sink.clone());
    let recorder = broadcaster.recorder("example.com/operator");
    (broadcaster, recorder)
}

fn tell(recorder: &EventRecorder, object: &str, reason: &str) {
    let object = ObjectReference {
        kind: "Pod".into(),
        namespace: "shop".into(),
        name: object.into(),
        ..ObjectReference::default()
    };
    recorder.event(&object, EventType::Normal, reason, "Acting", "a note");
}

#[tokio::test(start_paused = true)]
async fn repeated_events_become_a_series() {
    let sink = MemorySink::default();
    let (broadcaster, recorder) = broadcaster(&sink);
    let (token, begin) = (CancellationToken::new(), Instant::now());
    let script = async {
        for count in [1, 2, 2, 2, 2] {
            tell(&recorder, "web", "Failed");
            sleep(SECOND).await;
            let series = sink.state().events[0].series.clone();
            assert_eq!(series.map_or(1, |it| it.count), count, "counts wait");
        }
        sleep(6 * 60 * SECOND).await; // the series ends
        tell(&recorder, "web", "Failed");
        drop(recorder);
    };
    let (stats, ()) = tokio::join!(broadcaster.run(token), script);
    let counts: Vec<_> = sink
        .state()
        .events
        .iter()
        .map(|it| it.series.as_ref().map_or(1, |series| series.count))
        .collect();
    assert_eq!(counts, [5, 1]);
    assert_eq!((stats.recorded, stats.created, stats.updated), (6, 2, 2));
    assert_eq!(stats.repeated, 4);
    assert_eq!(begin.elapsed().as_secs(), 365, "it ends with its recorders");
}

/// Contract EVENT-1.
#[tokio::test(start_paused = true)]
async fn a_full_queue_drops_and_counts_and_never_blocks() {
    let sink = MemorySink::default();
    let (broadcaster, recorder) = broadcaster(&sink);
    let monitor = broadcaster.monitor();
    for object in 0..1_500 {
        tell(&recorder, &format!("web-{object}"), "Created"); // nobody writes yet
    }
    assert_eq!(
        (monitor.stats().recorded, monitor.stats().dropped),
        (1_500, 500)
    );
    drop(recorder);
    let stats = broadcaster.run(CancellationToken::new()).await;
    assert_eq!((stats.created, stats.dropped), (1_000, 500));
    assert_eq!(sink.state().events.len(), 1_000);
}

#[tokio::test(start_paused = true)]
async fn events_without_a_broadcaster_are_dropped() {
    let (broadcaster, recorder) = broadcaster(&MemorySink::default());
    let monitor = broadcaster.monitor();
    drop(broadcaster);
    tell(&recorder, "web", "Created");
    assert_eq!(monitor.stats().dropped, 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_gets_the_event_later() {
    let sink = MemorySink::default();
    sink.state().refusals = vec![500, 503, 429];
    let (broadcaster, recorder) = broadcaster(&sink);
    let begin = Instant::now();
    let script = async {
        tell(&recorder, "web", "Created");
        while sink.state().events.is_empty() {
            sleep(SECOND).await;
        }
        drop(recorder);
        begin.elapsed().as_secs()
    };
    let (stats, seconds) = tokio::join!(broadcaster.run(CancellationToken::new()), script);
    assert!((30..=39).contains(&seconds), "{seconds} s for three pauses");
    assert_eq!((stats.retried, stats.created), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn an_event_whose_answer_was_lost_is_not_written_twice() {
    let sink = MemorySink::default();
    sink.state().loses_answer = true;
    let (broadcaster, recorder) = broadcaster(&sink);
    let script = async {
        tell(&recorder, "web", "Created");
        sleep(20 * SECOND).await;
        drop(recorder);
    };
    let (stats, ()) = tokio::join!(broadcaster.run(CancellationToken::new()), script);
    assert_eq!((stats.created, stats.rejected, stats.given_up), (1, 0, 0));
    assert_eq!(sink.state().events.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_event_is_not_repeated() {
    let sink = MemorySink::default();
    sink.state().refusals = vec![403];
    let (broadcaster, recorder) = broadcaster(&sink);
    tell(&recorder, "web", "Created");
    drop(recorder);
    let stats = broadcaster.run(CancellationToken::new()).await;
    assert_eq!((stats.rejected, stats.created), (1, 0));
    assert_eq!(sink.state().attempts, 1);
}

#[tokio::test(start_paused = true)]
async fn one_slow_event_does_not_hold_the_others_back() {
    let sink = MemorySink::default();
    sink.state().is_out_of_reach = true;
    let (broadcaster, recorder) = broadcaster(&sink);
    let token = CancellationToken::new();
    let script = async {
        tell(&recorder, "web", "Slow");
        sleep(SECOND).await;
        sink.state().is_out_of_reach = false;
        tell(&recorder, "web", "Fast");
        sleep(SECOND).await;
        assert_eq!(sink.reasons(), ["Fast"]);
        token.cancel();
    };
    tokio::join!(broadcaster.run(token.clone()), script);
}

/// Contract EVENT-4.
#[tokio::test(start_paused = true)]
async fn the_stop_waits_for_recorders_and_writes_what_they_record_meanwhile() {
    let sink = MemorySink::default();
    sink.state().latency = SECOND;
    let (broadcaster, recorder) = broadcaster(&sink);
    let (token, begin) = (CancellationToken::new(), Instant::now());
    let script = async {
        tell(&recorder, "web", "Before");
        sleep(SECOND / 2).await;
        token.cancel();
        sleep(SECOND).await;
        tell(&recorder, "web", "After"); // a reconcile that ends
        drop(recorder);
    };
    let (stats, ()) = tokio::join!(broadcaster.run(token.clone()), script);
    assert_eq!(sink.reasons(), ["Before", "After"]);
    assert_eq!(stats.created, 2);
    assert_eq!(begin.elapsed(), SECOND * 5 / 2, "as soon as all is written");
}

/// Contract EVENT-4.
#[tokio::test(start_paused = true)]
async fn the_stop_is_bounded_and_counts_what_is_lost() {
    let sink = MemorySink::default();
    sink.state().is_out_of_reach = true;
    let config = EventBroadcasterConfig {
        drain_timeout: 3 * SECOND,
        ..EventBroadcasterConfig::default()
    };
    let broadcaster = EventBroadcaster::with_config(sink.clone(), config);
    let recorder = broadcaster.recorder("example.com/operator");
    for object in 0..20 {
        tell(&recorder, &format!("web-{object}"), "Created");
    }
    let token = CancellationToken::new();
    token.cancel();
    let begin = Instant::now();
    let stats = timeout(10 * SECOND, broadcaster.run(token)).await;
    let stats = stats.expect("it ends although there is a recorder");
    assert_eq!(begin.elapsed(), 3 * SECOND);
    assert_eq!((stats.given_up + stats.dropped, stats.created), (20, 0));
    tell(&recorder, "web", "Late");
}
