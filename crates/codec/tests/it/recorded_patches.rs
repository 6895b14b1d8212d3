//! Patches of a real server, recorded: ours must lead from each state to the next, but for what
//! the server itself adds.

use kubist_apimachinery::schema;
use kubist_apimachinery::wire::{Field, FieldFlags as F, FieldType, JsonForm, Merge};
use kubist_codec::negotiate::PatchType;
use kubist_codec::patch::{PatchClass, Reading, apply};
use serde_json::Value;
use std::path::PathBuf;

const fn by(key: &'static str) -> Merge {
    Merge {
        merge: true,
        retain_keys: false,
        replace: false,
        key,
    }
}

const fn field(json: &'static str, number: u32, ty: FieldType) -> Field {
    Field::new(json, number, ty, F::NONE)
}

// As much of apps/v1 Deployment as the recorded patches touch.
schema!(
    PORT = "ContainerPort",
    "t.ContainerPort",
    JsonForm::Object,
    None,
    [field("containerPort", 1, FieldType::I32),]
);
schema!(
    ENV = "EnvVar",
    "t.EnvVar",
    JsonForm::Object,
    None,
    [field("name", 1, FieldType::Str)]
);
schema!(
    CONTAINER = "Container",
    "t.Container",
    JsonForm::Object,
    None,
    [
        field("name", 1, FieldType::Str),
        field("args", 4, FieldType::StrList),
        field("ports", 6, FieldType::MessageList(&PORT)).with_merge(by("containerPort")),
        field("env", 7, FieldType::MessageList(&ENV)).with_merge(by("name")),
    ]
);
schema!(
    VOLUME = "Volume",
    "t.Volume",
    JsonForm::Object,
    None,
    [
        field("name", 1, FieldType::Str),
        field("emptyDir", 2, FieldType::Message(&ENV)),
        field("hostPath", 3, FieldType::Message(&ENV)),
    ]
);
schema!(
    POD_SPEC = "PodSpec",
    "t.PodSpec",
    JsonForm::Object,
    None,
    [
        field("volumes", 1, FieldType::MessageList(&VOLUME)).with_merge(Merge {
            retain_keys: true,
            ..by("name")
        }),
        field("containers", 2, FieldType::MessageList(&CONTAINER)).with_merge(by("name")),
    ]
);
schema!(
    META = "ObjectMeta",
    "t.ObjectMeta",
    JsonForm::Object,
    None,
    [
        field("labels", 11, FieldType::StrMap),
        field("finalizers", 14, FieldType::StrList).with_merge(by("")),
    ]
);
schema!(
    TEMPLATE = "PodTemplateSpec",
    "t.PodTemplateSpec",
    JsonForm::Object,
    None,
    [
        field("metadata", 1, FieldType::Message(&META)),
        field("spec", 2, FieldType::Message(&POD_SPEC)),
    ]
);
schema!(
    SPEC = "DeploymentSpec",
    "t.DeploymentSpec",
    JsonForm::Object,
    None,
    [
        field("template", 3, FieldType::Message(&TEMPLATE)),
        field("strategy", 4, FieldType::Message(&ENV)),
    ]
);
schema!(
    DEPLOYMENT = "Deployment",
    "t.Deployment",
    JsonForm::Object,
    None,
    [
        field("metadata", 1, FieldType::Message(&META)),
        field("spec", 2, FieldType::Message(&SPEC)),
    ]
);

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

/// Where `ours` and what the server made of it differ.
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

/// Replays the patches of a scenario; gives how many were compared.
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
            Some(&DEPLOYMENT),
        );
        match (patched, status) {
            (Ok(patched), 200) => {
                let found = difference(&patched, &response["body"], "");
                assert_eq!(found, None, "{name}");
                state = response["body"].clone();
            }
            // What the object itself may not be is for its validation.
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
