//! Comparing messages and comparing their JSON find the same.

use super::compare_messages;
use crate::schema::{Schema, TypeRef};
use crate::typed::created_fields;
use crate::typed::{Duplicates, TypedValue};
use kubist_api::KINDS;
use kubist_apimachinery::AnyObject;
use kubist_apimachinery::wire::{
    self, DecodeContext, FieldType, JsonForm, merge_json, to_json_value,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) % end
    }

    fn text(&mut self) -> Value {
        ["a", "b", "TCP", ""][usize::try_from(self.below(4)).unwrap_or(0)].into()
    }

    fn message(&mut self, schema: &'static wire::Schema, depth: usize) -> Value {
        match schema.form {
            JsonForm::Object => {}
            JsonForm::Scalar if schema.name.contains("Time") => {
                return format!("2024-01-0{}T00:00:00Z", self.below(3) + 1).into();
            }
            JsonForm::Scalar if schema.name == "IntOrString" && self.below(2) == 0 => {
                return self.below(3).into();
            }
            JsonForm::Scalar if schema.name == "Duration" => return "5s".into(),
            JsonForm::Scalar => return self.below(3).to_string().into(),
            _ => return json!({"x": self.below(3)}),
        }
        let mut members = Map::new();
        for field in schema.fields {
            if depth > 0 && self.below(3) > 0 && schema.kind.is_none_or(|_| field.json != "items") {
                let value = self.field(field.ty, depth - 1);
                members.insert(field.json.to_owned(), value);
            }
        }
        Value::Object(members)
    }

    fn field(&mut self, ty: FieldType, depth: usize) -> Value {
        let count = self.below(3);
        match ty {
            FieldType::Bool => (self.below(2) == 0).into(),
            FieldType::I32 | FieldType::I64 | FieldType::F64 => self.below(3).into(),
            FieldType::Str => self.text(),
            FieldType::Bytes => "eA==".into(),
            FieldType::Message(schema) => self.message(schema, depth),
            FieldType::StrList => (0..count).map(|_| self.text()).collect(),
            FieldType::BoolList => (0..count).map(|_| Value::from(true)).collect(),
            FieldType::I32List | FieldType::I64List => {
                (0..count).map(|_| Value::from(self.below(3))).collect()
            }
            FieldType::BytesList => (0..count).map(|_| Value::from("eA==")).collect(),
            FieldType::MessageList(schema) => {
                (0..count).map(|_| self.message(schema, depth)).collect()
            }
            FieldType::StrMap => self.map(count, Self::text),
            FieldType::BytesMap => self.map(count, |_| "eA==".into()),
            FieldType::MessageMap(schema) => self.map(count, |it| it.message(schema, depth)),
        }
    }

    fn map(&mut self, count: u64, mut value: impl FnMut(&mut Self) -> Value) -> Value {
        let member = |at: u64| (format!("key{at}"), value(self));
        Value::Object((0..count).map(member).collect())
    }
}

/// Returns the object with some parts of the other.
fn mixed(random: &mut Random, one: &Value, other: &Value) -> Value {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut out = one.clone();
            for (name, theirs) in other {
                match out.get_mut(name) {
                    Some(own) => *own = mixed(random, own, theirs),
                    None if random.below(6) == 0 => drop(out.insert(name.clone(), theirs.clone())),
                    None => {}
                }
            }
            Value::Object(out)
        }
        (one, other) => if random.below(6) == 0 { other } else { one }.clone(),
    }
}

fn object(kind: &'static kubist_api::Kind, json: &Value) -> Option<Box<dyn AnyObject>> {
    let mut object = kind.new_object()?;
    let bytes = serde_json::to_vec(json).expect("it is JSON");
    merge_json(&mut *object, &bytes, &mut DecodeContext::new()).ok()?;
    Some(object)
}

#[test]
fn messages_differ_where_their_json_differs() {
    let (mut compared, mut unfit) = (0, 0);
    for (at, kind) in KINDS
        .iter()
        .enumerate()
        .filter(|(_, it)| it.new_object().is_some())
    {
        let schema = Arc::new(Schema::from_wire([kind.schema()]));
        let root = TypeRef::of_wire(kind.schema());
        for seed in 0..12 {
            let mut random = Random(0x9e37_79b9 + 1000 * u64::try_from(at).unwrap_or(0) + seed);
            let one = random.message(kind.schema(), 7);
            let other = random.message(kind.schema(), 7);
            let other = mixed(&mut random, &one, &other);
            let empty = json!({});
            let empty_tree = kind
                .new_object()
                .map(|it| to_json_value(&*it))
                .unwrap_or_default();
            for (old, new) in [(&one, &other), (&empty, &one), (&one, &one)] {
                let (Some(old), Some(new)) = (object(kind, old), object(kind, new)) else {
                    unfit += 1;
                    continue;
                };
                let typed = |object: &dyn AnyObject| {
                    let (tree, schema) = (to_json_value(object), Arc::clone(&schema));
                    TypedValue::new(tree, schema, root.clone(), Duplicates::Allowed)
                };
                let (Ok(tree), Ok(new_tree)) = (typed(&*old), typed(&*new)) else {
                    unfit += 1;
                    continue;
                };
                let of_trees = tree.compare(&new_tree).expect("they fit");
                let of_messages = compare_messages(&schema, &root, &*old, &*new);
                let of_messages = of_messages.expect("they fit");
                let facts = kind.facts();
                assert_eq!(
                    of_messages, of_trees,
                    "{facts:?} {seed}\n{tree:?}\n{new_tree:?}"
                );
                if *tree.value() == empty_tree {
                    let created = created_fields(&schema, &root, &*old, &*new);
                    let of_trees = of_trees.added.union(&of_trees.modified);
                    assert_eq!(
                        created.expect("it fits"),
                        of_trees,
                        "{facts:?} {seed}\n{new_tree:?}"
                    );
                }
                compared += 1;
            }
        }
    }
    assert!(
        compared > 10 * unfit,
        "{compared} compared, {unfit} do not fit"
    );
}
