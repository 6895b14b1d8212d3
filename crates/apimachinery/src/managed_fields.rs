//! `ManagedFieldsEntry`: the fields of one field manager (server-side apply).

use crate::wire::{Field, FieldFlags as F, FieldType, FieldsV1, JsonForm};
use crate::{Str, Time, message, schema};

/// The fields of one manager. The set itself stays JSON text (see [`FieldsV1`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedFieldsEntry {
    /// The manager.
    pub manager: Str,
    /// `Apply` or `Update`.
    pub operation: Str,
    /// The API version of the field names.
    pub api_version: Str,
    /// The time of the last change of the set.
    pub time: Option<Time>,
    /// `FieldsV1`.
    pub fields_type: Str,
    /// The fields.
    pub fields_v1: Option<FieldsV1>,
    /// The written subresource; empty for the main resource.
    pub subresource: Str,
}

schema!(pub(crate) MANAGED_FIELDS_ENTRY = "ManagedFieldsEntry",
    "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry", JsonForm::Object, None, [
    Field::new("manager", 1, FieldType::Str, F::OMIT_EMPTY),
    Field::new("operation", 2, FieldType::Str, F::OMIT_EMPTY),
    Field::new("apiVersion", 3, FieldType::Str, F::OMIT_EMPTY),
    Field::new("time", 4, FieldType::Message(&crate::wire::TIME), F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("fieldsType", 6, FieldType::Str, F::OMIT_EMPTY),
    Field::new("fieldsV1", 7, FieldType::Message(&crate::wire::FIELDS_V1),
        F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("subresource", 8, FieldType::Str, F::OMIT_EMPTY),
]);

message!(ManagedFieldsEntry, MANAGED_FIELDS_ENTRY, [
    0 manager, 1 operation, 2 api_version, 3 time, 4 fields_type, 5 fields_v1, 6 subresource,
]);
