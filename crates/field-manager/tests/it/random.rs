//! Random schemas and values, from a seed.

use serde_json::{Map, Value, json};

/// A xorshift generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % end
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// The type of the objects.
pub(crate) const ROOT: &str = "root";
/// Go shows some of them with an exponent, in messages or in field sets.
const NUMBERS: [&str; 8] = ["1", "2", "2.5", "1.0", "1e6", "123456789.5", "1e-5", "1e21"];
const NAMES: [&str; 6] = ["a", "b", "c", "d<", "e\"f", "port"];

/// Returns a schema in upstream's notation.
pub(crate) fn schema(random: &mut Random) -> Value {
    let deduced = json!({
        "name": "__untyped_deduced_",
        "scalar": "untyped",
        "list": {
            "elementType": {"namedType": "__untyped_deduced_"},
            "elementRelationship": "atomic",
        },
        "map": {
            "elementType": {"namedType": "__untyped_deduced_"},
            "elementRelationship": "separable",
        },
    });
    let mut shared = type_of(random, 2);
    shared["name"] = json!("shared");
    let root = structure(random, 3, false);
    // A relationship is of the kind of the type.
    let of_shared = if shared.get("list").is_some() {
        "associative"
    } else {
        "separable"
    };
    let text = root
        .to_string()
        .replace("\"of shared\"", &format!("\"{of_shared}\""));
    let mut root: Value = serde_json::from_str(&text).expect("it is JSON");
    root["name"] = json!(ROOT);
    json!({"types": [root, shared, deduced]})
}

fn scalar(random: &mut Random) -> Value {
    json!({"scalar": random.pick(&["string", "numeric", "boolean", "untyped"])})
}

fn structure(random: &mut Random, depth: usize, with_key: bool) -> Value {
    let mut fields = Vec::new();
    if with_key {
        fields.push(json!({"name": "name", "type": {"scalar": "string"}}));
        fields.push(json!({"name": "proto", "type": {"scalar": "string"}, "default": "TCP"}));
    }
    for name in NAMES {
        if !random.one_in(3) {
            fields.push(json!({"name": name, "type": reference(random, depth)}));
        }
    }
    let mut map = json!({"fields": fields});
    if random.one_in(6) {
        map["elementRelationship"] = json!("atomic");
    }
    json!({"map": map})
}

fn reference(random: &mut Random, depth: usize) -> Value {
    let mut reference = match random.below(12) {
        0 => json!({"namedType": "__untyped_deduced_"}),
        1 | 2 if depth > 1 => json!({"namedType": "shared"}),
        _ => return type_of(random, depth),
    };
    if random.one_in(8) {
        let of_type = if reference["namedType"] == "shared" {
            "of shared"
        } else {
            "separable"
        };
        reference["elementRelationship"] = json!(random.pick(&["atomic", of_type]));
    }
    reference
}

fn type_of(random: &mut Random, depth: usize) -> Value {
    if depth == 0 {
        return scalar(random);
    }
    match random.below(9) {
        0 => json!({"list": {
            "elementType": reference(random, depth - 1),
            "elementRelationship": "atomic",
        }}),
        1 | 2 => json!({"list": {
            "elementType": scalar(random),
            "elementRelationship": "associative",
        }}),
        3 | 4 => {
            let keys = if random.one_in(2) {
                vec!["name"]
            } else {
                vec!["proto", "name"]
            };
            json!({"list": {
                "elementType": structure(random, depth - 1, true),
                "elementRelationship": "associative",
                "keys": keys,
            }})
        }
        5 => json!({"map": {"elementType": reference(random, depth - 1)}}),
        6 | 7 => structure(random, depth - 1, false),
        _ => scalar(random),
    }
}

/// Returns a value of a type; now and then one that does not fit.
pub(crate) fn value(random: &mut Random, schema: &Value, reference: &Value, depth: usize) -> Value {
    if random.one_in(60) {
        return untyped(random, 2);
    }
    if random.one_in(25) {
        return Value::Null;
    }
    let named = reference["namedType"].as_str();
    let found = schema["types"].as_array().into_iter().flatten();
    let mut found = found.filter(|it| named.is_some() && it["name"].as_str() == named);
    let atom = found.next().unwrap_or(reference);
    if named == Some("__untyped_deduced_") {
        return untyped(random, depth.min(3));
    }
    if let Some(map) = atom.get("map") {
        return object(random, schema, map, depth);
    }
    if let Some(list) = atom.get("list") {
        let count = if depth == 0 { 0 } else { random.below(4) };
        let items = (0..count).map(|_| {
            let below = depth.saturating_sub(1);
            value(random, schema, &list["elementType"], below)
        });
        return Value::Array(items.collect());
    }
    match atom["scalar"].as_str() {
        Some("string") => json!(random.pick(&["x", "y", "z&", ""])),
        Some("numeric") => NUMBERS[random.below(NUMBERS.len())]
            .parse()
            .expect("it is JSON"),
        Some("boolean") => json!(random.one_in(2)),
        _ => [json!("x"), json!(1), json!(true)][random.below(3)].clone(),
    }
}

fn object(random: &mut Random, schema: &Value, map: &Value, depth: usize) -> Value {
    let mut members = Map::new();
    let below = depth.saturating_sub(1);
    for field in map["fields"].as_array().into_iter().flatten() {
        let name = field["name"].as_str().unwrap_or_default();
        let is_key = name == "name" && !random.one_in(8);
        if is_key || (depth > 0 && random.one_in(2)) {
            let value = value(random, schema, &field["type"], below);
            members.insert(name.to_owned(), value);
        }
    }
    if depth > 0 && map.get("elementType").is_some() {
        for _ in 0..random.below(3) {
            let value = value(random, schema, &map["elementType"], below);
            members.insert(random.pick(&NAMES).to_owned(), value);
        }
    }
    Value::Object(members)
}

fn untyped(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 7 }) {
        0 => Value::Null,
        1 => NUMBERS[random.below(NUMBERS.len())]
            .parse()
            .expect("it is JSON"),
        2 => json!(random.pick(&["x", "y"])),
        3 => json!(random.one_in(2)),
        4 => {
            let items = (0..random.below(3)).map(|_| untyped(random, depth - 1));
            Value::Array(items.collect())
        }
        _ => {
            let count = random.below(3);
            let member = |_| (random.pick(&NAMES).to_owned(), untyped(random, depth - 1));
            Value::Object((0..count).map(member).collect())
        }
    }
}
