//! Custom resources over HTTP: defined, discovered, used in every way, and gone.

use crate::client::{Client, silent_server};
use http::Version;
use serde_json::{Value, json};
use std::time::Duration;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

fn definition() -> Value {
    let schema = json!({"openAPIV3Schema": {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {
                "plural": "widgets", "kind": "Widget", "shortNames": ["wi"],
                "categories": ["all", "shop"],
            },
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": schema,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                ],
            }],
        },
    })
}

async fn defined(client: &mut Client) {
    let answer = client.post(DEFINITIONS, &definition()).await;
    assert_eq!(answer.code, 201, "{answer:?}");
    for _ in 0..200 {
        if client.get(WIDGETS).await.code == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it is never served");
}

fn widget(name: &str) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": name}, "spec": {"size": 3, "deep": {"list": [1, {"a": null}]}},
    })
}

#[tokio::test]
async fn a_defined_resource_is_in_discovery() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    assert_eq!(client.get(WIDGETS).await.code, 404);
    defined(&mut client).await;
    let listed = client.get("/apis/example.com/v1").await.json();
    let names: Vec<&Value> = listed["resources"]
        .as_array()
        .expect("it is a list")
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["widgets", "widgets/status"]);
    let widgets = &listed["resources"][0];
    assert_eq!(
        (&widgets["shortNames"], &widgets["categories"]),
        (&json!(["wi"]), &json!(["all", "shop"]))
    );
    let group = client.get("/apis/example.com").await.json();
    assert_eq!(group["preferredVersion"]["groupVersion"], "example.com/v1");
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let mut picky = Client::in_memory(&server, Version::HTTP_2).await;
    picky = picky.header("accept", accept);
    let all = picky.get("/apis").await.json();
    let all = all["items"].as_array().expect("it is a list").clone();
    let group = all
        .iter()
        .find(|it| it["metadata"]["name"] == "example.com");
    let widgets = &group.expect("it is listed")["versions"][0]["resources"][0];
    assert_eq!(
        (&widgets["shortNames"], &widgets["categories"]),
        (&json!(["wi"]), &json!(["all", "shop"]))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn what_a_defined_resource_has_not_is_told_as_upstream_tells_it() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    assert_eq!(client.post(WIDGETS, &widget("a")).await.code, 201);
    let one = format!("{WIDGETS}/a");
    let nowhere = "/apis/example.com/v1/widgets";
    for (method, path) in [
        ("GET", "/apis/example.com/v2"),
        ("GET", "/apis/example.com/v2/widgets"),
        ("GET", "/apis/example.com/v1/unknown"),
        ("POST", nowhere),
        ("DELETE", nowhere),
        ("GET", "/apis/example.com/v1/widgets/a"),
    ] {
        let answer = client.ask(method, path, "application/json", "{}").await;
        let text = (answer.code, &answer.bytes[..]);
        assert_eq!(text, (404, &b"404 page not found\n"[..]), "{method} {path}");
    }
    for (method, path, code, message) in [
        (
            "GET",
            format!("{one}/none"),
            404,
            "widgets.example.com \"a\" not found",
        ),
        (
            "DELETE",
            format!("{one}/status"),
            405,
            "delete is not supported on resources of kind \"widgets.example.com\"",
        ),
        ("PUT", WIDGETS.to_owned(), 400, "name must be provided"),
        (
            "POST",
            WIDGETS.to_owned(),
            400,
            "the object provided is unrecognized (must be of type Widget): Object 'Kind' is \
             missing in '{}' ({})",
        ),
        (
            "GET",
            format!("{WIDGETS}?fieldSelector=spec.size%3D2"),
            400,
            "field label not supported: spec.size",
        ),
    ] {
        let answer = client.ask(method, &path, "application/json", "{}").await;
        let told = answer.json()["message"].clone();
        assert_eq!(
            (answer.code, told),
            (code, json!(message)),
            "{method} {path}"
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_patch_cannot_change_what_a_custom_object_is() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    assert_eq!(client.post(WIDGETS, &widget("a")).await.code, 201);
    let one = format!("{WIDGETS}/a");
    let merge = "application/merge-patch+json";
    for (patch, message) in [
        (
            r#"{"kind":"x"}"#,
            "x.example.com \"a\" is invalid: kind: Invalid value: \"x\": must be Widget",
        ),
        (
            r#"{"apiVersion":"x/v1"}"#,
            "Widget.x \"a\" is invalid: apiVersion: Invalid value: \"x/v1\": must be \
             example.com/v1",
        ),
    ] {
        let answer = client.ask("PATCH", &one, merge, patch).await;
        assert_eq!(answer.json()["message"], message);
        let status = format!("{one}/status");
        let answer = client.ask("PATCH", &status, merge, patch).await;
        assert_eq!(
            (answer.code, &answer.json()["kind"]),
            (200, &json!("Widget"))
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_defined_resource_has_all_verbs() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let created = client.post(WIDGETS, &widget("a")).await;
    assert_eq!(created.code, 201);
    let created = created.json();
    assert_eq!(created["spec"], widget("a")["spec"]);
    let one = format!("{WIDGETS}/a");
    assert_eq!(client.get(&one).await.json(), created);
    let merge = "application/merge-patch+json";
    let patched = client
        .ask("PATCH", &one, merge, r#"{"spec": {"size": 4}}"#)
        .await;
    assert_eq!(
        (patched.code, &patched.json()["spec"]["size"]),
        (200, &json!(4))
    );
    let json_patch = r#"[{"op": "replace", "path": "/spec/size", "value": 5}]"#;
    let patched = client
        .ask("PATCH", &one, "application/json-patch+json", json_patch)
        .await;
    assert_eq!(patched.json()["metadata"]["generation"], 3);
    let strategic = "application/strategic-merge-patch+json";
    let refused = client.ask("PATCH", &one, strategic, "{}").await;
    assert_eq!(refused.code, 415);
    let mut put = patched.json();
    put["spec"] = json!({"size": 6});
    let put = client
        .ask("PUT", &one, "application/json", put.to_string())
        .await;
    assert_eq!((put.code, &put.json()["spec"]), (200, &json!({"size": 6})));
    let protobuf = "application/vnd.kubernetes.protobuf";
    assert_eq!(client.ask("POST", WIDGETS, protobuf, "k8s").await.code, 415);

    let list = client.get(WIDGETS).await.json();
    assert_eq!(list["kind"], "WidgetList");
    assert_eq!(list["metadata"]["continue"], "");
    assert_eq!(list["items"][0]["kind"], "Widget");
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let mut picky = Client::in_memory(&server, Version::HTTP_2).await;
    picky = picky.header("accept", table);
    let table = picky.get(WIDGETS).await.json();
    assert_eq!(table["rows"][0]["cells"], json!(["a", 6]));
    assert_eq!(table["columnDefinitions"][1]["name"], "Size");
    let watch = client
        .get(&format!("{WIDGETS}?watch=true&timeoutSeconds=1"))
        .await;
    let event: Value = serde_json::from_slice(&watch.bytes).expect("it is one event");
    assert_eq!(
        (&event["type"], &event["object"]["kind"]),
        (&json!("ADDED"), &json!("Widget"))
    );

    let deleted = client.ask("DELETE", &one, "application/json", "").await;
    assert_eq!(deleted.json()["details"]["kind"], "widgets");
    client.post(WIDGETS, &widget("b")).await;
    let all = client.ask("DELETE", WIDGETS, "application/json", "").await;
    assert_eq!(all.json()["items"][0]["metadata"]["name"], "b");
    server.shutdown().await;
}

#[tokio::test]
async fn an_object_of_another_kind_or_version_is_refused() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let mut other = widget("a");
    other["kind"] = json!("Gadget");
    let answer = client.post(WIDGETS, &other).await;
    assert_eq!(answer.code, 422);
    assert_eq!(answer.json()["details"]["causes"][0]["field"], "kind");
    other["apiVersion"] = json!("example.com/v2");
    assert_eq!(client.post(WIDGETS, &other).await.code, 400);
    let mut wrong = widget("a");
    wrong["metadata"] = json!({"name": 1});
    assert_eq!(client.post(WIDGETS, &wrong).await.code, 400);
    let strict = format!("{WIDGETS}?fieldValidation=Strict");
    let mut unknown = widget("a");
    unknown["metadata"]["nonsense"] = json!(1);
    assert_eq!(client.post(&strict, &unknown).await.code, 400);
    server.shutdown().await;
}

#[tokio::test]
async fn a_deleted_definition_is_gone_from_discovery() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    client.post(WIDGETS, &widget("a")).await;
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let deleted = client.ask("DELETE", &path, "application/json", "").await;
    assert_eq!(deleted.code, 200);
    let meta = &deleted.json()["metadata"];
    assert_eq!(
        meta["finalizers"],
        json!(["customresourcecleanup.apiextensions.k8s.io"])
    );
    for _ in 0..300 {
        if client.get("/apis/example.com").await.code == 404 {
            assert_eq!(client.get(&path).await.code, 404);
            server.shutdown().await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it is never gone");
}

#[tokio::test]
async fn what_is_in_no_namespace_is_not_there_but_for_lists() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let everywhere = "/apis/example.com/v1/widgets";
    assert_eq!(client.get(everywhere).await.code, 200);
    assert_eq!(
        client
            .get(&format!("{everywhere}?watch=1&timeoutSeconds=1"))
            .await
            .code,
        200
    );
    let one = format!("{everywhere}/a");
    let json = "application/json";
    let body = widget("a").to_string();
    for (method, path) in [
        ("POST", everywhere),
        ("DELETE", everywhere),
        ("PUT", &one),
        ("PATCH", &one),
        ("GET", &one),
        ("DELETE", &one),
    ] {
        let answer = client.ask(method, path, json, body.clone()).await;
        assert_eq!(answer.code, 404, "{method} {path}");
        assert_eq!(answer.bytes, "404 page not found\n", "{method} {path}");
    }
    let pods = client.ask("POST", "/api/v1/pods", json, body).await;
    assert_eq!(pods.code, 405, "a built-in one has such a path");
    client.post(WIDGETS, &widget("a")).await;
    let part = client.get(&format!("{WIDGETS}/a/scale")).await;
    assert_eq!(part.code, 404);
    let message = &part.json()["message"];
    assert_eq!(*message, "widgets.example.com \"a\" not found");
    server.shutdown().await;
}

#[tokio::test]
async fn a_deprecated_version_warns_whoever_uses_it() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut old = definition();
    old["spec"]["versions"][0]["deprecated"] = json!(true);
    old["spec"]["versions"][0]["deprecationWarning"] = json!("use gadgets");
    let answer = client.post(DEFINITIONS, &old).await;
    assert_eq!(answer.code, 201, "{answer:?}");
    while client.get(WIDGETS).await.code != 200 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let listed = client.get(WIDGETS).await;
    assert_eq!(listed.header("warning"), "299 - \"use gadgets\"");
    server.shutdown().await;
}

#[tokio::test]
async fn a_resource_version_is_refused_where_something_would_be_stored() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = |version: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "resourceVersion": version},
        })
    };
    let refused = client.post(maps, &map("5")).await;
    let status = refused.json();
    assert_eq!((refused.code, &status["code"]), (500, &json!(500)));
    let expected = "resourceVersion should not be set on objects to be created";
    assert_eq!(status["message"], expected);
    assert!(status["reason"].is_null(), "{status}");
    let rehearsed = client.post(&format!("{maps}?dryRun=All"), &map("5")).await;
    assert_eq!(rehearsed.code, 201);
    assert_eq!(rehearsed.json()["metadata"]["resourceVersion"], "5");
    assert_eq!(client.post(maps, &map("0")).await.code, 201);
    server.shutdown().await;
}

#[tokio::test]
async fn the_scale_of_a_custom_resource_takes_no_strategic_patch() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut scaled = definition();
    scaled["spec"]["versions"][0]["subresources"]["scale"] = json!({
        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
    });
    let answer = client.post(DEFINITIONS, &scaled).await;
    assert_eq!(answer.code, 201, "{answer:?}");
    while client.get(WIDGETS).await.code != 200 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut one = widget("a");
    one["spec"]["replicas"] = json!(1);
    client.post(WIDGETS, &one).await;
    let (part, body) = (format!("{WIDGETS}/a/scale"), r#"{"spec": {"replicas": 3}}"#);
    let strategic = "application/strategic-merge-patch+json";
    let refused = client.ask("PATCH", &part, strategic, body).await;
    assert_eq!(refused.code, 415, "{refused:?}");
    let merged = client
        .ask("PATCH", &part, "application/merge-patch+json", body)
        .await;
    assert_eq!(merged.code, 200, "{merged:?}");
    assert_eq!(merged.json()["spec"]["replicas"], 3);
    server.shutdown().await;
}

#[tokio::test]
async fn a_table_says_of_a_column_what_its_definition_says_or_where_it_is_from() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut said = definition();
    let columns = &mut said["spec"]["versions"][0]["additionalPrinterColumns"];
    columns[0]["description"] = json!("how large it is");
    let plain = json!({"name": "Plain", "type": "string", "jsonPath": ".spec.plain"});
    columns.as_array_mut().expect("it is a list").push(plain);
    let answer = client.post(DEFINITIONS, &said).await;
    assert_eq!(answer.code, 201, "{answer:?}");
    while client.get(WIDGETS).await.code != 200 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let mut table = Client::in_memory(&server, Version::HTTP_2).await;
    table = table.header("accept", accept);
    let columns = table.get(WIDGETS).await.json()["columnDefinitions"].clone();
    assert_eq!(columns[1]["name"], "Size");
    assert_eq!(columns[1]["description"], "how large it is");
    assert_eq!(
        columns[2]["description"],
        "Custom resource definition column (in JSONPath format): .spec.plain"
    );
    let name = columns[0]["description"].as_str().expect("it is text");
    assert!(name.starts_with("Name must be unique within a namespace. "));
    server.shutdown().await;
}

#[tokio::test]
async fn a_warning_of_a_version_is_checked() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    for (deprecated, text, detail) in [
        (false, "a", "can only be set for deprecated versions"),
        (true, "", "must not be an empty string"),
        (true, "a\tb", "non-printable character found at index 1"),
    ] {
        let mut wrong = definition();
        wrong["spec"]["versions"][0]["deprecated"] = json!(deprecated);
        wrong["spec"]["versions"][0]["deprecationWarning"] = json!(text);
        let refused = client.post(DEFINITIONS, &wrong).await;
        assert_eq!(refused.code, 422);
        let message = refused.json()["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(
            message.contains("spec.versions[0].deprecationWarning"),
            "{message}"
        );
        assert!(message.contains(detail), "{message}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn component_statuses_are_upstreams_three() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let all = "/api/v1/componentstatuses";
    let list = client.get(all).await.json();
    let names = |list: &Value| {
        let items = list["items"].as_array().expect("it is a list").iter();
        let name = |it: &Value| {
            it["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        items.map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(&list), ["controller-manager", "scheduler", "etcd-0"]);
    let storage = client.get(&format!("{all}/etcd-0")).await.json();
    let healthy = json!([{"type": "Healthy", "status": "True", "message": "ok"}]);
    assert_eq!(storage["conditions"], healthy);
    let scheduler = client.get(&format!("{all}/scheduler")).await.json();
    assert_eq!(scheduler["conditions"][0]["status"], "Unknown");
    let one = client
        .get(&format!("{all}?fieldSelector=metadata.name%3Detcd-0"))
        .await;
    assert_eq!(names(&one.json()), ["etcd-0"]);
    let none = client.get(&format!("{all}?labelSelector=a%3Db")).await;
    assert!(names(&none.json()).is_empty());
    let missing = client.get(&format!("{all}/kubelet")).await;
    assert_eq!(missing.code, 404);
    assert_eq!(
        missing.json()["message"],
        "componentstatus \"kubelet\" not found"
    );
    server.shutdown().await;
}
