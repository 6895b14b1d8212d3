//! What a recorder makes of what it is told.

use crate::memory_sink::MemorySink;
use kubist_api::core::v1::ObjectReference;
use kubist_api::events::v1::Event;
use kubist_events::{EventBroadcaster, EventRecorder, EventType};
use tokio_util::sync::CancellationToken;

/// Records, and returns what was written.
async fn written(record: impl FnOnce(EventRecorder)) -> Vec<Event> {
    let sink = MemorySink::default();
    let broadcaster = EventBroadcaster::new(sink.clone());
    record(broadcaster.recorder("example.com/operator"));
    broadcaster.run(CancellationToken::new()).await;
    let mut state = sink.state();
    std::mem::take(&mut state.events)
}

fn web() -> ObjectReference {
    ObjectReference {
        kind: "Pod".into(),
        namespace: "shop".into(),
        name: "web".into(),
        ..ObjectReference::default()
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_says_who_did_what_to_which_object() {
    let node = ObjectReference {
        kind: "Node".into(),
        name: "node-7".into(),
        ..ObjectReference::default()
    };
    let events = written(|recorder| {
        recorder.event_related(
            &web(),
            &node,
            EventType::Normal,
            "Bound",
            "Binding",
            "to node-7",
        );
        recorder.event(&node, EventType::Warning, "Full", "", "no room");
    });
    let events = events.await;
    let [bound, full] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(bound.regarding, web());
    assert_eq!(bound.related.as_deref(), Some(&node));
    assert_eq!(
        (&*bound.reason, &*bound.action, &*bound.note),
        ("Bound", "Binding", "to node-7")
    );
    assert_eq!(bound.type_, "Normal");
    assert_eq!(bound.reporting_controller, "example.com/operator");
    assert!(
        bound
            .reporting_instance
            .starts_with("example.com/operator-")
    );
    assert!(bound.event_time.is_some() && bound.series.is_none());
    assert_eq!(bound.metadata.namespace, "shop");
    let (name, time) = bound.metadata.name.split_once('.').expect("a point");
    assert_eq!(name, "web");
    assert!(
        time.len() == 16 && u64::from_str_radix(time, 16).is_ok(),
        "{time}"
    );
    assert_eq!(bound.deprecated_count, 0);
    assert_eq!(bound.deprecated_first_timestamp, None);

    assert_eq!(
        full.metadata.namespace, "default",
        "of a cluster-scoped object"
    );
    assert_eq!(full.type_, "Warning");
    assert_eq!(full.action, "Full", "the API requires one");
}

#[tokio::test(start_paused = true)]
async fn long_texts_are_cut_as_servers_require() {
    let long = "é".repeat(1_000);
    let events = written(|recorder| {
        recorder.event(&web(), EventType::Normal, &*long, &*long, long.clone());
    });
    let event = &events.await[0];
    assert_eq!(
        (event.note.len(), event.reason.len(), event.action.len()),
        (1_024, 128, 128)
    );
}

#[tokio::test(start_paused = true)]
async fn events_of_one_moment_have_names_of_their_own() {
    let events = written(|recorder| {
        for reason in 0..20 {
            recorder.event(
                &web(),
                EventType::Normal,
                format!("R{reason}"),
                "Acting",
                "",
            );
        }
    });
    let mut names: Vec<_> = events
        .await
        .into_iter()
        .map(|it| it.metadata.name)
        .collect();
    names.dedup();
    assert_eq!(names.len(), 20);
}
