//! JSON decoding through serde, driven by schemas.
//!
//! Rules, as upstream's decoder has them: `null` leaves a field as it is (absent); names are
//! case-sensitive; unknown and repeated names are ignored, or collected when strict; an object
//! given twice merges. `apiVersion` and `kind` of a kind are known and skipped.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::field_access::{MessageList, MessageMap};
use super::{
    DecodeContext, JsonForm, JsonScalar, Message, Schema, Segment, Slot, StrictProblem, WireError,
    WireErrorKind,
};
use crate::{ByteString, Str};

/// Decodes JSON text into `message`.
pub fn merge_json(
    message: &mut dyn Message,
    bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    cx.reset();
    cx.check_length(bytes.len())?;
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let result = MessageSeed { message, cx: &mut *cx }
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end());
    result.map_err(|error| json_error(cx, &error))
}

fn json_error(cx: &mut DecodeContext, error: &serde_json::Error) -> WireError {
    if let Some(known) = cx.error.take() {
        return known;
    }
    let (line, column) = (error.line(), error.column());
    let mut reason = error.to_string();
    if let Some(end) = reason.rfind(" at line ") {
        reason.truncate(end);
    }
    cx.fail(WireErrorKind::Syntax { reason, line, column })
}

/// `serde::Deserialize` for any message.
pub fn deserialize<'de, M: Message + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<M, D::Error> {
    let mut message = M::default();
    let mut cx = DecodeContext::new();
    MessageSeed { message: &mut message, cx: &mut cx }.deserialize(deserializer)?;
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
                deserializer.deserialize_any(ObjectVisitor { message: self.message, schema, cx })?;
            }
            JsonForm::Scalar => {
                deserializer.deserialize_any(ScalarVisitor { message: self.message, schema, cx })?;
            }
            JsonForm::Transparent => {
                if let Some(slot) = self.message.slot(0) {
                    SlotSeed { slot, go_type: schema.name, owner: schema.name, cx }
                        .deserialize(deserializer)?;
                }
            }
            JsonForm::Union => {
                deserializer.deserialize_any(UnionVisitor { message: self.message, schema, cx })?;
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

/// Remembers the precise error and gives serde something to unwind with.
fn stop<E: de::Error>(cx: &mut DecodeContext, error: WireError) -> E {
    let text = error.to_string();
    cx.error.get_or_insert(error);
    E::custom(text)
}

fn mismatch<E: de::Error>(
    cx: &mut DecodeContext,
    found: impl Into<String>,
    expected: impl Into<String>,
    message: &'static str,
) -> E {
    let error = cx.fail(WireErrorKind::TypeMismatch {
        found: found.into(),
        expected: expected.into(),
        message,
    });
    stop(cx, error)
}

struct ObjectVisitor<'a> {
    message: &'a mut dyn Message,
    schema: &'static Schema,
    cx: &'a mut DecodeContext,
}

/// The visitor methods that refuse every JSON type but the wanted ones.
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
        Err(mismatch(self.cx, "array", self.schema.name, self.schema.name))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { message, schema, cx } = self;
        let mut seen = Seen::default();
        let mut hint = 0;
        while let Some(found) = map.next_key_seed(NameSeed { schema, hint, cx: &mut *cx })? {
            let index = match found {
                Name::Field(index) => index,
                Name::TypeMeta => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                Name::Unknown => {
                    map.next_value::<IgnoredAny>()?;
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
                let go_type = go_type(&slot, field.ty.schema());
                map.next_value_seed(SlotSeed { slot, go_type, owner: schema.name, cx: &mut *cx })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            cx.path.pop();
        }
        Ok(())
    }
}

/// Which fields came, for the duplicate check; 256 is more than any message has.
#[derive(Default)]
struct Seen([u64; 4]);

impl Seen {
    fn insert(&mut self, index: usize) -> bool {
        let (word, bit) = ((index / 64) % 4, 1u64 << (index % 64));
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }
}

enum Name {
    Field(usize),
    TypeMeta,
    Unknown,
}

struct NameSeed<'a> {
    schema: &'static Schema,
    hint: usize,
    cx: &'a mut DecodeContext,
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
            None if self.schema.kind.is_some() && matches!(name, "kind" | "apiVersion") => {
                Name::TypeMeta
            }
            None => {
                self.cx.note(StrictProblem::Unknown, name);
                Name::Unknown
            }
        })
    }
}

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
    }
}

struct SlotSeed<'a> {
    slot: Slot<'a>,
    go_type: &'static str,
    owner: &'static str,
    cx: &'a mut DecodeContext,
}

impl<'de> DeserializeSeed<'de> for SlotSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.slot {
            Slot::Message(message) => MessageSeed { message, cx: self.cx }.deserialize(deserializer),
            Slot::OptMessage(place) => {
                // `null` must leave it absent, so the value is looked at before it is made.
                deserializer.deserialize_option(OptionVisitor { place, cx: self.cx })
            }
            _ => deserializer.deserialize_any(self),
        }
    }
}

struct OptionVisitor<'a> {
    place: &'a mut dyn super::OptMessage,
    cx: &'a mut DecodeContext,
}

impl<'de> Visitor<'de> for OptionVisitor<'_> {
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
        MessageSeed { message: self.place.get_or_default(), cx: self.cx }.deserialize(deserializer)
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

fn base64<E: de::Error>(text: &str, cx: &mut DecodeContext) -> Result<ByteString, E> {
    ByteString::from_base64(text).ok_or_else(|| {
        let error = cx.fail(WireErrorKind::Invalid { reason: "illegal base64 data".into() });
        stop(cx, error)
    })
}

fn note_repeat(repeated: bool, key: &Str, cx: &mut DecodeContext) {
    if repeated {
        cx.note(StrictProblem::Duplicate, key);
    }
}

fn visit_entry<'de, A: MapAccess<'de>, T: super::FieldAccess>(
    map: &mut A,
    key: &Str,
    value: &mut T,
    cx: &mut DecodeContext,
    owner: &'static str,
) -> Result<(), A::Error> {
    cx.path.push(Segment::Key(key.clone()));
    let slot = value.slot();
    let go_type = go_type(&slot, None);
    map.next_value_seed(SlotSeed { slot, go_type, owner, cx: &mut *cx })?;
    cx.path.pop();
    Ok(())
}

fn visit_list<'de, A: SeqAccess<'de>, T: super::FieldAccess + Default>(
    seq: &mut A,
    list: &mut Vec<T>,
    cx: &mut DecodeContext,
    owner: &'static str,
) -> Result<(), A::Error> {
    list.clear();
    loop {
        let mut item = T::default();
        cx.path.push(Segment::Index(list.len()));
        let slot = item.slot();
        let go_type = go_type(&slot, None);
        let more = seq.next_element_seed(SlotSeed { slot, go_type, owner, cx: &mut *cx })?;
        cx.path.pop();
        if more.is_none() {
            break;
        }
        list.push(item);
    }
    list.shrink_to_fit();
    Ok(())
}

fn visit_messages<'de, A: SeqAccess<'de>>(
    seq: &mut A,
    list: &mut dyn MessageList,
    cx: &mut DecodeContext,
) -> Result<(), A::Error> {
    list.clear();
    loop {
        cx.path.push(Segment::Index(list.len()));
        let more = seq.next_element_seed(ItemSeed { list: &mut *list, cx: &mut *cx })?;
        cx.path.pop();
        if more.is_none() {
            break;
        }
    }
    list.shrink();
    Ok(())
}

/// Appends an item only once the list is known to go on.
struct ItemSeed<'a> {
    list: &'a mut dyn MessageList,
    cx: &'a mut DecodeContext,
}

impl<'de> DeserializeSeed<'de> for ItemSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        MessageSeed { message: self.list.push_default(), cx: self.cx }.deserialize(deserializer)
    }
}

fn visit_message_map<'de, A: MapAccess<'de>>(
    map: &mut A,
    entries: &mut dyn MessageMap,
    cx: &mut DecodeContext,
) -> Result<(), A::Error> {
    while let Some(key) = map.next_key_seed(KeySeed { cx: &mut *cx })? {
        note_repeat(entries.contains(&key), &key, cx);
        cx.path.push(Segment::Key(key.clone()));
        map.next_value_seed(MessageSeed { message: entries.entry(key), cx: &mut *cx })?;
        cx.path.pop();
    }
    Ok(())
}

struct KeySeed<'a> {
    cx: &'a mut DecodeContext,
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

struct ScalarVisitor<'a> {
    message: &'a mut dyn Message,
    schema: &'static Schema,
    cx: &'a mut DecodeContext,
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
        #[expect(clippy::cast_precision_loss, reason = "too large for i64: only its size matters")]
        self.set(i64::try_from(value).map_or(JsonScalar::Float(value as f64), JsonScalar::Int))
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        self.set(JsonScalar::Float(value))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.set(JsonScalar::Str(text.into()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(mismatch(self.cx, "array", self.schema.name, self.schema.name))
    }
    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(mismatch(self.cx, "object", self.schema.name, self.schema.name))
    }
}

/// Takes whichever JSON type comes into the field that has it.
struct UnionVisitor<'a> {
    message: &'a mut dyn Message,
    schema: &'static Schema,
    cx: &'a mut DecodeContext,
}

impl UnionVisitor<'_> {
    /// The index of the first field whose slot is wanted.
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
        if self.set_bool(value) { Ok(()) } else { Err(self.wrong("bool")) }
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
            _ => Err(mismatch(self.cx, "array", self.schema.name, self.schema.name)),
        }
    }
    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.set_bool(true);
        let message = self.find(|slot| matches!(slot, Slot::OptMessage(_)));
        match message.and_then(|index| self.message.slot(index)) {
            Some(Slot::OptMessage(place)) => {
                let message = place.get_or_default();
                let schema = message.schema();
                ObjectVisitor { message, schema, cx: self.cx }.visit_map(map)
            }
            _ => Err(mismatch(self.cx, "object", self.schema.name, self.schema.name)),
        }
    }
}
