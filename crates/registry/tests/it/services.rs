//! Addresses and ports of services, from create to delete.

use crate::fixture::{Fixture, typed};
use kubist_api::core::v1::{Service, ServicePort};
use kubist_apimachinery::{DeleteOptions, IntOrString};
use kubist_registry::{Registry, RegistryConfig};
use std::sync::Arc;

fn service(name: &str, type_: &str) -> Service {
    let mut service = Service::default();
    service.metadata.name = name.into();
    service.spec.type_ = type_.into();
    service.spec.session_affinity = "None".into();
    service.spec.ports.push(ServicePort {
        protocol: "TCP".into(),
        port: 80,
        target_port: IntOrString::Int(80),
        ..ServicePort::default()
    });
    service
}

#[tokio::test]
async fn a_service_keeps_its_address_and_gives_it_back() {
    let fixture = Fixture::new().await;
    let web: Service = fixture.create(service("web", "NodePort")).await;
    assert!(web.spec.cluster_ip.starts_with("10.96."));
    assert!((30_000..=32_767).contains(&web.spec.ports[0].node_port));

    let updated = fixture.put(service("web", "NodePort")).await.expect("fine");
    assert_eq!(typed::<Service>(&updated.object).spec, web.spec);

    let mut thief = service("thief", "ClusterIP");
    thief.spec.cluster_ip = web.spec.cluster_ip.clone();
    let status = fixture
        .try_create(thief.clone())
        .await
        .expect_err("it is taken");
    assert!(
        status.message.contains("provided IP is already allocated"),
        "{status}"
    );

    fixture
        .delete::<Service>("web", DeleteOptions::default())
        .await
        .expect("fine");
    fixture.try_create(thief).await.expect("it is free again");
}

#[tokio::test]
async fn a_restart_remembers_what_is_taken() {
    let fixture = Fixture::new().await;
    let web: Service = fixture.create(service("web", "ClusterIP")).await;
    let registry = Registry::new(RegistryConfig::new(Arc::new(fixture.kv.clone())));
    registry.start().await.expect("all is there");
    let fixture = Fixture {
        registry,
        kv: fixture.kv.clone(),
        clock: Arc::clone(&fixture.clock),
    };
    let mut thief = service("thief", "ClusterIP");
    thief.spec.cluster_ip = web.spec.cluster_ip;
    let status = fixture.try_create(thief).await.expect_err("it is taken");
    assert!(
        status.message.contains("provided IP is already allocated"),
        "{status}"
    );
}

#[tokio::test]
async fn a_dry_run_takes_nothing() {
    let fixture = Fixture::new().await;
    let mut web = service("web", "ClusterIP");
    web.spec.cluster_ip = "10.96.7.7".into();
    fixture
        .create_in("default", web.clone(), true)
        .await
        .expect("it is free");
    web.metadata.name = "other".into();
    fixture.try_create(web).await.expect("it is still free");
}

#[tokio::test]
async fn there_is_one_family_of_addresses() {
    let fixture = Fixture::new().await;
    let mut web = service("web", "ClusterIP");
    web.spec.ip_family_policy = Some("RequireDualStack".into());
    let status = fixture
        .try_create(web)
        .await
        .expect_err("there is no second");
    assert_eq!(
        status.message,
        "Service \"web\" is invalid: spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": \
         this cluster is not configured for dual-stack services"
    );
}
