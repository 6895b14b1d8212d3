//! Watches, cut into frames while they arrive; each object decoded as what its frame says.
//!
//! However the body is cut into chunks, the frames and the end are the same.

#![no_main]

use bytes::Bytes;
use kubist_codec::watch_stream::{EventKind, Frame, WatchStream, WatchStreamError};
use kubist_fuzz::{Body, check_object};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some(body) = Body::of(input) else { return };
    let (whole, ended) = cut(&body, body.whole());
    let (parts, ended_in_parts) = cut(&body, body.parts());
    assert_eq!(
        ended.is_ok(),
        ended_in_parts.is_ok(),
        "{ended:?} {ended_in_parts:?}"
    );
    if ended.is_ok() {
        assert_eq!(whole, parts);
    }
    for frame in &whole {
        if frame.kind == EventKind::Error {
            let _told = frame.status();
        } else {
            check_object(&frame.object, frame.encoding);
        }
    }
});

fn cut(body: &Body<'_>, chunks: Vec<Bytes>) -> (Vec<Frame>, Result<(), WatchStreamError>) {
    let mut watch = WatchStream::new(body.encoding);
    let mut frames = Vec::new();
    for chunk in chunks {
        watch.push(chunk);
        loop {
            match watch.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) if error.ends_stream() => return (frames, Err(error)),
                Err(_) => {}
            }
        }
    }
    (frames, watch.finish())
}
