//! Exec, attach and port forwarding, against a scripted kubelet behind a WebSocket.
#![expect(clippy::disallowed_methods, reason = "what a test spawns, it awaits")]

use futures_util::{SinkExt as _, StreamExt as _};
use kubist_api::core::v1::Pod;
use kubist_client::{Api, Client, Config, ExecOptions, PodStreamError, PortStream, TerminalSize};
use kubist_transport::{Endpoint, Transport};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

pub(crate) type Socket = WebSocketStream<DuplexStream>;

const SUCCESS: &[u8] = br#"{"status":"Success"}"#;

/// A kubelet whose connections `serve` handles. It notes the request lines.
pub(crate) struct Kubelet {
    asked: Arc<Mutex<Vec<String>>>,
    pub(crate) pods: Api<Pod>,
}

/// Reads the head of a request.
async fn head(stream: &mut DuplexStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a request"));
    }
    String::from_utf8(head).expect("text")
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let mut lines = head.lines().filter_map(|it| it.split_once(": "));
    let found = lines.find(|(found, _)| found.eq_ignore_ascii_case(name));
    found.expect("the header").1
}

impl Kubelet {
    /// One that answers the head of each request with `answer` and then goes on with `serve`.
    fn raw<F>(serve: impl Fn(DuplexStream, String) -> F + Send + Sync + Clone + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let tasks = Arc::new(Mutex::new(JoinSet::new()));
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&asked);
        let connect = move |_: Endpoint| {
            let (client, mut server) = duplex(1 << 16);
            let (serve, seen) = (serve.clone(), Arc::clone(&seen));
            tasks.lock().spawn(async move {
                let head = head(&mut server).await;
                seen.lock()
                    .push(head.lines().next().unwrap_or_default().to_owned());
                serve(server, head).await;
            });
            async move { std::io::Result::Ok(client) }
        };
        let config = kubist_transport::Config::new("http://kubelet".parse().expect("a URI"));
        let transport = Transport::with_connector(config, connect).expect("it is valid");
        let client = Client::new(transport, Config::default());
        let pods = Api::namespaced(client, "shop");
        Self { asked, pods }
    }

    fn new<F>(
        protocol: &'static str,
        serve: impl Fn(Socket) -> F + Send + Sync + Clone + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::with_head(protocol, move |socket, _| serve(socket))
    }

    /// One that knows the head of the request, too.
    pub(crate) fn with_head<F>(
        protocol: &'static str,
        serve: impl Fn(Socket, String) -> F + Send + Sync + Clone + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::raw(move |mut stream, head| {
            let serve = serve.clone();
            async move {
                let key = derive_accept_key(header(&head, "sec-websocket-key").as_bytes());
                let answer = format!(
                    "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\
                     connection: upgrade\r\nsec-websocket-accept: {key}\r\n\
                     sec-websocket-protocol: {protocol}\r\n\r\n"
                );
                stream
                    .write_all(answer.as_bytes())
                    .await
                    .expect("it is there");
                let socket = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
                serve(socket, head).await;
            }
        })
    }

    fn asked(&self) -> String {
        self.asked.lock().join("\n")
    }
}

pub(crate) async fn send(socket: &mut Socket, channel: u8, bytes: &[u8]) {
    let frame = [&[channel], bytes].concat();
    let sent = socket.send(Message::Binary(frame.into())).await;
    sent.expect("it is there");
}

/// The next frame of a channel; pings are answered by the socket.
pub(crate) async fn next(socket: &mut Socket) -> Option<(u8, Vec<u8>)> {
    while let Some(message) = socket.next().await {
        match message.ok()? {
            Message::Binary(bytes) => return Some((bytes[0], bytes[1..].to_vec())),
            Message::Close(_) => return None,
            _ => {}
        }
    }
    None
}

/// Like `cat`: sends its input back, and ends with it.
async fn cat(mut socket: Socket) {
    while let Some((channel, bytes)) = next(&mut socket).await {
        match channel {
            0 => send(&mut socket, 1, &bytes).await,
            4 => send(&mut socket, 2, &bytes).await,
            255 => {
                assert_eq!(bytes, [0], "standard input is closed");
                send(&mut socket, 3, SUCCESS).await;
                drop(socket.close(None).await);
            }
            other => panic!("channel {other}"),
        }
    }
}

fn all() -> ExecOptions {
    ExecOptions {
        stdin: true,
        ..ExecOptions::default()
    }
}

#[tokio::test]
async fn a_process_gets_its_input_and_its_end_and_gives_its_output() {
    let kubelet = Kubelet::new("v5.channel.k8s.io", cat);
    let command = ["sh", "-c", "cat & date"];
    let mut process = kubelet
        .pods
        .exec("web", command, &all())
        .await
        .expect("it runs");
    let (mut stdin, mut stdout) = (process.stdin().expect("in"), process.stdout().expect("out"));
    let mut stderr = process.stderr().expect("err");
    assert!(process.stdout().is_none(), "it was taken");
    // More than the pipes hold: both directions run at once.
    let sent: Vec<u8> = (0..1_000_000u32).map(|it| (it % 251) as u8).collect();
    let copy = sent.clone();
    let writes = tokio::spawn(async move {
        stdin.write_all(&copy).await.expect("it reads");
        stdin.shutdown().await.expect("it is there");
    });
    let mut found = Vec::new();
    stdout.read_to_end(&mut found).await.expect("it writes");
    assert!(found == sent);
    assert_eq!(stderr.read(&mut [0; 8]).await.expect("it ended"), 0);
    assert!(process.wait().await.expect("it ended").success());
    writes.await.expect("no panic");
    assert_eq!(
        kubelet.asked(),
        "GET /api/v1/namespaces/shop/pods/web/exec?command=sh&command=-c\
         &command=cat%20%26%20date&stdin=true&stdout=true&stderr=true HTTP/1.1"
    );
}

#[tokio::test]
async fn a_terminal_has_a_size_and_no_standard_error() {
    let kubelet = Kubelet::new("v5.channel.k8s.io", |mut socket| async move {
        let (channel, bytes) = next(&mut socket).await.expect("a size");
        assert_eq!((channel, &*bytes), (4, &br#"{"Width":80,"Height":24}"#[..]));
        send(&mut socket, 1, b"$ ").await;
        send(&mut socket, 3, SUCCESS).await;
    });
    let options = ExecOptions {
        container: Some("web".into()),
        stderr: true,
        ..ExecOptions::terminal()
    };
    let mut process = kubelet.pods.attach("web", &options).await.expect("it runs");
    assert!(process.stderr().is_none());
    let size = TerminalSize {
        width: 80,
        height: 24,
    };
    process.resize(size).await.expect("it is told");
    let mut text = String::new();
    let mut stdout = process.stdout().expect("out");
    stdout.read_to_string(&mut text).await.expect("text");
    assert_eq!(text, "$ ");
    assert!(process.wait().await.expect("it ended").success());
    assert!(
        kubelet
            .asked()
            .contains("attach?container=web&stdin=true&stdout=true&tty=true ")
    );
}

#[tokio::test]
async fn exit_codes_and_failures_are_told_apart() {
    let kubelet = Kubelet::new("v4.channel.k8s.io", |mut socket| async move {
        let status = br#"{"status":"Failure","reason":"NonZeroExitCode","message":"exit 3",
            "details":{"causes":[{"reason":"ExitCode","message":"3"}]}}"#;
        // In two frames.
        send(&mut socket, 3, &status[..50]).await;
        send(&mut socket, 3, &status[50..]).await;
    });
    let process = kubelet
        .pods
        .exec("web", ["x"], &all())
        .await
        .expect("it runs");
    assert_eq!(process.wait().await.expect("it ended").code, 3);

    let kubelet = Kubelet::new("v4.channel.k8s.io", |mut socket| async move {
        let status = br#"{"status":"Failure","reason":"InternalError","message":"no such file"}"#;
        send(&mut socket, 3, status).await;
    });
    let process = kubelet
        .pods
        .exec("web", ["x"], &all())
        .await
        .expect("it runs");
    let error = process.wait().await.expect_err("it failed");
    assert!(matches!(error, PodStreamError::Failed(_)), "{error}");
    assert_eq!(error.to_string(), "no such file");

    let kubelet = Kubelet::new("v4.channel.k8s.io", |socket| async move { drop(socket) });
    let process = kubelet
        .pods
        .exec("web", ["x"], &all())
        .await
        .expect("it runs");
    let error = process.wait().await.expect_err("it is not known");
    let text = error.to_string();
    assert!(
        text.contains("connection") || text.contains("protocol"),
        "{text}"
    );
}

#[tokio::test]
async fn refusals_are_the_servers_and_other_protocols_are_named() {
    let answer = |text: &'static str| {
        Kubelet::raw(move |mut stream, _| async move {
            stream
                .write_all(text.as_bytes())
                .await
                .expect("it is there");
            std::future::pending::<()>().await;
        })
    };
    let refusal = "HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\n\
        content-length: 87\r\n\r\n{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\
        \"message\":\"you may not\",\"code\":403}";
    let error = answer(refusal)
        .pods
        .exec("web", ["x"], &all())
        .await
        .expect_err("refused");
    let PodStreamError::Api(error) = error else {
        panic!("{error}");
    };
    assert!(error.is_forbidden(), "{error}");

    let spdy = "HTTP/1.1 101 Switching Protocols\r\nupgrade: SPDY/3.1\r\n\
        connection: upgrade\r\n\r\n";
    let error = answer(spdy)
        .pods
        .exec("web", ["x"], &all())
        .await
        .expect_err("SPDY");
    assert!(
        error.to_string().contains("the protocol \"SPDY/3.1\""),
        "{error}"
    );

    let forged = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\
        connection: upgrade\r\nsec-websocket-accept: no\r\n\r\n";
    let error = answer(forged)
        .pods
        .exec("web", ["x"], &all())
        .await
        .expect_err("forged");
    assert!(matches!(error, PodStreamError::Malformed { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_does_not_read_stops_the_sender_and_loses_nothing() {
    let sent = Arc::new(Mutex::new(0));
    let count = Arc::clone(&sent);
    let kubelet = Kubelet::new("v5.channel.k8s.io", move |mut socket| {
        let count = Arc::clone(&count);
        async move {
            for _ in 0..1_000 {
                send(&mut socket, 1, &[7; 10_000]).await;
                *count.lock() += 1;
            }
            send(&mut socket, 3, SUCCESS).await;
        }
    });
    let options = ExecOptions::default();
    let mut process = kubelet
        .pods
        .exec("web", ["x"], &options)
        .await
        .expect("it runs");
    let mut stdout = process.stdout().expect("out");
    tokio::time::sleep(Duration::from_secs(30)).await;
    let before = *sent.lock();
    assert!(before < 50, "{before} frames of 10 kB are under way");
    let mut all = Vec::new();
    stdout.read_to_end(&mut all).await.expect("it writes");
    assert_eq!(all.len(), 10_000_000);
    // A reader that is dropped does not stop it.
    let mut process = kubelet
        .pods
        .exec("web", ["x"], &options)
        .await
        .expect("it runs");
    drop(process.stdout());
    assert!(process.wait().await.expect("it ended").success());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_silent_is_given_up() {
    let kubelet = Kubelet::new("v5.channel.k8s.io", |socket| async move {
        // It reads nothing, and so answers no ping.
        std::future::pending::<()>().await;
        drop(socket);
    });
    let process = kubelet
        .pods
        .exec("web", ["x"], &all())
        .await
        .expect("it runs");
    let error = process.wait().await.expect_err("it is silent");
    assert!(matches!(error, PodStreamError::Timeout { .. }), "{error}");
}

/// A port that answers each message with it, after the port numbers of both channels.
async fn echo(mut socket: Socket) {
    send(&mut socket, 0, &[80, 0]).await;
    send(&mut socket, 1, &[80, 0]).await;
    while let Some((channel, bytes)) = next(&mut socket).await {
        assert_eq!(channel, 0);
        send(&mut socket, 0, &bytes).await;
        if bytes.ends_with(b"bye") {
            drop(socket.close(None).await);
        }
    }
}

async fn talk(stream: &mut (impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin)) {
    stream.write_all(b"hello, bye").await.expect("it is there");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("text");
    assert_eq!(text, "hello, bye");
}

#[tokio::test]
async fn a_port_is_a_reader_and_a_writer() {
    let kubelet = Kubelet::new("v4.channel.k8s.io", echo);
    let mut port: PortStream = kubelet
        .pods
        .port_forward("web", 80)
        .await
        .expect("it is there");
    talk(&mut port).await;
    port.ended().await.expect("it ended well");
    assert!(kubelet.asked().contains("/pods/web/portforward?ports=80 "));
}

#[tokio::test]
async fn a_port_on_which_nothing_listens_ends_with_the_reason() {
    let kubelet = Kubelet::new("v4.channel.k8s.io", |mut socket| async move {
        send(&mut socket, 0, &[80, 0]).await;
        send(&mut socket, 1, &[80, 0]).await;
        send(&mut socket, 1, b"connection refused").await;
        drop(socket.close(None).await);
    });
    let mut port = kubelet
        .pods
        .port_forward("web", 80)
        .await
        .expect("it is there");
    let mut text = String::new();
    port.read_to_string(&mut text).await.expect("the end");
    let error = port.ended().await.expect_err("nothing listens");
    assert_eq!(
        (&*text, error.to_string()),
        ("", "port 80: connection refused".to_owned())
    );
}

#[tokio::test]
async fn a_local_listener_is_forwarded_until_the_stop() {
    let kubelet = Kubelet::new("v4.channel.k8s.io", echo);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let token = CancellationToken::new();
    let forwarder = kubelet.pods.port_forwarder("web", 80);
    let serve = tokio::spawn(forwarder.serve(listener, token.clone()));
    let talks = (0..5).map(|_| async move {
        talk(&mut TcpStream::connect(address).await.expect("it listens")).await;
    });
    futures_util::future::join_all(talks).await;
    token.cancel();
    serve.await.expect("no panic").expect("no failure");
    assert_eq!(kubelet.asked.lock().len(), 5);
}
