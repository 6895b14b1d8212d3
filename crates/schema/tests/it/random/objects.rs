//! Random values: of a schema, and any.

use super::Random;
use super::schemas::{NAMES, number};
use serde_json::{Map, Value, json};

const TEXTS: [&str; 44] = [
    "",
    "a",
    "ab",
    "abc",
    "ABC",
    "foo",
    "a foo",
    "x",
    "é",
    "aa",
    "1",
    "12",
    "1.2.3.4",
    "01.2.3.4",
    "::1",
    "::ffff:1.2.3.4",
    "10.0.0.0/8",
    "::/0",
    "01:23:45:67:89:ab",
    "0123.4567.89ab",
    "2024-02-29",
    "2023-02-29",
    "2014-12-15T19:30:20.5Z",
    "2014-12-15t19:30:20+01:00",
    "1h30m",
    "3 days",
    "a@b.c",
    "A <a@b>",
    "http://a.b/c?d",
    "/a",
    "http://[::1]:80/%41",
    "aGk=",
    "#fff",
    "rgb(0, 10,255)",
    "111-22-3333",
    "4111111111111111",
    "0321751043",
    "978-0321751041",
    "507f1f77bcf86cd799439011",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "6ba7b8109dad41d180b400c04fd430c8",
    "a.b-c",
    "日本.jp",
    "a<b>&\"\n",
];

/// Returns a value that mostly fits a schema.
pub(crate) fn value(random: &mut Random, schema: &Value) -> Value {
    if schema["nullable"] == true && random.one_in(4) || random.one_in(40) {
        return Value::Null;
    }
    let all = schema["enum"].as_array().filter(|it| !it.is_empty());
    if let Some(all) = all
        && !random.one_in(4)
    {
        return random.pick(all).clone();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return match random.below(3) {
            0 => text(random),
            1 => number(random),
            _ => json!(random.below(200)),
        };
    }
    if schema["x-kubernetes-embedded-resource"] == true {
        return embedded(random, schema);
    }
    match schema["type"].as_str() {
        Some("string") => text(random),
        Some("integer") if !random.one_in(4) => json!(random.below(5)),
        Some("integer" | "number") => number(random),
        Some("boolean") => random.one_in(2).into(),
        Some("array") => {
            let count = random.below(4);
            (0..count)
                .map(|_| value(random, &schema["items"]))
                .collect()
        }
        Some("object") => object(random, schema).into(),
        _ => rubbish(random, 2),
    }
}

fn text(random: &mut Random) -> Value {
    (*random.pick(&TEXTS)).into()
}

fn object(random: &mut Random, schema: &Value) -> Map<String, Value> {
    let mut members = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_required = schema["required"].as_array().into_iter().flatten();
        let is_required = is_required.filter_map(Value::as_str).any(|it| it == name);
        if is_required || random.one_in(2) {
            members.insert(name.clone(), value(random, property));
        }
    }
    let additional = &schema["additionalProperties"];
    if additional.is_object() {
        for name in NAMES {
            if random.one_in(4) {
                members.insert(name.to_owned(), value(random, additional));
            }
        }
    }
    if random.one_in(5) {
        let name = *random.pick(&["u", "unknown", "metadata", "kind", "apiVersion"]);
        members.insert(name.to_owned(), rubbish(random, 1));
    }
    members
}

fn embedded(random: &mut Random, schema: &Value) -> Value {
    let mut members = object(random, schema);
    for (name, all) in [
        ("apiVersion", ["v1", "a/v1", "", "a/b/c"]),
        ("kind", ["Fig", "fig_", "", "Pod"]),
    ] {
        if !random.one_in(6) {
            let text = if random.one_in(3) {
                *random.pick(&all)
            } else {
                all[0]
            };
            members.insert(name.to_owned(), text.into());
        }
    }
    if !random.one_in(4) {
        members.insert("metadata".to_owned(), metadata(random));
    }
    members.into()
}

fn metadata(random: &mut Random) -> Value {
    let mut metadata = json!({});
    let fields = [
        ("name", json!("x")),
        ("name", json!("a/b")),
        ("name", json!(1)),
        ("namespace", json!("n")),
        ("namespace", json!("N_")),
        ("generateName", json!("g%")),
        ("labels", json!({"a": "b"})),
        ("labels", json!({"a_": "b c"})),
        ("labels", json!({"a": 1})),
        ("labels", json!([])),
        ("annotations", json!({"A/b": "x"})),
        ("annotations", json!({"/": "x"})),
        ("finalizers", json!(["a/b", "_"])),
        ("finalizers", json!(["orphan", "foregroundDeletion"])),
        ("finalizers", json!([1])),
        ("generation", json!(-1)),
        ("generation", json!("1")),
        ("creationTimestamp", json!(null)),
        ("creationTimestamp", json!("2024-01-02T03:04:05Z")),
        ("creationTimestamp", json!("x")),
        (
            "ownerReferences",
            json!([{"apiVersion": "v1", "kind": "Event", "name": "n", "uid": "u"}]),
        ),
        (
            "ownerReferences",
            json!([{"apiVersion": "", "kind": "", "name": "n", "uid": "u", "x": 1}]),
        ),
        ("ownerReferences", json!([{"name": 1}])),
        ("ownerReferences", json!({})),
        (
            "managedFields",
            json!([{"manager": "m", "operation": "Odd"}]),
        ),
        ("unknown", json!(1)),
        ("deletionGracePeriodSeconds", json!(5)),
        ("uid", json!("u")),
    ];
    for _ in 0..random.below(4) {
        let (name, value) = random.pick(&fields);
        metadata[*name] = value.clone();
    }
    if random.one_in(20) {
        return json!(null);
    }
    if random.one_in(20) {
        return json!("text");
    }
    metadata
}

/// Returns any value.
pub(crate) fn rubbish(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => random.one_in(2).into(),
        2 => number(random),
        3 => json!(random.below(100)),
        4 => text(random),
        5 => {
            let count = random.below(3);
            (0..count).map(|_| rubbish(random, depth - 1)).collect()
        }
        _ => {
            let mut members = Map::new();
            for name in NAMES {
                if random.one_in(3) {
                    members.insert(name.to_owned(), rubbish(random, depth - 1));
                }
            }
            members.into()
        }
    }
}
