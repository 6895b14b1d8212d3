//! `Extractor`: the configuration that a manager has applied, from a live object.

use crate::object_type::{ExtractError, ObjectType};
use crate::schema::{Schema, TypeRef};
use crate::zeros::add_zeros;
use kubist_apimachinery::apply::ApplyConfiguration;
use kubist_apimachinery::wire::{Wire, to_json_value};
use kubist_apimachinery::{HasMetadata, ObjectMeta};
use serde_json::Value;
use std::marker::PhantomData;

/// Extracts apply configurations of one kind. The counterpart of client-go's `Extract…` functions;
/// making one reads the schema of the kind, so callers keep it.
///
/// ```
/// use kubist_api::apply::apps::v1::{DeploymentApply, DeploymentSpecApply};
/// use kubist_api::apps::v1::Deployment;
/// use kubist_apimachinery::wire::FieldsV1;
/// use kubist_apimachinery::ManagedFieldsEntry;
/// use kubist_field_manager::Extractor;
///
/// let mut live = Deployment::default();
/// live.metadata.name = "web".into();
/// live.spec.replicas = Some(3);
/// live.spec.revision_history_limit = Some(10);
/// live.metadata.managed_fields.push(ManagedFieldsEntry {
///     manager: "scaler".into(),
///     operation: "Apply".into(),
///     fields_v1: Some(FieldsV1 { raw: r#"{"f:spec":{"f:replicas":{}}}"#.into() }),
///     ..ManagedFieldsEntry::default()
/// });
/// let extractor = Extractor::<DeploymentApply>::new();
/// let applied = extractor.extract(&live, "scaler")?.unwrap();
/// let spec = DeploymentSpecApply::new().replicas(3);
/// assert_eq!(applied, DeploymentApply::new("web").spec(spec));
/// # Ok::<(), kubist_field_manager::ExtractError>(())
/// ```
#[derive(Debug)]
pub struct Extractor<A> {
    object_type: ObjectType,
    configuration: PhantomData<fn() -> A>,
}

impl<A: ApplyConfiguration> Extractor<A> {
    /// Reads the schema of the kind.
    pub fn new() -> Self {
        let object_type = ObjectType {
            schema: Schema::from_wire([A::SCHEMA]).into(),
            root: TypeRef::of_wire(A::SCHEMA),
        };
        Self {
            object_type,
            configuration: PhantomData,
        }
    }

    /// Returns what a field manager has applied of an object, to be changed and applied again; none
    /// if it has applied nothing. It has the name and, if the object has one, the namespace. It has
    /// the zeros that the manager owns, which the object does not show. (client-go loses those.)
    ///
    /// # Errors
    /// The managed fields cannot be read, or the object does not fit the schema.
    pub fn extract(&self, object: &A::Type, manager: &str) -> Result<Option<A>, ExtractError>
    where
        A::Type: Wire + HasMetadata<Metadata = ObjectMeta>,
    {
        self.extract_subresource(object, manager, "")
    }

    /// Same as [`Self::extract`], for what was applied through a subresource, such as `status`.
    ///
    /// # Errors
    /// Same as [`Self::extract`].
    pub fn extract_subresource(
        &self,
        object: &A::Type,
        manager: &str,
        subresource: &str,
    ) -> Result<Option<A>, ExtractError>
    where
        A::Type: Wire + HasMetadata<Metadata = ObjectMeta>,
    {
        let metadata = object.object_metadata();
        let entries = &metadata.managed_fields;
        let Some(applied) = ObjectType::applied_fields(entries, manager, subresource)? else {
            return Ok(None);
        };
        let mut fields = self.object_type.select(to_json_value(object), &applied)?;
        add_zeros(&applied, A::SCHEMA, &mut fields);
        let owned = fields
            .entry("metadata")
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
        // Null, if the manager owns the metadata as such, and others have put fields into it.
        if !owned.is_object() {
            *owned = Value::Object(serde_json::Map::new());
        }
        if let Value::Object(owned) = owned {
            for (name, value) in [("name", &metadata.name), ("namespace", &metadata.namespace)] {
                if !value.is_empty() {
                    owned.insert(name.to_owned(), value.as_str().into());
                }
            }
        }
        Ok(Some(A::from_fields(fields)))
    }
}

impl<A: ApplyConfiguration> Default for Extractor<A> {
    fn default() -> Self {
        Self::new()
    }
}
