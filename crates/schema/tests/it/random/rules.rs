//! Random CEL rules.

use super::Random;
use serde_json::{Value, json};

const OF_ANYTHING: [&str; 4] = ["self == oldSelf", "self == self", "self.", "nothing == 1"];
const OF_TEXT: [&str; 9] = [
    "self == 'a'",
    "self.size() < 3",
    "self.startsWith('a') || self != oldSelf",
    "self.matches('^[a-z]*$')",
    "self.contains(self)",
    "self == 1",
    "int(self) > 1",
    "self.size()",
    "self + oldSelf != 'aa'",
];
const OF_INTEGERS: [&str; 6] = [
    "self > 0",
    "self >= oldSelf",
    "1 / self > 0",
    "self == 'a'",
    "self + 9223372036854775807 > 0",
    "self in [1, 2, 3]",
];
const OF_NUMBERS: [&str; 3] = ["self > 0.5", "self > 1", "self >= oldSelf"];
const OF_BOOLEANS: [&str; 3] = ["self", "!self", "self != oldSelf"];
const OF_LISTS: [&str; 9] = [
    "self.size() < 2",
    "self.all(x, x == x)",
    "self.all(x, self.exists(y, x != y))",
    "self[0] == self[1]",
    "self.exists_one(x, true)",
    "self.all(x, self.all(y, self.all(z, x == z || y == z)))",
    "self + self == self",
    "self.map(x, x).size() > 1",
    "oldSelf.all(x, x in self)",
];
const OF_OBJECTS: [&str; 9] = [
    "has(self.a)",
    "!has(self.a) || self.a == self.a",
    "self.a == 1",
    "has(self.b) ? self.b == oldSelf.b : true",
    "has(self.c) && self.c.size() > 1",
    "self.name == 'a'",
    "has(self.spec) == has(oldSelf.spec)",
    "has(self.d) && has(self.d.a)",
    "self.a == self.b",
];
const OF_MAPS: [&str; 6] = [
    "self.all(k, k != 'a')",
    "self.all(k, self[k] == self[k])",
    "size(self) < 2",
    "self.a == oldSelf.a",
    "'a' in self",
    "self.exists(k, k.size() > 1)",
];
const OF_EITHER: [&str; 3] = [
    "type(self) == int ? self > 1 : self == 'a'",
    "self > 1",
    "self == '1'",
];
const OF_ROOTS: [&str; 7] = [
    "self.metadata.name == 'a'",
    "self.kind == 'Fig'",
    "has(self.metadata.generateName)",
    "self.apiVersion == oldSelf.apiVersion",
    "self.metadata.labels['a'] == 'b'",
    "has(self.spec)",
    "self == oldSelf",
];
const MESSAGES: [&str; 7] = [
    "'m'",
    "''",
    "'a\\nb'",
    "self",
    "'is ' + string(self)",
    "'old ' + string(oldSelf)",
    "1 +",
];

/// Adds rules to some schemas.
pub(super) fn add_rules(random: &mut Random, schema: &mut Value) {
    if random.one_in(4) {
        let rules: Vec<Value> = (0..=random.below(2))
            .map(|_| rule(random, schema))
            .collect();
        schema["x-kubernetes-validations"] = rules.into();
    }
}

/// Returns rules of whole objects.
pub(super) fn root_rules(random: &mut Random) -> Value {
    let text = random.pick(&OF_ROOTS);
    json!([completed(random, text)])
}

fn rule(random: &mut Random, schema: &Value) -> Value {
    let texts: &[&str] = match schema["type"].as_str() {
        _ if random.one_in(6) => &OF_ANYTHING,
        Some("string") => &OF_TEXT,
        Some("integer") => &OF_INTEGERS,
        Some("number") => &OF_NUMBERS,
        Some("boolean") => &OF_BOOLEANS,
        Some("array") => &OF_LISTS,
        Some("object") if schema["additionalProperties"].is_object() => &OF_MAPS,
        Some("object") => &OF_OBJECTS,
        _ => &OF_EITHER,
    };
    let text = random.pick(texts);
    completed(random, text)
}

fn completed(random: &mut Random, text: &str) -> Value {
    let mut rule = json!({"rule": text});
    if random.one_in(5) {
        rule["message"] = " it fails ".into();
    }
    if random.one_in(4) {
        rule["messageExpression"] = (*random.pick(&MESSAGES)).into();
    }
    if random.one_in(6) {
        let reasons = [
            "FieldValueRequired",
            "FieldValueForbidden",
            "FieldValueInvalid",
            "FieldValueDuplicate",
        ];
        rule["reason"] = (*random.pick(&reasons)).into();
    }
    if random.one_in(8) {
        rule["fieldPath"] = (*random.pick(&[".a", "['e<']", ".b.a"])).into();
    }
    if random.one_in(8) {
        rule["rule"] = "oldSelf.hasValue() ? self == oldSelf.value() : true".into();
        rule["optionalOldSelf"] = true.into();
    }
    rule
}
