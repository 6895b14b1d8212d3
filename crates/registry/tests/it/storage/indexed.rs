//! Lists and initial events by an index, compared with scans of the same engine.

use super::stack::{Engine, Stack, drain, edits, names, pod};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::Status;
use kubist_registry::cacher::{Cacher, CacherConfig};
use kubist_registry::metrics::{ListMetrics, ResourceMetrics};
use kubist_registry::storage::{DeleteRequest, Listed, PutOptions, Storage, UpdateRequest};
use kubist_registry::{IndexConfig, PlainStrategy, RawStorage, Stored, StoredCodec, StoredKind};
use proptest::prelude::*;
use std::sync::Arc;
use tokio::task::JoinSet;

const NAMESPACES: [&str; 4] = ["", "a", "b", "none"];
const SELECTORS: [&str; 14] = [
    "labelSelector=k=1",
    "labelSelector=k==0,l",
    "labelSelector=k in (1,2)",
    "labelSelector=k in (1,9),l notin (0)",
    "labelSelector=k",
    "labelSelector=k>1",
    "labelSelector=!k",
    "labelSelector=k!=1",
    "labelSelector=none=1",
    "labelSelector=k=1,k=2",
    "fieldSelector=spec.nodeName=n1",
    "fieldSelector=spec.nodeName=&labelSelector=k",
    "fieldSelector=spec.nodeName=n1,metadata.name!=p3",
    "fieldSelector=spec.nodeName=n2,metadata.namespace=b&labelSelector=l=1",
];

#[derive(Clone, Debug)]
enum Op {
    Put(u8, Option<u8>, Option<u8>, u8),
    Corrupt(u8),
    Delete(u8),
    Bump,
    Compact(u64),
    Forget,
    List(Query),
    Watch(Query),
}

#[derive(Clone, Debug)]
struct Query {
    namespace: usize,
    selector: usize,
    /// How far back; none for the newest.
    back: Option<u64>,
    matching: usize,
    limit: usize,
}

fn query() -> impl Strategy<Value = Query> {
    let (namespace, selector) = (0..NAMESPACES.len(), 0..SELECTORS.len());
    let back = prop::option::of(0_u64..12);
    (namespace, selector, back, 0..3_usize, 0..4_usize).prop_map(
        |(namespace, selector, back, matching, limit)| Query {
            namespace,
            selector,
            back,
            matching,
            limit,
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let label = || prop::option::of(0_u8..4);
    prop_oneof![
        12 => (0_u8..24, label(), label(), 0_u8..4).prop_map(|(a, k, l, n)| Op::Put(a, k, l, n)),
        1 => (0_u8..24).prop_map(Op::Corrupt),
        3 => (0_u8..24).prop_map(Op::Delete),
        1 => Just(Op::Bump),
        1 => (0_u64..10).prop_map(Op::Compact),
        1 => Just(Op::Forget),
        6 => query().prop_map(Op::List),
        3 => query().prop_map(Op::Watch),
    ]
}

/// The same engine read in different ways, of which the first scans.
struct Ways {
    s: Stack,
    all: Vec<Arc<dyn Storage>>,
    raws: Vec<RawStorage>,
    _tasks: JoinSet<()>,
}

impl Ways {
    async fn new() -> Self {
        let s = Stack::new(Engine::Memory, false).await;
        let raws = vec![raw(&s, usize::MAX), raw(&s, 0)];
        let mut all: Vec<Arc<dyn Storage>> = Vec::new();
        let mut tasks = JoinSet::new();
        for it in &raws {
            all.push(Arc::new(it.clone()));
        }
        let config = CacherConfig::default();
        let cacher = Cacher::new(raws[1].clone(), Arc::new(PlainStrategy::default()), config);
        let running = cacher.clone();
        tasks.spawn(async move { running.run().await });
        cacher.wait_until_ready().await;
        all.push(Arc::new(cacher));
        Self {
            s,
            all,
            raws,
            _tasks: tasks,
        }
    }

    async fn put(&self, at: u8, k: Option<u8>, l: Option<u8>, node: u8) {
        let set = move |pod: &mut Pod| {
            pod.metadata.labels.clear();
            for (name, value) in [("k", k), ("l", l)] {
                if let Some(value) = value {
                    pod.metadata
                        .labels
                        .insert(name.into(), value.to_string().into());
                }
            }
            pod.spec.node_name = ["", "n1", "n2", "n3"][usize::from(node)].into();
        };
        let (namespace, name) = place(at);
        let (key, storage) = (self.s.key(namespace, &name), &self.all[0]);
        let mut new = pod(namespace, &name);
        set(&mut new);
        let created = storage.create(key.clone(), Box::new(new), PutOptions::default());
        if created.await.is_err() {
            let request = UpdateRequest::default();
            drop(storage.update(key, request, &mut edits(set)).await);
        }
    }

    async fn delete(&self, at: u8) {
        let (namespace, name) = place(at);
        let key = self.s.key(namespace, &name);
        let request = DeleteRequest {
            unreadable: true,
            ..DeleteRequest::default()
        };
        drop(self.all[0].delete(key.clone(), request, &|_| Ok(())).await);
        let request = DeleteRequest::default();
        drop(self.all[0].delete(key, request, &|_| Ok(())).await);
    }

    async fn corrupt(&self, at: u8) {
        let (namespace, name) = place(at);
        let key = self.s.key(namespace, &name);
        let put = kubist_storage::PutRequest::new(
            key,
            b"k8s\0\n\x09garbage".to_vec(),
            kubist_storage::Expected::Any,
        );
        drop(self.s.kv.put(put).await);
    }

    async fn list(&self, query: &Query) {
        let namespace = NAMESPACES[query.namespace];
        let selector = SELECTORS[query.selector];
        let mut text = selector.to_owned();
        if let Some(back) = query.back {
            let at = self.s.head().await.saturating_sub(back);
            // The cache may still have states that the engine has compacted.
            let at = at.max(self.s.kv.compacted().0).max(2);
            text = format!("{text}&resourceVersion={at}");
            text += [
                "",
                "&resourceVersionMatch=Exact",
                "&resourceVersionMatch=NotOlderThan",
            ][query.matching];
        }
        if query.limit > 0 {
            text = format!("{text}&limit={}", query.limit);
        }
        self.reach().await;
        for _ in 0..30 {
            let mut seen = Vec::new();
            let mut token = None;
            for storage in &self.all {
                let listed = self.s.list_in(&**storage, namespace, &text).await;
                token = listed.as_ref().ok().map(|it| it.metadata.continue_.clone());
                seen.push(described(listed));
            }
            for other in &seen[1..] {
                assert_eq!(&seen[0], other, "{namespace} {text}");
            }
            let Some(token) = token.filter(|it| !it.is_empty()) else {
                return;
            };
            text = format!("{selector}&limit={}&continue={token}", query.limit);
        }
    }

    /// Brings the cache to the newest state, for requests that also accept an older one, and
    /// before it would miss what is compacted.
    async fn reach(&self) {
        let newest = format!("resourceVersion={}", self.s.head().await);
        for storage in &self.all {
            drop(self.s.list_in(&**storage, "", &newest).await);
        }
    }

    async fn watch(&self, query: &Query) {
        let namespace = NAMESPACES[query.namespace];
        let text = format!(
            "{}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
            SELECTORS[query.selector]
        );
        let mut seen = Vec::new();
        for storage in &self.all {
            seen.push(match self.s.try_watch(&**storage, namespace, &text).await {
                Ok(mut watch) => drain(&mut watch).await,
                Err(status) => vec![status.message.to_string()],
            });
        }
        for other in &seen[1..] {
            assert_eq!(&seen[0], other, "{namespace} {text}");
        }
    }
}

fn place(at: u8) -> (&'static str, String) {
    (["a", "b", "c"][usize::from(at % 3)], format!("p{}", at / 3))
}

fn raw(s: &Stack, objects_min: usize) -> RawStorage {
    let kind = kubist_api::find_kind("", "v1", "Pod").expect("pods are built in");
    let codec = StoredCodec::new(StoredKind::plain(kind), s.keys.clone())
        .with_metrics(Arc::new(ResourceMetrics::new("", "pods")));
    let config = IndexConfig::default()
        .fields(&["spec.nodeName"])
        .objects_min(objects_min);
    RawStorage::new(Arc::clone(&s.kv), codec).with_index(config)
}

fn described(result: Result<Listed, Status>) -> String {
    match result {
        Ok(listed) => {
            let revisions: Vec<u64> = listed.items.iter().map(Stored::revision).collect();
            let unreadable: Vec<_> = listed.unreadable.iter().map(|it| &it.key).collect();
            let names = names(&listed);
            format!(
                "{names:?} {revisions:?} {unreadable:?} {:?}",
                listed.metadata
            )
        }
        Err(status) => format!("{} {}", status.code, status.message),
    }
}

async fn run(ops: Vec<Op>) {
    let ways = Ways::new().await;
    for at in 0..24 {
        ways.put(at, Some(at % 4), Some(at % 3), at % 4).await;
    }
    let start = ways.s.head().await;
    for op in ops {
        match op {
            Op::Put(at, k, l, node) => ways.put(at, k, l, node).await,
            Op::Corrupt(at) => ways.corrupt(at).await,
            Op::Delete(at) => ways.delete(at).await,
            Op::Bump => drop(ways.s.bump().await),
            Op::Compact(back) => {
                let at = ways.s.head().await.saturating_sub(back);
                if at > ways.s.kv.compacted().0 && at > start {
                    ways.reach().await;
                    ways.s.compact(at).await;
                }
            }
            Op::Forget => ways.raws.iter().for_each(RawStorage::forget_unused),
            Op::List(query) => ways.list(&query).await,
            Op::Watch(query) => ways.watch(&query).await,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn an_index_gives_the_answers_of_a_scan(ops in prop::collection::vec(op(), 1..80)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(run(ops));
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_by_one_label_or_node_reads_the_selected_objects() {
    let ways = Ways::new().await;
    for number in 0..240_u32 {
        let mut pod = pod("a", &format!("p{number:03}"));
        pod.metadata
            .labels
            .insert("n".into(), number.to_string().into());
        pod.metadata.labels.insert("all".into(), "same".into());
        pod.spec.node_name = format!("n{}", number % 60).into();
        let key = ways.s.key("a", &pod.metadata.name);
        let created = ways.all[0].create(key, Box::new(pod), PutOptions::default());
        created.await.expect("it is new");
    }
    // The scan, the index of storage, and the one of the cache.
    let metrics = |way: usize| -> &ListMetrics {
        let all = ways.raws[way.min(1)].metrics();
        if way == 2 {
            &all.from_cache
        } else {
            &all.from_storage
        }
    };
    for (query, of_scan, of_index) in [
        ("labelSelector=n=7", 240, 1),
        ("labelSelector=n in (1,2,3)", 240, 3),
        ("labelSelector=all=same,n=9", 240, 1),
        ("labelSelector=all=same", 240, 240),
        ("labelSelector=n!=7", 240, 240),
        ("fieldSelector=spec.nodeName=n7", 240, 4),
        ("fieldSelector=spec.nodeName=n7&labelSelector=n=7", 240, 1),
        ("labelSelector=none", 240, 0),
    ] {
        for way in 0..3 {
            let before = metrics(way).fetched.value();
            let listed = ways.s.list_in(&*ways.all[way], "", query).await;
            listed.expect("it can be listed");
            let fetched = metrics(way).fetched.value() - before;
            let expected = if way == 0 { of_scan } else { of_index };
            assert_eq!(fetched, expected, "{query}, way {way}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn lists_of_many_objects_wait_for_the_index_that_another_builds() {
    let ways = Ways::new().await;
    for number in 0..10_100_u32 {
        let mut pod = pod("a", &format!("p{number:05}"));
        pod.spec.node_name = format!("n{number}").into();
        let key = ways.s.key("a", &pod.metadata.name);
        let created = ways.all[0].create(key, Box::new(pod), PutOptions::default());
        created.await.expect("it is new");
    }
    let fetched = || ways.raws[1].metrics().from_storage.fetched.value();
    let list = |query| ways.s.list_in(&*ways.all[1], "", query);
    let before = fetched();
    let (first, second, third) = tokio::join!(
        list("fieldSelector=spec.nodeName=n7"),
        list("fieldSelector=spec.nodeName=n8"),
        list("fieldSelector=spec.nodeName=n9"),
    );
    for listed in [first, second, third] {
        assert_eq!(listed.expect("it can be listed").items.len(), 1);
    }
    assert_eq!(fetched() - before, 3, "none has scanned");
}
