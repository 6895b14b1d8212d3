//! Decoding of JSON arrays and objects into lists and maps.

use super::super::field_access::{FieldAccess, MessageList, MessageMap};
use super::super::{DecodeContext, Segment, StrictProblem};
use super::MessageSeed;
use super::slot::SlotSeed;
use crate::Str;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

pub(super) fn note_repeat(repeated: bool, key: &Str, cx: &mut DecodeContext) {
    if repeated {
        cx.note(StrictProblem::Duplicate, key);
    }
}

pub(super) fn visit_entry<'de, A: MapAccess<'de>, T: FieldAccess>(
    map: &mut A,
    key: &Str,
    value: &mut T,
    cx: &mut DecodeContext,
    owner: &'static str,
) -> Result<(), A::Error> {
    cx.path.push(Segment::Key(key.clone()));
    map.next_value_seed(SlotSeed::new(value.slot(), None, owner, cx))?;
    cx.path.pop();
    Ok(())
}

pub(super) fn visit_list<'de, A: SeqAccess<'de>, T: FieldAccess + Default>(
    seq: &mut A,
    list: &mut Vec<T>,
    cx: &mut DecodeContext,
    owner: &'static str,
) -> Result<(), A::Error> {
    list.clear();
    append_list(seq, list, cx, owner)?;
    list.shrink_to_fit();
    Ok(())
}

pub(in crate::wire) fn append_list<'de, A: SeqAccess<'de>, T: FieldAccess + Default>(
    seq: &mut A,
    list: &mut Vec<T>,
    cx: &mut DecodeContext,
    owner: &'static str,
) -> Result<(), A::Error> {
    loop {
        let mut item = T::default();
        cx.path.push(Segment::Index(list.len()));
        let more = seq.next_element_seed(SlotSeed::new(item.slot(), None, owner, cx))?;
        cx.path.pop();
        if more.is_none() {
            return Ok(());
        }
        list.push(item);
    }
}

pub(super) fn visit_messages<'de, A: SeqAccess<'de>>(
    seq: &mut A,
    list: &mut dyn MessageList,
    cx: &mut DecodeContext,
) -> Result<(), A::Error> {
    list.clear();
    append_messages(seq, list, cx)?;
    list.shrink();
    Ok(())
}

pub(in crate::wire) fn append_messages<'de, A: SeqAccess<'de>>(
    seq: &mut A,
    list: &mut dyn MessageList,
    cx: &mut DecodeContext,
) -> Result<(), A::Error> {
    loop {
        cx.path.push(Segment::Index(list.len()));
        let more = seq.next_element_seed(ItemSeed {
            list: &mut *list,
            cx: &mut *cx,
        })?;
        cx.path.pop();
        if more.is_none() {
            return Ok(());
        }
    }
}

/// Appends an item once the list is known to continue.
pub(super) struct ItemSeed<'a> {
    pub(super) list: &'a mut dyn MessageList,
    pub(super) cx: &'a mut DecodeContext,
}

impl<'de> DeserializeSeed<'de> for ItemSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        MessageSeed {
            message: self.list.push_default(),
            cx: self.cx,
        }
        .deserialize(deserializer)
    }
}

pub(super) fn visit_message_map<'de, A: MapAccess<'de>>(
    map: &mut A,
    entries: &mut dyn MessageMap,
    cx: &mut DecodeContext,
) -> Result<(), A::Error> {
    while let Some(key) = map.next_key_seed(KeySeed { cx: &mut *cx })? {
        note_repeat(entries.contains(&key), &key, cx);
        cx.path.push(Segment::Key(key.clone()));
        map.next_value_seed(MessageSeed {
            message: entries.entry(key),
            cx: &mut *cx,
        })?;
        cx.path.pop();
    }
    Ok(())
}

pub(super) struct KeySeed<'a> {
    pub(super) cx: &'a mut DecodeContext,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Str;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Str, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Str;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: de::Error>(self, key: &str) -> Result<Str, E> {
        Ok(self.cx.str(key))
    }
}
