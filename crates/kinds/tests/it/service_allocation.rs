//! Service allocations are in storage: several servers share them, and lost or leaked allocations
//! are repaired.

use crate::etcd::{Etcd, Release};
use crate::fixture::{Fixture, typed};
use kubist_api::core::v1::{Service, ServicePort};
use kubist_api::networking::v1::{IPAddress, ServiceCIDR};
use kubist_apimachinery::{DeleteOptions, PostOptions};
use kubist_kinds::BuiltIn;
use kubist_registry::{Created, Registry, RegistryConfig, User, WallClock};
use kubist_storage::memory::MemoryKv;
use kubist_storage::{DeleteRequest, Expected, Kv};
use kubist_storage::{KvRead, KvWrite};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::sleep;

/// A duration longer than the repair interval, in seconds.
const REPAIR_SECONDS: u64 = 181;
/// The number of repairs after which an unused port is released.
const REPAIRS: usize = 5;

fn service(name: &str, address: &str, node_port: i32) -> Service {
    let mut service = Service::default();
    service.metadata.name = name.into();
    service.spec.type_ = "NodePort".into();
    service.spec.cluster_ip = address.into();
    service.spec.session_affinity = "None".into();
    service.spec.ports.push(ServicePort {
        protocol: "TCP".into(),
        port: 80,
        node_port,
        ..ServicePort::default()
    });
    service
}

/// Returns a server with hardly more addresses and ports than are requested.
fn crowded(kv: Arc<dyn Kv>, root: &str, seed: u64) -> Registry {
    let mut kinds = BuiltIn::default();
    kinds.service_network = (Ipv4Addr::new(10, 7, 0, 0), 26);
    kinds.node_ports = 30_000..=30_059;
    let mut config = RegistryConfig::new(kv, Arc::new(kinds));
    root.clone_into(&mut config.key_root);
    config.seed = Some(seed);
    Registry::new(config)
}

/// Creates services until one is refused, and returns the allocations of the others.
async fn create_all(registry: &Registry, server: usize, count: usize) -> Vec<Service> {
    registry.start().await.expect("nothing is in the way");
    let rest = registry.resource("", "v1", "services").expect("served");
    let cx = registry.request(User::default());
    let options = PostOptions::default();
    let mut created = Vec::new();
    for number in 0..count {
        let object = service(&format!("s-{server}-{number}"), "", 0);
        let answer = rest
            .create(&cx, "default", "", Box::new(object), &options)
            .await;
        match answer {
            Ok(Created::Object(stored)) => created.push(typed::<Service>(&stored)),
            Ok(Created::Status(status)) => panic!("{status}"),
            Err(status) => {
                assert!(status.message.contains("range is full"), "{status}");
                break;
            }
        }
    }
    created
}

/// Runs two servers, each on its own thread, that request all addresses and ports.
fn compete(servers: impl Fn(usize) -> Registry + Sync) {
    let run = |server: usize| {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let registry = servers(server);
            create_all(&registry, server, 60).await
        })
    };
    let created: Vec<Service> = std::thread::scope(|threads| {
        let one = threads.spawn(|| run(1));
        let mut all = run(2);
        all.extend(one.join().expect("it does not panic"));
        all
    });
    // `kubernetes` uses one of the 62 addresses, and there are fewer ports.
    assert_eq!(created.len(), 60);
    let addresses: BTreeSet<_> = created
        .iter()
        .map(|it| it.spec.cluster_ip.clone())
        .collect();
    assert_eq!(addresses.len(), 60, "no address twice");
    let ports: BTreeSet<_> = created
        .iter()
        .map(|it| it.spec.ports[0].node_port)
        .collect();
    assert_eq!(ports.len(), 60, "no port twice");
}

#[test]
fn two_servers_never_allocate_a_value_twice() {
    for _ in 0..5 {
        let kv = MemoryKv::default();
        compete(|server| crowded(Arc::new(kv.clone()), "/registry", server as u64));
    }
}

#[test]
fn two_servers_on_an_etcd_never_allocate_a_value_twice() {
    let plain = Builder::new_current_thread().enable_all().build();
    let started = plain
        .expect("a runtime")
        .block_on(Etcd::start(Release::Packaged));
    let Some(etcd) = started else {
        return;
    };
    compete(|server| crowded(Arc::new(etcd.kv()), "/registry", server as u64));
}

#[tokio::test]
async fn an_address_is_an_object_that_names_its_service() {
    let fixture = Fixture::new().await;
    let cidr: ServiceCIDR = typed(&get(&fixture, "servicecidrs", "kubernetes").await);
    assert_eq!(cidr.spec.cidrs, ["10.96.0.0/16"]);
    let ready = &cidr.status.conditions[0];
    assert_eq!((&*ready.type_, &*ready.status), ("Ready", "True"));
    let first: IPAddress = typed(&get(&fixture, "ipaddresses", "10.96.0.1").await);
    let parent = first.spec.parent_ref.expect("it has one");
    assert_eq!(
        (&*parent.namespace, &*parent.name),
        ("default", "kubernetes")
    );

    let web: Service = fixture.create(service("web", "", 0)).await;
    let address = web.spec.cluster_ip.as_str();
    let address: IPAddress = typed(&get(&fixture, "ipaddresses", address).await);
    let parent = address.spec.parent_ref.expect("it has one");
    assert_eq!(
        (&*parent.group, &*parent.resource, &*parent.name),
        ("", "services", "web")
    );
    let labels = &address.metadata.labels;
    assert_eq!(
        labels["ipaddress.kubernetes.io/managed-by"],
        "ipallocator.k8s.io"
    );
    assert_eq!(labels["ipaddress.kubernetes.io/ip-family"], "IPv4");
    let ports = fixture.kv.get(b"/registry/ranges/servicenodeports", None);
    let ports = ports.await.expect("it is open").kv.expect("it is there");
    assert!(ports.value.starts_with(b"k8s\0"), "upstream's envelope");
}

async fn get(fixture: &Fixture, plural: &str, name: &str) -> kubist_registry::Stored {
    let rest = fixture.rest("networking.k8s.io", "v1", plural);
    let got = rest.get(&fixture.cx(), "", name, &Default::default()).await;
    got.expect("it is there")
}

/// Waits for the given number of repairs.
async fn repairs(fixture: &Fixture, count: usize) {
    for _ in 0..count {
        fixture.clock.advance(REPAIR_SECONDS);
        sleep(Duration::from_secs(REPAIR_SECONDS)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_repair_restores_lost_allocations() {
    let fixture = Fixture::new().await;
    fixture.create(service("web", "10.96.7.7", 30_777)).await;
    let options = DeleteOptions::default();
    let rest = fixture.of::<IPAddress>();
    rest.delete(&fixture.cx(), "", "10.96.7.7", &options)
        .await
        .expect("people may");
    let all = DeleteRequest::new("/registry/ranges/servicenodeports", Expected::Any);
    fixture.kv.delete(all).await.expect("it is open");
    repairs(&fixture, 1).await;
    for thief in [service("a", "10.96.7.7", 0), service("b", "", 30_777)] {
        let status = fixture.try_create(thief).await.expect_err("it is taken");
        assert!(status.message.contains("is already allocated"), "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn repairs_release_unused_allocations() {
    let fixture = Fixture::new().await;
    fixture.create(service("web", "10.96.7.7", 30_777)).await;
    // This is the state after a server stopped between the allocation and the write of the service.
    let key = "/registry/services/specs/default/web";
    let gone = fixture
        .kv
        .delete(DeleteRequest::new(key, Expected::Any))
        .await;
    gone.expect("it is open");
    // A recent allocation does not count as a leak.
    sleep(Duration::from_secs(REPAIR_SECONDS)).await;
    for early in [service("a", "10.96.7.7", 0), service("b", "", 30_777)] {
        let status = fixture.try_create(early).await.expect_err("it is taken");
        assert!(status.message.contains("is already allocated"), "{status}");
    }
    repairs(&fixture, REPAIRS).await;
    let web: Service = fixture.create(service("web", "10.96.7.7", 30_777)).await;
    repairs(&fixture, REPAIRS).await;
    let found: IPAddress = typed(&get(&fixture, "ipaddresses", "10.96.7.7").await);
    assert_eq!(
        found.spec.parent_ref.expect("it has one").name,
        web.metadata.name
    );
}

#[tokio::test]
async fn a_type_change_releases_allocations_and_a_dry_run_allocates_nothing() {
    let fixture = Fixture::new().await;
    fixture.create(service("web", "10.96.7.7", 30_777)).await;
    let before = fixture.kv.revision().await.expect("it is open");
    let dry = fixture.create_in("default", service("dry", "", 0), true);
    let dry: Service = typed(&dry.await.expect("there is room"));
    // These are the values that would be allocated.
    assert_eq!(dry.spec.cluster_ip, "10.96.0.0");
    assert_eq!(dry.spec.ports[0].node_port, 32_769);
    assert_eq!(fixture.kv.revision().await.expect("it is open"), before);

    let mut external = service("web", "", 0);
    external.spec.type_ = "ExternalName".into();
    external.spec.external_name = "example.com".into();
    fixture.put(external).await.expect("fine");
    fixture.create(service("heir", "10.96.7.7", 30_777)).await;
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_creation_of_the_kubernetes_service_is_completed() {
    let fixture = Fixture::new().await;
    let key = "/registry/services/specs/default/kubernetes";
    let gone = fixture.kv.delete(DeleteRequest::new(key, Expected::Any));
    gone.await.expect("it is open");
    let mut config = RegistryConfig::new(Arc::new(fixture.kv.clone()), BuiltIn::shared());
    config.clock = Arc::clone(&fixture.clock) as Arc<dyn WallClock>;
    let registry = Registry::new(config);
    registry.start().await.expect("it is made up for");
    let made: Service = fixture.get("kubernetes").await.expect("it is there");
    assert_eq!(made.spec.cluster_ip, "10.96.0.1");
    get(&fixture, "ipaddresses", "10.96.0.1").await;
}
