//! Types of built-in kinds that applies depend on.

use kubist_api::apps::v1::Deployment;
use kubist_api::core::v1::{PersistentVolume, Pod, Secret, Service};
use kubist_apimachinery::wire::{self, Wire};
use kubist_field_manager::schema::{Atom, Relationship, Scalar, Schema, TypeRef};
use serde_json::json;
use std::sync::Arc;

/// Returns the type at a path; `[]` stands for the items of a list, `*` for other members.
fn at(root: &'static wire::Schema, path: &str) -> Atom {
    let schema = Schema::from_wire([root]);
    let mut type_ref = TypeRef::of_wire(root);
    for segment in path.split('.') {
        let atom = schema.resolve(&type_ref).expect("the type is known");
        type_ref = match (segment, &atom.list, &atom.map) {
            ("[]", Some(list), _) => list.element_type.clone(),
            (name, _, Some(map)) => map.type_of(name).clone(),
            (name, ..) => panic!("{path}: there is no {name}"),
        };
    }
    let atom = schema.resolve(&type_ref).expect("the type is known");
    atom.into_owned()
}

#[test]
fn kinds_with_the_same_types_can_share_them() {
    let pod = Schema::from_wire([Pod::SCHEMA]);
    let mut deployment = Schema::from_wire([Deployment::SCHEMA]);
    let map = |schema: &Schema, name: &str| {
        let type_ref = TypeRef::named(name);
        let atom = schema.resolve(&type_ref).expect("the type is known");
        atom.into_owned().map.expect("it is an object")
    };
    let (spec, own) = ("io.k8s.api.core.v1.PodSpec", Deployment::SCHEMA.full_name);
    let before = map(&deployment, own);
    assert!(!Arc::ptr_eq(&map(&pod, spec), &map(&deployment, spec)));
    deployment.share_types(&pod);
    assert!(Arc::ptr_eq(&map(&pod, spec), &map(&deployment, spec)));
    assert!(Arc::ptr_eq(&before, &map(&deployment, own)));
}

#[test]
fn lists_are_sets_have_keys_or_are_atomic() {
    let list = |root, path| {
        let list = at(root, path).list.expect("it is a list");
        (list.relationship, list.keys.clone())
    };
    let (granular, atomic) = (Relationship::Granular, Relationship::Atomic);
    let of_service = list(Service::SCHEMA, "spec.ports");
    assert_eq!(
        of_service,
        (granular, vec!["port".into(), "protocol".into()])
    );
    let finalizers = list(Pod::SCHEMA, "metadata.finalizers");
    assert_eq!(finalizers, (granular, vec![]));
    let tolerations = list(Deployment::SCHEMA, "spec.template.spec.tolerations");
    assert_eq!(tolerations, (atomic, vec![]));
}

#[test]
fn key_fields_have_defaults() {
    let ports = at(Pod::SCHEMA, "spec.containers.[].ports.[]").map;
    let ports = ports.expect("it is an object");
    let default = |name| ports.field(name).and_then(|it| it.default.clone());
    assert_eq!(default("protocol"), Some(json!("TCP")));
    assert_eq!(default("containerPort"), Some(json!(0)));
    assert_eq!(default("hostIP"), None);
}

#[test]
fn maps_and_objects_are_granular_or_atomic() {
    let map = |root, path| at(root, path).map.expect("it is a map").relationship;
    for (root, path, expected) in [
        (Service::SCHEMA, "spec.selector", Relationship::Atomic),
        (Service::SCHEMA, "metadata.labels", Relationship::Granular),
        (Deployment::SCHEMA, "spec.selector", Relationship::Atomic),
        (Deployment::SCHEMA, "spec.template", Relationship::Granular),
        // The type is atomic elsewhere.
        (
            PersistentVolume::SCHEMA,
            "spec.claimRef",
            Relationship::Granular,
        ),
        (Pod::SCHEMA, "spec.nodeSelector", Relationship::Atomic),
    ] {
        assert_eq!(map(root, path), expected, "{path}");
    }
}

#[test]
fn scalars_are_of_their_json_types() {
    let scalar = |root, path| at(root, path).scalar;
    for (root, path, expected) in [
        (Secret::SCHEMA, "data.*", Scalar::String),
        (Secret::SCHEMA, "immutable", Scalar::Boolean),
        (Pod::SCHEMA, "metadata.creationTimestamp", Scalar::Untyped),
        (
            Pod::SCHEMA,
            "spec.containers.[].resources.limits.*",
            Scalar::Untyped,
        ),
        (Service::SCHEMA, "spec.ports.[].targetPort", Scalar::Untyped),
        (Service::SCHEMA, "spec.ports.[].port", Scalar::Numeric),
        (Service::SCHEMA, "apiVersion", Scalar::String),
    ] {
        assert_eq!(scalar(root, path), Some(expected), "{path}");
    }
}
