//! Streaming gzip decoding of a body, member after member.
//!
//! API servers send a watch as one gzip member for each event, so the end of a member is not the
//! end of the body. Data that the server has flushed is available at once. The output of a step is
//! bounded: at most [`INPUT_MAX`] bytes are decoded at a time, and deflate expands by at most
//! 1,032.

use bytes::{Buf, Bytes};
use flate2::write::MultiGzDecoder;
use std::io::{self, Write};

/// The most compressed bytes decoded in one step; bounds its output to about 4 MiB.
const INPUT_MAX: usize = 4 << 10;

/// Decodes a sequence of gzip members.
#[derive(Debug)]
pub(crate) struct Gunzip {
    decoder: MultiGzDecoder<Vec<u8>>,
    input: Bytes,
    started: bool,
}

impl Gunzip {
    pub(crate) fn new() -> Self {
        Self {
            decoder: MultiGzDecoder::new(Vec::new()),
            input: Bytes::new(),
            started: false,
        }
    }

    /// Reports whether [`Self::step`] has input left; then no more may be pushed.
    pub(crate) fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    /// Takes a chunk of the body. Call it only when `has_input` is false.
    pub(crate) fn push(&mut self, input: Bytes) {
        debug_assert!(
            self.input.is_empty(),
            "input is taken only when the last is used up"
        );
        self.input = input;
    }

    /// Decodes the next step; the result is empty if the input so far yields nothing.
    pub(crate) fn step(&mut self) -> io::Result<Bytes> {
        while !self.input.is_empty() {
            let step = self.input.split_to(self.input.len().min(INPUT_MAX));
            self.started = true;
            self.decoder.write_all(step.chunk())?;
            self.decoder.flush()?;
            if !self.decoder.get_ref().is_empty() {
                return Ok(Bytes::from(std::mem::take(self.decoder.get_mut())));
            }
        }
        Ok(Bytes::new())
    }

    /// Checks that the body did not end within a member; may return a last chunk.
    pub(crate) fn finish(&mut self) -> io::Result<Bytes> {
        if !self.started {
            return Ok(Bytes::new());
        }
        self.decoder.try_finish()?;
        Ok(Bytes::from(std::mem::take(self.decoder.get_mut())))
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn member(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(pieces: &[&[u8]]) -> io::Result<String> {
        let mut gunzip = Gunzip::new();
        let mut out = Vec::new();
        for piece in pieces {
            gunzip.push(Bytes::copy_from_slice(piece));
            while gunzip.has_input() {
                out.extend_from_slice(&gunzip.step()?);
            }
        }
        out.extend_from_slice(&gunzip.finish()?);
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn members_split_at_any_byte_decode_to_the_whole() {
        let body = [member("first "), member("second "), member("third")].concat();
        for cut in 0..=body.len() {
            let (head, tail) = body.split_at(cut);
            assert_eq!(
                decode(&[head, tail]).unwrap(),
                "first second third",
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn a_finished_member_can_be_read_before_the_next_arrives() {
        let mut gunzip = Gunzip::new();
        gunzip.push(Bytes::from(member("event 1\n")));
        assert_eq!(gunzip.step().unwrap(), "event 1\n");
    }

    #[test]
    fn flushed_data_within_a_member_can_be_read_at_once() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"half").unwrap();
        encoder.flush().unwrap();
        let mut gunzip = Gunzip::new();
        gunzip.push(Bytes::copy_from_slice(encoder.get_ref()));
        assert_eq!(gunzip.step().unwrap(), "half");
    }

    #[test]
    fn a_member_without_its_end_is_an_error() {
        let body = member("complete");
        for cut in 1..body.len() {
            assert!(decode(&[&body[..cut]]).is_err(), "cut at {cut}");
        }
        assert_eq!(decode(&[]).unwrap(), "");
    }

    #[test]
    fn a_body_that_is_not_gzip_is_an_error() {
        assert!(decode(&[b"{\"kind\":\"Status\"}"]).is_err());
    }

    #[test]
    fn a_long_body_comes_in_bounded_steps() {
        let text = "0".repeat(64 << 20);
        let body = member(&text);
        let mut gunzip = Gunzip::new();
        gunzip.push(Bytes::from(body));
        let (mut total, mut largest) = (0, 0);
        while gunzip.has_input() {
            let step = gunzip.step().unwrap().len();
            total += step;
            largest = largest.max(step);
        }
        total += gunzip.finish().unwrap().len();
        assert_eq!(total, text.len());
        assert!(largest <= INPUT_MAX * 1040, "{largest}");
    }
}
