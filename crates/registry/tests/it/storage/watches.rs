//! Watches: the events that they deliver, and their end.

use super::matrix;
use super::stack::{Stack, describe, drain, take, typed};
use kubist_registry::storage::DeleteRequest;
use kubist_registry::{EventStream, WatchEvent};
use std::time::Duration;
use tokio::time::timeout;

matrix![
    events_follow_what_selectors_select,
    a_watch_after_a_version_does_not_show_it,
    a_delete_is_seen_as_it_was_answered,
    events_wait_for_a_reader_in_order,
    a_dropped_watch_leaves_nothing_behind,
    fifty_watchers_that_do_not_read_delay_no_other,
    nothing_after_the_start_of_a_watch_is_missed,
    watches_of_a_namespace_see_that_namespace,
    watches_without_namespaces_see_names_and_fields,
    a_delete_with_a_stale_suggestion_shows_the_stored_state,
    many_events_come_in_order_without_gaps,
];

async fn events_follow_what_selectors_select(s: &Stack) {
    let start = s.head().await;
    let all = format!("resourceVersion={start}");
    let labelled = format!("{all}&labelSelector=k=in");
    let one = format!("{all}&fieldSelector=metadata.name=a");
    let mut recursive = s.watch("ns", &labelled).await;
    let mut single = s.watch("ns", &format!("{one}&labelSelector=k=in")).await;
    let mut plain = s.watch("ns", &all).await;
    s.create("ns", "a").await;
    s.create("ns-bad", "a").await;
    s.label("ns", "a", "in").await;
    s.edit("ns", "a", |pod| pod.spec.node_name = "n".into())
        .await;
    s.label("ns-bad", "a", "in").await;
    let left = s.label("ns", "a", "out").await;
    s.label("ns", "a", "in").await;
    s.delete("ns", "a").await;
    let at = |offset: u64| start + offset;
    let expected = [
        format!("ADDED ns/a@{}", at(3)),
        format!("MODIFIED ns/a@{}", at(4)),
        format!("DELETED ns/a@{}", at(6)),
        format!("ADDED ns/a@{}", at(7)),
        format!("DELETED ns/a@{}", at(8)),
    ];
    assert_eq!(left.revision(), at(6));
    for watch in [&mut recursive, &mut single] {
        let mut events = Vec::new();
        while events.len() < expected.len() {
            events.extend(watch.next().await.expect("it goes on"));
        }
        assert_eq!(events.iter().map(describe).collect::<Vec<_>>(), expected);
        let gone = events[2].object().expect("no error");
        assert_eq!(
            typed(gone).metadata.labels["k"],
            "in",
            "the content that matched"
        );
        assert_eq!(typed(gone).metadata.resource_version, at(6).to_string());
        assert_eq!(drain(watch).await, [""; 0]);
    }
    let all: Vec<String> = drain(&mut plain).await;
    let kinds: Vec<_> = all
        .iter()
        .map(|it| it.split(' ').next().unwrap_or_default())
        .collect();
    assert_eq!(
        kinds,
        [
            "ADDED", "MODIFIED", "MODIFIED", "MODIFIED", "MODIFIED", "DELETED"
        ]
    );
}

async fn a_watch_after_a_version_does_not_show_it(s: &Stack) {
    let created = s.create("ns", "a").await.revision();
    let mut watch = s.watch("ns", &format!("resourceVersion={created}")).await;
    assert_eq!(drain(&mut watch).await, [""; 0]);
    s.label("ns", "a", "x").await;
    assert_eq!(
        take(&mut watch, 1).await,
        [format!("MODIFIED ns/a@{}", created + 1)]
    );
}

async fn a_delete_is_seen_as_it_was_answered(s: &Stack) {
    let created = s.create("ns", "a").await;
    let mut watch = s
        .watch("ns", &format!("resourceVersion={}", created.revision()))
        .await;
    let deleted = s.delete("ns", "a").await;
    let events = watch.next().await.expect("it goes on");
    let [WatchEvent::Deleted(seen)] = &events[..] else {
        panic!("one delete: {events:?}");
    };
    assert_eq!(seen.revision(), created.revision() + 1);
    assert_eq!(
        typed(seen),
        typed(&deleted),
        "the same as the delete's answer"
    );
}

async fn a_delete_with_a_stale_suggestion_shows_the_stored_state(s: &Stack) {
    let created = s.create("ns", "a").await;
    let start = s.label("ns", "a", "x").await.revision();
    let mut watch = s.watch("ns", &format!("resourceVersion={start}")).await;
    let request = DeleteRequest {
        suggestion: Some(created),
        ..DeleteRequest::default()
    };
    let deleted = s.try_delete("ns", "a", request).await.expect("it exists");
    let events = watch.next().await.expect("it goes on");
    let seen = events[0].object().expect("no error");
    assert_eq!(typed(seen), typed(&deleted));
    assert_eq!(typed(seen).metadata.labels["k"], "x");
}

async fn events_wait_for_a_reader_in_order(s: &Stack) {
    let start = s.head().await;
    let mut watch = s.watch("ns", &format!("resourceVersion={start}")).await;
    for number in 0..21 {
        s.create("ns", &format!("p{number:02}")).await;
    }
    // A cache may end a watch that is not read, but first delivers its buffer.
    let got = drain(&mut watch).await;
    let least = if s.cacher.is_some() { 10 } else { 21 };
    assert!(got.len() >= least, "{got:?}");
    let expected: Vec<_> = (0..21)
        .map(|it| format!("ADDED ns/p{it:02}@{}", start + 1 + it))
        .collect();
    assert_eq!(got, expected[..got.len()]);
}

async fn a_dropped_watch_leaves_nothing_behind(s: &Stack) {
    let watch = s.watch("ns", "").await;
    drop(watch);
    let mut watch = s.watch("ns", "").await;
    drop(timeout(Duration::from_millis(5), watch.next()).await);
    drop(watch);
    s.create("ns", "a").await;
    if let Some(cacher) = &s.cacher {
        assert_eq!(cacher.stats().watchers, 0);
    }
}

async fn fifty_watchers_that_do_not_read_delay_no_other(s: &Stack) {
    let start = format!("resourceVersion={}", s.head().await);
    let mut sleeping = Vec::new();
    for _ in 0..50 {
        sleeping.push(s.watch("ns", &start).await);
    }
    let mut reading = s.watch("ns", &start).await;
    let begun = tokio::time::Instant::now();
    for number in 0..22_u64 {
        s.create("ns", &format!("p{number:02}")).await;
        let got = take(&mut reading, 1).await;
        assert!(
            got[0].starts_with(&format!("ADDED ns/p{number:02}")),
            "{got:?}"
        );
    }
    assert!(
        begun.elapsed() < Duration::from_millis(250),
        "{:?}",
        begun.elapsed()
    );
    drop(sleeping);
}

async fn nothing_after_the_start_of_a_watch_is_missed(s: &Stack) {
    // Started, and not polled until much later.
    let quiet = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    let mut unset = s.watch("ns", quiet).await;
    let created = s.create("ns", "a").await.revision();
    assert_eq!(take(&mut unset, 1).await, [format!("ADDED ns/a@{created}")]);
}

/// Returns the events of some pods that a watch delivers.
async fn shown(s: &Stack, namespace: &str, fields: &str, start: u64) -> Vec<String> {
    let query = format!("resourceVersion={start}&fieldSelector={fields}");
    let mut watch: EventStream = s.watch(namespace, &query).await;
    let events = drain(&mut watch).await;
    let name = |it: &String| {
        let name = it.split(['@', ' ']).nth(1).unwrap_or_default();
        name.to_owned()
    };
    events.iter().map(name).collect()
}

async fn watches_of_a_namespace_see_that_namespace(s: &Stack) {
    let start = s.head().await;
    for (namespace, name, node) in [
        ("a", "x", "n1"),
        ("a", "y", "n2"),
        ("b", "x", "n1"),
        ("b", "z", ""),
    ] {
        let mut pod = super::stack::pod(namespace, name);
        pod.spec.node_name = node.into();
        s.create_pod(pod).await;
    }
    s.edit("b", "z", |pod| pod.spec.node_name = "n1".into())
        .await;
    for (namespace, fields, expected) in [
        ("", "", &["a/x", "a/y", "b/x", "b/z", "b/z"][..]),
        ("a", "", &["a/x", "a/y"]),
        ("c", "", &[]),
        ("", "metadata.name=x", &["a/x", "b/x"]),
        ("a", "metadata.name=x", &["a/x"]),
        ("a", "metadata.name=z", &[]),
        ("", "metadata.namespace=b", &["b/x", "b/z", "b/z"]),
        ("b", "metadata.namespace=b", &["b/x", "b/z", "b/z"]),
        ("a", "metadata.namespace=b", &[]),
        ("", "metadata.namespace=b,metadata.name=x", &["b/x"]),
        ("", "metadata.name!=x", &["a/y", "b/z", "b/z"]),
        ("", "metadata.namespace!=a", &["b/x", "b/z", "b/z"]),
        ("", "spec.nodeName=n1", &["a/x", "b/x", "b/z"]),
        ("a", "spec.nodeName=n1", &["a/x"]),
        ("", "spec.nodeName=", &["b/z", "b/z"]),
        ("b", "spec.nodeName=n1,metadata.name=x", &["b/x"]),
        ("b", "spec.nodeName=n2,metadata.name=x", &[]),
    ] {
        assert_eq!(
            shown(s, namespace, fields, start).await,
            expected,
            "{namespace} {fields}"
        );
    }
}

async fn watches_without_namespaces_see_names_and_fields(s: &Stack) {
    let nodes = s.cluster_scoped().await;
    let start = nodes.head().await;
    for (name, node) in [("x", "n1"), ("y", "n2")] {
        let mut pod = super::stack::pod("", name);
        pod.spec.node_name = node.into();
        nodes.create_pod(pod).await;
    }
    for (fields, expected) in [
        ("", &["x", "y"][..]),
        ("metadata.name=x", &["x"]),
        ("metadata.name!=x", &["y"]),
        ("spec.nodeName=n2", &["y"]),
        ("metadata.name=x,spec.nodeName=n1", &["x"]),
        ("metadata.name=x,spec.nodeName=n2", &[]),
    ] {
        let expected: Vec<_> = expected.iter().map(|it| format!("/{it}")).collect();
        assert_eq!(shown(&nodes, "", fields, start).await, expected, "{fields}");
    }
}

async fn many_events_come_in_order_without_gaps(s: &Stack) {
    const EVENTS: u64 = 600;
    s.create("ns", "a").await;
    let start = s.head().await;
    let mut live = s.watch("ns", &format!("resourceVersion={start}")).await;
    let mut all = Vec::new();
    for number in 0..EVENTS {
        s.label("ns", "a", &number.to_string()).await;
        if number % 5 == 0 {
            all.extend(take(&mut live, 1).await);
        }
    }
    all.extend(drain(&mut live).await);
    let expected: Vec<_> = (1..=EVENTS)
        .map(|it| format!("MODIFIED ns/a@{}", start + it))
        .collect();
    assert_eq!(all, expected);
    // The same events again, from history.
    let mut late = s.watch("ns", &format!("resourceVersion={start}")).await;
    assert_eq!(drain(&mut late).await, expected);
}
