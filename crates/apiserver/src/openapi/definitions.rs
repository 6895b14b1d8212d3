//! Documents of custom resources, built from their definitions.
//!
//! They are built on each request and not cached, because definitions come and go.

use super::custom_schema;
use super::descriptions::{self, Descriptions};
use super::operation::Forms;
use super::operations::Paths;
use super::schemas::{self, PREFIX, object_fields, of, reachable};
use kubist_api::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionVersion};
use kubist_apimachinery::wire::{Message, Wire, to_json_value};
use kubist_apimachinery::{ListMeta, ObjectMeta};
use kubist_codec::Format;
use kubist_codec::negotiate::PatchType;
use kubist_registry::{ServedGroup, Stored};
use serde_json::{Map, Value, json};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Patch types of objects without a built-in type.
const PATCHES: &[PatchType] = PatchType::CUSTOM;

/// A served group version of custom resources, with its definitions.
#[derive(Debug)]
pub(super) struct Defined<'a> {
    group: &'a ServedGroup,
    version: &'a str,
    definitions: Vec<&'a CustomResourceDefinition>,
}

/// Returns all of them from the stored definitions.
pub(super) fn defined<'a>(served: &'a [ServedGroup], stored: &'a [Stored]) -> Vec<Defined<'a>> {
    let definitions: BTreeMap<(&str, &str), &CustomResourceDefinition> = stored
        .iter()
        .filter_map(definition)
        .map(|it| ((&*it.spec.group, &*it.spec.names.plural), it))
        .collect();
    let mut all = Vec::new();
    for group in served {
        for version in &group.versions {
            let resources = version.resources.iter();
            let defining: Vec<&CustomResourceDefinition> = resources
                .filter_map(|it| definitions.get(&(&*group.name, it.facts.plural)).copied())
                .collect();
            if !defining.is_empty() {
                all.push(Defined {
                    group,
                    version: &version.version,
                    definitions: defining,
                });
            }
        }
    }
    all
}

fn definition(stored: &Stored) -> Option<&CustomResourceDefinition> {
    let object: &dyn Any = &**stored.object().ok()?;
    object.downcast_ref()
}

impl Defined<'_> {
    /// `apis/example.com/v1`.
    pub(super) fn path(&self) -> String {
        format!("apis/{}/{}", self.group.name, self.version)
    }

    /// Changes with the document.
    pub(super) fn tag(&self) -> String {
        let mut text = self.path();
        for it in &self.definitions {
            let metadata = &it.metadata;
            let (name, uid) = (&metadata.name, &metadata.uid);
            // Writing to a string cannot fail.
            let _ = write!(text, " {name} {uid} {}", metadata.generation);
        }
        super::tag(text.as_bytes())
    }

    /// Returns the document as JSON.
    pub(super) fn document(&self, descriptions: &Descriptions) -> Vec<u8> {
        let mut paths = Paths::new(self.path(), &self.group.name, self.version, descriptions);
        let mut schemas = Map::new();
        for definition in &self.definitions {
            let names = &definition.spec.names;
            let (object, list) = (self.name(&names.kind), self.name(&names.list_kind));
            let forms = Forms {
                object: reference(&object),
                list: reference(&list),
                formats: Format::TEXT,
                patches: PATCHES,
                is_custom: true,
                is_text: false,
            };
            let served = self.group.version(self.version);
            if let Some(resource) = served.and_then(|it| it.resource(&names.plural)) {
                paths.add(resource.facts, &forms);
            }
            let version = version_of(definition, self.version);
            let mut said = said(version);
            custom_schema::complete(&mut said);
            let schema = object_schema(said);
            schemas.insert(object.clone(), self.named(schema, &names.kind, version));
            let schema = list_schema(&object);
            schemas.insert(list, self.named(schema, &names.list_kind, version));
        }
        let (paths, mut roots) = paths.finish();
        roots.extend([of::<ObjectMeta>(), of::<ListMeta>()]);
        schemas.append(&mut reachable(roots, descriptions));
        json!({
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
            "paths": paths,
            "components": {"schemas": schemas},
        })
        .to_string()
        .into_bytes()
    }

    /// Returns the types for `/openapi/v2`, reduced to what v2 can express.
    pub(super) fn old_types(&self) -> Map<String, Value> {
        let mut types = Map::new();
        for definition in &self.definitions {
            let names = &definition.spec.names;
            let (object, list) = (self.name(&names.kind), self.name(&names.list_kind));
            let version = version_of(definition, self.version);
            let schema = match custom_schema::old(said(version)) {
                Some(said) => object_schema(said),
                // With any field listed, kubectl would consider all others unknown.
                None => json!({"type": "object"}),
            };
            types.insert(object.clone(), self.named(schema, &names.kind, version));
            let schema = list_schema(&object);
            types.insert(list, self.named(schema, &names.list_kind, version));
        }
        types
    }

    /// Returns the name of a type in documents: `com.example.v1.Widget`.
    fn name(&self, kind: &str) -> String {
        let mut descriptions: Vec<&str> = self.group.name.rsplit('.').collect();
        descriptions.extend([self.version, kind]);
        descriptions.join(".")
    }

    /// Adds what a schema of objects or lists says of its kind: names and selectable fields.
    fn named(
        &self,
        mut schema: Value,
        kind: &str,
        said: Option<&CustomResourceDefinitionVersion>,
    ) -> Value {
        let (group, version) = (self.group.name.as_str(), self.version);
        let names = json!({"group": group, "version": version, "kind": kind});
        schema["x-kubernetes-group-version-kind"] = json!([names]);
        let fields = said.map_or(&[][..], |it| &it.selectable_fields);
        if !fields.is_empty() {
            let path = |it: &str| json!({"fieldPath": it.strip_prefix('.').unwrap_or(it)});
            let paths = fields.iter().map(|it| path(&it.json_path));
            schema["x-kubernetes-selectable-fields"] = paths.collect();
        }
        schema
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("{PREFIX}{name}")})
}

fn version_of<'a>(
    definition: &'a CustomResourceDefinition,
    version: &str,
) -> Option<&'a CustomResourceDefinitionVersion> {
    let mut versions = definition.spec.versions.iter();
    versions.find(|it| it.name == *version)
}

/// Returns the schema in a definition.
fn said(version: Option<&CustomResourceDefinitionVersion>) -> Map<String, Value> {
    let said = version
        .and_then(|version| version.schema.as_ref())
        .and_then(|schema| schema.open_api_v3_schema.as_deref());
    match said.map(|said| to_json_value(said)) {
        Some(Value::Object(schema)) => schema,
        _ => Map::new(),
    }
}

/// Returns the schema of objects, with the fields of every object.
fn object_schema(mut schema: Map<String, Value>) -> Value {
    let mut properties = match schema.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    properties.extend(object_fields());
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    let mut schema = Value::Object(schema);
    descriptions::add_common(&mut schema);
    schema
}

fn list_schema(object: &str) -> Value {
    let mut schema = json!({
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "items": {"type": "array", "items": reference(object)},
            "metadata": {"allOf": [reference_of::<ListMeta>()]},
        },
    });
    descriptions::add_common(&mut schema);
    schema
}

fn reference_of<M: Message + Wire>() -> Value {
    schemas::reference(of::<M>())
}
