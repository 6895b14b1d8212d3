//! OpenAPI documents over HTTP: those of custom resources, and missing ones.

use crate::client::{Client, silent_server};
use http::Version;
use serde_json::{Value, json};
use std::time::Duration;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const DOCUMENT: &str = "/openapi/v3/apis/shop.example.com/v1";
const GADGET: &str = "com.example.shop.v1.Gadget";

fn definition() -> Value {
    let size = json!({"type": "integer", "description": "How large it is."});
    let schema = json!({"openAPIV3Schema": {
        "type": "object",
        "description": "A gadget.",
        "properties": {"spec": {"type": "object", "properties": {"size": size}}},
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.shop.example.com"},
        "spec": {
            "group": "shop.example.com", "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": schema,
                "subresources": {"status": {}},
                "selectableFields": [{"jsonPath": ".spec.size"}],
            }],
        },
    })
}

/// Waits until a path is served with a status code.
async fn until(client: &mut Client, path: &str, code: u16) {
    for _ in 0..500 {
        if client.get(path).await.code == code {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{path} is never answered with {code}");
}

async fn url(client: &mut Client) -> String {
    let index = client.get("/openapi/v3").await.json();
    let entry = &index["paths"]["apis/shop.example.com/v1"]["serverRelativeURL"];
    entry.as_str().expect("it is in the index").to_owned()
}

/// Objects and lists name the fields that selectors may use.
fn check_selectable_fields(types: &Value) {
    for name in [GADGET.to_owned(), format!("{GADGET}List")] {
        let fields = &types[&name]["x-kubernetes-selectable-fields"];
        assert_eq!(*fields, json!([{"fieldPath": "spec.size"}]), "{name}");
    }
}

fn check_operations(document: &Value) {
    let path = "/apis/shop.example.com/v1/namespaces/{namespace}/gadgets/{name}";
    let patch = &document["paths"][path]["patch"];
    let forms = patch["requestBody"]["content"].as_object();
    let forms: Vec<_> = forms.expect("there are some").keys().collect();
    let expected = [
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
    ];
    assert_eq!(forms, expected);
    assert!(document["paths"][format!("{path}/status")]["put"].is_object());
}

#[tokio::test]
async fn a_custom_resource_has_a_document_that_follows_its_definition() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    assert_eq!(client.get(DOCUMENT).await.code, 404);
    let posted = client.post(DEFINITIONS, &definition()).await;
    assert_eq!(posted.code, 201, "{posted:?}");
    until(&mut client, DOCUMENT, 200).await;

    let first = url(&mut client).await;
    let answer = client.get(&first).await;
    assert_eq!(answer.header("cache-control"), "public, immutable");
    let document = answer.json();
    let schema = &document["components"]["schemas"][GADGET];
    assert_eq!(schema["description"], "A gadget.");
    let size = &schema["properties"]["spec"]["properties"]["size"];
    assert_eq!(size["description"], "How large it is.");
    let meta = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    let metadata = &schema["properties"]["metadata"];
    assert_eq!(metadata["allOf"], json!([{"$ref": meta}]));
    assert!(schema["properties"]["kind"]["description"].is_string());
    let names = json!([{"group": "shop.example.com", "version": "v1", "kind": "Gadget"}]);
    assert_eq!(schema["x-kubernetes-group-version-kind"], names);
    let list = &document["components"]["schemas"]["com.example.shop.v1.GadgetList"];
    assert_eq!(list["required"], json!(["items"]));
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap_or_default();
        assert!(
            document["components"]["schemas"][name].is_object(),
            "{name}"
        );
    }
    check_operations(&document);
    check_selectable_fields(&document["components"]["schemas"]);

    let discovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let reader = Client::in_memory(&server, Version::HTTP_2).await;
    let groups = reader.header("accept", discovery).get("/apis").await.json();
    let mut groups = groups["items"].as_array().expect("a list").iter();
    let group = groups.find(|it| it["metadata"]["name"] == "shop.example.com");
    let resource = &group.expect("it is there")["versions"][0]["resources"][0];
    let kind = json!({"group": "shop.example.com", "version": "v1", "kind": "Gadget"});
    assert_eq!(
        resource["responseKind"], kind,
        "of custom resources all is said"
    );
    assert_eq!(resource["subresources"][0]["responseKind"], kind);

    let mut changed = definition();
    let version = &mut changed["spec"]["versions"][0];
    version["schema"]["openAPIV3Schema"]["description"] = json!("Another gadget.");
    let one = format!("{DEFINITIONS}/gadgets.shop.example.com");
    let body = json!({"spec": changed["spec"]}).to_string();
    let merged = client.ask("PATCH", &one, "application/merge-patch+json", body);
    assert_eq!(merged.await.code, 200);
    let second = url(&mut client).await;
    assert_ne!(first, second);
    let moved = client.get(&first).await;
    assert_eq!((moved.code, moved.header("location")), (301, &*second));
    let document = client.get(&second).await.json();
    let schema = &document["components"]["schemas"][GADGET];
    assert_eq!(schema["description"], "Another gadget.");

    assert_eq!(client.delete(&one).await.code, 200);
    until(&mut client, DOCUMENT, 404).await;
    let index = client.get("/openapi/v3").await.json();
    assert_eq!(index["paths"].get("apis/shop.example.com/v1"), None);
    server.shutdown().await;
}

#[tokio::test]
async fn of_a_document_that_is_not_there_nothing_is_said() {
    let server = silent_server().await;
    let client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut client = client.header("accept", "application/yaml");
    for (path, code) in [
        ("/openapi/v3/", 404),
        ("/openapi/v3/apis/apps/v1/", 404),
        ("/openapi/v3/apis/none/v1", 404),
        ("/openapi/v3/apis/apps/v1", 406),
        ("/openapi/v2", 406),
    ] {
        let answer = client.get(path).await;
        assert_eq!(answer.code, code, "{path}");
        assert!(answer.bytes.is_empty(), "{path}");
        assert_eq!(answer.header("content-type"), "", "{path}");
    }
    let index = client.get("/openapi/v3").await;
    assert_eq!(index.code, 200);
    server.shutdown().await;
}

#[tokio::test]
async fn the_old_document_has_custom_resources_while_they_are_defined() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let before = client.get("/openapi/v2").await;
    assert_eq!(before.json()["definitions"][GADGET], Value::Null);
    assert_eq!(client.post(DEFINITIONS, &definition()).await.code, 201);
    until(&mut client, DOCUMENT, 200).await;
    let document = client.get("/openapi/v2").await.json();
    let gadget = &document["definitions"][GADGET];
    assert_eq!(gadget["description"], "A gadget.");
    let size = &gadget["properties"]["spec"]["properties"]["size"];
    assert_eq!(size["type"], "integer");
    let meta = "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    assert_eq!(gadget["properties"]["metadata"]["$ref"], meta);
    let kind = &gadget["x-kubernetes-group-version-kind"][0]["kind"];
    assert_eq!(kind, "Gadget");
    let items = &document["definitions"][format!("{GADGET}List")]["properties"]["items"]["items"];
    assert_eq!(items["$ref"], format!("#/definitions/{GADGET}"));
    check_selectable_fields(&document["definitions"]);
    let path = format!("{DEFINITIONS}/gadgets.shop.example.com");
    assert_eq!(client.delete(&path).await.code, 200);
    until(&mut client, DOCUMENT, 404).await;
    let after = client.get("/openapi/v2").await;
    assert_eq!(after.bytes, before.bytes);
    server.shutdown().await;
}
