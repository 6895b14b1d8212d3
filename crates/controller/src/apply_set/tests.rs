//! The id of a parent, and what is read from its annotations.

use super::parent::{ApplySetParent, Membership};
use super::{ApplySetError, PART_OF};
use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::{ObjectMeta, ObjectName};
use std::collections::BTreeMap;

const TOOL: &str = "op/v1";

fn parent() -> ApplySetParent {
    let mut map = ConfigMap::default();
    map.metadata.name = "set".into();
    map.metadata.namespace = "shop".into();
    ApplySetParent::of(&map)
}

fn found(id: &str, annotations: &[(&str, &str)]) -> ObjectMeta {
    let annotation = |(name, value): &(&str, &str)| {
        (
            format!("applyset.kubernetes.io/{name}").into(),
            (*value).into(),
        )
    };
    ObjectMeta {
        labels: BTreeMap::from([("applyset.kubernetes.io/id".into(), id.into())]),
        annotations: annotations.iter().map(annotation).collect(),
        ..ObjectMeta::default()
    }
}

#[test]
fn the_id_is_a_hash_of_name_namespace_kind_and_group() {
    // What `kubectl apply --applyset=configmap/set -n shop` writes.
    let expected = "applyset-7fFB87CRhJ5TNi_w4TDPYDEGqjgqS1PzgLi-dyqcOv4-v1";
    assert_eq!(&**parent().id(), expected);
    assert!(PART_OF.ends_with("/part-of"));
}

#[test]
fn kinds_and_namespaces_are_read_and_united() {
    let kinds = [
        ("tooling", "op/v0"),
        ("contains-group-kinds", "ConfigMap, Deployment.apps"),
    ];
    let before = parent()
        .membership(&found(parent().id(), &kinds), TOOL)
        .expect("it is a set");
    let kinds: Vec<String> = before.kinds().map(|it| it.to_string()).collect();
    assert_eq!(kinds, ["ConfigMap", "Deployment.apps"]);
    let members = [
        ("Secret".to_owned(), "shop"),
        ("ConfigMap".to_owned(), "other"),
    ];
    let now = Membership::of(members.into_iter(), "shop");
    let both = now.union(&before);
    assert_eq!(both.kinds().count(), 3);
    assert_eq!(both.namespaces(&"shop".into()), ["shop", "other"]);
    assert_eq!(both.namespaces(&"".into()), ["other"]);
}

#[test]
fn a_parent_without_the_label_has_no_members_yet() {
    let none = parent()
        .membership(&ObjectMeta::default(), TOOL)
        .expect("it may become one");
    assert_eq!(none, Membership::default());
}

#[test]
fn the_set_of_another_tool_or_parent_or_form_is_refused() {
    let id = parent().id().clone();
    let error = parent().membership(&found(&id, &[("tooling", "kubectl/v1.33")]), TOOL);
    let error = error.expect_err("another tool");
    let ApplySetError::OtherTool { parent: name, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*name, ObjectName::new("shop", "set"));
    let error = parent().membership(&found("another", &[("tooling", TOOL)]), TOOL);
    let error = error.expect_err("another parent").to_string();
    assert!(
        error.contains("applyset.kubernetes.io/id is \"another\""),
        "{error}"
    );
    let old = [
        ("tooling", TOOL),
        ("contains-group-resources", "configmaps"),
    ];
    let error = parent().membership(&found(&id, &old), TOOL);
    let error = error.expect_err("an old form").to_string();
    assert!(error.contains("contains-group-resources"), "{error}");
}
