//! CustomResourceDefinition: v1beta1, in which upstream stores definitions, has shared fields
//! beside the versions, has no object for a webhook as a whole, and names the column path
//! differently.
//!
//! Fields that are missing in v1beta1 get upstream's defaults.

use super::rename;
use serde_json::{Map, Value, json};

/// The fields that v1beta1 has once for all versions and v1 has in each version: the v1beta1 name
/// and the v1 name.
const SHARED: [(&str, &str); 4] = [
    ("subresources", "subresources"),
    ("validation", "schema"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
];

/// The name of a column's path in v1beta1 and in v1.
const PATH: (&str, &str) = ("JSONPath", "jsonPath");

pub(super) fn to_v1(json: &mut Value) {
    let Some(spec) = json.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    spec.entry("scope").or_insert_with(|| json!("Namespaced"));
    spec.entry("preserveUnknownFields")
        .or_insert(Value::Bool(true));
    let only = spec.remove("version");
    let named = spec.entry("versions").or_insert_with(|| json!([]));
    if let (Some(name), Some(named)) = (only, named.as_array_mut())
        && named.is_empty()
    {
        named.push(json!({"name": name, "served": true, "storage": true}));
    }
    for (shared, own) in SHARED {
        if let Some(value) = spec.remove(shared) {
            for version in versions(spec) {
                version.insert(own.to_owned(), value.clone());
            }
        }
    }
    for column in versions(spec).flat_map(columns) {
        rename(column, PATH.0, PATH.1);
    }
    let conversion = spec
        .entry("conversion")
        .or_insert_with(|| json!({"strategy": "None"}));
    if let Some(conversion) = conversion.as_object_mut() {
        let client = conversion.remove("webhookClientConfig");
        let reviews = conversion.remove("conversionReviewVersions");
        let webhook = [
            ("clientConfig", client),
            ("conversionReviewVersions", reviews),
        ];
        let webhook: Map<_, _> = webhook
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect();
        if !webhook.is_empty() {
            conversion.insert("webhook".to_owned(), Value::Object(webhook));
        }
    }
}

pub(super) fn to_v1beta1(json: &mut Value) {
    let Some(spec) = json.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    spec.entry("preserveUnknownFields")
        .or_insert(Value::Bool(false));
    for column in versions(spec).flat_map(columns) {
        rename(column, PATH.1, PATH.0);
    }
    let first = versions(spec).next().cloned();
    if let Some(first) = first {
        spec.extend(
            first
                .get("name")
                .map(|it| ("version".to_owned(), it.clone())),
        );
        for (shared, own) in SHARED {
            let value = first.get(own);
            if versions(spec).all(|it| it.get(own) == value) {
                for version in versions(spec) {
                    version.remove(own);
                }
                spec.extend(value.map(|it| (shared.to_owned(), it.clone())));
            }
        }
    }
    let conversion = spec.get_mut("conversion").and_then(Value::as_object_mut);
    if let Some(conversion) = conversion
        && let Some(Value::Object(mut webhook)) = conversion.remove("webhook")
    {
        let client = webhook.remove("clientConfig");
        conversion.extend(client.map(|it| ("webhookClientConfig".to_owned(), it)));
        conversion.extend(webhook);
    }
}

fn versions(spec: &mut Map<String, Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let versions = spec.get_mut("versions").and_then(Value::as_array_mut);
    let versions = versions.into_iter().flatten();
    versions.filter_map(Value::as_object_mut)
}

fn columns(version: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    let columns = version.get_mut("additionalPrinterColumns");
    columns.and_then(Value::as_array_mut).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v1() -> Value {
        json!({"spec": {
            "group": "example.com", "scope": "Cluster", "preserveUnknownFields": false,
            "versions": [
                {"name": "v2", "schema": {"openAPIV3Schema": {"type": "object"}}, "storage": true},
                {"name": "v1", "schema": {"openAPIV3Schema": {"type": "object"}},
                    "additionalPrinterColumns": [{"jsonPath": ".spec.a"}],
                    "subresources": {"status": {}}},
            ],
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": {"url": "https://example.com"},
                "conversionReviewVersions": ["v1"],
            }},
        }})
    }

    #[test]
    fn what_all_versions_share_stands_once_in_v1beta1_and_with_each_in_v1() {
        let mut json = v1();
        to_v1beta1(&mut json);
        assert_eq!(
            json,
            json!({"spec": {
                "group": "example.com", "scope": "Cluster", "preserveUnknownFields": false,
                "version": "v2",
                "validation": {"openAPIV3Schema": {"type": "object"}},
                "versions": [
                    {"name": "v2", "storage": true},
                    {"name": "v1", "additionalPrinterColumns": [{"JSONPath": ".spec.a"}],
                        "subresources": {"status": {}}},
                ],
                "conversion": {
                    "strategy": "Webhook",
                    "webhookClientConfig": {"url": "https://example.com"},
                    "conversionReviewVersions": ["v1"],
                },
            }})
        );
        to_v1(&mut json);
        assert_eq!(json, v1());
    }

    #[test]
    fn what_v1beta1_leaves_out_is_what_upstream_takes_it_for() {
        let mut json = json!({"spec": {"group": "example.com", "version": "v1"}});
        to_v1(&mut json);
        assert_eq!(
            json,
            json!({"spec": {
                "group": "example.com", "scope": "Namespaced", "preserveUnknownFields": true,
                "versions": [{"name": "v1", "served": true, "storage": true}],
                "conversion": {"strategy": "None"},
            }})
        );
    }
}
