//! Compares the server's objects with those that were applied, except for listed fields.

use kubist_test_support::process::{Outcome, root};
use serde_json::{Map, Value};

/// The list in `tests/interop/server-fields.txt`: fields that the server may add or drop.
pub(super) struct ServerFields(Vec<Rule>);

struct Rule {
    /// Reports whether such a field may be missing instead of present.
    drops: bool,
    kind: String,
    path: String,
    value: Option<Value>,
}

impl ServerFields {
    /// Reads the list.
    pub(super) fn read() -> Outcome<Self> {
        let text = std::fs::read_to_string(root().join("tests/interop/server-fields.txt"))?;
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rules = lines.map(rule).collect::<Outcome<_>>()?;
        Ok(Self(rules))
    }

    /// Returns every difference between an object as applied and as the server returns it.
    pub(super) fn differences(&self, applied: &Value, got: &Value) -> Vec<String> {
        let kind = applied["kind"].as_str().unwrap_or_default();
        let mut comparison = Comparison {
            rules: self,
            kind,
            found: Vec::new(),
        };
        let mut applied = applied.clone();
        encode_string_data(&mut applied);
        comparison.compare(Some(&applied), got, &Place::default());
        let name = applied["metadata"]["name"].as_str().unwrap_or_default();
        comparison
            .found
            .into_iter()
            .map(|it| format!("{kind} {name}: {it}"))
            .collect()
    }

    fn adds(&self, kind: &str, path: &str, value: &Value) -> bool {
        self.lists(false, kind, path, value)
    }

    fn drops(&self, kind: &str, path: &str, value: &Value) -> bool {
        self.lists(true, kind, path, value)
    }

    fn lists(&self, drops: bool, kind: &str, path: &str, value: &Value) -> bool {
        let pod = pod_path(kind, path);
        self.0.iter().filter(|it| it.drops == drops).any(|rule| {
            let path = match (rule.kind.as_str(), pod) {
                ("PodSpec", Some(path)) => path,
                ("*", _) => path,
                (own, _) if own == kind => path,
                _ => return false,
            };
            let named = match rule.path.strip_suffix('*') {
                Some(prefix) => path.starts_with(prefix),
                None => path == rule.path,
            };
            named && rule.value.as_ref().is_none_or(|it| it == value)
        })
    }
}

fn rule(line: &str) -> Outcome<Rule> {
    let bad = || format!("server-fields.txt: {line:?} is not [-] KIND PATH [= VALUE]");
    let (drops, rest) = match line.strip_prefix("- ") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let (field, value) = match rest.split_once(" = ") {
        Some((field, value)) => (field, Some(serde_json::from_str(value)?)),
        None => (rest, None),
    };
    let (kind, path) = field.split_once(' ').ok_or_else(bad)?;
    Ok(Rule {
        drops,
        kind: kind.to_owned(),
        path: path.to_owned(),
        value,
    })
}

/// Returns the path below a pod specification, if it is in one.
fn pod_path<'p>(kind: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix("spec.template.spec.")
        .or_else(|| path.strip_prefix("spec.jobTemplate.spec.template.spec."))
        .or_else(|| path.strip_prefix("spec.").filter(|_| kind == "Pod"))
}

/// The server moves `stringData` into `data`.
fn encode_string_data(applied: &mut Value) {
    let Some(object) = applied.as_object_mut() else {
        return;
    };
    let Some(Value::Object(texts)) = object.remove("stringData") else {
        return;
    };
    let data = object
        .entry("data")
        .or_insert_with(|| Value::Object(Map::new()));
    for (key, text) in texts {
        let text = text.as_str().unwrap_or_default();
        data[key] = Value::String(base64(text.as_bytes()));
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .fold(0_usize, |word, byte| word << 8 | usize::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            if place <= chunk.len() {
                text.push(char::from(ALPHABET[word >> (18 - 6 * place) & 63]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// A path in an object: for rules (`a[].b`), and for messages (`a[3].b`).
#[derive(Default)]
struct Place {
    rule: String,
    shown: String,
}

impl Place {
    fn key(&self, key: &str) -> Self {
        let dot = if self.rule.is_empty() { "" } else { "." };
        Self {
            rule: format!("{}{dot}{key}", self.rule),
            shown: format!("{}{dot}{key}", self.shown),
        }
    }

    fn index(&self, index: usize) -> Self {
        Self {
            rule: format!("{}[]", self.rule),
            shown: format!("{}[{index}]", self.shown),
        }
    }
}

struct Comparison<'a> {
    rules: &'a ServerFields,
    kind: &'a str,
    found: Vec<String>,
}

impl Comparison<'_> {
    fn compare(&mut self, applied: Option<&Value>, got: &Value, place: &Place) {
        match (applied, got) {
            (None, _) => self.added(got, place),
            (Some(Value::Object(applied)), Value::Object(got)) => {
                self.compare_objects(applied, got, place);
            }
            (Some(Value::Array(applied)), Value::Array(got)) if applied.len() == got.len() => {
                for (index, (applied, got)) in applied.iter().zip(got).enumerate() {
                    self.compare(Some(applied), got, &place.index(index));
                }
            }
            (Some(applied), got) if same(applied, got, &place.rule) => {}
            (Some(applied), got) => {
                self.found.push(format!(
                    "{} was applied as {applied}, is {got}",
                    place.shown
                ));
            }
        }
    }

    fn compare_objects(
        &mut self,
        applied: &Map<String, Value>,
        got: &Map<String, Value>,
        place: &Place,
    ) {
        for (key, value) in got {
            self.compare(applied.get(key), value, &place.key(key));
        }
        for (key, value) in applied {
            // Null means absent, and empty lists and strings are not printed.
            let nothing = value.is_null() || value == "" || value == &Value::Array(Vec::new());
            let place = place.key(key);
            if got.contains_key(key) || nothing || self.rules.drops(self.kind, &place.rule, value) {
                continue;
            }
            self.found
                .push(format!("{} was applied, is missing", place.shown));
        }
    }

    /// Reports whether a field that was not applied is listed, or all fields in it are.
    fn added(&mut self, got: &Value, place: &Place) {
        if self.rules.adds(self.kind, &place.rule, got) {
            return;
        }
        match got {
            Value::Object(fields) if !fields.is_empty() => {
                for (key, value) in fields {
                    self.added(value, &place.key(key));
                }
            }
            _ => self
                .found
                .push(format!("{} = {got} was not applied", place.shown)),
        }
    }
}

/// Reports whether values are equal, or equal quantities: the server prints the canonical form.
fn same(applied: &Value, got: &Value, path: &str) -> bool {
    const QUANTITIES: [&str; 8] = [
        "limits.",
        "requests.",
        "hard.",
        "capacity.",
        "max.",
        "min.",
        "sizeLimit",
        "default.",
    ];
    applied == got
        || QUANTITIES.iter().any(|it| path.contains(it))
            && quantity(applied).is_some_and(|value| Some(value) == quantity(got))
}

/// Returns a quantity in thousandths.
fn quantity(value: &Value) -> Option<u128> {
    const SUFFIXES: [(&str, u128); 10] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
        ("m", 0),
        ("", 1),
    ];
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let (suffix, factor) = SUFFIXES.iter().find(|(suffix, _)| text.ends_with(suffix))?;
    let number = text.strip_suffix(suffix)?;
    if *factor == 0 {
        return number.parse().ok();
    }
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let thousandths: u128 = format!("{part:0<3}").get(..3)?.parse().ok()?;
    Some((whole.parse::<u128>().ok()? * 1_000 + thousandths) * factor)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields() -> ServerFields {
        let lines = [
            "* metadata.uid",
            "PodSpec restartPolicy = \"Always\"",
            "Job metadata.labels.*",
            "- PodSpec hostNetwork = false",
        ];
        ServerFields(
            lines
                .iter()
                .map(|line| rule(line).expect("a rule"))
                .collect(),
        )
    }

    #[test]
    fn listed_fields_may_be_added_and_no_others() {
        let applied = json!({"kind": "Job", "metadata": {"name": "a"}});
        let got = json!({"kind": "Job", "metadata": {"name": "a", "uid": "1", "labels": {"b": "c"}},
            "spec": {"template": {"spec": {"restartPolicy": "Always"}}}});
        assert_eq!(fields().differences(&applied, &got), Vec::<String>::new());
        let got = json!({"kind": "Job", "metadata": {"name": "a", "generation": 1},
            "spec": {"template": {"spec": {"restartPolicy": "Never"}}}});
        assert_eq!(
            fields().differences(&applied, &got),
            [
                "Job a: metadata.generation = 1 was not applied",
                "Job a: spec.template.spec.restartPolicy = \"Never\" was not applied",
            ]
        );
    }

    #[test]
    fn what_was_applied_is_there_with_its_value() {
        let applied = json!({"kind": "Job", "a": [1, {"b": 2}], "c": {}, "d": null});
        let got = json!({"kind": "Job", "a": [1, {"b": 3}]});
        assert_eq!(
            fields().differences(&applied, &got),
            [
                "Job : a[1].b was applied as 2, is 3",
                "Job : c was applied, is missing"
            ]
        );
    }

    #[test]
    fn only_listed_fields_may_be_dropped() {
        let applied =
            |value: bool| json!({"kind": "Pod", "spec": {"hostNetwork": value, "hostPID": false}});
        let got = json!({"kind": "Pod", "spec": {}});
        let pid = "Pod : spec.hostPID was applied, is missing";
        assert_eq!(fields().differences(&applied(false), &got), [pid]);
        assert_eq!(
            fields().differences(&applied(true), &got),
            ["Pod : spec.hostNetwork was applied, is missing", pid]
        );
    }

    #[test]
    fn quantities_are_compared_by_value() {
        let applied = json!({"kind": "Job", "limits": {"cpu": 0.5, "memory": "1024Mi"}});
        let got = json!({"kind": "Job", "limits": {"cpu": "500m", "memory": "1Gi"}});
        assert_eq!(fields().differences(&applied, &got), Vec::<String>::new());
        let got = json!({"kind": "Job", "limits": {"cpu": "50m", "memory": "1Gi"}});
        assert_eq!(fields().differences(&applied, &got).len(), 1);
    }

    #[test]
    fn string_data_is_compared_with_data() {
        let applied =
            json!({"kind": "Secret", "stringData": {"a": "hello", "b": "hell", "c": "hel"}});
        let got =
            json!({"kind": "Secret", "data": {"a": "aGVsbG8=", "b": "aGVsbA==", "c": "aGVs"}});
        assert_eq!(fields().differences(&applied, &got), Vec::<String>::new());
    }
}
