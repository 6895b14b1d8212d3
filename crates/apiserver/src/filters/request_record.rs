//! `RequestRecord`: the log line and the metrics of one request, from its first byte to its last.
//!
//! The line has the audit id, the user, the request and its outcome. It has no headers, bodies or
//! query, so nothing secret. Requests are logged at level info, and slow ones (except long-running
//! ones) at level warn.

use crate::audit::audited_call::AuditedCall;
use crate::filters::seat::Seat;
use crate::metrics::{Gauge, Metrics, RequestLabels};
use crate::random::Chance;
use crate::request::Request;
use crate::response::body::{Body, ResponseAborted, Tunnel};
use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{StatusCode, Version};
use http_body::{Body as HttpBody, Frame, SizeHint};
use kubist_apimachinery::Str;
use kubist_flow_control::Class;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;

/// The header with the audit id, in requests and responses.
pub(crate) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
/// The headers with the uids of the flow schema and the priority level of a request.
const FLOW_SCHEMA_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");
const PRIORITY_LEVEL_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");
/// Characters shown of a client's own text: the limit is upstream's for audit ids.
const SHOWN_MAX: usize = 64;
/// Characters shown of a path.
const PATH_SHOWN_MAX: usize = 512;

/// Returns the audit id that the client sent, or a new one.
pub(crate) fn audit_id(headers: &HeaderMap, chance: &Chance) -> HeaderValue {
    let given = headers.get(&AUDIT_ID).filter(|it| !it.is_empty());
    let made = || HeaderValue::from_str(&chance.uid());
    given
        .cloned()
        .or_else(|| made().ok())
        .unwrap_or(HeaderValue::from_static("none"))
}

/// A request in progress. Dropping it logs and counts it.
#[derive(Debug)]
pub(crate) struct RequestRecord {
    metrics: Arc<Metrics>,
    labels: RequestLabels,
    under_way: Arc<Gauge>,
    began: Instant,
    slow: Duration,
    /// Held until the response ends.
    seat: Option<Seat>,
    /// How priority and fairness classified the request.
    class: Option<Arc<Class>>,
    /// What is recorded of it; its last stage when the response ends.
    audit: Option<Arc<AuditedCall>>,
    method: String,
    path: String,
    protocol: Version,
    audit_id: HeaderValue,
    agent: Option<HeaderValue>,
    user: Str,
    /// `None` until there is a response.
    code: Option<StatusCode>,
    bytes: u64,
}

impl RequestRecord {
    pub(crate) fn begin(
        metrics: &Arc<Metrics>,
        labels: RequestLabels,
        request: &Request,
        protocol: Version,
        slow: Duration,
        chance: &Chance,
    ) -> Self {
        let under_way = metrics.under_way(&labels);
        under_way.increment();
        Self {
            metrics: Arc::clone(metrics),
            labels,
            under_way,
            began: Instant::now(),
            slow,
            seat: None,
            class: None,
            audit: None,
            method: request.method.clone(),
            path: request.path.clone(),
            protocol,
            audit_id: audit_id(&request.headers, chance),
            agent: request.headers.get(USER_AGENT).cloned(),
            user: Str::default(),
            code: None,
            bytes: 0,
        }
    }

    /// Returns the audit id.
    pub(crate) fn audit_id(&self) -> HeaderValue {
        self.audit_id.clone()
    }

    /// Holds the seat of the request until its response ends.
    pub(crate) fn admitted(&mut self, seat: Option<Seat>) {
        self.seat = seat;
    }

    /// The request is recorded.
    pub(crate) fn audited(&mut self, audit: Option<Arc<AuditedCall>>) {
        self.audit = audit;
    }

    /// Returns what is recorded of it, if it is.
    pub(crate) fn audit(&self) -> Option<&Arc<AuditedCall>> {
        self.audit.as_ref()
    }

    /// Notes how the request was classified, if it was.
    pub(crate) fn classified(&mut self, class: Option<Arc<Class>>) {
        self.class = class;
    }

    /// Adds the headers that say so, as upstream.
    pub(crate) fn add_class(&self, headers: &mut HeaderMap) {
        let Some(class) = &self.class else { return };
        for (name, uid) in [
            (FLOW_SCHEMA_UID, &class.flow_schema_uid),
            (PRIORITY_LEVEL_UID, &class.priority_level_uid),
        ] {
            if let Ok(uid) = HeaderValue::from_str(uid) {
                headers.insert(name, uid);
            }
        }
    }

    /// Notes the user and the status code; the response begins.
    pub(crate) fn answered(&mut self, user: Str, code: StatusCode) {
        if let Some(seat) = &mut self.seat {
            seat.sending();
        }
        if let Some(audit) = &self.audit {
            audit.answered(code.as_u16());
            if self.labels.long_running {
                audit.started();
            }
        }
        self.user = user;
        self.code = Some(code);
    }

    fn log(&self, took: Duration) {
        macro_rules! line {
            ($level:ident, $message:literal) => {
                tracing::$level!(
                    target: "kubist_apiserver::request",
                    audit_id = shown(self.audit_id.as_bytes(), SHOWN_MAX),
                    verb = self.labels.verb,
                    method = shown(self.method.as_bytes(), SHOWN_MAX),
                    path = shown(self.path.as_bytes(), PATH_SHOWN_MAX),
                    group = self.labels.group,
                    resource = self.labels.resource,
                    subresource = self.labels.subresource,
                    user = &*self.user,
                    user_agent = shown(self.agent.as_ref().map_or(b"", |it| it.as_bytes()), SHOWN_MAX),
                    protocol = ?self.protocol,
                    code = self.code.map_or(0, |it| it.as_u16()),
                    bytes = self.bytes,
                    latency_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                    $message
                )
            };
        }
        if self.code.is_none() {
            line!(info, "client disconnected before the response");
        } else if took >= self.slow && !self.labels.long_running {
            line!(warn, "slow request");
        } else {
            line!(info, "request");
        }
    }
}

/// Returns text from a client in a form fit for logs: printable and short.
fn shown(text: &[u8], max: usize) -> String {
    let text = String::from_utf8_lossy(text);
    let printable = |it: char| if it.is_control() { '?' } else { it };
    let mut shown: String = text.chars().take(max).map(printable).collect();
    if text.chars().nth(max).is_some() {
        shown.push_str("...");
    }
    shown
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        self.under_way.decrement();
        match self.code {
            Some(code) => {
                let code = code.as_u16();
                self.metrics.answered(&self.labels, code, took, self.bytes);
            }
            None => self.metrics.abandoned(&self.labels),
        }
        self.log(took);
    }
}

/// A response body together with the record of its request, which ends with it.
#[derive(Debug)]
pub(crate) struct RecordedBody {
    body: Body,
    record: RequestRecord,
}

impl RecordedBody {
    pub(crate) fn new(body: Body, record: RequestRecord) -> Self {
        Self { body, record }
    }

    /// Takes what the connection is to be after the response, if it is no longer HTTP.
    pub(crate) fn take_tunnel(&mut self) -> Option<Tunnel> {
        self.body.take_tunnel()
    }

    /// Bytes that are produced and not passed to HTTP.
    pub(crate) fn ready_bytes(&self) -> usize {
        self.body.ready_bytes()
    }

    /// Whether the whole body is available at once.
    pub(crate) fn is_one_piece(&self) -> bool {
        self.body.is_one_piece()
    }
}

impl HttpBody for RecordedBody {
    type Data = Bytes;
    type Error = ResponseAborted;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ResponseAborted>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame {
            if let Some(seat) = &this.record.seat {
                seat.took();
            }
            this.record.bytes += frame.data_ref().map_or(0, Bytes::len) as u64;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audit_ids_of_clients_are_kept_unless_empty() {
        let (mut headers, chance) = (HeaderMap::new(), Chance::default());
        let audit_id = |headers: &HeaderMap| audit_id(headers, &chance);
        assert_eq!(audit_id(&headers).len(), 36);
        headers.insert(AUDIT_ID, HeaderValue::from_static(""));
        assert_eq!(audit_id(&headers).len(), 36);
        headers.insert(AUDIT_ID, HeaderValue::from_static("mine"));
        assert_eq!(audit_id(&headers), "mine");
    }

    #[test]
    fn text_from_clients_is_logged_printable_and_short() {
        assert_eq!(shown(b"abc", 3), "abc");
        assert_eq!(shown(b"abcd", 3), "abc...");
        assert_eq!(shown(b"a\nb\x1b[31m\xff", 20), "a?b?[31m\u{fffd}");
    }
}
