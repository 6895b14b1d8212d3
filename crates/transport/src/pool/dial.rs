//! Opening a stream to the server: connector, proxy and TLS, in this order.
//!
//! It determines the HTTP version of the stream but speaks no HTTP itself, except `CONNECT`.

use crate::config::{HttpVersion, Timeouts};
use crate::connect::{Connect, Endpoint, Io, ProxyError, tunnel};
use crate::error::{Phase, TransportError};
use crate::proxy::Proxy;
use crate::stats::{Counted, Counters};
use crate::tls::{self, TlsError, TlsSource};
use rustls_pki_types::ServerName;
use std::sync::Arc;
use tokio::io::BufReader;
use tokio_rustls::TlsConnector;

/// The read size for a socket, in bytes. The TLS library reads 4 KiB at a time, which would be a
/// system call each.
const READ_AHEAD: usize = 64 * 1024;

/// The stream below HTTP.
pub(crate) type Stream = Box<dyn Io>;

/// The HTTP version of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

pub(crate) struct Dialer {
    pub(crate) connector: Arc<dyn Connect>,
    pub(crate) endpoint: Endpoint,
    pub(crate) proxy: Option<Proxy>,
    /// `None` for `http` servers.
    pub(crate) tls: Option<TlsSource>,
    pub(crate) version: HttpVersion,
    pub(crate) timeouts: Timeouts,
    pub(crate) counters: Arc<Counters>,
}

impl Dialer {
    /// Opens a stream. `only` overrides the configured choice of protocols.
    pub(crate) async fn dial(
        &self,
        only: Option<Protocol>,
    ) -> Result<(Stream, Protocol), TransportError> {
        let limit = self.timeouts.connect;
        let io = tokio::time::timeout(limit, self.reach())
            .await
            .map_err(|_| TransportError::Timeout {
                phase: Phase::Connect,
                limit,
            })??;
        let version = match only {
            Some(Protocol::Http1) => HttpVersion::Http1Only,
            Some(Protocol::Http2) => HttpVersion::Http2Only,
            None => self.version,
        };
        let Some(tls) = &self.tls else {
            let protocol = match version {
                HttpVersion::Auto | HttpVersion::Http1Only => Protocol::Http1,
                HttpVersion::Http2Only => Protocol::Http2,
            };
            return Ok((io, protocol));
        };
        let limit = self.timeouts.handshake;
        tokio::time::timeout(limit, self.secure(tls, io, version))
            .await
            .map_err(|_| TransportError::Timeout {
                phase: Phase::Handshake,
                limit,
            })?
    }

    /// Opens a stream to the server, through the proxy if there is one.
    async fn reach(&self) -> Result<Stream, TransportError> {
        let Some(proxy) = &self.proxy else {
            return self.open(self.endpoint.clone()).await;
        };
        let (Proxy::Http { host, port, .. } | Proxy::Socks5 { host, port, .. }) = proxy;
        let at = Endpoint {
            host: host.clone(),
            port: *port,
        };
        let mut io = self.open(at).await?;
        let made = match proxy {
            Proxy::Http {
                credentials,
                tls,
                host,
                ..
            } => {
                if *tls {
                    io = proxy_tls(io, host)
                        .await
                        .map_err(|source| self.no_tunnel(source))?;
                }
                tunnel::http(&mut io, &self.endpoint, credentials.as_ref()).await
            }
            Proxy::Socks5 { credentials, .. } => {
                tunnel::socks5(&mut io, &self.endpoint, credentials.as_ref()).await
            }
        };
        made.map(|()| io).map_err(|source| self.no_tunnel(source))
    }

    fn no_tunnel(&self, source: ProxyError) -> TransportError {
        TransportError::Proxy {
            endpoint: self.endpoint.clone(),
            source,
        }
    }

    async fn open(&self, at: Endpoint) -> Result<Stream, TransportError> {
        match self.connector.connect(at.clone()).await {
            Ok(io) => Ok(Box::new(Counted::new(io, Arc::clone(&self.counters)))),
            Err(error) => Err(TransportError::Connect {
                endpoint: at,
                source: Arc::new(error),
            }),
        }
    }

    async fn secure(
        &self,
        tls: &TlsSource,
        io: Stream,
        version: HttpVersion,
    ) -> Result<(Stream, Protocol), TransportError> {
        let failed = |source| TransportError::Tls {
            endpoint: self.endpoint.clone(),
            source,
        };
        let alpn: &[&[u8]] = match version {
            HttpVersion::Auto => &[b"h2", b"http/1.1"],
            HttpVersion::Http1Only => &[b"http/1.1"],
            HttpVersion::Http2Only => &[b"h2"],
        };
        let name = tls.server_name(&self.endpoint.host);
        let name = ServerName::try_from(name.clone())
            .map_err(|_| failed(TlsError::ServerName { name }))?;
        let stream = TlsConnector::from(tls.client_config(alpn))
            .connect(name, BufReader::with_capacity(READ_AHEAD, io))
            .await
            .map_err(|error| failed(TlsError::of_handshake(error)))?;
        let protocol = match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Protocol::Http2,
            _ if version == HttpVersion::Http2Only => return Err(failed(TlsError::Alpn)),
            _ => Protocol::Http1,
        };
        Ok((Box::new(stream), protocol))
    }
}

async fn proxy_tls(io: Stream, host: &str) -> Result<Stream, ProxyError> {
    let failed = |error| ProxyError::Tls(Arc::new(error));
    let config = tls::system_config().map_err(|error| failed(std::io::Error::other(error)))?;
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| failed(std::io::Error::other(error)))?;
    let stream = TlsConnector::from(config)
        .connect(name, io)
        .await
        .map_err(failed)?;
    Ok(Box::new(stream))
}
