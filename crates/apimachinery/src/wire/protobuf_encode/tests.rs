//! What fields write themselves, compared with what their views say.

use super::*;
use crate::wire::json_quick::tests::{All, VALUES, members};
use crate::wire::{DecodeContext, merge_json, merge_protobuf, push_delimited};
use proptest::prelude::*;

/// Encodes a message of which only the views are known, as those are that are written by hand.
fn by_views(message: &dyn Message) -> Vec<u8> {
    let schema = message.schema();
    ReverseWriter::written_by(|out| {
        for entry in schema.order.iter().rev() {
            let Entry::Field(index) = *entry else {
                unreachable!("it has no groups");
            };
            let index = usize::from(index);
            prepend_view(&schema.fields[index], message.view(index), out);
        }
    })
}

#[test]
fn every_field_writes_what_its_view_says() {
    let mut written = 0;
    for field in All::default().schema().fields {
        for value in VALUES {
            let name = field.json;
            for text in [
                format!("{{\"{name}\":{value}}}"),
                format!("{{\"{name}\":[{value},{value}]}}"),
                format!("{{\"{name}\":{{\"k\":{value}}}}}"),
            ] {
                let mut all = All::default();
                let merged = merge_json(&mut all, text.as_bytes(), &mut DecodeContext::new());
                assert_eq!(to_protobuf(&all), by_views(&all), "{text}");
                written += u32::from(merged.is_ok() && all != All::default());
            }
        }
    }
    assert!(written > 300, "{written} values fit");
}

proptest! {
    #[test]
    fn a_field_writes_what_its_view_says(text in members(4)) {
        let mut all = All::default();
        // What was set before an error is as good.
        drop(merge_json(&mut all, text.as_bytes(), &mut DecodeContext::new()));
        let written = to_protobuf(&all);
        prop_assert_eq!(&written, &by_views(&all));
        let mut read = All::default();
        let merged = merge_protobuf(&mut read, &written, &mut DecodeContext::new());
        prop_assert!(merged.is_ok(), "{merged:?}");
        prop_assert_eq!(to_protobuf(&read), written);
    }
}

/// Tags of one byte and of more, lengths of one byte and of more, with room and without.
#[test]
fn headers_have_the_length_that_the_number_and_the_contents_need() {
    for number in [1, 15, 16, 2047, 2048, 1 << 28] {
        for length in [0, 1, 127, 128, 20_000] {
            let contents = vec![7; length];
            let mut wanted = Vec::new();
            push_delimited(number, &contents, &mut wanted);
            let [without_room, with_room] = [0, length + 10].map(|room| {
                let mut out = ReverseWriter::with_capacity(room);
                out.prepend_delimited(number, &contents);
                out
            });
            let mut apart = ReverseWriter::with_capacity(length + 1);
            apart.prepend(&contents);
            apart.prepend_header(number, 0);
            for out in [without_room, with_room, apart] {
                assert_eq!(out.into_vec(), wanted, "{number}, {length}");
            }
        }
    }
}
