//! Definitions whose objects would share a storage prefix with built-in resources.

use super::*;
use kubist_api::core::v1::{Node, Secret};
use kubist_storage::KvWrite;
use kubist_storage::{Expected, PutRequest};

fn in_group(plural: &str, kind: &str, group: &str) -> CustomResourceDefinition {
    let mut definition = definition(plural, kind, &versions());
    definition.metadata.name = format!("{plural}.{group}").into();
    definition.spec.group = group.into();
    definition
}

fn approved(mut definition: CustomResourceDefinition, text: &str) -> CustomResourceDefinition {
    let annotations = &mut definition.metadata.annotations;
    annotations.insert("api-approved.kubernetes.io".into(), text.into());
    definition
}

/// Stores a definition as a server without these checks did, including its status.
async fn store_old(fixture: &Fixture, definition: &CustomResourceDefinition) {
    let names = json!({
        "plural": definition.spec.names.plural, "singular": "old",
        "kind": definition.spec.names.kind, "listKind": "OldList",
    });
    let condition = |kind: &str| {
        json!({"type": kind, "status": "True", "reason": "x", "message": "y",
            "lastTransitionTime": "2023-01-01T00:00:00Z"})
    };
    let tree = json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1beta1",
        "metadata": {"name": definition.metadata.name, "uid": "old-uid",
            "creationTimestamp": "2023-01-01T00:00:00Z"},
        "spec": {
            "group": definition.spec.group, "names": names, "scope": "Namespaced",
            "version": "v1", "versions": [{"name": "v1", "served": true, "storage": true}],
            "validation": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            "preserveUnknownFields": definition.spec.preserve_unknown_fields,
            "conversion": {"strategy": "None"},
        },
        "status": {"acceptedNames": names, "storedVersions": ["v1"],
            "conditions": [condition("NamesAccepted"), condition("Established")]},
    });
    let name = &definition.metadata.name;
    let key = format!("/registry/apiextensions.k8s.io/customresourcedefinitions/{name}");
    let put = PutRequest::new(key, tree.to_string(), Expected::Any);
    fixture.kv.put(put).await.expect("it answers");
}

#[tokio::test]
async fn a_group_without_a_dot_is_refused() {
    let fixture = Fixture::new().await;
    for (plural, group) in [("bs", "secrets"), ("specs", "services"), ("bs", "minions")] {
        let refused = fixture.try_create(in_group(plural, "B", group)).await;
        let refused = refused.expect_err("it is a folder of built-in objects");
        assert_eq!(refused.code, 422);
        let expected = format!(
            "CustomResourceDefinition.apiextensions.k8s.io \"{plural}.{group}\" is invalid: \
             spec.group: Invalid value: \"{group}\": should be a domain with at least one dot"
        );
        assert_eq!(refused.message, expected);
    }
}

#[tokio::test]
async fn a_definition_of_definitions_is_refused_though_it_says_that_it_is_unapproved() {
    let fixture = Fixture::new().await;
    let group = "apiextensions.k8s.io";
    let twin = in_group("customresourcedefinitions", "Twin", group);
    let refused = fixture
        .try_create(approved(twin, "unapproved, a test"))
        .await;
    let refused = refused.expect_err("its objects would be definitions");
    assert_eq!(refused.code, 422);
    assert!(
        refused
            .message
            .contains("its objects would be stored among those in")
    );
}

#[tokio::test]
async fn a_protected_group_needs_an_approval_or_the_lack_of_one() {
    let (fixture, task) = following().await;
    let of = |plural: &str| in_group(plural, &format!("Kind{plural}"), "example.k8s.io");
    let missing = fixture
        .try_create(of("as"))
        .await
        .expect_err("it says nothing");
    assert_eq!(
        missing.message,
        "CustomResourceDefinition.apiextensions.k8s.io \"as.example.k8s.io\" is invalid: \
         metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must \
         have approval annotation \"api-approved.kubernetes.io\", see \
         https://github.com/kubernetes/enhancements/pull/1111"
    );
    let invalid = fixture.try_create(approved(of("as"), "sure")).await;
    assert_eq!(
        invalid.expect_err("it says nothing").message,
        "CustomResourceDefinition.apiextensions.k8s.io \"as.example.k8s.io\" is invalid: \
         metadata.annotations[api-approved.kubernetes.io]: Invalid value: \"sure\": protected \
         groups must have approval annotation \"api-approved.kubernetes.io\" with either a URL or \
         a reason starting with \"unapproved\", see \
         https://github.com/kubernetes/enhancements/pull/1111"
    );
    fixture
        .create(approved(of("as"), "https://example.com/1"))
        .await;
    fixture
        .create(approved(of("bs"), "unapproved, a test"))
        .await;
    let kind = "KubernetesAPIApprovalPolicyConformant";
    let found = condition(&fixture, "as.example.k8s.io", kind).await;
    assert_eq!(found, ("True".into(), "ApprovedAnnotation".into()));
    let found = condition(&fixture, "bs.example.k8s.io", kind).await;
    assert_eq!(found, ("False".into(), "UnapprovedAnnotation".into()));
    until(async || fixture.registry.resource("example.k8s.io", "v1", "bs")).await;

    // The annotation from creation is not checked again, but a change of it is.
    let mut changed = cluster_get(&fixture, "as.example.k8s.io")
        .await
        .expect("it is there");
    changed.metadata.annotations.clear();
    let refused = fixture.put(changed).await.expect_err("it says nothing now");
    assert_eq!(refused.code, 422);
    drop(task);
}

#[tokio::test]
async fn names_of_what_is_built_in_are_taken() {
    let (fixture, task) = following().await;
    for (plural, kind, reason) in [
        ("ingresses", "Entrance", "PluralConflict"),
        ("entrances", "Ingress", "KindConflict"),
    ] {
        let mut definition = in_group(plural, kind, "networking.k8s.io");
        definition.spec.names.singular = format!("one-of-{plural}").into();
        definition.spec.names.list_kind = format!("{kind}Entries").into();
        let name = definition.metadata.name.clone();
        fixture
            .create(approved(definition, "unapproved, a test"))
            .await;
        let accepted = condition(&fixture, &name, "NamesAccepted").await;
        assert_eq!(accepted, ("False".into(), reason.into()));
    }
    drop(task);
}

#[tokio::test]
async fn old_definitions_over_built_in_storage_are_not_served_and_touch_nothing() {
    let (fixture, task) = following().await;
    let mut secret = Secret::default();
    secret.metadata.name = "s".into();
    secret.metadata.namespace = "default".into();
    fixture.create(secret).await;
    let mut node = Node::default();
    node.metadata.name = "n".into();
    fixture.create(node).await;
    let twins = "customresourcedefinitions";
    let old = [
        in_group("default", "B", "secrets"),
        in_group("n", "B", "minions"),
        in_group(twins, "Twin", "apiextensions.k8s.io"),
    ];
    for definition in &old {
        store_old(&fixture, definition).await;
    }
    for definition in &old {
        let name = &definition.metadata.name;
        let not_served = ("False".to_owned(), "NoPlaceInStorage".to_owned());
        until(async || {
            let found = condition(&fixture, name, "Established").await;
            (found == not_served).then_some(())
        })
        .await;
        let (group, plural) = (&definition.spec.group, &definition.spec.names.plural);
        if *plural != *twins {
            let served = fixture.registry.resource(group, "v1", plural);
            assert!(served.is_none(), "{name}");
        }
    }
    // Their deletion removes no other objects.
    for definition in &old {
        let name = &definition.metadata.name;
        let deleted = fixture
            .delete::<CustomResourceDefinition>(name, DeleteOptions::default())
            .await;
        deleted.expect("it begins");
        until(async || cluster_get(&fixture, name).await.err()).await;
    }
    fixture.get::<Secret>("s").await.expect("it is there");
    fixture.get::<Node>("n").await.expect("it is there");
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    served(&fixture, "v1").await;
    drop(task);
}

#[tokio::test]
async fn a_registry_that_begins_on_old_definitions_serves_none_of_them() {
    let fixture = Fixture::new().await;
    store_old(&fixture, &in_group("default", "B", "secrets")).await;
    let config = kubist_registry::RegistryConfig::new(
        Arc::new(fixture.kv.clone()),
        kubist_kinds::BuiltIn::shared(),
    );
    let second = kubist_registry::Registry::new(config);
    second.start().await.expect("the rest is there");
    assert!(second.resource("secrets", "v1", "default").is_none());
    assert!(!second.groups().iter().any(|it| it.name == *"secrets"));
}

#[tokio::test]
async fn an_old_definition_that_is_not_structural_says_so_until_it_is() {
    let (fixture, task) = following().await;
    let mut old = in_group("gadgets", "Gadget", "example.com");
    old.spec.preserve_unknown_fields = true;
    store_old(&fixture, &old).await;
    let name = old.metadata.name.clone();
    let found = condition(&fixture, &name, "NonStructuralSchema").await;
    assert_eq!(found, ("True".to_owned(), "Violations".to_owned()));
    until(async || {
        let mut mended = cluster_get(&fixture, &name).await.expect("it is there");
        mended.spec.preserve_unknown_fields = false;
        match fixture.put(mended).await {
            Err(status) if status.is_conflict() => None,
            other => {
                other.expect("it is valid");
                Some(())
            }
        }
    })
    .await;
    until(async || {
        let now = cluster_get(&fixture, &name).await.expect("it is there");
        let mut conditions = now.status.conditions.iter();
        let has_it = conditions.any(|it| it.type_ == *"NonStructuralSchema");
        (!has_it).then_some(())
    })
    .await;
    drop(task);
}
