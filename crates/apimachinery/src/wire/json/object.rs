//! Decoding of a JSON object into the fields of a message.

use super::super::seen::Seen;
use super::super::{DecodeContext, Message, Schema, Segment, StrictProblem};
use super::mismatch;
use super::slot::SlotSeed;
use super::value::{Repeats, ValueSeed};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

pub(super) struct ObjectVisitor<'a> {
    pub(super) message: &'a mut dyn Message,
    pub(super) schema: &'static Schema,
    pub(super) cx: &'a mut DecodeContext,
}

/// Visitor methods that refuse every JSON type but an object.
macro_rules! refuse {
    ($($method:ident($type:ty) => $found:expr),* $(,)?) => {$(
        fn $method<E: de::Error>(self, value: $type) -> Result<(), E> {
            let found: fn($type) -> String = $found;
            let expected = self.expected();
            Err(mismatch(self.cx, found(value), expected, self.owner()))
        }
    )*};
}

impl ObjectVisitor<'_> {
    fn expected(&self) -> String {
        self.schema.name.to_owned()
    }
    fn owner(&self) -> &'static str {
        self.schema.name
    }
}

impl<'de> Visitor<'de> for ObjectVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object ({})", self.schema.name)
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    refuse! {
        visit_bool(bool) => |_| "bool".into(),
        visit_i64(i64) => |_| "number".into(),
        visit_u64(u64) => |_| "number".into(),
        visit_f64(f64) => |_| "number".into(),
        visit_str(&str) => |_| "string".into(),
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(mismatch(
            self.cx,
            "array",
            self.schema.name,
            self.schema.name,
        ))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self {
            message,
            schema,
            cx,
        } = self;
        let mut seen = Seen::default();
        let mut type_meta = Seen::default();
        let mut hint = 0;
        while let Some(found) = map.next_key_seed(NameSeed {
            schema,
            hint,
            cx: &mut *cx,
        })? {
            let index = match found {
                Name::Field(index) => index,
                Name::TypeMeta(name) => {
                    map.next_value::<IgnoredAny>()?;
                    if !type_meta.insert(usize::from(name == KIND)) {
                        cx.note(StrictProblem::Duplicate, name);
                    }
                    continue;
                }
                Name::Unknown => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                Name::Other(name) => {
                    other(message, name, &mut map, cx)?;
                    continue;
                }
            };
            hint = index + 1;
            let field = &schema.fields[index];
            if cx.is_strict() && !seen.insert(index) {
                cx.note(StrictProblem::Duplicate, field.json);
            }
            cx.path.push(Segment::Field(field.json));
            if let Some(slot) = message.slot(index) {
                map.next_value_seed(SlotSeed::new(slot, field.ty.schema(), schema.name, cx))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            cx.path.pop();
        }
        Ok(())
    }
}

/// Decodes a member that the schema does not have into the message's own storage for such members.
fn other<'de, A: MapAccess<'de>>(
    message: &mut dyn Message,
    name: String,
    map: &mut A,
    cx: &mut DecodeContext,
) -> Result<(), A::Error> {
    let mut repeats = Repeats::default();
    let value = map.next_value_seed(ValueSeed(&mut repeats))?;
    repeats.report(&name, cx);
    if let Some(others) = message.others_mut() {
        if cx.is_strict() && others.contains_key(&name) {
            cx.note(StrictProblem::Duplicate, &name);
        }
        others.insert(name, value);
    }
    Ok(())
}

const KIND: &str = "kind";
const API_VERSION: &str = "apiVersion";

pub(super) enum Name {
    Field(usize),
    /// The `apiVersion` or `kind` of a kind.
    TypeMeta(&'static str),
    /// A member that is kept unchanged.
    Other(String),
    Unknown,
}

pub(super) struct NameSeed<'a> {
    pub(super) schema: &'static Schema,
    pub(super) hint: usize,
    pub(super) cx: &'a mut DecodeContext,
}

impl<'de> DeserializeSeed<'de> for NameSeed<'_> {
    type Value = Name;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for NameSeed<'_> {
    type Value = Name;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }
    fn visit_str<E: de::Error>(self, name: &str) -> Result<Name, E> {
        Ok(match self.schema.index_by_name(name, self.hint) {
            Some(index) => Name::Field(index),
            None if self.schema.kind.is_some() && name == KIND => Name::TypeMeta(KIND),
            None if self.schema.kind.is_some() && name == API_VERSION => {
                Name::TypeMeta(API_VERSION)
            }
            None if self.schema.keeps_others() => Name::Other(name.to_owned()),
            None => {
                self.cx.note(StrictProblem::Unknown, name);
                Name::Unknown
            }
        })
    }
}
