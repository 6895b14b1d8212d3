//! `Service`: the handler chain from a request to its response.
//!
//! In upstream's order: audit id, authentication, deadline, request path, handler, and then the
//! headers that every response has (warnings, cache control, compression). A panicking handler
//! affects only its own request.

mod authenticate;
mod discovery;
mod failures;
mod non_resource;

use crate::admission::DynamicAdmission;
use crate::aggregation::{Aggregation, Remote};
use crate::audit::Audit;
use crate::audit::audited_call::{AuditedCall, Head, NotStored};
use crate::authentication::authenticator::Authenticator;
use crate::authentication::jwt_issuers::JwtIssuers;
use crate::authorization::authorizer::{CountsDecisions, Denial};
use crate::authorization::request_attributes::RequestAttributes;
use crate::config::Config;
use crate::filters::connection_info::ConnectionInfo;
use crate::filters::flow_control::FlowControl;
use crate::filters::host;
use crate::filters::impersonation_mode::LastModes;
use crate::filters::incoming_request::IncomingRequest;
use crate::filters::observed_call::ObservedCall;
use crate::filters::request_observer::RequestObserver;
use crate::filters::request_record::{AUDIT_ID, RecordedBody, RequestRecord};
use crate::filters::seat_reservation::{self, SeatReservation};
use crate::filters::seats::{Seats, TooManyRequests};
use crate::filters::send_buffers::ResponseBuffer;
use crate::filters::warning::add_warnings;
use crate::futures::cpu_bound::CpuBound;
use crate::handlers;
use crate::handlers::call::Call;
use crate::handlers::context::ServerContext;
use crate::metrics::{Metrics, RequestLabels};
use crate::openapi::OpenApi;
use crate::proxy::Proxies;
use crate::random::Chance;
use crate::request::Request;
use crate::request::cbor::Cbor;
use crate::request::request_body::RequestBody;
use crate::request::route::Route;
use crate::response::body::{self, Body};
use crate::response::{ApiResponse, cbor, gzip};
use crate::routes::backup::BACKUPS_MAX;
use crate::shutdown::Shutdown;
use bytes::Bytes;
use failures::{failed, refused};
use futures_util::FutureExt;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, HeaderValue, VARY};
use http::{Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use kubist_apimachinery::Status;
use kubist_authorization::Attributes;
use kubist_codec::Format;
use kubist_registry::{Registry, RequestContext, User};
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Time limit of requests other than watches, as upstream.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Who asks if authentication fails.
static NOBODY: LazyLock<User> = LazyLock::new(User::default);

/// Handles requests.
#[derive(Debug)]
pub(crate) struct Service {
    context: ServerContext,
    slow_request: Duration,
    seats: Seats,
    /// One permit for each concurrent backup.
    backups: Arc<Semaphore>,
    open_api: OpenApi,
    address: Option<SocketAddr>,
    observer: Option<Arc<dyn RequestObserver>>,
    audit: Option<Audit>,
    admission: Option<DynamicAdmission>,
    last_modes: LastModes,
    /// Whether CBOR is offered.
    cbor: bool,
}

impl Service {
    pub(crate) fn new(
        config: &Config,
        registry: Registry,
        authenticator: Authenticator,
        address: Option<SocketAddr>,
        shutdown: Shutdown,
        (chance, proxies): (Arc<Chance>, Proxies),
    ) -> Self {
        Self {
            context: ServerContext {
                registry,
                authenticator,
                authorization: config.authorization.clone(),
                anonymous: config.anonymous.clone(),
                body_bytes_max: config.body_bytes_max,
                watch_timeout_min: config.watch_timeout_min,
                shutdown,
                metrics: Arc::new(Metrics::new()),
                chance,
                proxies,
                aggregation: Aggregation::new(&config.aggregation),
            },
            slow_request: config.slow_request,
            seats: Seats::new(config),
            backups: Arc::new(Semaphore::new(BACKUPS_MAX)),
            open_api: OpenApi::new(),
            address,
            observer: config.observer.clone(),
            audit: config.audit.clone(),
            admission: config.admission.clone(),
            last_modes: LastModes::default(),
            cbor: config.cbor,
        }
    }

    /// Random numbers for connections.
    pub(super) fn chance(&self) -> &Chance {
        &self.context.chance
    }

    /// The issuers of JWTs.
    pub(super) fn jwt_issuers(&self) -> &JwtIssuers {
        self.context.authenticator.jwt_issuers()
    }

    /// What the handlers share.
    pub(super) fn context(&self) -> &ServerContext {
        &self.context
    }

    /// The number of open connections to other servers.
    pub(super) fn backend_connections(&self) -> usize {
        self.context.proxies.open()
    }

    /// The server's metrics.
    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.context.metrics
    }

    /// The server's priority levels, if it has them.
    pub(crate) fn flow_control(&self) -> Option<&Arc<FlowControl>> {
        self.seats.flow()
    }

    /// Handles one request. The send buffer has room for its response, unless the request still
    /// awaits its body.
    pub(crate) async fn handle(
        &self,
        connection: &ConnectionInfo,
        held: &ResponseBuffer,
        request: http::Request<Incoming>,
    ) -> Response<RecordedBody> {
        let awaits_body = seat_reservation::awaits_body(&request);
        let (mut parts, body) = request.into_parts();
        let mut body = RequestBody::new(body, parts.extensions.remove::<OnUpgrade>());
        let protocol = parts.version;
        let mut request = Request::new(parts);
        let route = Route::parse(&request.path);
        let labels = RequestLabels::of(&request, &route, &self.context.registry);
        if self.speaks_cbor(&route, &request) {
            // What is passed on to kubelets is not touched.
            request.cbor = if labels.connects() {
                Cbor::offered()
            } else {
                Cbor::taken(&mut request.headers)
            };
        }
        let slow = self.slow_request;
        let (metrics, chance) = (&self.context.metrics, &self.context.chance);
        let mut record = RequestRecord::begin(metrics, labels, &request, protocol, slow, chance);
        let mut cx = self.context.registry.request(User::default());
        cx.user_agent = request.user_agent().into();
        cx.skip_unreadable = handlers::ignores_read_errors(&request, &labels);
        let mut call = ObservedCall::new(cx, labels, &request.path, self.observer.clone());
        let incoming = IncomingRequest {
            request: &request,
            labels: &labels,
            connection,
            held,
            awaits_body,
        };
        let answered = self.within_deadline(&mut call.cx, incoming, route, &mut body, &mut record);
        let answered = AssertUnwindSafe(Box::pin(answered)).catch_unwind().await;
        let response = answered.unwrap_or_else(|_| {
            record.audit().inspect(|it| it.panicked());
            Err(Status::internal_error(
                "this request caused apiserver to panic. Look in the logs for details.",
            ))
        });
        if let Some(audit) = record.audit() {
            audit.annotate_all(call.cx.take_annotations());
        }
        if let (Some(audit), Err(status)) = (record.audit(), &response) {
            audit.failed(status);
        }
        let response = response.unwrap_or_else(|status| failed(&request, &status));
        if let Some(audit) = record.audit()
            && audit.wants_response()
            && !labels.long_running
        {
            audit.response_body(complete_body(&response));
        }
        let mut response = finish(&request, &call.cx, cbor::encode(response));
        call.answered(response.status());
        response.headers_mut().insert(AUDIT_ID, record.audit_id());
        record.add_class(response.headers_mut());
        // On HTTP/1.1 the next request follows the unread rest of this body. On HTTP/2 the reset of
        // a stream on which the client still sends can overtake the response.
        let is_drained = body::drain(&mut body).await;
        if protocol < Version::HTTP_2 && !is_drained {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        record.answered(call.cx.user.name.clone(), response.status());
        response.map(|body| RecordedBody::new(body, record))
    }

    /// Handles a request within its deadline. Watches have their own timeout.
    async fn within_deadline(
        &self,
        cx: &mut RequestContext,
        incoming: IncomingRequest<'_>,
        route: Route,
        body: &mut RequestBody,
        record: &mut RequestRecord,
    ) -> Result<ApiResponse, Status> {
        if let Some(refusal) = host::refusal(incoming.request) {
            return Ok(refusal);
        }
        // Upstream parses the path before all else.
        if route == Route::Malformed {
            return Ok(ApiResponse::malformed_path(incoming.request.target()));
        }
        let deadline = deadline(incoming)?;
        let response = async {
            let access = self.context.metrics.access();
            let began = Instant::now();
            let user = self
                .authenticated(cx, incoming.connection, incoming.request)
                .await;
            access.authenticated(&user, began.elapsed());
            let asked = RequestAttributes::of(incoming.request, &route);
            let known = user.as_ref().unwrap_or(&NOBODY);
            let audited = self.audited(cx, &asked.by(known), incoming, record).await;
            let Ok(audited) = audited else {
                return Ok(ApiResponse::audit_failed(incoming.request.target()));
            };
            record.audited(audited);
            let user = user?;
            let acting = self.impersonated(incoming.request, asked.by(&user), record);
            cx.user = acting.await?.unwrap_or(user);
            cx.grants = self.context.authorization.grants().cloned();
            let cx = &*cx;
            let asked = asked.by(&cx.user);
            let reservation = match self.reservation(asked, incoming).await {
                Ok(reservation) => reservation,
                Err(TooManyRequests { class }) => {
                    record.classified(class);
                    return Ok(ApiResponse::too_many_requests());
                }
            };
            let audit = record.audit().cloned();
            let response = async {
                let authorization = &self.context.authorization;
                let counted: Option<&dyn CountsDecisions> = Some(access);
                match authorization.check(asked, audit.as_deref(), counted).await {
                    Ok(()) => {}
                    Err(Denial::Forbidden(status)) => {
                        return Ok(refused(incoming.request, record, &status));
                    }
                    Err(Denial::Failed(why)) => {
                        return Ok(ApiResponse::internal_error(incoming.request.target(), &why));
                    }
                }
                let routed = self.route(cx, incoming, &reservation, &route, body, audit.clone());
                let routed = pin!(routed);
                CpuBound::new(routed, || cx.long_work()).await
            };
            let response = response.await;
            record.classified(reservation.class());
            if reservation.is_rejected() {
                return Ok(ApiResponse::too_many_requests());
            }
            // What goes on for long, such as a watch, has its seat only until it has begun.
            let seat = reservation.take_seat();
            record.admitted(seat.filter(|_| !incoming.labels.long_running));
            response
        };
        self.in_time(deadline, incoming.labels, response).await
    }

    /// Waits for a response, but not beyond its time limit.
    async fn in_time(
        &self,
        limit: Option<Duration>,
        labels: &RequestLabels,
        response: impl Future<Output = Result<ApiResponse, Status>>,
    ) -> Result<ApiResponse, Status> {
        let Some(limit) = limit else {
            return response.await;
        };
        tokio::time::timeout(limit, response)
            .await
            .unwrap_or_else(|_| {
                self.context.metrics.terminated(labels, 504);
                let why = "request did not complete within the allotted timeout";
                Err(Status::timeout(why, 0))
            })
    }

    async fn route(
        &self,
        cx: &RequestContext,
        incoming: IncomingRequest<'_>,
        reservation: &SeatReservation<'_>,
        route: &Route,
        body: &mut RequestBody,
        audit: Option<Arc<AuditedCall>>,
    ) -> Result<ApiResponse, Status> {
        let request = incoming.request;
        let call = Call {
            server: &self.context,
            cx,
            request,
            labels: incoming.labels,
            source: incoming.connection.source.map(|it| it.ip()),
            reservation,
            audit: audit.as_deref(),
        };
        if let Some(remote) = self.remote(route, request) {
            return handlers::aggregated::handle(call, &remote, body).await;
        }
        match route {
            Route::Resource(path) => handlers::handle(call, path, body).await,
            Route::Other => self.other(cx, request).await,
            route => self.discovery(route, request),
        }
    }

    /// Reports whether CBOR may stand for JSON at a path: where upstream has it, and not where
    /// another server answers. Upstream panics over the version of the core group.
    fn speaks_cbor(&self, route: &Route, request: &Request) -> bool {
        let has_it = match route {
            Route::Resource(_) => true,
            Route::GroupVersion { group, .. } if !group.is_empty() => {
                let groups = self.context.registry.groups();
                let found = crate::discovery::group(&groups, group);
                found.is_some_and(|group| !self.context.is_custom(group))
            }
            _ => false,
        };
        self.cbor && has_it && self.remote(route, request).is_none()
    }

    /// Returns the other server that serves the group version of a path.
    fn remote(&self, route: &Route, request: &Request) -> Option<Arc<Remote>> {
        let aggregation = &self.context.aggregation;
        match route {
            Route::Resource(path) => aggregation.remote(&path.group, &path.version),
            Route::GroupVersion { group, version } => aggregation.remote(group, version),
            Route::Other => {
                let path = request.path.strip_prefix("/openapi/v3/")?;
                match *path.split('/').collect::<Vec<_>>() {
                    ["apis", group, version] => aggregation.remote(group, version),
                    ["api", version] => aggregation.remote("", version),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Begins to record a request, if it is.
    ///
    /// # Errors
    /// It must be recorded, and cannot be.
    async fn audited(
        &self,
        cx: &RequestContext,
        asked: &Attributes<'_>,
        incoming: IncomingRequest<'_>,
        record: &RequestRecord,
    ) -> Result<Option<Arc<AuditedCall>>, NotStored> {
        let Some(audit) = &self.audit else {
            return Ok(None);
        };
        let id = record.audit_id();
        let head = Head {
            audit_id: String::from_utf8_lossy(id.as_bytes()).into_owned(),
            uri: incoming.request.target(),
            user_agent: incoming.request.user_agent(),
            source: incoming.connection.source.map(|it| it.ip().to_string()),
            received: cx.received,
            clock: Arc::clone(self.context.registry.clock()),
        };
        AuditedCall::begin(audit, asked, head).await
    }
}

/// Returns a complete body, for the audit log; none if it is produced while it is sent.
fn complete_body(response: &ApiResponse) -> Option<(Format, Bytes)> {
    // What is sent in CBOR is JSON until then.
    let format = if cbor::is_due(response) {
        Format::Json
    } else {
        Format::of_media_type(response.content_type)?
    };
    Some((format, response.body.whole()?))
}

/// Returns the time limit of a request. One that is passed on has none: it goes on for as long as
/// its two sides want.
fn deadline(incoming: IncomingRequest<'_>) -> Result<Option<Duration>, Status> {
    if incoming.labels.connects() {
        return Ok(None);
    }
    let query = &incoming.request.query;
    let Some(text) = query.first("timeout").filter(|it| !it.is_empty()) else {
        return Ok(Some(REQUEST_TIMEOUT));
    };
    let requested: kubist_apimachinery::Duration = text.parse().map_err(|error| {
        let message = format!("invalid timeout specified in the request URL - {error}");
        Status::bad_request(message)
    })?;
    let requested = u64::try_from(requested.as_nanos()).unwrap_or_default();
    Ok(Some(match requested {
        0 => REQUEST_TIMEOUT,
        _ => REQUEST_TIMEOUT.min(Duration::from_nanos(requested)),
    }))
}

/// Adds the headers that every response has, and compresses it.
fn finish(request: &Request, cx: &RequestContext, mut response: ApiResponse) -> Response<Body> {
    if request.method == "HEAD" {
        response.body = Body::empty();
    }
    if !response.streaming
        && !response.unauthenticated
        && response.code != StatusCode::NOT_MODIFIED
        && gzip::is_accepted(&request.headers)
    {
        response.body = match gzip::compress(response.body) {
            Ok(compressed) => {
                let headers = &mut response.headers;
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
                compressed
            }
            Err(body) => body,
        };
    }
    let unauthenticated = response.unauthenticated;
    let mut response = response.into_response();
    let headers = response.headers_mut();
    add_warnings(headers, &cx.take_warnings());
    if !unauthenticated {
        headers
            .entry(CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-cache, private"));
    }
    response
}
