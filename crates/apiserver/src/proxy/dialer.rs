//! `BackendDialer`: opens the connections to backends.

use kubist_registry::BoxFuture;
use socket2::{SockRef, TcpKeepalive};
use std::fmt;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// A connection without TLS.
pub trait BackendStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> BackendStream for S {}

/// Opens connections.
pub trait BackendDialer: fmt::Debug + Send + Sync {
    /// Connects to a port of a host: a DNS name, or an IP address without brackets.
    ///
    /// # Errors
    /// There is no connection.
    fn dial<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Box<dyn BackendStream>>>;
}

/// Connects over TCP, and notices a backend that is gone by keep-alive probes.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct TcpDialer;

/// The pause before the first probe, and between probes, as in Go.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

impl BackendDialer for TcpDialer {
    fn dial<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Box<dyn BackendStream>>> {
        Box::pin(async move {
            let stream = TcpStream::connect((host, port)).await?;
            // A terminal sends single keys. Both are improvements only.
            drop(stream.set_nodelay(true));
            let probes = TcpKeepalive::new()
                .with_time(KEEP_ALIVE)
                .with_interval(KEEP_ALIVE);
            drop(SockRef::from(&stream).set_tcp_keepalive(&probes));
            let stream: Box<dyn BackendStream> = Box::new(stream);
            Ok(stream)
        })
    }
}
