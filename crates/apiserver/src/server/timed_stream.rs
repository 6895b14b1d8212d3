//! `TimedStream`: a connection that fails if the peer accepts no byte for too long, or does not
//! begin to speak HTTP.
//!
//! A client that stops reading fills the socket and then HTTP's buffers; this ends it. Other time
//! limits (request heads, bodies, idle connections) are HTTP's.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// The HTTP/2 connection preface. Until the client has sent it, or something else, the protocol
/// version is unknown, and the time limits of no version apply.
const HTTP_2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream with a time limit for its preface and for each write.
#[derive(Debug)]
pub(super) struct TimedStream<S> {
    stream: S,
    /// The rest of the preface and its deadline; `None` once the version is known.
    opening: Option<(&'static [u8], Pin<Box<Sleep>>)>,
    timeout: Duration,
    /// Runs while a write is pending; created at the first one.
    deadline: Option<Pin<Box<Sleep>>>,
    stuck: bool,
}

impl<S> TimedStream<S> {
    pub(super) fn new(stream: S, opening: Duration, timeout: Duration) -> Self {
        Self {
            stream,
            opening: Some((HTTP_2_PREFACE, Box::pin(sleep(opening)))),
            timeout,
            deadline: None,
            stuck: false,
        }
    }

    /// Replaces the time limit of writes.
    pub(super) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Matches what was read against the preface.
    fn open(&mut self, cx: &mut Context<'_>, poll: Poll<&[u8]>) -> Poll<Result<()>> {
        let Some((left, deadline)) = &mut self.opening else {
            return poll.map(|_| Ok(()));
        };
        let Poll::Ready(read) = poll else {
            ready!(deadline.as_mut().poll(cx));
            let text = "the client did not send a request in time";
            return Poll::Ready(Err(Error::new(ErrorKind::TimedOut, text)));
        };
        match left.strip_prefix(read) {
            Some(rest) if !rest.is_empty() => *left = rest,
            _ => self.opening = None,
        }
        Poll::Ready(Ok(()))
    }

    /// Starts, continues or stops the write timer by the result of a write.
    fn update_timer<T>(&mut self, cx: &mut Context<'_>, poll: Poll<Result<T>>) -> Poll<Result<T>> {
        if poll.is_ready() {
            self.stuck = false;
            return poll;
        }
        let timeout = self.timeout;
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(sleep(timeout)));
        if !self.stuck {
            self.stuck = true;
            deadline.as_mut().reset(Instant::now() + timeout);
        }
        ready!(deadline.as_mut().poll(cx));
        let text = "the client accepts no data";
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, text)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let before = buffer.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(cx, buffer)?;
        if self.opening.is_none() {
            return poll.map(Ok);
        }
        self.open(cx, poll.map(|()| &buffer.filled()[before..]))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, buffer);
        self.update_timer(cx, poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(cx);
        self.update_timer(cx, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.update_timer(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(cx, buffers);
        self.update_timer(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_ends_the_stream_and_a_slow_one_does_not() {
        let (server, mut client) = duplex(8);
        let limit = Duration::from_secs(60);
        let mut server = TimedStream::new(server, limit, limit);
        let slow = async {
            let mut bytes = [0; 16];
            for at in (0..16).step_by(4) {
                sleep(Duration::from_secs(50)).await;
                client.read_exact(&mut bytes[at..at + 4]).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(server.write_all(&[7; 24]), slow);
        written.expect("something was read within each minute");
        let error = server.write_all(&[7; 24]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_without_a_preface_is_disconnected_in_time() {
        let limit = Duration::from_secs(90);
        for (said, known) in [
            (&b""[..], false),
            (b"P", false),
            (&HTTP_2_PREFACE[..23], false),
            (HTTP_2_PREFACE, true),
            (b"PUT / HTTP/1.1\r\n", true),
            (b"G", true),
        ] {
            let (server, mut client) = duplex(64);
            let mut server = TimedStream::new(server, limit, limit);
            client.write_all(said).await.unwrap();
            let mut bytes = vec![0; said.len()];
            server.read_exact(&mut bytes).await.unwrap();
            let start = Instant::now();
            let more = tokio::time::timeout(2 * limit, server.read_u8()).await;
            match more {
                Ok(more) => {
                    assert_eq!(more.unwrap_err().kind(), ErrorKind::TimedOut);
                    assert!(!known && start.elapsed() == limit, "{said:?}");
                }
                Err(_) => assert!(known, "{said:?}"),
            }
        }
    }
}
