//! `Proxy`: the proxy to use, and its URL syntax.
//!
//! The tunnel protocols are in `connect`.

use crate::secret::Secret;
use http::Uri;
use std::str::FromStr;

/// A proxy that forwards the connection; TLS to the server runs inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proxy {
    /// HTTP `CONNECT`, for `http` servers too.
    Http {
        /// The host name or address of the proxy.
        host: String,
        /// The port of the proxy.
        port: u16,
        /// The user and password for `Proxy-Authorization`.
        credentials: Option<(String, Secret)>,
        /// Whether to connect to the proxy with TLS, verified against the system's authorities.
        tls: bool,
    },
    /// SOCKS version 5; names are resolved by the proxy.
    Socks5 {
        /// The host name or address of the proxy.
        host: String,
        /// The port of the proxy.
        port: u16,
        /// The user and the password.
        credentials: Option<(String, Secret)>,
    },
}

/// Why a proxy URL is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseProxyError {
    /// It is not a URL with a scheme and a host.
    #[error("it is not a URL with a scheme and a host")]
    Url,
    /// The scheme is not supported.
    #[error("scheme {scheme:?} is not http, https or socks5")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
}

impl FromStr for Proxy {
    type Err = ParseProxyError;

    /// Parses `SCHEME://[USER[:PASSWORD]@]HOST[:PORT]`; the scheme is `http`, `https`, `socks5` or
    /// `socks5h` (the proxy resolves names in both cases).
    fn from_str(text: &str) -> Result<Self, ParseProxyError> {
        let uri: Uri = text.parse().map_err(|_| ParseProxyError::Url)?;
        let scheme = uri.scheme_str().ok_or(ParseProxyError::Url)?;
        let authority = uri.authority().ok_or(ParseProxyError::Url)?;
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        if host.is_empty() {
            return Err(ParseProxyError::Url);
        }
        let credentials = authority.as_str().rsplit_once('@').map(|(userinfo, _)| {
            let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
            (decode(user), Secret::from(decode(password)))
        });
        let port = authority.port_u16();
        match scheme {
            "http" => Ok(Self::Http {
                host,
                port: port.unwrap_or(80),
                credentials,
                tls: false,
            }),
            "https" => Ok(Self::Http {
                host,
                port: port.unwrap_or(443),
                credentials,
                tls: true,
            }),
            "socks5" | "socks5h" => Ok(Self::Socks5 {
                host,
                port: port.unwrap_or(1080),
                credentials,
            }),
            scheme => Err(ParseProxyError::Scheme {
                scheme: scheme.to_owned(),
            }),
        }
    }
}

fn decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_proxies_are_read_with_default_ports_and_credentials() {
        let http = |host: &str, port, credentials, tls| {
            Ok(Proxy::Http {
                host: host.into(),
                port,
                credentials,
                tls,
            })
        };
        let pair = Some(("me".to_owned(), Secret::from("p@ss")));
        for (text, expected) in [
            ("http://proxy", http("proxy", 80, None, false)),
            ("https://[::1]", http("::1", 443, None, true)),
            (
                "http://me:p%40ss@proxy:3128",
                http("proxy", 3128, pair, false),
            ),
            (
                "socks5://proxy",
                Ok(Proxy::Socks5 {
                    host: "proxy".into(),
                    port: 1080,
                    credentials: None,
                }),
            ),
            (
                "ftp://proxy",
                Err(ParseProxyError::Scheme {
                    scheme: "ftp".into(),
                }),
            ),
            ("proxy:3128", Err(ParseProxyError::Url)),
            ("/path", Err(ParseProxyError::Url)),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
    }
}
