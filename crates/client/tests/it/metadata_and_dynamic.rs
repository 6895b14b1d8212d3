//! Kinds known only at run time, and metadata-only objects.

use crate::server::{Reply, Server};
use futures_util::StreamExt as _;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{ApiResource, ListOptions, Object, Unstructured};
use kubist_cache::{Metadata, WatchItem};
use kubist_client::{Api, Patch};
use serde_json::json;

fn figs() -> ApiResource {
    ApiResource {
        group: "example.com".into(),
        version: "v1".into(),
        kind: "Fig".into(),
        plural: "figs".into(),
        singular: "fig".into(),
        namespaced: true,
    }
}

const FIG: &str = r#"{"apiVersion":"example.com/v1","kind":"Fig","metadata":
    {"name":"f","namespace":"n"},"spec":{"size":1}}"#;

#[tokio::test]
async fn dynamic_objects_have_all_verbs_in_json() {
    let list = format!(r#"{{"kind":"FigList","metadata":{{}},"items":[{FIG}]}}"#);
    let server =
        Server::new([FIG, FIG, FIG, &list].map(|body| Reply::json(body.as_bytes().to_vec())));
    let api: Api<Unstructured> = Api::dynamic_namespaced(server.client(), &figs(), "n");
    let mut fig = api.get("f").await.unwrap();
    fig.object["spec"]["size"] = 2.into();
    api.replace(&fig).await.unwrap();
    let patched = api
        .patch("f", &Patch::Merge(json!({"spec": null})))
        .await
        .unwrap();
    assert_eq!(patched.pointer("/spec/size").unwrap(), 1);
    assert_eq!(
        api.list(&ListOptions::default()).await.unwrap().items,
        [patched]
    );

    let path = "/apis/example.com/v1/namespaces/n/figs";
    assert_eq!(
        server.lines(),
        [
            format!("GET {path}/f"),
            format!("PUT {path}/f"),
            format!("PATCH {path}/f"),
            format!("GET {path}"),
        ]
    );
    for asked in server.asked() {
        assert_eq!(asked.header("accept"), "application/json");
    }
    let sent: serde_json::Value = serde_json::from_slice(&server.asked()[1].body).unwrap();
    assert_eq!(sent["spec"]["size"], 2);
}

#[tokio::test]
async fn metadata_is_all_that_is_asked_for() {
    let partial = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",
        "metadata":{"name":"web","labels":{"a":"b"}}}"#;
    let list =
        format!(r#"{{"kind":"PartialObjectMetadataList","metadata":{{}},"items":[{partial}]}}"#);
    let event = format!(r#"{{"type":"ADDED","object":{partial}}}"#);
    let server = Server::new([partial.to_owned(), list, event].map(Reply::json));
    let api: Api<Metadata<Pod>> = Api::namespaced(server.client(), "shop");
    assert_eq!(api.get("web").await.unwrap().labels().get("a"), Some("b"));
    assert_eq!(
        api.list(&ListOptions::default()).await.unwrap().items[0].name(),
        "web"
    );
    let events: Vec<_> = api
        .watch(&ListOptions::default())
        .await
        .unwrap()
        .collect()
        .await;
    assert!(matches!(&events[..], [Ok(WatchItem::Added(it))] if it.name() == "web"));

    let accept = |kind: &str| {
        let suffix = format!("as={kind};g=meta.k8s.io;v=v1");
        format!(
            "application/vnd.kubernetes.protobuf;{suffix},application/json;{suffix},\
             application/json"
        )
    };
    let asked: Vec<_> = server
        .asked()
        .iter()
        .map(|it| it.header("accept").to_owned())
        .collect();
    let (one, many) = (
        accept("PartialObjectMetadata"),
        accept("PartialObjectMetadataList"),
    );
    assert_eq!(asked, [one.clone(), many, one]);
}

#[tokio::test]
async fn metadata_of_any_kind_comes_from_partial_or_whole_objects() {
    let server = Server::new([Reply::json(FIG)]);
    let api: Api<Metadata<()>> = Api::dynamic(server.client(), &figs());
    assert_eq!(
        api.in_namespace("n").get("f").await.unwrap().metadata.name,
        "f"
    );
    assert!(
        server.asked()[0]
            .header("accept")
            .contains("as=PartialObjectMetadata;")
    );
}

#[tokio::test]
async fn a_new_dynamic_object_goes_into_its_own_namespace() {
    let server = Server::new([Reply::json(FIG)]);
    let api: Api<Unstructured> = Api::dynamic(server.client(), &figs());
    let mut fig = Unstructured::new(&figs(), "f");
    fig.set_metadata("namespace", "n");
    api.create(&fig).await.unwrap();
    assert_eq!(
        server.lines(),
        ["POST /apis/example.com/v1/namespaces/n/figs"]
    );
    assert_eq!(server.asked()[0].header("content-type"), "application/json");
}
