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
async fn a_service_keeps_its_address_until_it_is_deleted() {
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
async fn allocations_survive_a_restart() {
    let fixture = Fixture::new().await;
    let web: Service = fixture.create(service("web", "ClusterIP")).await;
    let registry = Registry::new(RegistryConfig::new(
        Arc::new(fixture.kv.clone()),
        kubist_kinds::BuiltIn::shared(),
    ));
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

fn families(service: &Service) -> (Option<&str>, Vec<&str>) {
    let families = service.spec.ip_families.iter().map(|it| &**it);
    (service.spec.ip_family_policy.as_deref(), families.collect())
}

#[tokio::test]
async fn a_headless_service_without_selector_may_have_both_families() {
    let fixture = Fixture::new().await;
    let both = vec!["IPv4", "IPv6"];
    for (index, (policy, asked, expected)) in [
        (None, &[][..], (Some("RequireDualStack"), both.clone())),
        (
            Some("SingleStack"),
            &[],
            (Some("SingleStack"), vec!["IPv4"]),
        ),
        (
            Some("PreferDualStack"),
            &[],
            (Some("PreferDualStack"), both.clone()),
        ),
        (
            Some("RequireDualStack"),
            &[],
            (Some("RequireDualStack"), both.clone()),
        ),
        (
            None,
            &["IPv6"],
            (Some("RequireDualStack"), vec!["IPv6", "IPv4"]),
        ),
        (
            Some("SingleStack"),
            &["IPv6"],
            (Some("SingleStack"), vec!["IPv6"]),
        ),
        (
            Some("RequireDualStack"),
            &["IPv4", "IPv6"],
            (Some("RequireDualStack"), both),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let mut headless = service(&format!("h{index}"), "ClusterIP");
        headless.spec.cluster_ip = "None".into();
        headless.spec.ip_family_policy = policy.map(Into::into);
        headless.spec.ip_families = asked.iter().map(|it| (*it).into()).collect();
        let created = fixture.try_create(headless.clone()).await;
        let created: Service = typed(&created.unwrap_or_else(|it| panic!("{policy:?}: {it}")));
        assert_eq!(families(&created), expected, "{policy:?} {asked:?}");
        // Fields that an update omits keep their values.
        headless.spec.ip_family_policy = created.spec.ip_family_policy.clone();
        let updated = fixture.put(headless).await.expect("nothing changes");
        assert_eq!(typed::<Service>(&updated.object).spec, created.spec);
    }
}

#[tokio::test]
async fn a_service_with_a_selector_has_the_family_of_the_cluster() {
    let fixture = Fixture::new().await;
    let refused = async |policy: Option<&str>, asked: &[&str]| {
        let mut headless = service("h", "ClusterIP");
        headless.spec.cluster_ip = "None".into();
        headless.spec.selector.insert("a".into(), "b".into());
        headless.spec.ip_family_policy = policy.map(Into::into);
        headless.spec.ip_families = asked.iter().map(|it| (*it).into()).collect();
        let refused = fixture.try_create(headless).await.expect_err("one family");
        refused.message.to_string()
    };
    let prefix = "Service \"h\" is invalid: spec.";
    for (policy, asked, message) in [
        (
            Some("RequireDualStack"),
            &[][..],
            "ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured \
             for dual-stack services",
        ),
        (
            None,
            &["IPv6"],
            "ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster",
        ),
        (
            Some("Both"),
            &["IPv4"],
            "ipFamilyPolicy: Unsupported value: \"Both\": supported values: \"PreferDualStack\", \
             \"RequireDualStack\", \"SingleStack\"",
        ),
        (
            None,
            &["IPv4", "IPv4"],
            "ipFamilies[1]: Duplicate value: \"IPv4\"",
        ),
        (
            None,
            &["ipv4"],
            "ipFamilies[0]: Unsupported value: \"ipv4\": supported values: \"IPv4\", \"IPv6\"",
        ),
    ] {
        assert_eq!(refused(policy, asked).await, format!("{prefix}{message}"));
    }
}
