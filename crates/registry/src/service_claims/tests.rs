//! What services are allotted, and when it goes back.

use super::*;
use kubist_api::core::v1::ServicePort;

fn claims(prefix: u32) -> ServiceClaims {
    let ranges = Ranges {
        network: Ipv4Addr::new(10, 96, 0, 0),
        prefix,
        node_ports: 30_000..=30_003,
    };
    ServiceClaims::new(ranges, Arc::new(Random::new(3)))
}

fn service(name: &str, type_: &str, ports: &[i32]) -> Service {
    let mut service = Service::default();
    service.metadata.namespace = "ns".into();
    service.metadata.name = name.into();
    service.spec.type_ = type_.into();
    for port in ports {
        service.spec.ports.push(ServicePort {
            port: 80,
            node_port: *port,
            ..ServicePort::default()
        });
    }
    service
}

impl Claim {
    fn keep(self) {
        Box::new(self).commit();
    }
}

fn claim(claims: &ServiceClaims, new: &mut Service) -> Result<Claim, String> {
    claims
        .claim(new, None)
        .map_err(|status| status.message.to_string())
}

#[test]
fn a_service_gets_an_address_and_keeps_it() {
    let claims = claims(16);
    let mut web = service("web", "", &[]);
    claim(&claims, &mut web).expect("there is room").keep();
    let address: Ipv4Addr = web.spec.cluster_ip.parse().expect("it is an address");
    assert!(claims.ranges.contains(address));
    assert_eq!(web.spec.cluster_ips, [web.spec.cluster_ip.clone()]);
    assert_eq!(web.spec.ip_families, ["IPv4"]);

    let mut changed = service("web", "", &[]);
    claims
        .claim(&mut changed, Some(&web))
        .expect("it is its own")
        .keep();
    assert_eq!(changed.spec.cluster_ip, web.spec.cluster_ip);
}

#[test]
fn an_address_is_given_to_one_service_only_until_it_is_released() {
    let claims = claims(30);
    let [mut one, mut two, mut three] =
        ["one", "two", "three"].map(|name| service(name, "ClusterIP", &[]));
    claim(&claims, &mut one).expect("there is room").keep();
    claim(&claims, &mut two).expect("there is room").keep();
    assert_ne!(one.spec.cluster_ip, two.spec.cluster_ip);
    let full = claim(&claims, &mut three).expect_err("two addresses are all");
    assert!(full.contains("range is full"), "{full}");

    three.spec.cluster_ip = one.spec.cluster_ip.clone();
    let taken = claim(&claims, &mut three).expect_err("it is taken");
    assert!(
        taken.contains("provided IP is already allocated"),
        "{taken}"
    );
    let kind = kubist_api::find_kind("", "v1", "Service").expect("it is built in");
    claims.release(&Stored::from_object(kind, 1, Box::new(one)));
    claim(&claims, &mut three).expect("it is free again").keep();
}

#[test]
fn what_a_failed_write_was_given_goes_back() {
    let claims = claims(30);
    for _ in 0..5 {
        let mut web = service("web", "NodePort", &[0, 0]);
        drop(claim(&claims, &mut web).expect("there is room"));
    }
    let taken = claims.taken.lock();
    assert!(taken.addresses.is_empty() && taken.ports.is_empty());
}

#[test]
fn node_ports_come_from_their_range() {
    let claims = claims(16);
    let mut web = service("web", "NodePort", &[0, 30_001]);
    claim(&claims, &mut web).expect("there is room").keep();
    assert!((30_000..=30_003).contains(&web.spec.ports[0].node_port));
    let mut other = service("other", "NodePort", &[30_001]);
    let message = claim(&claims, &mut other).expect_err("it is taken");
    assert!(message.ends_with(
        "spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated"
    ));
    let mut outside = service("outside", "NodePort", &[80]);
    let message = claim(&claims, &mut outside).expect_err("it is outside");
    assert!(
        message.ends_with("The range of valid ports is 30000-30003"),
        "{message}"
    );
}

#[test]
fn node_ports_run_out_and_protocols_do_not_share_them() {
    let claims = claims(16);
    let mut all = service("all", "NodePort", &[0, 0, 0, 0]);
    claim(&claims, &mut all).expect("there are four").keep();
    let mut more = service("more", "NodePort", &[0]);
    let message = claim(&claims, &mut more).expect_err("all are taken");
    assert!(message.contains("range is full"), "{message}");
    // One name service answers on one port in both protocols.
    let mut udp = service("udp", "NodePort", &[30_000]);
    udp.spec.ports[0].protocol = "UDP".into();
    claim(&claims, &mut udp)
        .expect("nobody has it in UDP")
        .keep();
    let kind = kubist_api::find_kind("", "v1", "Service").expect("it is built in");
    claims.release(&Stored::from_object(kind, 1, Box::new(all)));
    claim(&claims, &mut more).expect("they are back").keep();
}

#[test]
fn headless_and_external_services_get_no_address() {
    let claims = claims(16);
    let mut headless = service("h", "ClusterIP", &[]);
    headless.spec.cluster_ip = "None".into();
    claim(&claims, &mut headless)
        .expect("it needs nothing")
        .keep();
    assert_eq!(headless.spec.cluster_ips, ["None"]);
    let mut external = service("e", "ExternalName", &[]);
    claim(&claims, &mut external)
        .expect("it needs nothing")
        .keep();
    assert_eq!(
        (&*external.spec.cluster_ip, external.spec.ip_families.len()),
        ("", 0)
    );
    assert!(claims.taken.lock().addresses.is_empty());
}

#[test]
fn a_service_that_becomes_external_drops_its_address() {
    let claims = claims(16);
    let mut web = service("web", "ClusterIP", &[]);
    claim(&claims, &mut web).expect("there is room").keep();
    let mut external = web.clone();
    external.spec.type_ = "ExternalName".into();
    claims
        .claim(&mut external, Some(&web))
        .expect("it needs nothing")
        .keep();
    assert_eq!(
        (&*external.spec.cluster_ip, external.spec.ip_family_policy),
        ("", None)
    );
}
