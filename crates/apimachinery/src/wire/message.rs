//! `Message`: one API struct as the engine sees it, and `Wire`: the same with its type known.

use super::{DecodeContext, ReverseWriter, Schema, Slot, View, WireError};
use serde_json::{Map, Value};
use std::any::Any;
use std::borrow::Cow;
use std::fmt;

/// The JSON form of a scalar message (`Time`, `Quantity`, `IntOrString`, …).
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has no other scalars")]
pub enum JsonScalar<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Str(Cow<'a, str>),
}

impl JsonScalar<'_> {
    /// The name of the JSON type, as error texts give it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Float(_) => "number",
            Self::Str(_) => "string",
        }
    }
}

/// An API struct: its schema, and its fields by index. Dyn-safe.
pub trait Message: Any + fmt::Debug + Send + Sync {
    /// The facts of this type.
    fn schema(&self) -> &'static Schema;

    /// Write access to field `index` of the schema; none if there is no such field.
    fn slot(&mut self, index: usize) -> Option<Slot<'_>>;

    /// Read access to field `index` of the schema; none if there is no such field.
    fn view(&self, index: usize) -> Option<View<'_>>;

    /// For kinds that are made known at run time: the fields that the schema does not know.
    fn others(&self) -> Option<&Map<String, Value>> {
        None
    }

    /// The same, to change them.
    fn others_mut(&mut self) -> Option<&mut Map<String, Value>> {
        None
    }

    /// For [`JsonForm::Scalar`](super::JsonForm::Scalar): the JSON form.
    fn scalar(&self) -> JsonScalar<'_> {
        JsonScalar::Null
    }

    /// For [`JsonForm::Scalar`](super::JsonForm::Scalar): takes the JSON form. Null never comes.
    fn set_scalar(&mut self, scalar: JsonScalar<'_>) -> Result<(), String> {
        Err(format!("unexpected {}", scalar.type_name()))
    }

    /// For [`JsonForm::Scalar`](super::JsonForm::Scalar): puts the protobuf fields in front.
    fn prepend_scalar(&self, out: &mut ReverseWriter) {
        let _ = out;
    }

    /// For [`JsonForm::Scalar`](super::JsonForm::Scalar): takes the protobuf fields.
    fn merge_scalar(&mut self, bytes: &[u8], cx: &mut DecodeContext) -> Result<(), WireError> {
        let _ = (bytes, cx);
        Ok(())
    }

    /// For [`JsonForm::Raw`](super::JsonForm::Raw): the JSON text; empty means absent (null).
    fn raw_json(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    /// For [`JsonForm::Raw`](super::JsonForm::Raw): takes JSON text. Null never comes.
    fn set_raw_json(&mut self, text: &str, cx: &mut DecodeContext) -> Result<(), WireError> {
        let _ = (text, cx);
        Ok(())
    }
}

impl<T: Message> Message for Box<T> {
    fn schema(&self) -> &'static Schema {
        (**self).schema()
    }
    fn slot(&mut self, index: usize) -> Option<Slot<'_>> {
        (**self).slot(index)
    }
    fn view(&self, index: usize) -> Option<View<'_>> {
        (**self).view(index)
    }
    fn scalar(&self) -> JsonScalar<'_> {
        (**self).scalar()
    }
    fn set_scalar(&mut self, scalar: JsonScalar<'_>) -> Result<(), String> {
        (**self).set_scalar(scalar)
    }
    fn prepend_scalar(&self, out: &mut ReverseWriter) {
        (**self).prepend_scalar(out);
    }
    fn merge_scalar(&mut self, bytes: &[u8], cx: &mut DecodeContext) -> Result<(), WireError> {
        (**self).merge_scalar(bytes, cx)
    }
    fn raw_json(&self) -> Cow<'_, str> {
        (**self).raw_json()
    }
    fn set_raw_json(&mut self, text: &str, cx: &mut DecodeContext) -> Result<(), WireError> {
        (**self).set_raw_json(text, cx)
    }
}

/// Encoding and decoding for callers that know the type.
pub trait Wire: Message + Default + Sized {
    /// The facts of this type.
    const SCHEMA: &'static Schema;

    /// Decodes protobuf (the bare message, without the `k8s\0` envelope).
    fn from_protobuf(bytes: &[u8], cx: &mut DecodeContext) -> Result<Self, WireError> {
        let mut message = Self::default();
        super::merge_protobuf(&mut message, bytes, cx)?;
        Ok(message)
    }

    /// Decodes JSON text. `apiVersion` and `kind` of a kind are skipped, not checked.
    fn from_json(bytes: &[u8], cx: &mut DecodeContext) -> Result<Self, WireError> {
        let mut message = Self::default();
        super::merge_json(&mut message, bytes, cx)?;
        Ok(message)
    }

    /// The protobuf bytes, exactly as upstream's encoder writes them (no envelope).
    fn to_protobuf(&self) -> Vec<u8> {
        super::to_protobuf(self)
    }

    /// The JSON text; a kind begins with `kind` and `apiVersion`.
    fn to_json(&self) -> Vec<u8> {
        super::to_json(self)
    }
}

impl<T: Wire> Wire for Box<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
}
