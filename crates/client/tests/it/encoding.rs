//! Objects that cannot be encoded: each verb returns an error and sends nothing.

use crate::server::{Reply, Server};
use bytes::Bytes;
use kubist_api::apps::v1::{ControllerRevision, Deployment};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{
    DecodeContext, Encode, EncodeError, Encoding, Ingest, RawExtension, Wire as _, WireError,
};
use kubist_apimachinery::{
    KeyValues, Object, Owners, PatchOptions, PostOptions, Status, StatusReason,
};
use kubist_client::{Api, ApiError, Config, Patch, RequestError};
use serde_json::json;
use std::collections::BTreeMap;

/// A custom Pod type with a map that JSON cannot express.
#[derive(Debug)]
struct Odd {
    pod: Pod,
    ports: BTreeMap<(u16, u16), u16>,
}

impl Object for Odd {
    fn name(&self) -> &str {
        self.pod.name()
    }
    fn namespace(&self) -> &str {
        self.pod.namespace()
    }
    fn uid(&self) -> &str {
        self.pod.uid()
    }
    fn resource_version(&self) -> &str {
        self.pod.resource_version()
    }
    fn labels(&self) -> KeyValues<'_> {
        self.pod.labels()
    }
    fn annotations(&self) -> KeyValues<'_> {
        self.pod.annotations()
    }
    fn owners(&self) -> Owners<'_> {
        self.pod.owners()
    }
    fn is_terminating(&self) -> bool {
        self.pod.is_terminating()
    }
}

impl Ingest for Odd {
    type Kind = Pod;

    fn ingest(bytes: Bytes, encoding: Encoding, cx: &mut DecodeContext) -> Result<Self, WireError> {
        let pod = Pod::ingest(bytes, encoding, cx)?;
        let ports = BTreeMap::new();
        Ok(Self { pod, ports })
    }
}

impl Encode for Odd {
    const PROTOBUF: bool = false;

    fn encode(&self, _: Encoding) -> Result<Vec<u8>, EncodeError> {
        let pod: serde_json::Value = serde_json::from_slice(&self.pod.to_json())?;
        Ok(serde_json::to_vec(&(pod, &self.ports))?)
    }
}

fn odd() -> Odd {
    let mut pod = Pod::default();
    pod.metadata.name = "web".into();
    let ports = [((80, 81), 8080)].into();
    Odd { pod, ports }
}

/// A built-in object with raw bytes that are not JSON.
fn revision() -> ControllerRevision {
    let mut revision = ControllerRevision::default();
    revision.metadata.name = "web".into();
    revision.data = RawExtension {
        raw: b"spec: yaml".to_vec().into(),
    };
    revision
}

fn is_encode<T>(verb: &str, result: Result<T, ApiError>, kind: &str, reason: &str) {
    match result {
        Err(ApiError::Request(RequestError::Encode {
            kind: found,
            source,
        })) => {
            assert_eq!(found, kind, "{verb}");
            assert!(source.reason.contains(reason), "{verb}: {source}");
        }
        Err(other) => panic!("{verb}: {other:?}"),
        Ok(_) => panic!("{verb}: it was sent"),
    }
}

#[tokio::test]
async fn an_object_that_cannot_be_encoded_is_an_error_of_each_verb_and_nothing_is_sent() {
    let server = Server::new([]);
    let api: Api<Odd> = Api::default_namespaced(server.client());
    let (odd, post, patch) = (
        odd(),
        PostOptions::default(),
        PatchOptions::managed_by("test"),
    );
    let (status, binding) = (api.status(), api.subresource::<Odd>("binding"));
    for (verb, result) in [
        ("create", api.create(&odd).await),
        ("create_with", api.create_with(&odd, &post).await),
        ("replace", api.replace(&odd).await),
        ("replace_with", api.replace_with(&odd, &post).await),
        ("replace_status", api.replace_status(&odd).await),
        ("apply", api.apply(&odd, &patch).await),
        ("status: replace", status.replace("web", &odd).await),
        (
            "status: replace_with",
            status.replace_with("web", &odd, &post).await,
        ),
        ("subresource: create", binding.create("web", &odd).await),
        ("subresource: replace", binding.replace("web", &odd).await),
    ] {
        is_encode(verb, result, "Pod", "key must be a string");
    }
    assert_eq!(server.lines(), [""; 0]);
}

#[tokio::test]
async fn raw_bytes_that_are_no_json_are_not_sent_as_null() {
    let server = Server::new([]);
    let client = server.client_with(Config {
        encoding: Encoding::Json,
        ..Config::default()
    });
    let api: Api<ControllerRevision> = Api::default_namespaced(client.clone());
    let (revision, patch) = (revision(), PatchOptions::managed_by("test"));
    for (verb, result) in [
        ("create", api.create(&revision).await),
        ("replace", api.replace(&revision).await),
        ("replace_status", api.replace_status(&revision).await),
        ("apply", api.apply(&revision, &patch).await),
    ] {
        let reason = "data holds bytes that are not JSON";
        is_encode(verb, result, "ControllerRevision", reason);
    }
    // What is posted is of another kind than what it is posted to.
    let deployments: Api<Deployment> = Api::default_namespaced(client);
    let rollback = deployments.subresource::<Deployment>("rollback");
    let submitted = rollback.submit("web", &revision).await;
    is_encode("submit", submitted, "ControllerRevision", "data holds");
    assert_eq!(server.lines(), [""; 0]);
}

#[tokio::test]
async fn what_only_protobuf_has_room_for_is_not_sent_in_json_to_a_server_without_it() {
    let refusal = Status::failure(415, StatusReason::UnsupportedMediaType, "JSON only");
    let server = Server::new([Reply::status(&refusal)]);
    let api: Api<ControllerRevision> = Api::default_namespaced(server.client());
    is_encode(
        "create",
        api.create(&revision()).await,
        "ControllerRevision",
        "data holds",
    );
    let asked = server.asked();
    let [asked] = &asked[..] else {
        panic!("{asked:?}")
    };
    assert_eq!(
        asked.header("content-type"),
        "application/vnd.kubernetes.protobuf"
    );
}

/// A patch is a JSON tree, which can always be encoded.
#[tokio::test]
async fn a_patch_has_an_encoded_form_whatever_the_kind_is() {
    let server = Server::new([Reply::object(&odd().pod)]);
    let api: Api<Odd> = Api::default_namespaced(server.client());
    let patch = Patch::Merge(json!({"metadata": {"labels": {"a": null}}}));
    api.patch("web", &patch).await.unwrap();
    assert_eq!(
        server.asked()[0].body,
        r#"{"metadata":{"labels":{"a":null}}}"#
    );
}
