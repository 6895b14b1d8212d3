//! Serving on a socket: HTTP/2 for gRPC, HTTP/1.1 and HTTP/2 for the rest, with or without TLS.

use crate::service::Etcd;
use crate::tls::Tls;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tonic::body::Body;

/// Pause after an accept failed, for lack of file descriptors for instance.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
/// Time for a handshake, and for the first bytes of a request.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
/// Interval of pings on a connection with open streams, and the time for their answer: a client
/// that is gone holds no watches for longer.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_LIMIT: Duration = Duration::from_secs(20);
/// Time for open calls to end when the server stops; watches never end by themselves.
const DRAIN_LIMIT: Duration = Duration::from_millis(500);
/// HTTP/2 windows for requests: one of the largest size arrives without a pause.
const STREAM_WINDOW_BYTES: u32 = 2 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// Maximum bytes of unsent responses of a stream: a watch that is not read costs no more.
const SEND_BUFFER_BYTES: usize = 1 << 20;

impl Etcd {
    /// Serves on a socket until `stop` completes, and then until open calls have ended, for half a
    /// second at most. Needs a tokio runtime with I/O and time.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends all connections.
    pub async fn serve(
        self,
        listener: TcpListener,
        tls: Option<Tls>,
        stop: impl Future<Output = ()>,
    ) {
        let room = Arc::new(Semaphore::new(self.config().connections_max));
        let (stopping, stopped) = watch::channel(());
        let mut connections = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = accept(&listener, &room) => accepted,
            };
            while connections.try_join_next().is_some() {}
            let (stream, permit) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    sleep(ACCEPT_RETRY).await;
                    continue;
                }
            };
            let (etcd, tls, stopped) = (self.clone(), tls.clone(), stopped.clone());
            connections.spawn(async move {
                etcd.connection(stream, tls, stopped).await;
                drop(permit);
            });
        }
        drop(stopping);
        let drained = async { while connections.join_next().await.is_some() {} };
        // Those left are aborted with the set.
        timeout(DRAIN_LIMIT, drained).await.ok();
    }

    async fn connection(self, stream: TcpStream, tls: Option<Tls>, stopped: watch::Receiver<()>) {
        // Without it, small responses wait for acknowledgements.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY cannot be set");
        }
        let Some(tls) = tls else {
            return self.requests(stream, stopped).await;
        };
        match timeout(HANDSHAKE_LIMIT, tls.acceptor().accept(stream)).await {
            Ok(Ok(stream)) => self.requests(stream, stopped).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        }
    }

    async fn requests<S>(self, stream: S, mut stopped: watch::Receiver<()>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let streams_max = self.config().connection_streams_max;
        let mut server = Builder::new(TokioExecutor::new());
        server
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(HANDSHAKE_LIMIT);
        server
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_LIMIT)
            .max_concurrent_streams(streams_max)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_send_buf_size(SEND_BUFFER_BYTES);
        let service = service_fn(move |request| {
            let etcd = self.clone();
            async move { Ok::<_, Infallible>(etcd.respond(request).await) }
        });
        let connection = server.serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            // The sender is dropped, which is no value.
            _ = stopped.changed() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended");
        }
    }

    async fn respond(self, request: http::Request<Incoming>) -> http::Response<Body> {
        let content_type = request.headers().get(http::header::CONTENT_TYPE);
        let is_call = content_type.is_some_and(|it| it.as_bytes().starts_with(b"application/grpc"));
        if is_call {
            return self.answer(request).await;
        }
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        self.plain(&method, &path).await
    }
}

/// Waits for room, and then for a connection.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await;
    let permit = permit.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, permit))
}
