//! `Document`: a response of many items that is encoded while it is sent.
//!
//! Only one chunk is held: what a client does not read is not encoded. The work per chunk is
//! bounded by the bytes written and by the bytes read for them, and after each chunk the task
//! yields.

use crate::response::body::{Body, ResponseAborted};
use bytes::Bytes;
use futures_core::Stream;
use kubist_apimachinery::Status;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Bytes at which a chunk is complete.
const CHUNK_BYTES: usize = 64 << 10;
/// Bytes of stored objects read for one chunk.
const READ_BYTES: usize = 128 << 10;
/// The same for the first chunk, which is encoded before the client reads anything.
const FIRST_BYTES: usize = 8 << 10;
/// Initial capacity of a chunk, enough for typical objects.
const CHUNK_CAPACITY: usize = CHUNK_BYTES + (16 << 10);

/// A document that is written piece by piece.
pub(super) trait Pieces: Send + Unpin + 'static {
    /// Appends the next piece.
    ///
    /// # Errors
    /// It cannot be encoded. Nothing may follow.
    fn write(&mut self, out: &mut Vec<u8>) -> Result<Step, Status>;
}

/// The result of writing a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// More follow; with the bytes that were read for this one.
    Wrote(usize),
    /// It was the last piece.
    Ended,
}

/// Returns the body of a document whose items occupy `stored` bytes in storage. A short one is
/// encoded at once, so that its length is known.
///
/// # Errors
/// The first items cannot be encoded; later errors abort the response.
pub(super) fn body(mut pieces: impl Pieces, stored: usize) -> Result<Body, Status> {
    let mut first = Vec::new();
    if stored <= CHUNK_BYTES {
        while let Step::Wrote(_) = pieces.write(&mut first)? {}
        return Ok(Body::Whole(first.into()));
    }
    first.reserve(2 * FIRST_BYTES);
    if chunk(&mut pieces, &mut first, FIRST_BYTES, FIRST_BYTES)? == Step::Ended {
        return Ok(Body::Whole(first.into()));
    }
    let rest = Document {
        pieces: Some(pieces),
        rests: false,
    };
    Ok(Body::Begun(first.into(), Box::pin(rest)))
}

fn chunk(
    pieces: &mut impl Pieces,
    out: &mut Vec<u8>,
    bytes_max: usize,
    read_max: usize,
) -> Result<Step, Status> {
    let mut total = 0;
    loop {
        match pieces.write(out)? {
            Step::Ended => return Ok(Step::Ended),
            Step::Wrote(read) => total += read,
        }
        if out.len() >= bytes_max || total >= read_max {
            return Ok(Step::Wrote(total));
        }
    }
}

/// Everything after the first chunk.
struct Document<P> {
    /// `None` after the end.
    pieces: Option<P>,
    /// Whether a chunk was encoded since the task last yielded.
    rests: bool,
}

impl<P: Pieces> Stream for Document<P> {
    type Item = Result<Bytes, ResponseAborted>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(mut pieces) = self.pieces.take() else {
            return Poll::Ready(None);
        };
        if !std::mem::replace(&mut self.rests, false) {
            self.rests = true;
            self.pieces = Some(pieces);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut out = Vec::with_capacity(CHUNK_CAPACITY);
        match chunk(&mut pieces, &mut out, CHUNK_BYTES, READ_BYTES) {
            Err(status) => return Poll::Ready(Some(Err(ResponseAborted(status)))),
            Ok(Step::Wrote(_)) => self.pieces = Some(pieces),
            Ok(Step::Ended) => {}
        }
        Poll::Ready(Some(Ok(out.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{FutureExt, StreamExt};

    /// Writes its bytes piece by piece.
    struct Count(u8, usize);

    impl Pieces for Count {
        fn write(&mut self, out: &mut Vec<u8>) -> Result<Step, Status> {
            if self.0 == 0 {
                return Ok(Step::Ended);
            }
            self.0 -= 1;
            out.push(self.0);
            Ok(Step::Wrote(self.1))
        }
    }

    #[tokio::test]
    async fn each_chunk_costs_little_and_is_followed_by_a_rest() {
        let Ok(Body::Begun(first, mut chunks)) = body(Count(10, READ_BYTES / 2), 5 * READ_BYTES)
        else {
            panic!("it is long");
        };
        let mut sizes = vec![first.len()];
        let mut rests = 0;
        loop {
            match chunks.next().now_or_never() {
                None => rests += 1,
                Some(None) => break,
                Some(Some(chunk)) => sizes.push(chunk.expect("it is fine").len()),
            }
        }
        assert_eq!(sizes, [1, 2, 2, 2, 2, 1]);
        assert_eq!(rests, 5);
    }

    #[test]
    fn short_documents_are_encoded_at_once() {
        let made = body(Count(10, 1), 10).expect("it can be made");
        assert!(matches!(made, Body::Whole(bytes) if bytes.len() == 10));
    }
}
