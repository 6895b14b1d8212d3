//! OpenAPI documents, alone and against those of a real server.

use super::*;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Everything.
fn served() -> std::sync::Arc<[ServedGroup]> {
    let kv = std::sync::Arc::new(kubist_storage::memory::MemoryKv::default());
    let mut config = kubist_registry::RegistryConfig::new(kv);
    config.runtime_config = kubist_registry::RuntimeConfig::everything();
    kubist_registry::Registry::new(config).groups()
}

fn core() -> Value {
    let (group, version) = group_versions().next().expect("there are groups");
    assert_eq!(group.name, "");
    serde_json::from_slice(&document(group, version)).expect("it is JSON")
}

#[test]
fn schemas_say_types_lists_and_patch_strategies() {
    let document = core();
    let schemas = &document["components"]["schemas"];
    let containers = &schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"];
    assert_eq!(containers["type"], "array");
    assert_eq!(containers["x-kubernetes-list-map-keys"], json!(["name"]));
    assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
    assert_eq!(containers["x-kubernetes-patch-strategy"], "merge");
    let item = "#/components/schemas/io.k8s.api.core.v1.Container";
    assert_eq!(containers["items"]["$ref"], item);
    assert_eq!(
        schemas["io.k8s.api.core.v1.PodSpec"]["required"],
        json!(["containers"])
    );
}

#[test]
fn kubectl_finds_what_it_looks_for_before_it_applies() {
    let document = core();
    let path = "/api/v1/namespaces/{namespace}/pods/{name}";
    let patch = &document["paths"][path]["patch"];
    assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Pod");
    let parameters = patch["parameters"].as_array().expect("there are some");
    assert!(parameters.iter().any(|it| it["name"] == "fieldValidation"));
    let strategic = &patch["requestBody"]["content"]["application/strategic-merge-patch+json"];
    assert!(strategic.is_object());
}

#[test]
fn every_reference_leads_to_a_schema() {
    for (group, version) in group_versions() {
        let text = String::from_utf8(document(group, version)).expect("it is text");
        let document: Value = serde_json::from_str(&text).expect("it is JSON");
        let schemas = document["components"]["schemas"].as_object();
        let schemas = schemas.expect("there are some");
        for reference in text.split("\"$ref\":\"").skip(1) {
            let name = reference.split('"').next().unwrap_or_default();
            let name = name.rsplit('/').next().unwrap_or_default();
            assert!(
                schemas.contains_key(name),
                "{name} of {}",
                version.api_version
            );
        }
    }
}

#[test]
fn the_index_names_every_document_with_its_hash() {
    let open_api = OpenApi::new();
    let Body::Whole(bytes) = open_api.index(&served()).body else {
        panic!("it is whole");
    };
    let index: Value = serde_json::from_slice(&bytes).expect("it is JSON");
    let paths = index["paths"].as_object().expect("it is a map");
    assert_eq!(paths.len(), group_versions().count());
    for (path, entry) in paths {
        let url = entry["serverRelativeURL"].as_str().expect("it is text");
        let (_, hash) = url.split_once("?hash=").expect("it has a hash");
        let answer = open_api
            .document(&served(), path, None, None)
            .expect("it is served");
        assert_eq!(answer.headers[ETAG], format!("\"{hash}\""));
    }
    assert!(
        open_api
            .document(&served(), "apis/none/v1", None, None)
            .is_none()
    );
}

#[test]
fn a_wrong_hash_leads_to_the_right_one_and_only_that_is_kept_for_ever() {
    let open_api = OpenApi::new();
    let ask = |hash| {
        let answer = open_api.document(&served(), "apis/apps/v1", hash, None);
        answer.expect("it is served")
    };
    let plain = ask(None);
    assert_eq!(plain.code, StatusCode::OK);
    assert_eq!(plain.headers.get(CACHE_CONTROL), None);
    let hash = plain.headers[ETAG].to_str().expect("it is text");
    let hash = hash.trim_matches('"');
    let wrong = ask(Some("0123"));
    assert_eq!(wrong.code, StatusCode::MOVED_PERMANENTLY);
    assert_eq!(wrong.headers.get(CACHE_CONTROL), None);
    let url = format!("/openapi/v3/apis/apps/v1?hash={hash}");
    assert_eq!(wrong.headers[LOCATION], url);
    let right = ask(Some(hash));
    assert_eq!(right.code, StatusCode::OK);
    assert_eq!(right.headers[CACHE_CONTROL], "public, immutable");
}

/// Schemas that differ in more: upstream's have markers that no client of ours reads, or name
/// every group that they are registered in.
const DIFFERING: [&str; 5] = [
    "io.k8s.api.networking.v1.IngressRule",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
    "io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails",
    "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent",
];

/// Facts that the generated types do not carry, or that this server does not serve.
fn is_left_out(key: &str) -> bool {
    [
        "default",
        "enum",
        "format",
        "nullable",
        "x-kubernetes-map-type",
        "x-kubernetes-unions",
    ]
    .contains(&key)
}

fn stripped(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !is_left_out(key));
            Value::Object(kept.map(|(key, it)| (key.clone(), stripped(it))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(stripped).collect()),
        other => other.clone(),
    }
}

#[test]
fn schemas_equal_those_of_a_real_server_but_for_listed_keys() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/kubernetes-v1.36/openapi-v3");
    if !folder.exists() {
        println!("skipped: there are no recorded documents in ../shared");
        return;
    }
    let mut differing = BTreeSet::new();
    let mut compared = 0;
    for (group, version) in group_versions() {
        let file = format!("{}_openapi.json", path(group, version).replace('/', "__"));
        let recorded = std::fs::read(folder.join(&file)).expect("each version was recorded");
        let recorded: Value = serde_json::from_slice(&recorded).expect("it is JSON");
        let ours: Value = serde_json::from_slice(&document(group, version)).expect("it is JSON");
        let recorded = recorded["components"]["schemas"].as_object();
        for (name, expected) in recorded.expect("there are some") {
            let found = &ours["components"]["schemas"][name];
            compared += 1;
            if stripped(found) != stripped(expected) {
                differing.insert(name.clone());
            }
        }
    }
    assert!(compared > 1_000, "{compared}");
    let differing: Vec<&str> = differing.iter().map(String::as_str).collect();
    assert_eq!(differing, DIFFERING, "of {compared} schemas");
}
