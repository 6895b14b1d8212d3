//! JSON decoding, driven by schemas: the [quick pass](super::json_quick), and where it gives up
//! the decoder that goes through serde.
//!
//! The rules are upstream's: `null` leaves a field unchanged (absent); names are case-sensitive;
//! unknown and repeated names are ignored, or collected in strict mode; a repeated object merges.
//! `apiVersion` and `kind` of a kind are recognised and skipped.

pub(super) mod collection;
mod leaf;
mod object;
pub(super) mod slot;
mod value;

use self::leaf::{ScalarVisitor, UnionVisitor};
use self::object::ObjectVisitor;
use self::slot::SlotSeed;
use super::json_quick::merge_quickly;
use super::{DecodeContext, JsonForm, Message, WireError, WireErrorKind};
use serde::de::{self, DeserializeSeed, Deserializer};
use serde_json::value::RawValue;

/// Decodes JSON text into `message`.
pub fn merge_json(
    message: &mut dyn Message,
    bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    cx.reset();
    cx.check_length(bytes.len())?;
    // The whole text must be UTF-8, including skipped parts, so that scanning and decoding agree.
    let text = simdutf8::basic::from_utf8(bytes).map_err(|_| cx.fail(WireErrorKind::NotUtf8))?;
    if merge_quickly(message, text, cx) {
        return Ok(());
    }
    merge_with_serde(message, text, cx)
}

/// Decodes JSON text into `message`, with the parser that finds out what is wrong.
pub(super) fn merge_with_serde(
    message: &mut dyn Message,
    text: &str,
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let result = MessageSeed {
        message,
        cx: &mut *cx,
    }
    .deserialize(&mut deserializer)
    .and_then(|()| deserializer.end());
    result.map_err(|error| json_error(cx, &error))
}

pub(super) fn json_error(cx: &mut DecodeContext, error: &serde_json::Error) -> WireError {
    if let Some(known) = cx.error.take() {
        return known;
    }
    let (line, column) = (error.line(), error.column());
    let mut reason = error.to_string();
    if let Some(end) = reason.rfind(" at line ") {
        reason.truncate(end);
    }
    cx.fail(WireErrorKind::Syntax {
        reason,
        line,
        column,
    })
}

/// `serde::Deserialize` for any message.
pub fn deserialize<'de, M: Message + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<M, D::Error> {
    let mut message = M::default();
    let mut cx = DecodeContext::new();
    MessageSeed {
        message: &mut message,
        cx: &mut cx,
    }
    .deserialize(deserializer)?;
    Ok(message)
}

struct MessageSeed<'a> {
    message: &'a mut dyn Message,
    cx: &'a mut DecodeContext,
}

impl<'de> DeserializeSeed<'de> for MessageSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let schema = self.message.schema();
        self.cx.enter().map_err(|error| stop(self.cx, error))?;
        let depth = self.cx.depth;
        let cx = &mut *self.cx;
        match schema.form {
            JsonForm::Object => {
                deserializer.deserialize_any(ObjectVisitor {
                    message: self.message,
                    schema,
                    cx,
                })?;
            }
            JsonForm::Scalar => {
                deserializer.deserialize_any(ScalarVisitor {
                    message: self.message,
                    schema,
                    cx,
                })?;
            }
            JsonForm::Transparent => {
                if let Some(slot) = self.message.slot(0) {
                    SlotSeed {
                        slot,
                        go_type: schema.name,
                        owner: schema.name,
                        cx,
                    }
                    .deserialize(deserializer)?;
                }
            }
            JsonForm::Union => {
                deserializer.deserialize_any(UnionVisitor {
                    message: self.message,
                    schema,
                    cx,
                })?;
            }
            JsonForm::Raw => {
                let raw: Box<RawValue> = de::Deserialize::deserialize(deserializer)?;
                if raw.get() != "null" {
                    self.message
                        .set_raw_json(raw.get(), cx)
                        .map_err(|error| stop(self.cx, error))?;
                }
            }
        }
        self.cx.depth = depth;
        self.cx.leave();
        Ok(())
    }
}

/// Stores the precise error, and returns a serde error to unwind.
fn stop<E: de::Error>(cx: &mut DecodeContext, error: WireError) -> E {
    let text = error.to_string();
    cx.error.get_or_insert(error);
    E::custom(text)
}

pub(super) fn mismatch<E: de::Error>(
    cx: &mut DecodeContext,
    found: impl Into<String>,
    expected: impl Into<String>,
    message: &'static str,
) -> E {
    let key = match cx.path.last() {
        // Upstream names the field of the map, not the key.
        Some(super::Segment::Key(_)) => cx.path.pop(),
        _ => None,
    };
    let error = cx.fail(WireErrorKind::TypeMismatch {
        found: found.into(),
        expected: expected.into(),
        message,
    });
    cx.path.extend(key);
    stop(cx, error)
}
