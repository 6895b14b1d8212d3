//! Frames of HTTP/2 as bytes, for a client that means to send what no library would.
//!
//! No compression of its own: each header is written out, and nothing is remembered.

/// How a client begins: the preface, and settings that change nothing.
pub(super) fn opening() -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    put(&mut bytes, SETTINGS, 0, 0, &[]);
    bytes
}

/// Bytes of a frame's head.
pub(super) const HEAD_BYTES: usize = 9;
/// The kind of frame with which the other side says that it will have no more.
pub(super) const GOAWAY: u8 = 7;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
/// Flags of a request's head without a body: the stream ends, and so do the headers.
const END_OF_BOTH: u8 = 0x5;
/// The error code of who has changed his mind.
const CANCEL: u32 = 8;

/// A request without a body on a new stream, which is reset at once.
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

/// The kind of a frame and the bytes that follow its head.
pub(super) fn parse_head(head: [u8; HEAD_BYTES]) -> (u8, usize) {
    let [first, second, third, kind, ..] = head;
    let length = [first, second, third].into_iter();
    (
        kind,
        length.fold(0, |length, byte| (length << 8) | usize::from(byte)),
    )
}

/// The headers of a GET, as HPACK writes them without its dynamic table.
pub(super) fn get_block(authority: &str, path: &str, token: &str) -> Vec<u8> {
    // `:method: GET` and `:scheme: https` are entries of the static table.
    let mut block = vec![0x82, 0x87];
    // The values of its names `:authority` and `:path` are literals, not to be remembered.
    block.push(0x01);
    put_text(&mut block, authority);
    block.push(0x04);
    put_text(&mut block, path);
    block.push(0x00);
    put_text(&mut block, "authorization");
    put_text(&mut block, &format!("Bearer {token}"));
    block
}

/// Text without Huffman's code: its length in a prefix of seven bits, and its bytes.
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
