//! `Connection`: one HTTP/1.1 connection, driven by the call that uses it.
//!
//! No task runs for it. While it is idle it makes no progress, so a connection that the server has
//! closed is noticed when it is taken up again.

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use std::error::Error as _;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

/// A connection between two calls.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
    /// When it was last used.
    pub(crate) used: Instant,
}

type Driver = Pin<Box<dyn Future<Output = Result<(), hyper::Error>> + Send>>;

/// A response, read to its end.
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The connection, if it can be used again.
    pub(crate) connection: Option<Connection>,
}

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection was closed before any response.
    Closed,
    /// The response is too long.
    TooLarge,
    /// Another failure.
    Other(hyper::Error),
}

impl Connection {
    /// Begins a connection on a stream.
    pub(crate) async fn on<S>(stream: S) -> Result<Self, hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, driver) = http1::handshake(TokioIo::new(stream)).await?;
        Ok(Self {
            sender,
            driver: Box::pin(driver),
            used: Instant::now(),
        })
    }

    /// Returns the connection, unless the server has closed it.
    pub(crate) fn if_open(mut self) -> Option<Self> {
        match self.driver.as_mut().now_or_never() {
            None if !self.sender.is_closed() => Some(self),
            _ => None,
        }
    }

    /// Sends a request, and reads at most `body_max` bytes of the response.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub(crate) async fn send(
        self,
        request: Request<Full<Bytes>>,
        body_max: usize,
    ) -> Result<Response, Failure> {
        let Self {
            mut sender,
            mut driver,
            ..
        } = self;
        let exchange = async {
            sender.ready().await?;
            let response = sender.send_request(request).await?;
            let (head, body) = response.into_parts();
            let answered = (head.status, head.headers);
            Ok((answered, read(body, body_max).await?, sender))
        };
        let mut exchange = pin!(exchange);
        let (exchanged, is_open) = tokio::select! {
            biased;
            exchanged = &mut exchange => (exchanged, true),
            ended = &mut driver => {
                // Everything that was received is in the exchange.
                drop(driver);
                drop(ended);
                let exchanged: Result<_, Failure> = exchange.await;
                return exchanged.map(|((status, headers), body, _)| Response {
                    status,
                    headers,
                    body,
                    connection: None,
                });
            }
        };
        let ((status, headers), body, sender) = exchanged?;
        let connection = is_open.then(|| Self {
            sender,
            driver,
            used: Instant::now(),
        });
        Ok(Response {
            status,
            headers,
            body,
            connection,
        })
    }
}

impl Response {
    /// Reports whether the body is text, as client-go does: if no content type says something else.
    pub(crate) fn is_text(&self) -> bool {
        let of = self.headers.get(CONTENT_TYPE);
        of.is_none_or(|it| it.as_bytes().to_ascii_lowercase().starts_with(b"text/"))
    }
}

async fn read(mut body: Incoming, body_max: usize) -> Result<Bytes, Failure> {
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        if read.len() + data.len() > body_max {
            return Err(Failure::TooLarge);
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}

impl From<hyper::Error> for Failure {
    fn from(error: hyper::Error) -> Self {
        let source = error.source().and_then(|it| it.downcast_ref::<io::Error>());
        let is_end = source.is_some_and(|it| it.kind() == io::ErrorKind::UnexpectedEof);
        if error.is_canceled() || error.is_closed() || error.is_incomplete_message() || is_end {
            Self::Closed
        } else {
            Self::Other(error)
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("EOF"),
            Self::TooLarge => f.write_str("the response is too long"),
            Self::Other(error) => match error.source() {
                Some(source) => write!(f, "{error}: {source}"),
                None => write!(f, "{error}"),
            },
        }
    }
}
