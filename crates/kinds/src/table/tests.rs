//! Tests of rows: objects made here and objects of a real server.

mod cluster;
mod network;
mod pods;
mod preview;
mod recorded;
mod volumes;
mod workloads;

use super::{DEFAULT_COLUMNS, table_cells, table_columns};
use kubist_api::{GROUPS, Kind, ResourceFacts, find_kind};
use kubist_apimachinery::wire::{DecodeContext, merge_json};
use kubist_apimachinery::{AnyObject, Time};
use serde_json::{Value, json};

/// The current time in the tests: 2023-11-14T22:13:20Z.
const NOW: i64 = 1_700_000_000;
/// The creation time of all objects, five minutes earlier.
const CREATED: &str = "2023-11-14T22:08:20Z";

fn served() -> impl Iterator<Item = &'static ResourceFacts> {
    GROUPS
        .iter()
        .flat_map(|it| it.versions)
        .flat_map(|it| it.resources)
}

fn facts(group: &str, version: &str, plural: &str) -> Option<&'static ResourceFacts> {
    served().find(|it| (it.group, it.version, it.plural) == (group, version, plural))
}

fn decoded(facts: &ResourceFacts, object: &Value) -> Box<dyn AnyObject> {
    let kind = find_kind(facts.group, facts.version, facts.kind).expect("it is a kind");
    let mut decoded = kind.new_object().expect("it has metadata");
    let json = object.to_string();
    merge_json(&mut *decoded, json.as_bytes(), &mut DecodeContext::new()).expect("it decodes");
    decoded
}

/// Returns the row of an object, after adding a name and a creation time.
fn row(group: &str, version: &str, plural: &str, mut object: Value) -> Value {
    let facts = facts(group, version, plural).expect("it is served");
    let meta = &mut object["metadata"];
    meta["name"] = json!("x");
    meta["creationTimestamp"] = json!(CREATED);
    table_cells(facts, &*decoded(facts, &object), Time::from_unix(NOW)).into()
}

/// Checks the row of an object.
fn check(resource: (&str, &str, &str), object: Value, expected: Value) {
    let (group, version, plural) = resource;
    let mut object = object;
    if object["metadata"].is_null() {
        object["metadata"] = json!({});
    }
    assert_eq!(row(group, version, plural, object), expected, "{plural}");
}

#[test]
fn every_resource_has_a_cell_for_each_column() {
    for facts in served() {
        let kind = find_kind(facts.group, facts.version, facts.kind);
        let Some(object) = kind.and_then(Kind::new_object) else {
            continue;
        };
        let (cells, columns) = (
            table_cells(facts, &*object, Time::from_unix(NOW)),
            table_columns(facts),
        );
        let name = (facts.group, facts.version, facts.plural);
        assert_eq!(cells.len(), columns.len(), "{name:?}");
        for (cell, column) in cells.iter().zip(columns) {
            assert!(
                !cell.is_null(),
                "{name:?} says nothing about {}",
                column.name
            );
            match column.type_ {
                "integer" => assert!(cell.is_i64(), "{name:?}: {} is {cell}", column.name),
                "date" => assert!(cell.is_string(), "{name:?}: {} is {cell}", column.name),
                _ => {}
            }
        }
    }
}

#[test]
fn versions_share_the_columns_of_their_resource() {
    let columns = |version| {
        let facts = facts("resource.k8s.io", version, "resourceclaims").expect("it is served");
        table_columns(facts)
            .iter()
            .map(|it| it.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(columns("v1"), ["Name", "State", "Age"]);
    assert_eq!(columns("v1beta1"), columns("v1"));
    let alone = facts("", "v1", "limitranges").expect("it is served");
    assert_eq!(table_columns(alone).len(), DEFAULT_COLUMNS.len());
    let cells = row("", "v1", "limitranges", json!({}));
    assert_eq!(cells, json!(["x", CREATED]));
}

#[test]
fn an_object_of_another_kind_shows_its_name_and_age() {
    let pods = facts("", "v1", "pods").expect("it is served");
    let node = decoded(
        facts("", "v1", "nodes").expect("it is served"),
        &json!({"metadata": {"name": "n", "creationTimestamp": CREATED}}),
    );
    let cells = table_cells(pods, &*node, Time::from_unix(NOW));
    assert_eq!(cells.len(), 9);
    assert_eq!(
        (&cells[0], &cells[1], &cells[4]),
        (&json!("n"), &Value::Null, &json!("5m"))
    );
}
