//! Failure responses, and responses that cannot be read.

use crate::server::{Reply, Server};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{Wire, WireError};
use kubist_apimachinery::{GroupResource, Retry, Status, StatusReason, with_causes};
use kubist_client::{AnswerError, Api, ApiError};
use kubist_codec::envelope;
use std::error::Error as _;
use std::time::Duration;

type Test = fn(&ApiError) -> bool;

async fn get(reply: Reply) -> ApiError {
    let server = Server::new([reply]);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    pods.get("web").await.unwrap_err()
}

#[tokio::test]
async fn a_status_says_what_it_is() {
    let pods = GroupResource::new("", "pods");
    let error = get(Reply::status(&Status::not_found(&pods, "web"))).await;
    assert!(error.is_not_found() && !error.is_conflict());
    assert_eq!(error.to_string(), "pods \"web\" not found");
    assert_eq!(error.retry(), Retry::Never);

    let cases: [(i32, StatusReason, Test); 8] = [
        (409, StatusReason::Conflict, ApiError::is_conflict),
        (
            409,
            StatusReason::AlreadyExists,
            ApiError::is_already_exists,
        ),
        (410, StatusReason::Expired, ApiError::is_expired),
        (410, StatusReason::Gone, ApiError::is_gone),
        (422, StatusReason::Invalid, ApiError::is_invalid),
        (403, StatusReason::Forbidden, ApiError::is_forbidden),
        (401, StatusReason::Unauthorized, ApiError::is_unauthorized),
        (400, StatusReason::BadRequest, ApiError::is_bad_request),
    ];
    for (code, reason, test) in cases {
        let status = Status::failure(code, reason, "words");
        let error = get(Reply::status(&status)).await;
        assert!(test(&error), "{error:?}");
        assert_eq!(error.status(), Some(&status));
        let enveloped = envelope::encode(&status);
        let reply = Reply::protobuf(enveloped).code(u16::try_from(code).unwrap());
        assert!(test(&get(reply).await), "in protobuf too");
    }
}

#[tokio::test]
async fn a_failure_counts_even_with_a_good_code() {
    let status = Status::failure(404, StatusReason::NotFound, "words");
    assert!(get(Reply::status(&status).code(200)).await.is_not_found());
}

#[tokio::test]
async fn answers_of_proxies_become_a_fitting_status() {
    let error = get(Reply::new(404, "text/html", "<h1>no</h1>")).await;
    assert!(error.is_not_found());
    assert_eq!(
        error.to_string(),
        "the server could not find the requested resource (get pods web)"
    );
    let causes = error.status().unwrap().causes();
    assert_eq!(causes[0].message, "<h1>no</h1>");

    let long = "x".repeat(5000);
    let error = get(Reply::new(502, "text/plain", long)).await;
    assert_eq!(error.status().unwrap().causes()[0].message.len(), 2048);
    assert_eq!(error.retry(), Retry::Backoff);
    let error = get(Reply::new(302, "text/plain", "")).await;
    assert_eq!(error.status().unwrap().code, 302);
}

#[tokio::test]
async fn a_pause_in_the_header_is_known() {
    let status = Status::failure(429, StatusReason::TooManyRequests, "slow down");
    // Longer than the client waits by itself.
    let error = get(Reply::status(&status).header("retry-after", "3600")).await;
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
    assert_eq!(error.retry(), Retry::After(Duration::from_secs(3600)));
}

fn cause(error: &ApiError) -> &AnswerError {
    match error {
        ApiError::Answer { source, request } => {
            assert_eq!(*request, "GET /api/v1/namespaces/shop/pods/web");
            source
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_named_by_place_and_cause() {
    let error = get(Reply::json(r#"{"spec":{"containers":[{"name":1}]}}"#)).await;
    let text = error.to_string();
    let what = "the answer to GET /api/v1/namespaces/shop/pods/web cannot be read: \
                the object is broken: spec.containers[0].name: ";
    assert!(text.starts_with(what), "{text}");
    assert_eq!(text, with_causes(&error), "each part once");
    let AnswerError::Object(wire) = cause(&error) else {
        panic!("{error:?}")
    };
    assert_eq!(wire.path, "spec.containers[0].name");
    let deepest = error.source().and_then(|it| it.source()).unwrap();
    assert!(
        deepest.to_string().starts_with("spec.containers[0].name: "),
        "{deepest}"
    );

    let mut bytes = envelope::wrap("v1", "Pod", b"\x0a\x7f");
    let error = get(Reply::protobuf(bytes.clone())).await;
    assert!(matches!(
        cause(&error),
        AnswerError::Object(WireError { .. })
    ));
    bytes.truncate(7);
    let error = get(Reply::protobuf(bytes)).await;
    assert!(matches!(cause(&error), AnswerError::Envelope(_)));
    let error = get(Reply::protobuf("{}")).await;
    assert!(matches!(cause(&error), AnswerError::Envelope(_)));
    let error = get(Reply::json("{")).await;
    assert!(matches!(cause(&error), AnswerError::Object(_)));
    assert_eq!(error.retry(), Retry::Never);
}

#[tokio::test]
async fn another_kind_of_body_is_named() {
    let error = get(Reply::json("")).await;
    assert_eq!(cause(&error), &AnswerError::Empty);
    let error = get(Reply::new(200, "text/html", "<h1>hi</h1>")).await;
    assert_eq!(
        cause(&error),
        &AnswerError::ContentType {
            found: "text/html".into()
        }
    );
    let other = AnswerError::Kind {
        expected: "Pod".into(),
        found: "Table".into(),
    };
    let error = get(Reply::json(
        r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1"}"#,
    ))
    .await;
    assert_eq!(cause(&error), &other);
    let error = get(Reply::protobuf(envelope::wrap(
        "meta.k8s.io/v1",
        "Table",
        b"",
    )))
    .await;
    assert_eq!(cause(&error), &other);
}

#[tokio::test]
async fn an_answer_that_is_cut_is_an_error_of_the_transport() {
    let pod = Pod::default().to_json();
    let error = get(Reply::json(pod).header("content-length", "5000").then_cut()).await;
    assert!(matches!(error, ApiError::Transport { .. }), "{error:?}");
    assert_eq!(error.retry(), Retry::Backoff);
    let text = error.to_string();
    let what = "GET /api/v1/namespaces/shop/pods/web got no answer: the connection was closed";
    assert!(text.starts_with(what), "{text}");
}

#[tokio::test]
async fn names_that_are_paths_are_not_sent() {
    let server = Server::new([]);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    for name in ["", "..", "a/b", "%2e%2e"] {
        let error = pods.get(name).await.unwrap_err();
        assert!(matches!(error, ApiError::Request(_)), "{error:?}");
        assert_eq!(error.retry(), Retry::Never);
    }
    assert!(server.lines().is_empty());
}
