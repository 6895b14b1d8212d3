//! Logs: what is asked for, and how bytes become lines.

use crate::server::{Reply, Server};
use futures_util::StreamExt as _;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::Time;
use kubist_client::{Api, LOG_LINE_BYTES_MAX, LogLine, LogOptions, LogSource};

fn setup(replies: impl IntoIterator<Item = Reply>) -> (Server, Api<Pod>) {
    let server = Server::new(replies);
    let pods = Api::namespaced(server.client(), "shop");
    (server, pods)
}

fn log(text: impl Into<bytes::Bytes>) -> Reply {
    Reply::new(200, "text/plain", text)
}

async fn lines(pods: &Api<Pod>, options: &LogOptions) -> Vec<LogLine> {
    let lines = pods.log_lines("web", options).await.expect("it is served");
    lines.map(|line| line.expect("a line")).collect().await
}

#[tokio::test]
async fn options_become_the_query() {
    let (server, pods) = setup([log("a\nb")]);
    let options = LogOptions {
        containers: vec!["web".into()],
        follow: true,
        previous: true,
        timestamps: true,
        since_seconds: Some(5),
        since_time: Some(Time::from_unix(0)),
        tail_lines: Some(0),
        limit_bytes: Some(7),
        stream: Some(LogSource::Stderr),
        insecure_skip_tls_verify_backend: true,
    };
    let log = pods.logs("web", &options).await.expect("it is served");
    assert_eq!(log.text(100).await.expect("text"), "a\nb");
    assert_eq!(
        server.asked()[0].line,
        "GET /api/v1/namespaces/shop/pods/web/log?container=web&follow=true&previous=true\
         &timestamps=true&sinceSeconds=5&sinceTime=1970-01-01T00:00:00Z&tailLines=0&limitBytes=7\
         &stream=Stderr&insecureSkipTLSVerifyBackend=true"
    );
}

#[tokio::test]
async fn lines_are_whole_however_the_bytes_arrive() {
    for size in [1, 2, 3, 100] {
        let (_server, pods) = setup([log("one\n\ntwo\r\nthree").split(size)]);
        let found = lines(&pods, &LogOptions::default()).await;
        let texts: Vec<&str> = found.iter().map(|it| &*it.text).collect();
        assert_eq!(texts, ["one", "", "two", "three"], "{size}");
    }
}

#[tokio::test]
async fn times_are_separated_from_lines_if_they_were_requested() {
    let text = "2026-01-02T03:04:05.123456789Z hello world\nno time\n2026-01-02T03:04:05Z \n";
    let (_server, pods) = setup([log(text), log("2026-01-02T03:04:05Z a\n")]);
    let timed = LogOptions {
        timestamps: true,
        ..LogOptions::default()
    };
    let found = lines(&pods, &timed).await;
    let time = found[0].time.expect("a time");
    assert_eq!(
        (&*found[0].text, time.nanos()),
        ("hello world", 123_456_000)
    );
    assert_eq!((&*found[1].text, found[1].time), ("no time", None));
    assert!(found[2].text.is_empty() && found[2].time.is_some());
    let found = lines(&pods, &LogOptions::default()).await;
    assert_eq!(
        (&*found[0].text, found[0].time),
        ("2026-01-02T03:04:05Z a", None)
    );
}

#[tokio::test]
async fn a_line_without_an_end_arrives_in_pieces_and_other_bytes_are_replaced() {
    let mut text = vec![b'x'; 2 * LOG_LINE_BYTES_MAX + 5];
    text.extend_from_slice(b"\n\xff\n");
    let (_server, pods) = setup([log(text).split(100_000)]);
    let found = lines(&pods, &LogOptions::default()).await;
    let lengths: Vec<usize> = found.iter().map(|it| it.text.len()).collect();
    assert_eq!(lengths, [LOG_LINE_BYTES_MAX, LOG_LINE_BYTES_MAX, 5, 3]);
    assert_eq!(found[3].text, "\u{fffd}");
}

#[tokio::test]
async fn several_containers_are_merged_and_one_that_breaks_leaves_the_others() {
    let (server, pods) = setup([log("a1\na2\n"), log("b1\n").then_cut()]);
    let options = LogOptions {
        containers: vec!["a".into(), "b".into()],
        ..LogOptions::default()
    };
    let found = pods.log_lines("web", &options).await.expect("it is served");
    let (mut texts, mut errors) = (Vec::new(), 0);
    for line in found.collect::<Vec<_>>().await {
        match line {
            Ok(line) => texts.push(format!("{} {}", line.container, line.text)),
            Err(_) => errors += 1,
        }
    }
    texts.sort();
    assert_eq!(texts, ["a a1", "a a2", "b b1"]);
    assert_eq!((errors, server.asked().len()), (1, 2));
}
