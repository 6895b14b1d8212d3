//! Gzip compression of responses, for clients that accept it and where it pays off.

use crate::response::body::{Body, Chunks, ResponseAborted};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::StreamExt;
use http::header::{ACCEPT_ENCODING, HeaderMap};
use std::io::Write;

/// Shorter responses are not compressed, as upstream.
pub(crate) const COMPRESSED_BYTES_MIN: usize = 128 << 10;

/// Reports whether a client accepts gzip.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| {
            let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
            let refused = matches!(parameters.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
            name.trim().eq_ignore_ascii_case("gzip") && !refused
        })
}

/// Compresses a body that is long enough.
pub(crate) fn compress(body: Body) -> Result<Body, Body> {
    match body {
        Body::Whole(bytes) if bytes.len() < COMPRESSED_BYTES_MIN => Err(Body::Whole(bytes)),
        Body::Whole(bytes) => Ok(whole(&bytes).map_or(Body::Whole(bytes), Body::Whole)),
        Body::Pieces(pieces) => {
            let length: usize = pieces.iter().map(Bytes::len).sum();
            if length < COMPRESSED_BYTES_MIN {
                return Err(Body::Pieces(pieces));
            }
            let chunks = futures_util::stream::iter(pieces.into_iter().map(Ok));
            Ok(Body::Chunks(stream(Box::pin(chunks))))
        }
        Body::Chunks(chunks) => Ok(Body::Chunks(stream(chunks))),
        Body::Tunnel(_) => Err(body),
        Body::Begun(first, chunks) => {
            // Compressed, fewer bytes wait for the client.
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            if encoder.write_all(&first).is_err() {
                return Err(Body::Begun(first, chunks));
            }
            Ok(Body::Chunks(chunked(encoder, chunks)))
        }
    }
}

fn whole(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

fn stream(chunks: Chunks) -> Chunks {
    chunked(GzEncoder::new(Vec::new(), Compression::fast()), chunks)
}

/// Streams what was written so far, and the rest.
fn chunked(encoder: GzEncoder<Vec<u8>>, chunks: Chunks) -> Chunks {
    Box::pin(futures_util::stream::unfold(
        (chunks, Some(encoder)),
        |(mut chunks, mut encoder)| async move {
            loop {
                let mut running = encoder.take()?;
                let compressed = match chunks.next().await {
                    Some(Ok(chunk)) => {
                        // Writing to memory cannot fail.
                        let written = running.write_all(&chunk);
                        let out = std::mem::take(running.get_mut());
                        encoder = written.is_ok().then_some(running);
                        out
                    }
                    Some(Err(error)) => {
                        return Some((Err::<Bytes, ResponseAborted>(error), (chunks, None)));
                    }
                    None => running.finish().unwrap_or_default(),
                };
                if !compressed.is_empty() {
                    return Some((Ok(compressed.into()), (chunks, encoder)));
                }
            }
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use http::HeaderValue;
    use std::io::Read;

    fn plain(compressed: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        GzDecoder::new(compressed)
            .read_to_end(&mut out)
            .expect("it is gzip");
        out
    }

    #[test]
    fn clients_say_whether_they_read_gzip() {
        for (value, expected) in [
            ("gzip", true),
            ("deflate, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("identity", false),
            ("", false),
        ] {
            let value = HeaderValue::from_static(value);
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, value)]);
            assert_eq!(is_accepted(&headers), expected, "{headers:?}");
        }
    }

    #[tokio::test]
    async fn long_bodies_are_compressed_whole_or_in_chunks() {
        let text = Bytes::from(b"kubist ".repeat(40_000));
        let Ok(Body::Whole(bytes)) = compress(Body::Whole(text.clone())) else {
            panic!("it is long");
        };
        assert_eq!(plain(&bytes), text);
        assert!(bytes.len() < text.len() / 10);
        assert!(compress(Body::Whole(text.slice(..100))).is_err());

        let parts: Vec<_> = text
            .chunks(30_000)
            .map(|it| Ok(text.slice_ref(it)))
            .collect();
        let chunks: Chunks = Box::pin(futures_util::stream::iter(parts));
        let Ok(Body::Chunks(chunks)) = compress(Body::Chunks(chunks)) else {
            panic!("chunks are always compressed");
        };
        let parts: Vec<_> = chunks.collect().await;
        let joined: Vec<u8> = parts
            .into_iter()
            .flat_map(|it| it.expect("it is fine"))
            .collect();
        assert_eq!(plain(&joined), text);
    }
}
