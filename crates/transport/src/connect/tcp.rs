//! TCP connections, with keep-alive probes and without Nagle's algorithm.
//!
//! The addresses of a host name are tried one after the other, in the resolver's order.

use super::{Connect, Connecting, Endpoint, Io};
use std::time::Duration;
use tokio::net::TcpStream;

/// The interval of TCP keep-alive probes; the same as in client-go.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// Connects by TCP.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct TcpConnector;

impl Connect for TcpConnector {
    fn connect(&self, endpoint: Endpoint) -> Connecting {
        Box::pin(async move {
            let stream = TcpStream::connect((endpoint.host.as_str(), endpoint.port)).await?;
            stream.set_nodelay(true)?;
            let keep_alive = socket2::TcpKeepalive::new()
                .with_time(KEEP_ALIVE)
                .with_interval(KEEP_ALIVE);
            socket2::SockRef::from(&stream).set_tcp_keepalive(&keep_alive)?;
            Ok(Box::new(stream) as Box<dyn Io>)
        })
    }
}
