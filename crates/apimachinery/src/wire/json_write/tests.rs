//! The text, compared with what a serializer makes of the same message.

use super::*;
use crate::wire::json_encode::to_json_by_serde;
use crate::wire::json_quick::tests::{All, members};
use crate::wire::merge_json;
use proptest::prelude::*;

fn text_of(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = b"before".to_vec();
    write(&mut out);
    String::from_utf8(out.split_off(6)).expect("it is UTF-8")
}

#[test]
fn texts_are_escaped_as_by_serde_wherever_the_escape_is() {
    let characters = (0..0x80)
        .filter_map(char::from_u32)
        .chain(['é', '\u{2028}', '😀']);
    for character in characters {
        for length in 0..20 {
            for at in 0..=length {
                let mut text = "x".repeat(length);
                text.insert(at, character);
                let wanted = serde_json::to_string(&text).expect("it is a string");
                assert_eq!(text_of(|out| write_text(&text, out)), wanted);
            }
        }
    }
}

#[test]
fn numbers_are_written_as_by_serde() {
    for value in [0, -1, i64::MIN, i64::MAX, 1_000_000] {
        assert_eq!(text_of(|out| write_integer(value, out)), value.to_string());
    }
    for value in [0.5, -0.0, 1e300, 5e-324, 0.1 + 0.2, f64::NAN, f64::INFINITY] {
        let wanted = serde_json::to_string(&value).expect("it is a number");
        assert_eq!(text_of(|out| write_float(value, out)), wanted);
    }
    assert_eq!(text_of(|out| write_double(3.0, out)), "3");
}

proptest! {
    #[test]
    fn a_message_is_written_as_by_serde(text in members(4)) {
        let mut all = All::default();
        let decoded = merge_json(&mut all, text.as_bytes(), &mut crate::wire::DecodeContext::new());
        // What was set before an error is as good.
        drop(decoded);
        let ours = text_of(|out| write_message(&all, true, out).expect("it is JSON"));
        prop_assert_eq!(ours, String::from_utf8(to_json_by_serde(&all)).expect("it is UTF-8"));
    }
}
