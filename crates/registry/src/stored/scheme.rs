//! `Scheme`: conversions between versions of kinds, and the presentation of stored objects.
//!
//! The counterpart of upstream's `runtime.Scheme` for storage, as a stateless table of functions: a
//! set of kinds supplies its special rules, and the defaults are plain.

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
    /// Rearranges the JSON of an object of one version (the first facts) for another version of its
    /// kind, before fields are matched by name. Plain: no change.
    pub rearrange: fn(&mut Value, &KindFacts, &KindFacts),
    /// Returns a stored object with the fields added on read, or `None` if nothing is missing.
    /// Plain: `None`.
    pub complete: fn(&Stored) -> Option<Box<dyn AnyObject>>,
    /// Whether objects of a kind embed objects that state their own kind in JSON. Plain: none.
    pub embeds_kinds: fn(&Kind) -> bool,
    /// Writes the kinds of embedded objects into the finished JSON of an object.
    pub add_embedded_kinds: AddEmbeddedKinds,
    /// Adds the kinds of embedded objects to the JSON tree of an object, for patches: they see what
    /// clients see.
    pub add_kinds_to_tree: fn(&mut Value, &Kind),
    /// The annotations that stand for fields of upstream's internal form of a kind; they are
    /// omitted from metadata-only responses. Plain: none.
    pub field_annotations: fn(&Kind) -> &'static [&'static str],
    /// Returns the scale of an object of a storage version. Plain: `None`.
    pub replicas: fn(&dyn AnyObject) -> Option<Replicas>,
    /// Sets the desired replicas of an object.
    pub set_replicas: fn(&mut dyn AnyObject, i32),
}

/// The numbers of a scale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a scale has no others")]
pub struct Replicas {
    /// The desired replicas.
    pub desired: i32,
    /// The current replicas.
    pub current: i32,
    /// Their selector, as text.
    pub selector: Str,
}

impl Scheme {
    /// A scheme for versions that differ only in field names.
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
    /// Most versions differ in names and in missing fields, so the conversion goes through JSON:
    /// fields of the same name are copied, after [`rearrange`](Self::rearrange).
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
            // Versions of custom resources differ only in name.
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

/// A kind of stored objects, with its scheme.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is a pair")]
pub struct StoredKind {
    /// The kind.
    pub kind: &'static Kind,
    /// The scheme of its set of kinds.
    pub scheme: &'static Scheme,
}

impl StoredKind {
    /// Returns a kind with the plain scheme: nothing is added on read, and versions differ only in
    /// field names.
    pub const fn plain(kind: &'static Kind) -> Self {
        Self {
            kind,
            scheme: &Scheme::PLAIN,
        }
    }

    /// Returns another version of the kind.
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
