//! `Numbered`: a definition of realistic size. No two have the same schema.

use bytes::Bytes;
use serde_json::{Map, Value, json};

/// Sections of a spec, each with some fields.
const SECTIONS: [&str; 6] = [
    "storage",
    "network",
    "security",
    "scheduling",
    "backup",
    "monitoring",
];

/// A definition.
#[derive(Clone, Copy)]
pub(super) struct Numbered {
    pub(super) number: usize,
    pub(super) group: usize,
}

impl Numbered {
    fn group(self) -> String {
        format!("group{}.example.com", self.group)
    }

    fn plural(self) -> String {
        format!("widget{}s", self.number)
    }

    fn kind(self) -> String {
        format!("Widget{}", self.number)
    }

    pub(super) fn name(self) -> String {
        format!("{}.{}", self.plural(), self.group())
    }

    /// The path of its objects in a namespace.
    pub(super) fn path(self) -> String {
        let (group, plural) = (self.group(), self.plural());
        format!("/apis/{group}/v1/namespaces/default/{plural}")
    }

    pub(super) fn object(self) -> Bytes {
        let (group, number) = (self.group(), self.number);
        let object = json!({
            "apiVersion": format!("{group}/v1"),
            "kind": self.kind(),
            "metadata": {"name": "one"},
            "spec": {"replicas": 3, "engine": format!("engine-{number}")},
        });
        object.to_string().into()
    }

    pub(super) fn body(self) -> Bytes {
        let (kind, plural) = (self.kind(), self.plural());
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": self.name()},
            "spec": {
                "group": self.group(),
                "names": {
                    "kind": kind,
                    "listKind": format!("{kind}List"),
                    "plural": plural,
                    "singular": kind.to_lowercase(),
                    "shortNames": [format!("w{}", self.number)],
                },
                "scope": "Namespaced",
                "versions": [{
                    "name": "v1",
                    "served": true,
                    "storage": true,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        {"name": "Ready", "type": "string", "jsonPath": ".status.phase",
                         "description": "The phase of the widget"},
                        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                    ],
                    "schema": {"openAPIV3Schema": self.schema()},
                }],
            },
        });
        definition.to_string().into()
    }

    fn schema(self) -> Value {
        let number = self.number;
        json!({
            "type": "object",
            "description": format!("Widget{number} is the schema of the widgets API"),
            "required": ["spec"],
            "properties": {
                "apiVersion": {"type": "string", "description": "APIVersion defines the versioned \
                    schema of this representation of an object."},
                "kind": {"type": "string", "description": "Kind is a string value representing the \
                    REST resource this object represents."},
                "metadata": {"type": "object"},
                "spec": self.spec(),
                "status": self.status(),
            },
        })
    }

    fn spec(self) -> Value {
        let number = self.number;
        let mut properties = Map::new();
        for name in SECTIONS {
            properties.insert(format!("{name}{}", number % 7), self.section(name));
        }
        let rest = json!({
            "replicas": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 99,
                "default": 1, "description": format!("Replicas of widget {number}")},
            "engine": {"type": "string", "minLength": 3, "maxLength": 63,
                "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
                "description": format!("The engine that runs the widget, number {number}")},
            "paused": {"type": "boolean", "default": false,
                "description": "Whether the controller leaves it alone"},
            "ports": {"type": "array", "maxItems": 32, "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["port", "protocol"],
                "description": "The ports that it listens on",
                "items": {"type": "object", "required": ["port"], "properties": {
                    "name": {"type": "string", "maxLength": 15},
                    "port": {"type": "integer", "format": "int32", "minimum": 1,
                        "maximum": 65_535 - number % 5},
                    "protocol": {"type": "string", "default": "TCP", "enum": ["TCP", "UDP"]},
                }, "x-kubernetes-validations": [{
                    "rule": format!("self.port != {} || self.protocol == 'TCP'", 8000 + number),
                    "message": format!("the port of widget {number} is for TCP"),
                }]}},
        });
        if let Value::Object(rest) = rest {
            properties.extend(rest);
        }
        json!({
            "type": "object",
            "description": format!("The desired state of widget {number}"),
            "required": ["engine"],
            "properties": properties,
            "x-kubernetes-validations": [
                {"rule": format!("self.replicas <= {}", 50 + number % 40),
                 "message": "too many replicas"},
                {"rule": "self.engine == oldSelf.engine", "message": "engine is immutable"},
                {"rule": format!("!has(self.ports) || self.ports.all(p, p.port > {})", number % 10),
                 "messageExpression": "'ports of ' + self.engine"},
                {"rule": format!("self.engine.startsWith('engine') || self.replicas < {}",
                     number + 2), "fieldPath": ".engine"},
            ],
        })
    }

    fn section(self, name: &str) -> Value {
        let number = self.number;
        let said = |what: &str| {
            format!("The {what} of the {name} of widget {number}, which its controller observes.")
        };
        json!({
            "type": "object",
            "description": said("settings"),
            "properties": {
                "enabled": {"type": "boolean", "default": true, "description": said("switch")},
                "className": {"type": "string", "maxLength": 63, "description": said("class")},
                "size": {"x-kubernetes-int-or-string": true, "description": said("size"),
                    "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "mode": {"type": "string", "enum": ["Fast", "Safe", format!("Own{number}")],
                    "default": "Safe", "description": said("mode")},
                "labels": {"type": "object", "additionalProperties": {"type": "string"},
                    "description": said("labels")},
                "names": {"type": "array", "items": {"type": "string"},
                    "x-kubernetes-list-type": "set", "maxItems": 16,
                    "description": said("names")},
            },
        })
    }

    fn status(self) -> Value {
        json!({
            "type": "object",
            "description": format!("The observed state of widget {}", self.number),
            "properties": {
                "phase": {"type": "string", "description": "Where it is in its life cycle"},
                "observedGeneration": {"type": "integer", "format": "int64"},
                "conditions": {"type": "array", "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                    "items": {"type": "object",
                        "required": ["type", "status", "lastTransitionTime", "reason", "message"],
                        "properties": {
                            "type": {"type": "string", "maxLength": 316},
                            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
                            "reason": {"type": "string", "minLength": 1, "maxLength": 1024},
                            "message": {"type": "string", "maxLength": 32_768},
                            "lastTransitionTime": {"type": "string", "format": "date-time"},
                            "observedGeneration": {"type": "integer", "format": "int64",
                                "minimum": 0},
                        }}},
            },
        })
    }
}
