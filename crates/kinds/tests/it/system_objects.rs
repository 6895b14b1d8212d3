//! The controllers of system objects, which every cluster has.

use crate::fixture::{Fixture, names, options, typed};
use kubist_api::core::v1::{ConfigMap, Endpoints, Namespace, Service};
use kubist_api::discovery::v1::EndpointSlice;
use kubist_api::networking::v1::IPAddress;
use kubist_apimachinery::{DeleteOptions, KubeObject, ResourceVersion, Status};
use kubist_registry::{AnnouncedProxies, Announcement, Registry, RegistryConfig, User};
use kubist_storage::{DeleteRequest, Expected, KeyRange, ManualClock, RangeRequest, memory};
use kubist_storage::{KvRead, KvWrite};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

const CA: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

fn announced(last: u8) -> Announcement {
    Announcement {
        address: Some(Ipv4Addr::new(10, 0, 0, last)),
        port: 6443,
        client_ca: CA.replace("AAAA", &format!("AAA{last}")),
        proxies: Some(AnnouncedProxies {
            client_ca: CA.replace("AAAA", &format!("BBB{last}")),
            allowed_names: vec![format!("proxy-{last}")],
            username_headers: vec!["X-Remote-User".to_owned()],
            group_headers: vec!["X-Remote-Group".to_owned()],
            ..AnnouncedProxies::default()
        }),
    }
}

async fn get<K: KubeObject>(registry: &Registry, namespace: &str, name: &str) -> Result<K, Status> {
    let rest = registry.resource(K::GROUP, K::VERSION, K::PLURAL);
    let (cx, any) = (
        registry.request(User::default()),
        ResourceVersion::default(),
    );
    let got = rest.expect("served").get(&cx, namespace, name, &any).await;
    got.map(|it| typed(&it))
}

fn keep(tasks: &mut JoinSet<()>, registry: &Registry, last: u8) {
    let registry = registry.clone();
    tasks.spawn(async move { registry.run_system_objects(&announced(last)).await });
}

#[tokio::test(start_paused = true)]
async fn servers_publish_the_same_objects_as_upstream() {
    let fixture = Fixture::new().await;
    let (registry, mut tasks) = (&fixture.registry, JoinSet::new());
    keep(&mut tasks, registry, 1);
    sleep(Duration::from_secs(1)).await;
    let maps = "kube-system";
    let map: ConfigMap = get(registry, maps, "extension-apiserver-authentication")
        .await
        .expect("it is published");
    assert_eq!(map.data["client-ca-file"], announced(1).client_ca);
    for (key, expected) in [
        ("requestheader-client-ca-file", &*CA.replace("AAAA", "BBB1")),
        ("requestheader-allowed-names", r#"["proxy-1"]"#),
        ("requestheader-username-headers", r#"["X-Remote-User"]"#),
        ("requestheader-group-headers", r#"["X-Remote-Group"]"#),
        ("requestheader-extra-headers-prefix", "[]"),
    ] {
        assert_eq!(map.data[key], expected, "{key}");
    }
    assert!(!map.data.contains_key("requestheader-uid-headers"));
    let tracking = "kube-apiserver-legacy-service-account-token-tracking";
    let map: ConfigMap = get(registry, maps, tracking)
        .await
        .expect("it is published");
    assert_eq!(map.data["since"], "2023-11-14");
    let endpoints: Endpoints = get(registry, "default", "kubernetes").await.expect("there");
    let subset = &endpoints.subsets[0];
    assert_eq!(subset.addresses[0].ip, "10.0.0.1");
    assert_eq!(
        (&*subset.ports[0].name, subset.ports[0].port),
        ("https", 6443)
    );
    let skip = "endpointslice.kubernetes.io/skip-mirror";
    assert_eq!(endpoints.metadata.labels[skip], "true");
    let slice: EndpointSlice = get(registry, "default", "kubernetes").await.expect("there");
    assert_eq!(slice.endpoints[0].addresses, ["10.0.0.1"]);
    assert_eq!(slice.endpoints[0].conditions.ready, Some(true));
    let of = "kubernetes.io/service-name";
    assert_eq!(slice.metadata.labels[of], "kubernetes");
    let service: Service = get(registry, "default", "kubernetes").await.expect("there");
    let address: IPAddress = get(registry, "", &service.spec.cluster_ip)
        .await
        .expect("there");
    assert_eq!(
        address.spec.parent_ref.expect("it has one").name,
        "kubernetes"
    );

    // Unchanged objects are not written, except the lease.
    sleep(Duration::from_secs(60)).await;
    let later: EndpointSlice = get(registry, "default", "kubernetes").await.expect("there");
    assert_eq!(
        later.metadata.resource_version,
        slice.metadata.resource_version
    );
}

#[tokio::test(start_paused = true)]
async fn removed_system_objects_come_back_within_a_minute() {
    let fixture = Fixture::new().await;
    let (registry, mut tasks) = (&fixture.registry, JoinSet::new());
    keep(&mut tasks, registry, 1);
    sleep(Duration::from_secs(1)).await;
    let deleted = fixture
        .delete::<Service>("kubernetes", DeleteOptions::default())
        .await;
    deleted.expect("it may be");
    sleep(Duration::from_secs(61)).await;
    get::<Service>(registry, "default", "kubernetes")
        .await
        .expect("it is back");

    let all = RangeRequest::new(KeyRange::prefix("/"));
    for found in fixture.kv.range(all).await.expect("it answers").kvs {
        let remove = DeleteRequest::new(found.key.clone(), Expected::Any);
        fixture.kv.delete(remove).await.expect("it answers");
    }
    assert!(get::<Namespace>(registry, "", "default").await.is_err());
    sleep(Duration::from_secs(121)).await;
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        get::<Namespace>(registry, "", name)
            .await
            .expect("it is back");
    }
    get::<Service>(registry, "default", "kubernetes")
        .await
        .expect("it is back");
    get::<EndpointSlice>(registry, "default", "kubernetes")
        .await
        .expect("it is back");
    let rest = fixture.of::<IPAddress>();
    let page = rest
        .list(&fixture.cx(), "", &options(""))
        .await
        .expect("fine");
    assert_eq!(names(&page), ["10.96.0.1"]);
}

#[tokio::test(start_paused = true)]
async fn servers_that_are_gone_are_no_endpoints() {
    let clock = Arc::new(ManualClock::default());
    let moved = Arc::clone(&clock) as Arc<dyn kubist_storage::Clock>;
    let kv = memory::MemoryKv::new(memory::Config::default(), moved);
    let mut servers = Vec::new();
    for last in [1, 2] {
        let mut config = RegistryConfig::new(Arc::new(kv.clone()), kubist_kinds::BuiltIn::shared());
        config.seed = Some(last.into());
        let registry = Registry::new(config);
        registry.start().await.expect("nothing is in the way");
        let mut task = JoinSet::new();
        keep(&mut task, &registry, last);
        servers.push((registry, task));
        sleep(Duration::from_secs(1)).await;
    }
    let addresses = async |registry: &Registry| {
        let endpoints: Endpoints = get(registry, "default", "kubernetes").await.expect("there");
        let all = endpoints.subsets[0].addresses.iter();
        all.map(|it| it.ip.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(addresses(&servers[0].0).await, ["10.0.0.1", "10.0.0.2"]);
    let authentication = "extension-apiserver-authentication";
    let map: ConfigMap = get(&servers[0].0, "kube-system", authentication)
        .await
        .expect("it is published");
    let all = &map.data["client-ca-file"];
    assert!(all.contains("AAA1") && all.contains("AAA2"), "{all}");
    let (_, gone) = servers.pop().expect("there are two");
    drop(gone);
    for _ in 0..4 {
        clock.advance(Duration::from_secs(6));
        kv.tick();
        sleep(Duration::from_secs(10)).await;
    }
    assert_eq!(addresses(&servers[0].0).await, ["10.0.0.1"]);
}

async fn endpoint_addresses(registry: &Registry) -> (Vec<String>, Vec<String>) {
    let endpoints: Endpoints = get(registry, "default", "kubernetes").await.expect("there");
    let slice: EndpointSlice = get(registry, "default", "kubernetes").await.expect("there");
    let subsets = endpoints.subsets.iter().flat_map(|it| &it.addresses);
    let sliced = slice.endpoints.iter().flat_map(|it| &it.addresses);
    (
        subsets.map(|it| it.ip.to_string()).collect(),
        sliced.map(ToString::to_string).collect(),
    )
}

#[tokio::test(start_paused = true)]
async fn server_that_withdraws_is_gone_at_once_and_the_last_one_stays() {
    let fixture = Fixture::new().await;
    let (registry, mut tasks) = (&fixture.registry, JoinSet::new());
    let both = |of: &[&str]| {
        let of: Vec<String> = of.iter().map(|it| (*it).to_owned()).collect();
        (of.clone(), of)
    };
    keep(&mut tasks, registry, 1);
    sleep(Duration::from_secs(1)).await;
    keep(&mut tasks, registry, 2);
    sleep(Duration::from_secs(1)).await;
    let found = endpoint_addresses(registry).await;
    assert_eq!(found, both(&["10.0.0.1", "10.0.0.2"]));
    tasks.shutdown().await;
    registry.withdraw(&announced(1)).await.expect("it may");
    assert_eq!(endpoint_addresses(registry).await, both(&["10.0.0.2"]));
    // Again, as a server does that was not there.
    registry.withdraw(&announced(1)).await.expect("it may");
    registry.withdraw(&announced(2)).await.expect("it may");
    assert_eq!(endpoint_addresses(registry).await, both(&["10.0.0.2"]));
}
