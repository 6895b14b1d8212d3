//! URLs to listen on.

use http::Uri;
use std::error::Error;
use std::sync::Arc;
use tokio::net::TcpListener;

/// A URL to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListenUrl {
    pub(super) is_secure: bool,
    /// As it was written; an IPv6 address is in brackets.
    pub(super) host: String,
    port: u16,
}

/// Parses URLs that are separated by commas.
pub(super) fn listen_urls(text: &str) -> Result<Arc<[ListenUrl]>, String> {
    text.split(',').map(|it| listen_url(it.trim())).collect()
}

fn listen_url(text: &str) -> Result<ListenUrl, String> {
    let invalid = || "must be URLs with a port, such as http://127.0.0.1:2379".to_owned();
    let uri: Uri = text.parse().map_err(|_| invalid())?;
    let is_secure = match uri.scheme_str() {
        Some("http") => false,
        Some("https") => true,
        Some(scheme) => return Err(format!("{scheme}:// is not supported: use http or https")),
        None => return Err(invalid()),
    };
    if !matches!(uri.path(), "" | "/") {
        return Err(format!("{text} must have no path"));
    }
    match (uri.host(), uri.port_u16()) {
        (Some(host), Some(port)) => Ok(ListenUrl {
            is_secure,
            host: host.to_owned(),
            port,
        }),
        _ => Err(invalid()),
    }
}

impl ListenUrl {
    /// Listens; a host name is resolved.
    pub(super) async fn bind(&self) -> Result<TcpListener, Box<dyn Error>> {
        let address = format!("{}:{}", self.host, self.port);
        let bound = TcpListener::bind(&address).await;
        bound.map_err(|error| format!("cannot listen on {address}: {error}").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_a_scheme_a_host_and_a_port() {
        let urls = listen_urls("http://127.0.0.1:2379,https://[::1]:0/").unwrap();
        let found: Vec<_> = urls
            .iter()
            .map(|it| (it.is_secure, &*it.host, it.port))
            .collect();
        assert_eq!(found, [(false, "127.0.0.1", 2379), (true, "[::1]", 0)]);
        for (text, why) in [
            ("", "must be URLs with a port"),
            ("127.0.0.1:2379", "must be URLs with a port"),
            ("http://127.0.0.1", "must be URLs with a port"),
            ("http://127.0.0.1:1/v3", "must have no path"),
            ("unix://a:1", "unix:// is not supported"),
        ] {
            let error = listen_urls(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
