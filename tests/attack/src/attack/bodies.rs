//! JSON bodies that are expensive for their size: long, deep, or repetitive. All are dry runs: the
//! attack is on CPU time, not on storage.

use crate::call::Call;
use crate::fill::{config_maps, pods};
use crate::stage::NAMESPACE;
use std::fmt::Write as _;

/// Owner references: 2.2 MB.
const REFERENCES: usize = 40_000;
/// Empty ones of three bytes each, which decode to an object each.
const EMPTY_REFERENCES: usize = 100_000;
/// Levels of deep values.
const LEVELS: usize = 10_000;
/// Bytes of long values.
const TEXT_BYTES: usize = 3_000_000;
/// Keys of wide objects.
const KEYS: usize = 100_000;
/// Unknown and repeated fields: each causes a warning or an error.
const WRONG_FIELDS: usize = 50_000;
/// Entries of keyed lists.
const CONTAINERS: usize = 20_000;
const ENTRIES: usize = 30_000;
/// Entries of lists of distinct values.
const DIFFERENT: usize = 20_000;
/// Rules of an Ingress.
const RULES: usize = 15_000;

/// Returns all bodies.
pub(super) fn calls() -> Vec<Call> {
    let mut calls = of_metadata();
    calls.extend(of_pods());
    let path = format!("/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/ingresses?dryRun=All");
    calls.push(Call::post("ingress rules", path, ingress()));
    let path = format!("/api/v1/namespaces/{NAMESPACE}/services?dryRun=All");
    calls.push(Call::post("service ports", path, service()));
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All";
    calls.push(Call::post(
        "definition of many versions",
        path,
        definition(),
    ));
    calls
}

fn of_metadata() -> Vec<Call> {
    let path = config_maps() + "?dryRun=All";
    let strict = path.clone() + "&fieldValidation=Strict";
    let reference = |number: usize| {
        format!(r#"{{"apiVersion":"v1","kind":"Pod","name":"n{number}","uid":"u{number}"}}"#)
    };
    let references = list(REFERENCES, reference);
    let empty = list(EMPTY_REFERENCES, |_| "{}".to_owned());
    let (open, close) = ("[".repeat(LEVELS), "]".repeat(LEVELS));
    let deep_data = format!(r#"{{"metadata":{{"name":"x"}},"data":{open}{close}}}"#);
    let deep_unknown = format!(r#"{{"metadata":{{"name":"x"}},"unknown":{open}{close}}}"#);
    let text = "x".repeat(TEXT_BYTES);
    let long = format!(r#"{{"metadata":{{"name":"x","annotations":{{"a":"{text}"}}}}}}"#);
    let keys = members(KEYS, |number| format!(r#""k{number:06}":"v""#));
    let wide = format!(r#"{{"metadata":{{"name":"x"}},"data":{keys}}}"#);
    let labels = format!(r#"{{"metadata":{{"name":"x","labels":{keys}}}}}"#);
    let same = members(WRONG_FIELDS, |_| r#""same":"x""#.to_owned());
    let duplicates = format!(r#"{{"metadata":{{"name":"x"}},"data":{same}}}"#);
    let unknown = members(WRONG_FIELDS, |number| format!(r#""u{number:05}":1"#));
    let unknown = format!(
        r#"{{"metadata":{{"name":"x","labels":{{}}}},{}"#,
        &unknown[1..]
    );
    vec![
        Call::post("owner references", path.as_str(), owned_by(&references)),
        Call::post("empty references", path.as_str(), owned_by(&empty)),
        Call::post("deep data", path.as_str(), deep_data),
        Call::post("deep unknown field", path.as_str(), deep_unknown),
        Call::post("long text", path.as_str(), long),
        Call::post("many keys", path.as_str(), wide),
        Call::post("many labels", path.as_str(), labels),
        Call::post("same key, warned", path.as_str(), duplicates.clone()),
        Call::post("same key, strict", strict.as_str(), duplicates),
        Call::post("unknown fields, warned", path.as_str(), unknown.clone()),
        Call::post("unknown fields, strict", strict.as_str(), unknown),
    ]
}

fn of_pods() -> Vec<Call> {
    let path = pods() + "?dryRun=All";
    let main = r#"{"name":"main","image":"x"}"#;
    let pod = |label, spec: String| {
        let body = format!(r#"{{"metadata":{{"name":"x"}},"spec":{{{spec}}}}}"#);
        Call::post(label, path.as_str(), body)
    };
    let of_pod = |label, field: &str, items: String| {
        pod(label, format!(r#""containers":[{main}],"{field}":{items}"#))
    };
    let constraint = |key: String| {
        format!(r#"{{"topologyKey":"{key}","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule"}}"#)
    };
    let same_constraints = list(ENTRIES, |_| constraint("zone".to_owned()));
    let constraints = list(DIFFERENT, |number| constraint(format!("zone{number}")));
    let toleration = |number: usize| {
        format!(r#"{{"key":"k{number}","operator":"Exists","effect":"NoSchedule"}}"#)
    };
    let volume = |number: usize| format!(r#"{{"name":"v{}","emptyDir":{{}}}}"#, number % 10);
    let container = |number: usize| format!(r#"{{"name":"c{}","image":"x"}}"#, number % 10);
    let different = |number: usize| format!(r#"{{"name":"c{number}","image":"x"}}"#);
    let port = |number: usize| format!(r#"{{"containerPort":{},"name":"p"}}"#, number % 65_536);
    let variable = |number: usize| format!(r#"{{"name":"V{number}","value":"x"}}"#);
    let of_main = |label, field: &str, items: String| {
        let container = format!(r#"{{"name":"main","image":"x","{field}":{items}}}"#);
        pod(label, format!(r#""containers":[{container}]"#))
    };
    let init_containers = list(CONTAINERS, container);
    let containers = list(CONTAINERS, container);
    let containers = format!(r#""containers":{containers}"#);
    let field = "topologySpreadConstraints";
    vec![
        of_pod("same spread constraints", field, same_constraints),
        of_pod("spread constraints", field, constraints),
        of_pod("tolerations", "tolerations", list(ENTRIES, toleration)),
        of_pod("same volumes", "volumes", list(ENTRIES, volume)),
        of_pod("same init containers", "initContainers", init_containers),
        of_pod(
            "init containers",
            "initContainers",
            list(DIFFERENT, different),
        ),
        pod("same containers", containers),
        of_main("variables", "env", list(ENTRIES, variable)),
        of_main("ports of one name", "ports", list(ENTRIES, port)),
    ]
}

fn service() -> String {
    let ports = list(DIFFERENT, |number| {
        format!(r#"{{"name":"p{number}","port":{}}}"#, number + 1)
    });
    format!(r#"{{"metadata":{{"name":"x"}},"spec":{{"ports":{ports}}}}}"#)
}

fn definition() -> String {
    let names = r#"{"plural":"ws","kind":"W"}"#;
    let head = r#""group":"attack.example.com","scope":"Namespaced""#;
    let versions = list(DIFFERENT, |number| {
        let schema = r#"{"openAPIV3Schema":{"type":"object"}}"#;
        let (name, storage) = (number + 1, number == 0);
        format!(r#"{{"name":"v{name}","served":true,"storage":{storage},"schema":{schema}}}"#)
    });
    let spec = format!(r#"{{{head},"names":{names},"versions":{versions}}}"#);
    format!(r#"{{"metadata":{{"name":"ws.attack.example.com"}},"spec":{spec}}}"#)
}

fn ingress() -> String {
    let rules = list(RULES, |number| {
        let backend = r#"{"service":{"name":"s","port":{"number":80}}}"#;
        let path = format!(r#"{{"path":"/","pathType":"Prefix","backend":{backend}}}"#);
        format!(r#"{{"host":"h{number}.example","http":{{"paths":[{path}]}}}}"#)
    });
    format!(r#"{{"metadata":{{"name":"x"}},"spec":{{"rules":{rules}}}}}"#)
}

fn owned_by(references: &str) -> String {
    format!(r#"{{"metadata":{{"name":"x","ownerReferences":{references}}}}}"#)
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    joined('[', count, item, ']')
}

fn members(count: usize, member: impl Fn(usize) -> String) -> String {
    joined('{', count, member, '}')
}

fn joined(open: char, count: usize, item: impl Fn(usize) -> String, close: char) -> String {
    let mut text = open.to_string();
    for number in 0..count {
        let comma = if number == 0 { "" } else { "," };
        write!(text, "{comma}{}", item(number)).expect("a string takes what it is given");
    }
    text.push(close);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn all_fit_into_what_a_body_may_have_and_are_json() {
        for call in calls() {
            let bytes = call.body().len();
            assert!(
                (10_000..=3 << 20).contains(&bytes),
                "{}: {bytes}",
                call.label
            );
            if !call.label.starts_with("deep") {
                let parsed: Result<Value, _> = serde_json::from_slice(call.body());
                assert!(parsed.is_ok(), "{}: {parsed:?}", call.label);
            }
        }
    }

    #[test]
    fn references_weigh_more_than_two_megabytes() {
        let calls = calls();
        let call = calls.iter().find(|it| it.label == "owner references");
        assert!(call.unwrap().body().len() > 2_000_000);
    }
}
