//! The client as a source for informers: requests, batches, bad items, errors.

use crate::server::{Reply, Server, list};
use crate::watches::{frame, pod, reply};
use futures_util::StreamExt as _;
use kubist_api::core::v1::{Namespace, Pod};
use kubist_apimachinery::wire::{Encoding, Ingest, Wire};
use kubist_apimachinery::{ApiResource, Object, Retry, Status, StatusReason, Unstructured};
use kubist_cache::{
    Encoded, FetchError, ListBatch, ListEnd, ListItem, ListRequest, ListerWatcher, Metadata,
    Selection, Source, VersionMatch, WatchItem, WatchRequest,
};
use kubist_codec::watch_stream::EventKind;
use std::sync::Arc;
use std::time::Duration;

fn source<F: Ingest>(server: &Server) -> Arc<dyn ListerWatcher<F>> {
    server
        .client()
        .lister_watcher(&Selection::all().in_namespace("shop"))
}

#[tokio::test]
async fn requests_are_those_of_a_reflector() {
    let empty = Reply::json(r#"{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[]}"#);
    let server = Server::new([empty, Reply::json("")]);
    let selection = Selection::all()
        .in_namespace("shop")
        .with_labels("a=b")
        .with_fields("spec.nodeName=n");
    let pods: Arc<dyn ListerWatcher<Pod>> = server.client().lister_watcher(&selection);
    let request = ListRequest {
        resource_version: "5".into(),
        version_match: Some(VersionMatch::NotOlderThan),
        limit: 500,
        continue_token: "t".into(),
    };
    let batches: Vec<_> = pods.list(request).await.unwrap().collect().await;
    let end = ListEnd {
        resource_version: "9".into(),
        ..ListEnd::default()
    };
    assert!(matches!(&batches[..], [Ok(ListBatch::End(it))] if *it == end));
    let request = WatchRequest {
        resource_version: "5".into(),
        version_match: Some(VersionMatch::NotOlderThan),
        timeout: Some(Duration::from_millis(300_400)),
        bookmarks: true,
        send_initial_events: true,
    };
    assert_eq!(pods.watch(request).await.unwrap().count().await, 0);
    let path =
        "GET /api/v1/namespaces/shop/pods?labelSelector=a%3Db&fieldSelector=spec.nodeName%3Dn";
    assert_eq!(
        server.lines(),
        [
            format!(
                "{path}&resourceVersion=5&resourceVersionMatch=NotOlderThan&limit=500&continue=t"
            ),
            format!(
                "{path}&watch=true&allowWatchBookmarks=true&sendInitialEvents=true\
                 &resourceVersion=5&resourceVersionMatch=NotOlderThan&timeoutSeconds=300"
            ),
        ]
    );
}

/// 1,000 objects of which number 500 is `corrupt`.
fn thousand(encoding: Encoding, corrupt: &[u8]) -> Vec<Vec<u8>> {
    let item = |index: usize| {
        let pod = pod(&format!("p{index}"));
        match (encoding, index) {
            (_, 500) => corrupt.to_vec(),
            (Encoding::Protobuf, _) => pod.to_protobuf(),
            (_, _) => pod.to_json(),
        }
    };
    (0..1000).map(item).collect()
}

/// An object p500 that every form must notice to be corrupt.
fn corrupt(encoding: Encoding) -> &'static [u8] {
    match encoding {
        // The spec says that it is longer than the object.
        Encoding::Protobuf => b"\x0a\x06\x0a\x04p500\x12\x7f\x0a",
        _ => br#"{"metadata":{"name":"p500","uid":7},"spec":tru}"#,
    }
}

/// Objects p500 that are corrupt below their metadata, which concerns forms that hold more.
fn corrupt_inside(encoding: Encoding) -> &'static [&'static [u8]] {
    match encoding {
        Encoding::Protobuf => &[
            // A container's name is cut; a container is a number; a status has field number 0.
            b"\x0a\x06\x0a\x04p500\x12\x05\x12\x03\x0a\x09a",
            b"\x0a\x06\x0a\x04p500\x12\x02\x10\x01",
            b"\x0a\x06\x0a\x04p500\x1a\x02\x00\x01",
        ],
        _ => &[
            br#"{"metadata":{"name":"p500"},"spec":"none"}"#,
            br#"{"metadata":{"name":"p500"},"spec":{"containers":{"name":"a"}}}"#,
            br#"{"metadata":{"name":"p500"},"spec":{"containers":[{"name":["a"]}]}}"#,
            br#"{"metadata":{"name":"p500"},"spec":{},"status":{"phase":7}}"#,
            br#"{"metadata":{"name":"p500"},"spec":{"hostNetwork":"yes"}}"#,
        ],
    }
}

#[derive(Default)]
struct Count {
    delivered: usize,
    invalid: Vec<String>,
}

impl Count {
    fn invalid(&mut self, item: &kubist_cache::InvalidItem) {
        self.invalid.push(
            item.name
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        );
    }

    fn check(self) {
        assert_eq!(
            (self.delivered, self.invalid),
            (999, vec!["p500".to_owned()])
        );
    }
}

async fn list_of<F: Object>(lister: Arc<dyn ListerWatcher<F>>) {
    let mut count = Count::default();
    let mut batches = lister.list(ListRequest::default()).await.unwrap();
    while let Some(batch) = batches.next().await {
        let ListBatch::Items(items) = batch.unwrap() else {
            continue;
        };
        for item in items {
            match item {
                ListItem::Object(_) => count.delivered += 1,
                ListItem::Invalid(item) => count.invalid(&item),
            }
        }
    }
    count.check();
}

async fn watch_of<F: Object>(watcher: Arc<dyn ListerWatcher<F>>) {
    let mut count = Count::default();
    let mut batches = watcher.watch(WatchRequest::default()).await.unwrap();
    while let Some(batch) = batches.next().await {
        for item in batch.unwrap() {
            match item {
                WatchItem::Added(_) => count.delivered += 1,
                WatchItem::Invalid(event) => count.invalid(&event.item),
                _ => {}
            }
        }
    }
    count.check();
}

fn watch_body(encoding: Encoding, corrupt: &[u8]) -> Vec<u8> {
    use kubist_codec::watch_stream::{FrameObject, encode_frame};
    let mut out = Vec::new();
    for raw in thousand(encoding, corrupt) {
        let object = match encoding {
            Encoding::Protobuf => FrameObject::Protobuf {
                api_version: "v1",
                kind: "Pod",
                raw: &raw,
            },
            _ => FrameObject::Json(&raw),
        };
        encode_frame(EventKind::Added, object, &mut out);
    }
    out
}

fn any<F: kubist_cache::IngestAny>(server: &Server) -> Arc<dyn ListerWatcher<F>> {
    let resource = ApiResource::of::<Pod>();
    server
        .client()
        .dynamic_lister_watcher(&resource, &Selection::all())
}

/// Contract CLIENT-1.
#[tokio::test]
async fn one_corrupt_item_of_a_thousand_costs_itself_only() {
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        let listed = list::<Pod>(encoding, "", &thousand(encoding, corrupt(encoding)));
        let watched = watch_body(encoding, corrupt(encoding));
        for size in [100, 4096] {
            let server = || Server::new([reply(encoding, listed.clone()).split(size)]);
            list_of::<Pod>(source(&server())).await;
            list_of::<Encoded<Pod>>(source(&server())).await;
            list_of::<Metadata<Pod>>(source(&server())).await;
            list_of::<Metadata<()>>(any(&server())).await;
            let server = || Server::new([reply(encoding, watched.clone()).split(size)]);
            watch_of::<Pod>(source(&server())).await;
            watch_of::<Encoded<Pod>>(source(&server())).await;
            watch_of::<Metadata<Pod>>(source(&server())).await;
            watch_of::<Metadata<()>>(any(&server())).await;
        }
    }
}

#[tokio::test]
async fn one_item_of_a_thousand_that_is_corrupt_inside_costs_itself_only() {
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        for corrupt in corrupt_inside(encoding) {
            let listed = list::<Pod>(encoding, "", &thousand(encoding, corrupt));
            let server = || Server::new([reply(encoding, listed.clone()).split(4096)]);
            list_of::<Pod>(source(&server())).await;
            list_of::<Encoded<Pod>>(source(&server())).await;
            let watched = watch_body(encoding, corrupt);
            let server = || Server::new([reply(encoding, watched.clone()).split(4096)]);
            watch_of::<Pod>(source(&server())).await;
            watch_of::<Encoded<Pod>>(source(&server())).await;
        }
    }
}

#[tokio::test]
async fn one_corrupt_item_of_a_thousand_costs_itself_only_where_no_kind_is_known() {
    let corrupt = corrupt(Encoding::Json);
    let listed = list::<Pod>(Encoding::Json, "", &thousand(Encoding::Json, corrupt));
    let server = Server::new([Reply::json(listed).split(999)]);
    list_of::<Unstructured>(any(&server)).await;
    assert_eq!(server.asked()[0].header("accept"), "application/json");
    let server = Server::new([Reply::json(watch_body(Encoding::Json, corrupt)).split(999)]);
    watch_of::<Unstructured>(any(&server)).await;
}

#[tokio::test]
async fn strings_that_repeat_are_shared_by_lists_and_watches() {
    let items = [pod("a").to_protobuf(), pod("b").to_protobuf()];
    let body = list::<Pod>(Encoding::Protobuf, "", &items);
    let event = frame(Encoding::Protobuf, EventKind::Added, &pod("c"));
    let server = Server::new([Reply::protobuf(body), reply(Encoding::Protobuf, event)]);
    let pods = source::<Pod>(&server);
    let mut found = Vec::new();
    let mut batches = pods.list(ListRequest::default()).await.unwrap();
    while let Some(batch) = batches.next().await {
        if let ListBatch::Items(items) = batch.unwrap() {
            found.extend(items.into_iter().map(|item| match item {
                ListItem::Object(pod) => pod.metadata.resource_version,
                ListItem::Invalid(item) => panic!("{item:?}"),
            }));
        }
    }
    let mut events = pods.watch(WatchRequest::default()).await.unwrap();
    let Some(WatchItem::Added(pod)) = events.next().await.unwrap().unwrap().pop() else {
        panic!("no event");
    };
    found.push(pod.metadata.resource_version);
    assert_eq!(found.len(), 3);
    assert!(found[0].same_allocation(&found[1]) && found[1].same_allocation(&found[2]));
}

/// Contract REFL-9.
#[tokio::test]
async fn a_watch_that_ends_inside_a_frame_was_cut_like_one_whose_connection_broke() {
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        let whole = frame(encoding, EventKind::Added, &pod("a"));
        let body = [&whole[..], &whole[..whole.len() - 7]].concat();
        for reply in [
            reply(encoding, body.clone()),
            reply(encoding, body).then_cut(),
        ] {
            let server = Server::new([reply]);
            let pods = source::<Pod>(&server);
            let events = pods.watch(WatchRequest::default()).await.unwrap();
            let events: Vec<_> = events.collect().await;
            let cut = matches!(
                &events[..],
                [Ok(before), Err(FetchError::Connection { .. })] if before.len() == 1
            );
            assert!(cut, "{events:?}");
        }
    }
}

async fn refused(reply: Reply) -> FetchError {
    let server = Server::new([reply]);
    let error = source::<Pod>(&server)
        .list(ListRequest::default())
        .await
        .err()
        .unwrap();
    assert_eq!(
        server.asked().len(),
        1,
        "a reflector repeats, the client does not"
    );
    error
}

#[tokio::test(start_paused = true)]
async fn errors_are_sorted_for_the_reflector() {
    let failure = |code, reason| Status::failure(code, reason, "words");
    let case = |code, reason| refused(Reply::status(&failure(code, reason)));
    assert!(matches!(
        case(410, StatusReason::Expired).await,
        FetchError::Expired { .. }
    ));
    assert!(matches!(
        case(404, StatusReason::NotFound).await,
        FetchError::NotServed { .. }
    ));
    assert!(matches!(
        case(403, StatusReason::Forbidden).await,
        FetchError::Forbidden { .. }
    ));
    assert!(matches!(
        case(401, StatusReason::Unauthorized).await,
        FetchError::Unauthorized { .. }
    ));
    assert!(matches!(
        case(422, StatusReason::Invalid).await,
        FetchError::Invalid { .. }
    ));
    assert!(matches!(
        case(500, StatusReason::InternalError).await,
        FetchError::Internal { .. }
    ));
    let unavailable = case(503, StatusReason::ServiceUnavailable).await;
    assert!(matches!(unavailable, FetchError::Unavailable { .. }));
    assert!(matches!(
        case(418, StatusReason::default()).await,
        FetchError::Other { .. }
    ));
    let too_large = Status::too_large_resource_version(9, 5, 1);
    let error = refused(Reply::status(&too_large)).await;
    assert!(
        matches!(error, FetchError::TooLargeResourceVersion { .. }),
        "{error:?}"
    );
    let throttled = failure(429, StatusReason::TooManyRequests);
    let error = refused(Reply::status(&throttled).header("retry-after", "3")).await;
    assert_eq!(error.retry(), Retry::After(Duration::from_secs(3)));
    assert!(matches!(error, FetchError::Throttled { .. }));
}

#[tokio::test]
async fn answers_that_are_no_list_are_sorted_too() {
    let list = |reply| async move {
        let server = Server::new([reply]);
        let batches = source::<Pod>(&server)
            .list(ListRequest::default())
            .await
            .unwrap();
        let mut batches: Vec<_> = batches.collect().await;
        batches.pop().unwrap().unwrap_err()
    };
    let error = list(Reply::json(r#"{"kind":"Table","items":[]}"#)).await;
    assert!(
        matches!(&error, FetchError::UnexpectedKind { kind } if *kind == "Table"),
        "{error:?}"
    );
    let error = list(Reply::json("{]")).await;
    assert!(matches!(error, FetchError::Malformed { .. }), "{error:?}");
    let error = list(Reply::json(r#"{"items":["#).then_cut()).await;
    assert!(matches!(error, FetchError::Connection { .. }), "{error:?}");

    let connect = |_: kubist_transport::Endpoint| async {
        let refused = std::io::ErrorKind::ConnectionRefused;
        Err::<tokio::io::DuplexStream, _>(std::io::Error::from(refused))
    };
    let config = kubist_transport::Config::new("http://in.process".parse().unwrap());
    let transport = kubist_transport::Transport::with_connector(config, connect).unwrap();
    let client = kubist_client::Client::new(transport, kubist_client::Config::default());
    let pods: Arc<dyn ListerWatcher<Pod>> = client.lister_watcher(&Selection::all());
    let error = pods.list(ListRequest::default()).await.err().unwrap();
    assert!(
        matches!(error, FetchError::ConnectionRefused { .. }),
        "{error:?}"
    );
    let error = pods.watch(WatchRequest::default()).await.err().unwrap();
    assert!(error.is_overload());
}

/// Contract REFL-5.
#[tokio::test]
async fn all_of_a_server_learn_that_it_has_no_streaming_lists() {
    let client = Server::new([]).client();
    let pods: Arc<dyn ListerWatcher<Pod>> = client.lister_watcher(&Selection::all());
    let other: Arc<dyn ListerWatcher<Namespace>> = client.lister_watcher(&Selection::all());
    assert!(other.supports_streaming_list());
    pods.streaming_list_refused();
    assert!(!other.supports_streaming_list());
}
