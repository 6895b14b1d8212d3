//! Mutations of objects, valid or not, without their schemas.

use crate::catalogue::Catalogue;
use crate::random::Random;
use crate::step::Edit;
use serde_json::{Value, json};

const TEXTS: [&str; 26] = [
    "",
    "a",
    "valid-name",
    "Invalid_Name",
    "UPPER",
    "-leading",
    "trailing-",
    "with space",
    "a/b",
    "a.b",
    "a/b/c",
    "*",
    "*.example.com",
    "10.0.0.300",
    "010.0.0.1",
    "fd00::/64",
    "/absolute/path",
    "../up",
    "0",
    "12",
    "100%",
    "5Gi",
    "1.5",
    "$(NAME)",
    "example.com/some",
    "gr\u{fc}n <&> \u{2028}",
];
const NUMBERS: [i64; 12] = [
    0,
    -1,
    1,
    2,
    80,
    101,
    65_535,
    65_536,
    2_147_483_647,
    2_147_483_648,
    -2_147_483_649,
    9_007_199_254_740_993,
];
/// Lengths around the limits of names and labels.
const LENGTHS: [usize; 5] = [63, 64, 253, 254, 300];

/// A field or an item of an object.
#[derive(Debug)]
struct Place {
    pointer: String,
    /// The name of the nearest enclosing field.
    field: String,
    value: Value,
}

fn collect(pointer: &str, field: &str, value: &Value, places: &mut Vec<Place>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                let pointer = format!("{pointer}/{escaped}");
                collect(&pointer, name, value, places);
                places.push(Place {
                    pointer,
                    field: name.clone(),
                    value: value.clone(),
                });
            }
        }
        Value::Array(items) => {
            for (number, value) in items.iter().enumerate() {
                let pointer = format!("{pointer}/{number}");
                collect(&pointer, field, value, places);
                places.push(Place {
                    pointer,
                    field: field.to_owned(),
                    value: value.clone(),
                });
            }
        }
        _ => {}
    }
}

/// Returns a mutation for an object of this form.
pub(crate) fn edit(object: &Value, catalogue: &Catalogue, random: &mut Random) -> Edit {
    if random.percent(22) {
        return metadata_edit(random);
    }
    let mut places = Vec::new();
    collect("", "", object, &mut places);
    // A wrong type or name hides everything else, so it is rare.
    let is_head = |place: &Place| {
        matches!(
            place.pointer.as_str(),
            "/apiVersion" | "/kind" | "/metadata/name" | "/metadata"
        )
    };
    if !random.percent(6) {
        places.retain(|place| !is_head(place));
    }
    // Kubist stores expressions and does not compile them.
    places.retain(|place| !matches!(place.field.as_str(), "cel" | "expression"));
    if places.is_empty() {
        return metadata_edit(random);
    }
    let place = &places[random.below(places.len())];
    let set = |value| Edit::Set(place.pointer.clone(), value);
    match random.below(100) {
        0..14 => Edit::Remove(place.pointer.clone()),
        14..30 => set(wrong_type(random)),
        30..36 => {
            let name = random.pick(&["unknownField", "Name", "replica", "\u{e4}", "a.b", "status"]);
            let below = if place.value.is_object() {
                place.pointer.as_str()
            } else {
                ""
            };
            Edit::Set(format!("{below}/{name}"), wrong_type(random))
        }
        36..60 => match (&place.value, catalogue.child(&place.field, random)) {
            (Value::Object(_), Some((name, value))) => {
                let name = name.replace('~', "~0").replace('/', "~1");
                Edit::Set(format!("{}/{name}", place.pointer), value)
            }
            (Value::Array(items), _) if !items.is_empty() => {
                let item = items[random.below(items.len())].clone();
                Edit::Set(format!("{}/-", place.pointer), item)
            }
            _ => set(altered(place, catalogue, random)),
        },
        _ => set(altered(place, catalogue, random)),
    }
}

fn altered(place: &Place, catalogue: &Catalogue, random: &mut Random) -> Value {
    if random.percent(30)
        && let Some(word) = catalogue.word(&place.field, random)
    {
        return word;
    }
    match &place.value {
        Value::Bool(it) => json!(!it),
        Value::Number(_) => json!(random.pick(&NUMBERS)),
        Value::String(_) if random.percent(12) => json!("x".repeat(*random.pick(&LENGTHS))),
        Value::String(_) => json!(random.pick(&TEXTS)),
        Value::Array(items) if random.percent(50) => {
            let twice = items.iter().chain(items).cloned();
            Value::Array(twice.collect())
        }
        Value::Array(_) => json!([]),
        Value::Object(_) if random.percent(50) => json!({}),
        Value::Object(_) | Value::Null => Value::Null,
    }
}

/// Returns a value that usually has the wrong type.
pub(crate) fn wrong_type(random: &mut Random) -> Value {
    match random.below(13) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(7),
        3 => json!(-1),
        4 => json!(1.5),
        5 => json!(1e30),
        6 => json!("text"),
        7 => json!(""),
        8 => json!([]),
        9 => json!({}),
        10 => json!([null]),
        11 => json!(["a", 1]),
        _ => json!({"a": "b"}),
    }
}

/// Returns a mutation of what all objects have.
fn metadata_edit(random: &mut Random) -> Edit {
    let at = |pointer: &str, value: Value| Edit::Set(format!("/metadata/{pointer}"), value);
    let text = *random.pick(&TEXTS);
    let owner = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
        "uid": "11111111-2222-3333-4444-555555555555",
    });
    match random.below(22) {
        0 => at("labels", json!({ "key": text })),
        1 => at("labels", json!({ text: "value" })),
        2 => at("labels/app", json!(wrong_type(random))),
        3 => at("annotations", json!({ text: "value" })),
        4 => at("annotations", json!({ "example.com/note": text })),
        5 => at("annotations/key", wrong_type(random)),
        6 => at("finalizers", json!(["example.com/keep"])),
        7 => at("finalizers", json!([text])),
        8 => at(
            "finalizers",
            json!(["example.com/keep", "example.com/keep"]),
        ),
        9 => at("ownerReferences", json!([owner])),
        10 => at("ownerReferences", json!([owner, owner])),
        11 => at(
            "ownerReferences",
            json!([{"kind": text, "controller": true}]),
        ),
        12 => at("uid", json!("11111111-2222-3333-4444-555555555555")),
        13 => at(
            "resourceVersion",
            json!(random.pick(&["1", "0", "", "x", "-1", "01"])),
        ),
        14 => at("creationTimestamp", json!("2020-01-02T03:04:05Z")),
        15 => at("creationTimestamp", json!(text)),
        16 => at("deletionTimestamp", json!("2020-01-02T03:04:05Z")),
        17 => at("deletionGracePeriodSeconds", json!(5)),
        18 => at("generation", json!(random.pick(&NUMBERS))),
        19 => at(
            "namespace",
            json!(random.pick(&["other", "", "{{ns}}", "Bad_Name"])),
        ),
        20 => at("generateName", json!("from-")),
        _ => at("selfLink", json!("/a/b")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_chosen_by_the_seed_and_most_change_something() {
        let catalogue = Catalogue::read(false).unwrap();
        let mut changed = 0;
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let kind = catalogue.any(&mut random);
            let object = kind.object("a", &mut random);
            let made = edit(&object, &catalogue, &mut random.clone());
            assert_eq!(made, edit(&object, &catalogue, &mut random));
            let mut after = object.clone();
            made.apply(&mut after);
            changed += usize::from(after != object);
        }
        assert!(changed > 240, "{changed} of 300");
    }
}
