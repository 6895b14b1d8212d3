//! The headers of SPDY streams: names and values, compressed by zlib with a dictionary that the
//! protocol prescribes. One compression goes on through all frames of a direction.
//!
//! What is read may be compressed as anybody likes; what is written is stored without compression.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

/// The dictionary of SPDY/3, from its specification.
const DICTIONARY: &[u8] = include_bytes!("dictionary.bin");
/// Its Adler-32 checksum, which stands at the beginning of a compression.
const CHECKSUM: [u8; 4] = [0xe3, 0xc6, 0xa7, 0xc2];
/// The beginning of a compression: deflate with a window of 32 KiB, and a dictionary.
const BEGIN: [u8; 2] = [0x78, 0x20];
/// The window of deflate.
const WINDOW: usize = 32 << 10;
/// The most that the headers of one stream may be.
const HEADERS_BYTES_MAX: usize = 64 << 10;

/// Headers that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the headers of a SPDY stream cannot be read")]
pub(super) struct BadHeaders;

/// Reads the headers of a connection's streams, in their order.
pub(super) struct HeaderReader {
    state: Box<DecompressorOxide>,
    /// A ring that begins with the dictionary.
    window: Vec<u8>,
    at: usize,
    has_begun: bool,
}

impl HeaderReader {
    pub(super) fn new() -> Self {
        let mut window = vec![0; WINDOW];
        window[..DICTIONARY.len()].copy_from_slice(DICTIONARY);
        Self {
            state: Box::default(),
            window,
            at: DICTIONARY.len(),
            has_begun: false,
        }
    }

    /// Reads the headers of one frame.
    pub(super) fn read(&mut self, mut block: &[u8]) -> Result<Vec<(String, String)>, BadHeaders> {
        if !self.has_begun {
            let (begin, rest) = block.split_at_checked(6).ok_or(BadHeaders)?;
            let with_dictionary = begin[0] & 0x0f == 8 && begin[1] & 0x20 != 0;
            if !with_dictionary || begin[2..] != CHECKSUM {
                return Err(BadHeaders);
            }
            (block, self.has_begun) = (rest, true);
        }
        parse(&self.inflated(block)?)
    }

    fn inflated(&mut self, mut block: &[u8]) -> Result<Vec<u8>, BadHeaders> {
        let mut plain = Vec::new();
        loop {
            let flags = inflate_flags::TINFL_FLAG_HAS_MORE_INPUT;
            let from = self.at;
            let (status, read, written) =
                decompress(&mut self.state, block, &mut self.window, from, flags);
            plain.extend_from_slice(&self.window[from..from + written]);
            self.at = (from + written) % WINDOW;
            block = &block[read..];
            if plain.len() > HEADERS_BYTES_MAX {
                return Err(BadHeaders);
            }
            match status {
                TINFLStatus::HasMoreOutput => {}
                TINFLStatus::NeedsMoreInput if block.is_empty() => return Ok(plain),
                _ => return Err(BadHeaders),
            }
        }
    }
}

/// Reads names and values.
fn parse(mut plain: &[u8]) -> Result<Vec<(String, String)>, BadHeaders> {
    let count = number(&mut plain)?;
    let mut headers = Vec::new();
    for _ in 0..count {
        let (name, value) = (text(&mut plain)?, text(&mut plain)?);
        headers.push((name, value));
    }
    if plain.is_empty() {
        Ok(headers)
    } else {
        Err(BadHeaders)
    }
}

fn number(plain: &mut &[u8]) -> Result<usize, BadHeaders> {
    let (bytes, rest) = plain.split_first_chunk::<4>().ok_or(BadHeaders)?;
    *plain = rest;
    usize::try_from(u32::from_be_bytes(*bytes)).map_err(|_| BadHeaders)
}

fn text(plain: &mut &[u8]) -> Result<String, BadHeaders> {
    let length = number(plain)?;
    let (bytes, rest) = plain.split_at_checked(length).ok_or(BadHeaders)?;
    *plain = rest;
    String::from_utf8(bytes.to_vec()).map_err(|_| BadHeaders)
}

/// Writes the headers of a connection's streams: always none.
#[derive(Debug, Default)]
pub(super) struct HeaderWriter {
    has_begun: bool,
}

impl HeaderWriter {
    /// Returns the block of one frame, without any header.
    pub(super) fn empty(&mut self) -> Vec<u8> {
        let mut block = Vec::new();
        if !self.has_begun {
            block.extend(BEGIN);
            block.extend(CHECKSUM);
            self.has_begun = true;
        }
        // The number of headers, stored; then an empty block, which makes readers deliver it.
        block.extend([0, 4, 0, 0xfb, 0xff, 0, 0, 0, 0]);
        block.extend([0, 0, 0, 0xff, 0xff]);
        block
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{FIRST, SECOND, bytes};
    use super::*;

    #[test]
    fn headers_of_several_streams_are_read() {
        let mut reader = HeaderReader::new();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut first = reader.read(&bytes(FIRST)).expect("they are headers");
        first.sort();
        let expected = [
            pair("port", "80"),
            pair("requestid", "0"),
            pair("streamtype", "error"),
        ];
        assert_eq!(first, expected);
        let mut second = reader.read(&bytes(SECOND)).expect("they are headers");
        second.sort();
        let expected = [
            pair("port", "80"),
            pair("requestid", "0"),
            pair("streamtype", "data"),
        ];
        assert_eq!(second, expected);
    }

    #[test]
    fn what_is_written_is_read_and_what_is_broken_is_refused() {
        let (mut writer, mut reader) = (HeaderWriter::default(), HeaderReader::new());
        for _ in 0..3 {
            assert_eq!(reader.read(&writer.empty()).expect("they are headers"), []);
        }
        for block in [
            &b""[..],
            b"\x78\x9c123456",
            b"\x78\x20\xe3\xc6\xa7\xc2\xff\xff",
        ] {
            assert!(HeaderReader::new().read(block).is_err());
        }
        let block = bytes(FIRST);
        assert!(HeaderReader::new().read(&block[..block.len() - 9]).is_err());
    }
}
