//! Read-your-writes against an in-process server: after a wait, the cache shows what was written,
//! during other writes; and no wait exceeds its deadline.

use kubist::api::core::v1::{ConfigMap, Secret};
use kubist::apimachinery::{KubeObject, ListOptions, Object as _, ObjectName, PostOptions};
use kubist::cache::{Lister, Overlay, Selection, Source as _, WaitError, WriteLog};
use kubist::client::{Api, Client, Patch};
use kubist::controller::{Action, Controller, Error, EventSource};
use kubist::informers::{InformerConfig, SharedInformer, SharedInformerFactory};
use kubist::{Server, ServerConfig};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// More than any successful step takes.
const LIMIT: Duration = Duration::from_secs(60);
/// The namespace.
const NAMESPACE: &str = "default";
/// Objects that another client keeps writing.
const OTHERS: usize = 20;
/// Rounds of create, update and delete.
const ROUNDS: usize = 40;

async fn server() -> Server {
    let config = ServerConfig {
        controllers: [].into(),
        ..ServerConfig::default()
    };
    Server::start(config).await.expect("a port is free")
}

fn map(name: &str, app: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map.metadata.labels.insert("app".into(), app.into());
    map
}

fn name(name: &str) -> ObjectName {
    ObjectName::new(NAMESPACE, name)
}

/// Creates, changes and deletes other objects until it is dropped.
fn churn(client: Client) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let maps: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
        for round in 0_usize.. {
            let name = format!("other-{}", round % OTHERS);
            let mut other = maps.create(&map(&name, "web")).await.expect("it is new");
            other.data.insert("round".into(), round.to_string().into());
            maps.replace(&other).await.expect("it is the newest");
            maps.delete(&name).await.expect("it is there");
            sleep(Duration::from_millis(1)).await;
        }
    });
    tasks
}

/// Starts an informer that runs until the tasks are dropped.
async fn informer<K: KubeObject>(
    client: &Client,
    selection: &Selection,
) -> (Lister<K>, JoinSet<()>) {
    let source = client.lister_watcher::<K>(selection);
    let informer = SharedInformer::new(source, InformerConfig::default());
    let (running, mut tasks) = (informer.clone(), JoinSet::new());
    tasks.spawn(async move {
        running.run(CancellationToken::new()).await.expect("once");
    });
    let lister = timeout(LIMIT, informer.synced()).await.expect("in time");
    (lister.expect("it runs"), tasks)
}

#[tokio::test]
async fn what_a_key_wrote_is_in_the_cache_after_a_wait_whatever_others_write() {
    let server = server().await;
    let (lister, _informer) = informer::<ConfigMap>(&server.client(), &Selection::all()).await;
    let _churn = churn(server.client());
    let log = WriteLog::<ConfigMap>::new();
    let key = name("the-key");
    let maps = Api::namespaced(server.client(), NAMESPACE).with_write_log(&log.for_key(&key));
    let shown = async || {
        let wait = log.wait_for_key(&lister, &key, sleep(LIMIT));
        wait.await.expect("the cache comes that far");
        lister.get(&name("own"))
    };
    for round in 0..ROUNDS {
        let mut own = maps.create(&map("own", "web")).await.unwrap();
        let found = shown().await.expect("it was created");
        assert_eq!(found.uid(), own.uid());
        for step in ["a", "b"] {
            own.data.insert(step.into(), round.to_string().into());
            own = maps.replace(&own).await.unwrap();
        }
        let found = shown().await.expect("it is there");
        assert_eq!(found.data, own.data, "both changes, after one wait");
        maps.delete("own").await.unwrap();
        assert!(shown().await.is_none(), "it was deleted");
    }
    assert_eq!(log.evicted_total(), 0);
    assert!(log.is_empty(), "what was seen is forgotten");
    server.shutdown().await;
}

#[tokio::test]
async fn an_overlay_shows_own_writes_at_once_and_agrees_with_the_cache_in_the_end() {
    let server = server().await;
    let (lister, _informer) = informer::<ConfigMap>(&server.client(), &Selection::all()).await;
    let _churn = churn(server.client());
    let overlay = Overlay::new(lister.clone());
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), NAMESPACE);
    for round in 0..ROUNDS {
        let mut own = maps.create(&map("own", "web")).await.unwrap();
        overlay.saved(Arc::new(own.clone()));
        assert!(overlay.get(&name("own")).is_some());
        own.data.insert("round".into(), round.to_string().into());
        let own = maps.replace(&own).await.unwrap();
        overlay.saved(Arc::new(own.clone()));
        let found = overlay.get(&name("own")).expect("it is there");
        assert_eq!(found.resource_version(), own.resource_version());
        maps.delete("own").await.unwrap();
        overlay.deleted_object(&own);
        assert!(overlay.get(&name("own")).is_none());
    }
    let settled = async {
        while overlay.unseen_len() > 0 || lister.get(&name("own")).is_some() {
            overlay.list();
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, settled).await.expect("the cache catches up");
    server.shutdown().await;
}

#[tokio::test]
async fn what_a_filter_keeps_out_is_waited_for_until_the_watch_has_passed_it_or_the_deadline() {
    let server = server().await;
    let selected = Selection::all().with_labels("app=web");
    let (lister, _informer) = informer::<ConfigMap>(&server.client(), &selected).await;
    let log = WriteLog::<ConfigMap>::new();
    let maps = Api::namespaced(server.client(), NAMESPACE).with_write_log(&log);
    maps.create(&map("own", "db")).await.unwrap();
    let written = log.pending(&name("own")).expect("it was recorded");

    // Without writes nothing shows that the watch has passed it, and the deadline ends the wait.
    let begin = Instant::now();
    let waited = lister.wait_for(&written, sleep(Duration::from_millis(300)));
    let waited = timeout(LIMIT, waited).await.expect("the deadline counts");
    assert!(
        matches!(waited, Err(WaitError::Deadline { .. })),
        "{waited:?}"
    );
    assert!(begin.elapsed() < LIMIT);

    // An event that the selector matches shows it.
    maps.create(&map("another", "web")).await.unwrap();
    let waited = lister.wait_for(&written, sleep(LIMIT)).await;
    assert_eq!(waited, Ok(()));
    assert!(lister.get(&name("own")).is_none(), "it is kept out");
    // So do objects that start or stop matching.
    let mut own = maps.get("own").await.unwrap();
    for (app, is_in) in [("web", true), ("db", false), ("web", true)] {
        own.metadata.labels.insert("app".into(), app.into());
        own = maps.replace(&own).await.unwrap();
        let written = log.pending(&name("own")).expect("it was recorded");
        let waited = lister.wait_for(&written, sleep(LIMIT)).await;
        assert_eq!(
            (waited, lister.get(&name("own")).is_some()),
            (Ok(()), is_in)
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_kind_that_nobody_else_writes_shows_own_writes_and_deletions_of_it() {
    let server = server().await;
    let _churn = churn(server.client());
    let (lister, _informer) = informer::<Secret>(&server.client(), &Selection::all()).await;
    let log = WriteLog::<Secret>::new();
    let secrets = Api::namespaced(server.client(), NAMESPACE).with_write_log(&log);
    let mut secret = Secret::default();
    secret.metadata.name = "own".into();
    for _ in 0..ROUNDS {
        secrets.create(&secret).await.unwrap();
        let created = log.pending(&name("own")).expect("it was recorded");
        assert_eq!(lister.wait_for(&created, sleep(LIMIT)).await, Ok(()));
        assert!(lister.get(&name("own")).is_some());
        secrets.delete("own").await.unwrap();
        let deleted = log.pending(&name("own")).expect("it was recorded");
        assert_eq!(lister.wait_for(&deleted, sleep(LIMIT)).await, Ok(()));
        assert!(lister.get(&name("own")).is_none());
    }
    // A dry run is never seen, so there is no wait.
    log.prune(&lister);
    let options = PostOptions {
        dry_run: true,
        ..PostOptions::default()
    };
    secrets.create_with(&secret, &options).await.unwrap();
    assert!(log.is_empty());
    server.shutdown().await;
}

/// The number of parents.
const PARENTS: usize = 12;

/// Creates the parents and changes each a few times.
async fn write_parents(server: &Server) {
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), NAMESPACE);
    for parent in 0..PARENTS {
        let parent = format!("parent-{parent}");
        maps.create(&map(&parent, "web")).await.expect("it is new");
    }
    for round in 0..8 {
        let patch = Patch::Merge(serde_json::json!({"data": {"round": round.to_string()}}));
        for parent in 0..PARENTS {
            let parent = format!("parent-{parent}");
            maps.patch(&parent, &patch).await.expect("it is there");
        }
    }
}

async fn count(secrets: &Api<Secret>) -> usize {
    let all = secrets.list(&ListOptions::default()).await;
    all.expect("the server lists").items.len()
}

/// Parents that need one child each, with a name that the server generates: with a stale cache some
/// would get two.
#[tokio::test]
async fn a_controller_that_reads_its_own_writes_makes_each_child_once_however_often_it_is_called() {
    let server = server().await;
    let factory = SharedInformerFactory::new(server.client());
    let (parents, children) = (
        factory.informer::<ConfigMap>(),
        factory.informer::<Secret>(),
    );
    let (log, lister) = (WriteLog::<Secret>::new(), children.lister_unsynced());
    let controller = Controller::new("parent", &parents)
        .source(EventSource::for_object(&parents))
        .reads_own_writes(&children, &log)
        .workers(4);
    let client = server.client();
    let reconcile = move |key: ObjectName| {
        let of_key = |child: &Secret| child.metadata.generate_name == format!("{}-", key.name)[..];
        let is_made = lister.list().iter().any(|child| of_key(child));
        let wanted = key.name.starts_with("parent");
        let api = Api::namespaced(client.clone(), NAMESPACE).with_write_log(&log.for_key(&key));
        async move {
            if wanted && !is_made {
                let mut child = Secret::default();
                child.metadata.generate_name = format!("{}-", key.name).into();
                api.create(&child).await?;
            }
            Ok::<_, Error>(Action::done())
        }
    };
    factory.start();
    let token = CancellationToken::new();
    let mut running = JoinSet::new();
    running.spawn(controller.run(reconcile, token.clone()));

    write_parents(&server).await;
    let secrets: Api<Secret> = Api::namespaced(server.client(), NAMESPACE);
    let made = async {
        while count(&secrets).await < PARENTS {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LIMIT, made)
        .await
        .expect("each parent gets its child");
    sleep(Duration::from_millis(200)).await;
    assert_eq!(count(&secrets).await, PARENTS);
    token.cancel();
    let stats = timeout(LIMIT, running.join_next()).await.expect("it stops");
    let stats = stats.expect("it ran").expect("no panic").expect("no error");
    assert_eq!((stats.own_writes_overdue, stats.errors), (0, 0));
    assert!(stats.reconciles >= PARENTS as u64);
    factory.shutdown().await;
    server.shutdown().await;
}
