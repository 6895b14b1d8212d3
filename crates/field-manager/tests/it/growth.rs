//! Work grows in proportion to its input: ten times the size takes far less than a hundred times.

use kubist_apimachinery::{FieldsV1, ManagedFieldsEntry, Str};
use kubist_field_manager::schema::Schema;
use kubist_field_manager::{
    ConvertError, Duplicates, FieldSet, ManagedFields, ManagerId, TypedValue, Updater,
    VersionConverter,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most that ten times the size may take, as a multiple; proportional work takes ten, and
/// machines under load more. Quadratic work takes a hundred.
const GROWTH_MAX: f64 = 40.0;
/// Shorter times are noise.
const NOISE: Duration = Duration::from_millis(4);
const SMALL: usize = 300;

/// Makes a member, or a list, of a size.
type Names = (&'static str, fn(usize) -> String);
type Of = fn(usize, usize) -> Value;

/// Compares the times of the small and the large size, the best of three each.
#[expect(clippy::disallowed_methods, reason = "it measures real time")]
#[expect(clippy::print_stdout, reason = "it shows the figures")]
pub(crate) fn check(name: &str, work: impl Fn(usize) -> Box<dyn Fn()>) {
    let time = |size: usize| {
        let work = work(size);
        let once = || {
            let started = Instant::now();
            work();
            started.elapsed()
        };
        (0..3).map(|_| once()).min().unwrap_or_default()
    };
    let (small, large) = (time(SMALL).max(NOISE), time(10 * SMALL));
    let growth = large.as_secs_f64() / small.as_secs_f64();
    println!("{name}: {small:?}, {large:?}: {growth:.1}");
    assert!(growth < GROWTH_MAX, "{name}: {small:?}, {large:?}");
}

fn join(size: usize, member: impl Fn(usize) -> String) -> String {
    let members: Vec<String> = (0..size).map(member).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn reading_a_set_takes_as_long_as_its_text() {
    let names: [Names; 6] = [
        ("ascending", |it| format!(r#""f:{it:08}":{{}}"#)),
        ("descending", |it| {
            format!(r#""f:{:08}":{{}}"#, 99_999_999 - it)
        }),
        ("with children", |it| {
            format!(r#""f:{:08}":{{".":{{}},"f:a":{{}}}}"#, 99_999_999 - it)
        }),
        ("repeated", |_| r#""f:a":{"f:b":{}}"#.to_owned()),
        ("keys", |it| {
            format!(r#""k:{{\"name\":\"{:08}\"}}":{{}}"#, 99_999_999 - it)
        }),
        ("values", |it| format!(r#""v:{}":{{}}"#, 99_999_999 - it)),
    ];
    for (name, member) in names {
        check(name, |size| {
            let text = join(size, member);
            Box::new(move || {
                let set = FieldSet::from_json(&text).expect("it is a set");
                assert!(!set.to_json().is_empty());
            })
        });
    }
    for (name, prefix, suffix) in [
        ("a long name", "f:", ""),
        ("a long value", "v:\\\"", "\\\""),
        ("a long key", "k:{\\\"n\\\":\\\"", "\\\"}"),
    ] {
        check(name, |size| {
            let text = format!(r#"{{"{prefix}{}{suffix}":{{}}}}"#, "x".repeat(30 * size));
            Box::new(move || drop(FieldSet::from_json(&text).expect("it is a set")))
        });
    }
}

/// There is one version only.
struct OneVersion;

impl VersionConverter for OneVersion {
    fn convert(&self, _: &TypedValue, _: &str, _: &str) -> Result<TypedValue, ConvertError> {
        Err(ConvertError::NoVersion)
    }
}

fn managers(count: usize, fields: impl Fn(usize) -> String, operation: &str) -> ManagedFields {
    let entry = |index: usize| ManagedFieldsEntry {
        manager: format!("m{index}").into(),
        operation: operation.into(),
        api_version: "v1".into(),
        fields_type: "FieldsV1".into(),
        fields_v1: Some(FieldsV1 {
            raw: fields(index).into(),
        }),
        ..ManagedFieldsEntry::default()
    };
    let entries: Vec<ManagedFieldsEntry> = (0..count).map(entry).collect();
    ManagedFields::from_entries(&entries).expect("they can be read")
}

fn apply(live: &TypedValue, config: &TypedValue, managers: ManagedFields) {
    let (filters, version) = (BTreeMap::new(), Str::from("v1"));
    let updater = Updater {
        converter: &OneVersion,
        filters: &filters,
        api_version: &version,
    };
    let manager = ManagerId::applier("m0", "");
    for force in [false, true] {
        let applied = updater.apply(live, config, managers.clone(), &manager, force);
        if let Err(error) = &applied {
            assert!(!force && error.to_string().contains("conflict"), "{error}");
        }
        drop(applied.map(|it| it.managers.to_entries()));
    }
}

fn typed(spec: Value, value: Value, duplicates: Duplicates) -> TypedValue {
    let schema = json!({"type": "object", "properties": {"s": spec}});
    let (schema, root) = Schema::from_json_schema(Some(&schema));
    let value = json!({"s": value});
    TypedValue::new(value, Arc::new(schema), root, duplicates).expect("it fits")
}

#[test]
fn an_apply_takes_as_long_as_its_lists_and_maps() {
    let text = json!({"type": "string"});
    let keyed = json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
        "items": {"type": "object", "properties": {"n": text, "v": text}},
    });
    let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": text});
    let map = json!({"type": "object", "additionalProperties": text});
    let lists: [(&str, Value, Of); 4] = [
        ("keyed list", keyed.clone(), |size, from| {
            let item = |it: usize| json!({"n": (from + it).to_string(), "v": from.to_string()});
            (0..size).rev().map(item).collect()
        }),
        ("keyed list with repeated items", keyed, |size, from| {
            let item = |it: usize| {
                let name = if from == 0 { it % 2 } else { it };
                json!({"n": name.to_string(), "v": from.to_string()})
            };
            (0..size).map(item).collect()
        }),
        ("set", set, |size, from| {
            (0..size)
                .map(|it| Value::from((from + it).to_string()))
                .collect()
        }),
        ("map", map, |size, from| {
            let member = |it: usize| ((from + it).to_string(), Value::from(from.to_string()));
            Value::Object((0..size).map(member).collect())
        }),
    ];
    for (name, spec, of) in lists {
        check(name, |size| {
            let live = typed(spec.clone(), of(size, 0), Duplicates::Allowed);
            let config = typed(spec.clone(), of(size, size / 2), Duplicates::Refused);
            let owned = config.to_field_set().expect("it has fields").to_json();
            let before = live.to_field_set().expect("it has fields").to_json();
            let managers = managers(3, |it| [&owned, &before][it % 2].clone(), "Apply");
            Box::new(move || apply(&live, &config, managers.clone()))
        });
    }
}

#[test]
fn an_apply_takes_as_long_as_there_are_managers() {
    let text = json!({"type": "object", "additionalProperties": {"type": "string"}});
    for operation in ["Apply", "Update"] {
        check(operation, |size| {
            let live = typed(text.clone(), json!({"a": "1"}), Duplicates::Allowed);
            let config = typed(text.clone(), json!({"a": "2"}), Duplicates::Refused);
            let fields = |it: usize| format!(r#"{{"f:s":{{"f:a":{{}},"f:{it}":{{}}}}}}"#);
            let managers = managers(size, fields, operation);
            Box::new(move || apply(&live, &config, managers.clone()))
        });
    }
}
