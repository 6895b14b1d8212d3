//! `Client`: calls one webhook, over a pool of connections.

use super::connection::{Connection, Failure};
use super::resolver::{ServiceAddress, ServiceResolver};
use super::tls;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT};
use http::uri::Scheme;
use http::{Method, Request, Uri};
use http_body_util::Full;
use kubist_registry::{
    BoxFuture, WebhookCall, WebhookClient, WebhookConfig, WebhookError, WebhookTarget,
};
use parking_lot::Mutex;
use rustls::{CertificateError, ClientConfig};
use rustls_pki_types::ServerName;
use std::fmt;
use std::io;
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
/// The default port of a URL.
const HTTPS_PORT: u16 = 443;

/// A client of one webhook.
pub(super) struct Client {
    target: WebhookTarget,
    /// The server that a certificate must name.
    server_name: ServerName<'static>,
    /// The host and port of a URL; services are resolved for each connection.
    host: String,
    port: u16,
    tls: Arc<ClientConfig>,
    resolver: Arc<dyn ServiceResolver>,
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
        // The host of an IPv6 address is in brackets.
        let name = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let server_name = ServerName::try_from(name.clone());
        Ok(Self {
            target: config.target.clone(),
            server_name: server_name.map_err(|_| invalid(&format!("invalid host {host:?}")))?,
            host: name,
            port,
            tls: tls::config(&config.ca_bundle)?,
            resolver,
            seats: Semaphore::new(CALLS_MAX),
            idle: Mutex::default(),
        })
    }

    async fn send(&self, call: &WebhookCall<'_>, url: &str) -> Result<Bytes, WebhookError> {
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
            let request = request(url, call.body.clone())?;
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
        let shown = if response.is_text { shown } else { &[] };
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

    async fn connect(&self, call: &WebhookCall<'_>, url: &str) -> Result<Connection, WebhookError> {
        let address = match &self.target {
            WebhookTarget::Url(_) => ServiceAddress {
                host: self.host.clone(),
                port: self.port,
            },
            WebhookTarget::Service(service) => {
                let found = self.resolver.resolve(service, call.lookup).await;
                found.map_err(|why| failed(url, &why))?
            }
        };
        let ServiceAddress { host, port } = address;
        let stream = TcpStream::connect((host.as_str(), port)).await;
        let stream = stream.map_err(|error| {
            let why = dial_error(&error);
            failed(url, &format_args!("dial tcp {host}:{port}: {why}"))
        })?;
        // Small requests go out at once; otherwise it has no effect.
        drop(stream.set_nodelay(true));
        let connector = TlsConnector::from(Arc::clone(&self.tls));
        let stream = connector.connect(self.server_name.clone(), stream).await;
        let stream = stream.map_err(|error| failed(url, &tls_error(&error)))?;
        let connection = Connection::on(stream).await;
        connection.map_err(|error| failed(url, &error))
    }
}

impl WebhookClient for Client {
    fn call<'a>(&'a self, call: WebhookCall<'a>) -> BoxFuture<'a, Result<Bytes, WebhookError>> {
        Box::pin(async move {
            let url = self.target.url(call.timeout);
            let deadline = Instant::now() + call.timeout;
            match timeout_at(deadline, self.send(&call, &url)).await {
                Ok(answer) => answer,
                Err(_) => Err(WebhookError::Deadline { url }),
            }
        })
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

fn request(url: &str, body: Bytes) -> Result<Request<Full<Bytes>>, WebhookError> {
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
        .header(USER_AGENT, concat!("kubist/", env!("CARGO_PKG_VERSION")))
        .body(Full::new(body));
    request.map_err(|error| failed(url, &error))
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

/// Returns the message of a failed connect, as Go words it where it has a name.
fn dial_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
        io::ErrorKind::ConnectionReset => "connect: connection reset by peer".to_owned(),
        io::ErrorKind::HostUnreachable => "connect: no route to host".to_owned(),
        io::ErrorKind::NetworkUnreachable => "connect: network is unreachable".to_owned(),
        _ => error.to_string(),
    }
}

/// Returns the message of a failed TLS handshake, as Go words it where it has a name.
fn tls_error(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|it| it.downcast_ref());
    let Some(rustls::Error::InvalidCertificate(reason)) = inner else {
        return match error.kind() {
            io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
            _ => format!("tls: {error}"),
        };
    };
    let reason = match reason {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        other => other.to_string(),
    };
    format!("tls: failed to verify certificate: x509: {reason}")
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
            let made = request(&url, Bytes::new()).expect("it is valid");
            assert_eq!(made.headers()[HOST], host);
            assert_eq!(made.uri().to_string(), format!("{path}?timeout=5s"));
        }
    }
}
