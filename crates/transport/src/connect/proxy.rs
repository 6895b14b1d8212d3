//! Tunnels through proxies: HTTP `CONNECT` and SOCKS 5.
//!
//! Both are a short exchange at the start of a stream, implemented here; afterwards the stream
//! belongs to the server. Proxy responses are bounded.

use super::{Endpoint, Io};
use crate::secret::Secret;
use base64::Engine as _;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The most bytes read of a `CONNECT` response.
const ANSWER_MAX: usize = 8 << 10;

/// Why a proxy opened no tunnel.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The connection to the proxy broke.
    #[error("the proxy closed the connection")]
    Io(#[source] Arc<io::Error>),
    /// TLS with the proxy failed.
    #[error("TLS with the proxy failed")]
    Tls(#[source] Arc<io::Error>),
    /// The HTTP proxy refused.
    #[error("the proxy answered {answer:?}")]
    Status {
        /// The status line.
        answer: String,
    },
    /// The response does not follow the protocol.
    #[error("the proxy's answer is not valid {protocol}")]
    Protocol {
        /// The expected protocol.
        protocol: &'static str,
    },
    /// The SOCKS proxy refused.
    #[error("the proxy answered with SOCKS error {code}")]
    Socks {
        /// The RFC 1928 reply code; 255 if no authentication method was acceptable.
        code: u8,
    },
    /// The host, user or password is too long for SOCKS.
    #[error("{field} is longer than 255 bytes")]
    TooLong {
        /// The field.
        field: &'static str,
    },
}

impl From<io::Error> for ProxyError {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

/// Opens a tunnel to an endpoint over a connection to a proxy.
pub(crate) mod tunnel {
    use super::*;

    /// HTTP `CONNECT`.
    pub(crate) async fn http(
        io: &mut dyn Io,
        to: &Endpoint,
        credentials: Option<&(String, Secret)>,
    ) -> Result<(), ProxyError> {
        let mut request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
        if let Some((user, password)) = credentials {
            let pair = format!("{user}:{}", password.reveal());
            let encoded = base64::engine::general_purpose::STANDARD.encode(pair);
            for part in ["Proxy-Authorization: Basic ", &encoded, "\r\n"] {
                request.push_str(part);
            }
        }
        request.push_str("\r\n");
        io.write_all(request.as_bytes()).await?;
        io.flush().await?;

        let head = read_head(io).await?;
        let line = head.lines().next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some(version), Some(code)) if version.starts_with("HTTP/1.") => {
                if code.len() == 3 && code.starts_with('2') {
                    Ok(())
                } else {
                    Err(ProxyError::Status {
                        answer: line.to_owned(),
                    })
                }
            }
            _ => Err(ProxyError::Protocol { protocol: "HTTP" }),
        }
    }

    /// Reads byte by byte, because the bytes after the head belong to the server.
    async fn read_head(io: &mut dyn Io) -> Result<String, ProxyError> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() == ANSWER_MAX {
                return Err(ProxyError::Protocol { protocol: "HTTP" });
            }
            head.push(io.read_u8().await?);
        }
        String::from_utf8(head).map_err(|_| ProxyError::Protocol { protocol: "HTTP" })
    }

    /// SOCKS 5 (RFC 1928), with user and password (RFC 1929) if configured.
    pub(crate) async fn socks5(
        io: &mut dyn Io,
        to: &Endpoint,
        credentials: Option<&(String, Secret)>,
    ) -> Result<(), ProxyError> {
        greet(io, credentials).await?;

        let mut request = vec![5, 1, 0];
        match to.host.parse() {
            Ok(std::net::IpAddr::V4(address)) => {
                request.push(1);
                request.extend_from_slice(&address.octets());
            }
            Ok(std::net::IpAddr::V6(address)) => {
                request.push(4);
                request.extend_from_slice(&address.octets());
            }
            Err(_) => {
                request.push(3);
                push_short(&mut request, &to.host, "host")?;
            }
        }
        request.extend_from_slice(&to.port.to_be_bytes());
        io.write_all(&request).await?;
        io.flush().await?;

        let mut reply = [0; 4];
        io.read_exact(&mut reply).await?;
        if reply[0] != 5 {
            return Err(ProxyError::Protocol { protocol: "SOCKS" });
        }
        if reply[1] != 0 {
            return Err(ProxyError::Socks { code: reply[1] });
        }
        let address_len = match reply[3] {
            1 => 4,
            4 => 16,
            3 => usize::from(io.read_u8().await?),
            _ => return Err(ProxyError::Protocol { protocol: "SOCKS" }),
        };
        let mut bound = vec![0; address_len + 2];
        io.read_exact(&mut bound).await?;
        Ok(())
    }

    async fn greet(
        io: &mut dyn Io,
        credentials: Option<&(String, Secret)>,
    ) -> Result<(), ProxyError> {
        let methods: &[u8] = if credentials.is_some() {
            &[5, 2, 0, 2]
        } else {
            &[5, 1, 0]
        };
        io.write_all(methods).await?;
        io.flush().await?;
        let mut chosen = [0; 2];
        io.read_exact(&mut chosen).await?;
        match (chosen, credentials) {
            ([5, 0], _) => Ok(()),
            ([5, 2], Some((user, password))) => {
                let mut login = vec![1];
                push_short(&mut login, user, "user")?;
                push_short(&mut login, password.reveal(), "password")?;
                io.write_all(&login).await?;
                io.flush().await?;
                let mut answer = [0; 2];
                io.read_exact(&mut answer).await?;
                if answer[1] == 0 {
                    Ok(())
                } else {
                    Err(ProxyError::Socks { code: answer[1] })
                }
            }
            ([5, code], _) => Err(ProxyError::Socks { code }),
            _ => Err(ProxyError::Protocol { protocol: "SOCKS" }),
        }
    }

    fn push_short(into: &mut Vec<u8>, text: &str, field: &'static str) -> Result<(), ProxyError> {
        let len = u8::try_from(text.len()).map_err(|_| ProxyError::TooLong { field })?;
        into.push(len);
        into.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
