//! The same questions to Go's structured-merge-diff, in the program of `tests/interop/merge`.

use crate::program;
use crate::random::{ROOT, Random, schema, value};
use crate::schemas::parse;
use kubist_field_manager::schema::{Schema, TypeRef};
use kubist_field_manager::{Duplicates, FieldSet, TypedErrors, TypedValue};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Cases with one schema.
const CASES_PER_SCHEMA: usize = 20;

#[test]
fn field_sets_comparisons_and_merges_are_upstreams() {
    let count = program::count();
    let (mut merged, mut panics) = (0, 0);
    let asked = program::ask(&cases(count), |case, theirs| {
        if theirs.get("panic").is_some() {
            panics += 1;
            return true;
        }
        merged += usize::from(theirs.get("merged").is_some());
        let (ours, theirs) = (comparable(answer(case)), comparable(theirs));
        if ours != theirs {
            println!("{case}\nours   {ours}\ntheirs {theirs}\n");
        }
        ours == theirs
    });
    if !asked {
        return;
    }
    assert!(merged * 3 > count, "only {merged} of {count} are merges");
    assert!(panics * 50 < count, "upstream panics {panics} times");
    println!("{count} cases agree, {merged} of them merges, but for {panics} panics of upstream's");
}

fn cases(count: usize) -> Vec<Value> {
    let mut cases: Vec<Value> = Vec::with_capacity(count);
    for seed in 0.. {
        let mut random = Random::new(seed + 1);
        let schema = schema(&mut random);
        for _ in 0..CASES_PER_SCHEMA {
            if cases.len() == count {
                return cases;
            }
            let root = json!({"namedType": ROOT});
            let mut any = || value(&mut random, &schema, &root, 4);
            let (old, new, other) = (any(), any(), any());
            let set = some_fields(&schema, other, &mut random);
            cases.push(json!({
                "schema": schema, "type": ROOT, "old": old, "new": new, "set": set,
            }));
        }
    }
    cases
}

/// Returns a set of fields that values of the schema can have.
fn some_fields(schema: &Value, other: Value, random: &mut Random) -> String {
    let of_other = typed(&Arc::new(parse(schema)), other, Duplicates::Allowed);
    let fields = of_other.and_then(|it| it.to_field_set());
    let mut kept = FieldSet::default();
    fields.unwrap_or_default().for_each(&mut |path| {
        if random.one_in(2) {
            kept.insert(path);
        }
        if random.one_in(12) {
            kept.insert(&path[..=random.below(path.len())]);
        }
    });
    kept.to_json()
}

fn typed(
    schema: &Arc<Schema>,
    value: Value,
    duplicates: Duplicates,
) -> Result<TypedValue, TypedErrors> {
    TypedValue::new(value, Arc::clone(schema), TypeRef::named(ROOT), duplicates)
}

/// What upstream reports in the random order of a Go map: only the first undeclared field, after
/// which it looks at no other field of the object, and the text of a map that stands for a key.
const RANDOM: [&str; 2] = ["field not declared in schema", "map[string]interface"];

/// Returns an answer without what the program leaves open: the order of errors, and whether a whole
/// number is a float.
pub(crate) fn comparable(value: Value) -> Value {
    match value {
        Value::String(text) if RANDOM.iter().any(|it| text.contains(it)) => "an error".into(),
        Value::String(text) if text.starts_with("errors:") => {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_unstable();
            lines.join("\n").into()
        }
        Value::Number(number) if number.as_f64().is_some_and(|it| it.fract() == 0.0) => {
            json!(number.as_f64())
        }
        Value::Array(items) => items.into_iter().map(comparable).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            Value::Object(members.map(|(name, it)| (name, comparable(it))).collect())
        }
        other => other,
    }
}

/// Answers as the program does.
fn answer(case: &Value) -> Value {
    let mut out = Map::new();
    let (mut sets, mut errors) = (Map::new(), Map::new());
    let schema = Arc::new(parse(&case["schema"]));
    let set = FieldSet::from_json(case["set"].as_str().unwrap_or_default()).unwrap_or_default();
    sets.insert("set".to_owned(), set.to_json().into());
    let live = typed(&schema, case["old"].clone(), Duplicates::Allowed);
    let config = typed(&schema, case["new"].clone(), Duplicates::Refused);
    match (live, config) {
        (Ok(live), Ok(config)) => {
            let mut add = |name: &str, set: &FieldSet| {
                sets.insert(name.to_owned(), set.to_json().into());
            };
            match live.to_field_set() {
                Ok(fields) => {
                    add("fields", &fields);
                    add("union", &fields.union(&set));
                    add("intersection", &fields.intersection(&set));
                    add("difference", &fields.difference(&set));
                    add("recursive", &fields.recursive_difference(&set));
                    add(
                        "named",
                        &fields.with_named_fields(&schema, &TypeRef::named(ROOT)),
                    );
                }
                Err(error) => drop(errors.insert("fields".to_owned(), error.to_string().into())),
            }
            match live.compare(&config) {
                Ok(found) => {
                    add("removed", &found.removed);
                    add("modified", &found.modified);
                    add("added", &found.added);
                }
                Err(error) => drop(errors.insert("compare".to_owned(), error.to_string().into())),
            }
            match live.merge(&config) {
                Ok(merged) => drop(out.insert("merged".to_owned(), merged.into_value())),
                Err(error) => drop(errors.insert("merge".to_owned(), error.to_string().into())),
            }
            out.insert("removed".to_owned(), live.remove(&set).into_value());
            out.insert("kept".to_owned(), live.extract(&set).into_value());
            let with_keys = live.extract_with_keys(&set.leaves());
            out.insert("keptKeys".to_owned(), with_keys.into_value());
        }
        (live, config) => {
            for (name, error) in [("oldError", live.err()), ("newError", config.err())] {
                if let Some(error) = error {
                    out.insert(name.to_owned(), error.to_string().into());
                }
            }
        }
    }
    out.retain(|_, value| !value.is_null());
    for (name, map) in [("sets", sets), ("errors", errors)] {
        if !map.is_empty() {
            out.insert(name.to_owned(), Value::Object(map));
        }
    }
    Value::Object(out)
}
