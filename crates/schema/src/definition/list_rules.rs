//! Rules of lists and maps: `x-kubernetes-list-type`, `-list-map-keys` and `-map-type`.

use super::internal_form::internal_items;
use super::options::SchemaOptions;
use crate::place::{Place, Problems};
use hashbrown::HashSet;
use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::{BadValue, FieldError, Str};

/// Checks the types of lists and maps.
pub(super) fn check(
    problems: &mut Problems,
    schema: &JSONSchemaProps,
    options: SchemaOptions,
    at: &Place<'_>,
) {
    if schema.x_kubernetes_preserve_unknown_fields == Some(false) {
        problems.add_child(at, "x-kubernetes-preserve-unknown-fields", |path| {
            FieldError::invalid(path, false, "must be true or undefined")
        });
    }
    let kind = &schema.type_;
    let (map, list) = (
        schema.x_kubernetes_map_type.as_ref(),
        schema.x_kubernetes_list_type.as_ref(),
    );
    if map.is_some() && *kind != "object" {
        let detail = "must be object if x-kubernetes-map-type is specified";
        wrong_type(problems, kind, detail, at);
    }
    supported(
        problems,
        "x-kubernetes-map-type",
        map,
        &["atomic", "granular"],
        at,
    );
    if list.is_some() && *kind != "array" {
        let detail = "must be array if x-kubernetes-list-type is specified";
        wrong_type(problems, kind, detail, at);
    } else if options.requires_atomic_sets {
        check_set(problems, schema, at);
    }
    let types = ["atomic", "set", "map"];
    supported(problems, "x-kubernetes-list-type", list, &types, at);
    if !schema.x_kubernetes_list_map_keys.is_empty() && list.is_none_or(|it| *it != "map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        problems.add_child(at, "x-kubernetes-list-type", |path| match list {
            None => FieldError::required(path, detail),
            Some(list) => FieldError::invalid(path, list, detail),
        });
    }
    if list.is_some_and(|it| *it == "map") {
        check_map(problems, schema, at);
    }
    if options.requires_list_keys {
        check_keys(problems, schema, at);
    }
}

fn wrong_type(problems: &mut Problems, kind: &Str, detail: &'static str, at: &Place<'_>) {
    problems.add_child(at, "type", |path| {
        if kind.is_empty() {
            FieldError::required(path, detail)
        } else {
            FieldError::invalid(path, kind, detail)
        }
    });
}

fn supported(
    problems: &mut Problems,
    name: &str,
    value: Option<&Str>,
    supported: &[&str],
    at: &Place<'_>,
) {
    if let Some(value) = value.filter(|it| !supported.contains(&it.as_str())) {
        problems.add_child(at, name, |path| {
            FieldError::not_supported_text(path, value, supported)
        });
    }
}

fn items(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    schema.items.as_deref()?.schema.as_deref()
}

/// Returns the keyword of items that must say `atomic` in a set, and does not.
fn non_atomic_keyword(schema: &JSONSchemaProps) -> Option<&'static str> {
    if schema.x_kubernetes_list_type.as_deref() != Some("set") {
        return None;
    }
    let items = items(schema)?;
    // Lists are atomic if they do not say otherwise; maps are granular.
    let (list, map) = (&items.x_kubernetes_list_type, &items.x_kubernetes_map_type);
    match items.type_.as_str() {
        "array" if list.as_ref().is_some_and(|it| *it != "atomic") => {
            Some("x-kubernetes-list-type")
        }
        "object" if map.as_ref().is_none_or(|it| *it != "atomic") => Some("x-kubernetes-map-type"),
        _ => None,
    }
}

/// Reports whether a set has items that are not atomic.
pub(super) fn is_set_of_non_atomic(schema: &JSONSchemaProps) -> bool {
    non_atomic_keyword(schema).is_some()
}

fn check_set(problems: &mut Problems, schema: &JSONSchemaProps, at: &Place<'_>) {
    let Some(keyword) = non_atomic_keyword(schema) else {
        return;
    };
    // Upstream shows the list type in both cases.
    let list = items(schema).and_then(|it| it.x_kubernetes_list_type.as_ref());
    problems.add_child(&Place::Child(at, "items"), keyword, |path| {
        let value = list.map_or_else(BadValue::null, BadValue::json);
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        FieldError::invalid(path, value, detail)
    });
}

fn check_map(problems: &mut Problems, schema: &JSONSchemaProps, at: &Place<'_>) {
    let keys = &schema.x_kubernetes_list_map_keys;
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        problems.require(at, "x-kubernetes-list-map-keys", detail);
    }
    let Some(of_items) = schema.items.as_deref() else {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        problems.require(at, "items", detail);
        return;
    };
    let Some(item) = of_items.schema.as_deref() else {
        problems.add_child(at, "items", |path| {
            let detail = "must only have a single schema if x-kubernetes-list-type is map";
            FieldError::invalid(path, internal_items(of_items), detail)
        });
        return;
    };
    let items = Place::Child(at, "items");
    if item.type_ != "object" {
        problems.add_child(&items, "type", |path| {
            let detail = "must be object if parent array's x-kubernetes-list-type is map";
            FieldError::invalid(path, &item.type_, detail)
        });
        return;
    }
    let mut seen = HashSet::new();
    for key in keys {
        let invalid = |detail| {
            move |path: &kubist_apimachinery::FieldPath| {
                FieldError::invalid(path, BadValue::json(keys.as_slice()), detail)
            }
        };
        match item.properties.get(key.as_str()) {
            Some(property) if matches!(property.type_.as_str(), "array" | "object") => {
                let properties = Place::Child(&items, "properties");
                problems.add_child(&Place::Key(&properties, key), "type", |path| {
                    let detail =
                        "must be a scalar type if parent array's x-kubernetes-list-type is map";
                    // Upstream shows the type of the items.
                    FieldError::invalid(path, &item.type_, detail)
                });
            }
            Some(_) => {}
            None => {
                let detail = "entries must all be names of item properties";
                problems.add_child(at, "x-kubernetes-list-map-keys", invalid(detail));
            }
        }
        if !seen.insert(key.as_str()) {
            let detail = "must not contain duplicate entries";
            problems.add_child(at, "x-kubernetes-list-map-keys", invalid(detail));
        }
    }
}

/// Checks that the items of sets and maps are not null, and that keys have values.
pub(super) fn check_keys(problems: &mut Problems, schema: &JSONSchemaProps, at: &Place<'_>) {
    let (Some(item), Some(list)) = (items(schema), &schema.x_kubernetes_list_type) else {
        return;
    };
    if !matches!(list.as_str(), "set" | "map") {
        return;
    }
    let items = Place::Child(at, "items");
    if item.nullable {
        problems.add_child(&items, "nullable", |path| {
            let detail = format!("cannot be nullable when x-kubernetes-list-type is {list}");
            FieldError::forbidden(path, detail)
        });
    }
    if *list != "map" {
        return;
    }
    let required: HashSet<&str> = item.required.iter().map(Str::as_str).collect();
    let properties = Place::Child(&items, "properties");
    for key in &schema.x_kubernetes_list_map_keys {
        let Some(property) = item.properties.get(key.as_str()) else {
            continue;
        };
        let at = Place::Key(&properties, key);
        if !required.contains(key.as_str()) && property.default.is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a \
                          default or be a required property";
            problems.require(&at, "default", detail);
        }
        if property.nullable {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            problems.forbid(&at, "nullable", detail);
        }
    }
}
