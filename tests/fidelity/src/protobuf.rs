//! A protobuf message as a tree, without its schema: an object whose fields are numbers.
//!
//! Whether bytes are a string or a message is guessed, always alike for the same bytes.

use serde_json::{Map, Value, json};

/// The depth to which messages are parsed.
const DEPTH_MAX: usize = 24;
/// The prefix of a protobuf response.
const MAGIC: &[u8] = b"k8s\0";

/// Parses the envelope and its content. Returns none if the body is not a protobuf response.
pub(crate) fn tree(body: &[u8]) -> Option<Value> {
    message(body.strip_prefix(MAGIC)?, 0)
}

fn message(mut bytes: &[u8], depth: usize) -> Option<Value> {
    let mut fields: Map<String, Value> = Map::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let number = tag >> 3;
        if number == 0 || number > 100_000 {
            return None;
        }
        let value = match tag & 7 {
            0 => json!(varint(&mut bytes)?),
            1 => json!(format!("fixed {:02x?}", take(&mut bytes, 8)?)),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                content(take(&mut bytes, length)?, depth)
            }
            5 => json!(format!("fixed {:02x?}", take(&mut bytes, 4)?)),
            _ => return None,
        };
        match fields.get_mut(&number.to_string()) {
            None => {
                fields.insert(number.to_string(), value);
            }
            Some(Value::Array(items)) => items.push(value),
            Some(one) => *one = json!([one.take(), value]),
        }
    }
    Some(Value::Object(fields))
}

fn content(bytes: &[u8], depth: usize) -> Value {
    let text = std::str::from_utf8(bytes).ok();
    let is_text = |text: &&str| !text.chars().any(|it| it.is_control() && it != '\n');
    // A message begins with the tag of a field, which usually is a control character.
    let is_tagged = bytes.first().is_some_and(|first| *first < 0x20);
    match text.filter(is_text) {
        Some(text) if !is_tagged => json!(text),
        _ if depth < DEPTH_MAX => match message(bytes, depth + 1) {
            Some(message) => message,
            None => json!(format!("bytes {bytes:02x?}")),
        },
        _ => json!(format!("bytes {bytes:02x?}")),
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f).checked_shl(shift)?;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_an_object_of_its_fields_and_what_repeats_is_a_list() {
        // 1: {1: "v1"}, 2: "a", 2: "b", 3: 300
        let body = b"k8s\0\x0a\x04\x0a\x02v1\x12\x01a\x12\x01b\x18\xac\x02";
        let expected = json!({"1": {"1": "v1"}, "2": ["a", "b"], "3": 300});
        assert_eq!(tree(body), Some(expected));
    }

    #[test]
    fn what_is_cut_or_no_protobuf_is_none() {
        assert_eq!(tree(b"k8s\0\x0a\x04\x0a"), None);
        assert_eq!(tree(b"{}"), None);
        assert_eq!(tree(b"k8s\0"), Some(json!({})));
        assert_eq!(
            tree(b"k8s\0\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
            None
        );
    }
}
