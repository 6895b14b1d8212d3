//! `Mutator`: generates cases from seed objects and a number.

use crate::mutation::{Place, places};
use crate::random::Random;
use crate::values::Values;
use crate::{Case, Ours, Seeds};
use kubist_api::find_kind_by_api_version;
use kubist_apimachinery::wire::Schema;
use serde_json::{Value, json};

/// Attempts at one mutation: not every place supports every mutation.
const TRIES_MAX: usize = 50;
/// Mutations of a status, before and in an update.
const STATUS_CHANGES_MAX: usize = 6;
/// The percentage of updates.
const UPDATES_PERCENT: usize = 40;

/// The uid of the stored object.
const UID: &str = "7d5b0a7c-3c4f-4f0c-8f59-1a2b3c4d5e6f";

/// Generates cases.
#[derive(Debug)]
pub struct Mutator<'a> {
    seeds: &'a Seeds,
    /// The stored object of an update is the result of our rules for a seed.
    ours: &'a Ours,
    seed: u64,
}

impl<'a> Mutator<'a> {
    /// Creates a generator for these seed objects; another number gives other cases.
    pub fn new(seeds: &'a Seeds, ours: &'a Ours, seed: u64) -> Self {
        Self { seeds, ours, seed }
    }

    /// Returns the seed objects of a kind unchanged, and then `count` cases from them.
    pub fn cases(&self, resource: &str, count: usize) -> Vec<Case> {
        let objects = self.seeds.objects(resource);
        let unchanged = objects.iter().map(|object| Case {
            resource: resource.to_owned(),
            object: object.clone(),
            old: None,
            subresource: "",
            done: Vec::new(),
        });
        let changed = (0..count).filter_map(|number| self.case(resource, number));
        unchanged.chain(changed).collect()
    }

    /// Returns `count` status updates of these seed objects.
    pub fn status_cases(&self, resource: &str, count: usize) -> Vec<Case> {
        let case = |number| self.status_case(resource, number);
        (0..count).filter_map(case).collect()
    }

    fn status_case(&self, resource: &str, number: usize) -> Option<Case> {
        let mut random = self.random(resource, number);
        let seed = random.pick(self.seeds.objects(resource))?.clone();
        let schema = schema_of(&seed)?;
        let mut object = self.stored(resource, seed)?;
        object.as_object_mut()?.entry("status").or_insert(json!({}));
        let mut texts = Vec::new();
        collect_texts(&object, &mut texts);
        let mut values = Values {
            random,
            seeds: self.seeds,
            texts,
        };
        // The old status is as random as the new one.
        let is_status = |place: &Place| place.pointer.starts_with("/status");
        let is_any = |place: &Place| !place.pointer.starts_with("/status");
        for _ in 0..values.random.below(STATUS_CHANGES_MAX) {
            change(&mut object, schema, &mut values, &is_status);
        }
        let old = object.clone();
        let mut done = Vec::new();
        for _ in 0..=values.random.below(STATUS_CHANGES_MAX) {
            done.extend(change(&mut object, schema, &mut values, &is_status));
        }
        if values.random.percent(10) {
            done.extend(change(&mut object, schema, &mut values, &is_any));
        }
        one_of_each_owner(&mut object);
        Some(Case {
            resource: resource.to_owned(),
            object,
            old: Some(old),
            subresource: "status",
            done,
        })
    }

    /// Returns random numbers that depend only on the seed, the kind and a number.
    fn random(&self, resource: &str, number: usize) -> Random {
        let mut hash = self.seed;
        for byte in resource.bytes().chain(number.to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Random::new(hash)
    }

    /// Returns a case that depends only on the seed, the kind and its number.
    fn case(&self, resource: &str, number: usize) -> Option<Case> {
        let mut random = self.random(resource, number);
        let mut object = random.pick(self.seeds.objects(resource))?.clone();
        let schema = schema_of(&object)?;
        let mut old = None;
        if random.percent(UPDATES_PERCENT) {
            object = self.stored(resource, object)?;
            old = Some(object.clone());
        }
        let mut texts = Vec::new();
        collect_texts(&object, &mut texts);
        let mut values = Values {
            random,
            seeds: self.seeds,
            texts,
        };
        let changes = match values.random.below(100) {
            0..60 => 1,
            60..85 => 2,
            _ => 4,
        };
        let change = |_| change(&mut object, schema, &mut values, &|_| true);
        let done = (0..changes).filter_map(change).collect();
        one_of_each_owner(&mut object);
        Some(Case {
            resource: resource.to_owned(),
            object,
            old,
            subresource: "",
            done,
        })
    }

    /// Returns an object as stored, with a fixed uid.
    fn stored(&self, resource: &str, object: Value) -> Option<Value> {
        let case = Case {
            resource: resource.to_owned(),
            object,
            old: None,
            subresource: "",
            done: Vec::new(),
        };
        let mut stored = self.ours.answer(&case).prepared?;
        let uid = stored["metadata"]["uid"].as_str()?.to_owned();
        stored["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
        stored["metadata"]["resourceVersion"] = json!("7");
        serde_json::from_str(&stored.to_string().replace(&uid, UID)).ok()
    }
}

fn schema_of(object: &Value) -> Option<&'static Schema> {
    let api_version = object["apiVersion"].as_str()?;
    let kind = find_kind_by_api_version(api_version, object["kind"].as_str()?)?;
    Some(kind.schema())
}

/// Makes one mutation and returns its description.
fn change(
    object: &mut Value,
    schema: &'static Schema,
    values: &mut Values<'_>,
    may_be: &dyn Fn(&Place) -> bool,
) -> Option<String> {
    for _ in 0..TRIES_MAX {
        let mut places = places(object, schema);
        places.retain(|place| may_be(place));
        let how = values.random.below(100);
        let fits = |it: &&Place| how >= 35 || it.is_message();
        let fitting: Vec<&Place> = places.iter().filter(fits).collect();
        let place = *values.random.pick(&fitting)?;
        if place.is_aside && values.random.percent(75) {
            continue;
        }
        let done = match how {
            0..35 => place.add_field(object, values),
            35..50 => place.change_items(object, values),
            50..62 => place.remove(object),
            _ => place.change(object, values),
        };
        if done.is_some() {
            return done;
        }
    }
    None
}

/// Upstream removes repeated owners before validation; Kubist does so during validation.
fn one_of_each_owner(object: &mut Value) {
    let mut seen = Vec::new();
    if let Some(owners) = object["metadata"].get_mut("ownerReferences")
        && let Some(owners) = owners.as_array_mut()
    {
        owners.retain(|owner| {
            let uid = owner["uid"].as_str().unwrap_or_default().to_owned();
            let is_new = !seen.contains(&uid);
            seen.push(uid);
            is_new
        });
    }
}

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !texts.contains(text) => texts.push(text.clone()),
        Value::Object(fields) => fields.values().for_each(|it| collect_texts(it, texts)),
        Value::Array(items) => items.iter().for_each(|it| collect_texts(it, texts)),
        _ => {}
    }
}
