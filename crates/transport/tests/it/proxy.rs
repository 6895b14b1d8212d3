//! Tunnels through scripted proxies.

use crate::server::{Server, fetch, get, text};
use kubist_transport::{Endpoint, Proxy, ProxyError, Transport, TransportError};
use std::io;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

fn http_proxy(credentials: Option<(String, kubist_transport::Secret)>) -> Proxy {
    Proxy::Http {
        host: "proxy.example".into(),
        port: 3128,
        credentials,
        tls: false,
    }
}

/// Returns a transport whose streams go to `play`, and then to `server` if it returns true.
fn through<F, Playing>(server: Server, proxy: Proxy, play: F) -> Transport
where
    F: Fn(DuplexStream) -> Playing + Send + Sync + 'static,
    Playing: Future<Output = Option<DuplexStream>> + Send + 'static,
{
    let mut config = server.config();
    config.server = "http://server.example:8080".parse().unwrap();
    config.proxy = Some(proxy);
    let connect = move |at: Endpoint| {
        assert_eq!(at.host, "proxy.example");
        let (client, far) = tokio::io::duplex(1 << 16);
        let playing = play(far);
        let serving = server.clone();
        server.spawn(async move {
            if let Some(io) = playing.await {
                serving.accept(io);
            }
        });
        async move { io::Result::Ok(client) }
    };
    Transport::with_connector(config, connect).unwrap()
}

async fn read_head(io: &mut DuplexStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(io.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_request_goes_through_an_http_proxy() {
    let server = Server::http1(|_| text("through"));
    let credentials = Some(("user".into(), "pass".into()));
    let transport = through(server, http_proxy(credentials), |mut io| async move {
        let head = read_head(&mut io).await;
        assert!(
            head.starts_with("CONNECT server.example:8080 HTTP/1.1\r\n"),
            "{head}"
        );
        assert!(
            head.contains("Proxy-Authorization: Basic dXNlcjpwYXNz\r\n"),
            "{head}"
        );
        io.write_all(b"HTTP/1.1 200 Connection established\r\nx: y\r\n\r\n")
            .await
            .unwrap();
        Some(io)
    });
    assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "through");
}

#[tokio::test(start_paused = true)]
async fn a_refusing_proxy_is_reported_with_its_answer() {
    for (answer, expected) in [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            "the proxy answered \"HTTP/1.1 407 Proxy Authentication Required\"",
        ),
        (
            "SSH-2.0-OpenSSH\r\n\r\n",
            "the proxy's answer is not valid HTTP",
        ),
        ("", "the proxy closed the connection"),
    ] {
        let server = Server::http1(|_| text("through"));
        let transport = through(server, http_proxy(None), move |mut io| async move {
            read_head(&mut io).await;
            io.write_all(answer.as_bytes()).await.unwrap();
            None
        });
        let error = transport.send(get("/")).await.unwrap_err();
        assert!(error.is_connect(), "{error:?}");
        let TransportError::Proxy { source, .. } = error else {
            panic!("{error:?}")
        };
        assert_eq!(source.to_string(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_goes_through_a_socks_proxy_that_resolves_names() {
    let server = Server::http1(|_| text("through"));
    let credentials = Some(("me".into(), "pw".into()));
    let proxy = Proxy::Socks5 {
        host: "proxy.example".into(),
        port: 1080,
        credentials,
    };
    let transport = through(server, proxy, |mut io| async move {
        let mut greeting = [0; 4];
        io.read_exact(&mut greeting).await.unwrap();
        assert_eq!(greeting, [5, 2, 0, 2]);
        io.write_all(&[5, 2]).await.unwrap();
        let mut login = [0; 7];
        io.read_exact(&mut login).await.unwrap();
        assert_eq!(&login, b"\x01\x02me\x02pw");
        io.write_all(&[1, 0]).await.unwrap();
        let mut request = [0; 21];
        io.read_exact(&mut request).await.unwrap();
        assert_eq!(&request, b"\x05\x01\x00\x03\x0eserver.example\x1f\x90");
        io.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
        Some(io)
    });
    assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "through");
}

#[tokio::test(start_paused = true)]
async fn a_socks_error_is_reported() {
    let server = Server::http1(|_| text("through"));
    let proxy = Proxy::Socks5 {
        host: "proxy.example".into(),
        port: 1080,
        credentials: None,
    };
    let transport = through(server, proxy, |mut io| async move {
        let mut greeting = [0; 3];
        io.read_exact(&mut greeting).await.unwrap();
        io.write_all(&[5, 0]).await.unwrap();
        let mut request = [0; 21];
        io.read_exact(&mut request).await.unwrap();
        io.write_all(&[5, 5, 0, 1]).await.unwrap();
        None
    });
    let error = transport.send(get("/")).await.unwrap_err();
    let TransportError::Proxy {
        source: ProxyError::Socks { code: 5 },
        ..
    } = error
    else {
        panic!("{error:?}")
    };
}
