//! `DiagnosticsServer`: serves diagnostics over HTTP.

use crate::Diagnostics;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The open connections; further ones wait.
const CONNECTIONS_MAX: usize = 64;
/// The time for the head of a request, and between requests.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause after the operating system refused to accept.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be used.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
}

/// Serves [`Diagnostics`] over HTTP/1.1, to at most 64 connections at a time.
#[derive(Debug)]
pub struct DiagnosticsServer {
    diagnostics: Arc<Diagnostics>,
    listener: TcpListener,
    address: SocketAddr,
}

impl DiagnosticsServer {
    /// Listens; connections are accepted once it is served.
    ///
    /// # Errors
    /// The address cannot be used.
    pub async fn bind(diagnostics: Diagnostics, address: SocketAddr) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            diagnostics: Arc::new(diagnostics),
            listener,
            address,
        })
    }

    /// Returns the address, with the port that was chosen if none was given.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the token is cancelled.
    ///
    /// Cancel safety: dropping the future closes all connections.
    pub async fn serve(self, token: CancellationToken) {
        let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut tasks = JoinSet::new();
        loop {
            let next = async {
                let place = Arc::clone(&room).acquire_owned().await;
                (self.listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                () = token.cancelled() => return,
                Some(_) = tasks.join_next() => continue,
                next = next => next,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            };
            let diagnostics = Arc::clone(&self.diagnostics);
            tasks.spawn(async move {
                let service = service_fn(move |request| {
                    std::future::ready(Ok::<_, Infallible>(answer(&diagnostics, &request)))
                });
                let mut builder = http1::Builder::new();
                builder
                    .timer(TokioTimer::new())
                    .header_read_timeout(READ_TIMEOUT);
                let served = builder
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
                drop((served, place));
            });
        }
    }
}

fn answer(diagnostics: &Diagnostics, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    diagnostics.handle(request).map(Full::new)
}
