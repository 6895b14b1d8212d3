//! Reviews: validation of their metadata, and responses.

use crate::client::{Client, silent_server};
use http::Version;
use serde_json::{Value, json};

const ACCESS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const TOKENS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// Metadata that only servers set.
fn system_fields() -> Value {
    json!({
        "uid": "u", "selfLink": "/a", "creationTimestamp": "2020-01-01T00:00:00Z",
        "deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 3,
    })
}

/// The metadata, without who set which fields.
fn own(answer: &Value) -> Value {
    let mut metadata = answer["metadata"].clone();
    let fields = metadata.as_object_mut().expect("it has metadata");
    assert!(fields.remove("managedFields").is_some());
    metadata
}

fn access(metadata: &Value) -> Value {
    let resource = json!({"verb": "get", "resource": "pods"});
    json!({"kind": "SelfSubjectAccessReview", "metadata": metadata,
        "spec": {"resourceAttributes": resource}})
}

#[tokio::test]
async fn what_only_servers_say_of_an_object_is_ignored_in_a_review() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let review = access(&system_fields());
    assert_eq!(client.post(ACCESS, &review).await.code, 201);
    let review = json!({"kind": "TokenReview", "metadata": system_fields(),
        "spec": {"token": "x"}});
    let answer = client.post(TOKENS, &review).await;
    assert_eq!((answer.code, own(&answer.json())), (201, json!({})));
    server.shutdown().await;
}

#[tokio::test]
async fn the_metadata_of_a_review_that_must_have_none_is_reported_in_its_order() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let owner = json!({"controller": true, "uid": "a"});
    let review = access(&json!({"ownerReferences": [owner, owner], "generateName": "<"}));
    let answer = client.post(ACCESS, &review).await;
    let answered = answer.json();
    let message = answered["message"].as_str().expect("it is text");
    let (before, after) = message
        .split_once(",\"managedFields\":[")
        .expect("it says who set it, as upstream");
    assert_eq!(
        before,
        ".authorization.k8s.io \"\" is invalid: metadata: Invalid value: {\"generateName\":\
         \"\\u003c\",\"ownerReferences\":[{\"apiVersion\":\"\",\"kind\":\"\",\"name\":\"\",\"uid\":\
         \"a\",\"controller\":true}]"
    );
    assert!(after.ends_with("]}: must be empty"), "{after}");
    let warning = answer.header("warning");
    assert!(
        warning.contains("duplicate UID(s) observed: a"),
        "{warning}"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_question_who_one_is_is_answered_with_nothing_of_what_was_sent() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let review = json!({"kind": "SelfSubjectReview",
        "metadata": {"name": "a", "labels": {"a": "b"}, "generation": 7}});
    let metadata = client.post(SELF, &review).await.json()["metadata"].clone();
    let fields: Vec<&String> = metadata
        .as_object()
        .into_iter()
        .flat_map(|it| it.keys())
        .collect();
    assert_eq!(fields, ["creationTimestamp"]);
    server.shutdown().await;
}

#[tokio::test]
async fn a_review_may_be_answered_with_its_metadata_alone_and_never_as_a_table() {
    let server = silent_server().await;
    let review = json!({"kind": "TokenReview", "metadata": {"name": "a"}, "spec": {"token": "x"}});
    for (form, code, kind) in [
        ("PartialObjectMetadata", 201, "PartialObjectMetadata"),
        ("PartialObjectMetadataList", 406, "Status"),
        ("Table", 406, "Status"),
    ] {
        let accept = format!("application/json;as={form};v=v1;g=meta.k8s.io");
        let client = Client::in_memory(&server, Version::HTTP_2).await;
        let answer = client.header("accept", &accept).post(TOKENS, &review).await;
        assert_eq!(answer.code, code, "{form}");
        assert_eq!(answer.json()["kind"], kind);
        if code == 201 {
            assert_eq!(own(&answer.json()), json!({"name": "a"}));
        }
    }
    server.shutdown().await;
}
