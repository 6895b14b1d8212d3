//! Validation of metadata on update, with upstream's error texts.

use super::{Kinds, causes, pod};
use serde_json::{Value, json};

#[tokio::test]
async fn some_kinds_check_metadata_twice_on_update() {
    let kinds = Kinds::new().await;
    for (resource, object) in [
        ("/configmaps", json!({"metadata": {"name": "c"}})),
        ("/secrets", json!({"metadata": {"name": "s"}})),
        ("/pods", pod(json!({}))),
        ("/serviceaccounts", json!({"metadata": {"name": "a"}})),
    ] {
        let stored = kinds.create(resource, object).await;
        let mut named = stored.clone();
        named["metadata"]["generateName"] = json!("X_");
        let refused = kinds.try_update(resource, &named).await;
        let found = causes(&refused.expect_err("it is no prefix of a name"));
        let expected = "metadata.generateName: Invalid value: \"X_\": a lowercase RFC 1123";
        assert!(found[0].starts_with(expected), "{found:?}");
        assert_eq!(found.len(), 1, "{found:?}");
        let mut kept = stored;
        kept["metadata"]["finalizers"] = json!(["x"]);
        let refused = kinds.try_update(resource, &kept).await;
        let expected = "metadata.finalizers[0]: Invalid value: \"x\": name is neither a standard \
                        finalizer name nor is it fully qualified";
        assert_eq!(
            causes(&refused.expect_err("it needs a domain")),
            [expected, expected],
            "{resource}"
        );
    }
}

/// The number of errors for labels, a name prefix and a finalizer.
fn counts() -> Vec<(&'static str, Value, [usize; 3])> {
    let service = json!({"spec": {"ports": [{"port": 80}]}});
    let class = json!({"spec": {"controller": "example.com/it"}});
    let scaler = json!({"spec": {
        "maxReplicas": 2, "scaleTargetRef": {
            "apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}});
    vec![
        ("/configmaps", json!({}), [4, 2, 2]),
        ("/endpoints", json!({}), [4, 2, 2]),
        ("/limitranges", json!({}), [3, 2, 1]),
        ("/namespaces", json!({}), [4, 2, 2]),
        ("/nodes", json!({}), [4, 2, 2]),
        ("/services", service, [3, 1, 1]),
        (
            "apps/controllerrevisions",
            json!({"data": {"a": 1}}),
            [4, 2, 2],
        ),
        ("rbac.authorization.k8s.io/roles", json!({}), [4, 2, 2]),
        (
            "rbac.authorization.k8s.io/clusterroles",
            json!({}),
            [4, 2, 2],
        ),
        ("storage.k8s.io/csinodes", json!({}), [3, 2, 1]),
        (
            "storage.k8s.io/storageclasses",
            json!({"provisioner": "a.example.com"}),
            [4, 2, 2],
        ),
        (
            "discovery.k8s.io/endpointslices",
            json!({"addressType": "IPv4"}),
            [3, 2, 1],
        ),
        ("networking.k8s.io/ingressclasses", class, [4, 2, 2]),
        (
            "node.k8s.io/runtimeclasses",
            json!({"handler": "runc"}),
            [4, 2, 0],
        ),
        (
            "admissionregistration.k8s.io/validatingwebhookconfigurations",
            json!({}),
            [3, 2, 0],
        ),
        ("autoscaling/horizontalpodautoscalers", scaler, [3, 1, 1]),
    ]
}

#[tokio::test]
async fn each_kind_checks_changed_metadata_as_often_as_upstream() {
    let kinds = Kinds::new().await;
    for (resource, mut object, counts) in counts() {
        object["metadata"] = json!({"name": "it"});
        let mut changed = kinds.create(resource, object).await;
        changed["metadata"]["labels"] = json!({"key": "a b"});
        changed["metadata"]["generateName"] = json!("a/b");
        changed["metadata"]["finalizers"] = json!(["plain"]);
        let refused = kinds.try_update(resource, &changed).await;
        let found = causes(&refused.expect_err("three things are wrong"));
        let counted = [
            "metadata.labels: ",
            "metadata.generateName: ",
            "metadata.finalizers[0]: ",
        ]
        .map(|field| found.iter().filter(|it| it.starts_with(field)).count());
        assert_eq!(counted, counts, "{resource}: {found:?}");
    }
}

#[tokio::test]
async fn namespaces_wait_for_finalizers_with_names() {
    let kinds = Kinds::new().await;
    let object = json!({"metadata": {"name": "n"}});
    let mut stored = kinds.create("/namespaces", object).await;
    stored["spec"]["finalizers"] = json!(["odd name"]);
    let refused = kinds
        .try_update_subresource("/namespaces", "finalize", &stored)
        .await;
    let found = causes(&refused.expect_err("it is no name"));
    let expected = "spec.finalizers[0]: Invalid value: \"odd name\": ";
    assert!(found[0].starts_with(&format!("{expected}name part must consist")));
    assert_eq!(
        found[1..],
        [format!(
            "{expected}name is neither a standard finalizer name nor is it fully qualified"
        )]
    );
}

#[tokio::test]
async fn namespaces_are_labelled_with_levels_that_there_are() {
    let kinds = Kinds::new().await;
    let label = "pod-security.kubernetes.io/enforce";
    let object = json!({"metadata": {"name": "n", "labels": {label: "odd"}}});
    assert_eq!(
        kinds.causes("/namespaces", object).await,
        [format!(
            "metadata.labels[{label}]: Invalid value: \"odd\": must be one of privileged, baseline, \
             restricted"
        )]
    );
}

#[tokio::test]
async fn generations_of_slices_count_labels_and_those_of_priorities_count_nothing() {
    let kinds = Kinds::new().await;
    let slice = json!({"metadata": {"name": "s"}, "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.1"]}]});
    let mut slice = kinds.create("discovery.k8s.io/endpointslices", slice).await;
    for (pointer, value, generation) in [
        ("annotations", json!({"a": "b"}), 1),
        ("labels", json!({"a": "b"}), 2),
        ("labels", json!({"a": "c"}), 3),
    ] {
        slice["metadata"][pointer] = value;
        let resource = "discovery.k8s.io/endpointslices";
        slice = kinds
            .try_update(resource, &slice)
            .await
            .expect("it is valid");
        assert_eq!(slice["metadata"]["generation"], generation, "{pointer}");
    }
    let resource = "scheduling.k8s.io/priorityclasses";
    let class = json!({"metadata": {"name": "c"}, "value": 7});
    let mut class = kinds.create(resource, class).await;
    class["description"] = json!("it is described");
    let class = kinds
        .try_update(resource, &class)
        .await
        .expect("it is valid");
    assert_eq!(class["description"], "it is described");
    assert_eq!(class["metadata"]["generation"], 1);
}

#[tokio::test]
async fn a_limit_range_without_a_name_is_named_by_a_uuid_of_its_own() {
    let kinds = Kinds::new().await;
    let object = json!({"spec": {"limits": []}});
    let first = kinds.create("/limitranges", object.clone()).await;
    let second = kinds.create("/limitranges", object).await;
    let name = first["metadata"]["name"].as_str().expect("it has a name");
    assert_eq!((name.len(), name.split('-').count()), (36, 5), "{name}");
    assert_ne!(first["metadata"]["name"], first["metadata"]["uid"]);
    assert_ne!(first["metadata"]["name"], second["metadata"]["name"]);
}
