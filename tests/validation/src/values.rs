//! `Values`: random values of a type, valid or invalid.

use crate::Seeds;
use crate::random::Random;
use kubist_apimachinery::wire::{Field, FieldType, JsonForm, Schema};
use serde_json::{Map, Value, json};

/// The depth of generated messages.
const DEPTH_MAX: usize = 3;
/// The number of fields of a generated message.
const FIELDS_MAX: usize = 4;

const INTEGERS: [i64; 12] = [
    0,
    -1,
    1,
    2,
    80,
    100,
    101,
    65_535,
    65_536,
    86_400,
    i32::MAX as i64,
    i32::MIN as i64,
];
const TEXTS: [&str; 34] = [
    "",
    "a",
    "valid-name",
    "Invalid_Name",
    "UPPER",
    "-leading",
    "trailing-",
    "with space",
    "a/b",
    "a.b",
    "a/b/c",
    "*",
    "*.example.com",
    "example.com",
    "10.0.0.1",
    "10.0.0.300",
    "010.0.0.1",
    "10.0.0.0/8",
    "10.0.0.1/8",
    "::1",
    "fd00::1",
    "fd00::/64",
    "http://example.com",
    "/absolute/path",
    "../up",
    "a/../b",
    "0",
    "12",
    "100%",
    "5Gi",
    "$(NAME)",
    "kubernetes.io/some",
    "example.com/some",
    "gr\u{fc}n",
];
/// Lengths around the limits of names, labels and longer strings.
const LENGTHS: [usize; 8] = [15, 16, 63, 64, 253, 254, 1_024, 1_025];
const QUANTITIES: [&str; 10] = [
    "0", "1", "-1", "100m", "1500m", "0.5", "1Gi", "10", "1e3", "1n",
];
const KEYS: [&str; 8] = [
    "key",
    "app",
    "example.com/key",
    "Upper_Key.1",
    "with space",
    "/a",
    "a/b/c",
    "",
];

/// Generates values.
#[derive(Debug)]
pub(crate) struct Values<'a> {
    pub(crate) random: Random,
    pub(crate) seeds: &'a Seeds,
    /// Strings of the current object, as references between its fields.
    pub(crate) texts: Vec<String>,
}

impl Values<'_> {
    /// Returns a value for a field of this name and type.
    pub(crate) fn of(&mut self, name: &str, ty: Option<FieldType>) -> Value {
        self.at_depth(name, ty, 0)
    }

    fn at_depth(&mut self, name: &str, ty: Option<FieldType>, depth: usize) -> Value {
        if self.random.percent(45)
            && let Some(word) = self.random.pick(self.seeds.words(name))
        {
            return word.clone();
        }
        let Some(ty) = ty else {
            return Value::String(self.text(name));
        };
        match ty {
            FieldType::Bool => Value::Bool(self.random.percent(50)),
            FieldType::I32 | FieldType::I64 | FieldType::F64 => Value::from(self.integer()),
            FieldType::Str => Value::String(self.text(name)),
            FieldType::Bytes => json!("dmFsdWU="),
            FieldType::Message(schema) => self.message(name, schema, depth),
            FieldType::MessageList(schema) => {
                let count = 1 + self.random.below(2);
                let items = (0..count).map(|_| self.message(name, schema, depth));
                Value::Array(items.collect())
            }
            FieldType::MessageMap(schema) => {
                let key = self.key();
                Value::Object(Map::from_iter([(key, self.message(name, schema, depth))]))
            }
            FieldType::StrMap => {
                let key = self.key();
                Value::Object(Map::from_iter([(key, Value::String(self.text(name)))]))
            }
            FieldType::BytesMap => json!({ self.key(): "dmFsdWU=" }),
            FieldType::StrList => json!([self.text(name), self.text(name)]),
            FieldType::BoolList => json!([true]),
            FieldType::I32List | FieldType::I64List => json!([self.integer()]),
            FieldType::BytesList => json!(["dmFsdWU="]),
        }
    }

    fn message(&mut self, name: &str, schema: &'static Schema, depth: usize) -> Value {
        match schema.form {
            JsonForm::Object => {}
            JsonForm::Scalar => return self.scalar(schema),
            JsonForm::Raw => return json!({"any": "thing"}),
            JsonForm::Transparent | JsonForm::Union => return json!([self.text(name)]),
        }
        let mut message = Map::new();
        if depth < DEPTH_MAX {
            for _ in 0..=self.random.below(FIELDS_MAX) {
                if let Some((name, value)) = self.field(schema, depth + 1) {
                    message.insert(name, value);
                }
            }
        }
        Value::Object(message)
    }

    fn field(&mut self, schema: &'static Schema, depth: usize) -> Option<(String, Value)> {
        let field: &'static Field = self.random.pick(schema.fields)?;
        let value = self.at_depth(field.json, Some(field.ty), depth);
        Some((field.json.to_owned(), value))
    }

    fn scalar(&mut self, schema: &Schema) -> Value {
        match schema.name {
            "Quantity" => json!(self.random.pick(&QUANTITIES)),
            "Time" => json!("2026-01-02T03:04:05Z"),
            "MicroTime" => json!("2026-01-02T03:04:05.000006Z"),
            "Duration" => json!("30s"),
            _ if self.random.percent(50) => Value::from(self.integer()),
            _ => json!(
                self.random
                    .pick(&["http", "50%", "101%", "", "0%", "-5%", "UPPER"])
            ),
        }
    }

    /// Returns an entry for a map.
    pub(crate) fn key(&mut self) -> String {
        let key = self.random.pick(&KEYS).copied();
        key.unwrap_or_default().to_owned()
    }

    fn integer(&mut self) -> i64 {
        self.random.pick(&INTEGERS).copied().unwrap_or_default()
    }

    fn text(&mut self, name: &str) -> String {
        match self.random.below(10) {
            0..=3 => {
                let word = self.random.pick(self.seeds.words(name));
                if let Some(Value::String(word)) = word {
                    return word.clone();
                }
            }
            4 => {
                if let Some(text) = self.random.pick(&self.texts) {
                    return text.clone();
                }
            }
            5 => {
                let length = self.random.pick(&LENGTHS).copied();
                return "x".repeat(length.unwrap_or_default());
            }
            _ => {}
        }
        let text = self.random.pick(&TEXTS).copied();
        text.unwrap_or_default().to_owned()
    }
}
