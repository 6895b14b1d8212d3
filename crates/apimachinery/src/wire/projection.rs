//! Projections: structs of a few fields of a kind, decoded directly from the wire.
//!
//! One pass over an object's bytes fills all fields; others are skipped without decoding or
//! allocating. Skipped parts are only checked for protobuf lengths or JSON syntax. A projection is
//! read-only: it cannot be written back.
//!
//! `#[derive(Projection)]` in `kubist-derive` implements everything; its documentation has the path
//! syntax.

mod check;
mod json;
mod plan;
mod protobuf;

use super::{DecodeContext, Encoding, FieldAccess, FieldType, Slot, View, Wire, WireError};
use crate::{ByteString, KubeObject, LeanMeta, Object, ObjectMeta, Str};

pub use check::{PathCheck, check_path, is_key_path, part_field};
pub(super) use plan::{Leaf, Step};
pub use plan::{PathError, ProjectionPlan};

use std::collections::BTreeMap;

/// The fields of a projection, by the index of their path.
pub trait ProjectionFields: Send + Sync {
    /// Returns write access to field `index`; none if there is no such field.
    fn slot(&mut self, index: usize) -> Option<Slot<'_>>;

    /// Returns read access to field `index`; none if there is no such field.
    fn view(&self, index: usize) -> Option<View<'_>>;
}

/// A struct of some fields of a kind.
pub trait Projection: ProjectionFields + Object + Default {
    /// The kind.
    type Kind: KubeObject;

    /// The path of each field.
    const PATHS: &'static [&'static str];

    /// Returns the plan of [`Self::PATHS`] in the kind's schema; built once.
    ///
    /// # Errors
    /// A path does not lead to a field; the derive checks this at compile time.
    fn plan() -> Result<&'static ProjectionPlan, &'static PathError>;
}

/// Decodes a projection.
///
/// # Errors
/// The bytes are malformed before one of the fields, or a field has another type.
pub fn project<P: Projection>(
    bytes: &[u8],
    encoding: Encoding,
    cx: &mut DecodeContext,
) -> Result<P, WireError> {
    let mut projection = P::default();
    let plan = P::plan().map_err(PathError::to_wire)?;
    fill(&mut projection, plan, bytes, encoding, cx)?;
    Ok(projection)
}

fn fill(
    fields: &mut dyn ProjectionFields,
    plan: &ProjectionPlan,
    bytes: &[u8],
    encoding: Encoding,
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    cx.reset();
    cx.check_length(bytes.len())?;
    match encoding {
        Encoding::Json => json::project(fields, plan, 0, bytes, cx),
        Encoding::Protobuf => protobuf::project(fields, plan, bytes, cx),
    }
}

/// The metadata of a projection: all of it in [`ObjectMeta`], or what caches and controllers read
/// in [`LeanMeta`].
pub trait ProjectionMeta: Object + Wire + Default {
    /// Same as [`Ingest::drop_managed_fields`](super::Ingest::drop_managed_fields).
    fn drop_managed_fields(&mut self) {}
}

impl ProjectionMeta for ObjectMeta {
    fn drop_managed_fields(&mut self) {
        Self::drop_managed_fields(self);
    }
}

impl ProjectionMeta for LeanMeta {}

/// A Rust type of a projection field.
pub trait ProjectionField: FieldAccess {
    /// The schema type that it accepts; `Option<T>` accepts what `T` accepts.
    const TAKES: FieldType;
}

macro_rules! takes {
    ($($type:ty => $field:ident),* $(,)?) => {$(
        impl ProjectionField for $type {
            const TAKES: FieldType = FieldType::$field;
        }
    )*};
}

takes! {
    bool => Bool, Option<bool> => Bool, Vec<bool> => BoolList,
    i32 => I32, Option<i32> => I32, Vec<i32> => I32List,
    i64 => I64, Option<i64> => I64, Vec<i64> => I64List,
    f64 => F64, Option<f64> => F64,
    Str => Str, Option<Str> => Str, Vec<Str> => StrList, BTreeMap<Str, Str> => StrMap,
    ByteString => Bytes, Option<ByteString> => Bytes, Vec<ByteString> => BytesList,
    BTreeMap<Str, ByteString> => BytesMap,
}

impl<T: Wire> ProjectionField for T {
    const TAKES: FieldType = FieldType::Message(T::SCHEMA);
}

impl<T: Wire + Default> ProjectionField for Option<T> {
    const TAKES: FieldType = FieldType::Message(T::SCHEMA);
}

impl<T: Wire + Default> ProjectionField for Vec<T> {
    const TAKES: FieldType = FieldType::MessageList(T::SCHEMA);
}

impl<T: Wire + Default> ProjectionField for BTreeMap<Str, T> {
    const TAKES: FieldType = FieldType::MessageMap(T::SCHEMA);
}
