//! The server.
#![expect(clippy::disallowed_methods, reason = "what a test spawns, it awaits")]

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
    running.await.expect("no panic");

    let taken = tokio::net::TcpListener::bind(address)
        .await
        .expect("a port");
    let address = taken.local_addr().expect("an address");
    let error = DiagnosticsServer::bind(Diagnostics::new(), address).await;
    let error = error.expect_err("it is taken").to_string();
    assert_eq!(error, format!("cannot listen on {address}"));
}
