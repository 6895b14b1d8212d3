//! `kubist::Server` as an embedding program uses it.

use kubist::api::core::v1::{ConfigMap, Endpoints, Namespace};
use kubist::apimachinery::wire::Wire as _;
use kubist::client::Api;
use kubist::etcd::Etcd;
use kubist::storage::memory::MemoryKv;
use kubist::{Controller, EtcdServers, Server, ServerConfig};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

fn namespace(name: &str) -> Namespace {
    let mut namespace = Namespace::default();
    namespace.metadata.name = name.into();
    namespace
}

#[tokio::test]
async fn a_server_serves_its_client_and_ends_with_nothing_left() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(server.client());
    let created = namespaces.create(&namespace("shop")).await.unwrap();
    assert!(!created.metadata.uid.is_empty());
    assert!(server.storage_stats().unwrap().keys > 4);
    let (address, client) = (server.address(), server.client());
    server.shutdown().await;
    assert!(
        tokio::net::TcpStream::connect(address).await.is_err(),
        "nobody listens"
    );
    assert!(client.server_version().await.is_err());
}

#[tokio::test]
async fn deleting_a_namespace_removes_what_is_in_it() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(server.client());
    namespaces.create(&namespace("gone")).await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "gone");
    let mut map = ConfigMap::default();
    map.metadata.name = "settings".into();
    maps.create(&map).await.unwrap();

    namespaces.delete("gone").await.unwrap();
    let gone = async {
        while namespaces.get_opt("gone").await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone)
        .await
        .expect("the namespace is removed");
    assert!(maps.get_opt("settings").await.unwrap().is_none());
    server.shutdown().await;
}

#[tokio::test]
async fn two_servers_with_one_seed_give_the_same_uids() {
    let mut uids = Vec::new();
    for _ in 0..2 {
        let config = ServerConfig {
            seed: Some(7),
            controllers: [].into(),
            ..Default::default()
        };
        let server = Server::start(config).await.unwrap();
        let namespaces: Api<Namespace> = Api::all(server.client());
        let created = namespaces.create(&namespace("shop")).await.unwrap();
        uids.push(created.metadata.uid.clone());
        assert!(!created.to_json().is_empty());
        server.shutdown().await;
    }
    assert_eq!(uids[0], uids[1]);
    let names = [
        "gc",
        "namespace",
        "clusterrole-aggregation",
        "resourcequota",
        "policy-types",
        "serviceaccount",
        "root-ca-cert-publisher",
        "local-apiservices",
        "storage-version-migrator",
    ];
    assert_eq!(Controller::ALL.map(Controller::name), names);
}

#[tokio::test]
async fn a_server_keeps_no_more_events_than_its_config_says() {
    let config = ServerConfig {
        history_events_max: 3,
        controllers: [].into(),
        ..Default::default()
    };
    let server = Server::start(config).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(server.client());
    for number in 0..10 {
        namespaces
            .create(&namespace(&format!("n{number}")))
            .await
            .unwrap();
    }
    let stats = server.storage_stats().unwrap();
    assert!(stats.history_events <= 3, "{stats:?}");
    assert!(
        stats.compacted > kubist::storage::Revision::ZERO,
        "{stats:?}"
    );
    server.shutdown().await;
}

/// Waits until these servers are the endpoints of the service `kubernetes`.
async fn listed(server: &Server, addresses: &[&str]) {
    let endpoints: Api<Endpoints> = Api::namespaced(server.client(), "default");
    let found = endpoints.wait_until_within("kubernetes", Duration::from_secs(30), |it| {
        let subsets = it.into_iter().flat_map(|it| &it.subsets);
        let found = subsets
            .flat_map(|it| &it.addresses)
            .map(|it| it.ip.as_str());
        found.eq(addresses.iter().copied())
    });
    found.await.expect("the endpoints are published");
}

#[tokio::test]
async fn a_server_is_listed_under_its_advertised_address_until_it_ends() {
    // Both stand on one etcd, in this process.
    let kv = Arc::new(MemoryKv::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let etcd = Etcd::new(kv, kubist::etcd::Config::default());
    let mut tasks = JoinSet::new();
    tasks.spawn(etcd.serve(listener, None, std::future::pending()));
    let at = |address: &str| ServerConfig {
        advertise_address: Some(address.parse().unwrap()),
        controllers: [].into(),
        etcd: Some(EtcdServers {
            servers: vec![url.clone()],
            ..EtcdServers::default()
        }),
        ..Default::default()
    };
    let first = Server::start(at("10.1.2.3")).await.unwrap();
    listed(&first, &["10.1.2.3"]).await;
    let second = Server::start(at("10.1.2.4")).await.unwrap();
    listed(&second, &["10.1.2.3", "10.1.2.4"]).await;
    let gone = async {
        first.shutdown().await;
        listed(&second, &["10.1.2.4"]).await;
    };
    // A lease that is not withdrawn ends later.
    let gone = tokio::time::timeout(Duration::from_secs(10), gone).await;
    gone.expect("it withdraws its endpoint");
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_without_sockets_works_in_virtual_time() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let client = server.in_process_client().unwrap();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let minutes = |it: u64| Duration::from_secs(60 * it);
    let begun = tokio::time::Instant::now();
    let wait = namespaces.wait_until_within("late", minutes(20), |it| it.is_some());
    let create = async {
        tokio::time::sleep(minutes(10)).await;
        namespaces.create(&namespace("late")).await
    };
    let (found, created) = tokio::join!(wait, create);
    assert_eq!(found.unwrap(), Some(created.unwrap()));
    assert!(begun.elapsed() >= minutes(10) && begun.elapsed() < minutes(11));
    server.shutdown().await;
    assert!(
        client.server_version().await.is_err(),
        "it ends with the server"
    );
}
