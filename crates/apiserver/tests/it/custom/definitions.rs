//! Definitions: their effect on discovery and responses, their errors, and their deletion.

use super::{DEFINITIONS, WIDGETS, defined, defined_as, definition, widget};
use crate::client::{Client, silent_server};
use http::Version;
use serde_json::{Value, json};
use std::time::Duration;

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
async fn a_deprecated_version_warns_its_users() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut old = definition();
    old["spec"]["versions"][0]["deprecated"] = json!(true);
    old["spec"]["versions"][0]["deprecationWarning"] = json!("use gadgets");
    defined_as(&mut client, &old).await;
    let listed = client.get(WIDGETS).await;
    assert_eq!(listed.header("warning"), "299 - \"use gadgets\"");
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
async fn a_table_says_of_a_column_what_its_definition_says_or_where_it_is_from() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut said = definition();
    let columns = &mut said["spec"]["versions"][0]["additionalPrinterColumns"];
    columns[0]["description"] = json!("how large it is");
    let plain = json!({"name": "Plain", "type": "string", "jsonPath": ".spec.plain"});
    columns.as_array_mut().expect("it is a list").push(plain);
    defined_as(&mut client, &said).await;
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

/// What the server counts for a resource ends with its definition, and with the last request that
/// counts there.
#[tokio::test(start_paused = true)]
async fn the_metrics_of_a_resource_end_with_its_definition() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    for _ in 0..2 {
        defined(&mut client).await;
        let created = client.post(WIDGETS, &widget("one")).await;
        assert_eq!(created.code, 201);
        let counted = async |client: &mut Client| {
            let scraped = client.get("/metrics").await;
            let text = String::from_utf8(scraped.bytes.to_vec()).expect("it is text");
            let lines = text.lines().filter(|line| line.contains("\"widgets\""));
            (lines.count(), text.lines().count())
        };
        let (of_widgets, all) = counted(&mut client).await;
        assert!(of_widgets > 20 && all > of_widgets, "{of_widgets} of {all}");
        let name = format!("{DEFINITIONS}/widgets.example.com");
        assert_eq!(client.delete(&name).await.code, 200);
        while client.get(&name).await.code != 404 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        tokio::time::sleep(Duration::from_secs(31)).await;
        assert_eq!(counted(&mut client).await.0, 0);
    }
    server.shutdown().await;
}
