//! `RunningServer`: a server that answers, in the hands of whoever started it.

use super::acceptor::HandedOver;
use super::activity::Load;
use super::connection::Connections;
use super::in_process::InProcess;
use super::serving_certificate::ServingCertificate;
use crate::authentication::authenticator::{AUTHENTICATED_GROUP, MASTERS_GROUP};
use crate::authentication::certificates::{CertificateAuthority, CertificateError, Identity};
use crate::shutdown::Shutdown;
use kubist_registry::User;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How long it may take to drop what has not ended within the drain timeout.
const DROP_TIMEOUT: Duration = Duration::from_secs(1);

/// A server that answers. Dropping it ends it at once; [`shutdown`](Self::shutdown) lets requests
/// end first.
pub struct RunningServer {
    pub(super) address: Option<SocketAddr>,
    pub(super) authority: Arc<CertificateAuthority>,
    pub(super) serving: Arc<ServingCertificate>,
    pub(super) admin: Identity,
    pub(super) admin_user: String,
    pub(super) connections: Arc<Connections>,
    pub(super) streams: mpsc::Sender<HandedOver>,
    pub(super) own_streams: mpsc::Sender<HandedOver>,
    pub(super) shutdown: Shutdown,
    pub(super) shutdown_delay: Duration,
    /// How long what goes on may take to end.
    pub(super) drain_timeout: Duration,
    pub(super) tasks: JoinSet<()>,
}

impl RunningServer {
    /// Where it listens; none if it does not.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// `https://` and the address; empty if it does not listen.
    pub fn url(&self) -> String {
        self.address
            .map_or_else(String::new, |address| format!("https://{address}"))
    }

    /// The certificate of its authority, as PEM: what clients trust.
    pub fn ca_pem(&self) -> String {
        self.authority.certificate_pem()
    }

    /// The name that whoever trusts that authority has to ask for and to verify in place of the
    /// address; none if the certificate has the address, as it has unless one was brought.
    pub fn tls_server_name(&self) -> Option<&'static str> {
        self.serving.required_server_name()
    }

    /// The administrator's client certificate and key.
    pub fn admin(&self) -> &Identity {
        &self.admin
    }

    /// A client certificate for another user.
    pub fn client_identity(
        &self,
        user: &str,
        group: Option<&str>,
    ) -> Result<Identity, CertificateError> {
        self.authority.client_identity(user, group)
    }

    /// What it is busy with.
    pub fn load(&self) -> Load {
        self.connections.load()
    }

    /// Serves a connection without TLS that is already there, such as one half of
    /// [`tokio::io::duplex`]: HTTP/1.1 or HTTP/2, as the client begins. Requests on it are the
    /// administrator's, unless they carry a bearer token.
    ///
    /// Cancel safe: dropping the future leaves the stream unserved.
    ///
    /// # Errors
    /// The server has ended; the stream is dropped.
    pub async fn serve_stream<S>(&self, stream: S) -> Result<(), ServerEnded>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let handover = HandedOver {
            stream: Box::new(stream),
            user: self.trusted(),
        };
        self.streams.send(handover).await.map_err(|_| ServerEnded)
    }

    /// A way to this server for clients in the same process, which takes none of its
    /// [`connections_max`](crate::Config::connections_max).
    pub fn in_process(&self) -> InProcess {
        InProcess {
            streams: self.own_streams.clone(),
            user: self.trusted(),
        }
    }

    /// The administrator, whom streams of this process belong to.
    fn trusted(&self) -> User {
        User {
            name: self.admin_user.as_str().into(),
            groups: vec![MASTERS_GROUP.into(), AUTHENTICATED_GROUP.into()],
            ..User::default()
        }
    }

    /// Announces the end: `/readyz` fails from here on, everything else goes on. Waits for the
    /// shutdown delay. [`shutdown`](Self::shutdown) does it if nobody has.
    ///
    /// Cancel safe: it stays announced.
    pub async fn announce_shutdown(&self) {
        if !self.shutdown.announce() {
            tracing::info!(delay = ?self.shutdown_delay, "the server is going to end");
            tokio::time::sleep(self.shutdown_delay).await;
        }
    }

    /// Announces the end, stops accepting, tells clients to go elsewhere, ends watches, lets other
    /// requests end for the drain timeout, and returns when everything has ended, or a second
    /// after that timeout at the latest.
    ///
    /// Cancel safe: dropping the future ends the server at once.
    pub async fn shutdown(mut self) {
        self.announce_shutdown().await;
        self.shutdown.close();
        let tasks = &mut self.tasks;
        let ended = async { while tasks.join_next().await.is_some() {} };
        let limit = self.drain_timeout.saturating_add(DROP_TIMEOUT);
        // A task that works without rest cannot be dropped meanwhile: it is not waited for.
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
