//! A restarted in-memory server with the same address and certificates: its clients notice that
//! their state is gone.

use futures_util::StreamExt as _;
use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::{ListOptions, ObjectName};
use kubist::client::{Api, Client};
use kubist::informers::SharedInformerFactory;
use kubist::kubeconfig::Options;
use kubist::{Server, ServerConfig, ServerKeys};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(30);

/// A server that only keeps its keys.
async fn start(listen: Option<SocketAddr>, keys: &Path) -> Server {
    let mut config = ServerConfig {
        keys: ServerKeys {
            folder: Some(keys.to_path_buf()),
            ..ServerKeys::default()
        },
        controllers: [].into(),
        ..ServerConfig::default()
    };
    config.listen = listen.or(config.listen);
    Server::start(config).await.unwrap()
}

fn config_map(name: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map
}

fn client(kubeconfig: &Path) -> Client {
    kubist::infer_with(&Options {
        file: Some(kubeconfig.to_path_buf()),
        ..Options::default()
    })
    .unwrap()
}

#[tokio::test]
async fn informers_and_watches_of_a_server_in_memory_notice_that_it_was_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let (keys, file) = (folder.path().join("pki"), folder.path().join("admin"));
    let server = start(None, &keys).await;
    server.write_kubeconfig(&file).unwrap();
    let client = client(&file);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    // More writes than the next server will have when the watches resume.
    for number in 0..30 {
        let map = config_map(&format!("ghost-{number}"));
        maps.create(&map).await.unwrap();
    }
    let factory = SharedInformerFactory::new(client);
    let informer = factory.informer::<ConfigMap>();
    factory.start();
    let lister = informer.synced().await.unwrap();
    let listed = maps.list(&ListOptions::default()).await.unwrap();
    let mut events = maps
        .watch_on(&ListOptions {
            resource_version: listed.metadata.resource_version.clone().into(),
            ..ListOptions::default()
        })
        .unwrap();
    let address = server.address();
    server.shutdown().await;

    let server = start(Some(address), &keys).await;
    let new: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let created = new.create(&config_map("new")).await.unwrap();
    let number = |version: &str| version.parse::<u64>().unwrap();
    let (before, after) = (
        &listed.metadata.resource_version,
        &created.metadata.resource_version,
    );
    assert!(
        number(after.as_str()) > number(before.as_str()),
        "{after} {before}"
    );

    let caught_up = async {
        loop {
            // The server's own resources are excluded.
            let names = lister.names();
            let here = names.iter().filter(|it| *it.namespace == *"default");
            if here.eq([&ObjectName::new("default", "new")]) {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, caught_up)
        .await
        .expect("the informer lists again");
    let event = timeout(PATIENCE, events.next()).await;
    let event = event.expect("the watch reports it").expect("an item");
    let error = event.expect_err("its version is gone");
    assert!(error.is_expired(), "{error}");
    factory.shutdown().await;
    server.shutdown().await;
}
