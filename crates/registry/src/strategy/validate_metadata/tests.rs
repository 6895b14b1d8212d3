//! Tests of metadata validation.

use crate::strategy::validate_metadata::*;
use kubist_api::core::v1::ConfigMap;

fn problems(change: impl FnOnce(&mut ObjectMeta)) -> Vec<String> {
    let mut meta = ObjectMeta {
        name: "a".into(),
        namespace: "ns".into(),
        ..ObjectMeta::default()
    };
    change(&mut meta);
    let (names, rules) = (NameRule::DnsSubdomain, MetadataRules::Strict);
    let errors = validate_metadata(&meta, true, names, rules);
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn plain_metadata_is_fine_and_a_name_is_required() {
    assert_eq!(problems(|_| {}), [""; 0]);
    assert_eq!(
        problems(|meta| meta.name = Str::default()),
        ["metadata.name: Required value: name or generateName is required"]
    );
}

#[test]
fn finalizers_are_checked_twice() {
    let problems = problems(|meta| meta.finalizers.push("a b".into()));
    assert_eq!(problems.len(), 2);
    assert_eq!(
        problems[1],
        "metadata.finalizers[0]: Invalid value: \"a b\": name is neither a standard finalizer \
         name nor is it fully qualified"
    );
}

#[test]
fn an_object_that_is_being_deleted_takes_no_more_finalizers() {
    let mut old = ConfigMap::default();
    old.metadata.name = "a".into();
    old.metadata.namespace = "ns".into();
    old.metadata.deletion_timestamp = Some(Time::from_unix(5));
    old.metadata.finalizers.push("example.com/f".into());
    let mut new = old.clone();
    new.metadata.finalizers.push("example.com/g".into());
    let errors = validate_metadata_update(&new.metadata, &old.metadata, true);
    assert_eq!(
        errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is \
          being deleted, found new finalizers []string{\"example.com/g\"}"
        ]
    );
    let same = validate_metadata_update(&old.metadata, &old.metadata, true);
    assert_eq!(same, []);
}

#[test]
fn identity_does_not_change() {
    let mut old = ConfigMap::default();
    old.metadata.name = "a".into();
    old.metadata.namespace = "ns".into();
    let mut new = old.clone();
    new.metadata.uid = "u".into();
    new.metadata.deletion_timestamp = Some(Time::from_unix(978_307_200));
    let errors = validate_metadata_update(&new.metadata, &old.metadata, true);
    assert_eq!(
        errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "metadata.uid: Invalid value: \"u\": field is immutable",
            "metadata.deletionTimestamp: Invalid value: \"2001-01-01T00:00:00Z\": field is \
             immutable",
        ]
    );
}

#[test]
fn an_owner_has_a_version_after_at_most_one_slash() {
    let owner = |api_version: &str| OwnerReference {
        api_version: api_version.into(),
        kind: "Pod".into(),
        name: "a".into(),
        uid: "u".into(),
        ..OwnerReference::default()
    };
    let of = |version: &str| problems(|meta| meta.owner_references.push(owner(version)));
    assert_eq!(of("apps/v1"), [""; 0]);
    assert_eq!(
        of("a/b/c"),
        [
            "metadata.ownerReferences.apiVersion: Invalid value: \"a/b/c\": version must not be \
             empty"
        ]
    );
}

#[test]
fn kinds_without_metadata_checks_have_the_common_ones() {
    let mut old = ConfigMap::default();
    old.metadata.name = "A_b".into();
    old.metadata.namespace = "ns".into();
    let mut new = old.clone();
    new.metadata.finalizers.push("plain".into());
    new.metadata.labels.insert("a b".into(), "c".into());
    let count = |rules| {
        let mut errors = validate_metadata_update(&new.metadata, &old.metadata, true);
        errors.extend(validate_metadata_change(
            &new.metadata,
            &old.metadata,
            rules,
        ));
        let of = |field: &str| errors.iter().filter(|it| it.field == *field).count();
        (of("metadata.labels"), of("metadata.finalizers[0]"))
    };
    assert_eq!(count(MetadataRules::Common), (2, 0));
    assert_eq!(count(MetadataRules::Lenient), (3, 0));
    assert_eq!(count(MetadataRules::Strict), (3, 1));
}

#[test]
fn an_owner_that_is_not_allowed_is_shown_whole() {
    let event = OwnerReference {
        api_version: "v1".into(),
        kind: "Event".into(),
        name: "e".into(),
        uid: "u".into(),
        controller: Some(true),
        ..OwnerReference::default()
    };
    assert_eq!(
        problems(|meta| meta.owner_references.push(event)),
        [
            "metadata.ownerReferences: Invalid value: {\"apiVersion\":\"v1\",\"kind\":\"Event\",\
             \"name\":\"e\",\"uid\":\"u\",\"controller\":true}: /v1, Kind=Event is disallowed from \
             being an owner"
        ]
    );
}
