//! `Client`: a handle for one API server.
//!
//! It sends requests through a transport and does what every request needs: it waits when the
//! server asks for it, reports warnings, and turns failure responses into a Status.

use crate::ambient::Ambient;
use crate::answer;
use crate::error::{AnswerError, ApiError};
use crate::request::{self, JSON, Target};
#[cfg(feature = "opentelemetry")]
use crate::request_span::inject;
use crate::request_span::request_span;
use crate::used_permissions::{Asked, UsedPermissions};
use crate::warning::{self, LogWarnings, WarningHandler};
use http::{Method, Request, Response};
use kubist_apimachinery::wire::Encoding;
use kubist_apimachinery::{ApiResource, Str};
use kubist_transport::{Body, ResponseBody, Transport};
use serde::Deserialize;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tracing::Instrument as _;

/// The pause before a GET is retried after its connection broke; the same as in client-go.
const BROKEN_CONNECTION_PAUSE: Duration = Duration::from_secs(1);
/// The most bytes read of a response that will be requested again, to keep its connection usable.
const DRAIN_BYTES_MAX: usize = 2048;
/// The most bytes of a response that is not an API object: versions, discovery.
const DOCUMENT_BYTES_MAX: usize = 64 << 20;

/// The client configuration. Connections are configured on the transport.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Config {
    /// The namespace of [`Api::default_namespaced`](crate::Api::default_namespaced). Default:
    /// `default`.
    pub default_namespace: Str,
    /// The preferred encoding for kinds that support both. Default: protobuf.
    pub encoding: Encoding,
    /// How often a request is retried when the server asks for it (429, 500 and above, with
    /// `Retry-After` in seconds), or, for a GET, when its connection broke. Default: 10, as in
    /// client-go.
    pub retries_max: u32,
    /// The longest pause to wait for; if the server asks for a longer one, its response is
    /// returned. Default: 60 s. (client-go has no limit.)
    pub retry_after_max: Duration,
    /// Receives warnings. Default: the log.
    pub warnings: Arc<dyn WarningHandler>,
    /// Where this client, and what is built on it, takes dates and random numbers from. Default:
    /// the machine.
    pub ambient: Ambient,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            default_namespace: "default".into(),
            encoding: Encoding::Protobuf,
            retries_max: 10,
            retry_after_max: Duration::from_secs(60),
            warnings: Arc::new(LogWarnings),
            ambient: Ambient::default(),
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("default_namespace", &self.default_namespace)
            .field("encoding", &self.encoding)
            .field("retries_max", &self.retries_max)
            .field("retry_after_max", &self.retry_after_max)
            .finish_non_exhaustive()
    }
}

/// A client for one API server. Cheap to clone; all clones share connections and what was learned
/// about the server.
#[derive(Clone, Debug)]
pub struct Client {
    shared: Arc<Shared>,
    dry_run: bool,
    used: Option<UsedPermissions>,
}

#[derive(Debug)]
struct Shared {
    transport: Transport,
    config: Config,
    /// The server has refused a protobuf body.
    writes_json: AtomicBool,
    /// The server has refused a streaming list.
    refuses_streaming_lists: AtomicBool,
}

/// The version that a server reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerVersion {
    /// `1`.
    pub major: Str,
    /// `36`; may end in `+`.
    pub minor: Str,
    /// `v1.36.0`.
    pub git_version: Str,
    /// `linux/amd64`.
    pub platform: Str,
}

impl Client {
    /// Creates a client over a transport.
    pub fn new(transport: Transport, config: Config) -> Self {
        let shared = Shared {
            transport,
            config,
            writes_json: AtomicBool::new(false),
            refuses_streaming_lists: AtomicBool::new(false),
        };
        Self {
            shared: Arc::new(shared),
            dry_run: false,
            used: None,
        }
    }

    /// Returns the same client, whose writes change nothing: the server does everything with them
    /// except storing (`dryRun=All`), and answers as if it had. Each is logged with its content, at
    /// the level `info`, as what would be written. To see what a controller would do, its
    /// reconcilers get such a client.
    ///
    /// What a server cannot do as a dry run is refused by it. Requests of [`Self::send`], logs,
    /// exec and the like are not writes in this sense, and are sent as they are.
    #[must_use]
    pub fn dry_run(&self) -> Self {
        Self {
            dry_run: true,
            ..self.clone()
        }
    }

    /// Returns the same client, whose requests record the rights that they need, in place of what
    /// recorded them before.
    ///
    /// ```
    /// # async fn example(client: kubist_client::Client) -> Result<(), kubist_client::ApiError> {
    /// use kubist_api::core::v1::Pod;
    /// use kubist_client::{Api, UsedPermissions};
    ///
    /// let used = UsedPermissions::default();
    /// let pods: Api<Pod> = Api::all(client.recording(&used));
    /// pods.list(&Default::default()).await?;
    /// assert_eq!(used.permissions()[0].to_string(), "list pods");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn recording(&self, used: &UsedPermissions) -> Self {
        Self {
            used: Some(used.clone()),
            ..self.clone()
        }
    }

    /// Returns what records the rights that are used.
    #[cfg(feature = "ws")]
    pub(crate) fn used(&self) -> Option<&UsedPermissions> {
        self.used.as_ref()
    }

    /// Reports whether writes of this client change nothing.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Returns the default namespace.
    pub fn default_namespace(&self) -> &Str {
        &self.shared.config.default_namespace
    }

    /// Returns where dates and random numbers come from: leases, events and pauses of what is built
    /// on this client are made of them.
    pub fn ambient(&self) -> &Ambient {
        &self.shared.config.ambient
    }

    /// Returns the transport.
    pub fn transport(&self) -> &Transport {
        &self.shared.transport
    }

    /// Reads the server version (`/version`).
    pub async fn server_version(&self) -> Result<ServerVersion, ApiError> {
        self.document("/version", JSON)
            .await
            .map(|(version, _)| version)
    }

    /// Sends a request, waiting and retrying like all requests of this client.
    ///
    /// The URI only needs a path. A response other than 2xx is an error.
    ///
    /// Cancel safety: dropping the future cancels the request; the server may have acted on it
    /// already.
    pub async fn send(&self, request: Request<Body>) -> Result<Response<ResponseBody>, ApiError> {
        self.send_to(request, None, self.shared.config.retries_max)
            .await
    }

    /// Same as [`Self::send`], for a request about a resource.
    pub(crate) async fn send_to(
        &self,
        request: Request<Body>,
        target: Option<Target<'_>>,
        retries_max: u32,
    ) -> Result<Response<ResponseBody>, ApiError> {
        let span = request_span(&request);
        let used = self.used.as_ref();
        let used = used.and_then(|used| Some((used, Asked::of(&request)?)));
        if let Some((used, asked)) = &used {
            used.note(asked);
        }
        #[cfg(feature = "opentelemetry")]
        let request = {
            let mut request = request;
            inject(&span, &mut request);
            request
        };
        let sent = self.send_again(request, target, retries_max);
        let sent = sent.instrument(span.clone()).await;
        if let Some((used, asked)) = &used {
            match &sent {
                Ok(response) => used.note_response(asked, response.status()),
                Err(error) => {
                    if let Some(status) = error.status() {
                        used.note_refusal(asked, status);
                    }
                }
            }
        }
        let code = match &sent {
            Ok(response) => Some(response.status().as_u16().into()),
            Err(error) => error.status().map(|it| it.code),
        };
        if let Some(code) = code {
            span.record("http.response.status_code", code);
        }
        sent
    }

    async fn send_again(
        &self,
        mut request: Request<Body>,
        target: Option<Target<'_>>,
        retries_max: u32,
    ) -> Result<Response<ResponseBody>, ApiError> {
        let Shared {
            transport, config, ..
        } = &*self.shared;
        let mut retries = 0;
        loop {
            let method = request.method().clone();
            let name = request::name_of(&request);
            let again = if retries < retries_max {
                try_clone(&request)
            } else {
                None
            };
            let (pause, copy) = match transport.send(request).await {
                Ok(response) => {
                    warning::report(response.headers(), &*config.warnings);
                    if response.status().is_success() {
                        return Ok(response);
                    }
                    let (Some(pause), Some(copy)) = (self.pause(&response), again) else {
                        let status = answer::failure(response, &method, target).await;
                        return Err(ApiError::Status(Box::new(status)));
                    };
                    drop(response.into_body().bytes(DRAIN_BYTES_MAX).await);
                    (pause, copy)
                }
                Err(error) => match again {
                    Some(copy) if method == Method::GET && error.is_closed() => {
                        (BROKEN_CONNECTION_PAUSE, copy)
                    }
                    _ => return Err(ApiError::transport(&name, error)),
                },
            };
            tracing::debug!(request = %name, ?pause, "waiting to send again");
            tokio::time::sleep(pause).await;
            retries += 1;
            request = copy;
        }
    }

    /// Returns the pause before the next attempt, if the response asks for one.
    fn pause(&self, response: &Response<ResponseBody>) -> Option<Duration> {
        let code = response.status().as_u16();
        if code != 429 && code < 500 {
            return None;
        }
        let pause = Duration::from_secs(answer::retry_after(response.headers())?.into());
        (pause <= self.shared.config.retry_after_max).then_some(pause)
    }

    /// Reads a JSON document that is not an API object, and its content type.
    pub(crate) async fn document<T: for<'de> Deserialize<'de>>(
        &self,
        path: &str,
        accept: &'static str,
    ) -> Result<(T, String), ApiError> {
        let request = request::build(Method::GET, path, accept, None)?;
        let name = request::name_of(&request);
        let response = self.send(request).await?;
        let content_type = response.headers().get(http::header::CONTENT_TYPE);
        let content_type = content_type
            .and_then(|it| it.to_str().ok())
            .unwrap_or_default();
        let content_type = content_type.to_owned();
        let body = response.into_body().bytes(DOCUMENT_BYTES_MAX).await;
        let bytes = body.map_err(|source| ApiError::transport(&name, source))?;
        let document = serde_json::from_slice(&bytes).map_err(|error| {
            let kind = kubist_apimachinery::wire::WireErrorKind::Syntax {
                reason: error.to_string(),
                line: error.line(),
                column: error.column(),
            };
            ApiError::answer(&name, AnswerError::Object(kind.into()))
        })?;
        Ok((document, content_type))
    }

    pub(crate) fn retries_max(&self) -> u32 {
        self.shared.config.retries_max
    }

    /// Reports whether to request protobuf for kinds that support it.
    pub(crate) fn reads_protobuf(&self) -> bool {
        self.shared.config.encoding == Encoding::Protobuf
    }

    /// Reports whether to send objects of this resource as protobuf.
    pub(crate) fn writes_protobuf(&self, resource: &ApiResource) -> bool {
        // A dry run is logged as text.
        !self.dry_run
            && self.reads_protobuf()
            && is_built_in(&resource.group)
            && !self.shared.writes_json.load(Ordering::Relaxed)
    }

    /// Notes that this server accepts only JSON.
    pub(crate) fn protobuf_refused(&self) {
        self.shared.writes_json.store(true, Ordering::Relaxed);
    }

    pub(crate) fn streaming_lists(&self) -> bool {
        !self.shared.refuses_streaming_lists.load(Ordering::Relaxed)
    }

    pub(crate) fn streaming_list_refused(&self) {
        self.shared
            .refuses_streaming_lists
            .store(true, Ordering::Relaxed);
    }
}

/// Reports whether the group is built into every server, which therefore reads its protobuf. Custom
/// resources are JSON only.
fn is_built_in(group: &str) -> bool {
    const SHORT: &[&str] = &["", "apps", "autoscaling", "batch", "extensions", "policy"];
    const LONG: &[&str] = &[
        "admission",
        "admissionregistration",
        "apiextensions",
        "apiregistration",
        "authentication",
        "authorization",
        "certificates",
        "coordination",
        "discovery",
        "events",
        "flowcontrol.apiserver",
        "internal.apiserver",
        "networking",
        "node",
        "rbac.authorization",
        "resource",
        "scheduling",
        "storage",
        "storagemigration",
    ];
    let long = group.strip_suffix(".k8s.io");
    SHORT.contains(&group) || long.is_some_and(|name| LONG.contains(&name))
}

fn try_clone(request: &Request<Body>) -> Option<Request<Body>> {
    let mut copy = Request::new(request.body().try_clone()?);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    Some(copy)
}
