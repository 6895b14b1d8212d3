//! Tests of service allocations and their release.

use super::*;
use kubist_api::core::v1::ServicePort;
use kubist_registry::storage::StorageFactory;
use kubist_registry::{Random, Scheme};
use kubist_storage::memory::MemoryKv;

/// A clock that stands still.
#[derive(Debug)]
struct Still;

impl WallClock for Still {
    fn now(&self) -> std::time::Duration {
        std::time::Duration::from_secs(1_700_000_000)
    }
}

fn allocator(prefix: u32) -> ServiceAllocation {
    allocator_with(prefix, 30_000..=30_003)
}

fn allocator_with(prefix: u32, node_ports: std::ops::RangeInclusive<u16>) -> ServiceAllocation {
    let ranges = Ranges {
        network: Ipv4Addr::new(10, 96, 0, 0),
        prefix,
        node_ports,
    };
    let factory = StorageFactory::new(Arc::new(MemoryKv::default()), "/registry", 1 << 20);
    let clock: Arc<dyn WallClock> = Arc::new(Still);
    let parts = RegistryParts {
        factory: &factory,
        scheme: &Scheme::PLAIN,
        random: &Arc::new(Random::new(3)),
        clock: &clock,
    };
    ServiceAllocation::new(ranges, &parts).expect("services are built in")
}

fn service(name: &str, type_: &str, ports: &[i32]) -> Service {
    let mut service = Service::default();
    service.metadata.namespace = "ns".into();
    service.metadata.name = name.into();
    service.spec.type_ = type_.into();
    for (port, node_port) in (80..).zip(ports) {
        service.spec.ports.push(ServicePort {
            port,
            node_port: *node_port,
            ..ServicePort::default()
        });
    }
    service
}

async fn allocate(
    allocator: &ServiceAllocation,
    new: &mut Service,
) -> Result<Box<Allocation>, String> {
    let place = allocator.shared.finishing.place().await;
    let place = place.expect("there is room");
    let made = Allocation::make(&allocator.shared, new, None, Some(place)).await;
    made.map(Box::new)
        .map_err(|status| status.message.to_string())
}

async fn change(allocator: &ServiceAllocation, new: &mut Service, old: &Service) {
    let place = allocator.shared.finishing.place().await;
    let place = place.expect("there is room");
    let made = Allocation::make(&allocator.shared, new, Some(old), Some(place)).await;
    Box::new(made.expect("it is its own")).commit().await;
}

async fn release(allocator: &ServiceAllocation, service: &Service) {
    Allocation::release_all(&allocator.shared, service).await;
}

async fn allocated_addresses(allocator: &ServiceAllocation) -> usize {
    allocator
        .shared
        .addresses
        .allocated()
        .await
        .expect("it is open")
        .len()
}

#[tokio::test]
async fn a_service_gets_an_address_and_keeps_it() {
    let allocator = allocator(16);
    let mut web = service("web", "", &[]);
    let allocation = allocate(&allocator, &mut web).await.expect("there is room");
    allocation.commit().await;
    let address: Ipv4Addr = web.spec.cluster_ip.parse().expect("it is an address");
    assert!(allocator.shared.ranges.contains(address));
    assert_eq!(web.spec.cluster_ips, [web.spec.cluster_ip.clone()]);
    assert_eq!(web.spec.ip_families, ["IPv4"]);

    let mut changed = service("web", "", &[]);
    change(&allocator, &mut changed, &web).await;
    assert_eq!(changed.spec.cluster_ip, web.spec.cluster_ip);
    assert_eq!(allocated_addresses(&allocator).await, 1);
}

#[tokio::test]
async fn an_address_is_allocated_to_one_service_until_it_is_released() {
    let allocator = allocator(30);
    let [mut one, mut two, mut three] =
        ["one", "two", "three"].map(|name| service(name, "ClusterIP", &[]));
    for service in [&mut one, &mut two] {
        let allocation = allocate(&allocator, service).await.expect("there is room");
        allocation.commit().await;
    }
    assert_ne!(one.spec.cluster_ip, two.spec.cluster_ip);
    let full = allocate(&allocator, &mut three).await;
    let full = full.expect_err("two addresses are all");
    assert!(full.contains("range is full"), "{full}");

    three.spec.cluster_ip = one.spec.cluster_ip.clone();
    let taken = allocate(&allocator, &mut three)
        .await
        .expect_err("it is taken");
    assert!(
        taken.contains("provided IP is already allocated"),
        "{taken}"
    );
    release(&allocator, &one).await;
    // A service does not release allocations of another service.
    release(&allocator, &three).await;
    allocate(&allocator, &mut three)
        .await
        .expect("it is free again")
        .commit()
        .await;
    assert_eq!(allocated_addresses(&allocator).await, 2);
}

#[tokio::test]
async fn a_failed_write_releases_its_allocations() {
    let allocator = allocator(30);
    for _ in 0..5 {
        let mut web = service("web", "NodePort", &[0, 0]);
        let allocation = allocate(&allocator, &mut web).await.expect("there is room");
        allocation.rollback().await;
    }
    assert_eq!(allocated_addresses(&allocator).await, 0);
    let mut wrong = service("web", "NodePort", &[0, 80]);
    allocate(&allocator, &mut wrong)
        .await
        .expect_err("no such port");
    assert_eq!(allocated_addresses(&allocator).await, 0);
    let mut all = service("all", "NodePort", &[0, 0, 0, 0]);
    allocate(&allocator, &mut all)
        .await
        .expect("all four are free")
        .commit()
        .await;
}

#[tokio::test]
async fn node_ports_come_from_their_range() {
    let allocator = allocator(16);
    let mut web = service("web", "NodePort", &[0, 30_001]);
    allocate(&allocator, &mut web)
        .await
        .expect("there is room")
        .commit()
        .await;
    assert!((30_000..=30_003).contains(&web.spec.ports[0].node_port));
    assert_ne!(web.spec.ports[0].node_port, 30_001);
    let mut other = service("other", "NodePort", &[30_001]);
    let message = allocate(&allocator, &mut other)
        .await
        .expect_err("it is taken");
    assert!(message.ends_with(
        "spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated"
    ));
    let mut outside = service("outside", "NodePort", &[80]);
    let message = allocate(&allocator, &mut outside).await;
    let message = message.expect_err("it is outside");
    assert!(
        message.ends_with("The range of valid ports is 30000-30003"),
        "{message}"
    );
}

#[tokio::test]
async fn protocols_share_the_numbers_and_a_service_may_use_one_for_several() {
    let allocator = allocator(16);
    let mut dns = service("dns", "NodePort", &[0, 0, 0]);
    for (at, protocol) in ["UDP", "TCP", "TCP"].iter().enumerate() {
        dns.spec.ports[at].protocol = (*protocol).into();
        dns.spec.ports[at].port = if at == 2 { 9153 } else { 53 };
    }
    allocate(&allocator, &mut dns)
        .await
        .expect("two are enough")
        .commit()
        .await;
    let ports: Vec<i32> = dns.spec.ports.iter().map(|it| it.node_port).collect();
    assert!(ports[0] == ports[1] && ports[0] != ports[2], "{ports:?}");
    let mut thief = service("thief", "NodePort", &[ports[0]]);
    thief.spec.ports[0].protocol = "SCTP".into();
    allocate(&allocator, &mut thief)
        .await
        .expect_err("it is taken");
    let mut two = service("two", "NodePort", &[0, 0]);
    allocate(&allocator, &mut two)
        .await
        .expect("the other two")
        .commit()
        .await;
    let mut more = service("more", "NodePort", &[0]);
    let message = allocate(&allocator, &mut more)
        .await
        .expect_err("all are taken");
    assert!(
        message.contains("failed to allocate a nodePort: range is full"),
        "{message}"
    );
    release(&allocator, &dns).await;
    allocate(&allocator, &mut more)
        .await
        .expect("they are back")
        .commit()
        .await;
}

#[tokio::test]
async fn an_update_releases_allocations_that_it_no_longer_needs() {
    let allocator = allocator(16);
    let mut web = service("web", "NodePort", &[30_000, 30_001]);
    allocate(&allocator, &mut web)
        .await
        .expect("there is room")
        .commit()
        .await;
    let mut moved = web.clone();
    moved.spec.ports[0].node_port = 30_002;
    change(&allocator, &mut moved, &web).await;
    let mut other = service("other", "NodePort", &[30_000]);
    allocate(&allocator, &mut other)
        .await
        .expect("it was released")
        .commit()
        .await;
    let mut thief = service("thief", "NodePort", &[30_001]);
    allocate(&allocator, &mut thief)
        .await
        .expect_err("it was kept");

    let mut external = moved.clone();
    external.spec.type_ = "ExternalName".into();
    change(&allocator, &mut external, &moved).await;
    assert_eq!(
        (&*external.spec.cluster_ip, external.spec.ip_family_policy),
        ("", None)
    );
    allocate(&allocator, &mut thief)
        .await
        .expect("it was released")
        .commit()
        .await;
    assert_eq!(
        allocated_addresses(&allocator).await,
        2,
        "those of the two others"
    );
}

#[tokio::test]
async fn without_node_port_allocation_only_specified_ports_are_allocated() {
    let allocator = allocator(16);
    let mut quiet = service("quiet", "LoadBalancer", &[0, 30_002]);
    quiet.spec.allocate_load_balancer_node_ports = Some(false);
    allocate(&allocator, &mut quiet)
        .await
        .expect("there is room")
        .commit()
        .await;
    assert_eq!(quiet.spec.ports[0].node_port, 0);
    let mut thief = service("thief", "NodePort", &[30_002]);
    allocate(&allocator, &mut thief)
        .await
        .expect_err("it is taken");
}

#[tokio::test]
async fn headless_and_external_services_get_no_address() {
    let allocator = allocator(16);
    let mut headless = service("h", "ClusterIP", &[]);
    headless.spec.cluster_ip = "None".into();
    allocate(&allocator, &mut headless)
        .await
        .expect("it needs nothing")
        .commit()
        .await;
    assert_eq!(headless.spec.cluster_ips, ["None"]);
    let mut external = service("e", "ExternalName", &[]);
    allocate(&allocator, &mut external)
        .await
        .expect("it needs nothing")
        .commit()
        .await;
    assert_eq!(
        (&*external.spec.cluster_ip, external.spec.ip_families.len()),
        ("", 0)
    );
    assert_eq!(allocated_addresses(&allocator).await, 0);
}

/// Returns a service with many ports, each with a number of its own.
fn many(name: &str, count: usize, node_port: impl Fn(usize) -> i32) -> Service {
    let numbers: Vec<i32> = (0..count).map(node_port).collect();
    service(name, "NodePort", &numbers)
}

/// Far above the time of work that is linear in the number of ports, and far below that of
/// quadratic work, which would take hours.
const LINEAR: std::time::Duration = std::time::Duration::from_secs(30);

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "what is tested is how long it takes"
)]
async fn a_service_of_very_many_ports_is_refused_at_once() {
    let allocator = allocator_with(16, 30_000..=32_767);
    let begun = std::time::Instant::now();
    let mut any = many("any", 300_000, |_| 0);
    let message = allocate(&allocator, &mut any).await.expect_err("too many");
    assert!(
        message.contains("failed to allocate a nodePort: range is full"),
        "{message}"
    );
    let mut same = many("same", 300_000, |_| 30_000);
    allocate(&allocator, &mut same)
        .await
        .expect_err("it has it once");

    let mut one = many("one", 1, |_| 30_001);
    allocate(&allocator, &mut one)
        .await
        .expect("there is room")
        .commit()
        .await;
    for node_port in [0, 30_001, 40_000] {
        let mut new = many("one", 300_000, |_| node_port);
        let shared = &allocator.shared;
        let place = shared.finishing.place().await.expect("there is room");
        drop(Allocation::make(shared, &mut new, Some(&one), Some(place)).await);
    }
    assert_eq!(allocated_addresses(&allocator).await, 1);
    assert!(begun.elapsed() < LINEAR, "{:?}", begun.elapsed());
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "what is tested is how long it takes"
)]
async fn a_large_range_is_allocated_to_the_last_port_in_linear_time() {
    let allocator = allocator_with(16, 1..=u16::MAX);
    let begun = std::time::Instant::now();
    let mut all = many("all", usize::from(u16::MAX), |_| 0);
    allocate(&allocator, &mut all)
        .await
        .expect("they are all free")
        .commit()
        .await;
    let mut half = all.clone();
    half.spec.ports.truncate(30_000);
    change(&allocator, &mut half, &all).await;
    let mut more = many("more", usize::from(u16::MAX) - 30_000, |_| 0);
    allocate(&allocator, &mut more)
        .await
        .expect("they were released")
        .commit()
        .await;
    release(&allocator, &more).await;
    assert!(begun.elapsed() < LINEAR, "{:?}", begun.elapsed());
}

#[test]
fn the_low_part_of_a_range_comes_last() {
    let bands = |prefix| {
        let ranges = Ranges {
            network: Ipv4Addr::new(10, 96, 0, 0),
            prefix,
            node_ports: 30_000..=32_767,
        };
        (ranges.address_bands(), ranges.port_bands())
    };
    assert_eq!(bands(16).0, [257..65_535, 1..257]);
    assert_eq!(bands(24).0, [17..255, 1..17]);
    assert_eq!(bands(30).0, [1..3, 1..1]);
    assert_eq!(bands(16).1, [30_086..32_768, 30_000..30_086]);
}
