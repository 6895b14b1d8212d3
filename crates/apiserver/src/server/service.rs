//! `Service`: one request in, one response out.
//!
//! In upstream's order: audit id, authentication, deadline, what the path is about, the handler,
//! and then what every response has (warnings, cache control, compression). Whatever a handler
//! does, one request cannot end another.

mod authenticate;
mod non_resource;

use crate::authentication::authenticator::Authenticator;
use crate::config::Config;
use crate::filters::caller::Caller;
use crate::filters::host;
use crate::filters::in_flight::InFlight;
use crate::filters::incoming_request::IncomingRequest;
use crate::filters::request_record::{AUDIT_ID, RecordedBody, RequestRecord};
use crate::filters::seat_reservation::{self, Admission, NoRoom};
use crate::filters::send_buffers::Held;
use crate::filters::warning::add_warnings;
use crate::futures::cpu_bound::Heavy;
use crate::handlers::call::Call;
use crate::handlers::context::ServerContext;
use crate::metrics::{Metrics, RequestLabels};
use crate::negotiation::response_encoder::not_acceptable;
use crate::openapi::OpenApi;
use crate::request::Request;
use crate::request::route::Route;
use crate::response::body::{self, Body};
use crate::response::errors::{method_not_allowed, not_found};
use crate::response::{Answer, gzip};
use crate::routes::backup::BACKUPS_MAX;
use crate::shutdown::Ending;
use crate::{discovery, handlers};
use futures_util::FutureExt;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, HeaderValue, VARY};
use http::{Response, StatusCode, Version};
use hyper::body::Incoming;
use kubist_apimachinery::Status;
use kubist_codec::negotiate::{Offer, negotiate};
use kubist_registry::{Registry, RequestContext, User};
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// How long a request may take that is no watch, as upstream.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Answers requests.
#[derive(Debug)]
pub(crate) struct Service {
    context: ServerContext,
    slow_request: Duration,
    in_flight: InFlight,
    /// One for each backup that may be under way.
    backups: Arc<Semaphore>,
    open_api: OpenApi,
    address: Option<SocketAddr>,
    anonymous_health: bool,
}

impl Service {
    pub(crate) fn new(
        config: &Config,
        registry: Registry,
        authenticator: Authenticator,
        address: Option<SocketAddr>,
        ending: Ending,
    ) -> Self {
        Self {
            context: ServerContext {
                registry,
                authenticator,
                authorizer: Arc::clone(&config.authorizer),
                body_bytes_max: config.body_bytes_max,
                watch_timeout_min: config.watch_timeout_min,
                ending,
                metrics: Arc::new(Metrics::new()),
            },
            slow_request: config.slow_request,
            in_flight: InFlight::new(config),
            backups: Arc::new(Semaphore::new(BACKUPS_MAX)),
            open_api: OpenApi::new(),
            address,
            anonymous_health: config.anonymous_health,
        }
    }

    /// What the server counts.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.context.metrics
    }

    /// Answers one request; there is room for its answer, unless it still waits for its body.
    pub(crate) async fn answer(
        &self,
        caller: &Caller,
        held: &Held,
        request: http::Request<Incoming>,
    ) -> Response<RecordedBody> {
        let awaits_body = seat_reservation::awaits_body(&request);
        let (parts, mut body) = request.into_parts();
        let protocol = parts.version;
        let request = Request::new(parts);
        let route = Route::parse(&request.path);
        let labels = RequestLabels::of(&request, &route, &self.context.registry);
        let slow = self.slow_request;
        let mut record =
            RequestRecord::begin(&self.context.metrics, labels, &request, protocol, slow);
        let mut cx = self.context.registry.request(User::default());
        cx.around_unreadable = handlers::asks_for_the_rest(&request, &labels);
        let asked = IncomingRequest {
            request: &request,
            labels: &labels,
            caller,
            held,
            awaits_body,
        };
        let answered = self.within_deadline(&mut cx, asked, route, &mut body, &mut record);
        let answered = AssertUnwindSafe(Box::pin(answered)).catch_unwind().await;
        let answer = answered.unwrap_or_else(|_| {
            Err(Status::internal_error(
                "this request ran into a mistake of the server",
            ))
        });
        let answer =
            answer.unwrap_or_else(|status| match negotiate(request.accept(), &Offer::STATUS) {
                Ok(chosen) => {
                    let pretty = chosen.pretty || request.wants_pretty();
                    Answer::status(&status, chosen.format, pretty)
                }
                Err(_) => Answer::raw_status(&status),
            });
        let mut response = finish(&request, &cx, answer);
        response.headers_mut().insert(AUDIT_ID, record.audit_id());
        // On HTTP/1.1 the next request comes after whatever nobody read of this one; on HTTP/2 the
        // reset of a stream that the client still sends on can overtake the answer.
        let is_drained = body::drain(&mut body).await;
        if protocol < Version::HTTP_2 && !is_drained {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        record.answered(cx.user.name.clone(), response.status());
        response.map(|body| RecordedBody::new(body, record))
    }

    /// A watch has its own end; what else takes longer than it may is given up.
    async fn within_deadline(
        &self,
        cx: &mut RequestContext,
        asked: IncomingRequest<'_>,
        route: Route,
        body: &mut Incoming,
        record: &mut RequestRecord,
    ) -> Result<Answer, Status> {
        if let Some(refusal) = host::refusal(asked.request) {
            return Ok(refusal);
        }
        // Upstream reads the path before all else.
        if route == Route::Unclear {
            return Ok(Answer::unclear_path(asked.request.target()));
        }
        let deadline = deadline(asked.request)?;
        let answer = async {
            cx.user = self.user(cx, asked.caller, asked.request).await?;
            let cx = &*cx;
            let admission = match self.admission(&cx.user, asked) {
                Ok(admission) => admission,
                Err(NoRoom) => return Ok(Answer::too_many_requests()),
            };
            let routed = pin!(self.route(cx, asked, &admission, route, body));
            let answer = Heavy::new(routed, || cx.long_work()).await;
            if admission.is_refused() {
                return Ok(Answer::too_many_requests());
            }
            record.admitted(admission.take_place());
            answer
        };
        tokio::time::timeout(deadline, answer)
            .await
            .unwrap_or_else(|_| {
                self.context.metrics.terminated(asked.labels, 504);
                let why = "request did not complete within the allotted timeout";
                Err(Status::timeout(why, 0))
            })
    }

    async fn route(
        &self,
        cx: &RequestContext,
        asked: IncomingRequest<'_>,
        admission: &Admission<'_>,
        route: Route,
        body: &mut Incoming,
    ) -> Result<Answer, Status> {
        let request = asked.request;
        match route {
            Route::Resource(path) => {
                let call = Call {
                    server: &self.context,
                    cx,
                    request,
                    labels: asked.labels,
                    admission,
                };
                handlers::answer(call, path, body).await
            }
            Route::Other => self.other(cx, request).await,
            route => self.discovery(route, request),
        }
    }

    fn discovery(&self, route: Route, request: &Request) -> Result<Answer, Status> {
        let groups = self.context.registry.groups();
        let (group, version) = match &route {
            Route::Group(group) => (Some(group), None),
            Route::GroupVersion { group, version } => (Some(group), Some(version)),
            _ => (None, None),
        };
        let mut defined = false;
        if let Some(name) = group {
            let Some(group) = discovery::group(&groups, name) else {
                return Ok(Answer::page_not_found());
            };
            defined = self.context.is_custom(group);
            match version {
                Some(version) if group.version(version).is_some() => {}
                Some(_) if defined => return Ok(Answer::page_not_found()),
                Some(_) => return Err(not_found()),
                None => {}
            }
        }
        // Upstream looks at the method of these no more than of its root.
        let any_method = matches!(route, Route::Groups | Route::Group(_));
        if !any_method && request.method != "GET" {
            return Err(method_not_allowed(&request.method));
        }
        let offer = Offer {
            discovery: matches!(route, Route::CoreVersions | Route::Groups),
            routed: !defined && !any_method,
            ..Offer::DISCOVERY
        };
        let chosen = negotiate(request.accept(), &offer);
        let mut chosen = chosen.map_err(|refusal| not_acceptable(&refusal))?;
        chosen.pretty |= request.wants_pretty();
        let if_none_match = request.if_none_match();
        match route {
            Route::CoreVersions => {
                discovery::core_versions(&groups, &chosen, self.address, if_none_match)
            }
            Route::Groups => discovery::groups(&groups, &chosen, if_none_match),
            Route::Group(name) => match discovery::group(&groups, &name) {
                Some(group) => discovery::document(&chosen, &discovery::api_group(group)),
                None => Ok(Answer::page_not_found()),
            },
            Route::GroupVersion { group, version } => {
                let Some(served) = discovery::group(&groups, &group) else {
                    return Ok(Answer::page_not_found());
                };
                let version = served.version(&version).ok_or_else(not_found)?;
                discovery::document(&chosen, &discovery::resource_list(&group, version))
            }
            Route::Resource(_) | Route::Unclear | Route::Other => Ok(Answer::page_not_found()),
        }
    }
}

/// How long a request may take.
fn deadline(request: &Request) -> Result<Duration, Status> {
    let Some(text) = request.query.first("timeout").filter(|it| !it.is_empty()) else {
        return Ok(REQUEST_TIMEOUT);
    };
    let asked: kubist_apimachinery::Duration = text.parse().map_err(|error| {
        let message = format!("invalid timeout specified in the request URL - {error}");
        Status::bad_request(message)
    })?;
    let asked = u64::try_from(asked.as_nanos()).unwrap_or_default();
    Ok(match asked {
        0 => REQUEST_TIMEOUT,
        _ => REQUEST_TIMEOUT.min(Duration::from_nanos(asked)),
    })
}

/// Adds what every response has.
fn finish(request: &Request, cx: &RequestContext, mut answer: Answer) -> Response<Body> {
    if request.method == "HEAD" {
        answer.body = Body::empty();
    }
    if !answer.live
        && !answer.early
        && answer.code != StatusCode::NOT_MODIFIED
        && gzip::is_accepted(&request.headers)
    {
        answer.body = match gzip::compress(answer.body) {
            Ok(compressed) => {
                let headers = &mut answer.headers;
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
                compressed
            }
            Err(body) => body,
        };
    }
    let early = answer.early;
    let mut response = answer.into_response();
    let headers = response.headers_mut();
    add_warnings(headers, &cx.take_warnings());
    if !early {
        headers
            .entry(CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-cache, private"));
    }
    response
}
