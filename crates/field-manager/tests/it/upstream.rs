//! The same questions to Go's structured-merge-diff, in the program of `tests/interop/merge`.

use crate::random::{ROOT, Random, schema, value};
use crate::schemas::parse;
use kubist_field_manager::schema::{Schema, TypeRef};
use kubist_field_manager::{Duplicates, FieldSet, TypedErrors, TypedValue};
use serde_json::{Map, Value, json};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The program; `cargo xtask interop` builds it and sets this.
const PROGRAM: &str = "KUBIST_MERGE_PROGRAM";
/// The number of cases. Default: 10,000.
const COUNT: &str = "KUBIST_MERGE_COUNT";
/// Cases with one schema.
const CASES_PER_SCHEMA: usize = 20;

#[test]
fn field_sets_comparisons_and_merges_are_upstreams() {
    let Some(program) = std::env::var_os(PROGRAM) else {
        println!("skipped: {PROGRAM} names no program");
        return;
    };
    let count = std::env::var_os(COUNT).map_or(10_000, |it| {
        let count = it.to_str().and_then(|it| it.parse().ok());
        count.expect("the count is a number")
    });
    let cases = cases(count);
    let child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("the program starts");
    let input = child.stdin.take().expect("it is piped");
    let output = child.stdout.take().expect("it is piped");
    let (mut differing, mut merged, mut panics) = (0, 0, 0);
    std::thread::scope(|scope| {
        let questions = &cases;
        scope.spawn(move || {
            let mut input = BufWriter::new(input);
            for case in questions {
                writeln!(input, "{case}").expect("it reads");
            }
        });
        for (case, line) in cases.iter().zip(BufReader::new(output).lines()) {
            let theirs: Value = serde_json::from_str(&line.expect("it writes")).expect("JSON");
            let (ours, theirs) = (comparable(answer(case)), comparable(theirs));
            if theirs.get("panic").is_some() {
                panics += 1;
                continue;
            }
            merged += usize::from(theirs.get("merged").is_some());
            if ours != theirs {
                differing += 1;
                if differing < 6 {
                    println!("{case}\nours   {ours}\ntheirs {theirs}\n");
                }
            }
        }
    });
    assert!(child.wait().expect("it ends").success());
    assert_eq!(differing, 0, "of {count} cases");
    assert!(merged * 3 > count, "only {merged} of {count} are merges");
    assert!(panics * 50 < count, "upstream panics {panics} times");
    println!(
        "{count} cases, {merged} of them merges, {panics} a panic of upstream's, all others agree"
    );
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
fn comparable(value: Value) -> Value {
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
