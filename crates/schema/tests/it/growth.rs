//! Work grows in proportion to its input: ten times the size takes far less than a hundred times.

use crate::support::{object, props, schema};
use kubist_apimachinery::FieldPath;
use kubist_schema::{
    Malformed, Schema, SchemaOptions, Steps, UnknownFields, apply_defaults, check_schema,
    coerce_metadata, prune, remove_nulls, validate, validate_embedded, validate_list_types,
    validate_update,
};
use serde_json::{Map, Value, json};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The most that ten times the size may take, as a multiple; proportional work takes ten, and
/// machines under load more. Quadratic work takes a hundred.
const GROWTH_MAX: f64 = 40.0;
/// Shorter times are noise.
const NOISE: Duration = Duration::from_millis(4);
/// Ten times this many members are about two megabytes.
const SMALL: usize = 2_000;
/// Tests that measure at the same time would disturb each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Makes a property.
type Property = fn(usize) -> Value;

/// Compares the times of the small and the large size, the best of two each.
#[expect(clippy::disallowed_methods, reason = "it measures real time")]
#[expect(clippy::print_stdout, reason = "it shows the figures")]
fn check(name: &str, small: usize, work: impl Fn(usize) -> Box<dyn Fn()>) {
    let _turn = ONE_AT_A_TIME.lock();
    let time = |size: usize| {
        let work = work(size);
        let once = || {
            let started = Instant::now();
            work();
            started.elapsed()
        };
        (0..2).map(|_| once()).min().unwrap_or_default()
    };
    // Other load on the machine only makes a run slower, so the best of some counts.
    for _ in 0..5 {
        let (less, more) = (time(small).max(NOISE), time(10 * small));
        let growth = more.as_secs_f64() / less.as_secs_f64();
        println!("{name}: {less:?}, {more:?}: {growth:.1}");
        if growth < GROWTH_MAX {
            return;
        }
    }
    panic!("{name} grows more than in proportion");
}

fn members(count: usize, make: impl Fn(usize) -> Value) -> Map<String, Value> {
    (0..count)
        .map(|it| (format!("member-{it:08}"), make(it)))
        .collect()
}

fn items(count: usize, make: impl Fn(usize) -> Value) -> Value {
    (0..count).map(make).collect()
}

/// Returns schemas and objects of a size, by name.
fn objects(size: usize) -> Vec<(&'static str, Value, Value)> {
    let text = json!({"type": "string", "maxLength": 3, "pattern": "^[a-z]+$"});
    let item = json!({"type": "object", "required": ["v"], "properties": {
        "k": {"type": "string"}, "n": text, "d": {"type": "string", "default": "d"},
        "v": {"anyOf": [{"minLength": 2}, {"pattern": "^b"}], "type": "string"}}});
    let bad = |it: usize| json!({"k": it.to_string(), "n": "LONG", "v": "a", "u": null});
    vec![
        (
            "map of objects",
            json!({"type": "object", "additionalProperties": item}),
            members(size, bad).into(),
        ),
        (
            "list",
            json!({"type": "object", "properties": {"l": {"type": "array", "items": item}}}),
            json!({"l": items(size, bad)}),
        ),
        (
            "keyed list",
            json!({"type": "object", "properties": {"l": {"type": "array", "items": item,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}}}),
            json!({"l": items(size, bad)}),
        ),
        (
            "set",
            json!({"type": "object", "properties": {"l": {"type": "array",
                "x-kubernetes-list-type": "set", "items": {"type": "integer"}}}}),
            json!({"l": items(10 * size, |it| json!(it / 2))}),
        ),
        (
            "long text",
            json!({"type": "object", "properties": {"t": {"type": "string", "maxLength": 3},
                "p": {"type": "string", "pattern": "^(a|b)*$"}, "d": {"type": "string",
                "format": "duration"}, "h": {"type": "string", "format": "hostname"}}}),
            json!({"t": "x".repeat(50 * size), "p": "ab".repeat(20 * size),
                "d": "1 x".repeat(20 * size), "h": "a.".repeat(20 * size)}),
        ),
        (
            "required",
            json!({"type": "object", "required": items(size, |it| json!(format!("r{}", it / 2)))}),
            json!({}),
        ),
        (
            "unknown",
            json!({"type": "object", "properties": {"o": {"type": "object"}}}),
            json!({"o": members(size, |it| json!({"a": it}))}),
        ),
    ]
}

fn each(what: &str, work: impl Fn(&Schema, &Value) + Copy + 'static) {
    for index in 0..objects(1).len() {
        let name = format!("{what} {}", objects(1)[index].0);
        check(&name, SMALL, |size| {
            let (_, of, value) = objects(size).swap_remove(index);
            let of = schema(&of);
            Box::new(move || work(&of, &value))
        });
    }
}

#[test]
fn validation_takes_as_long_as_the_object() {
    each("validate", |of, value| {
        validate(value, of, &FieldPath::ROOT, &mut Steps::default());
    });
    each("update", |of, value| {
        validate_update(value, value, of, &FieldPath::ROOT, &mut Steps::default());
    });
    each("lists", |of, value| {
        let value = object(value);
        validate_list_types(&value, of, &FieldPath::ROOT);
        validate_embedded(&value, of, &FieldPath::ROOT);
    });
}

#[test]
fn changes_take_as_long_as_the_object() {
    each("change", |of, value| {
        let mut value = object(value);
        prune(&mut value, Some(of), Some(&mut UnknownFields::new()));
        remove_nulls(&mut value, of);
        apply_defaults(&mut value, of);
        coerce_metadata(&mut value, of, Malformed::Drop, None).expect("it has none");
    });
}

#[test]
fn nested_changes_are_compared_once() {
    check("deep update", 40, |size| {
        let (mut of, mut old, mut new) = (
            json!({"type": "string", "maxLength": 1}),
            json!("xx"),
            json!("xx"),
        );
        // The same number of members at each level.
        for _ in 0..60 {
            let wide = members(size * 2, |it| json!(it));
            of = json!({"type": "object", "minProperties": 100_000,
                "properties": {"a": of, "w": {"type": "object",
                "additionalProperties": {"type": "integer"}}}});
            old = json!({"a": old, "w": wide});
            new = json!({"a": new, "w": wide});
        }
        let of = schema(&of);
        Box::new(move || {
            let root = &FieldPath::ROOT;
            let errors = validate_update(&new, &old, &of, root, &mut Steps::default());
            assert!(errors.is_empty(), "{errors:?}");
        })
    });
}

#[test]
fn definitions_take_as_long_as_their_schema() {
    let properties: [(&str, Property); 5] = [
        (
            "plain",
            |_| json!({"type": "string", "description": "text"}),
        ),
        (
            "different",
            |it| json!({"type": "string", "maxLength": it, "default": "a", "format": "date"}),
        ),
        ("without type", |_| json!({"nullable": true})),
        (
            "rules",
            |_| json!({"type": "string", "x-kubernetes-validations": [{"rule": "", "fieldPath": ".a"}]}),
        ),
        (
            "junctors",
            |it| json!({"type": "string", "anyOf": [{"maxLength": it}, {"type": "string"}]}),
        ),
    ];
    for (name, make) in properties {
        check(&format!("definition {name}"), SMALL / 4, |size| {
            let of = json!({"type": "object", "properties": members(size, make)});
            let of = props(&of);
            Box::new(move || {
                let root = &FieldPath::ROOT;
                check_schema(&of, true, SchemaOptions::CREATE, None, root);
                SchemaOptions::update([&of], true);
            })
        });
    }
}
