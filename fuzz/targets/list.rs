//! Lists, cut into items while they arrive; each item decoded as a Pod.
//!
//! However the body is cut into chunks, the items and the end are the same.

#![no_main]

use bytes::Bytes;
use kubist_codec::list_stream::{ListFacts, ListStream, ListStreamError};
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
    if let (Ok(one), Ok(other)) = (&ended, &ended_in_parts) {
        assert_eq!((&whole, one), (&parts, other));
    }
    for item in &whole {
        check_object(item, body.encoding);
    }
});

fn cut(body: &Body<'_>, chunks: Vec<Bytes>) -> (Vec<Bytes>, Result<ListFacts, ListStreamError>) {
    let mut list = ListStream::new(body.encoding);
    let mut items = Vec::new();
    for chunk in chunks {
        list.push(chunk);
        loop {
            match list.next_item() {
                Ok(Some(item)) => items.push(item),
                Ok(None) => break,
                Err(error) => return (items, Err(error)),
            }
        }
    }
    (items, list.finish())
}
