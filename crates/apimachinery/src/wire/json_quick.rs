//! The quick JSON decoder, which accepts or gives up.
//!
//! It decodes what servers and clients send. On anything unusual, on every error, and on what
//! strict decoding reports, it gives up, and the [decoder](super::json) that goes through serde
//! starts again. So there is one place for error messages and paths, and this one needs neither.
//! Both set the same fields to the same values, which tests compare.

use super::field_access::{MessageList, MessageMap};
use super::json_encode::is_zero_message;
use super::json_text::JsonText;
use super::seen::Seen;
use super::{DecodeContext, JsonForm, JsonScalar, Message, Schema, Slot};
use crate::{ByteString, Str};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The maximum depth of objects and lists, below that of the serde decoder.
const DEPTH_MAX: usize = 100;

/// Decodes JSON text into `message`, merging with its contents. Reports whether it did. If not, the
/// serde decoder has the same text to decode into it, and sets again what is set already.
pub(super) fn merge_quickly(message: &mut dyn Message, text: &str, cx: &mut DecodeContext) -> bool {
    // What the schema does not have is kept as a tree, which serde makes.
    if message.schema().keeps_others() {
        return false;
    }
    let strict = cx.is_strict();
    if strict && !is_zero_message(message) {
        return false;
    }
    // A message that is no object may be one level deeper than the objects around it.
    let depth_max = cx.limits().depth_max.saturating_sub(1).min(DEPTH_MAX);
    let bytes = text.as_bytes();
    let mut quick = Quick {
        text,
        json: JsonText { text: bytes, at: 0 },
        cx,
    };
    let done = quick.whole(message, depth_max).is_some();
    if !done && strict {
        // Their keys would be taken for repeated ones.
        clear_maps(message);
    }
    done
}

/// Removes the entries of maps from a message that had no content before.
fn clear_maps(message: &mut dyn Message) {
    for index in 0..message.schema().fields.len() {
        match message.slot(index) {
            Some(Slot::Message(part)) => clear_maps(part),
            Some(Slot::OptMessage(part)) => part.clear(),
            Some(Slot::StrMap(map)) => map.clear(),
            Some(Slot::BytesMap(map)) => map.clear(),
            Some(Slot::MessageMap(map)) => map.clear(),
            _ => {}
        }
    }
}

struct Quick<'b, 'c> {
    text: &'b str,
    json: JsonText<'b>,
    cx: &'c mut DecodeContext,
}

impl<'b> Quick<'b, '_> {
    fn whole(&mut self, message: &mut dyn Message, depth_max: usize) -> Option<()> {
        self.json.token()?;
        self.message(message, depth_max)?;
        self.json.token().is_none().then_some(())
    }

    /// Decodes the value at the current byte, which is not null.
    fn message(&mut self, message: &mut dyn Message, depth_max: usize) -> Option<()> {
        let schema = message.schema();
        match schema.form {
            JsonForm::Object => self.object(message, schema, depth_max),
            JsonForm::Scalar => {
                let scalar = match self.json.token()? {
                    b'"' => JsonScalar::Str(self.string()?),
                    b'-' | b'0'..=b'9' => JsonScalar::Int(self.integer()?),
                    _ => return None,
                };
                message.set_scalar(scalar).ok()
            }
            JsonForm::Transparent => self.field(message, 0, depth_max),
            JsonForm::Raw => {
                let raw = self.raw(depth_max)?;
                message.set_raw_json(raw, self.cx).ok()
            }
            JsonForm::Union => self.union(message, schema, depth_max),
        }
    }

    fn object(
        &mut self,
        message: &mut dyn Message,
        schema: &'static Schema,
        depth_max: usize,
    ) -> Option<()> {
        let depth_max = depth_max.checked_sub(1)?;
        self.expect(b'{')?;
        let mut more = self.json.enter(b'}')?;
        let (mut seen, mut type_meta) = (Seen::default(), Seen::default());
        let strict = self.cx.is_strict();
        while more {
            let name = self.name()?;
            if let Some(index) = schema.index_of(name.as_bytes()) {
                if strict && !seen.insert(index) {
                    return None;
                }
                self.field(message, index, depth_max)?;
            } else {
                let is_type_meta = schema.kind.is_some() && matches!(name, "kind" | "apiVersion");
                let known = is_type_meta && type_meta.insert(name.len());
                if (strict && !known) || schema.keeps_others() {
                    return None;
                }
                self.raw(depth_max)?;
            }
            more = self.json.more(b'}')?;
        }
        Some(())
    }

    /// Reads a name and its colon, up to the value.
    #[inline]
    fn name(&mut self) -> Option<&'b str> {
        self.expect(b'"')?;
        let start = self.json.at + 1;
        let plain = self.json.string()?;
        let name = self.text.get(start..self.json.at - 1).filter(|_| plain)?;
        self.json.colon()?;
        self.json.token()?;
        Some(name)
    }

    #[inline]
    fn expect(&mut self, first: u8) -> Option<()> {
        (self.json.token()? == first).then_some(())
    }

    /// Skips null, and returns whether it was.
    #[inline]
    fn null(&mut self) -> Option<bool> {
        if self.json.token()? != b'n' {
            return Some(false);
        }
        self.json.word(b"null")?;
        Some(true)
    }

    fn field(&mut self, message: &mut dyn Message, index: usize, depth_max: usize) -> Option<()> {
        if self.null()? {
            return Some(());
        }
        // By reference: a slot that is moved is read before the processor has written it.
        let mut slot = message.slot(index);
        match slot.as_mut()? {
            Slot::Str(place) => **place = self.str()?,
            Slot::OptStr(place) => **place = Some(self.str()?),
            Slot::Bool(place) => **place = self.bool()?,
            Slot::OptBool(place) => **place = Some(self.bool()?),
            Slot::I32(place) => **place = self.integer()?.try_into().ok()?,
            Slot::OptI32(place) => **place = Some(self.integer()?.try_into().ok()?),
            Slot::I64(place) => **place = self.integer()?,
            Slot::OptI64(place) => **place = Some(self.integer()?),
            Slot::Message(message) => self.message(*message, depth_max)?,
            Slot::OptMessage(place) => self.message(place.get_or_default(), depth_max)?,
            Slot::MessageList(list) => self.messages(*list, depth_max)?,
            Slot::StrList(list) => self.items(list, Self::str)?,
            Slot::StrMap(map) => self.pairs(map, Self::str)?,
            Slot::MessageMap(map) => self.message_map(*map, depth_max)?,
            slot => self.rare(slot, depth_max)?,
        }
        Some(())
    }

    /// Decodes a field of a type that few messages have.
    fn rare(&mut self, slot: &mut Slot<'_>, depth_max: usize) -> Option<()> {
        match slot {
            Slot::F64(place) => **place = self.double()?,
            Slot::OptF64(place) => **place = Some(self.double()?),
            Slot::Bytes(place) => **place = self.bytes()?,
            Slot::OptBytes(place) => **place = Some(self.bytes()?),
            Slot::BytesMap(map) => self.pairs(map, Self::bytes)?,
            Slot::BoolList(list) => self.items(list, Self::bool)?,
            Slot::I32List(list) => self.items(list, |it| it.integer()?.try_into().ok())?,
            Slot::I64List(list) => self.items(list, Self::integer)?,
            Slot::BytesList(list) => self.items(list, Self::bytes)?,
            Slot::Serde(field) => {
                let raw = self.raw(depth_max)?;
                field.set_raw(raw).ok()?;
            }
            _ => return None,
        }
        Some(())
    }

    fn union(
        &mut self,
        message: &mut dyn Message,
        schema: &'static Schema,
        depth_max: usize,
    ) -> Option<()> {
        let first = self.json.token()?;
        let is_wanted = |slot: &Slot<'_>| match first {
            b'{' => matches!(slot, Slot::OptMessage(_)),
            b'[' => matches!(slot, Slot::MessageList(_) | Slot::StrList(_)),
            b't' | b'f' => matches!(slot, Slot::Bool(_)),
            _ => false,
        };
        let mut indexes = 0..schema.fields.len();
        if first == b'{'
            && let Some(Slot::Bool(place)) = indexes
                .clone()
                .find(|&index| matches!(message.slot(index), Some(Slot::Bool(_))))
                .and_then(|index| message.slot(index))
        {
            *place = true;
        }
        let index = indexes.find(|&index| message.slot(index).as_ref().is_some_and(is_wanted))?;
        self.field(message, index, depth_max)
    }

    fn messages(&mut self, list: &mut dyn MessageList, depth_max: usize) -> Option<()> {
        let depth_max = depth_max.checked_sub(1)?;
        self.expect(b'[')?;
        list.clear();
        let mut more = self.json.enter(b']')?;
        while more {
            let item = list.push_default();
            if !self.null()? {
                self.message(item, depth_max)?;
            }
            more = self.json.more(b']')?;
        }
        list.shrink();
        Some(())
    }

    fn items<T: Default>(
        &mut self,
        list: &mut Vec<T>,
        item: impl Fn(&mut Self) -> Option<T>,
    ) -> Option<()> {
        self.expect(b'[')?;
        list.clear();
        let mut more = self.json.enter(b']')?;
        while more {
            let value = if self.null()? {
                T::default()
            } else {
                item(self)?
            };
            list.push(value);
            more = self.json.more(b']')?;
        }
        list.shrink_to_fit();
        Some(())
    }

    fn pairs<T: Default>(
        &mut self,
        map: &mut BTreeMap<Str, T>,
        value: impl Fn(&mut Self) -> Option<T>,
    ) -> Option<()> {
        self.expect(b'{')?;
        let mut more = self.json.enter(b'}')?;
        while more {
            let key = self.str()?;
            self.json.colon()?;
            let value = if self.null()? {
                T::default()
            } else {
                value(self)?
            };
            if map.insert(key, value).is_some() && self.cx.is_strict() {
                return None;
            }
            more = self.json.more(b'}')?;
        }
        Some(())
    }

    fn message_map(&mut self, map: &mut dyn MessageMap, depth_max: usize) -> Option<()> {
        let depth_max = depth_max.checked_sub(1)?;
        self.expect(b'{')?;
        let mut more = self.json.enter(b'}')?;
        while more {
            let key = self.str()?;
            self.json.colon()?;
            if self.cx.is_strict() && map.contains(&key) {
                return None;
            }
            let message = map.entry(key);
            if !self.null()? {
                self.message(message, depth_max)?;
            }
            more = self.json.more(b'}')?;
        }
        Some(())
    }

    /// Reads any value; returns its text.
    fn raw(&mut self, depth_max: usize) -> Option<&'b str> {
        self.json.token()?;
        let start = self.json.at;
        self.json.anything(u8::try_from(depth_max).ok()?)?;
        self.text.get(start..self.json.at)
    }

    #[inline]
    fn str(&mut self) -> Option<Str> {
        self.expect(b'"')?;
        let start = self.json.at;
        if self.json.string()? {
            let text = self.text.get(start + 1..self.json.at - 1)?;
            return Some(self.cx.str(text));
        }
        self.json.at = start;
        let text = self.string()?;
        Some(self.cx.str(&text))
    }

    #[inline]
    fn string(&mut self) -> Option<Cow<'b, str>> {
        self.expect(b'"')?;
        let start = self.json.at;
        if self.json.string()? {
            return self
                .text
                .get(start + 1..self.json.at - 1)
                .map(Cow::Borrowed);
        }
        let quoted = self.text.get(start..self.json.at)?;
        serde_json::from_str(quoted).ok().map(Cow::Owned)
    }

    fn bytes(&mut self) -> Option<ByteString> {
        let text = self.string()?;
        ByteString::parse_base64(&text).ok()
    }

    fn bool(&mut self) -> Option<bool> {
        if self.json.token()? == b't' {
            self.json.word(b"true")?;
            return Some(true);
        }
        self.json.word(b"false")?;
        Some(false)
    }

    fn integer(&mut self) -> Option<i64> {
        self.json.token()?;
        let start = self.json.at;
        self.json.number()?;
        // A fraction and the zero with a sign are doubles.
        let value: i64 = self.text.get(start..self.json.at)?.parse().ok()?;
        let is_double = value == 0 && self.json.text.get(start) == Some(&b'-');
        (!is_double).then_some(value)
    }

    fn double(&mut self) -> Option<f64> {
        self.json.token()?;
        let start = self.json.at;
        self.json.number()?;
        self.text.get(start..self.json.at)?.parse().ok()
    }
}

#[cfg(test)]
pub(super) mod tests;
