//! Secrets without their values, as `kubectl describe` shows them: a screen is seen by others.

use serde_json::{Map, Value};

/// The whole object as it was last applied, in an annotation.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Reports whether an object is a Secret.
pub(super) fn is_secret(object: &Map<String, Value>) -> bool {
    let is = |key: &str, value: &str| object.get(key).is_some_and(|it| it == value);
    is("kind", "Secret") && is("apiVersion", "v1")
}

/// Puts the sizes of its values in their places.
pub(super) fn conceal(object: &mut Map<String, Value>) {
    if let Some(Value::Object(data)) = object.get_mut("data") {
        for value in data.values_mut() {
            let size = value.as_str().map_or(0, decoded_length);
            *value = Value::from(format!("({size} bytes)"));
        }
    }
    let metadata = object.get_mut("metadata");
    let annotations = metadata.and_then(|it| it.get_mut("annotations"));
    if let Some(applied) = annotations.and_then(|it| it.get_mut(LAST_APPLIED)) {
        *applied = Value::from(format!("({} bytes)", applied.as_str().map_or(0, str::len)));
    }
}

/// Returns the length of what a text in base64 stands for.
fn decoded_length(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else {
            panic!("no object");
        };
        map
    }

    #[test]
    fn no_value_of_a_secret_is_left_in_it() {
        let mut secret = map(json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"annotations": {LAST_APPLIED: "{\"data\":\"aHVudGVyMg==\"}", "a": "b"}},
            "data": {"pw": "aHVudGVyMg==", "empty": ""}}));
        assert!(is_secret(&secret));
        conceal(&mut secret);
        assert_eq!(
            Value::Object(secret),
            json!({"apiVersion": "v1", "kind": "Secret",
                "metadata": {"annotations": {LAST_APPLIED: "(23 bytes)", "a": "b"}},
                "data": {"pw": "(7 bytes)", "empty": "(0 bytes)"}})
        );
        assert!(!is_secret(&map(
            json!({"apiVersion": "x.io/v1", "kind": "Secret"})
        )));
    }
}
