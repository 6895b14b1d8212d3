//! `InProcessStream`: a connection that this process passes to its own server.

use kubist_registry::User;
use tokio::io::{AsyncRead, AsyncWrite};

/// A connection without TLS.
pub(super) trait PlainStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> PlainStream for S {}

/// A connection from this process, and its user.
pub(super) struct InProcessStream {
    pub(super) stream: Box<dyn PlainStream>,
    pub(super) user: User,
}
