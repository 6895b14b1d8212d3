//! Watches: the same frames come out, however the body is split; garbage ends in an error.

use bytes::Bytes;
use kubist_apimachinery::wire::Encoding;
use kubist_codec::envelope;
use kubist_codec::watch_stream::{
    EventKind, Frame, FrameObject, WatchStream, WatchStreamError, encode_frame,
};
use proptest::prelude::*;

const BOTH: [Encoding; 2] = [Encoding::Json, Encoding::Protobuf];
const KINDS: [EventKind; 5] = [
    EventKind::Added,
    EventKind::Modified,
    EventKind::Deleted,
    EventKind::Bookmark,
    EventKind::Error,
];

fn encode(encoding: Encoding, events: &[(EventKind, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (kind, object) in events {
        let object = match encoding {
            Encoding::Protobuf => FrameObject::Protobuf {
                api_version: "v1",
                kind: "Pod",
                raw: object,
            },
            _ => FrameObject::Json(object),
        };
        encode_frame(*kind, object, &mut out);
    }
    out
}

fn samples(encoding: Encoding) -> Vec<(EventKind, Vec<u8>)> {
    let objects: Vec<Vec<u8>> = match encoding {
        Encoding::Json => [
            "{}",
            r#"{"a":"}{\"\n"}"#,
            "{\"type\":\"x\",\"object\":[{}]}",
            "{}",
            "{}",
        ]
        .map(|text| text.as_bytes().to_vec())
        .to_vec(),
        _ => vec![vec![], vec![1; 3], vec![2; 300], vec![3], vec![4; 127]],
    };
    KINDS.into_iter().zip(objects).collect()
}

/// The output, and how the stream ended.
fn cut<'b>(
    encoding: Encoding,
    chunks: impl IntoIterator<Item = &'b [u8]>,
) -> (Vec<Frame>, Vec<WatchStreamError>) {
    let mut watch = WatchStream::new(encoding);
    let (mut frames, mut errors) = (Vec::new(), Vec::new());
    for chunk in chunks {
        watch.push(Bytes::copy_from_slice(chunk));
        loop {
            match watch.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => {
                    let ends = error.ends_stream();
                    errors.push(error);
                    if ends {
                        return (frames, errors);
                    }
                }
            }
        }
    }
    errors.extend(watch.finish().err());
    (frames, errors)
}

fn simple(frames: &[Frame]) -> Vec<(EventKind, Vec<u8>)> {
    frames
        .iter()
        .map(|frame| (frame.kind, frame.object.to_vec()))
        .collect()
}

#[test]
fn frames_come_out_whole_at_every_split() {
    for encoding in BOTH {
        let events = samples(encoding);
        let body = encode(encoding, &events);
        for first in 0..=body.len() {
            let second = (first + 5).min(body.len());
            let (frames, errors) = cut(
                encoding,
                [&body[..first], &body[first..second], &body[second..]],
            );
            assert_eq!(errors, [], "{encoding:?} split at {first}");
            assert_eq!(simple(&frames), events, "{encoding:?} split at {first}");
        }
        let (frames, errors) = cut(encoding, body.chunks(1));
        assert_eq!((simple(&frames), errors.len()), (events, 0));
    }
}

#[test]
fn protobuf_frames_have_the_bytes_that_upstream_writes() {
    let mut out = Vec::new();
    let object = FrameObject::Protobuf {
        api_version: "v1",
        kind: "Pod",
        raw: b"\x0a\x00",
    };
    encode_frame(EventKind::Added, object, &mut out);
    let enveloped = envelope::wrap("v1", "Pod", b"\x0a\x00");
    let length = u8::try_from(enveloped.len()).unwrap();
    let mut expected = vec![0, 0, 0, 11 + length];
    expected.extend_from_slice(b"\x0a\x05ADDED\x12");
    expected.extend_from_slice(&[2 + length, 0x0a, length]);
    expected.extend_from_slice(&enveloped);
    assert_eq!(out, expected);
    let mut again = Vec::new();
    encode_frame(
        EventKind::Added,
        FrameObject::Enveloped(&enveloped),
        &mut again,
    );
    assert_eq!(again, expected);
    let (frames, _) = cut(Encoding::Protobuf, [&*out]);
    assert_eq!(
        (&*frames[0].api_version, &*frames[0].type_name),
        ("v1", "Pod")
    );
    assert_eq!(frames[0].encoding, Encoding::Protobuf);
}

#[test]
fn json_frames_need_no_line_breaks_and_no_order() {
    let body =
        b"{\"object\":{\"a\":1},\"x\":[\"}\"],\"type\":\"MODIFIED\"}{\"type\" : \"ADDED\",\n \
        \"object\" : { } }\r\n\n";
    let (frames, errors) = cut(Encoding::Json, [&body[..]]);
    assert_eq!(errors, []);
    assert_eq!(
        simple(&frames),
        [
            (EventKind::Modified, b"{\"a\":1}".to_vec()),
            (EventKind::Added, b"{ }".to_vec())
        ]
    );
}

#[test]
fn the_status_of_an_error_frame_is_decoded() {
    let body = br#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},
        "status":"Failure","message":"too old resource version: 1 (7)",
        "reason":"Expired","code":410}}"#;
    let (frames, _) = cut(Encoding::Json, [&body[..]]);
    let status = frames[0].status().unwrap();
    assert_eq!(
        (status.code, &*status.message),
        (410, "too old resource version: 1 (7)")
    );
    let raw = kubist_apimachinery::wire::to_protobuf(&status);
    let mut out = Vec::new();
    let object = FrameObject::Protobuf {
        api_version: "v1",
        kind: "Status",
        raw: &raw,
    };
    encode_frame(EventKind::Error, object, &mut out);
    let (frames, _) = cut(Encoding::Protobuf, [&*out]);
    assert_eq!(frames[0].status().unwrap(), status);
}

#[test]
fn a_frame_with_broken_contents_is_lost_alone() {
    let good = (EventKind::Added, b"\x0a\x00".to_vec());
    let mut body = encode(Encoding::Protobuf, std::slice::from_ref(&good));
    let one = body.len();
    body.extend_from_slice(&body.clone());
    body.extend_from_slice(&body.clone()[..one]);
    // The second frame: spoil the magic of its envelope, then its type.
    let magic = one + 4 + 7 + 4;
    assert_eq!(&body[magic..magic + 4], b"k8s\0");
    body[magic] = b'x';
    let (frames, errors) = cut(Encoding::Protobuf, [&*body]);
    assert_eq!(frames.len(), 2);
    assert!(
        matches!(errors[..], [WatchStreamError::Envelope { frame: 1, .. }]),
        "{errors:?}"
    );
    body[one + 4 + 2] = b'B';
    let (frames, errors) = cut(Encoding::Protobuf, [&*body]);
    assert_eq!(frames.len(), 2);
    assert!(
        matches!(errors[..], [WatchStreamError::UnknownType { frame: 1, .. }]),
        "{errors:?}"
    );

    let body =
        b"{\"type\":\"ADDED\",\"object\":{}}\n{\"type\":\"ADDED\"}\n{\"type\":7,\"object\":{}}\n\
        {\"type\":\"DELETED\",\"object\":{]}\n";
    let (frames, errors) = cut(Encoding::Json, [&body[..]]);
    assert_eq!(frames.len(), 2);
    assert_eq!(errors[0], WatchStreamError::NoObject { frame: 1 });
    assert_eq!(
        errors[1],
        WatchStreamError::UnknownType {
            frame: 2,
            found: "7".into()
        }
    );
}

#[test]
fn truncation_and_garbage_end_the_watch_with_an_error() {
    for encoding in BOTH {
        let events = samples(encoding);
        let body = encode(encoding, &events);
        let borders: Vec<usize> = (0..=events.len())
            .map(|count| encode(encoding, &events[..count]).len())
            .collect();
        for length in 0..body.len() {
            let (_, errors) = cut(encoding, [&body[..length]]);
            let at_border = borders.contains(&length)
                || (encoding == Encoding::Json && borders.contains(&(length + 1)));
            assert_eq!(errors.is_empty(), at_border, "{encoding:?} {length}");
        }
    }
    let (_, errors) = cut(Encoding::Json, [&b"<html>"[..]]);
    assert!(matches!(
        errors[..],
        [WatchStreamError::Syntax { found: '<', .. }]
    ));
    let (_, errors) = cut(Encoding::Protobuf, [&b"{\"type\":\"ADDED\""[..]]);
    assert!(matches!(errors[..], [WatchStreamError::TooLong { .. }]));
}

#[test]
fn frames_beyond_the_limit_end_the_watch() {
    for encoding in BOTH {
        let object = match encoding {
            Encoding::Json => format!("\"{}\"", "x".repeat(200)).into_bytes(),
            _ => vec![b'x'; 200],
        };
        let body = encode(encoding, &[(EventKind::Added, object)]);
        let mut watch = WatchStream::with_limit(encoding, 100);
        watch.push(body.into());
        let error = watch.next_frame().unwrap_err();
        assert!(
            matches!(error, WatchStreamError::TooLong { max: 100, .. }),
            "{error}"
        );
        assert_eq!(watch.next_frame(), Err(error));
    }
}

proptest! {
    #[test]
    fn garbage_and_flipped_bytes_never_panic(
        mut noise in prop::collection::vec(any::<u8>(), 0..300),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        encoded: bool,
        protobuf: bool,
        size in 1usize..40,
    ) {
        let encoding = if protobuf { Encoding::Protobuf } else { Encoding::Json };
        if encoded {
            noise = encode(encoding, &samples(encoding));
            for (index, byte) in flips {
                let index = index.index(noise.len());
                noise[index] = byte;
            }
        }
        let whole = cut(encoding, [&noise[..]]);
        let parts = cut(encoding, noise.chunks(size));
        prop_assert_eq!(simple(&whole.0), simple(&parts.0));
        prop_assert_eq!(whole.1.len(), parts.1.len());
    }
}
