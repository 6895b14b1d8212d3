//! HorizontalPodAutoscaler: v1 has one CPU metric, v2 has a list of metrics.
//!
//! Values without a v1 field go into annotations, in upstream's formats: metrics and conditions as
//! v1's types for them, the behavior with Go field names.

mod metrics;

use kubist_api::autoscaling::v1::{MetricSpec, MetricStatus};
use serde_json::{Map, Value, json};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
/// The v1 annotations for values that have fields in v2.
pub(crate) const ANNOTATIONS: [&str; 4] = [METRICS, BEHAVIOR, CONDITIONS, CURRENT_METRICS];

pub(super) fn to_v2(json: &mut Value) {
    let mut annotation = |key: &str| -> Option<Value> {
        let annotations = json.pointer_mut("/metadata/annotations")?.as_object_mut()?;
        let text = annotations.remove(key)?;
        serde_json::from_str(text.as_str()?).ok()
    };
    let kept_metrics = annotation(METRICS);
    let behavior = annotation(BEHAVIOR).map(behavior_from_go);
    let conditions = annotation(CONDITIONS);
    let kept_current = annotation(CURRENT_METRICS);
    if let Some(spec) = member(json, "spec") {
        let target = spec.remove("targetCPUUtilizationPercentage");
        let mut metrics = metrics::to_v2(list(kept_metrics), "target");
        if let Some(target) = target {
            metrics.insert(
                0,
                json!({"type": "Resource", "resource": {
                    "name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": target},
                }}),
            );
        }
        if !metrics.is_empty() {
            spec.insert("metrics".to_owned(), Value::Array(metrics));
        }
        if let Some(behavior) = behavior {
            spec.insert("behavior".to_owned(), behavior);
        }
    }
    if let Some(status) = member(json, "status") {
        let current = status.remove("currentCPUUtilizationPercentage");
        let mut metrics = metrics::to_v2(list(kept_current), "current");
        if let Some(current) = current {
            metrics.insert(
                0,
                json!({"type": "Resource", "resource": {
                    "name": "cpu",
                    "current": {"averageUtilization": current},
                }}),
            );
        }
        if !metrics.is_empty() {
            status.insert("currentMetrics".to_owned(), Value::Array(metrics));
        }
        if let Some(conditions) = conditions {
            status.insert("conditions".to_owned(), conditions);
        }
    }
}

pub(super) fn to_v1(json: &mut Value) {
    // v2 has fields for them and does not read the annotations. If kept, they would return with
    // stale values.
    if let Some(metadata) = member(json, "metadata")
        && let Some(Value::Object(annotations)) = metadata.get_mut("annotations")
    {
        annotations.retain(|name, _| !ANNOTATIONS.contains(&name.as_str()));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    let mut kept: Vec<(&str, String)> = Vec::new();
    if let Some(spec) = member(json, "spec") {
        let (cpu, others) = split(
            spec.remove("metrics"),
            "/resource/target/averageUtilization",
        );
        if let Some(cpu) = cpu {
            spec.insert("targetCPUUtilizationPercentage".to_owned(), cpu);
        }
        kept.extend(others.map(|it| (METRICS, metrics::to_v1::<MetricSpec>(it, "target"))));
        let behavior = spec.remove("behavior");
        kept.extend(behavior.map(|it| (BEHAVIOR, behavior_to_go(&it))));
    }
    if let Some(status) = member(json, "status") {
        let current = status.remove("currentMetrics");
        let (cpu, others) = split(current, "/resource/current/averageUtilization");
        if let Some(cpu) = cpu {
            status.insert("currentCPUUtilizationPercentage".to_owned(), cpu);
        }
        let current = others.map(|it| metrics::to_v1::<MetricStatus>(it, "current"));
        kept.extend(current.map(|it| (CURRENT_METRICS, it)));
        let conditions = status.remove("conditions");
        kept.extend(conditions.map(|it| (CONDITIONS, it.to_string())));
    }
    if kept.is_empty() {
        return;
    }
    if let Some(metadata) = member(json, "metadata") {
        let annotations = metadata
            .entry("annotations")
            .or_insert_with(|| Value::Object(Map::new()));
        for (key, value) in kept {
            annotations[key] = Value::String(value);
        }
    }
}

/// Returns the behavior as JSON with Go field names in Go's order. Absent fields are null.
fn behavior_to_go(behavior: &Value) -> String {
    let rules = |name: &str| {
        let Some(rules) = behavior.get(name) else {
            return "null".to_owned();
        };
        let policy = |policy: &Value| {
            let field = |name: &str| policy.get(name).unwrap_or(&Value::Null).to_string();
            let (kind, value, period) = (field("type"), field("value"), field("periodSeconds"));
            format!("{{\"Type\":{kind},\"Value\":{value},\"PeriodSeconds\":{period}}}")
        };
        let policies = rules.get("policies").and_then(Value::as_array);
        let policies = policies.map_or_else(
            || "null".to_owned(),
            |list| {
                let list: Vec<String> = list.iter().map(policy).collect();
                format!("[{}]", list.join(","))
            },
        );
        let field = |name: &str| rules.get(name).unwrap_or(&Value::Null).to_string();
        let (window, select) = (field("stabilizationWindowSeconds"), field("selectPolicy"));
        let tolerance = field("tolerance");
        format!(
            "{{\"StabilizationWindowSeconds\":{window},\"SelectPolicy\":{select},\
             \"Policies\":{policies},\"Tolerance\":{tolerance}}}"
        )
    };
    let (up, down) = (rules("scaleUp"), rules("scaleDown"));
    format!("{{\"ScaleUp\":{up},\"ScaleDown\":{down}}}")
}

/// Converts Go field names, which begin with a capital, to JSON names. Nulls are omitted.
fn behavior_from_go(behavior: Value) -> Value {
    match behavior {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, value)| !value.is_null());
            let renamed = members.map(|(name, value)| {
                let mut name = name;
                if let Some(first) = name.get_mut(..1) {
                    first.make_ascii_lowercase();
                }
                (name, behavior_from_go(value))
            });
            Value::Object(renamed.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(behavior_from_go).collect()),
        other => other,
    }
}

fn member<'a>(json: &'a mut Value, name: &str) -> Option<&'a mut Map<String, Value>> {
    json.get_mut(name)?.as_object_mut()
}

fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// Splits metrics into the utilization of the first CPU metric that has one, and all other metrics.
fn split(metrics: Option<Value>, utilization: &str) -> (Option<Value>, Option<Vec<Value>>) {
    let mut metrics = list(metrics);
    let cpu = metrics.iter().position(|metric| {
        metric.pointer("/resource/name") == Some(&json!("cpu"))
            && metric.pointer(utilization).is_some_and(Value::is_number)
    });
    let cpu = cpu.and_then(|index| metrics.remove(index).pointer(utilization).cloned());
    let others = (!metrics.is_empty()).then_some(metrics);
    (cpu, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_v1_cannot_say_survives_in_annotations() {
        let v2 = json!({
            "metadata": {"name": "h"},
            "spec": {
                "maxReplicas": 3,
                "metrics": [
                    {"type": "Pods", "pods": {"metric": {"name": "m"},
                        "target": {"type": "AverageValue", "averageValue": "5"}}},
                    {"type": "Resource", "resource": {"name": "cpu",
                        "target": {"type": "Utilization", "averageUtilization": 80}}},
                ],
                "behavior": {"scaleUp": {"selectPolicy": "Max"}},
            },
            "status": {"conditions": [{"type": "AbleToScale"}]},
        });
        let mut json = v2.clone();
        to_v1(&mut json);
        assert_eq!(
            json["spec"],
            json!({"maxReplicas": 3, "targetCPUUtilizationPercentage": 80})
        );
        assert_eq!(json["status"], json!({}));
        to_v2(&mut json);
        assert_eq!(json["spec"]["metrics"][1], v2["spec"]["metrics"][0]);
        assert_eq!(json["spec"]["behavior"], v2["spec"]["behavior"]);
        assert_eq!(json["status"], v2["status"]);
        assert_eq!(json["metadata"]["annotations"], json!({}));
    }
}
