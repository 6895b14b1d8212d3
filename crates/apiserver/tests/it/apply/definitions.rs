//! Custom resources: their versions, and definitions that change under the managers.

use super::*;
use serde_json::json;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com";
const V1: &str = "/apis/example.com/v1/namespaces/default/gadgets/g";
const V2: &str = "/apis/example.com/v2/namespaces/default/gadgets/g";

/// Returns a definition with two versions of these properties of the spec.
fn definition(spec: &Value) -> Value {
    let version = |name: &str, storage: bool| {
        let spec = json!({"type": "object", "properties": spec});
        json!({
            "name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [version("v1", true), version("v2", false)],
        },
    })
}

fn map(map_type: &str) -> Value {
    json!({"map": {
        "type": "object", "additionalProperties": {"type": "string"},
        "x-kubernetes-map-type": map_type,
    }})
}

fn items(list: &Value) -> Value {
    let mut items = json!({"items": {
        "type": "array",
        "items": {
            "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
        },
    }});
    let members = list.as_object().expect("it is an object").clone();
    items["items"]
        .as_object_mut()
        .expect("it is one")
        .extend(members);
    items
}

fn gadget(version: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Gadget", "spec": spec})
}

impl Cluster {
    async fn define(&mut self, spec: &Value) {
        self.define_as(&definition(spec)).await;
    }

    async fn define_as(&mut self, definition: &Value) {
        self.create(DEFINITIONS, definition).await;
        for _ in 0..500 {
            if self.client.get("/apis/example.com/v2/gadgets").await.code == 200 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it is never served");
    }

    /// Changes the properties of the spec. The change is observed when an apply says so.
    async fn redefine(&mut self, spec: &Value) {
        let versions = definition(spec)["spec"]["versions"].clone();
        let patch = json!({"spec": {"versions": versions}});
        self.merge(DEFINITION, &patch).await;
    }

    /// Applies by force until the owners are as expected.
    async fn forced_until(&mut self, manager: &str, config: &Value, expected: &[&str]) -> Value {
        let path = format!("{V1}?fieldManager={manager}&force=true&dryRun=All");
        let mut found = Vec::new();
        for _ in 0..500 {
            let answer = self.ask("PATCH", &path, APPLY, config).await;
            found = owners(&answer.json());
            if found == expected {
                return self.force(V1, manager, config).await;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{found:?}");
    }
}

#[tokio::test]
async fn versions_without_conversion_share_the_names_of_their_fields() {
    let mut it = Cluster::new().await;
    it.define(&map("granular")).await;
    it.apply(
        V1,
        "m",
        &gadget("v1", &json!({"map": {"a": "1", "b": "1"}})),
    )
    .await;
    let patch = json!({"spec": {"map": {"b": "2"}}});
    let patched = it.merge(&format!("{V2}?fieldManager=u"), &patch).await;
    let expected = [
        "m Apply example.com/v1: spec{map{a}}",
        "u Update example.com/v2: spec{map{b}}",
    ];
    assert_eq!(owners(&patched), expected);
    let config = gadget("v2", &json!({"map": {"a": "1", "b": "3"}}));
    let refused = it.try_apply(V2, "m", &config).await.json();
    assert_eq!(
        refused["message"],
        "Apply failed with 1 conflict: conflict with \"u\" using example.com/v2: .spec.map.b"
    );
    let moved = it
        .apply(V2, "m", &gadget("v2", &json!({"map": {"c": "1"}})))
        .await;
    assert_eq!(moved["spec"]["map"], json!({"b": "2", "c": "1"}));
    assert_eq!(owners(&moved)[0], "m Apply example.com/v2: spec{map{c}}");
    it.shut_down().await;
}

#[tokio::test]
async fn owners_of_a_version_that_is_gone_stop_applies_and_are_dropped_by_updates() {
    let mut it = Cluster::new().await;
    let properties = map("granular");
    let mut both = definition(&properties);
    both["spec"]["versions"][0]["storage"] = false.into();
    both["spec"]["versions"][1]["storage"] = true.into();
    it.define_as(&both).await;
    it.apply(V1, "m", &gadget("v1", &json!({"map": {"a": "1"}})))
        .await;
    let patch = json!({"spec": {"versions": [both["spec"]["versions"][1]]}});
    it.merge(DEFINITION, &patch).await;
    for _ in 0..500 {
        if it.client.get(V1).await.code == 404 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let config = gadget("v2", &json!({"map": {"a": "1"}}));
    for manager in ["m", "n"] {
        let answer = it.try_apply(V2, manager, &config).await;
        let expected = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "request to convert CR to an invalid group/version: example.com/v1",
            "code": 500,
        });
        assert_eq!((answer.code, answer.json()), (500, expected), "{manager}");
    }
    let written = it.merge(V2, &json!({"spec": {"map": {"b": "1"}}})).await;
    assert_eq!(written["spec"]["map"], json!({"a": "1", "b": "1"}));
    assert_eq!(written["metadata"]["managedFields"], Value::Null);
    it.apply(V2, "m", &config).await;
    it.shut_down().await;
}

#[tokio::test]
async fn a_map_that_becomes_atomic_has_one_owner() {
    let mut it = Cluster::new().await;
    it.define(&map("granular")).await;
    let of = |members: Value| gadget("v1", &json!({"map": members}));
    it.apply(V1, "m", &of(json!({"a": "1"}))).await;
    let both = it.apply(V1, "n", &of(json!({"b": "1"}))).await;
    let expected = [
        "m Apply example.com/v1: spec{map{a}}",
        "n Apply example.com/v1: spec{map{b}}",
    ];
    assert_eq!(owners(&both), expected);
    it.redefine(&map("atomic")).await;
    let only = ["m Apply example.com/v1: spec{map}"];
    let forced = it.forced_until("m", &of(json!({"a": "1"})), &only).await;
    assert_eq!(forced["spec"]["map"], json!({"a": "1"}));
    it.redefine(&map("granular")).await;
    let split = [
        "m Apply example.com/v1: spec{map}",
        "o Apply example.com/v1: spec{map{c}}",
    ];
    let applied = it.forced_until("o", &of(json!({"c": "1"})), &split).await;
    assert_eq!(applied["spec"]["map"], json!({"a": "1", "c": "1"}));
    it.shut_down().await;
}

#[tokio::test]
async fn a_list_that_becomes_keyed_has_owners_for_its_new_items() {
    let mut it = Cluster::new().await;
    let atomic = items(&json!({"x-kubernetes-list-type": "atomic"}));
    it.define(&atomic).await;
    let of = |items: Value| gadget("v1", &json!({"items": items}));
    let config = of(json!([{"name": "a", "value": "1"}]));
    let applied = it.apply(V1, "m", &config).await;
    assert_eq!(owners(&applied), ["m Apply example.com/v1: spec{items}"]);
    let keyed = json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]});
    it.redefine(&items(&keyed)).await;
    let split = [
        "m Apply example.com/v1: spec{items}",
        r#"n Apply example.com/v1: spec{items{k:{"name":"b"}{. name}}}"#,
    ];
    let applied = it
        .forced_until("n", &of(json!([{"name": "b"}])), &split)
        .await;
    let expected = json!([{"name": "a", "value": "1"}, {"name": "b"}]);
    assert_eq!(applied["spec"]["items"], expected);
    it.redefine(&atomic).await;
    let only = ["n Apply example.com/v1: spec{items}"];
    it.forced_until("n", &of(json!([{"name": "c"}])), &only)
        .await;
    it.shut_down().await;
}

#[tokio::test]
async fn repeated_and_unnamed_items_are_refused_in_configurations_and_kept_in_objects() {
    let mut it = Cluster::new().await;
    let plain = items(&json!({"x-kubernetes-list-type": "atomic"}));
    it.define(&plain).await;
    let twice = json!([{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]);
    it.apply(V1, "m", &gadget("v1", &json!({"items": twice})))
        .await;
    let keyed = json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]});
    it.redefine(&items(&keyed)).await;
    let config = gadget("v1", &json!({"items": [{"name": "b"}]}));
    let expected = [
        "m Apply example.com/v1: spec{items}",
        r#"n Apply example.com/v1: spec{items{k:{"name":"b"}{. name}}}"#,
    ];
    let applied = it.forced_until("n", &config, &expected).await;
    assert_eq!(
        applied["spec"]["items"].as_array().map(Vec::len),
        Some(3),
        "{applied}"
    );
    for (items, text) in [
        (twice, "duplicate entries for key [name=\"a\"]"),
        (json!([{"value": "1"}]), "omits all key fields [\"name\"]"),
        (
            json!([null]),
            "associative list with keys may not have a null element",
        ),
        (
            json!([7]),
            "associative list with keys may not have non-map elements",
        ),
        (json!({}), ".spec.items: expected list"),
    ] {
        let config = gadget("v1", &json!({"items": items}));
        let refused = it.try_apply(V1, "n", &config).await;
        assert_eq!(refused.code, 500, "{config}: {}", refused.json());
        let message = refused.json()["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(message.contains(text), "{config}: {message}");
    }
    it.shut_down().await;
}

#[tokio::test]
async fn objects_of_every_depth_are_refused_or_can_be_read_and_deleted() {
    let mut it = Cluster::new().await;
    let properties = json!({
        "map": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "other": {"type": "string"},
    });
    it.define(&properties).await;
    let path = format!("{V1}?fieldManager=m");
    let gadgets = V1.trim_end_matches("/g");
    for depth in [10, 120, 121, 122, 123, 124, 125, 150, 190, 300, 100_000] {
        for (open, inner, close) in [("{\"a\": ", "1", "}"), ("[", "", "]")] {
            let value = open.repeat(depth) + inner + &close.repeat(depth);
            let body = format!(
                r#"{{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {{"name": "g"}},
                "spec": {{"map": {{"x": {value}}}}}}}"#
            );
            let client = &mut it.client;
            for written in [
                client.ask("PATCH", &path, APPLY, body.clone()).await,
                client.ask("POST", gadgets, JSON, body.clone()).await,
                client.ask("POST", gadgets, "application/yaml", body).await,
            ] {
                let code = written.code;
                assert!([201, 400, 409].contains(&code), "{depth}: {written:?}");
                if depth <= 120 {
                    assert!(code != 400, "{depth}: {written:?}");
                }
            }
            let got = client.get(V1).await.code;
            assert!(got == 200 || depth > 120, "{depth}: {got}");
            let patch = r#"{"spec": {"other": "x"}}"#;
            let patched = client.ask("PATCH", &path, MERGE, patch).await;
            assert_eq!(patched.code, got, "{depth}: {patched:?}");
            assert_eq!(client.get(gadgets).await.code, 200, "{depth}");
            assert_eq!(client.delete(V1).await.code, got, "{depth}");
        }
    }
    it.shut_down().await;
}

#[tokio::test]
async fn an_undeclared_field_of_an_object_does_not_stop_its_tracking() {
    let mut it = Cluster::new().await;
    it.define(&map("granular")).await;
    it.apply(V1, "m", &gadget("v1", &json!({"map": {"a": "1"}})))
        .await;
    let path = format!("{V1}?fieldManager=u");
    let patch = json!({"spec": {"undeclared": {"x": 1}, "map": {"b": "1"}}});
    let patched = it.merge(&path, &patch).await;
    let expected = [
        "m Apply example.com/v1: spec{map{a}}",
        "u Update example.com/v1: spec{map{b}}",
    ];
    assert_eq!(owners(&patched), expected);
    let applied = it
        .apply(V1, "m", &gadget("v1", &json!({"map": {"c": "1"}})))
        .await;
    assert_eq!(applied["spec"]["map"], json!({"b": "1", "c": "1"}));
    let undeclared = gadget("v1", &json!({"undeclared": 1}));
    let refused = it.try_apply(V1, "m", &undeclared).await;
    assert_eq!(refused.code, 500, "{}", refused.json());
    it.shut_down().await;
}

#[tokio::test]
async fn the_status_of_a_custom_object_has_owners_of_its_own() {
    let mut it = Cluster::new().await;
    let mut definition = definition(&map("granular"));
    let versions = definition["spec"]["versions"].as_array_mut();
    for version in versions.expect("it has some") {
        version["subresources"] = json!({"status": {}});
        version["schema"]["openAPIV3Schema"]["properties"]["status"] = json!({
            "type": "object", "properties": {"phase": {"type": "string"}},
        });
    }
    it.define_as(&definition).await;
    it.apply(V1, "m", &gadget("v1", &json!({"map": {"a": "1"}})))
        .await;
    let status = format!("{V1}/status");
    let config =
        |phase: Value| json!({"apiVersion": "example.com/v1", "kind": "Gadget", "status": phase});
    let applied = it
        .apply(&status, "ctl", &config(json!({"phase": "U"})))
        .await;
    let expected = [
        "ctl Apply example.com/v1/status: status{phase}",
        "m Apply example.com/v1: spec{map{a}}",
    ];
    assert_eq!(owners(&applied), expected);
    let refused = it
        .try_apply(&status, "ctl2", &config(json!({"phase": "V"})))
        .await;
    assert_eq!(refused.code, 409);
    assert_eq!(
        refused.json()["message"],
        "Apply failed with 1 conflict: conflict with \"ctl\" with subresource \"status\": \
         .status.phase"
    );
    let patch = json!({"status": {"phase": "W"}});
    let patched = it.merge(&format!("{status}?fieldManager=u"), &patch).await;
    let expected = [
        "m Apply example.com/v1: spec{map{a}}",
        "u Update example.com/v1/status: status{phase}",
    ];
    assert_eq!(owners(&patched), expected);
    it.shut_down().await;
}
