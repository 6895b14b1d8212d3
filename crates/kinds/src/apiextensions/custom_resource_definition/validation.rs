//! Validation of CustomResourceDefinitions.

use crate::apiextensions::custom_resource_definition;
use crate::apiextensions::custom_resource_definition::conversion::Allowed;
use crate::apiextensions::custom_resource_definition::form::Shared;
use crate::apiextensions::custom_resource_definition::schemas::{Before, schema_of};
use crate::shared::rules::{self, Errors};
use kubist_api::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionVersion,
    CustomResourceSubresourceScale, JSONSchemaProps,
};
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use kubist_registry::custom::{APPROVAL_ANNOTATION, Approval, is_protected};
use kubist_registry::{KeyLayout, NoPlace};
use std::collections::BTreeMap;

const SCOPES: [&str; 2] = ["Cluster", "Namespaced"];
const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: [&str; 8] = [
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

/// Checks a definition.
pub(crate) fn check(definition: &CustomResourceDefinition) -> Errors {
    let mut errors = check_spec(definition, None);
    errors.extend(check_status(definition));
    errors.extend(check_approval(definition, None));
    errors.extend(check_unknown_fields(definition));
    errors
}

/// Checks an update of a definition.
pub(crate) fn check_update(
    new: &CustomResourceDefinition,
    old: &CustomResourceDefinition,
) -> Errors {
    let mut errors = check_spec(new, Some(old));
    let path = FieldPath::new("spec");
    let (now, before) = (&new.spec, &old.spec);
    let names = path.child("names");
    let mut established = old.status.conditions.iter();
    let established = established.any(|it| it.type_ == "Established" && it.status == "True");
    let mut fixed = Vec::new();
    if established {
        fixed.push((path.child("scope"), &now.scope, &before.scope));
        fixed.push((names.child("kind"), &now.names.kind, &before.names.kind));
    }
    fixed.push((path.child("group"), &now.group, &before.group));
    let plurals = (&now.names.plural, &before.names.plural);
    fixed.push((names.child("plural"), plurals.0, plurals.1));
    for (path, now, before) in fixed {
        if now != before {
            errors.push(FieldError::invalid(&path, now, "field is immutable"));
        }
    }
    errors.extend(check_status(new));
    errors.extend(check_approval(new, Some(old)));
    if !before.preserve_unknown_fields {
        errors.extend(check_unknown_fields(new));
    }
    errors
}

fn check_spec(
    definition: &CustomResourceDefinition,
    old: Option<&CustomResourceDefinition>,
) -> Errors {
    let mut errors = Vec::new();
    let (spec, path) = (&definition.spec, FieldPath::new("spec"));
    let before = Before::of(old, spec.preserve_unknown_fields);
    check_group(&mut errors, definition, &path);
    let scope = path.child("scope");
    if rules::required(&mut errors, &spec.scope, &scope) {
        rules::one_of_texts(&mut errors, &spec.scope, &SCOPES, &scope);
    }
    check_versions(&mut errors, definition, &before, &path);
    let names = path.child("names");
    custom_resource_definition::names::required(&mut errors, &spec.names, &names);
    custom_resource_definition::names::check(&mut errors, &spec.names, &names);
    let shared = Shared::of(&spec.versions);
    if let Some(version) = spec.versions.first() {
        if shared.schema {
            let mut subresources = spec.versions.iter().map(|it| it.subresources.as_deref());
            let has_status = subresources.any(|it| it.is_some_and(|it| it.status.is_some()));
            let at = path.child("validation");
            custom_resource_definition::schemas::check(
                &mut errors,
                version,
                (has_status, &before),
                &at,
            );
        }
        check_contents(&mut errors, version, shared, &path);
        if shared.fields {
            let schema = schema_of(version).filter(|_| shared.schema);
            let schema = schema.ok_or("may only be set when validations.schema is included");
            check_fields(&mut errors, version, schema, &path);
        }
    }
    if let Some(conversion) = spec.conversion.as_deref() {
        let at = path.child("conversion");
        let allowed = Allowed::of(definition, old);
        custom_resource_definition::conversion::check(&mut errors, conversion, allowed, &at);
    }
    errors
}

fn check_unknown_fields(definition: &CustomResourceDefinition) -> Option<FieldError> {
    let path = FieldPath::new("spec").child("preserveUnknownFields");
    let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                  spec.versions[*].schema instead";
    let preserves = definition.spec.preserve_unknown_fields;
    preserves.then(|| FieldError::invalid(&path, true, detail))
}

/// Checks the stored status for a request that cannot change it.
fn check_status(definition: &CustomResourceDefinition) -> Errors {
    let mut errors = check_names_of_status(definition);
    check_stored(&mut errors, definition);
    errors
}

/// Checks the accepted names.
pub(crate) fn check_names_of_status(definition: &CustomResourceDefinition) -> Errors {
    let mut errors = Vec::new();
    let path = FieldPath::new("status").child("acceptedNames");
    custom_resource_definition::names::check(&mut errors, &definition.status.accepted_names, &path);
    errors
}

fn check_group(errors: &mut Errors, definition: &CustomResourceDefinition, path: &FieldPath) {
    let spec = &definition.spec;
    let (group, path) = (&spec.group, path.child("group"));
    if !rules::required(errors, group, &path) {
        return;
    }
    let problems = validate_name::dns1123_subdomain(group);
    if !problems.is_empty() {
        errors.push(FieldError::invalid(&path, group, problems.join(",")));
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        errors.push(FieldError::invalid(&path, group, detail));
    } else if let Err(why @ NoPlace::BuiltIn(_)) =
        KeyLayout::check_custom(group, &spec.names.plural)
    {
        // Upstream accepts this change and loses the objects that are already stored.
        errors.push(FieldError::invalid(&path, group, why.to_string()));
    }
}

/// Checks the approval annotation of a definition in a protected group. An annotation that is
/// unchanged is not checked again.
fn check_approval(
    new: &CustomResourceDefinition,
    old: Option<&CustomResourceDefinition>,
) -> Option<FieldError> {
    let approval = Approval::of(new);
    if !is_protected(&new.spec.group) || old.is_some_and(|old| Approval::of(old) == approval) {
        return None;
    }
    let path = FieldPath::new("metadata").child("annotations");
    let path = path.key(APPROVAL_ANNOTATION);
    let message = approval.message(new);
    match approval {
        Approval::Approved | Approval::Bypassed => None,
        Approval::Missing => Some(FieldError::required(&path, message)),
        Approval::Invalid => {
            let text = &new.metadata.annotations[APPROVAL_ANNOTATION];
            Some(FieldError::invalid(&path, text, message))
        }
    }
}

fn check_versions(
    errors: &mut Errors,
    definition: &CustomResourceDefinition,
    before: &Before<'_>,
    spec: &FieldPath,
) {
    let versions = &definition.spec.versions;
    let (shared, path) = (Shared::of(versions), spec.child("versions"));
    for (index, version) in versions.iter().enumerate() {
        let schema = version.schema.as_deref();
        if schema.is_none_or(|it| it.open_api_v3_schema.is_none()) {
            let path = path.index(index).child("schema").child("openAPIV3Schema");
            errors.push(FieldError::required(&path, ""));
        }
    }
    for (index, version) in versions.iter().enumerate() {
        let path = path.index(index);
        let rule = validate_name::dns1035_label;
        rules::joined(errors, &version.name, &path.child("name"), rule);
        check_warning(errors, version, &path.child("deprecationWarning"));
        if !shared.schema {
            let subresources = version.subresources.as_deref();
            let has_status = subresources.is_some_and(|it| it.status.is_some());
            let at = path.child("schema");
            custom_resource_definition::schemas::check(errors, version, (has_status, before), &at);
        }
        let own = Shared {
            subresources: !shared.subresources,
            columns: !shared.columns,
            fields: !shared.fields,
            ..shared
        };
        check_contents(errors, version, own, &path);
        if own.fields {
            let schema = schema_of(version).filter(|_| !shared.schema);
            // Upstream's error for a schema that is not included.
            let why = "may only be set when `version.schema.openAPIV3Schema` is not included";
            check_fields(errors, version, schema.ok_or(why), &path);
        }
    }
    if rules::repeats(versions.iter().map(|it| &it.name)).contains(&true) {
        let detail = "must contain unique version names";
        errors.push(FieldError::invalid(&path, shared.shown(versions), detail));
    }
    if versions.iter().filter(|it| it.storage).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid(&path, shared.shown(versions), detail));
    }
    // Upstream also reports the first version in the spec, and checks it there again.
    if let Some(first) = versions.first().filter(|it| !it.name.is_empty()) {
        let rule = validate_name::dns1035_label;
        rules::joined(errors, &first.name, &spec.child("version"), rule);
    }
}

/// The error for a path that does not begin at the root.
const NOT_SIMPLE: &str = "must be a simple json path starting with .";
/// The maximum size of a version's deprecation warning in bytes, as upstream.
const WARNING_BYTES_MAX: usize = 256;

fn check_warning(errors: &mut Errors, version: &CustomResourceDefinitionVersion, path: &FieldPath) {
    let Some(text) = &version.deprecation_warning else {
        return;
    };
    let mut invalid = |detail: &str| errors.push(FieldError::invalid(path, text, detail));
    if !version.deprecated {
        return invalid("can only be set for deprecated versions");
    }
    if text.len() > WARNING_BYTES_MAX {
        invalid("must be <= 256 characters long");
    }
    if text.is_empty() {
        invalid("must not be an empty string");
    }
    let is_odd = |it: char| it.is_control() || (it != ' ' && it.is_whitespace());
    if let Some(index) = text.find(is_odd) {
        invalid(&format!(
            "must only contain printable UTF-8 characters; non-printable character found at index \
             {index}"
        ));
    }
}

/// Checks the subresources and columns of a version that are to be reported at this path.
fn check_contents(
    errors: &mut Errors,
    version: &CustomResourceDefinitionVersion,
    at: Shared,
    path: &FieldPath,
) {
    let scale = version.subresources.as_deref();
    if let Some(scale) = scale.and_then(|it| it.scale.as_deref())
        && at.subresources
    {
        check_scale(errors, scale, &path.child("subresources"));
    }
    if at.columns {
        let path = path.child("additionalPrinterColumns");
        for (index, column) in version.additional_printer_columns.iter().enumerate() {
            check_column(errors, column, &path.index(index));
        }
    }
}

fn check_fields(
    errors: &mut Errors,
    version: &CustomResourceDefinitionVersion,
    schema: Result<&JSONSchemaProps, &'static str>,
    path: &FieldPath,
) {
    let (fields, path) = (&version.selectable_fields, path.child("selectableFields"));
    custom_resource_definition::fields::check(errors, fields, schema, &path);
}

fn check_scale(errors: &mut Errors, scale: &CustomResourceSubresourceScale, path: &FieldPath) {
    let none = Str::default();
    let selector = scale.label_selector_path.as_ref().unwrap_or(&none);
    for (field, text, below, detail) in [
        (
            "scale.specReplicasPath",
            &scale.spec_replicas_path,
            &[".spec."][..],
            "should be a json path under .spec",
        ),
        (
            "scale.statusReplicasPath",
            &scale.status_replicas_path,
            &[".status."],
            "should be a json path under .status",
        ),
        (
            "scale.labelSelectorPath",
            selector,
            &[".spec.", ".status."],
            "should be a json path under either .spec or .status",
        ),
    ] {
        let path = path.child(field);
        if text.is_empty() {
            if field != "scale.labelSelectorPath" {
                errors.push(FieldError::required(&path, ""));
            }
        } else if !text.starts_with('.') {
            errors.push(FieldError::invalid(&path, text, NOT_SIMPLE));
        } else if !below.iter().any(|it| text.starts_with(it)) {
            errors.push(FieldError::invalid(&path, text, detail));
        }
    }
}

fn check_column(errors: &mut Errors, column: &CustomResourceColumnDefinition, path: &FieldPath) {
    rules::required(errors, &column.name, &path.child("name"));
    let (kind, at) = (column.type_.as_str(), path.child("type"));
    let types = format!("must be one of {}", COLUMN_TYPES.join(","));
    if kind.is_empty() {
        errors.push(FieldError::required(&at, types));
    } else if !COLUMN_TYPES.contains(&kind) {
        errors.push(FieldError::invalid(&at, kind, types));
    }
    let format = column.format.as_str();
    if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
        let detail = format!("must be one of {}", COLUMN_FORMATS.join(","));
        errors.push(FieldError::invalid(&path.child("format"), format, detail));
    }
    let (text, path) = (&column.json_path, path.child("JSONPath"));
    if rules::required(errors, text, &path) && !text.starts_with('.') {
        errors.push(FieldError::invalid(&path, text, NOT_SIMPLE));
    }
}

fn check_stored(errors: &mut Errors, definition: &CustomResourceDefinition) {
    let stored = &definition.status.stored_versions;
    let path = FieldPath::new("status").child("storedVersions");
    if stored.is_empty() {
        let detail = "must have at least one stored version";
        errors.push(FieldError::invalid(&path, rules::list(stored), detail));
        return;
    }
    let versions = &definition.spec.versions;
    // Of several versions with the same name, only the first counts as the recorded one.
    let numbered = stored.iter().enumerate();
    let mut left: BTreeMap<&Str, usize> = numbered.map(|(index, name)| (name, index)).collect();
    for version in versions {
        let is_noted = left.remove(&version.name).is_some();
        if version.storage && !is_noted {
            let detail = format!("must have the storage version {}", version.name);
            errors.push(FieldError::invalid(&path, rules::list(stored), detail));
        }
    }
    let mut left: Vec<(usize, &Str)> = left.into_iter().map(|(name, it)| (it, name)).collect();
    left.sort_unstable();
    for (index, version) in left {
        let detail = format!(
            "missing from spec.versions; {version} was previously a storage version, and must \
             remain in spec.versions until a storage migration ensures no data remains \
             persisted in {version} and removes {version} from status.storedVersions"
        );
        errors.push(FieldError::invalid(&path.index(index), version, detail));
    }
}
