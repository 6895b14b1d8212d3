//! The processing time of an object grows about linearly with each of its lists. Quadratic checks
//! would allow a client to keep a server busy.

use super::{Tester, minimal};
use kubist_apimachinery::AnyObject;
use kubist_apimachinery::wire::{DecodeContext, Field, FieldType, JsonForm, Schema, merge_json};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The numbers of items in a short and in a long list.
const SHORT: usize = 400;
const LONG: usize = 10 * SHORT;
/// The maximum ratio of the two times. Quadratic growth gives a ratio of 100.
const GROWTH_MAX: u32 = 40;
/// The time below which any growth is accepted.
const FAST: Duration = Duration::from_millis(100);
/// The maximum depth of nested messages.
const DEPTH_MAX: usize = 9;

/// The path to a list or a map in an object.
type Way = Vec<Step>;

#[derive(Clone, Copy, Debug)]
enum Step {
    Member(&'static str),
    /// The first item of a list.
    First,
}

/// How the items of a list differ.
#[derive(Clone, Copy, Debug)]
enum Items {
    Different,
    Equal,
}

/// Returns all lists and maps of a message. Each message type is visited once.
fn ways(
    schema: &'static Schema,
    way: &Way,
    seen: &mut BTreeSet<&'static str>,
    out: &mut Vec<(Way, &'static Field)>,
) {
    if way.len() > DEPTH_MAX || schema.form != JsonForm::Object || !seen.insert(schema.full_name) {
        return;
    }
    for field in schema.fields {
        let mut at = way.clone();
        at.push(Step::Member(field.json));
        match field.ty {
            FieldType::Message(inner) => ways(inner, &at, seen, out),
            FieldType::MessageList(inner) => {
                out.push((at.clone(), field));
                at.push(Step::First);
                ways(inner, &at, seen, out);
            }
            FieldType::StrList
            | FieldType::I32List
            | FieldType::I64List
            | FieldType::StrMap
            | FieldType::MessageMap(_) => out.push((at, field)),
            _ => {}
        }
    }
}

/// Returns the value of a field with the given number of items.
fn contents(field: &Field, count: usize, items: Items) -> Value {
    let number = |index: usize| match items {
        Items::Different => index,
        Items::Equal => 1,
    };
    let text = |index: usize| Value::from(format!("v{}", number(index)));
    let keyed = |value: &dyn Fn(usize) -> Value| {
        let pairs = (0..count).map(|index| (format!("k{index}"), value(index)));
        Value::Object(pairs.collect())
    };
    match field.ty {
        FieldType::StrList => (0..count).map(text).collect(),
        FieldType::I32List | FieldType::I64List => (0..count).map(number).collect(),
        FieldType::StrMap => keyed(&text),
        FieldType::MessageMap(schema) => keyed(&|index| item(schema, number(index))),
        FieldType::MessageList(schema) => (0..count)
            .map(|index| item(schema, number(index)))
            .collect(),
        _ => Value::Null,
    }
}

/// Returns an item whose scalars contain its number.
fn item(schema: &Schema, number: usize) -> Value {
    if schema.form != JsonForm::Object {
        return if schema.name == "Quantity" {
            json!("1")
        } else {
            Value::Null
        };
    }
    let mut map = Map::new();
    for field in schema.fields {
        let value = match field.ty {
            FieldType::Str => Value::from(format!("v{number}")),
            FieldType::I32 | FieldType::I64 => Value::from(1 + number % 60_000),
            _ => continue,
        };
        map.insert(field.json.to_owned(), value);
    }
    Value::Object(map)
}

/// Sets a value at a path.
fn put(tree: &mut Value, way: &[Step], value: Value) {
    let mut place = tree;
    for step in way {
        place = match step {
            Step::Member(name) => {
                if !place.is_object() {
                    *place = json!({});
                }
                &mut place[*name]
            }
            Step::First => {
                if place.as_array().is_none_or(Vec::is_empty) {
                    *place = json!([{"name": "a"}]);
                }
                &mut place[0]
            }
        };
    }
    *place = value;
}

impl Tester {
    /// Returns an object with the given number of items in one of its lists, or `None` if its kind
    /// cannot hold them.
    fn grown(
        &self,
        way: &[Step],
        field: &Field,
        count: usize,
        items: Items,
    ) -> Option<Box<dyn AnyObject>> {
        let mut tree = minimal::object(self.rest.facts(), "default");
        put(&mut tree, way, contents(field, count, items));
        if tree["metadata"]["name"].is_null() {
            tree["metadata"]["name"] = json!("grown");
        }
        let mut object = self.rest.new_object()?;
        let text = tree.to_string();
        merge_json(&mut *object, text.as_bytes(), &mut DecodeContext::new()).ok()?;
        Some(object)
    }

    /// Measures the validation of such an object on create and on update.
    async fn time(
        &self,
        way: &[Step],
        field: &Field,
        count: usize,
        items: Items,
    ) -> Option<Duration> {
        let (new, old) = (
            self.grown(way, field, count, items)?,
            self.grown(way, field, count + 1, Items::Different)?,
        );
        let copy = new.boxed_clone();
        #[expect(clippy::disallowed_methods, reason = "what is measured is time")]
        let begun = Instant::now();
        drop(self.create_in(self.namespace(), new, true).await);
        let (cx, strategy) = (self.fixture.cx(), self.rest.strategy());
        let (mut new, mut old) = (copy, old);
        strategy.apply_defaults(&mut *new);
        strategy.apply_defaults(&mut *old);
        strategy.prepare_for_update(&cx, &mut *new, &*old);
        drop(strategy.validate_update(&cx, (&*new, &*old), &[]));
        drop(strategy.warnings(&*new, Some(&*old)));
        let mut status = new.boxed_clone();
        if let Some(strategy) = strategy.subresource("status") {
            strategy.prepare_for_update(&cx, &mut *status, &*old);
            drop(strategy.validate_update(&cx, (&*new, &*old), &[]));
        }
        Some(begun.elapsed())
    }

    /// Returns the time for a long list if it exceeds the limit.
    async fn is_slow(&self, way: &[Step], field: &Field, items: Items) -> Option<Duration> {
        let mut long = self.time(way, field, LONG, items).await?;
        // Other load on the machine only makes a run slower, so the fastest run counts.
        for _ in 0..4 {
            if long <= FAST {
                return None;
            }
            let short = self.time(way, field, SHORT, items).await?;
            if long <= short * GROWTH_MAX {
                return None;
            }
            long = long.min(self.time(way, field, LONG, items).await?);
        }
        Some(long)
    }
}

async fn none_is_slow(items: Items) {
    let mut seen = BTreeSet::new();
    let mut slow = Vec::new();
    let mut looked = 0;
    for (group, version, plural) in super::everything().await {
        let tester = Tester::new(group, version, plural).await;
        let mut all = Vec::new();
        let schema = tester.rest.kind().schema();
        ways(schema, &Way::new(), &mut seen, &mut all);
        for (way, field) in all {
            looked += 1;
            if let Some(took) = tester.is_slow(&way, field, items).await {
                slow.push(format!("{plural} {way:?}: {took:?}"));
            }
        }
    }
    assert!(looked > 400, "{looked}");
    assert_eq!(slow, [""; 0]);
}

#[tokio::test]
async fn no_list_of_different_items_takes_longer_than_its_length() {
    none_is_slow(Items::Different).await;
}

#[tokio::test]
async fn no_list_of_equal_items_takes_longer_than_its_length() {
    none_is_slow(Items::Equal).await;
}
