//! OpenAPI documents, checked for consistency and against those of a real server.

use super::*;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Everything.
fn served() -> std::sync::Arc<[ServedGroup]> {
    served_with(kubist_registry::RuntimeConfig::everything())
}

fn served_with(runtime_config: kubist_registry::RuntimeConfig) -> std::sync::Arc<[ServedGroup]> {
    let kv = std::sync::Arc::new(kubist_storage::memory::MemoryKv::default());
    let mut config = kubist_registry::RegistryConfig::new(kv, kubist_kinds::BuiltIn::shared());
    config.runtime_config = runtime_config;
    kubist_registry::Registry::new(config).groups()
}

fn core() -> Value {
    let (group, version) = group_versions().next().expect("there are groups");
    assert_eq!(group.name, "");
    serde_json::from_slice(&document(
        (group, version),
        &served(),
        &Descriptions::read(),
    ))
    .expect("it is JSON")
}

/// What `kubectl explain` begins with.
#[test]
fn every_kind_that_is_served_says_what_it_is() {
    let (served, said) = (served(), Descriptions::read());
    let mut silent = BTreeSet::new();
    for at in group_versions() {
        let document = document(at, &served, &said);
        let document: Value = serde_json::from_slice(&document).expect("it is JSON");
        let schemas = document["components"]["schemas"].as_object();
        for (name, schema) in schemas.into_iter().flatten() {
            let is_kind = schema.get("x-kubernetes-group-version-kind").is_some();
            if is_kind && !schema["description"].is_string() {
                silent.insert(name.clone());
            }
        }
    }
    assert_eq!(silent, BTreeSet::new());
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
    assert_eq!(containers["items"]["allOf"], json!([{"$ref": item}]));
    assert_eq!(containers["items"]["default"], json!({}));
    let pod = &schemas["io.k8s.api.core.v1.Pod"]["properties"];
    for field in ["apiVersion", "kind", "metadata"] {
        assert!(pod[field]["description"].is_string(), "{field}");
    }
    let pods = &schemas["io.k8s.api.core.v1.PodList"];
    for said in [
        pods,
        &pods["properties"]["items"],
        &pods["properties"]["metadata"],
    ] {
        assert!(said["description"].is_string());
    }
    let policy = &schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["restartPolicy"];
    assert_eq!(policy["enum"], json!(["Always", "Never", "OnFailure"]));
    let port = &schemas["io.k8s.api.core.v1.ContainerPort"]["properties"];
    assert_eq!(port["protocol"]["default"], "TCP");
    assert_eq!(port["containerPort"]["default"], 0);
    assert_eq!(
        schemas["io.k8s.api.core.v1.PodSpec"]["required"],
        json!(["containers"])
    );
}

#[test]
fn a_resource_that_is_turned_off_is_in_no_document() {
    let served = served_with("batch/v1/jobs=false".parse().expect("it is valid"));
    let open_api = OpenApi::new();
    let whole = |body| match body {
        Body::Whole(bytes) => serde_json::from_slice::<Value>(&bytes).expect("it is JSON"),
        _ => panic!("it is written at once"),
    };
    let answer = open_api.document(&served, &[], asked("apis/batch/v1"));
    let document = whole(answer.expect("the version is served").body);
    let paths = document["paths"].as_object().expect("there are some");
    assert!(paths.contains_key("/apis/batch/v1/cronjobs"));
    assert!(!paths.keys().any(|it| it.contains("/jobs")));
    let old = whole(open_api.old_document(&served, &[], None).body);
    for (kind, is_there) in [("CronJobList", true), ("JobList", false)] {
        let schema = format!("io.k8s.api.batch.v1.{kind}");
        assert_eq!(
            document["components"]["schemas"][&schema].is_object(),
            is_there
        );
        assert_eq!(old["definitions"][&schema].is_object(), is_there);
    }
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
    let (descriptions, served) = (Descriptions::read(), served());
    for (group, version) in group_versions() {
        let text = String::from_utf8(document((group, version), &served, &descriptions))
            .expect("it is text");
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

fn asked(path: &str) -> DocumentRequest<'_> {
    DocumentRequest {
        path,
        ..DocumentRequest::default()
    }
}

#[test]
fn the_index_names_every_document_with_its_hash() {
    let open_api = OpenApi::new();
    let Body::Whole(bytes) = open_api.index(&served(), &[], |_| {}).body else {
        panic!("it is whole");
    };
    let index: Value = serde_json::from_slice(&bytes).expect("it is JSON");
    let paths = index["paths"].as_object().expect("it is a map");
    let groups = GROUPS.iter().filter(|it| !it.name.is_empty()).count();
    let documents = group_versions().count() + groups + NonResourcePath::ALWAYS.len();
    assert_eq!(paths.len(), documents);
    for path in ["api", "apis", "apis/apps", "version", "openid/v1/jwks"] {
        assert!(paths.contains_key(path), "{path}");
    }
    for (path, entry) in paths {
        let url = entry["serverRelativeURL"].as_str().expect("it is text");
        let (_, hash) = url.split_once("?hash=").expect("it has a hash");
        let answer = open_api.document(&served(), &[], asked(path));
        let answer = answer.expect("it is served");
        assert_eq!(answer.headers[ETAG], format!("\"{hash}\""));
        assert_eq!(answer.headers[VARY], "Accept");
    }
    for none in ["apis/none/v1", "", "apis/", "apis/apps/v1/"] {
        let answer = open_api.document(&served(), &[], asked(none));
        assert!(answer.is_none(), "{none}");
    }
}

#[test]
fn a_wrong_hash_redirects_and_only_the_right_one_is_cached() {
    let open_api = OpenApi::new();
    let ask = |hash| {
        let asked = DocumentRequest {
            hash,
            // 2028-02-29T23:59:58Z.
            now: Duration::from_secs(1_835_481_598),
            ..asked("apis/apps/v1")
        };
        let answer = open_api.document(&served(), &[], asked);
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
    assert_eq!(right.headers[EXPIRES], "Thu, 01 Mar 2029 23:59:58 UTC");
    assert_eq!(plain.headers.get(EXPIRES), None);
    let expires = |seconds| in_a_year(Duration::from_secs(seconds)).expect("it is soon");
    assert_eq!(expires(1_795_437_889), "Tue, 23 Nov 2027 12:44:49 UTC");
}

#[test]
fn documents_need_an_accepted_media_type() {
    let open_api = OpenApi::new();
    for (accept, is_json) in [
        ("", true),
        ("*", true),
        ("text/html, application/*;q=0.1", true),
        ("application/json; charset=utf-8", true),
        ("application/yaml", false),
        ("application/vnd.kubernetes.protobuf", false),
    ] {
        let asked = DocumentRequest {
            accept: Some(accept),
            ..asked("version")
        };
        let new = open_api.document(&served(), &[], asked);
        let old = open_api.old_document(&served(), &[], Some(accept));
        for answer in [new.expect("it is served"), old] {
            let code = if is_json { 200 } else { 406 };
            assert_eq!(answer.code.as_u16(), code, "{accept}");
            let is_bare = answer.content_type.is_empty();
            assert_eq!(is_bare, !is_json, "{accept}");
            let vary: Vec<_> = answer.headers.get_all(VARY).iter().collect();
            assert_eq!(vary.last().map(|it| it.as_bytes()), Some(&b"Accept"[..]));
        }
    }
}

/// The recordings have no descriptions and no enumerations, and only the type of items and values.
/// A property may have such a name. A reference is wrapped only to carry other members.
fn stripped(value: &Value) -> Value {
    let Value::Object(fields) = value else {
        return match value {
            Value::Array(items) => Value::Array(items.iter().map(stripped).collect()),
            other => other.clone(),
        };
    };
    let mut kept = Map::new();
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("description", Value::String(_)) | ("enum", Value::Array(_)) => {}
            ("items" | "additionalProperties", Value::Object(_)) => {
                kept.insert(key.clone(), stripped_element(&stripped(value)));
            }
            _ => {
                kept.insert(key.clone(), stripped(value));
            }
        }
    }
    match kept.get("allOf") {
        Some(Value::Array(all)) if kept.len() == 1 && all.len() == 1 => all[0].clone(),
        _ => Value::Object(kept),
    }
}

fn stripped_element(element: &Value) -> Value {
    let mut element = element.clone();
    if let Some(fields) = element.as_object_mut() {
        fields.remove("default");
        if let Some(Value::Array(all)) = fields.remove("allOf") {
            fields.extend(all[0].as_object().cloned().into_iter().flatten());
        }
    }
    element
}

#[test]
fn schemas_equal_those_of_a_real_server() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/kubernetes-v1.36/openapi-v3");
    if !folder.exists() {
        println!("skipped: there are no recorded documents in ../shared");
        return;
    }
    let mut differing = BTreeSet::new();
    let mut compared = 0;
    let (descriptions, served) = (Descriptions::read(), served());
    for (group, version) in group_versions() {
        let file = format!("{}_openapi.json", path(group, version).replace('/', "__"));
        let recorded = std::fs::read(folder.join(&file)).expect("each version was recorded");
        let recorded: Value = serde_json::from_slice(&recorded).expect("it is JSON");
        let ours = document((group, version), &served, &descriptions);
        let ours: Value = serde_json::from_slice(&ours).expect("it is JSON");
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
    assert_eq!(differing, BTreeSet::new(), "of {compared} schemas");
}

#[test]
fn paths_and_operations_have_upstreams_names_and_descriptions() {
    let document = core();
    let pods = &document["paths"]["/api/v1/namespaces/{namespace}/pods"];
    assert_eq!(pods["get"]["operationId"], "listCoreV1NamespacedPod");
    assert_eq!(pods["get"]["tags"], json!(["core_v1"]));
    let said = &pods["get"]["description"];
    assert_eq!(said, "list or watch objects of kind Pod");
    let codes = |operation: &Value| -> Vec<String> {
        let codes = operation["responses"].as_object().expect("there are some");
        codes.keys().cloned().collect()
    };
    assert_eq!(codes(&pods["post"]), ["200", "201", "202", "401"]);
    let names = |holder: &Value| -> Vec<String> {
        let all = holder["parameters"].as_array().into_iter().flatten();
        let names = all.map(|it| it["name"].as_str().expect("it is text").to_owned());
        names.collect()
    };
    assert_eq!(names(pods), ["namespace", "pretty"], "what all take");
    assert_eq!(
        names(&pods["post"]),
        ["dryRun", "fieldManager", "fieldValidation"]
    );
    let everywhere = &document["paths"]["/api/v1/pods"];
    let id = &everywhere["get"]["operationId"];
    assert_eq!(id, "listCoreV1PodForAllNamespaces");
    assert_eq!(
        names(everywhere).len(),
        12,
        "with one operation, all parameters are those of the path"
    );
    let one = "/api/v1/watch/namespaces/{namespace}/pods/{name}";
    let watch = &document["paths"][one]["get"];
    assert_eq!(watch["operationId"], "watchCoreV1NamespacedPod");
    let log = "/api/v1/namespaces/{namespace}/pods/{name}/log";
    let log = &document["paths"][log]["get"]["responses"]["200"]["content"];
    assert_eq!(log["text/plain"]["schema"]["type"], "string");
    let pod = "#/components/schemas/io.k8s.api.core.v1.Pod";
    let one = &document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"];
    let gone = &one["delete"]["responses"]["202"]["content"]["application/json"];
    assert_eq!(gone["schema"]["$ref"], pod);
}

#[test]
fn connections_are_described_as_upstream_describes_them() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/kubernetes-v1.36/openapi-v3/api__v1_openapi.json");
    let Ok(recorded) = std::fs::read(file) else {
        println!("skipped: there are no recorded documents in ../shared");
        return;
    };
    let recorded: Value = serde_json::from_slice(&recorded).expect("it is JSON");
    let ours = core();
    let mut compared = 0;
    for (path, expected) in recorded["paths"].as_object().expect("there are some") {
        let ends = [
            "/attach",
            "/exec",
            "/portforward",
            "/proxy",
            "/proxy/{path}",
        ];
        if ends.iter().any(|end| path.ends_with(end)) {
            compared += 1;
            assert_eq!(
                without_words(&ours["paths"][path]),
                without_words(expected),
                "{path}"
            );
        }
    }
    assert_eq!(compared, 9);
}

/// Removes all descriptions.
fn without_words(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(without_words).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| *key != "description");
            let kept = kept.map(|(key, it)| (key.clone(), without_words(it)));
            Value::Object(kept.collect())
        }
        other => other.clone(),
    }
}
