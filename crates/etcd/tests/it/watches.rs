//! Watch streams: several watches, progress, cancels, filters and compaction.

use crate::client::{Server, delete};
use kubist_etcd_api as api;
use kubist_etcd_api::{EventType, FilterType, WatchRequestUnion};

fn prefix(key: &str) -> api::WatchCreateRequest {
    let mut end = key.as_bytes().to_vec();
    *end.last_mut().unwrap() += 1;
    api::WatchCreateRequest {
        key: key.to_owned().into(),
        range_end: end.into(),
        ..api::WatchCreateRequest::default()
    }
}

#[tokio::test]
async fn watches_of_a_stream_have_their_own_ranges_filters_and_previous_versions() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let mut watching = client.watch().await;
    watching
        .create(api::WatchCreateRequest {
            prev_kv: true,
            filters: vec![FilterType::NoPut.into()],
            watch_id: 7,
            ..prefix("a")
        })
        .await;
    watching.create(prefix("b")).await;
    let created = [watching.next().await, watching.next().await];
    assert!(created.iter().all(|it| it.created && !it.canceled));
    assert_eq!(created.map(|it| it.watch_id), [7, 1]);
    client.put("a", "1").await;
    client.put("b", "2").await;
    let deleted = client.call::<_, api::DeleteRangeResponse>(api::DELETE_RANGE, delete("a", ""));
    assert_eq!(deleted.await.unwrap().deleted, 1);
    let mut found = Vec::new();
    while found.len() < 2 {
        let response = watching.next().await;
        for event in response.events {
            let (kv, previous) = (event.kv.unwrap(), event.prev_kv.map(|kv| kv.value));
            found.push((response.watch_id, event.kind, kv.mod_revision, previous));
        }
    }
    found.sort_unstable();
    let deleted = EventType::Delete as i32;
    assert_eq!(found, [(1, 0, 3, None), (7, deleted, 4, Some("1".into()))]);
}

#[tokio::test]
async fn progress_of_a_stream_comes_after_the_events_of_all_its_watches() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let mut watching = client.watch().await;
    for key in ["a", "b", "c"] {
        watching.create(prefix(key)).await;
        assert!(watching.next().await.created);
    }
    for round in 0..50 {
        client.put("a", &round.to_string()).await;
        let last = client.put("b", &round.to_string()).await;
        let last = last.header.unwrap().revision;
        let ask = api::WatchProgressRequest {};
        watching.send(WatchRequestUnion::Progress(ask)).await;
        let mut events = 0;
        loop {
            let response = watching.next().await;
            if response.watch_id == -1 {
                assert_eq!(response.header.unwrap().revision, last);
                break;
            }
            events += response.events.len();
        }
        assert_eq!(events, 2, "before the progress");
    }
}

#[tokio::test]
async fn watch_that_is_canceled_sends_nothing_more() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let mut watching = client.watch().await;
    watching.create(prefix("a")).await;
    let id = watching.next().await.watch_id;
    let cancel = api::WatchCancelRequest { watch_id: id };
    watching.send(WatchRequestUnion::Cancel(cancel)).await;
    let canceled = watching.next().await;
    assert!(canceled.canceled && canceled.watch_id == id);
    client.put("a", "1").await;
    watching.create(prefix("b")).await;
    assert!(watching.next().await.created);
    client.put("b", "2").await;
    let response = watching.next().await;
    assert_eq!(response.events[0].kv.as_ref().unwrap().key, "b");
    assert_eq!(server.kv.stats().watched_ranges, 1);
}

#[tokio::test]
async fn watch_below_the_history_is_canceled_with_where_it_begins() {
    let server = Server::start().await;
    let mut client = server.client().await;
    for value in 0..20 {
        client.put("a", &value.to_string()).await;
    }
    let compact = api::CompactionRequest {
        revision: 15,
        physical: true,
    };
    let done = client.call::<_, api::CompactionResponse>(api::COMPACT, compact);
    done.await.unwrap();
    let mut watching = client.watch().await;
    let from = |start_revision| api::WatchCreateRequest {
        start_revision,
        ..prefix("a")
    };
    watching.create(from(14)).await;
    assert!(watching.next().await.created);
    let canceled = watching.next().await;
    assert!(canceled.canceled);
    assert_eq!(canceled.compact_revision, 15);
    watching.create(from(15)).await;
    assert!(watching.next().await.created);
    let mut events = 0;
    while events < 7 {
        events += watching.next().await.events.len();
    }
    assert_eq!(events, 7);
}

#[tokio::test]
async fn creations_that_make_no_sense_are_refused_with_the_reason() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let mut watching = client.watch().await;
    let with_id = || api::WatchCreateRequest {
        watch_id: 3,
        ..prefix("a")
    };
    watching.create(with_id()).await;
    assert!(!watching.next().await.canceled);
    let empty = api::WatchCreateRequest {
        range_end: "a".into(),
        ..prefix("b")
    };
    for (create, why) in [
        (
            with_id(),
            "mvcc: duplicate watch ID provided on the WatchStream",
        ),
        (empty, "mvcc: watcher range is empty"),
    ] {
        watching.create(create).await;
        let response = watching.next().await;
        assert!(response.created && response.canceled);
        assert_eq!((response.watch_id, &*response.cancel_reason), (-1, why));
    }
}
