//! Custom resource definitions of 40 kB, whose schemas look like those of well-known operators:
//! objects in objects, described in whole sentences, with lists, formats, limits and enums.

use super::workload::LABEL;
use super::{APPS, mix, uid};
use serde_json::{Map, Value, json};

/// Levels of objects below `spec`.
const DEPTH: u32 = 3;
/// Properties of each object.
const PROPERTIES: u64 = 5;
/// What descriptions are made of.
const SENTENCES: [&str; 6] = [
    "The interval after which the controller looks at the remote system again.",
    "If it is empty, the value of the parent applies to all members of the group.",
    "References an object in the same namespace, which has to exist before.",
    "Cannot be changed after creation, because the name of the volume is made from it.",
    "Deprecated fields are read, but never written by this version.",
    "Must be between the limits that the administrator has set for the cluster.",
];

/// Returns a definition as a server would.
pub fn definition(seed: u64, number: u64) -> Value {
    let bits = mix(seed, number);
    let kind = format!("Backend{number:05}");
    let plural = format!("{}s", kind.to_lowercase());
    let group = format!("team-{}.example.com", number % 50);
    let name = format!("{plural}.{group}");
    let names = json!({"kind": kind, "listKind": format!("{kind}List"), "plural": plural,
        "singular": kind.to_lowercase(), "shortNames": [format!("b{number}")]});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": name,
            "uid": uid(bits, number),
            "resourceVersion": (1 + number).to_string(),
            "generation": 1,
            "creationTimestamp": "2026-05-04T08:00:00Z",
            "labels": {LABEL: format!("backend-{}", number % APPS)},
            "annotations": {"example.com/round": "round-0"},
        },
        "spec": {
            "conversion": {"strategy": "None"},
            "group": group,
            "names": names,
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "Ready", "type": "string", "jsonPath": ".status.ready"},
                    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                ],
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "description": SENTENCES[0],
                    "required": ["spec"],
                    "properties": {
                        "apiVersion": {"type": "string"},
                        "kind": {"type": "string"},
                        "metadata": {"type": "object"},
                        "spec": object(bits, DEPTH),
                        "status": object(mix(bits, 1), 1),
                    },
                }},
            }],
        },
        "status": {
            "acceptedNames": names,
            "storedVersions": ["v1"],
            "conditions": [condition("NamesAccepted"), condition("Established")],
        },
    })
}

fn condition(kind: &str) -> Value {
    json!({"type": kind, "status": "True", "reason": "InitialNamesAccepted",
        "lastTransitionTime": "2026-05-04T08:00:00Z", "message": "the names have been accepted"})
}

/// An object of properties, of which each is a scalar, a list, or an object.
fn object(bits: u64, depth: u32) -> Value {
    let mut properties = Map::new();
    for number in 0..PROPERTIES {
        let bits = mix(bits, number);
        let value = match number {
            0..=1 if depth > 0 => object(bits, depth - 1),
            2 if depth > 0 => json!({"type": "array", "description": describe(bits),
                "maxItems": 64, "items": object(bits, depth - 1)}),
            _ => scalar(bits),
        };
        properties.insert(format!("setting{}{number}", bits % 100), value);
    }
    json!({"type": "object", "description": describe(bits), "properties": properties})
}

fn scalar(bits: u64) -> Value {
    match bits % 4 {
        0 => json!({"type": "integer", "format": "int32", "minimum": 0, "maximum": 65_535,
            "default": 8_080, "description": sentence(bits)}),
        1 => json!({"type": "boolean", "description": sentence(bits)}),
        2 => json!({"type": "string", "enum": ["Always", "Never", "IfNotPresent"],
            "description": sentence(bits)}),
        _ => {
            json!({"type": "string", "maxLength": 253, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            "description": sentence(bits)})
        }
    }
}

fn describe(bits: u64) -> String {
    format!("{} {}", sentence(bits), sentence(bits >> 8))
}

fn sentence(bits: u64) -> &'static str {
    let count = SENTENCES.len() as u64;
    SENTENCES[usize::try_from((bits >> 8) % count).unwrap_or_default()]
}
