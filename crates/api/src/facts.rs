//! The row types of the generated tables: kinds to decode by name, resources for discovery.

use kubist_apimachinery::wire::{KindFacts, Message, Schema, Wire};
use kubist_apimachinery::{AnyObject, CustomObject, KubeObject, List};
use std::fmt;

/// The verbs of most resources.
pub(crate) const ALL_VERBS: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];
/// The verbs of most subresources.
pub(crate) const SUBRESOURCE_VERBS: &[&str] = &["get", "patch", "update"];

/// A kind that can be created and decoded by name.
#[derive(Clone, Copy)]
pub struct Kind {
    schema: &'static Schema,
    /// `None` for kinds that are defined at run time.
    new: Option<fn() -> Box<dyn Message>>,
    object: Option<fn() -> Box<dyn AnyObject>>,
    is_list: bool,
}

#[allow(
    dead_code,
    reason = "without features there are no kinds with metadata"
)]
impl Kind {
    pub(crate) const fn object<K: KubeObject + Default>() -> Self {
        Self {
            schema: K::SCHEMA,
            new: Some(|| Box::new(K::default())),
            object: Some(|| Box::new(K::default())),
            is_list: false,
        }
    }

    pub(crate) const fn list<K: KubeObject + Default>() -> Self {
        Self {
            schema: <List<K> as Wire>::SCHEMA,
            new: Some(|| Box::new(List::<K>::default())),
            object: None,
            is_list: true,
        }
    }

    pub(crate) const fn message<M: Wire + Default>() -> Self {
        Self {
            schema: M::SCHEMA,
            new: Some(|| Box::new(M::default())),
            object: None,
            is_list: false,
        }
    }

    /// A kind that is defined at run time, with its own [schema](CustomObject::schema_of).
    pub const fn custom(schema: &'static Schema) -> Self {
        Self {
            schema,
            new: None,
            object: None,
            is_list: false,
        }
    }

    /// Returns the group, version and kind.
    ///
    /// # Panics
    /// Never: only kinds are in the table.
    pub fn facts(&self) -> &'static KindFacts {
        self.schema
            .kind
            .as_ref()
            .expect("only kinds are in the table")
    }

    /// Returns the schema.
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// Returns an empty message of this kind.
    pub fn new_message(&self) -> Box<dyn Message> {
        match self.new {
            Some(new) => new(),
            None => Box::new(CustomObject::new(self.schema)),
        }
    }

    /// Returns an empty object of this kind, or `None` for lists, options and other kinds without
    /// object metadata.
    pub fn new_object(&self) -> Option<Box<dyn AnyObject>> {
        if self.is_custom() {
            return Some(Box::new(CustomObject::new(self.schema)));
        }
        self.object.map(|new| new())
    }

    /// Reports whether the kind is defined at run time. Its objects are [`CustomObject`]s.
    pub fn is_custom(&self) -> bool {
        self.new.is_none()
    }

    /// Reports whether this is a list kind.
    pub fn is_list(&self) -> bool {
        self.is_list
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kind").field(&self.schema.kind).finish()
    }
}

/// Returns the kind with this group, version and name, if its feature is enabled.
pub fn find_kind(group: &str, version: &str, kind: &str) -> Option<&'static Kind> {
    crate::KINDS.iter().find(|it| {
        let facts = it.facts();
        facts.kind == kind && facts.version == version && facts.group == group
    })
}

/// Returns the kind with this `apiVersion` and `kind`, if its feature is enabled.
pub fn find_kind_by_api_version(api_version: &str, kind: &str) -> Option<&'static Kind> {
    crate::KINDS.iter().find(|it| {
        let facts = it.facts();
        facts.kind == kind && facts.api_version == api_version
    })
}

/// An API group as discovery lists it.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "tables and definitions build it")]
pub struct GroupFacts {
    /// The name; empty for core.
    pub name: &'static str,
    /// The preferred version.
    pub preferred: &'static str,
    /// The versions, the preferred one first.
    pub versions: &'static [VersionFacts],
}

/// A version of a group.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "tables and definitions build it")]
pub struct VersionFacts {
    /// The version.
    pub version: &'static str,
    /// `group/version`, or the version alone for core.
    pub api_version: &'static str,
    /// The resources.
    pub resources: &'static [ResourceFacts],
}

/// A served resource.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "tables and definitions build it")]
pub struct ResourceFacts {
    /// The group; empty for core.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The plural name, as in URLs.
    pub plural: &'static str,
    /// The singular name.
    pub singular: &'static str,
    /// Whether objects are namespaced.
    pub namespaced: bool,
    /// Short names for kubectl.
    pub short_names: &'static [&'static str],
    /// Categories, such as `all`.
    pub categories: &'static [&'static str],
    /// The supported verbs.
    pub verbs: &'static [&'static str],
    /// The storage version hash in discovery.
    pub storage_version_hash: &'static str,
    /// The subresources.
    pub subresources: &'static [SubresourceFacts],
    /// The table columns.
    pub columns: &'static [Column],
}

/// A subresource.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "tables and definitions build it")]
pub struct SubresourceFacts {
    /// The name: the last segment of the path.
    pub name: &'static str,
    /// The group of the kind.
    pub group: &'static str,
    /// The version of the kind.
    pub version: &'static str,
    /// The kind of the objects that requests and answers carry.
    pub kind: &'static str,
    /// The supported verbs.
    pub verbs: &'static [&'static str],
}

/// A table column.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "tables and definitions build it")]
pub struct Column {
    /// The heading.
    pub name: &'static str,
    /// The OpenAPI type.
    pub type_: &'static str,
    /// The OpenAPI format.
    pub format: &'static str,
    /// 0 for columns that are always shown; larger for those of wide output only.
    pub priority: i32,
}

impl Column {
    pub(crate) const fn new(name: &'static str, type_: &'static str) -> Self {
        Self {
            name,
            type_,
            format: "",
            priority: 0,
        }
    }

    pub(crate) const fn format(mut self, format: &'static str) -> Self {
        self.format = format;
        self
    }

    /// With priority 1: shown by `kubectl get -o wide` only.
    pub(crate) const fn wide(mut self) -> Self {
        self.priority = 1;
        self
    }
}
