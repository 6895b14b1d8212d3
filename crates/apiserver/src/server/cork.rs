//! `Cork`: gathers the writes of a connection and sends them together.
//!
//! A watch event is a small frame, and HTTP/2 writes each frame separately; TLS records and system
//! calls would cost more than everything else. Under the cork, the connection's task first yields
//! to other ready tasks, as long as they add data, and then sends everything in few records and few
//! system calls. There is no timer, and no delay at all while only one request is in progress.
//!
//! The connection sees its writes and flushes as done once they are gathered. That is sound because
//! [`Cork`] drives the connection and sends after every poll; a failure to send ends the
//! connection.

use parking_lot::Mutex;
use std::future::poll_fn;
use std::io::{ErrorKind, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes gathered before a write has to wait until they are sent: four TLS records.
const GATHERED_BYTES_MAX: usize = 64 << 10;
/// Bytes at which the cork stops waiting for more.
const ENOUGH_BYTES: usize = GATHERED_BYTES_MAX / 2;
/// Bytes that are read and thrown away at a time.
const DRAINED_BYTES: usize = 1 << 10;
/// Number of times the task yields before it sends.
const TURNS_MAX: u32 = 8;
/// Capacity that an idle connection may keep.
const KEPT_BYTES_MAX: usize = 4 << 10;

/// The stream that a connection reads from and writes to.
#[derive(Debug)]
pub(super) struct Corked<S>(Arc<Mutex<Gathered<S>>>);

/// Sends what was gathered.
#[derive(Debug)]
pub(super) struct Cork<S> {
    gathered: Arc<Mutex<Gathered<S>>>,
    /// How often the task has yielded since the first byte.
    turns: u32,
}

/// Never contended: only the connection's task locks it, through two separate values.
#[derive(Debug)]
struct Gathered<S> {
    stream: S,
    bytes: Vec<u8>,
    /// How many of these bytes are sent.
    sent: usize,
    /// How many bytes were gathered last time: the capacity to reserve next time.
    usual: usize,
    /// Whether all bytes are sent but not flushed.
    unflushed: bool,
    /// Whether the last write to the stream was pending.
    stuck: bool,
}

/// Puts a stream under a cork.
pub(super) fn cork<S>(stream: S) -> (Corked<S>, Cork<S>) {
    let gathered = Arc::new(Mutex::new(Gathered {
        stream,
        bytes: Vec::new(),
        sent: 0,
        usual: 0,
        unflushed: false,
        stuck: false,
    }));
    let cork = Cork {
        gathered: Arc::clone(&gathered),
        turns: 0,
    };
    (Corked(gathered), cork)
}

impl<S: AsyncWrite + Unpin> Cork<S> {
    /// Polls a connection whose stream is under this cork, and sends what it wrote: at once, unless
    /// there are concurrent requests that may have more to write.
    ///
    /// # Errors
    /// Sending failed; the connection cannot be used any more.
    pub(super) fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        crowd: bool,
        connection: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<Result<T>> {
        let before = self.gathered.lock().waiting();
        let polled = connection(cx);
        let mut gathered = self.gathered.lock();
        let now = gathered.waiting();
        let may_grow = crowd && now > before && now < ENOUGH_BYTES && self.turns < TURNS_MAX;
        if polled.is_pending() && may_grow && !gathered.stuck {
            self.turns += 1;
            // Reschedules this task behind all tasks that are ready now.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.turns = 0;
        if gathered.poll_send(cx)?.is_ready() {
            gathered.shrink();
        }
        polled.map(Ok)
    }
}

impl<S> Cork<S> {
    /// Changes the stream.
    pub(super) fn with_stream(&self, change: impl FnOnce(&mut S)) {
        change(&mut self.gathered.lock().stream);
    }
}

impl<S: AsyncRead + Unpin> Cork<S> {
    /// Reads until the stream ends, and throws it away.
    pub(super) async fn drain(&self) {
        let mut bytes = vec![0; DRAINED_BYTES];
        poll_fn(|cx| {
            loop {
                let mut buffer = ReadBuf::new(&mut bytes);
                let stream = &mut self.gathered.lock().stream;
                let read = ready!(Pin::new(stream).poll_read(cx, &mut buffer));
                if read.is_err() || buffer.filled().is_empty() {
                    return Poll::Ready(());
                }
            }
        })
        .await;
    }
}

impl<S> Gathered<S> {
    fn waiting(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Appends as many bytes as fit, and returns their number.
    fn gather(&mut self, buffer: &[u8]) -> usize {
        // Fills the buffer exactly, so that no TLS record is a small remainder.
        let taken = buffer.len().min(GATHERED_BYTES_MAX - self.waiting());
        if self.bytes.capacity() < self.bytes.len() + taken {
            let more = self.usual.saturating_sub(self.bytes.len());
            self.bytes.reserve(more.max(taken));
        }
        self.bytes.extend_from_slice(&buffer[..taken]);
        taken
    }

    fn shrink(&mut self) {
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            self.bytes = Vec::new();
        }
    }
}

impl<S: AsyncWrite + Unpin> Gathered<S> {
    /// Sends everything and flushes.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if self.sent == 0 {
            self.usual = self.bytes.len();
        }
        while self.sent < self.bytes.len() {
            let polled = Pin::new(&mut self.stream).poll_write(cx, &self.bytes[self.sent..]);
            self.stuck = polled.is_pending();
            let written = ready!(polled)?;
            if written == 0 {
                return Poll::Ready(Err(ErrorKind::WriteZero.into()));
            }
            self.sent += written;
            self.unflushed = true;
        }
        self.bytes.clear();
        self.sent = 0;
        if self.unflushed {
            let polled = Pin::new(&mut self.stream).poll_flush(cx);
            self.stuck = polled.is_pending();
            ready!(polled)?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Corked<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.0.lock().stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Corked<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<Result<usize>> {
        let mut gathered = self.0.lock();
        if gathered.waiting() == GATHERED_BYTES_MAX {
            ready!(gathered.poll_send(cx))?;
        }
        if gathered.waiting() == 0 && buffer.len() >= GATHERED_BYTES_MAX {
            gathered.unflushed = true;
            return Pin::new(&mut gathered.stream).poll_write(cx, buffer);
        }
        Poll::Ready(Ok(gathered.gather(buffer)))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let mut gathered = self.0.lock();
        ready!(gathered.poll_send(cx))?;
        Pin::new(&mut gathered.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::sync::mpsc;
    use tokio::task::JoinSet;

    /// Counts the writes that reach it.
    struct Counting {
        stream: DuplexStream,
        writes: Arc<Mutex<Vec<usize>>>,
    }

    impl AsyncWrite for Counting {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &[u8],
        ) -> Poll<Result<usize>> {
            let polled = Pin::new(&mut self.stream).poll_write(cx, buffer);
            if let Poll::Ready(Ok(written)) = &polled {
                self.writes.lock().push(*written);
            }
            polled
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
            Pin::new(&mut self.stream).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
            Pin::new(&mut self.stream).poll_shutdown(cx)
        }
    }

    /// Writes each piece from the channel separately, and shuts down at its end.
    async fn connection(mut stream: Corked<Counting>, mut pieces: mpsc::Receiver<Vec<u8>>) {
        while let Some(piece) = pieces.recv().await {
            stream.write_all(&piece).await.unwrap();
            stream.flush().await.unwrap();
        }
        stream.shutdown().await.unwrap();
    }

    async fn drive(mut cork: Cork<Counting>, connection: impl Future<Output = ()>) {
        let mut connection = std::pin::pin!(connection);
        let driven = poll_fn(|cx| cork.poll(cx, true, |cx| connection.as_mut().poll(cx)));
        drop(driven.await);
    }

    /// A running connection, its peer, and the sizes of the writes that reached the stream.
    struct Running {
        tasks: JoinSet<()>,
        pieces: mpsc::Sender<Vec<u8>>,
        client: DuplexStream,
        writes: Arc<Mutex<Vec<usize>>>,
    }

    fn running(stream_bytes: usize) -> Running {
        let (stream, client) = duplex(stream_bytes);
        let writes = Arc::new(Mutex::new(Vec::new()));
        let (corked, cork) = cork(Counting {
            stream,
            writes: Arc::clone(&writes),
        });
        let (pieces, waiting) = mpsc::channel(256);
        let mut tasks = JoinSet::new();
        tasks.spawn(drive(cork, connection(corked, waiting)));
        Running {
            tasks,
            pieces,
            client,
            writes,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn writes_of_ready_tasks_are_combined() {
        let mut it = running(1 << 20);
        let mut writers = JoinSet::new();
        for _ in 0..90 {
            let pieces = it.pieces.clone();
            writers.spawn(async move { pieces.send(vec![7; 300]).await.unwrap() });
        }
        while writers.join_next().await.is_some() {}
        let mut bytes = vec![0; 90 * 300];
        it.client.read_exact(&mut bytes).await.unwrap();
        let count = it.writes.lock().len();
        assert!(count <= 2, "{count} writes for 90 pieces");
        // A single piece is not delayed either.
        it.pieces.send(vec![8; 3]).await.unwrap();
        it.client.read_exact(&mut bytes[..3]).await.unwrap();
        assert_eq!(&bytes[..3], [8; 3]);
        drop(it.pieces);
        assert!(it.tasks.join_next().await.unwrap().is_ok());
        assert_eq!(it.client.read(&mut bytes).await.unwrap(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn everything_arrives_in_order_through_a_narrow_stream() {
        let mut it = running(1_000);
        let sizes = [1, 70_000, 300, 65_536, 16_384, 40_000, 2];
        let pieces = || (0_u8..).zip(sizes).map(|(piece, size)| vec![piece; size]);
        let sending = async {
            for piece in pieces() {
                it.pieces.send(piece).await.unwrap();
            }
            drop(it.pieces);
        };
        let mut read = Vec::new();
        let ((), end) = tokio::join!(sending, it.client.read_to_end(&mut read));
        end.unwrap();
        assert_eq!(read, pieces().flatten().collect::<Vec<u8>>());
        assert!(it.tasks.join_next().await.unwrap().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_whose_client_is_gone_ends() {
        let mut it = running(1_000);
        drop(it.client);
        it.pieces.send(vec![1; 10]).await.unwrap();
        assert!(it.tasks.join_next().await.unwrap().is_ok());
    }
}
