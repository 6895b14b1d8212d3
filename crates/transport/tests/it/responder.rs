//! A service in place of a server.

use crate::server::get;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;
use kubist_transport::{Auth, Body, Config, Transport, TransportError};
use std::io;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const LIMIT: usize = 1024;

fn config() -> Config {
    let mut config = Config::new("http://in-process/prefix".parse().unwrap());
    config.auth = Auth::Bearer("secret".into());
    config
}

#[tokio::test]
async fn a_service_is_asked_with_what_the_configuration_adds() {
    let service = tower::service_fn(|request: Request<Body>| async move {
        let authorization = request.headers()["authorization"].to_str().unwrap();
        let text = format!("{} {authorization}", request.uri().path());
        Ok::<_, io::Error>(Response::new(Body::from(text)))
    });
    let transport = Transport::with_service(config(), service).unwrap();
    let answer = transport.send(get("/api")).await.unwrap().into_body();
    let text = answer.bytes(LIMIT).await.unwrap();
    assert_eq!(text, "/prefix/api Bearer secret");
    assert_eq!(transport.stats().requests, 1);
}

#[tokio::test]
async fn the_body_of_a_service_streams_and_its_gzip_is_decoded() {
    let service = tower::service_fn(|request: Request<Body>| async move {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(b"a long answer").unwrap();
        let packed = gzip.finish().unwrap();
        let (encoding, chunks) = match request.uri().path() {
            "/prefix/gzip" => ("gzip", vec![packed]),
            _ => ("identity", vec![b"one ".to_vec(), b"two".to_vec()]),
        };
        let frames = chunks
            .into_iter()
            .map(|chunk| Ok(Frame::data(Bytes::from(chunk))));
        let body = StreamBody::new(futures_util::stream::iter(frames));
        let response: Response<StreamBody<_>> = Response::builder()
            .header("content-encoding", encoding)
            .body(body)
            .unwrap();
        Ok::<_, io::Error>(response.map(checked))
    });
    let transport = Transport::with_service(config(), service).unwrap();
    let gzip = transport.send(get("/gzip")).await.unwrap().into_body();
    assert_eq!(gzip.bytes(LIMIT).await.unwrap(), "a long answer");
    let mut plain = transport.send(get("/plain")).await.unwrap().into_body();
    assert_eq!(plain.chunk().await.unwrap().unwrap(), "one ");
    assert_eq!(plain.chunk().await.unwrap().unwrap(), "two");
    assert!(plain.chunk().await.unwrap().is_none());
}

/// Maps the errors of a body.
fn checked<B: http_body::Body<Data = Bytes, Error = io::Error>>(body: B) -> B {
    body
}

#[tokio::test]
async fn an_error_of_the_service_is_the_requests_and_upgrades_are_refused() {
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let service = tower::service_fn(move |request: Request<Body>| {
        count.fetch_add(1, Ordering::Relaxed);
        async move {
            match request.uri().path() {
                "/prefix/denied" => Ok(Response::builder()
                    .status(StatusCode::UNAUTHORIZED)
                    .body(Body::empty())
                    .unwrap()),
                _ => Err(io::Error::other("it broke")),
            }
        }
    });
    let transport = Transport::with_service(config(), service).unwrap();
    let error = transport.send(get("/api")).await.unwrap_err();
    let TransportError::Http(cause) = &error else {
        panic!("{error:?}");
    };
    assert_eq!(cause.to_string(), "it broke");
    assert_eq!(asked.load(Ordering::Relaxed), 1, "nothing is repeated");
    let denied = transport.send(get("/denied")).await.unwrap();
    assert_eq!(denied.status(), StatusCode::UNAUTHORIZED);
    let refused = transport.upgrade(get("/exec")).await.unwrap_err();
    assert!(matches!(refused, TransportError::Request(_)), "{refused:?}");
}
