//! Decoding of the value at the end of a path into its field.

use super::{At, In, Walk};
use crate::wire::json::collection::{append_list, append_messages};
use crate::wire::json::slot::{SlotSeed, UnlessNull};
use crate::wire::projection::Leaf;
use crate::wire::{DecodeContext, FieldAccess, Slot};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess};

/// Decodes one value.
pub(super) struct Take<'a> {
    pub(super) walk: Walk<'a>,
    pub(super) leaf: Leaf,
    pub(super) owner: &'static str,
}

impl<'de> DeserializeSeed<'de> for Take<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Self { walk, leaf, owner } = self;
        if leaf.listed && !leaf.is_one() {
            let at = At::Append(leaf.slot);
            return In { walk, at }.deserialize(deserializer);
        }
        let Walk { fields, cx, .. } = walk;
        let Some(slot) = fields.slot(leaf.slot) else {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(drop);
        };
        let skips_zero = leaf.leaves_out_zero(&slot);
        if leaf.listed {
            let one = One {
                skips_zero,
                owner,
                cx,
            };
            return one.push(slot, deserializer);
        }
        SlotSeed::new(slot, leaf.ty.schema(), owner, cx).deserialize(deserializer)?;
        if skips_zero && let Some(slot) = fields.slot(leaf.slot) {
            clear_zero(slot);
        }
        Ok(())
    }
}

/// Clears a value that Go cannot distinguish from an absent one.
fn clear_zero(slot: Slot<'_>) {
    fn clear<T: Default + PartialEq>(place: &mut Option<T>) {
        if place.as_ref().is_some_and(|it| *it == T::default()) {
            *place = None;
        }
    }
    match slot {
        Slot::OptBool(place) => clear(place),
        Slot::OptI32(place) => clear(place),
        Slot::OptI64(place) => clear(place),
        Slot::OptF64(place) => clear(place),
        Slot::OptStr(place) => clear(place),
        Slot::OptBytes(place) => clear(place),
        _ => {}
    }
}

/// One value that is appended to a list.
struct One<'a> {
    skips_zero: bool,
    owner: &'static str,
    cx: &'a mut DecodeContext,
}

impl One<'_> {
    fn push<'de, D: Deserializer<'de>>(
        self,
        slot: Slot<'_>,
        deserializer: D,
    ) -> Result<(), D::Error> {
        match slot {
            Slot::StrList(list) => self.push_scalar(list, deserializer),
            Slot::BytesList(list) => self.push_scalar(list, deserializer),
            Slot::BoolList(list) => self.push_scalar(list, deserializer),
            Slot::I32List(list) => self.push_scalar(list, deserializer),
            Slot::I64List(list) => self.push_scalar(list, deserializer),
            Slot::MessageList(list) => deserializer
                .deserialize_option(UnlessNull::new(move || list.push_default(), self.cx)),
            _ => deserializer.deserialize_ignored_any(IgnoredAny).map(drop),
        }
    }

    fn push_scalar<'de, T, D: Deserializer<'de>>(
        self,
        list: &mut Vec<T>,
        deserializer: D,
    ) -> Result<(), D::Error>
    where
        T: Default + PartialEq,
        Option<T>: FieldAccess,
    {
        let mut item: Option<T> = None;
        SlotSeed::new(item.slot(), None, self.owner, self.cx).deserialize(deserializer)?;
        let is_skipped = |it: &T| self.skips_zero && *it == T::default();
        list.extend(item.filter(|it| !is_skipped(it)));
        Ok(())
    }
}

/// Appends the items of an array.
pub(super) fn append<'de, A: SeqAccess<'de>>(
    slot: Slot<'_>,
    seq: &mut A,
    cx: &mut DecodeContext,
) -> Result<(), A::Error> {
    let owner = "list";
    match slot {
        Slot::StrList(list) => append_list(seq, list, cx, owner),
        Slot::BytesList(list) => append_list(seq, list, cx, owner),
        Slot::BoolList(list) => append_list(seq, list, cx, owner),
        Slot::I32List(list) => append_list(seq, list, cx, owner),
        Slot::I64List(list) => append_list(seq, list, cx, owner),
        Slot::MessageList(list) => append_messages(seq, list, cx),
        _ => {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(())
        }
    }
}
