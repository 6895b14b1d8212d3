//! `Exchange`: one request to a backend, and its answer.

use crate::proxy::Proxies;
use crate::proxy::backend::Backend;
use crate::proxy::failure::Failure;
use crate::proxy::forwarded::without_hop_by_hop;
use crate::proxy::slots::Slot;
use crate::proxy::streaming_body::StreamingBody;
use crate::proxy::tunnel;
use crate::request::request_body::RequestBody;
use crate::response::ApiResponse;
use crate::response::body::Body;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use http::{HeaderMap, Request, StatusCode};

use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::pin::{Pin, pin};

/// Bytes of an answer that wait in a connection until the client reads, and the most that its head
/// may have.
const BUFFER_BYTES_MAX: usize = 64 << 10;

/// What moves the bytes of a connection.
pub(super) type Driver = Pin<Box<dyn Future<Output = Result<(), hyper::Error>> + Send>>;

/// An answer whose body is still to come, and its connection.
pub(crate) struct Exchange {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    /// The backend's connection after 101.
    upgrade: OnUpgrade,
    /// `None` once the connection has ended.
    driver: Option<Driver>,
    slot: Slot,
}

impl Proxies {
    /// Sends a request for a user, and returns the answer once its head is there. There is no time
    /// limit for that: the client has one, or waits.
    ///
    /// # Errors
    /// The backend did not answer.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub(crate) async fn send(
        &self,
        user: &str,
        backend: &Backend,
        request: Request<RequestBody>,
    ) -> Result<Exchange, Failure> {
        self.send_in(self.slots.take(user), backend, request).await
    }

    /// Sends a request of the server itself, as [`send`](Self::send).
    ///
    /// # Errors
    /// The backend did not answer.
    pub(crate) async fn ask(
        &self,
        backend: &Backend,
        request: Request<RequestBody>,
    ) -> Result<Exchange, Failure> {
        self.send_in(self.own_slots.take(""), backend, request)
            .await
    }

    async fn send_in(
        &self,
        slot: Option<Slot>,
        backend: &Backend,
        request: Request<RequestBody>,
    ) -> Result<Exchange, Failure> {
        let slot = slot.ok_or(Failure::Full)?;
        let stream = backend.connect(&*self.dialer).await;
        let stream = stream.map_err(Failure::Connect)?;
        let mut http = http1::Builder::new();
        // Names of headers as Go writes them, for backends that compare them exactly.
        http.title_case_headers(true).max_buf_size(BUFFER_BYTES_MAX);
        let begun = http.handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = begun.map_err(|error| Failure::of(&error))?;
        let mut driver: Driver = Box::pin(connection.with_upgrades());
        let (sent, driver) = {
            let mut sending = pin!(sender.send_request(request));
            tokio::select! {
                biased;
                sent = &mut sending => (sent, Some(driver)),
                // Everything that was received is in the answer.
                ended = &mut driver => {
                    let sent = sending.await;
                    (sent.map_err(|error| ended.err().unwrap_or(error)), None)
                }
            }
        };
        let mut response = sent.map_err(|error| Failure::of(&error))?;
        let upgrade = hyper::upgrade::on(&mut response);
        let (parts, body) = response.into_parts();
        Ok(Exchange {
            status: parts.status,
            headers: parts.headers,
            body,
            upgrade,
            driver,
            slot,
        })
    }

    /// Passes an answer on. One that `follows` goes on until somebody ends it, and is cut when the
    /// server shuts down.
    pub(crate) fn pass_on(&self, exchange: Exchange, follows: bool) -> ApiResponse {
        let ends = follows.then(|| self.shutdown.closed());
        let body = StreamingBody::new(exchange.body, exchange.driver, exchange.slot, ends);
        let mut response = ApiResponse::new(exchange.status, "", Body::Chunks(Box::pin(body)));
        response.headers = without_hop_by_hop(&exchange.headers);
        response.streaming = true;
        response
    }

    /// Passes on 101 and what follows, in both directions. `client` is the client's connection.
    ///
    /// # Errors
    /// The backend's connection ended.
    pub(crate) async fn tunnel(
        &self,
        exchange: Exchange,
        client: OnUpgrade,
    ) -> Result<ApiResponse, Failure> {
        let mut upgrade = pin!(exchange.upgrade);
        let upgraded = match exchange.driver {
            None => upgrade.await,
            Some(mut driver) => tokio::select! {
                biased;
                upgraded = &mut upgrade => upgraded,
                _ = &mut driver => upgrade.await,
            },
        };
        let backend = upgraded.map_err(|error| Failure::of(&error))?;
        let slot = exchange.slot;
        let copying = async move {
            tunnel::copy(client, backend).await;
            drop(slot);
        };
        let body = Body::Tunnel(Some(Box::pin(copying)));
        let mut response = ApiResponse::new(exchange.status, "", body);
        response.headers = exchange.headers;
        response.streaming = true;
        Ok(response)
    }
}

impl Exchange {
    /// Reads at most `max` bytes of the body; the rest is dropped.
    ///
    /// # Errors
    /// The connection ended before.
    pub(crate) async fn beginning(self, max: usize) -> Result<Bytes, Failure> {
        let mut body = StreamingBody::new(self.body, self.driver, self.slot, None);
        let mut read = BytesMut::new();
        while let Some(data) = body.next().await {
            let data = data.map_err(|error| Failure::Exchange(error.to_string()))?;
            let rest = max - read.len();
            read.extend_from_slice(data.get(..rest).unwrap_or(&data));
            if read.len() == max {
                break;
            }
        }
        Ok(read.freeze())
    }
}
