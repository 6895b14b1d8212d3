//! Warnings about deprecated fields, fields without effect and likely mistakes, with upstream's
//! texts.

use crate::fixture::Fixture;
use kubist_api::apps::v1::Deployment;
use kubist_api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod, Service};
use kubist_api::networking::v1::Ingress;
use kubist_api::node::v1::RuntimeClass;
use kubist_api::storage::v1::{CSIDriver, StorageClass};
use kubist_apimachinery::wire::DecodeContext;
use kubist_apimachinery::{AnyObject, KubeObject, PostOptions};
use kubist_registry::{Created, Replacement};
use serde_json::{Value, json};

fn object<K: KubeObject + AnyObject>(tree: &Value) -> K {
    let text = tree.to_string();
    K::from_json(text.as_bytes(), &mut DecodeContext::new()).expect("it is valid")
}

async fn create<K: KubeObject + AnyObject>(fixture: &Fixture, tree: &Value) -> (K, Vec<String>) {
    let (rest, cx, options) = (fixture.of::<K>(), fixture.cx(), PostOptions::default());
    let object = Box::new(object::<K>(tree));
    let namespace = if rest.facts().namespaced {
        "default"
    } else {
        ""
    };
    let created = rest.create(&cx, namespace, "", object, &options).await;
    let Created::Object(stored) = created.expect("it is only warned of") else {
        panic!("it answers with the object");
    };
    (crate::fixture::typed(&stored), cx.take_warnings())
}

fn spec() -> Value {
    json!({
        "nodeSelector": {"beta.kubernetes.io/os": "linux"},
        "hostAliases": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.4"}],
        "imagePullSecrets": [{"name": "s"}, {"name": "s"}],
        "topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "failure-domain.beta.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway",
        }],
        "volumes": [{"name": "g", "gitRepo": {"repository": "r"}}],
        "containers": [{
            "name": "c", "image": "nginx",
            "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
            "ports": [
                {"containerPort": 80, "name": "web"},
                {"containerPort": 80, "hostPort": 8080},
            ],
            "resources": {"limits": {"memory": "100m"}},
        }, {"name": "d", "image": "nginx", "ports": [{"containerPort": 81, "name": "web"}]}],
    })
}

fn expected(above: &str) -> Vec<String> {
    let expected = [
        "nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" \
         instead",
        "topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is \
         deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
        "topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no \
         pod",
        "volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
        "hostAliases[1].ip: duplicate ip \"1.2.3.4\"",
        "imagePullSecrets[1].name: duplicate name \"s\"",
        "containers[0].resources.limits[memory]: fractional byte value \"100m\" is invalid, must \
         be an integer",
        "containers[0].env[1]: hides previous definition of \"A\", which may be dropped when using \
         apply",
        "containers[0].ports[1]: overlapping port definition with ABOVE.containers[0].ports[0]",
        "containers[1].ports[0]: duplicate port name \"web\" with ABOVE.containers[0].ports[0], \
         services and probes that select ports by name will use ABOVE.containers[0].ports[0]",
    ];
    let expected = expected.iter().map(|it| format!("{above}.{it}"));
    let mut expected: Vec<String> = expected.map(|it| it.replace("ABOVE", above)).collect();
    expected.sort();
    expected
}

#[tokio::test]
async fn pods_are_warned_of_when_they_are_created() {
    let fixture = Fixture::new().await;
    let tree = json!({"metadata": {"name": "a.b"}, "spec": spec()});
    let (_, mut warnings) = create::<Pod>(&fixture, &tree).await;
    let name = warnings
        .iter()
        .position(|it| it.starts_with("metadata.name: this is used in"));
    let name = warnings.remove(name.expect("no label"));
    assert!(name.contains("the Pod's hostname, which can result in surprising behavior; a DNS"));
    // Defaults copy limits to requests.
    warnings.retain(|it| !it.contains("requests"));
    warnings.sort();
    assert_eq!(warnings, expected("spec"));
}

#[tokio::test]
async fn templates_are_warned_of_when_what_is_wanted_changes() {
    let fixture = Fixture::new().await;
    let labels = json!({"a": "b"});
    let tree = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": spec()},
    }});
    let (mut stored, mut warnings) = create::<Deployment>(&fixture, &tree).await;
    warnings.retain(|it| !it.contains("requests"));
    warnings.sort();
    assert_eq!(warnings, expected("spec.template.spec"));
    for (paused, count) in [(false, 0), (true, expected("x").len())] {
        stored.spec.paused = paused;
        stored.metadata.labels.insert("x".into(), "y".into());
        let (rest, cx, options) = (
            fixture.of::<Deployment>(),
            fixture.cx(),
            PostOptions::default(),
        );
        let new = Replacement(Box::new(stored.clone()));
        let updated = rest.update(&cx, "default", "d", &new, &options).await;
        stored = crate::fixture::typed(&updated.expect("it is fine").object);
        let mut warnings = cx.take_warnings();
        warnings.retain(|it| !it.contains("requests"));
        assert_eq!(warnings.len(), count, "{warnings:?}");
    }
}

/// Returns the warnings of creating an object.
async fn of<K: KubeObject + AnyObject>(fixture: &Fixture, tree: Value) -> Vec<String> {
    create::<K>(fixture, &tree).await.1
}

#[tokio::test]
async fn volumes_and_claims_are_warned_of() {
    let fixture = Fixture::new().await;
    let fixture = &fixture;
    let class = json!({"volume.beta.kubernetes.io/storage-class": "old"});
    assert_eq!(
        of::<PersistentVolume>(
            fixture,
            json!({
                "metadata": {"name": "v", "annotations": class},
                "spec": {
                    "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                    "hostPath": {"path": "/x"}, "persistentVolumeReclaimPolicy": "Recycle",
                    "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                        {"key": "beta.kubernetes.io/os", "operator": "In", "values": ["linux"]},
                    ]}]}},
                },
            })
        )
        .await,
        [
            "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; \
             use \"storageClassName\" attribute instead",
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. \
             Instead, the recommended approach is to use dynamic provisioning.",
            "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: \
             beta.kubernetes.io/os is deprecated since v1.14; use \"kubernetes.io/os\" instead",
        ]
    );
    assert_eq!(
        of::<PersistentVolumeClaim>(
            fixture,
            json!({
                "metadata": {"name": "c"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1500m"}, "limits": {"storage": "2500m"}},
                },
            })
        )
        .await,
        [
            "spec.resources.requests[storage]: fractional byte value \"1500m\" is invalid, must be \
             an integer",
            "spec.resources.limits[storage]: fractional byte value \"2500m\" is invalid, must be an \
             integer",
        ]
    );
}

#[tokio::test]
async fn classes_and_drivers_are_warned_of() {
    let fixture = Fixture::new().await;
    let fixture = &fixture;
    assert_eq!(
        of::<StorageClass>(
            fixture,
            json!({
                "metadata": {"name": "s"}, "provisioner": "example.com/disk",
                "allowedTopologies": [{"matchLabelExpressions": [
                    {"key": "failure-domain.beta.kubernetes.io/zone", "values": ["a"]},
                ]}],
            })
        )
        .await,
        [
            "allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use \
             \"topology.kubernetes.io/zone\" instead"
        ]
    );
    assert_eq!(
        of::<CSIDriver>(fixture, json!({
            "metadata": {"name": "d.example.com"}, "spec": {"tokenRequests": [{"audience": "a"}]},
        }))
        .await,
        [
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to \
             true to prevent possible logging of tokens in volume attributes"
        ]
    );
}

#[tokio::test]
async fn services_are_warned_of() {
    let fixture = Fixture::new().await;
    let fixture = &fixture;
    assert_eq!(
        of::<Service>(
            fixture,
            json!({
                "metadata": {
                    "name": "s",
                    "annotations": {"service.kubernetes.io/topology-aware-hints": "auto"},
                },
                "spec": {
                    "type": "LoadBalancer", "ports": [{"port": 80}], "externalIPs": ["1.2.3.4"],
                    "loadBalancerIP": "010.2.3.4",
                },
            })
        )
        .await,
        [
            "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use \
             service.kubernetes.io/topology-mode instead",
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
            "spec.loadBalancerIP: non-standard IP address \"010.2.3.4\" is invalid: use \
             \"10.2.3.4\"",
        ]
    );
    assert_eq!(
        of::<Service>(
            fixture,
            json!({
                "metadata": {"name": "h"},
                "spec": {
                    "clusterIP": "None", "ports": [{"port": 80}], "loadBalancerIP": "1.2.3.4",
                    "sessionAffinity": "ClientIP",
                },
            })
        )
        .await,
        [
            "spec.loadBalancerIP is ignored for headless services",
            "spec.SessionAffinity is ignored for headless services",
        ]
    );
    assert_eq!(
        of::<Service>(
            fixture,
            json!({
                "metadata": {"name": "e"},
                "spec": {
                    "type": "ExternalName", "externalName": "a.example.com",
                    "externalIPs": ["1.2.3.4"],
                },
            })
        )
        .await,
        ["spec.externalIPs is ignored when spec.type is \"ExternalName\""]
    );
}

#[tokio::test]
async fn ingresses_and_what_runs_is_warned_of() {
    let fixture = Fixture::new().await;
    let fixture = &fixture;
    assert_eq!(
        of::<Ingress>(
            fixture,
            json!({
                "metadata": {"name": "i", "annotations": {"kubernetes.io/ingress.class": "nginx"}},
                "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}},
            })
        )
        .await,
        [
            "annotation \"kubernetes.io/ingress.class\" is deprecated, please use \
             'spec.ingressClassName' instead"
        ]
    );
    assert_eq!(
        of::<RuntimeClass>(
            fixture,
            json!({
                "metadata": {"name": "r"}, "handler": "runc",
                "scheduling": {"nodeSelector": {"beta.kubernetes.io/arch": "amd64"}},
            })
        )
        .await,
        ["scheduling.nodeSelector: deprecated since v1.14; use \"kubernetes.io/arch\" instead"]
    );
    let annotation = "container.apparmor.security.beta.kubernetes.io/c";
    assert_eq!(
        of::<Pod>(
            fixture,
            json!({
                "metadata": {"name": "p", "annotations": {annotation: "runtime/default"}},
                "spec": {
                    "containers": [{"name": "c", "image": "nginx"}], "dnsPolicy": "None",
                    "dnsConfig": {"nameservers": ["2001:DB8::1"]},
                },
            })
        )
        .await,
        [
            format!(
                "metadata.annotations[{annotation}]: deprecated since v1.30; use the \
                 \"appArmorProfile\" field instead"
            ),
            "spec.dnsConfig.nameservers[0]: IPv6 address \"2001:DB8::1\" should be in RFC 5952 \
             canonical format (\"2001:db8::1\")"
                .to_owned(),
        ]
    );
}
