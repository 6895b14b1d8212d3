//! `InProcess`: a way to the server for clients in the same process, without sockets.
//!
//! What a process connects to its own server takes none of the places that others connect with: a
//! server whose own controllers kept its clients out would be of no use to them.

use super::ServerEnded;
use super::in_process_stream::InProcessStream;
use crate::authentication::authenticator::authenticated_user;
use kubist_registry::User;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;

/// Streams from this process that are served concurrently; more wait.
pub(super) const STREAMS_MAX: usize = 64;
/// Bytes that a stream buffers in each direction.
const STREAM_BYTES: usize = 64 << 10;

/// Opens streams to a server in this process. They are not encrypted. Requests on them are the
/// administrator's, or those of [`with_user`](Self::with_user), unless they carry a bearer token.
/// At most 64 are served concurrently, in addition to
/// [`connections_max`](crate::Config::connections_max).
#[derive(Clone, Debug)]
pub struct InProcess {
    pub(super) streams: mpsc::Sender<InProcessStream>,
    pub(super) user: User,
}

impl InProcess {
    /// Returns the same connector for another user. The group of all authenticated users is added
    /// to its groups.
    #[must_use]
    pub fn with_user(self, user: User) -> Self {
        Self {
            user: authenticated_user(user),
            ..self
        }
    }

    /// Opens a stream for HTTP/1.1 or HTTP/2.
    ///
    /// Cancel safe: dropping the future opens nothing.
    ///
    /// # Errors
    /// The server has ended.
    pub async fn open(&self) -> Result<DuplexStream, ServerEnded> {
        let (near, far) = tokio::io::duplex(STREAM_BYTES);
        let incoming = InProcessStream {
            stream: Box::new(far),
            user: self.user.clone(),
        };
        let sent = self.streams.send(incoming).await;
        sent.map(|()| near).map_err(|_| ServerEnded)
    }
}
