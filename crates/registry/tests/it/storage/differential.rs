//! Applies the same random operations to raw storage and to a cache over it, and compares all
//! results.

use super::etcd_row::on_etcd;
use super::stack::{Engine, Stack, drain, edits, names};
use crate::etcd::Release;
use kubist_apimachinery::Status;
use kubist_registry::storage::{DeleteRequest, Listed, PutOptions, Storage, UpdateRequest};
use kubist_registry::{StorageError, Stored};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Create(usize),
    Label(usize, u8),
    Nothing(usize),
    Delete(usize),
    Bump,
    Compact(u64),
    Get(usize, Version),
    List(Query),
    Watch(Query, bool),
}

/// A resource version relative to those so far.
#[derive(Clone, Copy, Debug)]
enum Version {
    Unset,
    Back(u64),
    Ahead,
}

#[derive(Clone, Debug)]
struct Query {
    namespace: usize,
    version: Version,
    matching: u8,
    limit: u8,
    selector: usize,
}

const OBJECTS: [(&str, &str); 6] = [
    ("a", "x"),
    ("a", "y"),
    ("b", "x"),
    ("b", "z"),
    ("b-x", "y"),
    ("c", "w"),
];
const NAMESPACES: [&str; 5] = ["", "a", "b", "b-x", "none"];
const SELECTORS: [&str; 6] = [
    "",
    "&labelSelector=k=1",
    "&labelSelector=k!=1",
    "&fieldSelector=metadata.name=x",
    "&fieldSelector=metadata.namespace=b",
    "&fieldSelector=spec.nodeName=n1",
];

fn version() -> impl Strategy<Value = Version> {
    prop_oneof![
        2 => Just(Version::Unset),
        6 => (0_u64..30).prop_map(Version::Back),
        1 => Just(Version::Ahead),
    ]
}

fn query() -> impl Strategy<Value = Query> {
    let (namespace, selector) = (0..NAMESPACES.len(), 0..SELECTORS.len());
    (namespace, version(), 0_u8..3, 0_u8..4, selector).prop_map(
        |(namespace, version, matching, limit, selector)| Query {
            namespace,
            version,
            matching,
            limit,
            selector,
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let object = || 0..OBJECTS.len();
    prop_oneof![
        4 => object().prop_map(Op::Create),
        5 => (object(), 0_u8..3).prop_map(|(object, label)| Op::Label(object, label)),
        1 => object().prop_map(Op::Nothing),
        3 => object().prop_map(Op::Delete),
        1 => Just(Op::Bump),
        1 => (0_u64..20).prop_map(Op::Compact),
        3 => (object(), version()).prop_map(|(object, version)| Op::Get(object, version)),
        8 => query().prop_map(Op::List),
        4 => (query(), any::<bool>()).prop_map(|(query, initial)| Op::Watch(query, initial)),
    ]
}

/// Describes an error without the differences by design, see `DIFFERENCES.md`.
fn error(status: &Status) -> String {
    if status.is_too_large_resource_version() {
        return "504 too large".to_owned();
    }
    format!("{} {}", status.code, status.message)
}

fn listed(result: Result<Listed, Status>) -> String {
    match result {
        Ok(listed) => {
            let revisions: Vec<u64> = listed.items.iter().map(Stored::revision).collect();
            format!("{:?} {revisions:?} {:?}", names(&listed), listed.metadata)
        }
        Err(status) => error(&status),
    }
}

fn one(result: Result<Option<Stored>, StorageError>) -> String {
    match result {
        Ok(found) => format!(
            "{:?}",
            found.map(|it| (it.revision(), it.json().expect("readable")))
        ),
        Err(StorageError::TooLarge { .. }) => "too large".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn text(query: &Query, head: u64) -> String {
    let mut text = String::new();
    let at = match query.version {
        Version::Unset => None,
        Version::Back(back) => Some(head.saturating_sub(back).max(1)),
        Version::Ahead => Some(head + 50),
    };
    if let Some(at) = at {
        text = format!("resourceVersion={at}");
        text += [
            "",
            "&resourceVersionMatch=Exact",
            "&resourceVersionMatch=NotOlderThan",
        ][usize::from(query.matching)];
    }
    if query.limit > 0 {
        text.push_str("&limit=");
        text.push_str(&query.limit.to_string());
    }
    text + SELECTORS[query.selector]
}

/// Brings the cache to the newest state, for requests that also accept an older one.
async fn reach(s: &Stack) {
    let newest = format!("resourceVersion={}", s.head().await);
    s.list("", &newest).await.expect("it is reached");
}

async fn compare_list(s: &Stack, query: &Query) {
    let namespace = NAMESPACES[query.namespace];
    let head = s.head().await;
    let mut text = text(query, head);
    if text.contains("resourceVersion") {
        reach(s).await;
    }
    // All pages, without concurrent writes.
    for _ in 0..10 {
        let raw = s.list_in(&s.raw, namespace, &text).await;
        let cached = s.list_in(&*s.storage, namespace, &text).await;
        let token = raw
            .as_ref()
            .map(|it| it.metadata.continue_.clone())
            .unwrap_or_default();
        assert_eq!(listed(raw), listed(cached), "{namespace} {text}");
        if token.is_empty() {
            return;
        }
        text = format!(
            "limit={}&continue={token}{}",
            query.limit, SELECTORS[query.selector]
        );
    }
}

async fn compare_watch(s: &Stack, query: &Query, initial: bool, start: u64) {
    let namespace = NAMESPACES[query.namespace];
    let at = match query.version {
        Version::Unset | Version::Ahead => String::new(),
        Version::Back(back) => {
            // Both report compacted versions, but the cache may still have them.
            let from = s
                .head()
                .await
                .saturating_sub(back)
                .max(s.storage.compacted())
                .max(start);
            format!("&resourceVersion={from}")
        }
    };
    let start = if initial {
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    } else {
        "sendInitialEvents=false&resourceVersionMatch=NotOlderThan"
    };
    let text = format!("{start}{at}{}", SELECTORS[query.selector]);
    reach(s).await;
    let mut seen = Vec::new();
    for storage in [&s.raw as &dyn Storage, &*s.storage] {
        seen.push(match s.try_watch(storage, namespace, &text).await {
            Ok(mut watch) => drain(&mut watch).await,
            Err(status) => vec![error(&status)],
        });
    }
    assert_eq!(seen[0], seen[1], "{namespace} {text}");
}

async fn compare_get(s: &Stack, object: usize, version: Version) {
    let (namespace, name) = OBJECTS[object];
    let head = s.head().await;
    let version = match version {
        Version::Unset => None,
        Version::Back(_) => Some(head),
        Version::Ahead => Some(head + 50),
    };
    let key = s.key(namespace, name);
    let (raw, cached) = (
        s.raw.get(&key, version).await,
        s.storage.get(&key, version).await,
    );
    assert_eq!(one(raw), one(cached), "{key} {version:?}");
}

async fn write(s: &Stack, op: Op) {
    match op {
        Op::Create(object) => {
            let (namespace, name) = OBJECTS[object];
            let mut pod = super::stack::pod(namespace, name);
            pod.spec.node_name = format!("n{}", object % 2).into();
            let key = s.key(namespace, name);
            drop(
                s.storage
                    .create(key, Box::new(pod), PutOptions::default())
                    .await,
            );
        }
        Op::Label(object, label) => {
            let mut change = edits(|pod| {
                pod.metadata
                    .labels
                    .insert("k".into(), label.to_string().into());
            });
            let (namespace, name) = OBJECTS[object];
            let request = UpdateRequest::default();
            drop(
                s.storage
                    .update(s.key(namespace, name), request, &mut change)
                    .await,
            );
        }
        Op::Nothing(object) => {
            let (namespace, name) = OBJECTS[object];
            let before = s.head().await;
            let mut change = edits(|_| ());
            let request = UpdateRequest::default();
            drop(
                s.storage
                    .update(s.key(namespace, name), request, &mut change)
                    .await,
            );
            assert_eq!(s.head().await, before);
        }
        Op::Delete(object) => {
            let (namespace, name) = OBJECTS[object];
            drop(
                s.try_delete(namespace, name, DeleteRequest::default())
                    .await,
            );
        }
        Op::Bump => drop(s.bump().await),
        Op::Compact(_) | Op::Get(..) | Op::List(_) | Op::Watch(..) => {
            unreachable!("these are no writes")
        }
    }
}

async fn run(s: &Stack, ops: Vec<Op>) {
    let start = s.head().await;
    let from = format!("resourceVersion={start}");
    let mut raw = s.try_watch(&s.raw, "", &from).await.expect("it is kept");
    let mut cached = s.watch("", &from).await;
    let (mut of_raw, mut of_cached) = (Vec::new(), Vec::new());
    for op in ops {
        // A watch on the cache ends unless it is read.
        of_raw.extend(drain(&mut raw).await);
        of_cached.extend(drain(&mut cached).await);
        match op {
            Op::Compact(back) => {
                let at = s.head().await.saturating_sub(back);
                if at > s.storage.compacted() && at > start {
                    s.compact(at).await;
                }
            }
            Op::List(query) => compare_list(s, &query).await,
            Op::Watch(query, initial) => compare_watch(s, &query, initial, start).await,
            Op::Get(object, version) => compare_get(s, object, version).await,
            op => write(s, op).await,
        }
    }
    for (watch, all) in [(&mut raw, &mut of_raw), (&mut cached, &mut of_cached)] {
        all.extend(drain(watch).await);
    }
    assert_eq!(of_raw, of_cached, "the watches that ran all along");
    let all = |listed: Listed| {
        listed
            .items
            .iter()
            .map(Stored::revision)
            .collect::<Vec<_>>()
    };
    let raw = s.list_in(&s.raw, "", "").await.expect("it is open");
    let cached = s.list("", "").await.expect("it is reached");
    assert_eq!(all(raw), all(cached), "equal in the end");
}

fn with_runtime(engine: Engine, ops: Vec<Op>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let s = Stack::new(engine, true).await;
        run(&s, ops).await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn raw_and_cached_give_the_same_answers_in_memory(ops in prop::collection::vec(op(), 1..80)) {
        with_runtime(Engine::Memory, ops);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn raw_and_cached_give_the_same_answers_on_redb(ops in prop::collection::vec(op(), 1..60)) {
        with_runtime(Engine::Redb, ops);
    }
}

proptest! {
    // Draining a watch takes real time here.
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn raw_and_cached_give_the_same_answers_on_etcd(ops in prop::collection::vec(op(), 1..30)) {
        on_etcd(Release::Current, true, async |s| run(s, ops).await);
    }
}
