//! Backends of audit: what happens when one is slow, fails, or wants no large events.

use super::{Kept, MAPS, events, policy, start_with};
use crate::client::Client;
use http::Version;
use kubist_apiserver::audit::{Audit, AuditSink, Backend, Batch, LineFormat, Mode, Truncation};
use parking_lot::Mutex;
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Fails if events are about this path.
struct Broken(&'static str);

impl AuditSink for Broken {
    fn write(&mut self, events: &[Arc<str>]) -> io::Result<()> {
        let is_bad = |it: &Arc<str>| it.contains(self.0) && it.contains("RequestReceived");
        if events.iter().any(is_bad) {
            return Err(io::Error::other("it is broken"));
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        "broken"
    }
}

/// Writes nothing until the sender of its gate is dropped.
struct Stuck {
    gate: Mutex<Receiver<()>>,
    kept: Kept,
}

fn stuck() -> (Stuck, Kept, Sender<()>) {
    let (sender, receiver) = channel();
    let kept = Kept::default();
    let sink = Stuck {
        gate: Mutex::new(receiver),
        kept: kept.clone(),
    };
    (sink, kept, sender)
}

impl AuditSink for Stuck {
    fn write(&mut self, events: &[Arc<str>]) -> io::Result<()> {
        let _opened = self.gate.lock().recv();
        self.kept.write(events)
    }
}

async fn metric(admin: &mut Client, line: &str) -> bool {
    let scraped = admin.get("/metrics").await;
    assert_eq!(scraped.code, 200);
    String::from_utf8_lossy(&scraped.bytes)
        .lines()
        .any(|it| it == line)
}

#[tokio::test]
async fn a_request_is_refused_if_its_event_must_be_written_and_is_not() {
    let strict = Backend::new(Broken("/version")).with_mode(Mode::BlockingStrict);
    let audit = Audit::with_backends(policy("{level: Metadata}"), vec![strict]);
    let server = start_with(audit.expect("there is room")).await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let refused = admin.get("/version?a=b&c").await;
    assert_eq!(refused.code, 500);
    assert_eq!(
        String::from_utf8_lossy(&refused.bytes),
        "Internal Server Error: \"/version?a=b&amp;c\": failed to store audit event\n"
    );
    assert_eq!(admin.get(MAPS).await.code, 200);
    for line in [
        "apiserver_audit_requests_rejected_total 1",
        "apiserver_audit_error_total{plugin=\"broken\"} 1",
    ] {
        assert!(metric(&mut admin, line).await, "{line}");
    }
    drop(admin);
    server.shutdown().await;
}

#[tokio::test]
async fn a_request_goes_on_if_its_event_need_not_be_written() {
    let audit = Audit::new(policy("{level: Metadata}"), Broken("/version"));
    let server = start_with(audit.expect("there is room")).await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    assert_eq!(admin.get("/version").await.code, 200);
    assert!(metric(&mut admin, "apiserver_audit_requests_rejected_total 0").await);
    drop(admin);
    server.shutdown().await;
}

#[tokio::test]
async fn a_full_buffer_drops_events_and_requests_do_not_wait() {
    let (sink, kept, gate) = stuck();
    let (fast, rest) = (
        Kept::default(),
        "{level: Request, omitStages: [RequestReceived]}",
    );
    let small = Batch {
        buffer_events: 2,
        batch_events: 1,
        throttle: None,
        ..Batch::default()
    };
    let backends = vec![
        Backend::new(sink).with_mode(Mode::Batch(small)),
        Backend::new(fast.clone()),
    ];
    let audit = Audit::with_backends(policy(rest), backends).expect("there is room");
    let server = start_with(audit).await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    for number in 0..10 {
        let map = json!({"metadata": {"name": format!("m{number}")}});
        assert_eq!(admin.post(MAPS, &map).await.code, 201);
    }
    // Each event is offered to the other backend last.
    while fast.0.lock().len() < 10 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(gate);
    drop(admin);
    let all = events(server, &fast, MAPS).await;
    assert_eq!(all.len(), 10, "the other backend has them all");
    let names: Vec<_> = kept
        .0
        .lock()
        .iter()
        .map(|it| it["objectRef"]["name"].clone())
        .collect();
    // One was being written, and two were in the buffer; which ones, depends on the threads.
    assert!(names.len() <= 3 && names[0] == "m0", "{names:?}");
    assert!(names.is_sorted_by_key(ToString::to_string), "{names:?}");
}

#[tokio::test]
async fn a_batch_is_written_when_it_is_full_or_has_waited() {
    let kept = Kept::default();
    let batch = Batch {
        batch_events: 2,
        wait: Duration::from_millis(50),
        ..Batch::default()
    };
    let backend = Backend::new(kept.clone()).with_mode(Mode::Batch(batch));
    let rules = "{level: Metadata, verbs: [create], omitStages: [RequestReceived]}";
    let audit = Audit::with_backends(policy(rules), vec![backend]).expect("there is room");
    let server = start_with(audit).await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    for number in 0..3 {
        let map = json!({"metadata": {"name": format!("m{number}")}});
        assert_eq!(admin.post(MAPS, &map).await.code, 201);
    }
    for _ in 0..200 {
        if kept.0.lock().len() == 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(kept.0.lock().len(), 3);
    drop(admin);
    server.shutdown().await;
}

#[tokio::test]
async fn large_events_lose_their_bodies_or_are_dropped() {
    let kept = Kept::default();
    let limits = Truncation {
        event_bytes: 1_500,
        batch_bytes: 10_000,
    };
    let backend = Backend::new(kept.clone()).with_truncation(Some(limits));
    let rules = "{level: Request, verbs: [create], omitStages: [RequestReceived]}, {level: \
                 Metadata, omitStages: [RequestReceived]}";
    let audit = Audit::with_backends(policy(rules), vec![backend]).expect("there is room");
    let server = start_with(audit).await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let map = json!({"metadata": {"name": "m"}, "data": {"a": "x".repeat(2_000)}});
    assert_eq!(admin.post(MAPS, &map).await.code, 201);
    let long = format!("{MAPS}?labelSelector={}", "x%3D1,".repeat(400));
    assert_ne!(admin.get(&long).await.code, 200);
    let lost = "apiserver_audit_error_total{plugin=\"truncate\"} 1";
    for _ in 0..100 {
        if metric(&mut admin, lost).await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(metric(&mut admin, lost).await);
    drop(admin);
    let all = events(server, &kept, MAPS).await;
    let [created] = &all[..] else {
        panic!("{all:?}");
    };
    assert_eq!(created["objectRef"]["name"], "m");
    assert_eq!(created.get("requestObject"), None);
    assert_eq!(created["annotations"]["audit.k8s.io/truncated"], "true");
}

#[tokio::test]
async fn a_backend_may_have_lines_of_text() {
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<String>>>);
    impl AuditSink for Lines {
        fn write(&mut self, events: &[Arc<str>]) -> io::Result<()> {
            self.0.lock().extend(events.iter().map(ToString::to_string));
            Ok(())
        }
    }
    let (lines, kept) = (Lines::default(), Kept::default());
    let backends = vec![
        Backend::new(lines.clone()).with_format(LineFormat::Legacy),
        Backend::new(kept.clone()),
    ];
    let audit = Audit::with_backends(policy("{level: Metadata}"), backends);
    let server = start_with(audit.expect("there is room")).await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    assert_eq!(admin.get("/version").await.code, 200);
    drop(admin);
    assert_eq!(events(server, &kept, "/version").await.len(), 2);
    let lines = lines.0.lock();
    assert!(lines[0].contains(" AUDIT: id=\"") && lines[0].ends_with("response=\"<deferred>\""));
    assert!(lines[1].contains("uri=\"/version\"") && lines[1].ends_with("response=\"200\""));
}
