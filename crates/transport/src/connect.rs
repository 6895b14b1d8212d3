//! `Connect`: opens byte streams to the server, below TLS and HTTP.
//!
//! [`TcpConnector`] is the default. A closure that returns one end of an in-memory duplex stream
//! can replace it, in tests and in processes with their own server. Proxy protocols run over the
//! opened stream.

mod proxy;
mod tcp;

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};

pub use self::proxy::ProxyError;
pub(crate) use self::proxy::tunnel;
pub use self::tcp::TcpConnector;

/// A byte stream in both directions.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Io for T {}

/// A connection attempt; dropping it cancels the attempt.
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<Box<dyn Io>>> + Send>>;

/// Opens byte streams. Implemented by every `Fn(Endpoint) -> impl Future<io::Result<impl Io>>`.
pub trait Connect: Send + Sync + 'static {
    /// Opens a stream to `endpoint`; the transport applies its time limit.
    fn connect(&self, endpoint: Endpoint) -> Connecting;
}

impl<F, Opening, Stream> Connect for F
where
    F: Fn(Endpoint) -> Opening + Send + Sync + 'static,
    Opening: Future<Output = io::Result<Stream>> + Send + 'static,
    Stream: Io,
{
    fn connect(&self, endpoint: Endpoint) -> Connecting {
        let opening = self(endpoint);
        Box::pin(async move { Ok(Box::new(opening.await?) as Box<dyn Io>) })
    }
}

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// A host name or address; IPv6 addresses have no brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}
