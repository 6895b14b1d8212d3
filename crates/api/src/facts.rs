//! What the generated tables are made of: kinds to decode by name, resources for discovery.

use std::fmt;

use kubist_apimachinery::wire::{
    Field, FieldFlags, FieldType, KindFacts, Merge, Message, Schema, Wire,
};
use kubist_apimachinery::{AnyObject, CustomObject, KubeObject, List};

/// A field of a generated schema; `flags` are the bits of [`FieldFlags`].
pub(crate) const fn field(json: &'static str, number: u32, ty: FieldType, flags: u8) -> Field {
    Field::new(json, number, ty, FieldFlags(flags))
}

/// Merge facts of a generated schema.
pub(crate) const fn merge(
    merge: bool,
    retain_keys: bool,
    replace: bool,
    key: &'static str,
) -> Merge {
    Merge {
        merge,
        retain_keys,
        replace,
        key,
    }
}

/// A kind that can be made and decoded by its name.
#[derive(Clone, Copy)]
pub struct Kind {
    schema: &'static Schema,
    /// None for kinds that are made known at run time.
    new: Option<fn() -> Box<dyn Message>>,
    object: Option<fn() -> Box<dyn AnyObject>>,
    is_list: bool,
}

impl Kind {
    pub(crate) const fn object<K: KubeObject>() -> Self {
        Self {
            schema: K::SCHEMA,
            new: Some(|| Box::new(K::default())),
            object: Some(|| Box::new(K::default())),
            is_list: false,
        }
    }

    pub(crate) const fn list<K: KubeObject>() -> Self {
        Self {
            schema: <List<K> as Wire>::SCHEMA,
            new: Some(|| Box::new(List::<K>::default())),
            object: None,
            is_list: true,
        }
    }

    pub(crate) const fn message<M: Wire>() -> Self {
        Self {
            schema: M::SCHEMA,
            new: Some(|| Box::new(M::default())),
            object: None,
            is_list: false,
        }
    }

    /// A kind that is made known at run time, by a [schema](CustomObject::schema_of) of its own.
    pub const fn custom(schema: &'static Schema) -> Self {
        Self {
            schema,
            new: None,
            object: None,
            is_list: false,
        }
    }

    /// Group, version and kind.
    ///
    /// # Panics
    /// Never: the table holds kinds only.
    pub fn facts(&self) -> &'static KindFacts {
        self.schema
            .kind
            .as_ref()
            .expect("only kinds are in the table")
    }

    /// The schema.
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// An empty message of this kind.
    pub fn new_message(&self) -> Box<dyn Message> {
        match self.new {
            Some(new) => new(),
            None => Box::new(CustomObject::new(self.schema)),
        }
    }

    /// An empty object of this kind; none for lists, options and other kinds without metadata.
    pub fn new_object(&self) -> Option<Box<dyn AnyObject>> {
        if self.is_custom() {
            return Some(Box::new(CustomObject::new(self.schema)));
        }
        self.object.map(|new| new())
    }

    /// Whether it was made known at run time: its objects are [`CustomObject`]s.
    pub fn is_custom(&self) -> bool {
        self.new.is_none()
    }

    /// Whether it is a list of another kind.
    pub fn is_list(&self) -> bool {
        self.is_list
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kind").field(&self.schema.kind).finish()
    }
}

/// The kind with this group, version and name, if its feature is on.
pub fn find_kind(group: &str, version: &str, kind: &str) -> Option<&'static Kind> {
    crate::KINDS.iter().find(|it| {
        let facts = it.facts();
        facts.kind == kind && facts.version == version && facts.group == group
    })
}

/// The kind that `apiVersion` and `kind` name, if its feature is on.
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
    /// The versions, preferred first.
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
    /// The plural, as in URLs.
    pub plural: &'static str,
    /// The singular.
    pub singular: &'static str,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Short names that kubectl takes.
    pub short_names: &'static [&'static str],
    /// Categories, such as `all`.
    pub categories: &'static [&'static str],
    /// What can be done.
    pub verbs: &'static [&'static str],
    /// The hash that discovery shows.
    pub storage_version_hash: &'static str,
    /// Paths below an object.
    pub subresources: &'static [SubresourceFacts],
    /// The columns of its table.
    pub columns: &'static [Column],
}

/// A path below an object.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "tables and definitions build it")]
pub struct SubresourceFacts {
    /// The last part of the path.
    pub name: &'static str,
    /// The group of its kind.
    pub group: &'static str,
    /// The version of its kind.
    pub version: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// What can be done.
    pub verbs: &'static [&'static str],
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "tables and definitions build it")]
pub struct Column {
    /// The heading.
    pub name: &'static str,
    /// The OpenAPI type.
    pub type_: &'static str,
    /// The OpenAPI format.
    pub format: &'static str,
    /// 0 is shown always, more only when wide.
    pub priority: i32,
}
