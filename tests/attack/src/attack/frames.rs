//! HTTP/2 frames as bytes, for clients that send what no library would.
//!
//! Headers are literals; there is no dynamic table.

/// The client preface, and settings that change nothing.
pub(super) fn opening() -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    put(&mut bytes, SETTINGS, 0, 0, &[]);
    bytes
}

/// Bytes of a frame header.
pub(super) const HEAD_BYTES: usize = 9;
/// The frame type of GOAWAY.
pub(super) const GOAWAY: u8 = 7;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
/// The flags of a request without a body: end of stream, end of headers.
const END_OF_BOTH: u8 = 0x5;
/// The error code CANCEL.
const CANCEL: u32 = 8;

/// Returns a request without a body on a new stream, and its reset.
pub(super) fn put_reset_request(bytes: &mut Vec<u8>, stream: u32, block: &[u8]) {
    put(bytes, HEADERS, END_OF_BOTH, stream, block);
    put(bytes, RST_STREAM, 0, stream, &CANCEL.to_be_bytes());
}

fn put(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("what is sent is small");
    bytes.extend_from_slice(&length.to_be_bytes()[1..]);
    bytes.extend_from_slice(&[kind, flags]);
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
}

/// Returns a frame of this type.
pub(super) fn parse_head(head: [u8; HEAD_BYTES]) -> (u8, usize) {
    let [first, second, third, kind, ..] = head;
    let length = [first, second, third].into_iter();
    (
        kind,
        length.fold(0, |length, byte| (length << 8) | usize::from(byte)),
    )
}

/// Returns the headers of a GET, encoded without HPACK's dynamic table.
pub(super) fn get_block(authority: &str, path: &str, token: &str) -> Vec<u8> {
    // `:method: GET` and `:scheme: https` are entries of the static table.
    let mut block = vec![0x82, 0x87];
    // `:authority` and `:path` have literal values without indexing.
    block.push(0x01);
    put_text(&mut block, authority);
    block.push(0x04);
    put_text(&mut block, path);
    block.push(0x00);
    put_text(&mut block, "authorization");
    put_text(&mut block, &format!("Bearer {token}"));
    block
}

/// Returns a string without Huffman coding: its length with a 7-bit prefix, and its bytes.
fn put_text(block: &mut Vec<u8>, text: &str) {
    const PREFIX_MAX: usize = 127;
    let small = |number: usize| u8::try_from(number).expect("it has seven bits");
    if text.len() < PREFIX_MAX {
        block.push(small(text.len()));
    } else {
        block.push(small(PREFIX_MAX));
        let mut rest = text.len() - PREFIX_MAX;
        while rest >= 128 {
            block.push(small(rest % 128) | 0x80);
            rest /= 128;
        }
        block.push(small(rest));
    }
    block.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_and_its_reset_are_two_frames() {
        let mut bytes = Vec::new();
        put_reset_request(&mut bytes, 3, &[0x82]);
        let headers = [0, 0, 1, 1, 5, 0, 0, 0, 3, 0x82];
        let reset = [0, 0, 4, 3, 0, 0, 0, 0, 3, 0, 0, 0, 8];
        assert_eq!(bytes, [&headers[..], &reset[..]].concat());
        assert_eq!(parse_head([0, 1, 2, 7, 0, 0, 0, 0, 0]), (GOAWAY, 258));
    }

    #[test]
    fn lengths_are_written_as_hpack_has_them() {
        let length = |size: usize| {
            let mut block = Vec::new();
            put_text(&mut block, &"x".repeat(size));
            block.truncate(block.len() - size);
            block
        };
        assert_eq!(length(126), [126]);
        assert_eq!(length(127), [127, 0]);
        // 1337 - 127 is 1210: 9 times 128 and 58.
        assert_eq!(length(1337), [127, 0xba, 9]);
    }

    #[test]
    fn the_headers_of_a_get_begin_with_those_that_need_no_text() {
        let block = get_block("h", "/p", "t");
        assert_eq!(block[..8], [0x82, 0x87, 0x01, 1, b'h', 0x04, 2, b'/']);
        assert_eq!(opening().len(), 24 + HEAD_BYTES);
    }
}
