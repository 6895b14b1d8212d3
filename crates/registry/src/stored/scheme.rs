//! `Scheme`: how the versions of kinds are converted, and how stored objects are shown.
//!
//! What upstream's `runtime.Scheme` is to its storage, as a table of functions without state: it
//! knows what a set of kinds has of its own, and is plain where the set says nothing.

use super::Stored;
use crate::stored::custom_object::custom;
use kubist_api::Kind;
use kubist_apimachinery::wire::{DecodeContext, KindFacts, merge_json, to_json_value};
use kubist_apimachinery::{AnyObject, Status, Str};
use serde_json::Value;
use std::fmt;

/// Writes the kinds of the objects that an object embeds into its finished JSON.
pub type AddEmbeddedKinds = fn(Vec<u8>, &dyn AnyObject) -> Result<Vec<u8>, Status>;

/// What a set of kinds has of its own. Update [`PLAIN`](Self::PLAIN) with `..`.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "updated with `..PLAIN`")]
pub struct Scheme {
    /// Rearranges the JSON of an object of one version (the first facts) to that of another
    /// version of its kind, before fields are matched by name. Plain: nothing is rearranged.
    pub rearrange: fn(&mut Value, &KindFacts, &KindFacts),
    /// Returns what reading a stored object adds to it: the completed object, or None if nothing
    /// is missing. Plain: nothing.
    pub complete: fn(&Stored) -> Option<Box<dyn AnyObject>>,
    /// Whether objects of a kind embed objects that state their own kind in JSON. Plain: none.
    pub embeds_kinds: fn(&Kind) -> bool,
    /// Writes the kinds of embedded objects into the finished JSON of an object.
    pub add_embedded_kinds: AddEmbeddedKinds,
    /// Adds the kinds of embedded objects to the JSON tree of an object, for patches: they see what
    /// clients see.
    pub add_kinds_to_tree: fn(&mut Value, &Kind),
    /// The annotations that stand for fields of upstream's internal form of a kind; they are left
    /// out where only metadata is asked for. Plain: none.
    pub field_annotations: fn(&Kind) -> &'static [&'static str],
    /// The scale of an object of a storage version. Plain: it has none.
    pub replicas: fn(&dyn AnyObject) -> Option<Replicas>,
    /// Changes how many replicas an object wants.
    pub set_replicas: fn(&mut dyn AnyObject, i32),
}

/// The numbers of a scale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a scale has no others")]
pub struct Replicas {
    /// How many are wanted.
    pub wanted: i32,
    /// How many there are.
    pub current: i32,
    /// What selects them, as text.
    pub selector: Str,
}

impl Scheme {
    /// Versions that differ in the names of fields only.
    pub const PLAIN: Self = Self {
        rearrange: |_, _, _| {},
        complete: |_| None,
        embeds_kinds: |_| false,
        add_embedded_kinds: |json, _| Ok(json),
        add_kinds_to_tree: |_, _| {},
        field_annotations: |_| &[],
        replicas: |_| None,
        set_replicas: |_, _| {},
    };

    /// Converts an object between two versions of its kind. Fields that the other version lacks
    /// are lost. Returns the same object if the versions are the same.
    ///
    /// Most versions differ in names and in what they lack, so they meet in JSON: fields of the
    /// same name go over, after [`rearrange`](Self::rearrange).
    ///
    /// # Errors
    /// The two are not versions of one kind: the fields of one do not fit into the other.
    pub fn convert(
        &self,
        object: Box<dyn AnyObject>,
        from: &'static Kind,
        to: &'static Kind,
    ) -> Result<Box<dyn AnyObject>, Status> {
        if std::ptr::eq(from, to) {
            return Ok(object);
        }
        if let (true, Some(custom)) = (to.is_custom(), custom(&*object)) {
            // Versions of custom resources differ in name only.
            let mut converted = custom.clone();
            converted.set_schema(to.schema());
            return Ok(Box::new(converted));
        }
        let (from, facts) = (from.facts(), to.facts());
        let mut json = to_json_value(&*object);
        (self.rearrange)(&mut json, from, facts);
        let bytes = serde_json::to_vec(&json).map_err(Status::internal_error)?;
        let mut converted = to.new_object().ok_or_else(|| {
            Status::internal_error(format_args!("{} has no metadata", facts.kind))
        })?;
        merge_json(&mut *converted, &bytes, &mut DecodeContext::new()).map_err(|error| {
            let versions = format!("{} to {}", from.api_version, facts.api_version);
            Status::internal_error(format_args!(
                "converting {} from {versions}: {error}",
                facts.kind
            ))
        })?;
        Ok(converted)
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheme").finish_non_exhaustive()
    }
}

/// A kind of stored objects, with the scheme of the set that it belongs to.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is a pair")]
pub struct StoredKind {
    /// The kind.
    pub kind: &'static Kind,
    /// How its versions are converted and its objects shown.
    pub scheme: &'static Scheme,
}

impl StoredKind {
    /// Another version of the kind.
    pub(crate) fn version(self, kind: &'static Kind) -> Self {
        Self { kind, ..self }
    }

    /// Converts an object of this version.
    pub(crate) fn convert(
        self,
        object: Box<dyn AnyObject>,
        to: &'static Kind,
    ) -> Result<Box<dyn AnyObject>, Status> {
        self.scheme.convert(object, self.kind, to)
    }
}

/// A kind without peculiarities.
impl From<&'static Kind> for StoredKind {
    fn from(kind: &'static Kind) -> Self {
        Self {
            kind,
            scheme: &Scheme::PLAIN,
        }
    }
}
