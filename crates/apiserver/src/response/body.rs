//! Bodies: request bodies, read up to a limit, and response bodies, complete or streamed.

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use kubist_apimachinery::{Status, StatusReason};
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Chunks that are produced when HTTP polls for them. An error aborts the response.
pub(crate) type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, ResponseAborted>> + Send>>;

/// What a connection does once its HTTP is over.
pub(crate) type Tunnel = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A response could not be completed. The client sees a truncated body.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the response was aborted: {0}")]
pub(crate) struct ResponseAborted(pub(crate) Status);

/// The body of a response.
pub(crate) enum Body {
    /// A complete body.
    Whole(Bytes),
    /// A complete body in pieces, some of them shared with other responses; no piece is empty.
    Pieces(VecDeque<Bytes>),
    /// Produced while it is sent: large lists and watches. Only the current chunk is held.
    Chunks(Chunks),
    /// Like `Chunks`, with a first piece that is ready; empty once that was sent.
    Begun(Bytes, Chunks),
    /// Nothing: after this response, with 101, the connection is no longer HTTP. The connection
    /// takes what it then is.
    Tunnel(Option<Tunnel>),
}

impl Body {
    /// An empty body.
    pub(crate) fn empty() -> Self {
        Self::Whole(Bytes::new())
    }

    /// A complete body in pieces.
    pub(crate) fn pieces(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
        Self::Pieces(pieces.collect())
    }

    /// Returns a complete body in one piece; none if it is produced while it is sent.
    pub(crate) fn whole(&self) -> Option<Bytes> {
        match self {
            Self::Whole(bytes) => Some(bytes.clone()),
            Self::Pieces(pieces) => {
                let mut whole = BytesMut::new();
                for piece in pieces {
                    whole.extend_from_slice(piece);
                }
                Some(whole.freeze())
            }
            Self::Chunks(_) | Self::Begun(..) | Self::Tunnel(_) => None,
        }
    }

    /// Reports whether it is passed to HTTP as one frame.
    pub(crate) fn is_one_piece(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.len() <= PIECE_BYTES_MAX,
            Self::Pieces(pieces) => pieces.iter().map(Bytes::len).sum::<usize>() <= PIECE_BYTES_MAX,
            Self::Chunks(_) | Self::Begun(..) => false,
            Self::Tunnel(_) => true,
        }
    }

    /// Takes what the connection is to be after the response, if it is no longer HTTP.
    pub(crate) fn take_tunnel(&mut self) -> Option<Tunnel> {
        match self {
            Self::Tunnel(tunnel) => tunnel.take(),
            _ => None,
        }
    }

    /// Bytes that are produced and not passed to HTTP.
    pub(crate) fn ready_bytes(&self) -> usize {
        match self {
            Self::Whole(bytes) | Self::Begun(bytes, _) => bytes.len(),
            Self::Pieces(pieces) => pieces.iter().map(Bytes::len).sum(),
            Self::Chunks(_) | Self::Tunnel(_) => 0,
        }
    }
}

/// Maximum bytes passed to HTTP at once: it holds them until the client reads them.
const PIECE_BYTES_MAX: usize = 64 << 10;

impl HttpBody for Body {
    type Data = Bytes;
    type Error = ResponseAborted;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ResponseAborted>>> {
        match self.get_mut() {
            Self::Begun(first, _) if !first.is_empty() => {
                Poll::Ready(Some(Ok(Frame::data(std::mem::take(first)))))
            }
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Tunnel(_) => Poll::Ready(None),
            Self::Whole(bytes) => {
                let piece = bytes.split_to(bytes.len().min(PIECE_BYTES_MAX));
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            Self::Pieces(pieces) => {
                let Some(first) = pieces.front_mut() else {
                    return Poll::Ready(None);
                };
                let piece = first.split_to(first.len().min(PIECE_BYTES_MAX));
                if first.is_empty() {
                    pieces.pop_front();
                }
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            Self::Chunks(chunks) | Self::Begun(_, chunks) => chunks
                .as_mut()
                .poll_next(cx)
                .map(|chunk| chunk.map(|chunk| chunk.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Pieces(pieces) => pieces.is_empty(),
            Self::Chunks(_) | Self::Begun(..) => false,
            Self::Tunnel(_) => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Pieces(pieces) => {
                SizeHint::with_exact(pieces.iter().map(|it| it.len() as u64).sum())
            }
            Self::Chunks(_) | Self::Begun(..) => SizeHint::default(),
            Self::Tunnel(_) => SizeHint::with_exact(0),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "Body of {} bytes", bytes.len()),
            Self::Pieces(pieces) => write!(f, "Body in {} pieces", pieces.len()),
            Self::Chunks(_) | Self::Begun(..) => f.write_str("Body made while it is sent"),
            Self::Tunnel(_) => f.write_str("Body of a connection that is upgraded"),
        }
    }
}

/// Bytes of an oversized body that are read and discarded. A client that still writes would not see
/// the response, and over HTTP/2 the reset of the stream can overtake it.
const REFUSED_BYTES_MAX: u64 = 32 << 20;
/// Time limit for that.
const REFUSED_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads a request body of at most `max` bytes; calls `on_progress` with the number of bytes so
/// far.
///
/// # Errors
/// 413 if there are more; the errors of [`read_error`] if it cannot be read.
pub(crate) async fn read<B>(
    body: B,
    max: usize,
    mut on_progress: impl FnMut(usize),
) -> Result<Bytes, Status>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Error + 'static,
{
    let mut body = std::pin::pin!(body);
    if body.size_hint().lower() > max as u64 {
        discard(body, REFUSED_BYTES_MAX, REFUSED_TIMEOUT).await;
        return Err(Status::body_too_large(max));
    }
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| read_error(&error))?.into_data() else {
            continue;
        };
        if first.len() + rest.len() + data.len() > max {
            discard(body, REFUSED_BYTES_MAX, REFUSED_TIMEOUT).await;
            return Err(Status::body_too_large(max));
        }
        if first.is_empty() {
            first = data;
        } else {
            rest.extend_from_slice(&data);
        }
        on_progress(first.len() + rest.len());
    }
    if rest.is_empty() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(first.len() + rest.len());
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&rest);
    Ok(whole.freeze())
}

/// Bytes of an unread body that are discarded, as upstream.
const DRAINED_BYTES_MAX: u64 = 256 << 10;
/// Time limit for that.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Discards the rest of a body if it is short and arrives promptly. Returns whether all of it was
/// read.
pub(crate) async fn drain<B>(body: &mut B) -> bool
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    discard(Pin::new(body), DRAINED_BYTES_MAX, DRAIN_TIMEOUT).await
}

/// Discards at most `max` bytes of a body. Returns whether that was all of it.
async fn discard<B>(mut body: Pin<&mut B>, max: u64, timeout: Duration) -> bool
where
    B: HttpBody<Data = Bytes>,
{
    let discarded = async {
        let mut read = 0;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                return false;
            };
            read += frame.data_ref().map_or(0, Bytes::len) as u64;
            if read > max {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(timeout, discarded)
        .await
        .unwrap_or(false)
}

/// Upstream's messages for malformed chunks, by hyper's.
const BROKEN_CHUNKS: [(&str, &str); 5] = [
    ("chunk size line", "invalid byte in chunk length"),
    ("chunk size: overflow", "http chunk length too large"),
    ("chunk extensions over limit", "header line too long"),
    ("chunk body", "malformed chunked encoding"),
    ("chunk size", "malformed chunked encoding"),
];

/// The error of a body that cannot be read: 500 without a reason for malformed chunks, as upstream;
/// 400 if the client stopped sending, which only shows in metrics.
fn read_error(error: &(dyn Error + 'static)) -> Status {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let found = cause.to_string();
    let chunks = BROKEN_CHUNKS.iter().find(|(here, _)| found.contains(here));
    if let Some((_, message)) = chunks {
        return Status::failure(500, StatusReason::Unknown, *message);
    }
    Status::bad_request(format!("reading the request body failed: {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{Full, StreamBody};

    #[tokio::test]
    async fn bodies_are_read_up_to_the_limit() {
        let chunks = |count: usize| {
            let chunk = || Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(b"abc")));
            StreamBody::new(futures_util::stream::iter((0..count).map(move |_| chunk())))
        };
        let mut on_progress = Vec::new();
        let all = read(chunks(3), 9, |bytes| on_progress.push(bytes)).await;
        assert_eq!(all.unwrap(), "abcabcabc");
        assert_eq!(on_progress, [3, 6, 9]);
        assert_eq!(read(chunks(0), 9, |_| {}).await.unwrap(), "");
        let error = read(chunks(4), 9, |_| {}).await.unwrap_err();
        assert_eq!(error.message, "Request entity too large: limit is 9");
        assert!(drain(&mut chunks(1_000)).await);
        assert!(!drain(&mut chunks(1_000_000)).await);
        let error = read(Full::new(Bytes::from_static(b"0123456789")), 9, |_| {}).await;
        assert_eq!(error.unwrap_err().code, 413);
    }
}
