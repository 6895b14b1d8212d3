//! The differences between two versions of an object, one line each.

use serde_json::Value;

/// The lines at most.
const LINES_MAX: usize = 20;
/// The characters of a value at most.
const VALUE_MAX: usize = 120;
/// Fields that change with every write.
const IGNORED: [&str; 2] = ["metadata.managedFields", "metadata.resourceVersion"];

/// Returns lines such as `spec.replicas: 2 -> 3`.
pub(super) fn differences(old: &Value, new: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", Some(old), Some(new), &mut lines);
    if lines.len() > LINES_MAX {
        let more = lines.len() - LINES_MAX;
        lines.truncate(LINES_MAX);
        lines.push(format!("and {more} more"));
    }
    lines
}

fn compare(path: &str, old: Option<&Value>, new: Option<&Value>, lines: &mut Vec<String>) {
    if old == new || IGNORED.contains(&path) {
        return;
    }
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(added) {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                compare(&path, old.get(key), new.get(key), lines);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for index in 0..old.len().max(new.len()) {
                let path = format!("{path}[{index}]");
                compare(&path, old.get(index), new.get(index), lines);
            }
        }
        (old, new) => lines.push(format!("{path}: {} -> {}", shown(old), shown(new))),
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "none".to_owned();
    };
    let text = value.to_string();
    match text.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_named_by_their_paths() {
        let old = json!({"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 2, "a": [1]}});
        let new = json!({"metadata": {"resourceVersion": "2"}, "spec": {"replicas": 3, "a": [1, 2],
            "b": true}});
        let expected = [
            "spec.a[1]: none -> 2",
            "spec.replicas: 2 -> 3",
            "spec.b: none -> true",
        ];
        assert_eq!(differences(&old, &new), expected);
        assert!(differences(&new, &new).is_empty());
    }

    #[test]
    fn lines_and_values_are_bounded() {
        let list = |value: &str| Value::from(vec![Value::from(value.repeat(500)); 50]);
        let lines = differences(&list("a"), &list("b"));
        assert_eq!(lines.len(), LINES_MAX + 1);
        assert_eq!(lines.last().map(String::as_str), Some("and 30 more"));
        assert!(lines.iter().all(|it| it.chars().count() < 300));
    }
}
