//! Apply bodies on an existing object with managers: the result fits the schema, managers own what
//! can be written and read, and the same apply again changes nothing.

#![no_main]

use kubist_apimachinery::{FieldsV1, ManagedFieldsEntry, Str};
use kubist_codec::yaml;
use kubist_field_manager::schema::{Schema, TypeRef};
use kubist_field_manager::{
    ConvertError, Duplicates, ManagedFields, ManagerId, TypedValue, Updater, VersionConverter,
};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// A type with every kind of list and map.
static TYPE: LazyLock<(Arc<Schema>, TypeRef)> = LazyLock::new(|| {
    let text = json!({"type": "string"});
    let item = json!({
        "type": "object",
        "properties": {
            "n": text, "p": {"type": "integer", "default": 1}, "v": text,
            "s": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
        },
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "m": {"type": "object", "additionalProperties": text},
            "a": {
                "type": "object", "additionalProperties": text, "x-kubernetes-map-type": "atomic",
            },
            "k": {
                "type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["n", "p"], "items": item,
            },
            "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
            "l": {"type": "array", "items": item},
            "i": {"x-kubernetes-int-or-string": true},
            "x": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        },
    });
    let (schema, root) = Schema::from_json_schema(Some(&schema));
    (Arc::new(schema), root)
});

/// There is one version only.
struct OneVersion;

impl VersionConverter for OneVersion {
    fn convert(
        &self,
        object: &TypedValue,
        from: &str,
        to: &str,
    ) -> Result<TypedValue, ConvertError> {
        if from == to {
            Ok(object.clone())
        } else {
            Err(ConvertError::NoVersion)
        }
    }
}

fn typed(value: Value, duplicates: Duplicates) -> Option<TypedValue> {
    let (schema, root) = &*TYPE;
    TypedValue::new(value, Arc::clone(schema), root.clone(), duplicates).ok()
}

// The input has up to five parts, separated by `\n---\n`: the configuration, the live object, and
// the fields of the applier, of another applier, and of an updater.
fuzz_target!(|text: &str| {
    let mut parts = text.split("\n---\n");
    let mut tree = || -> Option<Value> {
        let document = yaml::parse(parts.next().unwrap_or("{}").as_bytes());
        document.ok().map(|it| it.value)
    };
    let (Some(config), Some(live)) = (tree(), tree()) else {
        return;
    };
    let (Some(config), Some(live)) = (
        typed(config, Duplicates::Refused),
        typed(live, Duplicates::Allowed),
    ) else {
        return;
    };
    let entries: Vec<ManagedFieldsEntry> = [("m", "Apply"), ("n", "Apply"), ("u", "Update")]
        .into_iter()
        .zip(parts)
        .map(|((manager, operation), fields)| ManagedFieldsEntry {
            manager: manager.into(),
            operation: operation.into(),
            api_version: "v1".into(),
            fields_type: "FieldsV1".into(),
            fields_v1: Some(FieldsV1 { raw: fields.into() }),
            ..ManagedFieldsEntry::default()
        })
        .collect();
    let Ok(managers) = ManagedFields::from_entries(&entries) else {
        return;
    };
    let (filters, version) = (BTreeMap::new(), Str::from("v1"));
    let updater = Updater {
        converter: &OneVersion,
        filters: &filters,
        api_version: &version,
    };
    let manager = ManagerId::applier("m", "");
    // Conflicts are found without a panic.
    let _ = updater.apply(&live, &config, managers.clone(), &manager, false);
    let Ok(first) = updater.apply(&live, &config, managers, &manager, true) else {
        return;
    };
    let entries = first.managers.to_entries();
    let read = ManagedFields::from_entries(&entries).expect("what was written can be read");
    assert_eq!(read.to_entries(), entries);
    let object = match first.object {
        Some(object) => typed(object.into_value(), Duplicates::Allowed),
        None => Some(live),
    };
    let object = object.expect("the result fits the schema");
    let second = updater.apply(&object, &config, read.clone(), &manager, false);
    let second = second.expect("the manager owns what it applied");
    let changed = second.object.map(TypedValue::into_value);
    assert_eq!(changed, None, "of {}", object.value());
    assert_eq!(second.managers.to_entries(), entries);
});
