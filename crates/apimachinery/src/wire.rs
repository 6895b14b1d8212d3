//! The wire formats: conversion of API messages to JSON and protobuf, and back.
//!
//! Every API struct implements [`Message`]: a static [`Schema`] that lists its fields, and access
//! to each field by index as a [`Slot`] (to write) or a [`View`] (to read). One engine, compiled
//! once, walks schema and slots, so a type adds two `match`es and a table instead of its own
//! decoder. [`Wire`] is the interface for callers that know the type.
//!
//! Promises:
//! - protobuf output is byte-exact with upstream's encoder: fields in number order, Go's value
//!   fields always written, map entries sorted and with key and value;
//! - JSON has upstream's field order and omission rules;
//! - decoding never panics and keeps to the limits of its [`DecodeContext`].
//!
//! Content negotiation, envelopes, incremental lists and YAML are in `codec`.

mod context;
mod debug;
mod encode;
mod error;
mod failure;
mod field_access;
mod heap;
mod ingest;
mod interner;
mod json;
mod json_check;
mod json_encode;
mod json_quick;
mod json_text;
mod json_view;
mod json_write;
mod message;
mod projection;
#[cfg(feature = "prost")]
mod prost_adapter;
mod protobuf;
mod protobuf_encode;
mod raw;
mod raw_field;
mod reverse_writer;
mod scalar;
pub mod scan;
mod schema;
mod seen;
mod serde_field;
mod structure_plan;
#[cfg(test)]
mod tests;
mod varint;
mod wanted;

#[doc(hidden)]
pub use ::{bytes::Bytes, serde, serde_json};
#[cfg(feature = "prost")]
pub use ::prost;
pub use context::{DecodeContext, Limits, Segment, StrictProblem};
pub use debug::debug_message;
pub(crate) use encode::drop_nulls;
pub use encode::{Encode, EncodeError, encode, try_encode};
pub use error::{WireError, WireErrorKind};
pub use field_access::{FieldAccess, MessageList, MessageMap, OptMessage, Slot, View};
pub use heap::{heap_size, projected_heap_size};
pub use ingest::{Encoding, Ingest, decode};
pub use interner::Interner;
pub use json::{deserialize, merge_json};
pub use json_check::is_json;
pub use json_encode::{Json, to_json_value};
pub use json_view::{is_json_null, same_view, view_to_json, written_field};
pub use json_write::to_json;
pub use message::{JsonScalar, Message, Wire};
pub use projection::{
    PathCheck, PathError, Projection, ProjectionField, ProjectionFields, ProjectionMeta,
    ProjectionPlan, check_path, is_key_path, part_field, project,
};
#[cfg(feature = "prost")]
pub use prost_adapter::merge_prost_field;
pub use protobuf::merge_protobuf;
pub use protobuf_encode::{prepend_view, to_protobuf};
pub use raw::{FIELDS_V1, FieldsV1, RAW_EXTENSION, RAW_JSON, RawExtension, RawJson};
pub use raw_field::{
    RawField, delimited_length, push_delimited, push_header, raw_fields, skip_field, split_tag,
};
pub use reverse_writer::ReverseWriter;
pub use scalar::{DURATION, INT_OR_STRING, MICRO_TIME, QUANTITY, TIME};
pub use scan::{MetadataSpans, ScalarField, ScalarFieldError, Scan, ScannedOwners, ScannedPairs};
pub use schema::{
    Entry, Field, FieldFlags, FieldType, JsonForm, KindFacts, ListType, Merge, Schema, names_size,
    order_by_number, table_of_names,
};
pub use serde_field::{SERDE_FIELD, SerdeField, SerdeFieldError};
pub use varint::{PartialVarint, VARINT_BYTES_MAX, int32, push_varint, varint, varint_length};
pub use wanted::{to_manifest, to_wanted};

/// Expands to nothing without the feature `prost`.
#[cfg(not(feature = "prost"))]
#[macro_export]
macro_rules! prost_message {
    ($type:ty) => {};
}

/// Implements `Debug` for a [`Message`] through its schema, with one function for all types instead
/// of a derive for each.
#[macro_export]
macro_rules! message_debug {
    ($type:ty) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::wire::debug_message(self, f)
            }
        }
    };
}

/// Implements [`Message`] and [`Wire`] for a struct, from the name of its [`Schema`] static and
/// its fields with their indexes in that schema.
#[macro_export]
macro_rules! message {
    ($type:ty, $schema:ident, [$($index:literal $field:ident),* $(,)?]) => {
        impl $crate::wire::Message for $type {
            fn schema(&self) -> &'static $crate::wire::Schema {
                &$schema
            }
            fn slot(&mut self, index: usize) -> Option<$crate::wire::Slot<'_>> {
                match index {
                    $($index => Some($crate::wire::FieldAccess::slot(&mut self.$field)),)*
                    _ => None,
                }
            }
            fn view(&self, index: usize) -> Option<$crate::wire::View<'_>> {
                match index {
                    $($index => Some($crate::wire::FieldAccess::view(&self.$field)),)*
                    _ => None,
                }
            }
            fn prepend_field(
                &self,
                index: usize,
                field: &$crate::wire::Field,
                out: &mut $crate::wire::ReverseWriter,
            ) {
                match index {
                    $($index => $crate::wire::FieldAccess::prepend(&self.$field, field, out),)*
                    _ => {}
                }
            }
        }
        impl $crate::wire::Wire for $type {
            const SCHEMA: &'static $crate::wire::Schema = &$schema;
            $crate::decode_into_default!();
        }
        $crate::prost_message!($type);
        impl $crate::wire::serde::Serialize for $type {
            fn serialize<S: $crate::wire::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::wire::Json::top(self).serialize(serializer)
            }
        }
        impl<'de> $crate::wire::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::wire::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::deserialize(deserializer)
            }
        }
    };
}
