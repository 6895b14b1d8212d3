//! Decoding of one JSON value into one field of any type.

use super::super::{DecodeContext, Message, Schema, Slot, WireErrorKind};
use super::collection::{
    KeySeed, note_repeat, visit_entry, visit_list, visit_message_map, visit_messages,
};
use super::{MessageSeed, mismatch, stop};
use crate::{ByteString, Str};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

fn go_type(slot: &Slot<'_>, schema: Option<&'static Schema>) -> &'static str {
    match slot {
        Slot::Bool(_) | Slot::OptBool(_) => "bool",
        Slot::I32(_) | Slot::OptI32(_) => "int32",
        Slot::I64(_) | Slot::OptI64(_) => "int64",
        Slot::F64(_) | Slot::OptF64(_) => "float64",
        Slot::Str(_) | Slot::OptStr(_) => "string",
        Slot::Bytes(_) | Slot::OptBytes(_) => "[]uint8",
        Slot::StrList(_) => "[]string",
        Slot::BoolList(_) => "[]bool",
        Slot::I32List(_) => "[]int32",
        Slot::I64List(_) => "[]int64",
        Slot::BytesList(_) => "[][]uint8",
        Slot::StrMap(_) => "map[string]string",
        Slot::BytesMap(_) => "map[string][]uint8",
        Slot::Message(_) | Slot::OptMessage(_) | Slot::MessageList(_) | Slot::MessageMap(_) => {
            schema.map_or("object", |schema| schema.name)
        }
        Slot::Serde(_) => "object",
    }
}

pub(in crate::wire) struct SlotSeed<'a> {
    pub(super) slot: Slot<'a>,
    pub(super) go_type: &'static str,
    pub(super) owner: &'static str,
    pub(super) cx: &'a mut DecodeContext,
}

impl<'a> SlotSeed<'a> {
    /// Creates a seed for one field: `schema` is that of its messages, `owner` its message in
    /// errors.
    pub(in crate::wire) fn new(
        slot: Slot<'a>,
        schema: Option<&'static Schema>,
        owner: &'static str,
        cx: &'a mut DecodeContext,
    ) -> Self {
        let go_type = go_type(&slot, schema);
        Self {
            slot,
            go_type,
            owner,
            cx,
        }
    }
}

impl<'de> DeserializeSeed<'de> for SlotSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.slot {
            Slot::Message(message) => MessageSeed {
                message,
                cx: self.cx,
            }
            .deserialize(deserializer),
            Slot::OptMessage(place) => {
                // `null` must leave it absent, so the value is checked before the message is
                // created.
                deserializer
                    .deserialize_option(UnlessNull::new(move || place.get_or_default(), self.cx))
            }
            Slot::Serde(field) => {
                let raw: Box<RawValue> = de::Deserialize::deserialize(deserializer)?;
                if raw.get() == "null" {
                    return Ok(());
                }
                let set = field.set_raw(raw.get());
                set.map_err(|error| {
                    let error = self.cx.fail_within(error);
                    stop(self.cx, error)
                })
            }
            _ => deserializer.deserialize_any(self),
        }
    }
}

/// Decodes into the message that `message` returns, unless the value is `null`.
pub(in crate::wire) struct UnlessNull<'a, F> {
    message: F,
    cx: &'a mut DecodeContext,
}

impl<'a, F: FnOnce() -> &'a mut dyn Message> UnlessNull<'a, F> {
    pub(in crate::wire) fn new(message: F, cx: &'a mut DecodeContext) -> Self {
        Self { message, cx }
    }
}

impl<'de, 'a, F: FnOnce() -> &'a mut dyn Message> Visitor<'de> for UnlessNull<'a, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }
    fn visit_none<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        MessageSeed {
            message: (self.message)(),
            cx: self.cx,
        }
        .deserialize(deserializer)
    }
}

impl SlotSeed<'_> {
    fn expected(&self) -> String {
        match &self.slot {
            Slot::MessageList(_) => format!("[]{}", self.go_type),
            Slot::MessageMap(_) => format!("map[string]{}", self.go_type),
            _ => self.go_type.to_owned(),
        }
    }
    fn wrong<E: de::Error>(self, found: impl Into<String>) -> E {
        let expected = self.expected();
        mismatch(self.cx, found, expected, self.owner)
    }
    fn set_int<E: de::Error>(self, value: i64) -> Result<(), E> {
        match self.slot {
            Slot::I64(place) => *place = value,
            Slot::OptI64(place) => *place = Some(value),
            #[expect(clippy::cast_precision_loss, reason = "JSON numbers are doubles here")]
            Slot::F64(place) => *place = value as f64,
            #[expect(clippy::cast_precision_loss, reason = "JSON numbers are doubles here")]
            Slot::OptF64(place) => *place = Some(value as f64),
            Slot::I32(_) | Slot::OptI32(_) => {
                let Ok(value) = i32::try_from(value) else {
                    return Err(self.wrong(format!("number {value}")));
                };
                match self.slot {
                    Slot::I32(place) => *place = value,
                    Slot::OptI32(place) => *place = Some(value),
                    _ => {}
                }
            }
            _ => return Err(self.wrong("number")),
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for SlotSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.go_type)
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        match self.slot {
            Slot::Bool(place) => *place = value,
            Slot::OptBool(place) => *place = Some(value),
            _ => return Err(self.wrong("bool")),
        }
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.set_int(value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        match i64::try_from(value) {
            Ok(value) => self.set_int(value),
            Err(_) => Err(self.wrong(format!("number {value}"))),
        }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        match self.slot {
            Slot::F64(place) => *place = value,
            Slot::OptF64(place) => *place = Some(value),
            _ => return Err(self.wrong(format!("number {value}"))),
        }
        Ok(())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        match self.slot {
            Slot::Str(place) => *place = self.cx.str(text),
            Slot::OptStr(place) => *place = Some(self.cx.str(text)),
            Slot::Bytes(place) => *place = base64(text, self.cx)?,
            Slot::OptBytes(place) => *place = Some(base64(text, self.cx)?),
            _ => return Err(self.wrong("string")),
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let cx = self.cx;
        match self.slot {
            Slot::StrList(list) => visit_list(&mut seq, list, cx, self.owner),
            Slot::BoolList(list) => visit_list(&mut seq, list, cx, self.owner),
            Slot::I32List(list) => visit_list(&mut seq, list, cx, self.owner),
            Slot::I64List(list) => visit_list(&mut seq, list, cx, self.owner),
            Slot::BytesList(list) => visit_list(&mut seq, list, cx, self.owner),
            Slot::MessageList(list) => visit_messages(&mut seq, list, cx),
            Slot::Bytes(place) => {
                *place = byte_list(&mut seq, cx, self.owner)?;
                Ok(())
            }
            Slot::OptBytes(place) => {
                *place = Some(byte_list(&mut seq, cx, self.owner)?);
                Ok(())
            }
            slot => Err(Self { slot, cx, ..self }.wrong("array")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let cx = self.cx;
        match self.slot {
            Slot::StrMap(entries) => {
                while let Some(key) = map.next_key_seed(KeySeed { cx: &mut *cx })? {
                    let mut value = Str::default();
                    visit_entry(&mut map, &key, &mut value, cx, self.owner)?;
                    note_repeat(entries.insert(key.clone(), value).is_some(), &key, cx);
                }
                Ok(())
            }
            Slot::BytesMap(entries) => {
                while let Some(key) = map.next_key_seed(KeySeed { cx: &mut *cx })? {
                    let mut value = ByteString::default();
                    visit_entry(&mut map, &key, &mut value, cx, self.owner)?;
                    note_repeat(entries.insert(key.clone(), value).is_some(), &key, cx);
                }
                Ok(())
            }
            Slot::MessageMap(entries) => visit_message_map(&mut map, entries, cx),
            slot => Err(Self { slot, cx, ..self }.wrong("object")),
        }
    }
}

/// Decodes bytes from a list of numbers, which Go's decoder accepts in place of base64. Null is
/// zero.
fn byte_list<'de, A: SeqAccess<'de>>(
    seq: &mut A,
    cx: &mut DecodeContext,
    owner: &'static str,
) -> Result<ByteString, A::Error> {
    let mut numbers: Vec<i32> = Vec::new();
    visit_list(seq, &mut numbers, cx, owner)?;
    let bytes: Result<Vec<u8>, i32> = numbers
        .into_iter()
        .map(|number| u8::try_from(number).map_err(|_| number))
        .collect();
    bytes
        .map(ByteString)
        .map_err(|number| mismatch(cx, format!("number {number}"), "uint8", owner))
}

pub(super) fn base64<E: de::Error>(text: &str, cx: &mut DecodeContext) -> Result<ByteString, E> {
    ByteString::parse_base64(text).map_err(|index| {
        let error = cx.fail(WireErrorKind::Invalid {
            reason: format!("illegal base64 data at input byte {index}"),
        });
        stop(cx, error)
    })
}
