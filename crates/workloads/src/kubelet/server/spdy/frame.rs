//! Frames of SPDY/3.1, as far as streams to containers and ports need them.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The largest frame that is read.
const FRAME_BYTES_MAX: usize = 1 << 20;
const VERSION: u16 = 3;
const CONTROL: u32 = 1 << 31;
const FIN: u8 = 1;

const SYN_STREAM: u16 = 1;
const SYN_REPLY: u16 = 2;
const RST_STREAM: u16 = 3;
const PING: u16 = 6;
const GOAWAY: u16 = 7;

/// The stream cannot be served now.
pub(super) const REFUSED: u32 = 3;

/// A frame of the client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Opens a stream.
    Open {
        stream: u32,
        headers: Vec<u8>,
    },
    Data {
        stream: u32,
        bytes: Vec<u8>,
        is_last: bool,
    },
    /// A stream is given up.
    Reset {
        stream: u32,
    },
    Ping(u32),
    /// The client opens no more streams.
    GoAway,
    /// Of no interest: settings, further headers, windows.
    Other,
}

impl Frame {
    /// Reads a frame; none at the end of the connection.
    ///
    /// Not cancel safe.
    pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Self>> {
        let mut head = [0; 8];
        match stream.read_exact(&mut head).await {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let (word, flags) = (
            u32::from_be_bytes([head[0], head[1], head[2], head[3]]),
            head[4],
        );
        let length = u32::from_be_bytes([0, head[5], head[6], head[7]]);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > FRAME_BYTES_MAX {
            return Err(io::Error::other("a SPDY frame is too large"));
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        if word & CONTROL == 0 {
            return Ok(Some(Self::Data {
                stream: word,
                bytes: body,
                is_last: flags & FIN != 0,
            }));
        }
        let kind = u16::from_be_bytes([head[2], head[3]]);
        if u16::from_be_bytes([head[0] & 0x7f, head[1]]) != VERSION {
            return Err(io::Error::other("not a frame of SPDY/3"));
        }
        Self::control(kind, body).map(Some)
    }

    fn control(kind: u16, mut body: Vec<u8>) -> io::Result<Self> {
        let id = body.first_chunk::<4>().map(|it| u32::from_be_bytes(*it));
        let id = id.map(|it| it & !CONTROL);
        let short = || io::Error::other("a SPDY frame is too short");
        match kind {
            SYN_STREAM if body.len() >= 10 => Ok(Self::Open {
                stream: id.ok_or_else(short)?,
                headers: body.split_off(10),
            }),
            SYN_STREAM => Err(short()),
            RST_STREAM => Ok(Self::Reset {
                stream: id.ok_or_else(short)?,
            }),
            PING => {
                let id = body.first_chunk::<4>().map(|it| u32::from_be_bytes(*it));
                Ok(Self::Ping(id.ok_or_else(short)?))
            }
            GOAWAY => Ok(Self::GoAway),
            _ => Ok(Self::Other),
        }
    }
}

/// The answer to a stream that was opened.
pub(super) fn reply(stream: u32, headers: &[u8]) -> Vec<u8> {
    control(SYN_REPLY, &[&stream.to_be_bytes(), headers])
}

/// Gives a stream up.
pub(super) fn reset(stream: u32, status: u32) -> Vec<u8> {
    control(RST_STREAM, &[&stream.to_be_bytes(), &status.to_be_bytes()])
}

/// The answer to a ping: the same.
pub(super) fn pong(id: u32) -> Vec<u8> {
    control(PING, &[&id.to_be_bytes()])
}

pub(super) fn data(stream: u32, bytes: &[u8], is_last: bool) -> Vec<u8> {
    let mut frame = stream.to_be_bytes().to_vec();
    frame.push(if is_last { FIN } else { 0 });
    frame.extend(length(bytes.len()));
    frame.extend(bytes);
    frame
}

fn control(kind: u16, parts: &[&[u8]]) -> Vec<u8> {
    let mut frame = (VERSION | 0x8000).to_be_bytes().to_vec();
    frame.extend(kind.to_be_bytes());
    frame.push(0);
    frame.extend(length(parts.iter().map(|it| it.len()).sum()));
    for part in parts {
        frame.extend(*part);
    }
    frame
}

/// A length, in 24 bits. Frames are never larger: what is written was read, or is short.
fn length(bytes: usize) -> [u8; 3] {
    let [_, a, b, c] = u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes();
    [a, b, c]
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8]) -> io::Result<Option<Frame>> {
        let mut bytes = bytes;
        Frame::read(&mut bytes).await
    }

    #[tokio::test]
    async fn frames_are_written_as_they_are_read() {
        let data = read(&data(5, b"abc", true)).await.expect("a frame");
        let expected = Frame::Data {
            stream: 5,
            bytes: b"abc".to_vec(),
            is_last: true,
        };
        assert_eq!(data, Some(expected));
        let ping = read(&pong(7)).await.expect("a frame");
        assert_eq!(ping, Some(Frame::Ping(7)));
        let reset = read(&reset(3, REFUSED)).await.expect("a frame");
        assert_eq!(reset, Some(Frame::Reset { stream: 3 }));
        let open = control(SYN_STREAM, &[&9_u32.to_be_bytes(), &[0; 6], b"headers"]);
        let expected = Frame::Open {
            stream: 9,
            headers: b"headers".to_vec(),
        };
        assert_eq!(read(&open).await.expect("a frame"), Some(expected));
        assert_eq!(
            read(&reply(9, b"x")).await.expect("a frame"),
            Some(Frame::Other)
        );
        assert_eq!(read(b"").await.expect("the end"), None);
    }

    #[tokio::test]
    async fn frames_that_are_broken_or_too_large_are_errors() {
        let mut large = data(5, b"", false);
        large[5] = 0xff;
        let short = control(SYN_STREAM, &[&[0; 9]]);
        let mut other_version = pong(1);
        other_version[1] = 2;
        let cut = &data(5, b"abc", false)[..9];
        for bytes in [&large, &short, &other_version, cut] {
            assert!(read(bytes).await.is_err(), "{bytes:?}");
        }
    }
}
