//! `FetchClient`: gets documents by their URLs.
//!
//! Only `https`. Redirections are followed, a few of them. Connections are not kept: documents are
//! fetched rarely.

use super::RemoteError;
use crate::webhook::client::{AGENT, HTTPS_PORT};
use crate::webhook::connect_errors::{dial_error, tls_error};
use crate::webhook::connection::{Connection, Response};
use crate::webhook::tls;
use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, HOST, LOCATION, USER_AGENT};
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::Full;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The most redirections of one document, as in Go.
const REDIRECTIONS_MAX: usize = 10;

/// Gets documents from servers that certain authorities have signed.
pub(crate) struct FetchClient {
    tls: Arc<ClientConfig>,
}

impl fmt::Debug for FetchClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchClient").finish_non_exhaustive()
    }
}

/// A response, whatever its status.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    headers: HeaderMap,
}

impl Fetched {
    /// Returns for how long the document may be used without being fetched again; `None` if it
    /// says nothing of it.
    pub(crate) fn fresh_for(&self) -> Option<Duration> {
        let control = self.headers.get(CACHE_CONTROL)?.to_str().ok()?;
        let directives = || control.split(',').map(str::trim);
        let forbidden =
            |it: &str| it.eq_ignore_ascii_case("no-store") || it.eq_ignore_ascii_case("no-cache");
        if directives().any(forbidden) {
            return None;
        }
        let seconds = directives().find_map(|it| {
            let (name, value) = it.split_once('=')?;
            let is_age = name.eq_ignore_ascii_case("max-age");
            is_age
                .then(|| value.trim_matches('"').parse().ok())
                .flatten()
        });
        seconds.map(Duration::from_secs)
    }
}

impl FetchClient {
    /// Creates a client; the authorities are in PEM, and none are those of the operating system.
    ///
    /// # Errors
    /// The authorities cannot be used.
    pub(crate) fn new(authorities: &[u8]) -> Result<Self, RemoteError> {
        Ok(Self {
            tls: tls::config(authorities)?,
        })
    }

    /// Gets a document within a time limit.
    ///
    /// # Errors
    /// There is no complete response, or it is too long.
    pub(crate) async fn get(
        &self,
        url: &str,
        timeout: Duration,
        body_max: usize,
    ) -> Result<Fetched, RemoteError> {
        let fetched = tokio::time::timeout(timeout, self.follow(url, body_max)).await;
        fetched.unwrap_or_else(|_| Err(failed(url, "context deadline exceeded")))
    }

    async fn follow(&self, url: &str, body_max: usize) -> Result<Fetched, RemoteError> {
        let mut url = url.to_owned();
        for _ in 0..=REDIRECTIONS_MAX {
            let response = self.get_once(&url, body_max).await?;
            let location = response.headers.get(LOCATION);
            let next = match (response.status.is_redirection(), location) {
                (true, Some(location)) => absolute(&url, location.as_bytes()),
                _ => None,
            };
            match next {
                Some(next) => url = next,
                None => {
                    return Ok(Fetched {
                        status: response.status,
                        body: response.body,
                        headers: response.headers,
                    });
                }
            }
        }
        Err(failed(&url, "stopped after 10 redirects"))
    }

    async fn get_once(&self, url: &str, body_max: usize) -> Result<Response, RemoteError> {
        let fail = |why: &dyn fmt::Display| failed(url, &why.to_string());
        let parsed: Uri = url.parse().map_err(|error| fail(&error))?;
        if parsed.scheme_str() != Some("https") {
            return Err(fail(&"only https is supported"));
        }
        let host = parsed.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| fail(&format_args!("invalid host {host:?}")))?;
        let port = parsed.port_u16().unwrap_or(HTTPS_PORT);
        let stream = TcpStream::connect((host, port)).await.map_err(|error| {
            fail(&format_args!(
                "dial tcp {host}:{port}: {}",
                dial_error(&error)
            ))
        })?;
        let connector = TlsConnector::from(Arc::clone(&self.tls));
        let stream = connector.connect(name, stream).await;
        let stream = stream.map_err(|error| fail(&tls_error(&error)))?;
        let connection = Connection::on(stream).await.map_err(|error| fail(&error))?;
        let path = parsed.path_and_query().map_or("/", |it| it.as_str());
        let request = Request::builder()
            .method(Method::GET)
            .uri(path)
            .header(HOST, parsed.authority().map_or("", |it| it.as_str()))
            .header(ACCEPT, "*/*")
            .header(USER_AGENT, AGENT)
            .body(Full::new(Bytes::new()))
            .map_err(|error| fail(&error))?;
        let response = connection.send(request, body_max).await;
        response.map_err(|failure| fail(&failure))
    }
}

fn failed(url: &str, why: &str) -> RemoteError {
    RemoteError::InvalidConfig {
        reason: format!("Get {url:?}: {why}"),
    }
}

/// Returns the URL that a redirection names.
fn absolute(from: &str, location: &[u8]) -> Option<String> {
    let location = std::str::from_utf8(location).ok()?;
    if location.contains("://") {
        return Some(location.to_owned());
    }
    let from: Uri = from.parse().ok()?;
    let authority = from.authority()?;
    let path = location.starts_with('/');
    path.then(|| format!("https://{authority}{location}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_says_for_how_long_it_counts() {
        let fresh = |control: &'static str| {
            let value = http::HeaderValue::from_static(control);
            let fetched = Fetched {
                status: StatusCode::OK,
                body: Bytes::new(),
                headers: HeaderMap::from_iter([(CACHE_CONTROL, value)]),
            };
            fetched.fresh_for().map(|it| it.as_secs())
        };
        assert_eq!(fresh("public, max-age=60"), Some(60));
        assert_eq!(fresh("max-age=60, no-store"), None);
        assert_eq!(fresh("private"), None);
    }

    #[test]
    fn redirections_lead_elsewhere_or_to_another_path() {
        let from = "https://a.example.com:8443/x?y";
        let to = |location: &str| absolute(from, location.as_bytes());
        assert_eq!(to("/z").as_deref(), Some("https://a.example.com:8443/z"));
        assert_eq!(to("https://b/z").as_deref(), Some("https://b/z"));
        assert_eq!(to("z"), None);
    }
}
