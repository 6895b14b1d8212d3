//! Autoscaler metrics: v2 nests fields that are flat in v1's annotation types.

use kubist_apimachinery::wire::{DecodeContext, Wire};
use serde_json::{Map, Value, json};

type Members = Map<String, Value>;

/// Returns the text of v1's annotation. `word` is `target` for targets and `current` for current
/// values.
pub(super) fn to_v1<M: Wire>(metrics: Vec<Value>, word: &str) -> String {
    let texts = metrics.into_iter().map(|mut metric| {
        each_source(&mut metric, |kind, source| flatten(kind, source, word));
        // Encoding the message puts its fields in order.
        let bytes = metric.to_string();
        let message = M::from_json(bytes.as_bytes(), &mut DecodeContext::new());
        message.map_or(bytes, |it| {
            String::from_utf8_lossy(&it.to_json()).into_owned()
        })
    });
    format!("[{}]", texts.collect::<Vec<_>>().join(","))
}

/// Converts v1's annotation to v2's metrics.
pub(super) fn to_v2(mut metrics: Vec<Value>, word: &str) -> Vec<Value> {
    for metric in &mut metrics {
        each_source(metric, |kind, source| nest(kind, source, word));
    }
    metrics
}

fn each_source(metric: &mut Value, mut change: impl FnMut(&str, &mut Members)) {
    let Some(members) = metric.as_object_mut() else {
        return;
    };
    for (kind, source) in members {
        if let Some(source) = source.as_object_mut() {
            change(kind, source);
        }
    }
}

/// Returns v1's name of a v2 value.
fn value_name(kind: &str, value: &str, word: &str) -> String {
    if (kind, value) == ("object", "averageValue") {
        return value.to_owned();
    }
    let (first, rest) = value.split_at(1);
    format!("{word}{}{rest}", first.to_uppercase())
}

fn selector_name(kind: &str) -> &'static str {
    if kind == "external" {
        "metricSelector"
    } else {
        "selector"
    }
}

const VALUES: [&str; 3] = ["averageUtilization", "averageValue", "value"];

fn flatten(kind: &str, source: &mut Members, word: &str) {
    if let Some(Value::Object(mut metric)) = source.remove("metric") {
        source.extend(
            metric
                .remove("name")
                .map(|it| ("metricName".to_owned(), it)),
        );
        let selector = metric.remove("selector");
        source.extend(selector.map(|it| (selector_name(kind).to_owned(), it)));
    }
    if let Some(Value::Object(mut values)) = source.remove(word) {
        for value in VALUES {
            let found = values.remove(value);
            source.extend(found.map(|it| (value_name(kind, value, word), it)));
        }
    }
    let described = source.remove("describedObject");
    source.extend(described.map(|it| ("target".to_owned(), it)));
}

fn nest(kind: &str, source: &mut Members, word: &str) {
    if kind == "object" {
        let described = source.remove("target");
        source.extend(described.map(|it| ("describedObject".to_owned(), it)));
    }
    let mut values = Members::new();
    for value in VALUES {
        let found = source.remove(&value_name(kind, value, word));
        values.extend(found.map(|it| (value.to_owned(), it)));
    }
    if word == "target" {
        let type_ = if values.contains_key("averageUtilization") {
            "Utilization"
        } else if values.contains_key("averageValue") {
            "AverageValue"
        } else {
            "Value"
        };
        values.insert("type".to_owned(), json!(type_));
    }
    source.insert(word.to_owned(), Value::Object(values));
    if let Some(name) = source.remove("metricName") {
        let mut metric = Members::new();
        metric.insert("name".to_owned(), name);
        let selector = source.remove(selector_name(kind));
        metric.extend(selector.map(|it| ("selector".to_owned(), it)));
        source.insert("metric".to_owned(), Value::Object(metric));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::autoscaling::v1::MetricSpec;

    #[test]
    fn every_source_survives_a_round_trip() {
        let metrics = [
            json!({"type": "Resource", "resource": {"name": "memory",
                "target": {"type": "AverageValue", "averageValue": "100Mi"}}}),
            json!({"type": "ContainerResource", "containerResource": {"name": "cpu",
                "container": "c", "target": {"type": "Utilization", "averageUtilization": 7}}}),
            json!({"type": "Object", "object": {
                "describedObject": {"kind": "Service", "name": "s", "apiVersion": "v1"},
                "metric": {"name": "m", "selector": {"matchLabels": {"a": "b"}}},
                "target": {"type": "Value", "value": "5"}}}),
            json!({"type": "External", "external": {
                "metric": {"name": "m", "selector": {"matchLabels": {"a": "b"}}},
                "target": {"type": "AverageValue", "averageValue": "5"}}}),
        ];
        let text = to_v1::<MetricSpec>(metrics.to_vec(), "target");
        let first = "[{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\
                     \"targetAverageValue\":\"100Mi\"}},";
        assert!(text.starts_with(first), "{text}");
        let read: Vec<Value> = serde_json::from_str(&text).expect("it is JSON");
        let mut back = to_v2(read, "target");
        // v1's type for object metrics always has a value.
        back[2]["object"]["target"]["type"] = json!("Value");
        assert_eq!(back, metrics);
    }
}
