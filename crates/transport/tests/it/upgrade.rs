//! Connection upgrades.

use crate::server::{Server, fetch, get, text};
use http::Request;
use kubist_transport::{Body, Endpoint, HttpVersion, Transport, Upgrade};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn upgrade_request() -> Request<Body> {
    Request::get("/exec")
        .header("connection", "Upgrade")
        .header("upgrade", "echo")
        .body(Body::empty())
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_upgraded_connection_belongs_to_the_caller() {
    let tasks = std::sync::Arc::new(parking_lot::Mutex::new(tokio::task::JoinSet::new()));
    let connect = move |_: Endpoint| {
        let (client, mut server) = tokio::io::duplex(1 << 16);
        tasks.lock().spawn(async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(server.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            assert!(head.starts_with("GET /exec HTTP/1.1\r\n"), "{head}");
            let answer = b"HTTP/1.1 101 Switching Protocols\r\n\
                connection: upgrade\r\nupgrade: echo\r\n\r\nhello";
            server.write_all(answer).await.unwrap();
            let mut line = [0; 4];
            server.read_exact(&mut line).await.unwrap();
            server.write_all(&line).await.unwrap();
        });
        async move { std::io::Result::Ok(client) }
    };
    let config = Server::http1(|_| text("")).config();
    let transport = Transport::with_connector(config, connect).unwrap();
    let Upgrade::Switched { response, mut io } =
        transport.upgrade(upgrade_request()).await.unwrap()
    else {
        panic!("the server switched");
    };
    assert_eq!(response.headers()["upgrade"], "echo");
    io.write_all(b"ping").await.unwrap();
    let mut answer = String::new();
    io.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "helloping");
}

#[tokio::test(start_paused = true)]
async fn a_refused_upgrade_has_its_answer() {
    let server = Server::http1(|_| crate::server::status(403, "no"));
    let Upgrade::Refused(response) = server.transport().upgrade(upgrade_request()).await.unwrap()
    else {
        panic!("the server refused");
    };
    assert_eq!(response.status(), 403);
    assert_eq!(response.into_body().bytes(100).await.unwrap(), "no");
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_does_not_go_over_http2() {
    let server = Server::http1(|_| text("refused"));
    let mut config = server.config();
    config.http_version = HttpVersion::Auto;
    let transport = server.transport_with(config);
    assert!(matches!(
        transport.upgrade(upgrade_request()).await.unwrap(),
        Upgrade::Refused(_)
    ));
    assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "refused");
}
