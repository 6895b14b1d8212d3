//! Warnings of what is deprecated, does nothing, or is probably a mistake, in upstream's words.

use crate::fixture::Fixture;
use kubist_api::apps::v1::Deployment;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{DecodeContext, merge_json};
use kubist_apimachinery::{AnyObject, KubeObject, PostOptions};
use kubist_registry::{Created, Replacement};
use serde_json::{Value, json};

fn object<K: KubeObject + AnyObject>(tree: &Value) -> K {
    let mut object = K::default();
    let text = tree.to_string();
    merge_json(&mut object, text.as_bytes(), &mut DecodeContext::new()).expect("it is valid");
    object
}

async fn create<K: KubeObject + AnyObject>(fixture: &Fixture, tree: &Value) -> (K, Vec<String>) {
    let (rest, cx, options) = (fixture.of::<K>(), fixture.cx(), PostOptions::default());
    let object = Box::new(object::<K>(tree));
    let created = rest.create(&cx, "default", "", object, &options).await;
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
    // Defaults make a request of the limit.
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
