//! CBOR to JSON and back: whatever is read has a JSON form, which is read again as the same value,
//! also if it is encoded in two pieces.

#![no_main]

use kubist_codec::cbor::{CborEncoder, to_json};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Ok(json) = to_json(data) else {
        return;
    };
    let value: Value = serde_json::from_slice(&json).expect("it is JSON");
    let middle = json.len() / 2;
    let (mut encoder, mut cbor) = (CborEncoder::new(), Vec::new());
    encoder.push(&json[..middle], &mut cbor);
    encoder.push(&json[middle..], &mut cbor);
    encoder.finish(&mut cbor);
    let again = to_json(&cbor).expect("it is CBOR");
    let again: Value = serde_json::from_slice(&again).expect("it is JSON");
    assert_eq!(again, value);
});
