//! The server's address, and the mapping of request URIs to it.

use crate::config_error::ConfigError;
use crate::connect::Endpoint;
use crate::error::TransportError;
use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use std::sync::Arc;

pub(crate) struct Server {
    pub(crate) scheme: Scheme,
    pub(crate) authority: Authority,
    /// The path prefix of every request, without a trailing slash.
    base: String,
}

impl Server {
    pub(crate) fn parse(uri: &Uri) -> Result<(Self, Endpoint), ConfigError> {
        let invalid = || ConfigError::Server {
            server: uri.to_string(),
        };
        let scheme = uri.scheme().cloned().ok_or_else(invalid)?;
        let default_port = match scheme.as_str() {
            "https" => 443,
            "http" => 80,
            _ => return Err(invalid()),
        };
        let given = uri.authority().ok_or_else(invalid)?;
        // User and password in a URL are not used as credentials.
        let without_user = given.as_str().rsplit('@').next().unwrap_or_default();
        let authority = Authority::try_from(without_user).map_err(|_| invalid())?;
        let host = authority.host();
        if host.is_empty() {
            return Err(invalid());
        }
        let host = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let port = authority.port_u16().unwrap_or(default_port);
        let base = uri.path().trim_end_matches('/').to_owned();
        Ok((
            Self {
                scheme,
                authority,
                base,
            },
            Endpoint { host, port },
        ))
    }

    /// Returns the request's path below the server's path.
    pub(crate) fn uri(&self, request: &Uri) -> Result<Uri, TransportError> {
        if self.base.is_empty() {
            return self.absolute(request);
        }
        let path = request.path_and_query().map_or("/", PathAndQuery::as_str);
        let path = format!("{}{path}", self.base);
        self.absolute(
            &path
                .parse()
                .map_err(|error| TransportError::Request(Arc::new(error)))?,
        )
    }

    pub(crate) fn absolute(&self, path: &Uri) -> Result<Uri, TransportError> {
        let root = || PathAndQuery::from_static("/");
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(path.path_and_query().cloned().unwrap_or_else(root))
            .build()
            .map_err(|error| TransportError::Request(Arc::new(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(server: &str, endpoint: &str, request: &str, target: &str) {
        let (server, at) = Server::parse(&server.parse().unwrap()).unwrap();
        assert_eq!(at.to_string(), endpoint);
        assert_eq!(server.uri(&request.parse().unwrap()).unwrap(), target);
    }

    #[test]
    fn requests_go_below_the_path_of_the_server() {
        check(
            "https://h:6443",
            "h:6443",
            "/api?watch=1",
            "https://h:6443/api?watch=1",
        );
        check(
            "https://h/k8s/c-1/",
            "h:443",
            "/api",
            "https://h/k8s/c-1/api",
        );
        check(
            "http://[::1]:8080",
            "[::1]:8080",
            "http://other/x",
            "http://[::1]:8080/x",
        );
        check("https://user:pass@h", "h:443", "/", "https://h/");
    }

    #[test]
    fn addresses_without_scheme_or_host_are_refused() {
        for server in ["/path", "h:6443", "ftp://h", "*"] {
            assert!(Server::parse(&server.parse().unwrap()).is_err(), "{server}");
        }
    }
}
