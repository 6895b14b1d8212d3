//! Metadata validation for every kind, with upstream's messages.

use crate::strategy::facts::MetadataRules;
use crate::strategy::name_rule::NameRule;
use kubist_apimachinery::{
    FieldError, FieldPath, ObjectMeta, OwnerReference, Str, Time, field_manager_errors,
    validate_labels, validate_name,
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum size of all annotations together, in bytes.
const ANNOTATIONS_BYTES_MAX: usize = 256 << 10;
/// Finalizer names that need no domain.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// Returns the metadata errors of a new object.
pub fn validate_metadata(
    meta: &ObjectMeta,
    namespaced: bool,
    rule: NameRule,
    rules: MetadataRules,
) -> Vec<FieldError> {
    let names = |name: &str, prefix: bool| rule.check(name, prefix);
    validate_named(meta, namespaced, &names, rules)
}

/// As [`validate_metadata`], with any name rule: `names` takes a name, and whether it is only a
/// prefix.
pub fn validate_named(
    meta: &ObjectMeta,
    namespaced: bool,
    names: &dyn Fn(&str, bool) -> Vec<String>,
    rules: MetadataRules,
) -> Vec<FieldError> {
    let mut errors = validate_whole(meta, namespaced, names);
    if rules == MetadataRules::Strict {
        errors.extend(own_finalizers(meta));
    }
    errors
}

/// The maximum length of the subresource of managed fields, as upstream.
const SUBRESOURCE_LENGTH_MAX: usize = 256;

/// Validates the metadata of any object, new or changed; `names` validates the name.
fn validate_whole(
    meta: &ObjectMeta,
    namespaced: bool,
    names: &dyn Fn(&str, bool) -> Vec<String>,
) -> Vec<FieldError> {
    let path = FieldPath::new("metadata");
    let mut errors = Vec::new();
    if !meta.generate_name.is_empty() {
        let path = path.child("generateName");
        for problem in names(&meta.generate_name, true) {
            errors.push(FieldError::invalid(&path, &meta.generate_name, problem));
        }
    }
    if meta.name.is_empty() {
        let detail = "name or generateName is required";
        errors.push(FieldError::required(&path.child("name"), detail));
    } else {
        for problem in names(&meta.name, false) {
            errors.push(FieldError::invalid(
                &path.child("name"),
                &meta.name,
                problem,
            ));
        }
    }
    let namespace = path.child("namespace");
    if namespaced {
        if meta.namespace.is_empty() {
            errors.push(FieldError::required(&namespace, ""));
        } else {
            for problem in validate_name::dns1123_label(&meta.namespace) {
                errors.push(FieldError::invalid(&namespace, &meta.namespace, problem));
            }
        }
    } else if !meta.namespace.is_empty() {
        let detail = "not allowed on this type";
        errors.push(FieldError::forbidden(&namespace, detail));
    }
    if meta.generation < 0 {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(
            &path.child("generation"),
            meta.generation,
            detail,
        ));
    }
    errors.extend(common(meta, &path));
    errors.extend(finalizers(&meta.finalizers, &path.child("finalizers")));
    errors.extend(managed_fields(meta, &path.child("managedFields")));
    errors
}

/// Validates managed fields: clients can set them.
fn managed_fields(meta: &ObjectMeta, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, entry) in meta.managed_fields.iter().enumerate() {
        let is_known = matches!(&*entry.operation, "Apply" | "Update");
        let has_type = matches!(&*entry.fields_type, "" | "FieldsV1");
        let is_short = entry.subresource.len() <= SUBRESOURCE_LENGTH_MAX;
        let (manager, path) = (&entry.manager, path.index(index));
        if !is_known {
            let detail = "must be `Apply` or `Update`";
            let at = path.child("operation");
            errors.push(FieldError::invalid(&at, &entry.operation, detail));
        }
        if !has_type {
            let at = path.child("fieldsType");
            errors.push(FieldError::invalid(
                &at,
                &entry.fields_type,
                "must be `FieldsV1`",
            ));
        }
        errors.extend(field_manager_errors(manager, &path.child("manager")));
        if !is_short {
            let at = path.child("subresource");
            errors.push(FieldError::too_long(&at, SUBRESOURCE_LENGTH_MAX));
        }
    }
    errors
}

/// Returns the errors of changed metadata and of the change, for any kind.
pub(crate) fn validate_metadata_update(
    new: &ObjectMeta,
    old: &ObjectMeta,
    namespaced: bool,
) -> Vec<FieldError> {
    let names = |name: &str, prefix: bool| NameRule::PathSegment.check(name, prefix);
    let mut errors = validate_whole(new, namespaced, &names);
    errors.extend(validate_change(new, old));
    errors
}

/// Validates the metadata change a second time, as some kinds do themselves.
pub fn validate_metadata_change(
    new: &ObjectMeta,
    old: &ObjectMeta,
    rules: MetadataRules,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if rules != MetadataRules::Common {
        errors.extend(validate_change(new, old));
    }
    if rules == MetadataRules::Strict {
        errors.extend(own_finalizers(new));
    }
    errors
}

fn validate_change(new: &ObjectMeta, old: &ObjectMeta) -> Vec<FieldError> {
    let path = FieldPath::new("metadata");
    let mut errors = Vec::new();
    if old.is_terminating() {
        // Upstream keeps them in a set, and reports them in order.
        let added: BTreeSet<&Str> = new
            .finalizers
            .iter()
            .filter(|it| !old.finalizers.contains(it))
            .collect();
        let added: Vec<String> = added.iter().map(|it| format!("{it:?}")).collect();
        if !added.is_empty() {
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new \
                 finalizers []string{{{}}}",
                added.join(", ")
            );
            errors.push(FieldError::forbidden(&path.child("finalizers"), detail));
        }
    }
    if new.generation < old.generation {
        let detail = "must not be decremented";
        errors.push(FieldError::invalid(
            &path.child("generation"),
            new.generation,
            detail,
        ));
    }
    immutable_text(&new.name, &old.name, &path.child("name"), &mut errors);
    immutable_text(
        &new.namespace,
        &old.namespace,
        &path.child("namespace"),
        &mut errors,
    );
    immutable_text(&new.uid, &old.uid, &path.child("uid"), &mut errors);
    immutable_time(
        new.creation_timestamp,
        old.creation_timestamp,
        &path.child("creationTimestamp"),
        &mut errors,
    );
    immutable_time(
        new.deletion_timestamp,
        old.deletion_timestamp,
        &path.child("deletionTimestamp"),
        &mut errors,
    );
    let grace = (
        new.deletion_grace_period_seconds,
        old.deletion_grace_period_seconds,
    );
    if grace.0 != grace.1 {
        let path = path.child("deletionGracePeriodSeconds");
        errors.push(match grace.0 {
            Some(seconds) => FieldError::invalid(&path, seconds, IMMUTABLE),
            None => FieldError::invalid(&path, kubist_apimachinery::BadValue::null(), IMMUTABLE),
        });
    }
    errors.extend(common(new, &path));
    errors
}

const IMMUTABLE: &str = "field is immutable";

fn immutable_text(new: &Str, old: &Str, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if new != old {
        errors.push(FieldError::invalid(path, new, IMMUTABLE));
    }
}

fn immutable_time(
    new: Option<Time>,
    old: Option<Time>,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    if new != old {
        errors.push(match new {
            Some(time) => FieldError::invalid(path, &time.to_string(), IMMUTABLE),
            None => FieldError::invalid(path, kubist_apimachinery::BadValue::null(), IMMUTABLE),
        });
    }
}

/// The checks shared by create and update.
fn common(meta: &ObjectMeta, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = validate_labels(&meta.labels, &path.child("labels"));
    let annotations = path.child("annotations");
    errors.extend(validate_annotations(&meta.annotations, &annotations));
    errors.extend(owners(
        &meta.owner_references,
        &path.child("ownerReferences"),
    ));
    errors
}

/// Returns the errors of annotations.
pub(crate) fn validate_annotations(
    annotations: &BTreeMap<Str, Str>,
    path: &FieldPath,
) -> Vec<FieldError> {
    let (mut errors, mut bytes) = (Vec::new(), 0);
    for (key, value) in annotations {
        bytes += key.len() + value.len();
        for problem in validate_name::qualified_name(&key.to_lowercase()) {
            errors.push(FieldError::invalid(path, key, problem));
        }
    }
    if bytes > ANNOTATIONS_BYTES_MAX {
        errors.push(FieldError::too_long(path, ANNOTATIONS_BYTES_MAX));
    }
    errors
}

fn owners(owners: &[OwnerReference], path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut controller: Option<&OwnerReference> = None;
    // Upstream's paths have no index here.
    let at = path;
    for owner in owners {
        let version = match owner.api_version.split_once('/') {
            Some((_, version)) if version.contains('/') => "",
            Some((_, version)) => version,
            None => owner.api_version.as_str(),
        };
        if version.is_empty() {
            let detail = "version must not be empty";
            errors.push(FieldError::invalid(
                &at.child("apiVersion"),
                &owner.api_version,
                detail,
            ));
        }
        for (name, value) in [
            ("kind", &owner.kind),
            ("name", &owner.name),
            ("uid", &owner.uid),
        ] {
            if value.is_empty() {
                let detail = "must not be empty";
                errors.push(FieldError::invalid(&at.child(name), value, detail));
            }
        }
        if owner.api_version == "v1" && owner.kind == "Event" {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            let value = kubist_apimachinery::BadValue::json(owner);
            errors.push(FieldError::invalid(at, value, detail));
        }
        if owner.controller == Some(true) {
            if let Some(first) = controller {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in \
                     references for {}/{} and {}/{}",
                    first.kind, first.name, owner.kind, owner.name
                );
                let value = kubist_apimachinery::BadValue::json(owners);
                errors.push(FieldError::invalid(path, value, detail));
            } else {
                controller = Some(owner);
            }
        }
    }
    errors
}

/// Reports whether a finalizer has a domain, or is one of Kubernetes' own.
pub(crate) fn is_domain_qualified(finalizer: &str) -> bool {
    finalizer.contains('/') || STANDARD_FINALIZERS.contains(&finalizer)
}

/// Returns the errors of one finalizer.
pub fn validate_finalizer(finalizer: &str, path: &FieldPath) -> Vec<FieldError> {
    let problems = validate_name::qualified_name(finalizer).into_iter();
    let mut errors: Vec<FieldError> = problems
        .map(|problem| FieldError::invalid(path, finalizer, problem))
        .collect();
    if !is_domain_qualified(finalizer) {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        errors.push(FieldError::invalid(path, finalizer, detail));
    }
    errors
}

fn finalizers(finalizers: &[Str], path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for finalizer in finalizers {
        for problem in validate_name::qualified_name(finalizer) {
            errors.push(FieldError::invalid(path, finalizer, problem));
        }
    }
    let has = |name: &str| finalizers.iter().any(|it| *it == name);
    if has("orphan") && has("foregroundDeletion") {
        let value = kubist_apimachinery::BadValue::json(finalizers);
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid(path, value, detail));
    }
    errors
}

/// Returns an error for each finalizer without a domain that is not Kubernetes' own.
fn own_finalizers(meta: &ObjectMeta) -> impl Iterator<Item = FieldError> + '_ {
    let finalizers = meta.finalizers.iter().enumerate();
    let foreign = finalizers.filter(|(_, finalizer)| {
        !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer.as_str())
    });
    foreign.map(|(index, finalizer)| {
        let path = FieldPath::new("metadata").child("finalizers").index(index);
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        FieldError::invalid(&path, finalizer, detail)
    })
}

#[cfg(test)]
mod tests;
