//! `Shape`: one version of a definition, with static names.
//!
//! Built-in resources have static names, and all code relies on that. The names of a definition are
//! made static once for each distinct content, within the limits of [`StaticTexts`]. Large and
//! temporary content (descriptions, paths) is freed with the shape.

use super::static_texts::{ITEM_BYTES, Shortage, StaticTexts, leak_list};
use crate::custom::columns::{NAME, column, description, shown_columns};
use crate::custom::digest::{Digest, digest_of};
use crate::custom::json_path::JsonPath;
use crate::custom::scale::ScalePaths;
use crate::custom::version_rank::rank;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubist_api::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionNames, CustomResourceDefinitionVersion,
};
use kubist_api::{Kind, ResourceFacts, SubresourceFacts};
use kubist_apimachinery::CustomObject;
use kubist_apimachinery::wire::{KindFacts, to_json_value};
use parking_lot::Mutex;
use ring::digest;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// The static bytes of a shape, without its texts and lists.
const SHAPE_BYTES: usize = 768;
/// The static bytes of a kind.
const KIND_BYTES: usize = 2 << 10;
/// The size of a column and of a subresource, in list items.
const COLUMN_ITEMS: usize = 4;
const SUBRESOURCE_ITEMS: usize = 6;

/// The verbs of custom resources, in upstream's order.
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
const SUBRESOURCE_VERBS: &[&str] = &["get", "patch", "update"];

/// One version of a definition.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) kind: &'static Kind,
    pub(crate) facts: &'static ResourceFacts,
    /// The paths of the printer columns after the name.
    pub(crate) columns: Vec<Option<JsonPath>>,
    pub(crate) scale: Option<ScalePaths>,
    pub(crate) has_status: bool,
    /// Selectable fields, without the leading dot.
    pub(crate) fields: &'static [&'static str],
    pub(crate) list_kind: &'static str,
    /// The descriptions of the printer columns after the name.
    pub(crate) descriptions: Vec<String>,
    /// The warning for clients of a deprecated version.
    pub(crate) warning: Option<&'static str>,
}

/// The static content of a shape.
#[derive(Clone, Copy)]
struct Fixed {
    kind: &'static Kind,
    facts: &'static ResourceFacts,
    fields: &'static [&'static str],
    list_kind: &'static str,
    warning: Option<&'static str>,
}

/// All static content so far, and the shapes in use.
static SHAPES: Mutex<Shapes> = Mutex::new(Shapes {
    kinds: BTreeMap::new(),
    fixed: BTreeMap::new(),
    by_facts: BTreeMap::new(),
    statics: StaticTexts::new(),
});

struct Shapes {
    kinds: BTreeMap<(String, String), &'static Kind>,
    /// By the digest of the version's content, so that each `facts` belongs to one shape.
    fixed: BTreeMap<Digest, Fixed>,
    by_facts: BTreeMap<usize, Weak<Shape>>,
    statics: StaticTexts,
}

/// Returns the shape of these facts; `None` for built-in resources. A shape exists as long as the
/// strategy of its resource.
pub(crate) fn shape_of(facts: &'static ResourceFacts) -> Option<Arc<Shape>> {
    let shapes = SHAPES.lock();
    shapes.by_facts.get(&address(facts))?.upgrade()
}

fn address(facts: &'static ResourceFacts) -> usize {
    std::ptr::from_ref(facts).addr()
}

impl Shape {
    /// Returns the shape of a version: the same one as long as it is in use and the version does
    /// not change.
    ///
    /// # Errors
    /// The limit on static content is exhausted.
    pub(crate) fn of(
        definition: &CustomResourceDefinition,
        version: &CustomResourceDefinitionVersion,
    ) -> Result<Arc<Self>, Shortage> {
        let digest = content_digest(definition, version);
        let mut shapes = SHAPES.lock();
        let known = shapes.fixed.get(&digest).copied();
        let fixed = if let Some(fixed) = known {
            fixed
        } else {
            let fixed = shapes.fix(definition, version)?;
            shapes.fixed.insert(digest, fixed);
            fixed
        };
        let at = address(fixed.facts);
        if let Some(shape) = shapes.by_facts.get(&at).and_then(Weak::upgrade) {
            return Ok(shape);
        }
        let shape = Arc::new(Self::new(version, fixed));
        shapes.by_facts.insert(at, Arc::downgrade(&shape));
        Ok(shape)
    }

    fn new(version: &CustomResourceDefinitionVersion, fixed: Fixed) -> Self {
        let Fixed {
            kind,
            facts,
            fields,
            list_kind,
            warning,
        } = fixed;
        let shown = shown_columns(version);
        let paths = shown.iter().map(|it| JsonPath::parse(&it.json_path));
        Self {
            kind,
            facts,
            columns: paths.collect(),
            scale: scale_of(version),
            has_status: has_status(version),
            fields,
            list_kind,
            descriptions: shown
                .iter()
                .map(|it| description(it).into_owned())
                .collect(),
            warning,
        }
    }
}

/// Returns a digest of everything in a version that its shape depends on.
fn content_digest(
    definition: &CustomResourceDefinition,
    version: &CustomResourceDefinitionVersion,
) -> Digest {
    let spec = &definition.spec;
    let subresources = version.subresources.as_deref();
    let columns = version.additional_printer_columns.iter();
    let fields = version.selectable_fields.iter();
    let content = json!([
        definition.metadata.name,
        spec.group,
        spec.scope,
        to_json_value(accepted_names(definition)),
        version.name,
        storage_version(definition),
        subresources.map(|it| to_json_value(it)),
        columns.map(|it| to_json_value(it)).collect::<Vec<_>>(),
        fields.map(|it| &it.json_path).collect::<Vec<_>>(),
        warning(definition, version),
    ])
    .to_string();
    digest_of(&content)
}

/// Returns the accepted names, or the requested names if none are accepted yet.
fn accepted_names(definition: &CustomResourceDefinition) -> &CustomResourceDefinitionNames {
    let accepted = &definition.status.accepted_names;
    if accepted.plural.is_empty() || accepted.kind.is_empty() {
        return &definition.spec.names;
    }
    accepted
}

/// Selectable fields, without the leading dot.
fn field_names(version: &CustomResourceDefinitionVersion) -> impl Iterator<Item = &str> {
    let fields = version.selectable_fields.iter();
    fields.map(|it| it.json_path.trim_start_matches('.'))
}

fn has_status(version: &CustomResourceDefinitionVersion) -> bool {
    let subresources = version.subresources.as_deref();
    subresources.is_some_and(|it| it.status.is_some())
}

fn scale_of(version: &CustomResourceDefinitionVersion) -> Option<ScalePaths> {
    let scale = version.subresources.as_deref()?.scale.as_deref()?;
    ScalePaths::parse(
        &scale.spec_replicas_path,
        &scale.status_replicas_path,
        scale.label_selector_path.as_deref(),
    )
}

impl Shapes {
    /// Creates the static content of a version.
    fn fix(
        &mut self,
        definition: &CustomResourceDefinition,
        version: &CustomResourceDefinitionVersion,
    ) -> Result<Fixed, Shortage> {
        let (spec, names) = (&definition.spec, accepted_names(definition));
        let shown = shown_columns(version);
        let warning = warning(definition, version);
        let api_version = format!("{}/{}", spec.group, version.name);
        let kind_key = (api_version, names.kind.to_string());
        let hash = storage_hash(&spec.group, storage_version(definition), &names.kind);
        let mut texts: Vec<&str> = vec![&spec.group, &version.name, &kind_key.0, &hash];
        texts.extend(
            [
                &names.kind,
                &names.plural,
                &names.singular,
                &names.list_kind,
            ]
            .map(|it| &**it),
        );
        texts.extend(names.short_names.iter().map(|it| &**it));
        texts.extend(names.categories.iter().map(|it| &**it));
        texts.extend(field_names(version));
        texts.extend(warning.as_deref());
        for column in &shown {
            texts.extend([&column.name, &column.type_, &column.format].map(|it| &**it));
        }
        let (has_status, has_scale) = (has_status(version), scale_of(version).is_some());
        let subresources = usize::from(has_status) + usize::from(has_scale);
        let items =
            texts.len() + COLUMN_ITEMS * (shown.len() + 1) + SUBRESOURCE_ITEMS * subresources;
        let of_kind = if self.kinds.contains_key(&kind_key) {
            0
        } else {
            KIND_BYTES
        };
        let more = SHAPE_BYTES + of_kind + items * ITEM_BYTES;
        self.statics
            .reserve(&definition.metadata.name, &texts, more)?;
        let kind = self.kind(&spec.group, &version.name, kind_key);
        let (of_kind, statics) = (kind.facts(), &mut self.statics);
        let facts = ResourceFacts {
            group: of_kind.group,
            version: of_kind.version,
            kind: of_kind.kind,
            plural: statics.text(&names.plural),
            singular: statics.text(&names.singular),
            namespaced: spec.scope == "Namespaced",
            short_names: statics.all(names.short_names.iter().map(|it| &**it)),
            categories: statics.all(names.categories.iter().map(|it| &**it)),
            verbs: VERBS,
            storage_version_hash: statics.text(&hash),
            subresources: leak_list(subresources_of(of_kind, has_status, has_scale)),
            columns: leak_list(
                std::iter::once(NAME).chain(shown.iter().map(|it| column(statics, it))),
            ),
        };
        Ok(Fixed {
            kind,
            facts: Box::leak(Box::new(facts)),
            fields: statics.all(field_names(version)),
            list_kind: statics.text(&names.list_kind),
            warning: warning.map(|it| statics.text(&it)),
        })
    }

    /// Returns the kind that all shapes of that name share: kinds are compared by address.
    fn kind(&mut self, group: &str, version: &str, key: (String, String)) -> &'static Kind {
        let statics = &mut self.statics;
        let facts = KindFacts {
            group: statics.text(group),
            version: statics.text(version),
            kind: statics.text(&key.1),
            api_version: statics.text(&key.0),
        };
        self.kinds.entry(key).or_insert_with(|| {
            let schema = Box::leak(Box::new(CustomObject::schema_of(facts)));
            Box::leak(Box::new(Kind::custom(schema)))
        })
    }
}

/// The bytes of the digest that form a storage version hash, as upstream.
const HASH_BYTES: usize = 8;

fn subresources_of(
    kind: &'static KindFacts,
    has_status: bool,
    has_scale: bool,
) -> impl Iterator<Item = SubresourceFacts> {
    let status = has_status.then_some(SubresourceFacts {
        name: "status",
        group: kind.group,
        version: kind.version,
        kind: kind.kind,
        verbs: SUBRESOURCE_VERBS,
    });
    let scale = has_scale.then_some(SubresourceFacts {
        name: "scale",
        group: "autoscaling",
        version: "v1",
        kind: "Scale",
        verbs: SUBRESOURCE_VERBS,
    });
    status.into_iter().chain(scale)
}

/// Returns the deprecation warning of a version: that of the definition, or a hint to a newer
/// version.
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

/// Returns the version in which objects are stored.
fn storage_version(definition: &CustomResourceDefinition) -> &str {
    let mut versions = definition.spec.versions.iter();
    versions.find(|it| it.storage).map_or("", |it| &it.name)
}

/// Returns upstream's storage version hash, which identifies the kind in its storage version.
fn storage_hash(group: &str, storage: &str, kind: &str) -> String {
    let text = format!("{group}/{storage}/{kind}");
    let hash = digest::digest(&digest::SHA256, text.as_bytes());
    STANDARD.encode(&hash.as_ref()[..HASH_BYTES])
}
