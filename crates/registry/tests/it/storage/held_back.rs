//! Watches hold back undecodable objects, and continue with all others.

use super::matrix;
use super::stack::{Stack, pod, typed};
use kubist_registry::storage::DeleteRequest;
use kubist_registry::{EventStream, WatchEvent};

matrix![
    an_undecodable_version_is_held_back_and_its_delete_shows_the_last_known_state,
    a_repaired_object_is_modified,
    a_repaired_object_that_no_longer_matches_is_deleted,
    an_object_is_added_once_it_can_be_decoded,
    only_watches_that_showed_an_object_deliver_its_delete,
    a_watch_that_skips_undecodable_objects_begins_with_the_rest,
    a_client_with_an_unknown_older_version_lists_again,
    a_hundred_are_held_back_and_one_more_ends_the_watch,
];

const UNREADABLE: DeleteRequest<'_> = DeleteRequest {
    preconditions: None,
    suggestion: None,
    unreadable: true,
};

/// Returns the next events of a watch, as type and name.
pub(super) async fn seen(watch: &mut EventStream, count: usize) -> Vec<String> {
    let mut seen = Vec::new();
    while seen.len() < count {
        let events = watch.next().await.expect("it goes on");
        seen.extend(events.iter().map(text));
    }
    seen
}

fn text(event: &WatchEvent) -> String {
    if let WatchEvent::Error(status) = event {
        return format!("ERROR {}", status.reason);
    }
    let stored = event.object().expect("it has one");
    let name = &stored.object().expect("readable").meta().name;
    format!("{} {name}", event.type_name())
}

async fn end(s: &Stack, name: &str) {
    let ended = s.try_delete("ns", name, UNREADABLE).await;
    ended.expect("it cannot be read");
}

async fn an_undecodable_version_is_held_back_and_its_delete_shows_the_last_known_state(s: &Stack) {
    s.create("ns", "a").await;
    let known = s.label("ns", "a", "known").await;
    let start = s.create("ns", "b").await.revision();
    let mut watch = s.watch("ns", &format!("resourceVersion={start}")).await;
    s.put_raw("a", b"no mark").await;
    s.label("ns", "b", "x").await;
    s.put_raw("a", b"nor this").await;
    assert_eq!(seen(&mut watch, 1).await, ["MODIFIED b"]);
    end(s, "a").await;
    let head = s.head().await;
    s.create("ns", "c").await;
    let events = watch.next().await.expect("it goes on");
    let WatchEvent::Deleted(last) = &events[0] else {
        panic!("{events:?}");
    };
    assert_eq!(typed(last).metadata.labels, typed(&known).metadata.labels);
    assert_eq!(last.revision(), head, "it has the revision of its end");
    let rest: Vec<String> = events[1..].iter().map(text).collect();
    let rest = match rest.len() {
        0 => seen(&mut watch, 1).await,
        _ => rest,
    };
    assert_eq!(rest, ["ADDED c"]);
}

async fn a_repaired_object_is_modified(s: &Stack) {
    let start = s.create("ns", "a").await.revision();
    let good = s.raw_value("a").await;
    let mut watch = s.watch("ns", &format!("resourceVersion={start}")).await;
    s.put_raw("a", b"no mark").await;
    s.put_raw("a", &good).await;
    s.delete("ns", "a").await;
    assert_eq!(seen(&mut watch, 2).await, ["MODIFIED a", "DELETED a"]);
}

async fn a_repaired_object_that_no_longer_matches_is_deleted(s: &Stack) {
    s.create("ns", "a").await;
    let plain = s.raw_value("a").await;
    let start = s.label("ns", "a", "x").await.revision();
    let labelled = s.raw_value("a").await;
    let query = format!("labelSelector=k=x&resourceVersion={start}");
    let mut watch = s.watch("ns", &query).await;
    for value in [b"no mark".as_slice(), &plain, b"no mark", &labelled] {
        s.put_raw("a", value).await;
    }
    assert_eq!(seen(&mut watch, 2).await, ["DELETED a", "ADDED a"]);
}

async fn an_object_is_added_once_it_can_be_decoded(s: &Stack) {
    s.create("ns", "a").await;
    let good = s.raw_value("a").await;
    let start = s.delete("ns", "a").await.revision();
    let mut watch = s.watch("ns", &format!("resourceVersion={start}")).await;
    s.put_raw("a", b"no mark").await;
    s.put_raw("a", &good).await;
    assert_eq!(seen(&mut watch, 1).await, ["ADDED a"]);
    s.put_raw("b", b"no mark").await;
    end(s, "b").await;
    s.create("ns", "c").await;
    assert_eq!(
        seen(&mut watch, 1).await,
        ["ADDED c"],
        "the watch has not shown b"
    );
}

async fn only_watches_that_showed_an_object_deliver_its_delete(s: &Stack) {
    let mut on_one = pod("ns", "a");
    on_one.spec.node_name = "one".into();
    let start = s.create_pod(on_one).await.revision();
    let of = |node: &str| {
        let field = format!("fieldSelector=spec.nodeName={node}");
        format!("{field}&resourceVersion={start}")
    };
    let mut one = s.watch("ns", &of("one")).await;
    let mut two = s.watch("ns", &of("two")).await;
    s.put_raw("a", b"no mark").await;
    end(s, "a").await;
    for node in ["one", "two"] {
        let mut later = pod("ns", node);
        later.spec.node_name = node.into();
        s.create_pod(later).await;
    }
    assert_eq!(seen(&mut one, 2).await, ["DELETED a", "ADDED one"]);
    assert_eq!(seen(&mut two, 1).await, ["ADDED two"]);
}

async fn a_watch_that_skips_undecodable_objects_begins_with_the_rest(s: &Stack) {
    for name in ["a", "b", "c"] {
        s.create("ns", name).await;
    }
    let good = s.raw_value("b").await;
    s.put_raw("b", b"no mark").await;
    let mut watch = s.watch_skipping_unreadable("ns", "").await;
    assert_eq!(seen(&mut watch, 2).await, ["ADDED a", "ADDED c"]);
    s.put_raw("b", &good).await;
    assert_eq!(seen(&mut watch, 1).await, ["ADDED b"]);
}

async fn a_client_with_an_unknown_older_version_lists_again(s: &Stack) {
    s.create("ns", "a").await;
    let plain = s.raw_value("a").await;
    s.label("ns", "a", "x").await;
    let start = s.put_raw("a", b"no mark").await;
    let version = format!("resourceVersion={start}");
    let mut all = s.watch("ns", &version).await;
    let mut some = s.watch("ns", &format!("labelSelector=k=x&{version}")).await;
    s.put_raw("a", &plain).await;
    assert_eq!(seen(&mut all, 1).await, ["MODIFIED a"]);
    assert_eq!(seen(&mut some, 1).await, ["ERROR Expired"]);
    assert!(some.next().await.is_none());
}

async fn a_hundred_are_held_back_and_one_more_ends_the_watch(s: &Stack) {
    let start = s.create("ns", "a").await.revision();
    let mut watch = s.watch("ns", &format!("resourceVersion={start}")).await;
    for number in 0..100 {
        s.put_raw(&format!("n{number}"), b"no mark").await;
    }
    s.create("ns", "b").await;
    assert_eq!(seen(&mut watch, 1).await, ["ADDED b"]);
    s.put_raw("one-more", b"no mark").await;
    assert_eq!(seen(&mut watch, 1).await, ["ERROR StorageReadError"]);
    assert!(watch.next().await.is_none());
}
