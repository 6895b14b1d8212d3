//! What a CustomResourceDefinition must satisfy, apart from its schemas.

use kubist_api::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionVersion,
    CustomResourceSubresourceScale,
};
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_name};
use serde::Serialize;

use super::rules::{self, Errors};
use crate::custom::{APPROVAL_ANNOTATION, Approval, is_protected};
use crate::storage_key::{KeyLayout, NoPlace};

const SCOPES: [&str; 2] = ["Cluster", "Namespaced"];
const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];

/// Checks a definition.
pub(super) fn check(definition: &CustomResourceDefinition) -> Errors {
    let mut errors = check_common(definition);
    errors.extend(check_approval(definition, None));
    errors
}

fn check_common(definition: &CustomResourceDefinition) -> Errors {
    let mut errors = Vec::new();
    let spec = &definition.spec;
    let (name, path) = (&definition.metadata.name, FieldPath::new("spec"));
    if *name != format!("{}.{}", spec.names.plural, spec.group) {
        let path = FieldPath::new("metadata").child("name");
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid(&path, name, detail));
    }
    check_group(&mut errors, definition, &path);
    rules::one_of(&mut errors, &spec.scope, &SCOPES, &path.child("scope"));
    check_versions(&mut errors, definition, &path);
    check_names(&mut errors, definition, &path.child("names"));
    if spec.preserve_unknown_fields {
        let path = path.child("preserveUnknownFields");
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        errors.push(FieldError::invalid(&path, true, detail));
    }
    check_contents(&mut errors, &spec.versions, &path);
    check_stored(&mut errors, definition);
    errors
}

/// Checks a change of a definition.
pub(super) fn check_update(
    new: &CustomResourceDefinition,
    old: &CustomResourceDefinition,
) -> Errors {
    let mut errors = check_common(new);
    errors.extend(check_approval(new, Some(old)));
    let path = FieldPath::new("spec");
    let (now, before) = (&new.spec, &old.spec);
    let names = path.child("names");
    let established = old.status.conditions.iter();
    let established = established
        .filter(|it| it.type_ == "Established")
        .any(|it| it.status == "True");
    let mut fixed = vec![
        (path.child("group"), &now.group, &before.group),
        (
            names.child("plural"),
            &now.names.plural,
            &before.names.plural,
        ),
    ];
    if established {
        fixed.push((path.child("scope"), &now.scope, &before.scope));
        fixed.push((names.child("kind"), &now.names.kind, &before.names.kind));
    }
    for (path, now, before) in fixed {
        if now != before {
            errors.push(FieldError::invalid(&path, now, "field is immutable"));
        }
    }
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
        // Upstream accepts it, and loses what is stored there already.
        errors.push(FieldError::invalid(&path, group, why.to_string()));
    }
}

/// Checks what a definition in a protected group says of its approval. What it has said before is
/// not judged again.
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

fn check_versions(errors: &mut Errors, definition: &CustomResourceDefinition, path: &FieldPath) {
    let versions = &definition.spec.versions;
    let path = path.child("versions");
    for (index, version) in versions.iter().enumerate() {
        let path = path.index(index);
        rules::text(
            errors,
            &version.name,
            &path.child("name"),
            validate_name::dns1035_label,
        );
        check_warning(errors, version, &path.child("deprecationWarning"));
        let schema = version.schema.as_deref();
        if schema.is_none_or(|it| it.open_api_v3_schema.is_none()) {
            let path = path.child("schema").child("openAPIV3Schema");
            errors.push(FieldError::required(&path, ""));
        }
    }
    if rules::repeats(versions.iter().map(|it| &it.name)).contains(&true) {
        let detail = "must contain unique version names";
        errors.push(FieldError::invalid(&path, shown(versions), detail));
    }
    if versions.iter().filter(|it| it.storage).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid(&path, shown(versions), detail));
    }
}

/// How long the warning of a deprecated version may be, in bytes, as upstream.
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

/// A version as Go writes one whose contents stand for all of them.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Shown<'a> {
    name: &'a str,
    served: bool,
    storage: bool,
    deprecated: bool,
    deprecation_warning: Option<&'a str>,
    schema: (),
    subresources: (),
    additional_printer_columns: (),
    selectable_fields: (),
}

fn shown(versions: &[CustomResourceDefinitionVersion]) -> BadValue {
    let shown: Vec<Shown<'_>> = versions
        .iter()
        .map(|it| Shown {
            name: &it.name,
            served: it.served,
            storage: it.storage,
            deprecated: it.deprecated,
            deprecation_warning: it.deprecation_warning.as_deref(),
            schema: (),
            subresources: (),
            additional_printer_columns: (),
            selectable_fields: (),
        })
        .collect();
    BadValue::json(&shown)
}

fn check_names(errors: &mut Errors, definition: &CustomResourceDefinition, path: &FieldPath) {
    let names = &definition.spec.names;
    for (field, name) in [
        ("plural", &names.plural),
        ("singular", &names.singular),
        ("kind", &names.kind),
        ("listKind", &names.list_kind),
    ] {
        let path = path.child(field);
        if rules::required(errors, name, &path) {
            // Kinds are letters of both sizes, and everything else is in small ones.
            let lower: Str = if field.ends_with("ind") {
                name.to_lowercase().into()
            } else {
                name.clone()
            };
            for problem in validate_name::dns1035_label(&lower) {
                errors.push(FieldError::invalid(&path, name, problem));
            }
        }
    }
    for (field, list) in [
        ("shortNames", &names.short_names),
        ("categories", &names.categories),
    ] {
        for (index, name) in list.iter().enumerate() {
            let path = path.child(field).index(index);
            rules::text(errors, name, &path, validate_name::dns1035_label);
        }
    }
    if !names.kind.is_empty() && names.kind == names.list_kind {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(
            &path.child("listKind"),
            &names.list_kind,
            detail,
        ));
    }
}

/// Checks subresources and columns. Those that all versions share stand in the spec itself.
fn check_contents(
    errors: &mut Errors,
    versions: &[CustomResourceDefinitionVersion],
    path: &FieldPath,
) {
    let same = |of: fn(&CustomResourceDefinitionVersion) -> serde_json::Value| {
        versions.windows(2).all(|pair| of(&pair[0]) == of(&pair[1]))
    };
    let subresources = same(|it| {
        let part = it.subresources.as_deref();
        part.map_or(serde_json::Value::Null, |part| to_json_value(part))
    });
    let columns = same(|it| {
        let columns = it.additional_printer_columns.iter();
        columns.map(|it| to_json_value(it)).collect()
    });
    for (index, version) in versions.iter().enumerate() {
        let own = path.child("versions").index(index);
        if !subresources || index == 0 {
            let path = if subresources { path } else { &own };
            let scale = version.subresources.as_deref();
            if let Some(scale) = scale.and_then(|it| it.scale.as_deref()) {
                check_scale(errors, scale, &path.child("subresources").child("scale"));
            }
        }
        if !columns || index == 0 {
            let path = if columns { path } else { &own };
            let path = path.child("additionalPrinterColumns");
            for (index, column) in version.additional_printer_columns.iter().enumerate() {
                check_column(errors, column, &path.index(index));
            }
        }
    }
}

fn check_scale(errors: &mut Errors, scale: &CustomResourceSubresourceScale, path: &FieldPath) {
    let none = Str::default();
    let selector = scale.label_selector_path.as_ref().unwrap_or(&none);
    for (field, text, below) in [
        (
            "specReplicasPath",
            &scale.spec_replicas_path,
            &[".spec"][..],
        ),
        (
            "statusReplicasPath",
            &scale.status_replicas_path,
            &[".status"],
        ),
        ("labelSelectorPath", selector, &[".spec", ".status"]),
    ] {
        let path = path.child(field);
        if text.is_empty() {
            if field != "labelSelectorPath" {
                errors.push(FieldError::required(&path, ""));
            }
        } else if !is_simple(text) {
            let detail = "must be a simple json path starting with .";
            errors.push(FieldError::invalid(&path, text, detail));
        } else if !below.iter().any(|it| text.starts_with(&format!("{it}."))) {
            let below = below.join(" or ");
            let detail = format!("should be a json path under {below}");
            errors.push(FieldError::invalid(&path, text, detail));
        }
    }
}

fn is_simple(path: &str) -> bool {
    path.starts_with('.') && path.len() > 1
}

fn check_column(errors: &mut Errors, column: &CustomResourceColumnDefinition, path: &FieldPath) {
    rules::required(errors, &column.name, &path.child("name"));
    let kind = column.type_.as_str();
    if rules::required(errors, kind, &path.child("type")) && !COLUMN_TYPES.contains(&kind) {
        let detail = format!("must be one of {}", COLUMN_TYPES.join(","));
        errors.push(FieldError::invalid(&path.child("type"), kind, detail));
    }
    let text = &column.json_path;
    let path = path.child("JSONPath");
    if rules::required(errors, text, &path) && !is_simple(text) {
        let detail = "must be a simple json path starting with .";
        errors.push(FieldError::invalid(&path, text, detail));
    }
}

fn check_stored(errors: &mut Errors, definition: &CustomResourceDefinition) {
    let stored = &definition.status.stored_versions;
    let path = FieldPath::new("status").child("storedVersions");
    if stored.is_empty() {
        let detail = "must have at least one stored version";
        errors.push(FieldError::invalid(&path, BadValue::null(), detail));
        return;
    }
    let mut storage = definition.spec.versions.iter().filter(|it| it.storage);
    // Of two, the second is the one that nobody has noted.
    if let (Some(version), false) = (storage.next(), storage.next().is_none()) {
        let detail = format!("must have the storage version {}", version.name);
        let shown = BadValue::json(stored);
        errors.push(FieldError::invalid(&path, shown, detail));
    }
    for (index, version) in stored.iter().enumerate() {
        let mut versions = definition.spec.versions.iter();
        if !versions.any(|it| it.name == *version) {
            let detail = format!(
                "missing from spec.versions; {version} was previously a storage version, and must \
                 remain in spec.versions until a storage migration ensures no data remains \
                 persisted in {version} and removes {version} from status.storedVersions"
            );
            errors.push(FieldError::invalid(&path.index(index), version, detail));
        }
    }
}
