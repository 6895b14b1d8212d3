//! `Message`: the engine's view of an API struct, and `Wire`: the typed interface.

use super::{DecodeContext, Field, ReverseWriter, Schema, Slot, View, WireError};
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
    /// Returns the name of the JSON type, as in error texts.
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
    /// The schema of this type.
    fn schema(&self) -> &'static Schema;

    /// Returns write access to field `index` of the schema; none if there is no such field.
    fn slot(&mut self, index: usize) -> Option<Slot<'_>>;

    /// Returns read access to field `index` of the schema; none if there is no such field.
    fn view(&self, index: usize) -> Option<View<'_>>;

    /// Prepends field `index`, which is this one, as protobuf. It does what [`prepend_view`] does
    /// with the field's view, without making one.
    ///
    /// [`prepend_view`]: super::prepend_view
    fn prepend_field(&self, index: usize, field: &Field, out: &mut ReverseWriter) {
        super::prepend_view(field, self.view(index), out);
    }

    /// Returns itself; for a box, what is in it, so that access to its fields is one call.
    fn as_message(&self) -> &dyn Message
    where
        Self: Sized,
    {
        self
    }

    /// Same as above, for changes.
    fn as_message_mut(&mut self) -> &mut dyn Message
    where
        Self: Sized,
    {
        self
    }

    /// Returns the members outside the schema, for kinds defined at run time.
    fn others(&self) -> Option<&Map<String, Value>> {
        None
    }

    /// Same as above, for changes.
    fn others_mut(&mut self) -> Option<&mut Map<String, Value>> {
        None
    }

    /// For [`JsonForm::Scalar`](super::JsonForm::Scalar): returns the JSON form.
    fn scalar(&self) -> JsonScalar<'_> {
        JsonScalar::Null
    }

    /// For [`JsonForm::Scalar`](super::JsonForm::Scalar): sets the value from the JSON form, which
    /// is never null.
    fn set_scalar(&mut self, scalar: JsonScalar<'_>) -> Result<(), String> {
        Err(format!("unexpected {}", scalar.type_name()))
    }

    /// For [`JsonForm::Scalar`](super::JsonForm::Scalar): prepends the protobuf fields.
    fn prepend_scalar(&self, out: &mut ReverseWriter) {
        let _ = out;
    }

    /// For [`JsonForm::Scalar`](super::JsonForm::Scalar): sets the value from the protobuf fields.
    fn merge_scalar(&mut self, bytes: &[u8], cx: &mut DecodeContext) -> Result<(), WireError> {
        let _ = (bytes, cx);
        Ok(())
    }

    /// For [`JsonForm::Raw`](super::JsonForm::Raw): returns the JSON text; empty means absent
    /// (null).
    fn raw_json(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    /// For [`JsonForm::Raw`](super::JsonForm::Raw): sets the JSON text, which is never null.
    fn set_raw_json(&mut self, text: &str, cx: &mut DecodeContext) -> Result<(), WireError> {
        let _ = (text, cx);
        Ok(())
    }
}

impl<T: Message> Message for Box<T> {
    fn as_message(&self) -> &dyn Message {
        (**self).as_message()
    }
    fn as_message_mut(&mut self) -> &mut dyn Message {
        (**self).as_message_mut()
    }
    fn schema(&self) -> &'static Schema {
        (**self).schema()
    }
    fn slot(&mut self, index: usize) -> Option<Slot<'_>> {
        (**self).slot(index)
    }
    fn view(&self, index: usize) -> Option<View<'_>> {
        (**self).view(index)
    }
    fn prepend_field(&self, index: usize, field: &Field, out: &mut ReverseWriter) {
        (**self).prepend_field(index, field, out);
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
pub trait Wire: Message + Sized {
    /// The schema of this type.
    const SCHEMA: &'static Schema;

    /// Decodes protobuf (the bare message, without the `k8s\0` envelope).
    fn from_protobuf(bytes: &[u8], cx: &mut DecodeContext) -> Result<Self, WireError>;

    /// Decodes JSON text. `apiVersion` and `kind` of a kind are skipped, not checked.
    fn from_json(bytes: &[u8], cx: &mut DecodeContext) -> Result<Self, WireError>;

    /// Encodes to protobuf, byte-exact with upstream's encoder (no envelope).
    fn to_protobuf(&self) -> Vec<u8> {
        super::to_protobuf(self)
    }

    /// Encodes to JSON; a kind begins with `kind` and `apiVersion`.
    fn to_json(&self) -> Vec<u8> {
        super::to_json(self)
    }
}

/// Implements the two decoding methods of [`Wire`] for a type with `Default`: absent fields keep
/// their default.
#[macro_export]
#[doc(hidden)]
macro_rules! decode_into_default {
    () => {
        fn from_protobuf(
            bytes: &[u8],
            cx: &mut $crate::wire::DecodeContext,
        ) -> Result<Self, $crate::wire::WireError> {
            let mut message = Self::default();
            $crate::wire::merge_protobuf(&mut message, bytes, cx)?;
            Ok(message)
        }
        fn from_json(
            bytes: &[u8],
            cx: &mut $crate::wire::DecodeContext,
        ) -> Result<Self, $crate::wire::WireError> {
            let mut message = Self::default();
            $crate::wire::merge_json(&mut message, bytes, cx)?;
            Ok(message)
        }
    };
}

impl<T: Wire> Wire for Box<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;

    fn from_protobuf(bytes: &[u8], cx: &mut DecodeContext) -> Result<Self, WireError> {
        T::from_protobuf(bytes, cx).map(Self::new)
    }

    fn from_json(bytes: &[u8], cx: &mut DecodeContext) -> Result<Self, WireError> {
        T::from_json(bytes, cx).map(Self::new)
    }
}
