//! Media types of responses: tables, metadata only, and the related headers.

use crate::client::{Client, silent_server};
use http::Version;
use kubist_apiserver::RunningServer;
use serde_json::{Value, json};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DAEMON_SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PARTIAL: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const PARTIAL_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

async fn accepting(server: &RunningServer, accept: &str) -> Client {
    let client = Client::in_memory(server, Version::HTTP_2).await;
    client.header("accept", accept)
}

#[tokio::test]
async fn a_wrong_option_of_tables_is_reported_where_there_is_something_to_show() {
    let server = silent_server().await;
    let mut client = accepting(&server, TABLE).await;
    let wrong = "?includeObject=x";
    let missing = client.get(&format!("{CONFIG_MAPS}/none{wrong}")).await;
    assert_eq!(missing.code, 404);
    let list = client.get(&format!("{CONFIG_MAPS}{wrong}")).await;
    assert_eq!(list.code, 400);
    let watch = format!("{CONFIG_MAPS}{wrong}&watch=true&timeoutSeconds=1");
    assert_eq!(client.get(&watch).await.code, 400);
    let body = json!({"metadata": {"name": "m"}});
    let posted = client.post(&format!("{CONFIG_MAPS}{wrong}"), &body).await;
    assert_eq!(posted.code, 400);
    let said = posted.json()["message"].clone();
    let begins = "Unable to convert to Table as requested: includeObject: Invalid value: \"x\"";
    assert!(
        said.as_str().is_some_and(|it| it.starts_with(begins)),
        "{said}"
    );
    let made = client.get(&format!("{CONFIG_MAPS}/m")).await;
    assert_eq!(made.code, 404, "nothing was made");
    server.shutdown().await;
}

#[tokio::test]
async fn a_list_of_no_metadata_is_null() {
    let server = silent_server().await;
    let mut client = accepting(&server, PARTIAL_LIST).await;
    let none = client.get(CONFIG_MAPS).await.json();
    assert_eq!(none["kind"], "PartialObjectMetadataList");
    assert_eq!(none.get("items"), Some(&Value::Null));
    let body = json!({"metadata": {"name": "m"}});
    let mut writer = Client::in_memory(&server, Version::HTTP_2).await;
    assert_eq!(writer.post(CONFIG_MAPS, &body).await.code, 201);
    let one = client.get(CONFIG_MAPS).await.json();
    assert_eq!(one["items"][0]["metadata"]["name"], "m");
    server.shutdown().await;
}

#[tokio::test]
async fn an_empty_table_has_rows_if_its_resource_has_columns() {
    let server = silent_server().await;
    let mut client = accepting(&server, TABLE).await;
    for (path, rows) in [
        (CONFIG_MAPS, json!([])),
        ("/api/v1/namespaces/default/limitranges", Value::Null),
        (
            "/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities",
            Value::Null,
        ),
    ] {
        let table = client.get(path).await.json();
        assert_eq!(table["kind"], "Table");
        assert_eq!(table.get("rows"), Some(&rows), "{path}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn annotations_that_stand_for_fields_are_no_metadata() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let set = json!({
        "metadata": {"name": "d", "annotations": {"own": "1"}},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "main", "image": "a:1"}]},
            },
        },
    });
    let posted = client.post(DAEMON_SETS, &set).await.json();
    let all = &posted["metadata"]["annotations"];
    let both = json!({"deprecated.daemonset.template.generation": "1", "own": "1"});
    assert_eq!(*all, both);
    let one = format!("{DAEMON_SETS}/d");
    let own = json!({"own": "1"});
    let mut partial = accepting(&server, PARTIAL).await;
    assert_eq!(
        partial.get(&one).await.json()["metadata"]["annotations"],
        own
    );
    let watch = format!("{DAEMON_SETS}?watch=true&timeoutSeconds=1");
    let event: Value = partial.get(&watch).await.json();
    assert_eq!(event["object"]["metadata"]["annotations"], own);
    let mut list = accepting(&server, PARTIAL_LIST).await;
    let list = list.get(DAEMON_SETS).await.json();
    assert_eq!(list["items"][0]["metadata"]["annotations"], own);
    let mut table = accepting(&server, TABLE).await;
    let row = table.get(&one).await.json()["rows"][0]["object"].clone();
    assert_eq!(row["metadata"]["annotations"], own);
    let whole = table
        .get(&format!("{one}?includeObject=Object"))
        .await
        .json();
    assert_eq!(whole["rows"][0]["object"]["metadata"]["annotations"], both);
    let media = PARTIAL_LIST.replace("json", "vnd.kubernetes.protobuf");
    let mut binary = accepting(&server, &media).await;
    let bytes = binary.get(DAEMON_SETS).await.bytes;
    // Its owner is in the managed fields.
    let text = String::from_utf8_lossy(&bytes).replace("f:deprecated.daemonset", "");
    assert!(text.contains("own") && !text.contains("deprecated.daemonset"));
    server.shutdown().await;
}

#[tokio::test]
async fn who_finds_a_deprecated_kind_is_warned() {
    let server = silent_server().await;
    let endpoints = "/api/v1/namespaces/default/endpoints";
    for (accept, method, path, is_warned) in [
        ("application/json", "GET", endpoints.to_owned(), true),
        ("application/json", "GET", format!("{endpoints}/none"), true),
        (
            "application/json;as=Unknown",
            "GET",
            endpoints.to_owned(),
            true,
        ),
        ("application/*", "GET", endpoints.to_owned(), false),
        ("application/json", "PUT", endpoints.to_owned(), false),
        (
            "application/json",
            "GET",
            format!("{endpoints}/none/status"),
            false,
        ),
        (
            "application/json",
            "GET",
            "/api/v1/componentstatuses".to_owned(),
            true,
        ),
        (
            "application/json",
            "PUT",
            "/api/v1/componentstatuses".to_owned(),
            false,
        ),
    ] {
        let mut client = accepting(&server, accept).await;
        let answer = client.ask(method, &path, "", "").await;
        let warned = answer.header("warning").contains(" is deprecated in v1.");
        assert_eq!(warned, is_warned, "{accept} {method} {path}");
    }
    server.shutdown().await;
}
