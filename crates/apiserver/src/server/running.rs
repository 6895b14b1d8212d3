//! `RunningServer`: the handle of a server that accepts requests.

use super::activity::Load;
use super::connection::Connections;
use super::identities::Identities;
use super::in_process::InProcess;
use super::in_process_stream::InProcessStream;
use crate::authentication::authenticator::{AUTHENTICATED_GROUP, MASTERS_GROUP};
use crate::authentication::jwt_issuers::JwtIssuers;
use crate::certificates::{CertificateAuthority, Identity};
use crate::shutdown::Shutdown;
use kubist_registry::User;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Additional time to drop what has not ended within the drain timeout.
const DROP_TIMEOUT: Duration = Duration::from_secs(1);

/// A running server. Dropping it stops it at once; [`shutdown`](Self::shutdown) lets requests
/// finish first.
pub struct RunningServer {
    pub(super) address: Option<SocketAddr>,
    /// `None` if it does not listen.
    pub(super) identities: Option<Identities>,
    pub(super) admin_user: String,
    pub(super) connections: Arc<Connections>,
    pub(super) streams: mpsc::Sender<InProcessStream>,
    pub(super) own_streams: mpsc::Sender<InProcessStream>,
    pub(super) shutdown: Shutdown,
    pub(super) shutdown_delay: Duration,
    /// How long open requests may take to end.
    pub(super) drain_timeout: Duration,
    pub(super) tasks: JoinSet<()>,
}

impl RunningServer {
    /// Returns the address that it listens on, if any.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Returns `https://` and the address; empty if it does not listen. A server that listens on
    /// all addresses is reached by that of the loopback.
    pub fn url(&self) -> String {
        let Some(mut address) = self.address else {
            return String::new();
        };
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        format!("https://{address}")
    }

    /// Returns the certificate of its authority as PEM, for clients to trust; empty if it does not
    /// listen.
    pub fn ca_pem(&self) -> String {
        self.authority()
            .map_or_else(String::new, CertificateAuthority::certificate_pem)
    }

    /// Returns its authority, which can issue client certificates for other users. `None` if it
    /// does not listen.
    pub fn authority(&self) -> Option<&CertificateAuthority> {
        self.identities.as_ref().map(|it| &*it.authority)
    }

    /// Returns the server name (SNI) that clients which trust that authority must request and
    /// verify instead of the address. `None` unless another serving certificate is configured.
    pub fn tls_server_name(&self) -> Option<&'static str> {
        let serving = &self.identities.as_ref()?.serving;
        serving.required_server_name()
    }

    /// Returns the administrator's client certificate and key. `None` if it does not listen.
    pub fn admin(&self) -> Option<&Identity> {
        self.identities.as_ref().map(|it| &it.admin)
    }

    /// Returns the issuers of JWTs that it believes, which may be replaced.
    pub fn jwt_issuers(&self) -> JwtIssuers {
        self.connections.service().jwt_issuers().clone()
    }

    /// Returns the current load.
    pub fn load(&self) -> Load {
        self.connections.load()
    }

    /// Serves an existing connection without TLS, such as one half of [`tokio::io::duplex`], with
    /// HTTP/1.1 or HTTP/2 as the client chooses. Requests on it are the administrator's unless they
    /// carry a bearer token.
    ///
    /// Cancel safe: dropping the future leaves the stream unserved.
    ///
    /// # Errors
    /// The server has ended; the stream is dropped.
    pub async fn serve_stream<S>(&self, stream: S) -> Result<(), ServerEnded>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let incoming = InProcessStream {
            stream: Box::new(stream),
            user: self.trusted(),
        };
        self.streams.send(incoming).await.map_err(|_| ServerEnded)
    }

    /// Returns a connector for clients in the same process, which does not count towards
    /// [`connections_max`](crate::Config::connections_max).
    pub fn in_process(&self) -> InProcess {
        InProcess {
            streams: self.own_streams.clone(),
            user: self.trusted(),
        }
    }

    /// The administrator, as whom streams of this process are authenticated.
    fn trusted(&self) -> User {
        User {
            name: self.admin_user.as_str().into(),
            groups: vec![MASTERS_GROUP.into(), AUTHENTICATED_GROUP.into()],
            ..User::default()
        }
    }

    /// Announces the shutdown: `/readyz` fails from now on, everything else continues. Waits for
    /// the shutdown delay. [`shutdown`](Self::shutdown) calls it if nobody has.
    ///
    /// Cancel safe: the announcement stays.
    pub async fn announce_shutdown(&self) {
        if !self.shutdown.announce() {
            tracing::info!(delay = ?self.shutdown_delay, "shutdown announced");
            tokio::time::sleep(self.shutdown_delay).await;
        }
    }

    /// Announces the shutdown, stops accepting, sends GOAWAY, ends watches, and lets other requests
    /// finish within the drain timeout. Returns when everything has ended, at the latest a second
    /// after that timeout.
    ///
    /// Cancel safe: dropping the future stops the server at once.
    pub async fn shutdown(mut self) {
        self.announce_shutdown().await;
        self.shutdown.close();
        let tasks = &mut self.tasks;
        let ended = async { while tasks.join_next().await.is_some() {} };
        let limit = self.drain_timeout.saturating_add(DROP_TIMEOUT);
        // A task that never yields cannot be dropped meanwhile, so it is not waited for.
        drop(tokio::time::timeout(limit, ended).await);
    }
}

impl fmt::Debug for RunningServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningServer")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// The server has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server has ended")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct ServerEnded;
