//! Sorts the causes of a rejection that a kube-apiserver reports in random order.
//!
//! It iterates over Go maps, whose order differs each time, and reports each entry's error under
//! the path of the map.

use serde_json::Value;

/// The last part of the paths of such maps.
const MAPS: [&str; 5] = [
    "annotations",
    "labels",
    "matchLabels",
    "nodeSelector",
    "selector",
];

/// Sorts the causes of each map by their messages, in the list and in the sentence.
pub(crate) fn arrange(status: &mut Value) {
    let Some(Value::Array(causes)) = status.pointer_mut("/details/causes") else {
        return;
    };
    let before = sentence(causes);
    for run in causes.chunk_by_mut(|one, next| one["field"] == next["field"]) {
        let field = run[0]["field"].as_str().unwrap_or_default();
        if MAPS.contains(&field.rsplit('.').next().unwrap_or_default()) {
            run.sort_by_cached_key(|cause| cause["message"].to_string());
        }
    }
    let after = sentence(causes);
    if let Some(Value::String(message)) = status.get_mut("message") {
        *message = message.replacen(&before, &after, 1);
    }
}

/// Returns the causes as the message has them: each once.
fn sentence(causes: &[Value]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for cause in causes {
        let part = |name: &str| cause[name].as_str().unwrap_or_default().to_owned();
        let words = format!("{}: {}", part("field"), part("message"));
        if !texts.contains(&words) {
            texts.push(words);
        }
    }
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn status(fields: &[(&str, &str)]) -> Value {
        let causes: Vec<Value> = fields
            .iter()
            .map(|(field, message)| json!({"field": field, "message": message}))
            .collect();
        let message = format!("Pod \"a\" is invalid: [{}]", sentence(&causes));
        json!({"message": message, "details": {"causes": causes}})
    }

    #[test]
    fn what_is_wrong_with_entries_of_a_map_has_one_order() {
        let mut one = status(&[
            ("spec.b", "1"),
            ("metadata.labels", "y"),
            ("metadata.labels", "x"),
            ("spec.a", "2"),
        ]);
        let other = status(&[
            ("spec.b", "1"),
            ("metadata.labels", "x"),
            ("metadata.labels", "y"),
            ("spec.a", "2"),
        ]);
        arrange(&mut one);
        assert_eq!(one, other);
    }

    #[test]
    fn all_else_stays_in_its_order() {
        let original = status(&[("spec.a", "y"), ("spec.a", "x"), ("metadata.labels", "z")]);
        let mut arranged = original.clone();
        arrange(&mut arranged);
        assert_eq!(arranged, original);
    }
}
