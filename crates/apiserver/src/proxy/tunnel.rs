//! What follows an upgrade: bytes in both directions, until both sides have ended.
//!
//! Upstream ends when one side does. Here the other side may still finish what it has begun, within
//! a limit, so that the end of an answer is not lost.

use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use std::io;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, split};
use tokio::time::timeout;

/// How long one side may continue after the other has ended.
const LINGER: Duration = Duration::from_secs(10);

/// Copies between a client's connection, once it is upgraded, and a backend's. There is no limit
/// for silence: those of the backend count, and keep-alive notices who is gone.
pub(super) async fn copy(client: OnUpgrade, backend: Upgraded) {
    // Without an upgrade the client is gone.
    if let Ok(client) = client.await {
        copy_both_ways(TokioIo::new(client), TokioIo::new(backend)).await;
    }
}

async fn copy_both_ways<C, B>(client: C, backend: B)
where
    C: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let (from_client, to_client) = split(client);
    let (from_backend, to_backend) = split(backend);
    let mut up = pin!(copy_to_end(from_client, to_backend));
    let mut down = pin!(copy_to_end(from_backend, to_client));
    // A connection that broke has no other half.
    tokio::select! {
        biased;
        ended = &mut down => if ended.is_ok() { drop(timeout(LINGER, up).await) },
        ended = &mut up => if ended.is_ok() { drop(timeout(LINGER, down).await) },
    }
}

/// Copies until the end, and passes the end on.
async fn copy_to_end<R, W>(mut from: R, mut to: W) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    tokio::io::copy(&mut from, &mut to).await?;
    to.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, duplex};
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn the_end_of_one_side_lets_the_other_finish() {
        let (client, mut near) = duplex(64);
        let (backend, mut far) = duplex(64);
        let talk = async {
            near.write_all(b"question").await.unwrap();
            near.shutdown().await.unwrap();
            let mut heard = String::new();
            far.read_to_string(&mut heard).await.unwrap();
            far.write_all(b"answer").await.unwrap();
            drop(far);
            let mut answered = String::new();
            near.read_to_string(&mut answered).await.unwrap();
            (heard, answered)
        };
        let (said, ()) = tokio::join!(talk, copy_both_ways(client, backend));
        assert_eq!(said, ("question".to_owned(), "answer".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_side_that_does_not_end_is_left() {
        let (client, near) = duplex(64);
        let (backend, _far) = duplex(64);
        let began = Instant::now();
        drop(near);
        copy_both_ways(client, backend).await;
        assert_eq!(began.elapsed(), LINGER);
    }
}
