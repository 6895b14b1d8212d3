//! Raw fields: any JSON, stored as text and never as a tree.

use super::{
    DecodeContext, Field, FieldAccess, FieldFlags, FieldType, JsonForm, Message, Schema, Slot,
    View, Wire, WireError, WireErrorKind, is_json,
};
use crate::{ByteString, Str, schema};
use std::borrow::Cow;

/// An embedded object in its original encoding (`runtime.RawExtension`).
///
/// JSON text is stored compact; a protobuf envelope is stored unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawExtension {
    /// The bytes; empty when absent.
    pub raw: ByteString,
}

/// Any JSON value (`apiextensions.JSON`), as compact text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawJson {
    /// The text; empty when absent.
    pub raw: ByteString,
}

/// A field set in upstream's `FieldsV1` notation, as compact JSON text; clones share it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldsV1 {
    /// The text; empty when absent.
    pub raw: Str,
}

schema!(pub RAW_EXTENSION = "RawExtension", "io.k8s.apimachinery.pkg.runtime.RawExtension",
    JsonForm::Raw, None, [Field::new("raw", 1, FieldType::Bytes, FieldFlags::NONE)]);
schema!(pub RAW_JSON = "JSON",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
    JsonForm::Raw, None, [Field::new("raw", 1, FieldType::Bytes, FieldFlags::NONE)]);
schema!(pub FIELDS_V1 = "FieldsV1", "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
    JsonForm::Raw, None, [Field::new("Raw", 1, FieldType::Str, FieldFlags::NONE)]);

/// Removes insignificant white space from JSON text.
fn compact(text: &str) -> Cow<'_, str> {
    // Without a branch for each byte.
    let has_space = |part: &[u8]| {
        let spaces = part.iter().map(u8::is_ascii_whitespace);
        spaces.fold(false, |any, it| any | it)
    };
    if !text.as_bytes().chunks(64).any(has_space) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for character in text.chars() {
        if quoted {
            out.push(character);
            if escaped {
                escaped = false;
            } else if character == '\\' {
                escaped = true;
            } else if character == '"' {
                quoted = false;
            }
        } else if !character.is_ascii_whitespace() {
            quoted = character == '"';
            out.push(character);
        }
    }
    Cow::Owned(out)
}

macro_rules! raw_message {
    ($type:ty, $schema:ident, $read:expr, $write:expr) => {
        impl Message for $type {
            fn schema(&self) -> &'static Schema {
                &$schema
            }
            fn slot(&mut self, index: usize) -> Option<Slot<'_>> {
                (index == 0).then(|| FieldAccess::slot(&mut self.raw))
            }
            fn view(&self, index: usize) -> Option<View<'_>> {
                (index == 0).then(|| FieldAccess::view(&self.raw))
            }
            fn raw_json(&self) -> Cow<'_, str> {
                let read: fn(&Self) -> Cow<'_, str> = $read;
                read(self)
            }
            fn set_raw_json(
                &mut self,
                text: &str,
                cx: &mut DecodeContext,
            ) -> Result<(), WireError> {
                let write: fn(&mut Self, &str, &mut DecodeContext) -> Result<(), WireErrorKind> =
                    $write;
                write(self, &compact(text), cx).map_err(|kind| cx.fail(kind))
            }
        }
        impl Wire for $type {
            const SCHEMA: &'static Schema = &$schema;
            crate::decode_into_default!();
        }
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                super::Json::part(self).serialize(serializer)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                super::deserialize(deserializer)
            }
        }
    };
}

/// Serializes raw bytes; those that are not JSON become null.
fn json_or_null(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_json(text) => text.into(),
        _ => Cow::Borrowed(""),
    }
}

raw_message!(
    RawExtension,
    RAW_EXTENSION,
    |this| json_or_null(&this.raw),
    |this, text, _| {
        this.raw = ByteString(text.as_bytes().to_vec());
        Ok(())
    }
);

raw_message!(
    RawJson,
    RAW_JSON,
    |this| json_or_null(&this.raw),
    |this, text, _| {
        this.raw = ByteString(text.as_bytes().to_vec());
        Ok(())
    }
);

// Every object has them, so they are not validated first: the encoder does that.
raw_message!(
    FieldsV1,
    FIELDS_V1,
    |this| Cow::Borrowed(this.raw.as_str()),
    |this, text, cx| {
        this.raw = cx.str(text);
        Ok(())
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_outside_strings_goes_and_inside_stays() {
        assert_eq!(
            compact("{ \"a b\" :\n [1, \"x \\\" y\"] }"),
            "{\"a b\":[1,\"x \\\" y\"]}"
        );
    }
}
