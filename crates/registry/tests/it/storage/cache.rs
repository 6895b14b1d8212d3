//! Behaviour of the watch cache only: waits, delegation, rebuilds, and the end of slow watchers.

use super::gate::Gate;
use super::stack::{Stack, drain, names, take};
use kubist_registry::StorageError;
use kubist_registry::storage::PutOptions;
use kubist_storage::memory::{Config, MemoryKv, TokioClock};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

pub(super) async fn gated() -> (Stack, Gate) {
    let kv = MemoryKv::new(Config::default(), Arc::new(TokioClock::start()));
    let gate = Gate::new(Arc::new(kv));
    let kv = Arc::new(gate.clone());
    let stack = Stack::over(kv, true, JoinSet::new(), Box::new(())).await;
    (stack, gate)
}

#[tokio::test(start_paused = true)]
async fn lists_and_reads_are_answered_without_storage() {
    let (s, gate) = gated().await;
    let first = s.create("ns", "a").await.revision();
    let head = s.create("ns", "b").await.revision();
    assert_eq!(s.names("ns", "").await.len(), 2);
    let before = gate.reads();
    for query in [
        String::new(),
        "resourceVersion=0".into(),
        "limit=1".into(),
        format!("resourceVersion={head}"),
        format!("resourceVersion={first}&resourceVersionMatch=Exact"),
        format!("resourceVersion={first}&limit=1"),
        "fieldSelector=metadata.name=a".into(),
    ] {
        let listed = s.list("ns", &query).await.expect("it is kept");
        assert!(!listed.items.is_empty(), "{query}");
        if !listed.metadata.continue_.is_empty() {
            let next = format!("limit=1&continue={}", listed.metadata.continue_);
            assert_eq!(s.names("ns", &next).await, ["ns/b"]);
        }
    }
    assert_eq!(gate.reads(), before, "all from the cache");
    for version in [Some(0), Some(head)] {
        s.storage
            .get(&s.key("ns", "a"), version)
            .await
            .expect("it is reached");
    }
    assert_eq!(gate.reads(), before);
    s.storage
        .get(&s.key("ns", "a"), None)
        .await
        .expect("it exists");
    assert_eq!(
        gate.reads(),
        (before.0, before.1 + 1),
        "the most recent is storage's"
    );
    let single =
        format!("fieldSelector=metadata.name=a&resourceVersion={first}&resourceVersionMatch=Exact");
    assert_eq!(s.names("ns", &single).await, ["ns/a"]);
    assert_eq!(
        gate.reads(),
        (before.0 + 1, before.1 + 1),
        "one object at a version, too"
    );
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_is_behind_waits_three_seconds() {
    let (s, gate) = gated().await;
    s.create("ns", "a").await;
    assert_eq!(s.names("ns", "").await, ["ns/a"]);
    gate.hold(true);
    let head = s.create("ns", "b").await.revision();
    let begun = Instant::now();
    let status = s.list("ns", &format!("resourceVersion={head}")).await;
    let status = status.expect_err("it is behind");
    assert!(status.is_too_large_resource_version());
    assert_eq!(
        status.details.as_ref().map(|it| it.retry_after_seconds),
        Some(1)
    );
    assert_eq!(begun.elapsed().as_secs(), 3);
    let got = s.storage.get(&s.key("ns", "b"), Some(head)).await;
    assert!(matches!(got, Err(StorageError::TooLarge { .. })));
    let any = s
        .list("ns", "resourceVersion=0")
        .await
        .expect("it is there");
    assert_eq!(names(&any), ["ns/a"], "any version will do");
    // A consistent list does not depend on the cache.
    let begun = Instant::now();
    assert_eq!(s.names("ns", "").await, ["ns/a", "ns/b"]);
    assert_eq!(begun.elapsed().as_secs(), 3);
    let waiting = async { s.names("ns", &format!("resourceVersion={head}")).await };
    let release = async {
        sleep(Duration::from_secs(1)).await;
        gate.hold(false);
    };
    let (found, ()) = tokio::join!(waiting, release);
    assert_eq!(found, ["ns/a", "ns/b"], "it came in time");
}

#[tokio::test(start_paused = true)]
async fn storage_serves_lists_until_the_engine_reports_progress() {
    let (s, gate) = gated().await;
    gate.silence(true);
    let head = s.create("ns", "a").await.revision();
    sleep(Duration::from_secs(1)).await;
    let key = s.key("ns", "a");
    let (begun, before) = (Instant::now(), gate.reads());
    assert_eq!(s.names("ns", "").await, ["ns/a"]);
    assert_eq!(
        s.names("ns", &format!("resourceVersion={head}")).await,
        ["ns/a"]
    );
    assert!(
        s.storage
            .get(&key, Some(head))
            .await
            .expect("it is there")
            .is_some()
    );
    assert_eq!(gate.reads(), (before.0 + 2, before.1 + 1));
    assert_eq!(begun.elapsed(), Duration::ZERO, "nothing waits");
    let before = gate.reads();
    assert_eq!(s.names("ns", "resourceVersion=0").await, ["ns/a"]);
    assert_eq!(gate.reads(), before, "any version is the cache's");
    gate.silence(false);
    let both = async |before| {
        assert_eq!(s.names("ns", "").await, ["ns/a"]);
        assert!(
            s.storage
                .get(&key, Some(head))
                .await
                .expect("it is there")
                .is_some()
        );
        assert_eq!(gate.reads(), before);
    };
    both(before).await;
    // A temporarily missing etcd member changes nothing.
    gate.silence(true);
    both(before).await;
}

#[tokio::test(start_paused = true)]
async fn consistent_lists_ask_for_progress() {
    let (s, _) = gated().await;
    s.create("ns", "a").await;
    for _ in 0..20 {
        let head = s.bump().await;
        let begun = Instant::now();
        let listed = s.list("ns", "").await.expect("it is reached");
        assert_eq!(listed.metadata.resource_version, head.to_string());
        assert!(begun.elapsed() < Duration::from_millis(100), "at once");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cache_is_rebuilt_and_its_watches_end_and_resume_when_the_engine_fails() {
    let (s, gate) = gated().await;
    let first = s.create("ns", "a").await.revision();
    let mut watches = Vec::new();
    for query in [format!("resourceVersion={first}"), String::new()] {
        watches.push(s.watch("ns", &query).await);
    }
    let cacher = s.cacher.clone().expect("it has one");
    drain(&mut watches[0]).await;
    drain(&mut watches[1]).await;
    gate.fail(true);
    gate.cut();
    for watch in &mut watches {
        assert!(watch.next().await.is_none(), "closed, without an error");
    }
    assert_eq!((cacher.stats().watchers, cacher.stats().generation), (0, 1));
    assert!(s.storage.readiness().is_err());
    s.storage
        .create(
            s.key("ns", "b"),
            Box::new(super::stack::pod("ns", "b")),
            PutOptions::default(),
        )
        .await
        .expect("writes go on");
    gate.fail(false);
    cacher.wait_until_ready().await;
    assert_eq!(s.names("ns", "resourceVersion=0").await, ["ns/a", "ns/b"]);
    // The new cache knows what was before its list, so a watch resumes.
    let mut watch = s.watch("ns", &format!("resourceVersion={first}")).await;
    let head = s.head().await;
    assert_eq!(take(&mut watch, 1).await, [format!("ADDED ns/b@{head}")]);
    let mut watch = s.watch("ns", &format!("resourceVersion={head}")).await;
    s.create("ns", "c").await;
    assert_eq!(
        take(&mut watch, 1).await,
        [format!("ADDED ns/c@{}", head + 1)]
    );
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_is_not_ready_rejects_or_delegates() {
    let (s, gate) = gated().await;
    s.create("ns", "a").await;
    let version = s.create("ns", "b").await.revision();
    gate.fail(true);
    gate.cut();
    sleep(Duration::from_millis(10)).await;
    for query in ["", "resourceVersion=0", "limit=5&labelSelector=k=v"] {
        let refused = s.list("ns", query).await.expect_err(query);
        assert_eq!(refused.code, 429, "{query}");
        assert_eq!(
            refused.details.map(|it| it.retry_after_seconds),
            Some(1),
            "{query}"
        );
    }
    let refused = s
        .try_watch(&*s.storage, "ns", "")
        .await
        .expect_err("a watch needs it");
    assert_eq!(refused.code, 429);
    let got = s
        .storage
        .get(&s.key("ns", "a"), Some(0))
        .await
        .expect("storage has it");
    assert!(got.is_some());
    sleep(Duration::from_secs(60)).await;
    let refused = s.list("ns", "").await.expect_err("it is down for a minute");
    assert_eq!(
        refused.details.map(|it| it.retry_after_seconds),
        Some(30),
        "e to the 3.6"
    );
    // Until the cache is rebuilt, storage serves the requests that it can serve alone.
    gate.fail(false);
    for query in [
        "limit=5".to_owned(),
        format!("resourceVersion={version}&resourceVersionMatch=Exact"),
    ] {
        assert_eq!(s.names("ns", &query).await, ["ns/a", "ns/b"], "{query}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_watcher_delivers_its_buffer_and_ends() {
    let (s, _) = gated().await;
    let start = s.create("ns", "a").await.revision();
    s.list("ns", &format!("resourceVersion={start}"))
        .await
        .expect("it is reached");
    let mut slow = s.watch("ns", &format!("resourceVersion={start}")).await;
    let mut quick = s.watch("ns", &format!("resourceVersion={start}")).await;
    let cacher = s.cacher.clone().expect("it has one");
    let begun = Instant::now();
    for number in 0..40 {
        s.label("ns", "a", &number.to_string()).await;
        assert_eq!(take(&mut quick, 1).await.len(), 1);
    }
    assert!(
        begun.elapsed() <= Duration::from_millis(150),
        "the budget of all slow ones"
    );
    assert_eq!(cacher.stats().watchers, 1);
    let mut given = Vec::new();
    while let Some(events) = slow.next().await {
        given.extend(events.iter().map(super::stack::describe));
    }
    let expected: Vec<_> = (1..=given.len() as u64)
        .map(|it| format!("MODIFIED ns/a@{}", start + it))
        .collect();
    assert!(given.len() >= 10 && given.len() < 40, "{}", given.len());
    assert_eq!(given, expected, "in order, without gaps, and then the end");
}

#[tokio::test(start_paused = true)]
async fn a_watch_never_goes_back_in_time() {
    let (s, gate) = gated().await;
    s.create("ns", "a").await;
    assert_eq!(s.names("ns", "").await.len(), 1);
    gate.hold(true);
    let second = s.label("ns", "a", "x").await.revision();
    // The cache is behind the start version of this watch.
    let mut watch = s.watch("ns", &format!("resourceVersion={second}")).await;
    gate.hold(false);
    let third = s.label("ns", "a", "y").await.revision();
    assert_eq!(drain(&mut watch).await, [format!("MODIFIED ns/a@{third}")]);
}

#[tokio::test(start_paused = true)]
async fn each_event_and_each_object_is_one_encoding_for_all() {
    let (s, _) = gated().await;
    let start = s.head().await;
    let mut watches = Vec::new();
    for query in ["", "&labelSelector=!none", "&fieldSelector=metadata.name=a"] {
        let query = format!("resourceVersion={start}{query}");
        watches.push(s.watch("ns", &query).await);
    }
    let created = s.create("ns", "a").await;
    let json = created.json_item().expect("readable").as_ptr();
    let protobuf = created.protobuf().expect("readable").as_ptr();
    for watch in &mut watches {
        let events = watch.next().await.expect("it goes on");
        let seen = events[0].object().expect("no error");
        assert_eq!(seen.json_item().expect("readable").as_ptr(), json);
        assert_eq!(seen.protobuf().expect("readable").as_ptr(), protobuf);
    }
    let listed = s.list("ns", "").await.expect("it is reached");
    assert_eq!(
        listed.items[0].json_item().expect("readable").as_ptr(),
        json
    );
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_lost_an_event_is_detected_and_storage_serves() {
    let (s, gate) = gated().await;
    let cacher = s.cacher.clone().expect("it has one");
    s.create("ns", "a").await;
    assert_eq!(s.names("ns", "").await, ["ns/a"]);
    assert!(cacher.check().await, "nothing is missing");
    gate.lose(true);
    s.create("ns", "b").await;
    // The list waits until the cache has processed the event.
    assert_eq!(
        s.names("ns", "").await,
        ["ns/a"],
        "the check has not run yet"
    );
    gate.lose(false);

    // Five minutes plus a jitter of up to 50%.
    sleep(Duration::from_secs(451)).await;
    assert!(!cacher.stats().trusted);
    let counted = &cacher.metrics().cache;
    let checks = (&counted.checks_passed, &counted.checks_failed);
    assert_eq!((checks.0.value(), checks.1.value()), (1, 1));
    for query in ["", "resourceVersion=0", "resourceVersion=0&limit=1"] {
        let before = gate.reads();
        assert!(
            s.names("ns", query).await.contains(&"ns/a".to_owned()),
            "{query}"
        );
        assert_ne!(gate.reads(), before, "storage answers");
    }
    assert_eq!(s.names("ns", "resourceVersion=0").await, ["ns/a", "ns/b"]);
    let got = s.storage.get(&s.key("ns", "b"), Some(0)).await;
    assert!(got.expect("it can be read").is_some());

    // A rebuilt cache is trusted again.
    gate.cut();
    sleep(Duration::from_secs(2)).await;
    let before = gate.reads();
    assert_eq!(s.names("ns", "resourceVersion=0").await, ["ns/a", "ns/b"]);
    assert_eq!(gate.reads(), before, "the cache answers");
    assert!(cacher.check().await);
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_agrees_again_is_trusted_again() {
    let (s, gate) = gated().await;
    let cacher = s.cacher.clone().expect("it has one");
    gate.lose(true);
    s.create("ns", "a").await;
    assert_eq!(s.names("ns", "").await.len(), 0);
    gate.lose(false);
    assert!(!cacher.check().await);
    // The next version arrives, so the loss of the first one does not matter.
    s.label("ns", "a", "x").await;
    sleep(Duration::from_millis(200)).await;
    assert!(cacher.check().await);
    gate.fail(true);
    assert!(cacher.check().await, "a failed check changes nothing");
    assert_eq!(cacher.metrics().cache.checks_without_result.value(), 1);
}
