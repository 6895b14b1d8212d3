//! `Pipeline`: the steps between the JSON of a custom object and its use, for one version.
//!
//! The order is upstream's. A request body is parsed, pruned and defaulted in its own version. A
//! stored object is parsed, pruned and defaulted in the version it is stored in, then converted to
//! the requested version, and pruned there. A written object is converted to the storage version
//! and pruned there; defaults are not added on this way.
//!
//! A stored object that the steps would not change is served from its stored form, without
//! decoding: that is found out from its text, once for each object and schema.

use crate::custom::compiled_schema::CompiledSchema;
use kubist_api::Kind;
use kubist_api::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionVersion};
use kubist_apimachinery::{CustomObject, FieldError};
use kubist_schema::{
    CompiledRules, Malformed, Schema, UnknownFields, apply_defaults, coerce_metadata, is_settled,
    prune, remove_nulls,
};
use serde_json::Value;
use std::sync::Arc;

/// The steps for the objects of one version of a definition.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    /// The version.
    pub(crate) kind: &'static Kind,
    schema: Option<Arc<CompiledSchema>>,
    /// Whether fields that the schema lacks are kept, which only definitions from before
    /// `apiextensions.k8s.io/v1` can say.
    keeps_unknown_fields: bool,
}

impl Pipeline {
    /// Returns the steps of a version of a definition, of which `schema` is the schema as JSON.
    pub(crate) fn new(
        definition: &CustomResourceDefinition,
        version: &CustomResourceDefinitionVersion,
        schema: Option<&Value>,
        kind: &'static Kind,
    ) -> Self {
        Self {
            kind,
            schema: CompiledSchema::of(version, schema),
            keeps_unknown_fields: definition.spec.preserve_unknown_fields,
        }
    }

    /// Returns no steps, for objects that are only deleted.
    pub(crate) fn plain(kind: &'static Kind) -> Self {
        Self {
            kind,
            schema: None,
            keeps_unknown_fields: true,
        }
    }

    /// Returns the schema of the version.
    pub(crate) fn schema(&self) -> Option<&Schema> {
        self.schema.as_deref().map(|it| &*it.schema)
    }

    /// Returns the CEL rules of the schema.
    pub(crate) fn rules(&self) -> Option<&CompiledRules> {
        self.schema.as_deref()?.rules.as_ref()
    }

    /// Returns what identifies the steps of a read: 0 if there are none.
    pub(crate) fn reading(&self) -> u64 {
        let id = self.schema.as_deref().map_or(0, |it| it.id);
        id << 1 | u64::from(self.keeps_unknown_fields && id > 0)
    }

    /// Reports whether a read leaves an object as it is stored.
    pub(crate) fn reads_unchanged(&self, object: &CustomObject) -> bool {
        let mut read = object.clone();
        self.read(&mut read);
        read.content() == object.content()
    }

    /// Reports whether a read certainly leaves an object with this text as it is stored.
    pub(crate) fn is_settled(&self, text: &[u8]) -> bool {
        let schema = self.schema();
        schema.is_none_or(|it| is_settled(text, it, self.keeps_unknown_fields))
    }

    /// Completes a request body, except for defaults, and records the fields that it removes.
    ///
    /// # Errors
    /// The metadata of an embedded resource is malformed.
    pub(crate) fn request(
        &self,
        object: &mut CustomObject,
        unknown: Option<&mut UnknownFields>,
    ) -> Result<(), FieldError> {
        self.prune(object, Malformed::Refuse, unknown)
    }

    /// Sets defaults.
    pub(crate) fn apply_defaults(&self, object: &mut CustomObject) {
        if let Some(schema) = self.schema() {
            apply_defaults(object.content_mut(), schema);
        }
    }

    /// Completes an object that was read from storage in this version, before any conversion.
    pub(crate) fn read(&self, object: &mut CustomObject) {
        self.repair(object);
        self.apply_defaults(object);
    }

    /// Completes an object that was converted to this version.
    pub(crate) fn converted(&self, object: &mut CustomObject) {
        self.repair(object);
    }

    fn repair(&self, object: &mut CustomObject) {
        // Malformed metadata is dropped, so there are no errors.
        drop(self.prune(object, Malformed::Drop, None));
    }

    fn prune(
        &self,
        object: &mut CustomObject,
        malformed: Malformed,
        mut unknown: Option<&mut UnknownFields>,
    ) -> Result<(), FieldError> {
        let Some(schema) = self.schema() else {
            return Ok(());
        };
        let content = object.content_mut();
        if !self.keeps_unknown_fields {
            prune(content, Some(schema), unknown.as_deref_mut());
            remove_nulls(content, schema);
        }
        coerce_metadata(content, schema, malformed, unknown)
    }
}
