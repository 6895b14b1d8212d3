//! The server.
#![expect(clippy::disallowed_methods, reason = "what a test spawns, it awaits")]

use kubist_client::{Client, Config as ClientConfig};
use kubist_diagnostics::{Diagnostics, DiagnosticsServer};
use kubist_transport::{Body, Config, Transport};
use std::net::{Ipv4Addr, SocketAddr};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn diagnostics_are_served_over_http_until_the_stop() {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = DiagnosticsServer::bind(Diagnostics::new(), address).await;
    let server = server.expect("a port");
    let url = format!("http://{}", server.address());
    let token = CancellationToken::new();
    let running = tokio::spawn(server.serve(token.clone()));
    let transport = Transport::new(Config::new(url.parse().expect("a URI"))).expect("valid");
    for (path, code, text) in [
        ("/readyz", 200, "ok"),
        ("/metrics", 200, "# EOF\n"),
        ("/nothing", 404, "there are /metrics"),
    ] {
        let request = http::Request::get(path)
            .body(Body::empty())
            .expect("a request");
        let response = transport.send(request).await.expect("an answer");
        assert_eq!(response.status(), code);
        let body = response.into_body().bytes(1 << 20).await.expect("text");
        assert!(body.starts_with(text.as_bytes()), "{path}");
    }
    token.cancel();

    let host = address_of(&url);
    let client = Client::new(transport, ClientConfig::default());
    let diagnostics = Diagnostics::new().with_client(&client);
    let request = http::Request::get("/metrics").body(()).expect("a request");
    let text = diagnostics.handle(&request).into_body();
    let text = String::from_utf8(text.to_vec()).expect("text");
    for line in [
        format!("rest_client_requests_total{{code=\"200\",host=\"{host}\",method=\"GET\"}} 2"),
        format!("rest_client_requests_total{{code=\"404\",host=\"{host}\",method=\"GET\"}} 1"),
        format!("rest_client_request_duration_seconds_count{{host=\"{host}\",verb=\"GET\"}} 3"),
        format!("rest_client_open_connections{{host=\"{host}\"}} 1.0"),
    ] {
        assert!(text.lines().any(|it| it == line), "no {line} in\n{text}");
    }
    running.await.expect("no panic");

    let taken = tokio::net::TcpListener::bind(address)
        .await
        .expect("a port");
    let address = taken.local_addr().expect("an address");
    let error = DiagnosticsServer::bind(Diagnostics::new(), address).await;
    let error = error.expect_err("it is taken").to_string();
    assert_eq!(error, format!("cannot listen on {address}"));
}

/// The host and port of a URL.
fn address_of(url: &str) -> &str {
    url.trim_start_matches("http://")
}
