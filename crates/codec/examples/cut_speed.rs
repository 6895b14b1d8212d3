//! The speed of splitting lists and watches: `cargo run --release -p kubist-codec --example
//! cut_speed`.
//!
//! It prints MB per second for bodies of 20,000 objects that come in chunks of 16 KiB. It does not
//! decode the objects.

use bytes::Bytes;
use kubist_apimachinery::ListMeta;
use kubist_apimachinery::wire::Encoding;
use kubist_codec::list_encoder::{ListHead, encode_list};
use kubist_codec::list_stream::ListStream;
use kubist_codec::watch_stream::{EventKind, FrameObject, WatchStream, encode_frame};
use std::time::Duration;

const OBJECTS: usize = 20_000;
const CHUNK: usize = 16 << 10;

/// An object of about 3 KB whose JSON looks like a Pod's.
fn object() -> Vec<u8> {
    let container = serde_json::json!({
        "name": "web", "image": "registry.example/web:v1.2.3", "imagePullPolicy": "IfNotPresent",
        "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "resources": {"limits": {"cpu": "100m", "memory": "128Mi"}},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
    });
    let conditions: Vec<_> = ["Initialized", "Ready", "ContainersReady", "PodScheduled"]
        .map(|name| {
            serde_json::json!({"lastProbeTime": null, "status": "True", "type": name,
                "lastTransitionTime": "2024-01-01T00:00:00Z"})
        })
        .to_vec();
    serde_json::json!({
        "metadata": {"name": "web-7d4b9c6f8-abcde", "namespace": "default",
            "uid": "0b0e6a34-6c1c-4b8e-9b7e-1f7a4c1f2d3e", "resourceVersion": "123456",
            "labels": {"app": "web", "pod-template-hash": "7d4b9c6f8", "tier": "front"}},
        "spec": {"containers": [container, container, container], "nodeName": "node-17"},
        "status": {"conditions": conditions, "podIP": "10.1.2.3", "phase": "Running"},
    })
    .to_string()
    .into_bytes()
}

/// Splits `body` repeatedly; returns MB per second.
#[expect(clippy::disallowed_methods, reason = "it measures real time")]
#[expect(clippy::cast_precision_loss, reason = "a rate to be read by people")]
fn rate(body: &Bytes, cut: impl Fn(&mut dyn Iterator<Item = Bytes>) -> usize) -> f64 {
    let begin = std::time::Instant::now();
    let mut rounds = 0;
    while begin.elapsed() < Duration::from_secs(1) {
        let mut chunks = (0..body.len())
            .step_by(CHUNK)
            .map(|at| body.slice(at..body.len().min(at + CHUNK)));
        assert_eq!(cut(&mut chunks), OBJECTS);
        rounds += 1;
    }
    (body.len() * rounds) as f64 / begin.elapsed().as_secs_f64() / 1e6
}

fn cut_list(encoding: Encoding, chunks: &mut dyn Iterator<Item = Bytes>) -> usize {
    let mut list = ListStream::new(encoding);
    let mut items = 0;
    for chunk in chunks {
        list.push(chunk);
        while list.next_item().is_ok_and(|item| item.is_some()) {
            items += 1;
        }
    }
    items
}

fn cut_watch(encoding: Encoding, chunks: &mut dyn Iterator<Item = Bytes>) -> usize {
    let mut watch = WatchStream::new(encoding);
    let mut frames = 0;
    for chunk in chunks {
        watch.push(chunk);
        while watch.next_frame().is_ok_and(|frame| frame.is_some()) {
            frames += 1;
        }
    }
    frames
}

#[expect(clippy::print_stdout, reason = "its output")]
fn main() {
    let object = object();
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        let head = ListHead {
            api_version: "v1",
            kind: "PodList",
            metadata: &ListMeta::default(),
        };
        let list = Bytes::from(encode_list(encoding, head, &vec![&object; OBJECTS]));
        let mut events = Vec::new();
        for _ in 0..OBJECTS {
            let object = match encoding {
                Encoding::Protobuf => FrameObject::Protobuf {
                    api_version: "v1",
                    kind: "Pod",
                    raw: &object,
                },
                _ => FrameObject::Json(&object),
            };
            encode_frame(EventKind::Modified, object, &mut events);
        }
        let events = Bytes::from(events);
        println!(
            "{encoding:?} list  {:7.0} MB/s",
            rate(&list, |c| cut_list(encoding, c))
        );
        println!(
            "{encoding:?} watch {:7.0} MB/s",
            rate(&events, |c| cut_watch(encoding, c))
        );
    }
}
