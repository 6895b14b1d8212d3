//! `Shape`: what a version of a definition says, with names that live as long as the process.
//!
//! Built-in resources have static names, and all code counts on that. A definition's names are
//! made static once for each distinct content, whoever defines it and how often; the number of
//! distinct contents is bounded.

use super::{FieldPath, ScalePaths};
use crate::catalog::rank;
use crate::table::descriptions::of_any;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubist_api::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionVersion,
};
use kubist_api::{Column, Kind, ResourceFacts, SubresourceFacts};
use kubist_apimachinery::CustomObject;
use kubist_apimachinery::wire::{KindFacts, to_json_value};
use parking_lot::Mutex;
use ring::digest;
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Distinct contents that a process serves at most in its life.
pub(crate) const SHAPES_MAX: usize = 65_536;
/// How much memory they may take at most, as far as that can be told.
const SHAPES_BYTES_MAX: usize = 256 << 20;
/// What a shape takes beside its content.
const SHAPE_BYTES: usize = 2 << 10;
/// How often the content is held, at most.
const CONTENT_FACTOR: usize = 3;

/// The verbs of custom resources, in the order in which upstream lists them.
const VERBS: &[&str] = &[
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];
const PART_VERBS: &[&str] = &["get", "patch", "update"];

/// What one version of a definition says.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) kind: &'static Kind,
    pub(crate) facts: &'static ResourceFacts,
    /// The paths of the columns after the name.
    pub(crate) columns: Vec<Option<FieldPath>>,
    pub(crate) scale: Option<ScalePaths>,
    pub(crate) has_status: bool,
    /// Selectable fields, without the leading dot.
    pub(crate) fields: &'static [&'static str],
    pub(crate) list_kind: &'static str,
    /// What is said of the columns after the name.
    pub(crate) descriptions: &'static [&'static str],
    /// The warning of whoever uses a deprecated version.
    pub(crate) warning: Option<&'static str>,
}

/// What was made static so far.
static SHAPES: Mutex<Shapes> = Mutex::new(Shapes {
    kinds: BTreeMap::new(),
    by_content: BTreeMap::new(),
    by_facts: BTreeMap::new(),
    room: Room { count: 0, bytes: 0 },
});

struct Shapes {
    kinds: BTreeMap<(String, String), &'static Kind>,
    by_content: BTreeMap<String, &'static Shape>,
    by_facts: BTreeMap<usize, &'static Shape>,
    room: Room,
}

/// What shapes have taken so far, and never give back.
#[derive(Debug)]
struct Room {
    count: usize,
    bytes: usize,
}

impl Room {
    /// Takes room for a shape of that content; false if there is none left.
    fn take(&mut self, content_bytes: usize) -> bool {
        // The content is kept as a key, and its names and texts once more, each with a header.
        let bytes = SHAPE_BYTES + CONTENT_FACTOR * content_bytes;
        let fits = self.count < SHAPES_MAX && self.bytes + bytes <= SHAPES_BYTES_MAX;
        if fits {
            self.count += 1;
            self.bytes += bytes;
        }
        fits
    }
}

/// The shape that these facts belong to; none for built-in resources.
pub(crate) fn shape_of(facts: &'static ResourceFacts) -> Option<&'static Shape> {
    let shapes = SHAPES.lock();
    shapes.by_facts.get(&address(facts)).copied()
}

fn address(facts: &'static ResourceFacts) -> usize {
    std::ptr::from_ref(facts).addr()
}

impl Shape {
    /// The shape of a version. None if the process has seen too many.
    pub(crate) fn of(
        definition: &CustomResourceDefinition,
        version: &CustomResourceDefinitionVersion,
    ) -> Option<&'static Self> {
        let spec = &definition.spec;
        // What was accepted, not what is asked for.
        let names = &definition.status.accepted_names;
        let subresources = version.subresources.as_deref();
        let columns = version.additional_printer_columns.iter();
        let fields = version.selectable_fields.iter();
        let content = json!([
            spec.group,
            spec.scope,
            to_json_value(names),
            version.name,
            storage_version(definition),
            subresources.map(|it| to_json_value(it)),
            columns.map(|it| to_json_value(it)).collect::<Vec<_>>(),
            fields.map(|it| &it.json_path).collect::<Vec<_>>(),
            warning(definition, version),
        ])
        .to_string();
        let mut shapes = SHAPES.lock();
        if let Some(shape) = shapes.by_content.get(&content) {
            return Some(shape);
        }
        if !shapes.room.take(content.len()) {
            return None;
        }
        let kind = shapes.kind(&spec.group, &version.name, &names.kind);
        let shape: &'static Self = Box::leak(Box::new(Self::new(definition, version, kind)));
        shapes.by_content.insert(content, shape);
        shapes.by_facts.insert(address(shape.facts), shape);
        Some(shape)
    }

    fn new(
        definition: &CustomResourceDefinition,
        version: &CustomResourceDefinitionVersion,
        kind: &'static Kind,
    ) -> Self {
        let names = &definition.status.accepted_names;
        let of_kind = kind.facts();
        let subresources = version.subresources.as_deref();
        let scale = subresources
            .and_then(|it| it.scale.as_deref())
            .and_then(|it| {
                ScalePaths::parse(
                    &it.spec_replicas_path,
                    &it.status_replicas_path,
                    it.label_selector_path.as_deref(),
                )
            });
        let storage = storage_version(definition);
        let has_status = subresources.is_some_and(|it| it.status.is_some());
        let shown = shown_columns(version);
        let fields = version.selectable_fields.iter();
        let fields = fields.map(|it| leak(it.json_path.trim_start_matches('.')));
        let facts = ResourceFacts {
            group: of_kind.group,
            version: of_kind.version,
            kind: of_kind.kind,
            plural: leak(&names.plural),
            singular: leak(&names.singular),
            namespaced: definition.spec.scope == "Namespaced",
            short_names: leak_all(names.short_names.iter().map(|it| leak(it))),
            categories: leak_all(names.categories.iter().map(|it| leak(it))),
            verbs: VERBS,
            storage_version_hash: leak(&storage_hash(of_kind, storage)),
            subresources: leak_all(parts(of_kind, has_status, scale.is_some())),
            columns: leak_all(std::iter::once(NAME).chain(shown.iter().map(column))),
        };
        Self {
            kind,
            facts: Box::leak(Box::new(facts)),
            columns: shown
                .iter()
                .map(|it| FieldPath::parse(&it.json_path))
                .collect(),
            scale,
            has_status,
            fields: leak_all(fields),
            list_kind: leak(&names.list_kind),
            descriptions: leak_all(shown.iter().map(|it| leak(&description(it)))),
            warning: warning(definition, version).map(|it| leak(&it)),
        }
    }
}

impl Shapes {
    /// One kind for all shapes of that name: kinds are compared by where they are.
    fn kind(&mut self, group: &str, version: &str, kind: &str) -> &'static Kind {
        let api_version = format!("{group}/{version}");
        let key = (api_version.clone(), kind.to_owned());
        self.kinds.entry(key).or_insert_with(|| {
            let facts = KindFacts {
                group: leak(group),
                version: leak(version),
                kind: leak(kind),
                api_version: leak(&api_version),
            };
            let schema = Box::leak(Box::new(CustomObject::schema_of(facts)));
            Box::leak(Box::new(Kind::custom(schema)))
        })
    }
}

fn leak(text: &str) -> &'static str {
    match text {
        "" => "",
        text => Box::leak(text.to_owned().into_boxed_str()),
    }
}

fn leak_all<T>(items: impl Iterator<Item = T>) -> &'static [T] {
    Box::leak(items.collect::<Vec<T>>().into_boxed_slice())
}

/// Bytes of a digest that make a hash of a stored version.
const HASH_BYTES: usize = 8;

const NAME: Column = Column {
    name: "Name",
    type_: "string",
    format: "name",
    priority: 0,
};

/// The columns of the definition, or the age alone, as upstream.
fn shown_columns(version: &CustomResourceDefinitionVersion) -> Vec<CustomResourceColumnDefinition> {
    if !version.additional_printer_columns.is_empty() {
        return version.additional_printer_columns.clone();
    }
    vec![CustomResourceColumnDefinition {
        name: "Age".into(),
        type_: "date".into(),
        description: of_any("Age").into(),
        json_path: ".metadata.creationTimestamp".into(),
        ..CustomResourceColumnDefinition::default()
    }]
}

/// What is said of a column: as upstream, where it is from, if its definition says nothing.
fn description(column: &CustomResourceColumnDefinition) -> Cow<'_, str> {
    if column.description.is_empty() {
        let path = &column.json_path;
        return format!("Custom resource definition column (in JSONPath format): {path}").into();
    }
    Cow::Borrowed(&column.description)
}

fn column(column: &CustomResourceColumnDefinition) -> Column {
    Column {
        name: leak(&column.name),
        type_: leak(&column.type_),
        format: leak(&column.format),
        priority: column.priority,
    }
}

fn parts(
    kind: &'static KindFacts,
    has_status: bool,
    has_scale: bool,
) -> impl Iterator<Item = SubresourceFacts> {
    let status = has_status.then_some(SubresourceFacts {
        name: "status",
        group: kind.group,
        version: kind.version,
        kind: kind.kind,
        verbs: PART_VERBS,
    });
    let scale = has_scale.then_some(SubresourceFacts {
        name: "scale",
        group: "autoscaling",
        version: "v1",
        kind: "Scale",
        verbs: PART_VERBS,
    });
    status.into_iter().chain(scale)
}

/// What whoever uses a version is told, if it is deprecated: what the definition says, or which
/// newer version to use.
fn warning(
    definition: &CustomResourceDefinition,
    version: &CustomResourceDefinitionVersion,
) -> Option<String> {
    if !version.deprecated {
        return None;
    }
    if let Some(own) = &version.deprecation_warning {
        return Some(own.to_string());
    }
    let (group, kind) = (&definition.spec.group, &definition.spec.names.kind);
    let text = format!("{group}/{} {kind} is deprecated", version.name);
    let newer = definition
        .spec
        .versions
        .iter()
        .filter(|it| it.served && !it.deprecated && rank(&it.name) > rank(&version.name));
    Some(match newer.max_by_key(|it| rank(&it.name)) {
        Some(newest) => format!("{text}; use {group}/{} {kind}", newest.name),
        None => text,
    })
}

/// The version in which objects are stored.
fn storage_version(definition: &CustomResourceDefinition) -> &str {
    let mut versions = definition.spec.versions.iter();
    versions.find(|it| it.storage).map_or("", |it| &it.name)
}

/// What stands for the kind in the version in which it is stored; upstream's.
fn storage_hash(kind: &KindFacts, storage: &str) -> String {
    let text = format!("{}/{storage}/{}", kind.group, kind.kind);
    let hash = digest::digest(&digest::SHA256, text.as_bytes());
    STANDARD.encode(&hash.as_ref()[..HASH_BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_bounded_by_number_and_by_size() {
        let mut room = Room { count: 0, bytes: 0 };
        let small = (0..=SHAPES_MAX).take_while(|_| room.take(500)).count();
        assert_eq!(small, SHAPES_MAX);
        let mut room = Room { count: 0, bytes: 0 };
        let megabyte = 1 << 20;
        let large = (0..SHAPES_MAX).take_while(|_| room.take(megabyte)).count();
        assert_eq!(large, 85, "a third of what there is room for");
        assert!(room.bytes <= SHAPES_BYTES_MAX);
        assert!(room.take(500), "a small one still fits");
    }
}
