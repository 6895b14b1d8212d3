//! Lists: whole, in pages, split anywhere, with invalid items.

use crate::server::{Reply, Server, list, protobuf_list};
use futures_util::StreamExt as _;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{Encoding, Wire};
use kubist_apimachinery::{ListOptions, Status};
use kubist_cache::Encoded;
use kubist_client::{AnswerError, Api, ApiError};

fn pod(name: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.labels.insert("app".into(), "é\"{".into());
    pod
}

fn encoded(name: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Protobuf => pod(name).to_protobuf(),
        _ => pod(name).to_json(),
    }
}

fn reply(encoding: Encoding, body: Vec<u8>) -> Reply {
    match encoding {
        Encoding::Protobuf => Reply::protobuf(body),
        _ => Reply::json(body),
    }
}

fn pods(server: &Server) -> Api<Pod> {
    Api::namespaced(server.client(), "shop")
}

#[tokio::test]
async fn a_list_is_read_however_it_is_cut() {
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        let items = ["a", "b", "c"].map(|name| encoded(name, encoding));
        let body = list::<Pod>(encoding, "more", &items);
        for size in [1, 2, 3, 7, 64, body.len()] {
            let server = Server::new([reply(encoding, body.clone()).split(size)]);
            let found = pods(&server).list(&ListOptions::default()).await.unwrap();
            assert_eq!(found.items, ["a", "b", "c"].map(pod));
            assert_eq!(found.metadata.resource_version, "77");
            assert_eq!(found.metadata.continue_, "more");
        }
    }
}

#[tokio::test]
async fn options_become_the_query() {
    let server = Server::new([Reply::protobuf(protobuf_list::<Pod>(&[[]; 0]))]);
    let options = ListOptions {
        label_selector: "app in (a,b),!c".parse().unwrap(),
        field_selector: "spec.nodeName=n".parse().unwrap(),
        limit: 5,
        resource_version: "0".into(),
        watch: true,
        ..ListOptions::default()
    };
    assert!(pods(&server).list(&options).await.unwrap().items.is_empty());
    assert_eq!(
        server.lines(),
        [
            "GET /api/v1/namespaces/shop/pods?labelSelector=app%20in%20(a,b),!c\
          &fieldSelector=spec.nodeName%3Dn&resourceVersion=0&limit=5"
        ]
    );
}

#[tokio::test]
async fn one_bad_item_makes_a_whole_list_an_error_that_names_it() {
    let items = [
        encoded("a", Encoding::Json),
        br#"{"metadata":{"name":"b"},"spec":1}"#.to_vec(),
    ];
    let body = list::<Pod>(Encoding::Json, "", &items);
    let server = Server::new([Reply::json(body)]);
    let error = pods(&server)
        .list(&ListOptions::default())
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("item 1 of the list (b) is broken: spec: "),
        "{text}"
    );
    let ApiError::Answer { request, source } = error else {
        panic!("{error:?}")
    };
    assert_eq!(request, "GET /api/v1/namespaces/shop/pods");
    assert_eq!(source.to_string(), "item 1 of the list (b) is broken");
    let AnswerError::Item { source, .. } = *source else {
        panic!("{source:?}")
    };
    assert_eq!(source.path, "spec");
}

#[tokio::test]
async fn all_pages_are_walked_and_a_bad_item_is_skipped() {
    let bad = br#"{"metadata":{"name":"bad"},"spec":[]}"#.to_vec();
    let page = |token, items: &[Vec<u8>]| Reply::json(list::<Pod>(Encoding::Json, token, items));
    let json = |name| encoded(name, Encoding::Json);
    let server = Server::new([
        page("t 1", &[json("a"), json("b")]),
        page("t2", &[bad, json("c")]),
        page("", &[json("d")]),
    ]);
    let options = ListOptions {
        limit: 2,
        resource_version: "5".into(),
        resource_version_match: "NotOlderThan".into(),
        ..ListOptions::default()
    };
    let found: Vec<_> = pods(&server).list_all(&options).collect().await;
    let names: Vec<_> = found
        .iter()
        .map(|it| match it {
            Ok(pod) => pod.metadata.name.to_string(),
            Err(ApiError::Answer { source, .. }) => source.to_string(),
            Err(other) => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        names,
        ["a", "b", "item 0 of the list (bad) is broken", "c", "d"]
    );
    let path = "GET /api/v1/namespaces/shop/pods";
    assert_eq!(
        server.lines(),
        [
            format!("{path}?resourceVersion=5&resourceVersionMatch=NotOlderThan&limit=2"),
            format!("{path}?limit=2&continue=t%201"),
            format!("{path}?limit=2&continue=t2"),
        ]
    );
}

#[tokio::test]
async fn a_page_that_is_gone_ends_the_walk() {
    let page = list::<Pod>(Encoding::Json, "t", &[encoded("a", Encoding::Json)]);
    let expired = Status::continue_expired("new");
    let server = Server::new([Reply::json(page), Reply::status(&expired)]);
    let found: Vec<_> = pods(&server)
        .list_all(&ListOptions::default())
        .collect()
        .await;
    assert_eq!(found.len(), 2);
    assert!(found[1].as_ref().unwrap_err().is_expired());
    assert!(server.lines()[0].ends_with("?limit=500"));
}

#[tokio::test]
async fn a_body_that_is_not_a_list_is_an_error() {
    let cut = protobuf_list::<Pod>(&[encoded("a", Encoding::Protobuf)]);
    for reply in [
        Reply::json("{"),
        Reply::json("<html>"),
        Reply::json(r#"{"kind":"Table","items":[]}"#),
        Reply::json(r#"{"kind":"PodList","items":[{"metadata":{"name":"a"}},"#),
        Reply::json(Status::success().to_json()),
        Reply::protobuf("k8s"),
        Reply::protobuf(cut[..cut.len() - 9].to_vec()),
        Reply::new(200, "text/html", "hi"),
    ] {
        let server = Server::new([reply.clone()]);
        let error = pods(&server)
            .list(&ListOptions::default())
            .await
            .unwrap_err();
        assert!(
            matches!(error, ApiError::Answer { .. }),
            "{reply:?}: {error:?}"
        );
    }
    let body = list::<Pod>(Encoding::Json, "", &[encoded("a", Encoding::Json)]);
    let reply = Reply::json(body)
        .header("content-length", "9999")
        .then_cut();
    let error = pods(&Server::new([reply]))
        .list(&ListOptions::default())
        .await
        .unwrap_err();
    assert!(matches!(error, ApiError::Transport { .. }), "{error:?}");
}

#[tokio::test]
async fn encoded_objects_are_not_decoded_by_a_list() {
    let items = ["a", "b"].map(|name| encoded(name, Encoding::Protobuf));
    let server = Server::new([Reply::protobuf(protobuf_list::<Pod>(&items)).split(11)]);
    let pods: Api<Encoded<Pod>> = Api::namespaced(server.client(), "shop");
    let found = pods.list(&ListOptions::default()).await.unwrap();
    assert_eq!(found.items[1].bytes(), items[1]);
    assert_eq!(*found.items[1].decode().unwrap(), pod("b"));
}
