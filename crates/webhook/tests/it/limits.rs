//! Bad requests, handlers that fail, and limits.

use crate::review::{of_pod, pod};
use bytes::Bytes;
use futures_util::future::join_all;
use http::{Method, Request};
use kubist_api::core::v1::Pod;
use kubist_webhook::{AdmissionRequest, Admitted, BODY_BYTES_MAX, Limits, Webhooks};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};

fn yes() -> Webhooks {
    Webhooks::new().validate("/v", |_: AdmissionRequest<Pod>| async {
        Ok(Admitted::new())
    })
}

fn create() -> Value {
    of_pod("CREATE", pod(), Value::Null)
}

async fn sent(method: Method, path: &str, media_type: &str, body: &[u8]) -> (u16, String) {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", media_type);
    let request = request
        .body(Bytes::copy_from_slice(body))
        .expect("a request");
    let response = yes().handle(request).await;
    let code = response.status().as_u16();
    let text = String::from_utf8_lossy(response.body()).trim().to_owned();
    (code, text)
}

const JSON: &str = "application/json; charset=utf-8";

#[tokio::test]
async fn what_is_no_review_is_refused_by_name() {
    let review = create().to_string();
    assert_eq!(
        sent(Method::POST, "/v", JSON, review.as_bytes()).await.0,
        200
    );
    assert_eq!(
        sent(Method::POST, "/x", JSON, review.as_bytes()).await.0,
        404
    );
    assert_eq!(sent(Method::GET, "/v", JSON, b"").await.0, 405);
    assert_eq!(sent(Method::POST, "/v", "text/plain", b"").await.0, 415);
    let large = vec![b' '; BODY_BYTES_MAX + 1];
    assert_eq!(sent(Method::POST, "/v", JSON, &large).await.0, 413);
    for (body, why) in [
        (&b"{"[..], "EOF while parsing"),
        (
            b"{}",
            "a AdmissionReview of admission.k8s.io/v1 is expected",
        ),
        (
            br#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}"#,
            "this is a \"AdmissionReview\" of \"admission.k8s.io/v1beta1\"",
        ),
        (
            br#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}"#,
            "the review has no request",
        ),
    ] {
        let (code, text) = sent(Method::POST, "/v", JSON, body).await;
        assert_eq!(code, 400);
        assert!(text.contains(why), "{text}");
    }
    let mut review = create();
    review["request"]["operation"] = "PATCH".into();
    let answer = yes().review("/v", &review).await;
    assert_eq!(
        answer["response"]["status"]["message"],
        "the operation \"PATCH\" is unknown"
    );
}

#[tokio::test]
async fn a_handler_that_panics_is_a_refusal() {
    #[expect(clippy::manual_assert, reason = "a panic is what is tested")]
    let webhooks = Webhooks::new().validate("/v", |request: AdmissionRequest<Pod>| async move {
        if request.dry_run {
            panic!("oh");
        }
        Ok(Admitted::new())
    });
    let answer = webhooks.review("/v", &create()).await;
    let status = &answer["response"]["status"];
    assert_eq!(answer["response"]["uid"], "u-1");
    assert_eq!(
        (&status["code"], &status["message"]),
        (&500.into(), &"the handler of the webhook panicked".into(),)
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_takes_too_long_is_a_refusal_before_the_api_server_gives_up() {
    let webhooks = Webhooks::new().validate("/v", |_: AdmissionRequest<Pod>| async {
        sleep(Duration::from_secs(3_600)).await;
        Ok(Admitted::new())
    });
    for (query, limit) in [
        ("", 10_000),
        ("?timeout=2s", 1_900),
        ("?timeout=30s", 10_000),
    ] {
        let request = Request::post(format!("/v{query}")).header("content-type", JSON);
        let request = request
            .body(Bytes::from(create().to_string()))
            .expect("a request");
        let begun = Instant::now();
        let response = webhooks.handle(request).await;
        let took = begun.elapsed();
        assert!(took.as_millis().abs_diff(limit) < 10, "{query}: {took:?}");
        let answer: Value = serde_json::from_slice(response.body()).expect("JSON");
        assert_eq!(answer["response"]["status"]["code"], 504);
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_reviews_are_in_work_than_allowed() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let webhooks = Webhooks::new()
        .limits(Limits {
            concurrent_reviews: 3,
            ..Limits::default()
        })
        .validate("/v", move |_: AdmissionRequest<Pod>| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&seen));
            async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                sleep(Duration::from_millis(100)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(Admitted::new())
            }
        });
    let review = create();
    let answers = join_all((0..30).map(|_| webhooks.review("/v", &review))).await;
    assert!(answers.iter().all(|it| it["response"]["allowed"] == true));
    assert_eq!(most.load(Ordering::SeqCst), 3);
}
