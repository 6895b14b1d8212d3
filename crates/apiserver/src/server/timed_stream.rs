//! `TimedStream`: a connection that fails when the other side accepts no byte for too long.
//!
//! A client that stops reading fills the socket and then the buffers of HTTP; this is what ends
//! it. Reading has no limit here: idle connections are HTTP's business.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A stream with a time limit for each write.
#[derive(Debug)]
pub(super) struct TimedStream<S> {
    stream: S,
    timeout: Duration,
    /// Runs while a write is stuck.
    deadline: Pin<Box<Sleep>>,
    stuck: bool,
}

impl<S> TimedStream<S> {
    pub(super) fn new(stream: S, timeout: Duration) -> Self {
        Self {
            stream,
            timeout,
            deadline: Box::pin(sleep(timeout)),
            stuck: false,
        }
    }

    /// Starts, goes on or stops the clock, by what a write said.
    fn judge<T>(&mut self, cx: &mut Context<'_>, poll: Poll<Result<T>>) -> Poll<Result<T>> {
        if poll.is_ready() {
            self.stuck = false;
            return poll;
        }
        if !self.stuck {
            self.stuck = true;
            self.deadline.as_mut().reset(Instant::now() + self.timeout);
        }
        ready!(self.deadline.as_mut().poll(cx));
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
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, buffer);
        self.judge(cx, poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(cx);
        self.judge(cx, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.judge(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(cx, buffers);
        self.judge(cx, poll)
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
        let mut server = TimedStream::new(server, Duration::from_secs(60));
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
}
