//! `kubist serve --etcd-servers`: layout, persistence, and two servers on three members that are
//! killed one after another.

use crate::command::{Served, fail, run};
use crate::etcd::{Etcd, Release};
use futures_util::StreamExt as _;
use kubist::api::core::v1::{ConfigMap, Event, Namespace, Service, ServicePort};
use kubist::apimachinery::ListOptions;
use kubist::cache::WatchItem;
use kubist::client::{Api, Client, WatchOn};
use kubist::kubeconfig::Options;
use kubist::transport::Body;
use kubist::{Controller, EtcdServers, Server, ServerConfig};
use kubist_storage::KvRead;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(120);
const NAMESPACE: &str = "default";

fn config(etcd: &Etcd, prefix: &str) -> ServerConfig {
    ServerConfig {
        controllers: [Controller::Namespace].into(),
        etcd: Some(EtcdServers {
            servers: vec![format!("http://{}", etcd.address())],
            prefix: prefix.to_owned(),
            ..EtcdServers::default()
        }),
        ..ServerConfig::default()
    }
}

async fn server(etcd: &Etcd, prefix: &str) -> Server {
    Server::start(config(etcd, prefix)).await.unwrap()
}

fn namespace(name: &str) -> Namespace {
    let mut namespace = Namespace::default();
    namespace.metadata.name = name.into();
    namespace
}

#[tokio::test]
async fn objects_are_at_upstreams_keys_and_outlive_the_server() {
    for (release, prefix, root) in [
        (Release::Packaged, "", "/registry"),
        (Release::Current, "else/where/", "/else/where"),
    ] {
        let Some(etcd) = Etcd::start(release).await else {
            continue;
        };
        let first = server(&etcd, prefix).await;
        assert!(first.storage_stats().is_none(), "it is not in this process");
        check_newest(&first).await;
        let namespaces: Api<Namespace> = Api::all(first.client());
        let created = namespaces.create(&namespace("shop")).await.unwrap();
        let mut service = Service::default();
        service.metadata.name = "web".into();
        service.spec.ports = vec![ServicePort {
            port: 80,
            ..ServicePort::default()
        }];
        let services: Api<Service> = Api::namespaced(first.client(), "shop");
        services.create(&service).await.unwrap();
        first.shutdown().await;

        let kv = etcd.kv();
        for key in ["namespaces/shop", "services/specs/shop/web"] {
            let key = format!("{root}/{key}");
            let found = kv.get(key.as_bytes(), None).await.unwrap().kv;
            let value = &found.unwrap_or_else(|| panic!("nothing at {key}")).value;
            assert!(value.starts_with(b"k8s\0"), "upstream's envelope");
        }

        let second = server(&etcd, prefix).await;
        let namespaces: Api<Namespace> = Api::all(second.client());
        assert_eq!(namespaces.get("shop").await.unwrap(), created);
        second.shutdown().await;
    }
}

#[tokio::test]
async fn a_resource_of_the_overrides_is_stored_in_its_own_cluster() {
    let Some(main) = Etcd::start(Release::Current).await else {
        return;
    };
    let own = Etcd::start(Release::Current).await.unwrap();
    let mut config = config(&main, "");
    let overrides = format!("/configmaps#{}", own.url());
    config.etcd.as_mut().unwrap().overrides = overrides.parse().unwrap();
    let server = Server::start(config).await.unwrap();
    check_newest(&server).await;
    for (etcd, key, expected) in [
        (&own, "configmaps/default/map-0", true),
        (&main, "configmaps/default/map-0", false),
        (&main, "namespaces/default", true),
        (&own, "namespaces/default", false),
    ] {
        let key = format!("/registry/{key}");
        let found = etcd.kv().get(key.as_bytes(), None).await.unwrap().kv;
        assert_eq!(found.is_some(), expected, "{key}");
    }
    server.shutdown().await;
}

/// Lists without a version include all acknowledged writes at once: from a fresh cache, or from an
/// etcd without progress requests.
async fn check_newest(server: &Server) {
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), NAMESPACE);
    let begin = Instant::now();
    for number in 0..10 {
        let mut map = ConfigMap::default();
        map.metadata.name = format!("map-{number}").into();
        maps.create(&map).await.unwrap();
        let list = maps.list(&ListOptions::default()).await.unwrap();
        assert_eq!(list.items.len(), number + 1);
    }
    // A cache without progress notifications would wait for three seconds each time.
    assert!(begin.elapsed() < Duration::from_secs(15));
}

/// Watch caches are enabled by default, but only where etcd supports progress requests.
#[tokio::test]
async fn there_are_watch_caches_by_default_where_etcd_answers_progress() {
    for (release, said, cached) in [
        (Release::Current, None, true),
        (Release::Current, Some(false), false),
        (Release::Packaged, None, false),
        (Release::Packaged, Some(true), false),
    ] {
        let Some(etcd) = Etcd::start(release).await else {
            continue;
        };
        let mut config = config(&etcd, "");
        config.watch_cache = said;
        let server = Server::start(config).await.unwrap();
        assert_eq!(server.has_watch_caches(), cached, "{release:?} {said:?}");
        server.shutdown().await;
    }
    let server = Server::start(ServerConfig::default()).await.unwrap();
    assert!(!server.has_watch_caches(), "in memory");
    server.shutdown().await;
}

/// A member that is down at the start does not disable the caches: once all versions are known,
/// they serve consistent reads too.
#[tokio::test]
async fn there_are_watch_caches_although_a_member_is_away_at_start() {
    let Some(mut members) = Etcd::start_cluster(Release::Current, 3).await else {
        return;
    };
    members[2].kill();
    let servers = members.iter().map(Etcd::url).collect();
    let mut config = config(&members[0], "");
    config.etcd = Some(EtcdServers {
        servers,
        ..EtcdServers::default()
    });
    let server = Server::start(config).await.unwrap();
    assert!(server.has_watch_caches());
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), NAMESPACE);
    maps.list(&ListOptions::default()).await.unwrap();
    let lists = async || {
        let request = http::Request::get("/metrics").body(Body::empty()).unwrap();
        let mut body = server.client().send(request).await.unwrap().into_body();
        let mut metrics = Vec::new();
        while let Some(chunk) = body.chunk().await.unwrap() {
            metrics.extend_from_slice(&chunk);
        }
        let metrics = String::from_utf8(metrics).unwrap();
        let name = "apiserver_cache_list_total{group=\"\",resource=\"configmaps\",index=\"\"}";
        metrics.lines().any(|it| it.starts_with(name))
    };
    assert!(!lists().await, "it was etcd that answered");
    assert!(members[2].run().await);
    let answered = async {
        while !lists().await {
            sleep(Duration::from_millis(200)).await;
            maps.list(&ListOptions::default()).await.unwrap();
        }
    };
    timeout(PATIENCE, answered)
        .await
        .expect("the cache answers");
    server.shutdown().await;
}

/// An event has a lease of an hour.
#[tokio::test]
async fn events_are_under_a_lease() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let server = server(&etcd, "").await;
    let events: Api<Event> = Api::namespaced(server.client(), NAMESPACE);
    let mut event = Event::default();
    event.metadata.name = "it".into();
    event.involved_object.namespace = NAMESPACE.into();
    events.create(&event).await.unwrap();
    let found = etcd.kv().get(b"/registry/events/default/it", None).await;
    assert!(found.unwrap().kv.unwrap().lease.is_some());
    server.shutdown().await;
}

#[test]
fn an_etcd_that_cannot_be_used_is_named_and_both_stores_at_once_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        |further: &[&'static str]| [&["serve", "--listen", "127.0.0.1:0"], further].concat();
    let failing = |further: &[&'static str]| fail(folder.path(), &arguments(further), b"");
    let misused = |further: &[&'static str]| {
        let output = run(folder.path(), &arguments(further), b"");
        assert_eq!(output.status.code(), Some(2), "wrong usage");
        String::from_utf8(output.stderr).unwrap()
    };
    let url = "http://127.0.0.1:1";
    let output = run(folder.path(), &arguments(&["--etcd-servers", url]), b"");
    assert_eq!(output.status.code(), Some(1));
    // The messages while it waits, and at the end.
    let errors = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = errors.lines().collect();
    assert_eq!(lines.len(), 2, "{errors}");
    assert!(
        lines[1].starts_with("kubist: cannot use the etcd at http://127.0.0.1:1: "),
        "{errors}"
    );
    let error = failing(&["--etcd-servers", "127.0.0.1:2379"]);
    assert!(
        error.contains("is not the URL of an etcd server"),
        "{error}"
    );
    let file = "absent";
    let error = failing(&[
        "--etcd-servers",
        "https://localhost:1",
        "--etcd-cafile",
        file,
    ]);
    assert!(error.contains("cannot read absent"), "{error}");
    let error = misused(&["--etcd-servers", url, "--data-dir", "data"]);
    assert!(
        error.contains("--etcd-servers") && error.contains("--data-dir"),
        "{error}"
    );
    let error = misused(&["--etcd-servers", url, "--etcd-certfile", "x"]);
    assert!(error.contains("--etcd-keyfile"), "{error}");
}

/// A server that must keep working, its directory and its client.
struct Replica {
    _served: Served,
    maps: Api<ConfigMap>,
}

fn replica(folder: &Path, name: &str, servers: &[String]) -> Replica {
    let folder = folder.join(name);
    std::fs::create_dir(&folder).unwrap();
    let servers = servers.join(",");
    let further = ["--controllers", "none", "--etcd-servers", &servers];
    let served = Served::start(&folder, &further);
    let file = Some(served.kubeconfig.clone());
    let client: Client = kubist::infer_with(&Options {
        file,
        ..Options::default()
    })
    .unwrap();
    Replica {
        _served: served,
        maps: Api::namespaced(client, NAMESPACE),
    }
}

/// Acknowledged writes: object and resource version.
type Write = (String, u64);

/// Creates, updates and deletes, and records acknowledged writes.
async fn write(maps: &Api<ConfigMap>, name: &str, acknowledged: &mut Vec<Write>) {
    for number in 0_u64.. {
        let mut map = ConfigMap::default();
        map.metadata.name = format!("{name}-{}", number / 3).into();
        map.data.insert("value".into(), number.to_string().into());
        let written = if number % 3 == 0 {
            maps.create(&map).await
        } else {
            maps.replace(&map).await
        };
        // Unacknowledged writes may have happened; the watches show them.
        if let Ok(written) = written {
            acknowledged.push(identity(&written));
        }
        sleep(Duration::from_millis(10)).await;
    }
}

fn identity(map: &ConfigMap) -> Write {
    let version = map.metadata.resource_version.parse().unwrap();
    (map.metadata.name.to_string(), version)
}

type Items = WatchOn<ConfigMap>;

/// Returns every event up to this version, in order.
async fn events(mut items: Items, last: u64) -> Vec<Write> {
    let mut events: Vec<Write> = Vec::new();
    while events.last().is_none_or(|(_, version)| *version < last) {
        let item = timeout(PATIENCE, items.next()).await.unwrap().unwrap();
        let map = match item.unwrap() {
            WatchItem::Added(map) | WatchItem::Modified(map) | WatchItem::Deleted(map) => map,
            other => panic!("unexpected: {other:?}"),
        };
        events.push(identity(&map));
    }
    events
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_agree_while_each_member_in_turn_is_away() {
    let Some(mut members) = Etcd::start_cluster(Release::Current, 3).await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut urls: Vec<_> = members.iter().map(Etcd::url).collect();
    let one = replica(folder.path(), "one", &urls);
    urls.rotate_left(1);
    let other = replica(folder.path(), "other", &urls);
    let begin = one.maps.list(&ListOptions::default()).await.unwrap();
    let from = ListOptions {
        resource_version: begin.metadata.resource_version.as_str().into(),
        ..ListOptions::default()
    };
    let watches = [&one, &other].map(|it| it.maps.watch_on(&from).unwrap());

    let (mut by_one, mut by_other) = (Vec::new(), Vec::new());
    let trouble = async {
        for member in &mut members {
            sleep(Duration::from_millis(700)).await;
            member.kill();
            sleep(Duration::from_millis(1500)).await;
            assert!(member.run().await);
        }
        sleep(Duration::from_secs(1)).await;
    };
    tokio::select! {
        () = write(&one.maps, "one", &mut by_one) => {}
        () = write(&other.maps, "other", &mut by_other) => {}
        () = trouble => {}
    }
    assert!(
        by_one.len() > 30 && by_other.len() > 30,
        "{} {}",
        by_one.len(),
        by_other.len()
    );

    let mut end = ConfigMap::default();
    end.metadata.name = "end".into();
    let (_, last) = identity(&other.maps.create(&end).await.unwrap());
    let [seen, seen_by_other] = watches.map(|watch| events(watch, last));
    let (seen, seen_by_other) = tokio::join!(seen, seen_by_other);
    assert_eq!(seen, seen_by_other);
    let versions: Vec<_> = seen.iter().map(|(_, version)| *version).collect();
    assert!(versions.is_sorted_by(|a, b| a < b), "nothing comes twice");
    let found: BTreeSet<_> = seen.iter().cloned().collect();
    for write in by_one.iter().chain(&by_other) {
        assert!(
            found.contains(write),
            "{write:?} was acknowledged and is lost"
        );
    }

    let mut held = Vec::new();
    for maps in [&one.maps, &other.maps] {
        let list = maps.list(&ListOptions::default()).await.unwrap();
        held.push(list.items.iter().map(identity).collect::<BTreeMap<_, _>>());
    }
    assert_eq!(held[0], held[1]);
    let by_events: BTreeMap<_, _> = seen.into_iter().collect();
    assert_eq!(
        held[0], by_events,
        "the last event of each is what is there"
    );
}
