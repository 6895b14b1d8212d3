//! `Connection`: an HTTP/2 connection with flow control windows of the client's choice.
//!
//! A window that is not released stays closed, as with a client that does not read. Dropping a
//! connection closes it.

use crate::Outcome;
use crate::access::{Access, Who};
use crate::call::Call;
use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::Response;
use http::header::RETRY_AFTER;
use serde_json::Value;
use std::time::Duration;
use tokio::task::JoinSet;

/// The time limit for a response, to its end.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
/// The most bytes of a body that are kept, enough for a status or a token.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// Bytes that the server may send before the client releases any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// On each stream.
    pub(crate) stream: u32,
    /// On all of them; the minimum is 65,535.
    pub(crate) connection: u32,
}

impl Windows {
    /// The windows of a client that reads.
    pub(crate) const OPEN: Self = Self {
        stream: 1 << 20,
        connection: 16 << 20,
    };
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status code; 0 without a response.
    pub(crate) status: u16,
    /// The reason in its `Status`, or the error.
    pub(crate) reason: String,
    /// Whether it has a Retry-After header.
    pub(crate) retry_after: bool,
    /// The first bytes of its body.
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// No response.
    fn none(reason: impl Into<String>) -> Self {
        Self {
            status: 0,
            reason: reason.into(),
            retry_after: false,
            body: Vec::new(),
        }
    }

    /// A response whose body is not read.
    pub(crate) fn unread(head: &Response<RecvStream>) -> Self {
        Self {
            status: head.status().as_u16(),
            retry_after: head.headers().contains_key(RETRY_AFTER),
            ..Self::none("")
        }
    }
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    sender: SendRequest<Bytes>,
    authority: String,
    token: Option<String>,
    /// Drives the connection; ends with it.
    _driver: JoinSet<()>,
}

impl Connection {
    /// Connects.
    pub(crate) async fn open(access: &Access, who: &Who, windows: Windows) -> Outcome<Self> {
        let stream = access.dial(who, "h2").await?;
        let mut builder = h2::client::Builder::new();
        builder
            .initial_window_size(windows.stream)
            .initial_connection_window_size(windows.connection);
        let (sender, connection) = builder.handshake::<_, Bytes>(stream).await?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            // Each of its requests gets the error.
            connection.await.ok();
        });
        Ok(Self {
            sender,
            authority: access.address.to_string(),
            token: match who {
                Who::Administrator => None,
                Who::Account(token) => Some(str::to_owned(token)),
            },
            _driver: driver,
        })
    }

    /// Sends a request and reads its response to the end, within a time limit.
    pub(crate) async fn call(&self, call: &Call) -> Answer {
        match tokio::time::timeout(ANSWER_LIMIT, self.exchange(call)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => Answer::none(error.to_string()),
            Err(_) => Answer::none(format!("not within {ANSWER_LIMIT:?}")),
        }
    }

    /// Sends a request and awaits the headers of its response. While the result is kept and not
    /// read, its windows do not change.
    pub(crate) async fn head(&self, call: &Call) -> Outcome<Response<RecvStream>> {
        let request = call.head(&self.authority, self.token.as_deref())?;
        let mut sender = self.sender.clone().ready().await?;
        let body = call.body();
        let (response, mut upload) = sender.send_request(request, body.is_empty())?;
        if !body.is_empty() {
            upload.send_data(body.clone(), true)?;
        }
        Ok(response.await?)
    }

    /// Starts a request whose body the caller sends, or does not send.
    pub(crate) async fn begin(&self, call: &Call) -> Outcome<(ResponseFuture, SendStream<Bytes>)> {
        let request = call.head(&self.authority, self.token.as_deref())?;
        let mut sender = self.sender.clone().ready().await?;
        Ok(sender.send_request(request, false)?)
    }

    async fn exchange(&self, call: &Call) -> Outcome<Answer> {
        let head = self.head(call).await?;
        let mut answer = Answer::unread(&head);
        let mut body = head.into_body();
        while let Some(chunk) = body.data().await {
            let chunk = chunk?;
            body.flow_control().release_capacity(chunk.len())?;
            let room = KEPT_BYTES_MAX - answer.body.len();
            let kept = &chunk[..chunk.len().min(room)];
            answer.body.extend_from_slice(kept);
        }
        if answer.status >= 400 {
            let status: Option<Value> = serde_json::from_slice(&answer.body).ok();
            let reason = status.as_ref().and_then(|it| it["reason"].as_str());
            reason.unwrap_or_default().clone_into(&mut answer.reason);
        }
        Ok(answer)
    }
}
