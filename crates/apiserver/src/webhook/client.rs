//! `Client`: calls one webhook, over a pool of connections.

use super::connect_errors::{dial_error, tls_error};
use super::connection::{Connection, Failure};
use super::remote_service::RemoteService;
use super::resolver::{ServiceAddress, ServiceResolver};
use super::tls;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use http::uri::Scheme;
use http::{Method, Request, Uri};
use http_body_util::Full;
use kubist_registry::{
    BoxFuture, Lookup, WebhookCall, WebhookClient, WebhookConfig, WebhookError, WebhookTarget,
};
use parking_lot::Mutex;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

/// The maximum of concurrent calls of one webhook.
pub const CALLS_MAX: usize = 100;
/// The maximum of idle connections to one webhook.
const IDLE_MAX: usize = 8;
/// How long an idle connection is kept, as upstream.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// The maximum length of the shown body of a response that is not a success.
const SHOWN_MAX: usize = 2 << 10;
/// The default ports of a URL.
pub(crate) const HTTPS_PORT: u16 = 443;
const HTTP_PORT: u16 = 80;
/// What the server calls itself.
pub(crate) const AGENT: &str = concat!("kubist/", env!("CARGO_PKG_VERSION"));

/// A body to be posted.
struct Post<'a> {
    body: Bytes,
    response_bytes_max: usize,
    /// Looks up the service of the webhook.
    lookup: Option<&'a dyn Lookup>,
}

/// A client of one webhook.
pub(crate) struct Client {
    target: WebhookTarget,
    /// The server that a certificate must name.
    server_name: ServerName<'static>,
    /// The host and port of a URL; services are resolved for each connection.
    host: String,
    port: u16,
    /// Absent for a URL without TLS.
    tls: Option<Arc<ClientConfig>>,
    /// Absent for a URL.
    resolver: Option<Arc<dyn ServiceResolver>>,
    authorization: Option<HeaderValue>,
    seats: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

impl Client {
    /// Creates a client.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub(super) fn new(
        config: &WebhookConfig,
        resolver: Arc<dyn ServiceResolver>,
    ) -> Result<Self, WebhookError> {
        let (host, port) = match &config.target {
            WebhookTarget::Service(service) => {
                let host = format!("{}.{}.svc", service.name, service.namespace);
                (host, service.port)
            }
            WebhookTarget::Url(url) => of_url(url)?,
        };
        let client = Self::at(config.target.clone(), (&host, port), None)?;
        Ok(Self {
            tls: Some(tls::config(&config.ca_bundle)?),
            resolver: Some(resolver),
            ..client
        })
    }

    /// Creates a client of a service outside of the cluster.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub(crate) fn remote(service: &RemoteService) -> Result<Self, WebhookError> {
        let parsed: Uri = service
            .url
            .parse()
            .map_err(|error| invalid(&format!("Unparsable URL: {error}")))?;
        let host = parsed.host().filter(|it| !it.is_empty());
        let host = host.ok_or_else(|| invalid("host must be specified"))?;
        let has_tls = match parsed.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(invalid("the URL scheme must be https or http")),
        };
        let port = parsed.port_u16();
        let port = port.unwrap_or(if has_tls { HTTPS_PORT } else { HTTP_PORT });
        let target = WebhookTarget::Url(service.url.clone());
        let name = Some(&*service.tls_server_name).filter(|it| !it.is_empty());
        let mut client = Self::at(target, (host, port), name)?;
        if has_tls {
            client.tls = Some(tls::remote(service)?);
        }
        if let Some(authorization) = &service.authorization {
            let value = HeaderValue::from_str(authorization);
            let mut value = value.map_err(|_| invalid("the credentials cannot be in a header"))?;
            value.set_sensitive(true);
            client.authorization = Some(value);
        }
        Ok(client)
    }

    fn at(
        target: WebhookTarget,
        (host, port): (&str, u16),
        name: Option<&str>,
    ) -> Result<Self, WebhookError> {
        // The host of an IPv6 address is in brackets.
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let server_name = ServerName::try_from(name.unwrap_or(host).to_owned());
        Ok(Self {
            target,
            server_name: server_name.map_err(|_| invalid(&format!("invalid host {host:?}")))?,
            host: host.to_owned(),
            port,
            tls: None,
            resolver: None,
            authorization: None,
            seats: Semaphore::new(CALLS_MAX),
            idle: Mutex::default(),
        })
    }

    /// Posts JSON, and returns the body of a successful response.
    ///
    /// # Errors
    /// There is none within the time limit.
    pub(crate) async fn post(
        &self,
        body: Bytes,
        response_bytes_max: usize,
        lookup: Option<&dyn Lookup>,
        timeout: Duration,
    ) -> Result<Bytes, WebhookError> {
        let url = self.target.url(timeout);
        let deadline = Instant::now() + timeout;
        let call = Post {
            body,
            response_bytes_max,
            lookup,
        };
        match timeout_at(deadline, self.send(&call, &url)).await {
            Ok(answer) => answer,
            Err(_) => Err(WebhookError::Deadline { url }),
        }
    }

    async fn send(&self, call: &Post<'_>, url: &str) -> Result<Bytes, WebhookError> {
        // The semaphore is never closed.
        let _seat = self
            .seats
            .acquire()
            .await
            .map_err(|error| failed(url, &error))?;
        let mut idle = self.take_idle();
        let response = loop {
            let is_reused = idle.is_some();
            let connection = match idle.take() {
                Some(connection) => connection,
                None => self.connect(call, url).await?,
            };
            let request = request(url, call.body.clone(), self.authorization.as_ref())?;
            match connection.send(request, call.response_bytes_max).await {
                Ok(response) => break response,
                // The server has closed a connection that was idle for long. Reviews have no side
                // effects, so they may be sent again.
                Err(Failure::Closed) if is_reused => {}
                Err(Failure::TooLarge) => {
                    return Err(WebhookError::ResponseTooLarge {
                        url: url.to_owned(),
                        limit: call.response_bytes_max,
                    });
                }
                Err(failure) => return Err(failed(url, &failure)),
            }
        };
        let is_text = response.is_text();
        if let Some(connection) = response.connection {
            let mut idle = self.idle.lock();
            if idle.len() < IDLE_MAX {
                idle.push(connection);
            }
        }
        if response.status.is_success() {
            return Ok(response.body);
        }
        // Upstream shows text only: other bodies may quote the objects that were sent.
        let shown = response.body.get(..SHOWN_MAX).unwrap_or(&response.body);
        let shown = if is_text { shown } else { &[] };
        Err(WebhookError::Refused {
            code: response.status.as_u16(),
            body: String::from_utf8_lossy(shown).trim().to_owned(),
        })
    }

    /// Takes an idle connection that is still open.
    fn take_idle(&self) -> Option<Connection> {
        loop {
            let connection = self.idle.lock().pop()?;
            if connection.used.elapsed() < IDLE_TIMEOUT
                && let Some(open) = connection.if_open()
            {
                return Some(open);
            }
        }
    }

    async fn connect(&self, call: &Post<'_>, url: &str) -> Result<Connection, WebhookError> {
        let address = match (&self.target, &self.resolver, call.lookup) {
            (WebhookTarget::Service(service), Some(resolver), Some(lookup)) => {
                let found = resolver.resolve(service, lookup).await;
                found.map_err(|why| failed(url, &why))?
            }
            _ => ServiceAddress {
                host: self.host.clone(),
                port: self.port,
            },
        };
        let ServiceAddress { host, port } = address;
        let stream = TcpStream::connect((host.as_str(), port)).await;
        let stream = stream.map_err(|error| {
            let why = dial_error(&error);
            failed(url, &format_args!("dial tcp {host}:{port}: {why}"))
        })?;
        // Small requests go out at once; otherwise it has no effect.
        drop(stream.set_nodelay(true));
        let Some(tls) = &self.tls else {
            let connection = Connection::on(stream).await;
            return connection.map_err(|error| failed(url, &error));
        };
        let connector = TlsConnector::from(Arc::clone(tls));
        let stream = connector.connect(self.server_name.clone(), stream).await;
        let stream = stream.map_err(|error| failed(url, &tls_error(&error)))?;
        let connection = Connection::on(stream).await;
        connection.map_err(|error| failed(url, &error))
    }
}

impl WebhookClient for Client {
    fn call<'a>(&'a self, call: WebhookCall<'a>) -> BoxFuture<'a, Result<Bytes, WebhookError>> {
        Box::pin(self.post(
            call.body,
            call.response_bytes_max,
            Some(call.lookup),
            call.timeout,
        ))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// Returns the host and the port of a URL.
fn of_url(url: &str) -> Result<(String, u16), WebhookError> {
    let parsed: Uri = url
        .parse()
        .map_err(|error| invalid(&format!("Unparsable URL: {error}")))?;
    if parsed.scheme() != Some(&Scheme::HTTPS) {
        return Err(invalid("'https' is the only allowed URL scheme"));
    }
    let host = parsed.host().filter(|it| !it.is_empty());
    let host = host.ok_or_else(|| invalid("host must be specified"))?;
    Ok((host.to_owned(), parsed.port_u16().unwrap_or(HTTPS_PORT)))
}

fn request(
    url: &str,
    body: Bytes,
    authorization: Option<&HeaderValue>,
) -> Result<Request<Full<Bytes>>, WebhookError> {
    let parsed: Uri = url.parse().map_err(|error| failed(url, &error))?;
    let host = parsed.authority().map_or("", http::uri::Authority::as_str);
    // An empty path becomes a slash.
    let path = format!("{}?{}", parsed.path(), parsed.query().unwrap_or_default());
    let request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(HOST, host)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, */*")
        .header(USER_AGENT, AGENT)
        .body(Full::new(body));
    let mut request = request.map_err(|error| failed(url, &error))?;
    if let Some(authorization) = authorization {
        request
            .headers_mut()
            .insert(AUTHORIZATION, authorization.clone());
    }
    Ok(request)
}

fn invalid(reason: &str) -> WebhookError {
    WebhookError::InvalidConfig {
        reason: reason.to_owned(),
    }
}

fn failed(url: &str, why: &dyn fmt::Display) -> WebhookError {
    WebhookError::Transport {
        url: url.to_owned(),
        reason: why.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_registry::WebhookService;

    #[test]
    fn a_url_has_a_host_and_perhaps_a_port_and_a_path() {
        let host = |url: &str| of_url(url).map_err(|it| it.to_string());
        assert_eq!(
            host("https://a.example.com/c"),
            Ok(("a.example.com".into(), 443))
        );
        assert_eq!(host("https://[::1]:8443"), Ok(("[::1]".into(), 8443)));
        let refused = "'https' is the only allowed URL scheme".to_owned();
        assert_eq!(host("http://a.example.com"), Err(refused.clone()));
        assert_eq!(host("/c"), Err(refused));
        assert!(host("https://").is_err());
    }

    #[test]
    fn a_request_names_its_host_and_its_time_limit() {
        let service = WebhookService {
            namespace: "ns".to_owned(),
            name: "hook".to_owned(),
            path: "convert".to_owned(),
            port: 443,
        };
        for (target, host, path) in [
            (
                WebhookTarget::Url("https://a.example.com".to_owned()),
                "a.example.com",
                "/",
            ),
            (
                WebhookTarget::Url("https://[::1]:9/a/b".to_owned()),
                "[::1]:9",
                "/a/b",
            ),
            (
                WebhookTarget::Service(service),
                "hook.ns.svc:443",
                "/convert",
            ),
        ] {
            let url = target.url(Duration::from_secs(5));
            let made = request(&url, Bytes::new(), None).expect("it is valid");
            assert_eq!(made.headers()[HOST], host);
            assert_eq!(made.uri().to_string(), format!("{path}?timeout=5s"));
        }
    }
}
