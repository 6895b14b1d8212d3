//! Tables of a real API server. The test is skipped if the recordings are not beside the workspace.

use super::{CREATED, NOW, decoded, facts, table_cells, table_columns};
use kubist_api::ResourceFacts;
use kubist_apimachinery::Time;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The latest state of each object in a scenario, by kind and name.
type Seen = BTreeMap<(String, String), Value>;

#[test]
fn rows_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/recorded");
    let mut rows = 0;
    for name in ["representations.json", "watch.json"] {
        let Ok(text) = std::fs::read_to_string(folder.join(name)) else {
            println!("skipped: ../shared/data/recorded/{name} is not there");
            return;
        };
        let scenario: Value = serde_json::from_str(&text).expect("it is JSON");
        let mut seen = Seen::new();
        for step in scenario["steps"].as_array().expect("there are steps") {
            let response = &step["response"];
            note(&response["body"], &mut seen);
            rows += check_table(step, &response["body"], &seen);
        }
    }
    println!("{rows} rows are equal");
    assert!(rows >= 10, "only {rows} rows were found");
}

fn note(body: &Value, seen: &mut Seen) {
    if let (Some(kind), Some(name)) = (body["kind"].as_str(), body["metadata"]["name"].as_str()) {
        seen.insert((kind.to_owned(), name.to_owned()), body.clone());
    }
}

/// Returns the resource in a path.
fn resource(path: &str) -> Option<&'static ResourceFacts> {
    let path = path.split('?').next().unwrap_or_default();
    let mut parts = path.split('/').skip(1);
    let (group, version) = match parts.next() {
        Some("api") => ("", parts.next()?),
        Some("apis") => (parts.next()?, parts.next()?),
        _ => return None,
    };
    facts(group, version, parts.nth(2)?)
}

/// Checks the rows of objects that appeared before, and returns their number.
fn check_table(step: &Value, body: &Value, seen: &Seen) -> usize {
    if body["kind"] != "Table" {
        return 0;
    }
    let Some(facts) = resource(step["path"].as_str().expect("there is a path")) else {
        return 0;
    };
    let step = &step["name"];
    let columns = body["columnDefinitions"]
        .as_array()
        .expect("a table has columns");
    let names = table_columns(facts)
        .iter()
        .map(|it| (it.name, it.type_, it.priority));
    for (expected, (name, type_, priority)) in columns.iter().zip(names) {
        let expected = (&expected["name"], &expected["type"], &expected["priority"]);
        assert_eq!(
            expected,
            (&name.into(), &type_.into(), &priority.into()),
            "{step}"
        );
    }
    let rows = body["rows"].as_array().expect("a table has rows");
    let known = rows.iter().filter_map(|row| {
        let name = row["cells"][0].as_str()?.to_owned();
        Some((row, seen.get(&(facts.kind.to_owned(), name))?))
    });
    known
        .map(|(row, object)| {
            let object = decoded(facts, &with_values(object));
            let cells = table_cells(facts, &*object, Time::from_unix(NOW));
            let expected = with_values(&row["cells"]);
            assert_eq!(Value::from(cells), expected, "{step}");
        })
        .count()
}

/// Replaces placeholders for times and ages with the tests' values, and other placeholders with
/// values.
fn with_values(value: &Value) -> Value {
    match value {
        Value::String(text) if text == "<time>" => CREATED.into(),
        Value::String(text) if text == "<age>" => "5m".into(),
        Value::String(text) if text.contains("<uid") => text.replace(['<', '>'], "").into(),
        Value::Array(items) => items.iter().map(with_values).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), with_values(value)))
            .collect(),
        other => other.clone(),
    }
}
