//! The transport as a service of requests with any body.

use crate::server::{Server, echo_header, get, text, watch};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Empty, Full};
use tower::Service as _;

#[tokio::test(start_paused = true)]
async fn any_body_is_sent_and_answers_stream() {
    let server = Server::http2(|request| match request.uri().path() {
        "/length" => echo_header(request, "content-length"),
        "/watch" => watch(),
        _ => text("answer"),
    });
    let transport = server.transport();
    let mut service = transport.service();
    let sent = Request::post("/length").body(Full::new(Bytes::from_static(b"12345")));
    let answer = service
        .call(sent.expect("a request"))
        .await
        .expect("it answers");
    let body = answer
        .into_body()
        .collect()
        .await
        .expect("it ends")
        .to_bytes();
    assert_eq!(body, "5");

    let empty = get("/watch").map(|_| Empty::<Bytes>::new());
    let mut watched = service.call(empty).await.expect("it answers").into_body();
    let first = watched.frame().await.expect("a frame").expect("no error");
    assert_eq!(first.into_data().expect("data"), "first\n");
    assert_eq!(server.opened(), 1, "the transport's own connection");
    assert_eq!(transport.stats().requests, 2);
}
