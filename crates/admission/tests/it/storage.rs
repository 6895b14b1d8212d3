//! The plugins of storage and of Services.

use crate::fixture::{CLAIMS, Fixture, Of};
use serde_json::{Value, json};

const CLASSES: Of = ("storage.k8s.io", "v1", "storageclasses");
const INGRESSES: Of = ("networking.k8s.io", "v1", "ingresses");
const INGRESS_CLASSES: Of = ("networking.k8s.io", "v1", "ingressclasses");
const SERVICES: Of = ("", "v1", "services");

fn class(name: &str, expands: bool) -> Value {
    let mark = "storageclass.kubernetes.io/is-default-class";
    json!({
        "metadata": {"name": name, "annotations": {mark: "true"}},
        "provisioner": "example.com/disk",
        "allowVolumeExpansion": expands,
    })
}

fn claim(size: &str) -> Value {
    json!({
        "metadata": {"name": "c"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
        },
    })
}

#[tokio::test]
async fn claims_get_the_default_class_and_are_protected() {
    let fixture = Fixture::new().await;
    for name in ["b", "a"] {
        let created = fixture.create(CLASSES, class(name, true)).await;
        created.expect("it is valid");
    }
    let created = fixture.create(CLAIMS, claim("1Gi")).await;
    let created = created.expect("it is valid");
    // They are as new as each other.
    assert_eq!(created["spec"]["storageClassName"], "a");
    assert_eq!(
        created["metadata"]["finalizers"],
        json!(["kubernetes.io/pvc-protection"])
    );
}

#[tokio::test]
async fn only_bound_claims_of_a_class_that_allows_it_grow() {
    let fixture = Fixture::new().await;
    let created = fixture.create(CLASSES, class("fixed", false)).await;
    created.expect("it is valid");
    let created = fixture.create(CLAIMS, claim("1Gi")).await;
    let mut claim = created.expect("it is valid");
    let grown = |claim: &Value| {
        let mut claim = claim.clone();
        claim["spec"]["resources"]["requests"]["storage"] = "2Gi".into();
        claim
    };
    let status = fixture.put(CLAIMS, "", grown(&claim)).await;
    let message = status.expect_err("it is not bound").message;
    let unbound = "Only bound persistent volume claims can be expanded";
    // Validation refuses it first, as upstream's.
    assert!(
        message.contains("spec is immutable") || message.contains(unbound),
        "{message}"
    );
    claim["status"]["phase"] = "Bound".into();
    let bound = fixture.put(CLAIMS, "status", claim).await;
    let bound = bound.expect("it is valid");
    let status = fixture.put(CLAIMS, "", grown(&bound)).await;
    assert_eq!(
        status.expect_err("its class is fixed").message,
        "persistentvolumeclaims \"c\" is forbidden: only dynamically provisioned pvc can be \
         resized and the storageclass that provisions the pvc must support resize"
    );
}

#[tokio::test]
async fn ingresses_get_the_default_class() {
    let fixture = Fixture::new().await;
    let mark = "ingressclass.kubernetes.io/is-default-class";
    let class = json!({
        "metadata": {"name": "web", "annotations": {mark: "true"}},
        "spec": {"controller": "example.com/web"},
    });
    let created = fixture.create(INGRESS_CLASSES, class).await;
    created.expect("it is valid");
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    let ingress = json!({"metadata": {"name": "i"}, "spec": {"defaultBackend": backend}});
    let created = fixture.create(INGRESSES, ingress).await;
    let created = created.expect("it is valid");
    assert_eq!(created["spec"]["ingressClassName"], "web");
}

#[tokio::test]
async fn external_addresses_are_denied_where_that_is_enabled() {
    let fixture = Fixture::enabled(&["DenyServiceExternalIPs"]).await;
    let service = json!({
        "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 80}], "externalIPs": ["192.0.2.1"]},
    });
    let status = fixture.create(SERVICES, service).await;
    assert_eq!(
        status.expect_err("it is denied").message,
        "services \"s\" is forbidden: Use of external IPs is denied by admission control"
    );
}
