//! Decoding of JSON scalars (times, quantities) and unions (a bool, an object or a list).

use super::super::{DecodeContext, JsonScalar, Message, Schema, Slot, WireErrorKind};
use super::collection::{visit_list, visit_messages};
use super::object::ObjectVisitor;
use super::{mismatch, stop};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use std::fmt;

pub(super) struct ScalarVisitor<'a> {
    pub(super) message: &'a mut dyn Message,
    pub(super) schema: &'static Schema,
    pub(super) cx: &'a mut DecodeContext,
}

impl ScalarVisitor<'_> {
    fn set<E: de::Error>(self, scalar: JsonScalar<'_>) -> Result<(), E> {
        self.message.set_scalar(scalar).map_err(|reason| {
            let error = self.cx.fail(WireErrorKind::Invalid { reason });
            stop(self.cx, error)
        })
    }
}

impl<'de> Visitor<'de> for ScalarVisitor<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.schema.name)
    }
    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.set(JsonScalar::Bool(value))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.set(JsonScalar::Int(value))
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "too large for i64: only its size matters"
        )]
        self.set(i64::try_from(value).map_or(JsonScalar::Float(value as f64), JsonScalar::Int))
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        self.set(JsonScalar::Float(value))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.set(JsonScalar::Str(text.into()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(mismatch(
            self.cx,
            "array",
            self.schema.name,
            self.schema.name,
        ))
    }
    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(mismatch(
            self.cx,
            "object",
            self.schema.name,
            self.schema.name,
        ))
    }
}

/// Decodes any JSON type into the field that has it.
pub(super) struct UnionVisitor<'a> {
    pub(super) message: &'a mut dyn Message,
    pub(super) schema: &'static Schema,
    pub(super) cx: &'a mut DecodeContext,
}

impl UnionVisitor<'_> {
    /// Returns the index of the first field with a matching slot.
    fn find(&mut self, wanted: fn(&Slot<'_>) -> bool) -> Option<usize> {
        (0..self.schema.fields.len())
            .find(|&index| self.message.slot(index).as_ref().is_some_and(wanted))
    }

    fn wrong<E: de::Error>(self, found: &str) -> E {
        mismatch(self.cx, found, self.schema.name, self.schema.name)
    }

    fn set_bool(&mut self, value: bool) -> bool {
        let index = self.find(|slot| matches!(slot, Slot::Bool(_)));
        match index.and_then(|index| self.message.slot(index)) {
            Some(Slot::Bool(place)) => {
                *place = value;
                true
            }
            _ => false,
        }
    }
}

impl<'de> Visitor<'de> for UnionVisitor<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.schema.name)
    }
    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E: de::Error>(mut self, value: bool) -> Result<(), E> {
        if self.set_bool(value) {
            Ok(())
        } else {
            Err(self.wrong("bool"))
        }
    }
    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        Err(self.wrong("string"))
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        Err(self.wrong("number"))
    }
    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        Err(self.wrong("number"))
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        let list = self.find(|slot| matches!(slot, Slot::MessageList(_) | Slot::StrList(_)));
        match list.and_then(|index| self.message.slot(index)) {
            Some(Slot::MessageList(list)) => visit_messages(&mut seq, list, self.cx),
            Some(Slot::StrList(list)) => visit_list(&mut seq, list, self.cx, self.schema.name),
            _ => Err(mismatch(
                self.cx,
                "array",
                self.schema.name,
                self.schema.name,
            )),
        }
    }
    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.set_bool(true);
        let message = self.find(|slot| matches!(slot, Slot::OptMessage(_)));
        match message.and_then(|index| self.message.slot(index)) {
            Some(Slot::OptMessage(place)) => {
                let message = place.get_or_default();
                let schema = message.schema();
                ObjectVisitor {
                    message,
                    schema,
                    cx: self.cx,
                }
                .visit_map(map)
            }
            _ => Err(mismatch(
                self.cx,
                "object",
                self.schema.name,
                self.schema.name,
            )),
        }
    }
}
