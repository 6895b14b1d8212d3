//! Lists: selectors, pages and resource versions.

use crate::fixture::{Fixture, config_map, names, options};
use kubist_api::batch::v1::Job;
use kubist_api::core::v1::{ConfigMap, Event, Namespace, Node};
use kubist_registry::ListPage;
use kubist_storage::{Clock, ManualClock, memory};
use kubist_storage::{KvMaintenance, KvRead, KvWrite};
use std::sync::Arc;
use std::time::Duration;

/// Creates the config maps c0 to c4 with the labels a, a, b, c and none.
async fn five() -> (Fixture, Vec<String>) {
    let fixture = Fixture::new().await;
    let mut versions = Vec::new();
    for (index, label) in ["a", "a", "b", "c", ""].into_iter().enumerate() {
        let created = fixture
            .create(config_map(&format!("c{index}"), label))
            .await;
        versions.push(created.metadata.resource_version.to_string());
    }
    (fixture, versions)
}

#[tokio::test]
async fn selectors_select() {
    let (fixture, _) = five().await;
    for (query, expected) in [
        ("labelSelector=k=a", &["c0", "c1"][..]),
        ("labelSelector=k!=a", &["c2", "c3", "c4"]),
        ("labelSelector=k in (a,b)", &["c0", "c1", "c2"]),
        ("labelSelector=!k", &["c4"]),
        ("labelSelector=k=a,k=b", &[]),
        ("fieldSelector=metadata.name=c1", &["c1"]),
        ("fieldSelector=metadata.name!=c1", &["c0", "c2", "c3", "c4"]),
        ("fieldSelector=metadata.namespace=other", &[]),
        ("fieldSelector=metadata.name=c1,metadata.name=c2", &[]),
        ("fieldSelector=metadata.name=c1&labelSelector=k=b", &[]),
        ("", &["c0", "c1", "c2", "c3", "c4"]),
    ] {
        assert_eq!(fixture.names::<ConfigMap>(query).await, expected, "{query}");
    }
    let status = fixture.list::<ConfigMap>("fieldSelector=data.d=1").await;
    assert_eq!(
        status.expect_err("there is no such field").message,
        "\"data.d\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    );
    let status = fixture.list::<Job>("fieldSelector=x=1").await;
    assert_eq!(
        status.expect_err("there is no such field").message,
        "field label \"x\" not supported for Job"
    );
    for status in [
        fixture
            .list::<Namespace>("fieldSelector=metadata.namespace=a")
            .await
            .err(),
        fixture
            .list::<Node>("fieldSelector=metadata.namespace=a")
            .await
            .err(),
    ] {
        assert_eq!(
            status.expect("they are in no namespace").message,
            "field label not supported: metadata.namespace"
        );
    }
}

#[tokio::test]
async fn a_version_ahead_of_storage_suggests_a_retry_except_for_events() {
    let (fixture, _) = five().await;
    let ahead = "resourceVersion=999999999";
    for query in ["", "&limit=1", "&resourceVersionMatch=Exact"] {
        let query = format!("{ahead}{query}");
        let config_maps = fixture.list::<ConfigMap>(&query).await.map(drop);
        let events = fixture.list::<Event>(&query).await.map(drop);
        for (listed, seconds) in [(config_maps, 1), (events, 0)] {
            let status = listed.expect_err("it is ahead");
            assert!(status.is_too_large_resource_version(), "{query}");
            let details = status.details.expect("it has a cause");
            assert_eq!(details.retry_after_seconds, seconds, "{query}");
        }
    }
}

#[tokio::test]
async fn an_invalid_version_has_a_different_message_for_events() {
    let fixture = Fixture::new().await;
    let none = "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid \
                syntax";
    let (cx, version) = (fixture.cx(), "x".into());
    let config_maps = fixture.of::<ConfigMap>();
    let status = config_maps.get(&cx, "default", "c", &version).await;
    assert_eq!(status.expect_err("it is none").message, none);
    let events = fixture.of::<Event>();
    let status = events.get(&cx, "default", "e", &version).await;
    let expected = format!("invalid resource version: {none}");
    assert_eq!(status.expect_err("it is none").message, expected.as_str());
}

#[tokio::test]
async fn all_namespaces_are_listed_in_order_or_narrowed_to_one() {
    let (fixture, _) = five().await;
    let mut other = config_map("c9", "a");
    other.metadata.namespace = "kube-system".into();
    fixture.create(other).await;
    let rest = fixture.of::<ConfigMap>();
    let list = async |query: &str| {
        let page = rest.list(&fixture.cx(), "", &options(query)).await;
        names(&page.expect("the options are valid"))
    };
    assert_eq!(list("labelSelector=k=a").await, ["c0", "c1", "c9"]);
    assert_eq!(
        list("fieldSelector=metadata.namespace=kube-system").await,
        ["c9"]
    );
    assert_eq!(list("fieldSelector=metadata.name=c9").await, ["c9"]);
}

fn token(page: &ListPage) -> &str {
    &page.metadata.continue_
}

#[tokio::test]
async fn pages_are_one_consistent_list() {
    let (fixture, _) = five().await;
    let first = fixture.list::<ConfigMap>("limit=2").await.expect("fine");
    assert_eq!(
        (names(&first), first.metadata.remaining_item_count),
        (vec!["c0".into(), "c1".into()], Some(3))
    );
    // Changes between pages are not visible.
    fixture.create(config_map("c1x", "a")).await;
    fixture
        .delete::<ConfigMap>("c3", kubist_apimachinery::DeleteOptions::default())
        .await
        .expect("fine");
    let next = |page: &ListPage| format!("limit=2&continue={}", token(page));
    let second = fixture
        .list::<ConfigMap>(&next(&first))
        .await
        .expect("fine");
    assert_eq!(
        (names(&second), second.metadata.remaining_item_count),
        (vec!["c2".into(), "c3".into()], Some(1))
    );
    let third = fixture
        .list::<ConfigMap>(&next(&second))
        .await
        .expect("fine");
    assert_eq!((names(&third), token(&third)), (vec!["c4".into()], ""));
    for page in [&second, &third] {
        assert_eq!(
            page.metadata.resource_version,
            first.metadata.resource_version
        );
    }
    assert_eq!(third.metadata.remaining_item_count, None);
}

#[tokio::test]
async fn a_limit_counts_what_is_selected() {
    let (fixture, _) = five().await;
    let first = fixture
        .list::<ConfigMap>("limit=1&labelSelector=k=a")
        .await
        .expect("fine");
    assert_eq!(names(&first), ["c0"]);
    assert_eq!(
        first.metadata.remaining_item_count, None,
        "it is unknown under a selector"
    );
    let query = format!("limit=1&labelSelector=k=a&continue={}", token(&first));
    let second = fixture.list::<ConfigMap>(&query).await.expect("fine");
    assert_eq!(names(&second), ["c1"]);
    let query = format!("limit=1&labelSelector=k=a&continue={}", token(&second));
    let third = fixture.list::<ConfigMap>(&query).await.expect("fine");
    assert_eq!((names(&third), token(&third)), (vec![], ""));
    let rare = fixture
        .list::<ConfigMap>("limit=1&labelSelector=!k")
        .await
        .expect("fine");
    assert_eq!(names(&rare), ["c4"]);
    let exact = fixture.list::<ConfigMap>("limit=5").await.expect("fine");
    assert_eq!(token(&exact), "");
}

#[tokio::test]
async fn a_list_can_be_had_at_an_earlier_version() {
    let (fixture, versions) = five().await;
    for (query, expected) in [
        (
            format!("resourceVersion={}&resourceVersionMatch=Exact", versions[1]),
            2,
        ),
        (format!("resourceVersion={}", versions[1]), 5),
        (
            format!(
                "resourceVersion={}&resourceVersionMatch=NotOlderThan",
                versions[1]
            ),
            5,
        ),
        (format!("resourceVersion={}&limit=2", versions[2]), 2),
        ("resourceVersion=0".to_owned(), 5),
        ("resourceVersion=0&limit=2".to_owned(), 5),
    ] {
        assert_eq!(
            fixture.names::<ConfigMap>(&query).await.len(),
            expected,
            "{query}"
        );
    }
    let exact = format!("resourceVersion={}&resourceVersionMatch=Exact", versions[1]);
    let exact = fixture.list::<ConfigMap>(&exact).await.expect("fine");
    assert_eq!(exact.metadata.resource_version, versions[1].as_str());
}

#[tokio::test]
async fn a_version_ahead_of_storage_is_a_timeout() {
    let (fixture, _) = five().await;
    for query in [
        "resourceVersion=9999999999",
        "resourceVersion=9999999999&resourceVersionMatch=Exact",
        "resourceVersion=9999999999&limit=1",
    ] {
        let status = fixture
            .list::<ConfigMap>(query)
            .await
            .expect_err("it is not there yet");
        assert!(status.is_too_large_resource_version(), "{query}: {status}");
    }
    let rest = fixture.of::<ConfigMap>();
    let ahead = "9999999999".into();
    let status = rest.get(&fixture.cx(), "default", "c1", &ahead).await;
    assert!(status.is_err_and(|it| it.is_too_large_resource_version()));
}

#[tokio::test]
async fn history_that_is_gone_is_expired() {
    let (fixture, versions) = five().await;
    let first = fixture.list::<ConfigMap>("limit=2").await.expect("fine");
    fixture.create(config_map("late", "")).await;
    let head = fixture.kv.revision().await.expect("open");
    fixture.kv.compact(head).await.expect("it is not ahead");
    let exact = format!("resourceVersion={}&resourceVersionMatch=Exact", versions[1]);
    let status = fixture
        .list::<ConfigMap>(&exact)
        .await
        .expect_err("it is gone");
    assert!(status.is_gone());

    let query = format!("limit=2&continue={}", token(&first));
    let status = fixture
        .list::<ConfigMap>(&query)
        .await
        .expect_err("it is gone");
    assert!(status.is_gone());
    // The status has a token that continues at the newest version.
    let query = format!("limit=10&continue={}", status.metadata.continue_);
    let rest = fixture.list::<ConfigMap>(&query).await.expect("it goes on");
    assert_eq!(names(&rest)[..3], ["c2", "c3", "c4"]);
}

#[tokio::test]
async fn options_that_contradict_each_other_are_refused() {
    let (fixture, versions) = five().await;
    let first = fixture.list::<ConfigMap>("limit=2").await.expect("fine");
    let query = format!("continue={}&resourceVersion={}", token(&first), versions[0]);
    let status = fixture
        .list::<ConfigMap>(&query)
        .await
        .expect_err("which one?");
    assert_eq!(
        status.message,
        "specifying resource version is not allowed when using continue"
    );
    let status = fixture
        .list::<ConfigMap>("resourceVersion=x")
        .await
        .expect_err("no version");
    assert_eq!(
        status.message,
        "invalid resource version: resourceVersion: Invalid value: \"x\": strconv.ParseUint: \
         parsing \"x\": invalid syntax"
    );
    for (query, code) in [
        ("continue=garbage", 400),
        ("continue=abc&resourceVersion=5", 400),
        ("resourceVersionMatch=Exact", 422),
        ("resourceVersion=abc", 400),
    ] {
        let status = fixture
            .list::<ConfigMap>(query)
            .await
            .expect_err("no sense");
        assert_eq!(status.code, code, "{query}");
    }
}

#[tokio::test]
async fn one_corrupt_object_is_named_and_hides_no_other() {
    let (fixture, _) = five().await;
    let garbage = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x02\x0a\x7f".as_slice();
    let put = kubist_storage::PutRequest::new(
        "/registry/configmaps/default/c2",
        garbage,
        kubist_storage::Expected::Any,
    );
    fixture.kv.put(put).await.expect("open");
    let listed = fixture.list::<ConfigMap>("").await;
    let status = listed.expect_err("a list is whole or an error");
    assert_eq!(status.reason, "StorageReadError");
    let causes = status.details.expect("it is named").causes;
    let fields: Vec<_> = causes.iter().map(|it| &*it.field).collect();
    assert_eq!(fields, ["/registry/configmaps/default/c2"]);
    for name in ["c0", "c1", "c3", "c4"] {
        assert!(fixture.get::<ConfigMap>(name).await.is_ok(), "{name}");
        let one = format!("fieldSelector=metadata.name={name}");
        assert_eq!(fixture.names::<ConfigMap>(&one).await, [name]);
    }
}

#[tokio::test]
async fn events_are_selected_by_the_names_of_their_own_group() {
    use kubist_api::core::v1::Event;
    let fixture = Fixture::new().await;
    for (name, reason) in [("a", "Started"), ("b", "Killed")] {
        let mut event = Event::default();
        event.metadata.name = name.into();
        event.reason = reason.into();
        event.involved_object.name = name.into();
        event.involved_object.namespace = "default".into();
        event.reporting_component = format!("of-{name}").into();
        fixture.create(event).await;
    }
    let rest = fixture.rest("events.k8s.io", "v1", "events");
    let list = async |selector: &str| {
        let selected = options(&format!("fieldSelector={selector}"));
        rest.list(&fixture.cx(), "default", &selected).await
    };
    for selector in [
        "regarding.name=a",
        "reportingController=of-a",
        "reason=Started",
    ] {
        let page = list(selector).await.expect("it is known");
        assert_eq!(names(&page), ["a"], "{selector}");
    }
    for selector in ["involvedObject.name=a", "reportingComponent=x", "source=x"] {
        let refused = list(selector).await.expect_err("it is core's");
        let (field, _) = selector.split_once('=').expect("it has one");
        assert_eq!(
            refused.message,
            format!("field label not supported: {field}")
        );
        assert_eq!(refused.code, 400);
    }
    let core = fixture.rest("", "v1", "events");
    let selected = options("fieldSelector=regarding.name=a");
    let refused = core.list(&fixture.cx(), "default", &selected).await;
    assert!(refused.is_err());
}

#[tokio::test]
async fn continue_tokens_expire_by_time() {
    let clock = Arc::new(ManualClock::default());
    let moved = Arc::clone(&clock) as Arc<dyn Clock>;
    let kv = memory::MemoryKv::new(memory::Config::default(), moved);
    let engine = kv.clone();
    let fixture = Fixture::with(move |config| config.kv = Arc::new(engine)).await;
    for name in ["a", "b", "c"] {
        fixture.create(config_map(name, "")).await;
    }
    let page = fixture.list::<ConfigMap>("limit=1").await.expect("fine");
    let token = page.metadata.continue_.clone();
    fixture.create(config_map("d", "")).await;
    let next = format!("limit=1&continue={token}");
    assert_eq!(fixture.names::<ConfigMap>(&next).await, ["b"]);
    // Advances the clock by upstream's history period and a sixteenth of it.
    for _ in 0..11 {
        kv.tick();
        clock.advance(Duration::from_secs(60));
    }
    kv.tick();
    let expired = fixture.list::<ConfigMap>(&next).await;
    assert_eq!(expired.expect_err("it is too old").code, 410);
}
