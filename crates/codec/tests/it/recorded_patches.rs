//! Recorded patches of a real server: each must lead from one state to the next, except for what
//! the server itself adds.

use kubist_api::apps::v1::Deployment;
use kubist_apimachinery::wire::Wire as _;
use kubist_codec::negotiate::PatchType;
use kubist_codec::patch::{PatchClass, Reading, apply};
use serde_json::Value;
use std::path::PathBuf;

fn scenario(name: &str) -> Option<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/recorded")
        .join(name);
    let Ok(text) = std::fs::read(path) else {
        println!("skipped: ../shared/data/recorded/{name} is not there");
        return None;
    };
    Some(serde_json::from_slice(&text).unwrap())
}

/// What the server adds, and the versions and times that change with every write.
const ADDED: [&str; 12] = [
    "resourceVersion",
    "generation",
    "managedFields",
    "creationTimestamp",
    "uid",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "imagePullPolicy",
    "resources",
    "protocol",
    "type",
    "status",
];

/// Empties that the server does not write, and null values, which it reads as empty.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// Returns the differences between `ours` and the server's result.
fn difference(ours: &Value, server: &Value, path: &str) -> Option<String> {
    match (ours, server) {
        (Value::Object(ours), Value::Object(server)) => {
            let mut keys: Vec<&String> = ours.keys().chain(server.keys()).collect();
            keys.dedup();
            keys.into_iter()
                .filter(|key| !ADDED.contains(&key.as_str()))
                .find_map(|key| {
                    let ours = ours.get(key).unwrap_or(&Value::Null);
                    let server = server.get(key).unwrap_or(&Value::Null);
                    difference(ours, server, &format!("{path}.{key}"))
                })
        }
        (Value::Array(ours), Value::Array(server)) if ours.len() == server.len() => ours
            .iter()
            .zip(server)
            .enumerate()
            .find_map(|(i, (ours, server))| difference(ours, server, &format!("{path}[{i}]"))),
        (ours, server) if ours == server || (is_empty(ours) && is_empty(server)) => None,
        (ours, server) => Some(format!("{path}: ours {ours}, the server's {server}")),
    }
}

/// Replays the patches of a scenario; returns how many were compared.
fn replay(scenario: &Value) -> usize {
    let mut state = Value::Null;
    let mut compared = 0;
    for step in scenario["steps"].as_array().unwrap() {
        let name = step["name"].as_str().unwrap();
        let response = &step["response"];
        let content_type = step["headers"]["Content-Type"].as_str();
        let patch_type = PatchType::parse(content_type, PatchType::ALL);
        let status = response["status"].as_u64().unwrap();
        let (true, Ok(patch_type)) = (step["method"] == "PATCH", patch_type) else {
            if status < 300 {
                state = response["body"].clone();
            }
            continue;
        };
        if step["path"].as_str().unwrap().ends_with("/scale") || name.starts_with("dry run") {
            continue;
        }
        let patch = serde_json::to_vec(&step["body"]).unwrap();
        let patched = apply(
            patch_type,
            Reading::Checked,
            state.clone(),
            &patch,
            Some(Deployment::SCHEMA),
        );
        match (patched, status) {
            (Ok(patched), 200) => {
                let found = difference(&patched, &response["body"], "");
                assert_eq!(found, None, "{name}");
                state = response["body"].clone();
            }
            // Validation of the object itself is not tested here.
            (Ok(_), 400 | 409 | 422) => continue,
            (Err(error), 500) => {
                assert_eq!(
                    error.to_string(),
                    response["body"]["message"].as_str().unwrap()
                );
                assert_eq!(error.class(), PatchClass::Internal, "{name}");
            }
            (Err(error), 400) => assert_eq!(error.class(), PatchClass::Malformed, "{name}"),
            (Err(error), 422) => assert_eq!(error.class(), PatchClass::Unprocessable, "{name}"),
            (patched, status) => panic!("{name}: the server says {status}, we {patched:?}"),
        }
        compared += 1;
    }
    compared
}

#[test]
fn strategic_patches_do_what_a_real_server_does() {
    let Some(scenario) = scenario("patch-strategic.json") else {
        return;
    };
    assert!(replay(&scenario) >= 20);
}

#[test]
fn json_and_merge_patches_do_what_a_real_server_does() {
    let Some(scenario) = scenario("patch-json-merge-scale.json") else {
        return;
    };
    assert!(replay(&scenario) >= 15);
}
