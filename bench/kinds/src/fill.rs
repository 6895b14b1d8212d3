//! Objects with all fields set, from the schemas alone.
//!
//! Lists of messages have one item, those of texts and maps two entries. A message within one of
//! its own type is left out. Every third text is longer than what is stored in place.

use kubist_apimachinery::ByteString;
use kubist_apimachinery::wire::{DecodeContext, JsonForm, JsonScalar, Message, Schema, Slot, Wire};

/// Returns an object with all fields set.
pub(crate) fn filled<M: Wire + Default>() -> M {
    let mut object = M::default();
    let mut fill = Fill {
        within: Vec::new(),
        count: 0,
    };
    fill.message(&mut object);
    object
}

struct Fill {
    within: Vec<&'static Schema>,
    count: i64,
}

impl Fill {
    fn message(&mut self, message: &mut dyn Message) {
        let schema = message.schema();
        match schema.form {
            JsonForm::Scalar => {
                let text = match schema.name {
                    "Time" => "2026-05-04T08:00:00Z",
                    "MicroTime" => "2026-05-04T08:00:00.123456Z",
                    "Duration" => "1h0m0s",
                    "Quantity" => "128Mi",
                    _ => "http",
                };
                let set = message.set_scalar(JsonScalar::Str(text.into()));
                assert!(set.is_ok(), "{}", schema.name);
            }
            JsonForm::Raw => {
                let text = r#"{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}"#;
                let set = message.set_raw_json(text, &mut DecodeContext::new());
                assert!(set.is_ok(), "{}", schema.name);
            }
            _ => {
                self.within.push(schema);
                for (index, field) in schema.fields.iter().enumerate() {
                    if field.ty.schema().is_some_and(|below| self.repeats(below)) {
                        continue;
                    }
                    if let Some(slot) = message.slot(index) {
                        self.slot(slot, field.json);
                    }
                }
                self.within.pop();
            }
        }
    }

    /// Reports whether a message of this type is within one of its own type, or would be.
    fn repeats(&self, schema: &'static Schema) -> bool {
        let is_around =
            |below: &'static Schema| self.within.iter().any(|it| std::ptr::eq(*it, below));
        let mut parts = schema.fields.iter().filter_map(|field| field.ty.schema());
        is_around(schema) || (schema.form == JsonForm::Union && parts.any(is_around))
    }

    fn text(&mut self, name: &str) -> String {
        self.count += 1;
        if self.count % 3 == 0 {
            format!("{name}-of-example-number-{}", self.count)
        } else {
            format!("value-{}", self.count)
        }
    }

    fn number(&mut self) -> i64 {
        self.count += 1;
        self.count
    }

    fn slot(&mut self, slot: Slot<'_>, name: &str) {
        match slot {
            Slot::Bool(place) => *place = true,
            Slot::OptBool(place) => *place = Some(true),
            Slot::I32(place) => *place = self.number() as i32,
            Slot::OptI32(place) => *place = Some(self.number() as i32),
            Slot::I64(place) => *place = self.number(),
            Slot::OptI64(place) => *place = Some(self.number()),
            Slot::F64(place) => *place = 0.5,
            Slot::OptF64(place) => *place = Some(0.5),
            Slot::Str(place) => *place = self.text(name).into(),
            Slot::OptStr(place) => *place = Some(self.text(name).into()),
            Slot::Bytes(place) => *place = ByteString(self.text(name).into_bytes()),
            Slot::OptBytes(place) => *place = Some(ByteString(self.text(name).into_bytes())),
            Slot::Message(message) => self.message(message),
            Slot::OptMessage(place) => self.message(place.get_or_default()),
            Slot::MessageList(list) => self.message(list.push_default()),
            Slot::StrList(list) => list.extend([self.text(name).into(), self.text(name).into()]),
            Slot::BoolList(list) => list.push(true),
            Slot::I32List(list) => list.push(self.number() as i32),
            Slot::I64List(list) => list.push(self.number()),
            Slot::BytesList(list) => list.push(ByteString(self.text(name).into_bytes())),
            Slot::StrMap(map) => {
                for _ in 0..2 {
                    map.insert(self.text(name).into(), self.text(name).into());
                }
            }
            Slot::BytesMap(map) => {
                for _ in 0..2 {
                    let value = ByteString(self.text(name).into_bytes());
                    map.insert(self.text(name).into(), value);
                }
            }
            Slot::MessageMap(map) => {
                for _ in 0..2 {
                    let key = self.text(name).into();
                    self.message(map.entry(key));
                }
            }
            Slot::Serde(_) => {}
        }
    }
}
