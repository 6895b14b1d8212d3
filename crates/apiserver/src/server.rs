//! `ApiServer`: listens, speaks TLS and HTTP, and shuts down in order.
//!
//! One task accepts, one task per connection serves it; both belong to the running server and end
//! with it. Bodies of answers are pulled by HTTP's flow control, so a slow client holds one chunk.
//! A client that accepts nothing for the write timeout, answers no ping, stops in the middle of a
//! request, or asks for nothing, loses its connection.

mod activity;
mod connection;
mod cork;
mod delivery;
mod in_process;
mod serving;
mod timed_stream;
mod tls;

use crate::authn::{
    AUTHENTICATED_GROUP, Authenticator, Chain, MASTERS_GROUP, Peer, chain_verifier,
};
use crate::certificates::{
    CertificateAuthority, CertificateError, Identity, PemError, SERVING_NAMES,
};
use crate::config::{Config, KEEP_ALIVE_PROBES};
use crate::ending::Ending;
use crate::heavy::Heavy;
use crate::service::Service;
use crate::token_issuer::TokenIssuer;
use crate::token_keys::{TokenKeyError, TokenKeys};
pub use activity::Load;
use connection::Connections;
pub use in_process::InProcess;
use kubist_registry::{Registry, User};
use serving::Serving;
use socket2::{SockRef, TcpKeepalive};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Streams handed over by [`RunningServer::serve_stream`] that wait to be served.
const WAITING_STREAMS_MAX: usize = 64;
/// How long to wait after the system refused to accept, as when it has no more file descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// A server could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// A certificate could not be made.
    #[error("cannot make the server's certificates")]
    Certificate(#[from] CertificateError),
    /// The key that signs the tokens of service accounts could not be made.
    #[error(transparent)]
    TokenKey(#[from] TokenKeyError),
    /// The serving certificate that was brought cannot be used.
    #[error("cannot use the serving certificate")]
    Serving(#[from] PemError),
    /// TLS does not take the certificates.
    #[error("cannot set up TLS")]
    Tls(#[from] rustls::Error),
}

/// The way to a [`RunningServer`].
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "it has no values")]
pub enum ApiServer {}

impl ApiServer {
    /// Makes certificates, listens, and serves `registry` until shut down. It answers as soon as
    /// this returns. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The address is taken, or certificates cannot be made.
    pub async fn bind(config: Config, registry: Registry) -> Result<RunningServer, StartError> {
        let listener = match config.listen {
            Some(address) => Some(listen(address).await?),
            None => None,
        };
        let address = listener.as_ref().map(|(_, address)| *address);
        let authority = match &config.authority {
            Some(authority) => Arc::clone(authority),
            None => Arc::new(CertificateAuthority::new("kubist-ca")?),
        };
        let admin = authority.client_identity(&config.admin_user, Some(MASTERS_GROUP))?;
        let names = serving_names(&config, address);
        let (brought, now) = (config.serving.as_ref(), registry.request(User::default()));
        let serving = Serving::new(Arc::clone(&authority), names, brought, now.received);
        let serving = Arc::new(serving?);
        let trusted = config.client_authorities.iter().cloned();
        let verifier = chain_verifier(trusted.chain([authority.certificate()]))?;
        let tls = tls::server_config(Arc::clone(&serving), Arc::clone(&verifier))?;
        let keys = match &config.token_keys {
            Some(keys) => Arc::clone(keys),
            None => Arc::new(TokenKeys::new()?),
        };
        let issuer = TokenIssuer::new(keys);
        let ending = Ending::new(config.watch_drain);
        let authenticator = Authenticator::new(config.tokens.clone(), verifier, issuer);
        let definitions = registry.clone();
        let service = Service::new(&config, registry, authenticator, address, ending.clone());
        let (streams, waiting) = mpsc::channel(WAITING_STREAMS_MAX);
        let (own_streams, own_waiting) = mpsc::channel(1);
        let drain_timeout = config.drain_timeout.saturating_add(config.watch_drain);
        let connections = Arc::new(Connections::new(&config, service, ending.clone()));
        let acceptor = Acceptor {
            listener: listener.map(|(listener, _)| listener),
            tls: TlsAcceptor::from(Arc::new(tls)),
            connections_max: config.connections_max.max(1),
            connections: Arc::clone(&connections),
            keep_alive: TcpKeepalive::new()
                .with_time(config.ping_interval)
                .with_interval(config.ping_interval)
                .with_retries(KEEP_ALIVE_PROBES),
            write_timeout: config.write_timeout,
            waiting,
            own_waiting,
            tasks: JoinSet::new(),
            own_tasks: JoinSet::new(),
        };
        let mut tasks = JoinSet::new();
        let stopping = ending.clone();
        tasks.spawn(acceptor.run(stopping, drain_timeout));
        tasks.spawn(upkeep(ending.clone(), Arc::clone(&serving), definitions));
        Ok(RunningServer {
            address,
            serving,
            authority,
            admin,
            admin_user: config.admin_user,
            connections,
            streams,
            own_streams,
            ending,
            shutdown_delay: config.shutdown_delay,
            tasks,
        })
    }
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let fail = |source| StartError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(fail)?;
    let bound = listener.local_addr().map_err(fail)?;
    Ok((listener, bound))
}

/// What goes on beside the requests, until the end.
async fn upkeep(ending: Ending, serving: Arc<Serving>, registry: Registry) {
    // What a definition takes to serve grows with its schema, and what is forgotten with
    // what was asked for.
    let following = Heavy::new(Box::pin(registry.run_definitions()), || true);
    let forgetting = Heavy::new(Box::pin(forget_unused(&registry)), || true);
    tokio::select! {
        () = ending.closing() => {}
        () = following => {}
        () = forgetting => {}
        () = renew_daily(&serving, &registry) => {}
    }
}

/// How long what was made of an object is remembered for whoever asks for it next: at least this
/// long, and no more than twice.
const REMEMBERED: Duration = Duration::from_secs(10);

/// Forgets what nobody asks for; goes on forever.
async fn forget_unused(registry: &Registry) {
    loop {
        tokio::time::sleep(REMEMBERED).await;
        registry.forget_unused();
    }
}

/// Renews the serving certificate when it is time; goes on forever.
async fn renew_daily(serving: &Serving, registry: &Registry) {
    while serving.is_renewed() {
        tokio::time::sleep(serving::LOOK_INTERVAL).await;
        serving.renew(registry.request(User::default()).received);
    }
    std::future::pending::<()>().await;
}

fn serving_names(config: &Config, address: Option<SocketAddr>) -> Vec<String> {
    let mut names: Vec<String> = SERVING_NAMES.iter().map(ToString::to_string).collect();
    names.extend(config.serving_names.iter().cloned());
    names.extend(address.map(|address| address.ip().to_string()));
    names.sort();
    names.dedup();
    names
}

/// A server that answers. Dropping it ends it at once; [`shutdown`](Self::shutdown) lets requests
/// end first.
pub struct RunningServer {
    address: Option<SocketAddr>,
    authority: Arc<CertificateAuthority>,
    serving: Arc<Serving>,
    admin: Identity,
    admin_user: String,
    connections: Arc<Connections>,
    streams: mpsc::Sender<Handover>,
    own_streams: mpsc::Sender<Handover>,
    ending: Ending,
    shutdown_delay: Duration,
    tasks: JoinSet<()>,
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
        self.serving.name_to_ask_for()
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
        let handover = Handover {
            stream: Box::new(stream),
            user: self.trusted(),
        };
        self.streams.send(handover).await.map_err(|_| ServerEnded)
    }

    /// A way to this server for clients in the same process, which takes none of its
    /// [`connections_max`](Config::connections_max).
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
        if !self.ending.announce() {
            tracing::info!(delay = ?self.shutdown_delay, "the server is going to end");
            tokio::time::sleep(self.shutdown_delay).await;
        }
    }

    /// Announces the end, stops accepting, tells clients to go elsewhere, ends watches, lets other
    /// requests end for the drain timeout, and returns when everything has ended.
    ///
    /// Cancel safe: dropping the future ends the server at once.
    pub async fn shutdown(mut self) {
        self.announce_shutdown().await;
        self.ending.close();
        while self.tasks.join_next().await.is_some() {}
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

/// A connection without TLS.
trait PlainStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> PlainStream for S {}

struct Handover {
    stream: Box<dyn PlainStream>,
    user: User,
}

struct Acceptor {
    listener: Option<TcpListener>,
    tls: TlsAcceptor,
    connections_max: usize,
    connections: Arc<Connections>,
    keep_alive: TcpKeepalive,
    write_timeout: Duration,
    waiting: mpsc::Receiver<Handover>,
    /// From this process: they take no places of others.
    own_waiting: mpsc::Receiver<Handover>,
    tasks: JoinSet<()>,
    own_tasks: JoinSet<()>,
}

impl Acceptor {
    async fn run(mut self, ending: Ending, drain_timeout: Duration) {
        loop {
            let room = self.tasks.len() < self.connections_max;
            let own_room = self.own_tasks.len() < in_process::STREAMS_MAX;
            tokio::select! {
                // In this order, so that a simulation is the same each time.
                biased;
                () = ending.closing() => break,
                Some(_) = self.tasks.join_next() => {}
                Some(_) = self.own_tasks.join_next() => {}
                Some(handover) = self.own_waiting.recv(), if own_room => {
                    self.own_tasks.spawn(served(&self.connections, handover));
                }
                Some(handover) = self.waiting.recv(), if room => {
                    self.tasks.spawn(served(&self.connections, handover));
                }
                accepted = accept(self.listener.as_ref()), if room => self.serve_tls(accepted),
            }
        }
        drop(self.listener);
        let (tasks, own_tasks) = (&mut self.tasks, &mut self.own_tasks);
        let drained = async {
            while tasks.join_next().await.is_some() {}
            while own_tasks.join_next().await.is_some() {}
        };
        // What has not ended by then is dropped with the set.
        drop(tokio::time::timeout(drain_timeout, drained).await);
    }

    fn serve_tls(&mut self, stream: TcpStream) {
        let (connections, tls) = (Arc::clone(&self.connections), self.tls.clone());
        let activity = connections.open();
        // A delayed segment is a delayed event; a socket that refuses any of this works anyway.
        drop(stream.set_nodelay(true));
        self.notice_end(&stream);
        self.tasks.spawn(async move {
            let handshake = tokio::time::timeout(connections.header_timeout(), tls.accept(stream));
            // A client that speaks no TLS, or hangs, is nobody's error but its own.
            let Ok(Ok(stream)) = handshake.await else {
                connections.handshake_failed();
                return;
            };
            let peer = match stream.get_ref().1.peer_certificates() {
                Some(chain) if !chain.is_empty() => {
                    let owned = chain.iter().map(|it| it.clone().into_owned());
                    Peer::Certificates(Arc::new(Chain::new(owned.collect())))
                }
                _ => Peer::Unknown,
            };
            connections.serve(stream, peer, activity).await;
        });
    }

    /// Has the operating system tell of a client that vanished without a word, where nothing is
    /// sent and where what was sent is not acknowledged.
    fn notice_end(&self, stream: &TcpStream) {
        let socket = SockRef::from(stream);
        drop(socket.set_tcp_keepalive(&self.keep_alive));
        #[cfg(target_os = "linux")]
        drop(socket.set_tcp_user_timeout(Some(self.write_timeout)));
    }
}

/// Serves a stream that was handed over.
fn served(connections: &Arc<Connections>, handover: Handover) -> impl Future<Output = ()> + use<> {
    let connections = Arc::clone(connections);
    let peer = Peer::Trusted(Arc::new(handover.user));
    let activity = connections.open();
    async move { connections.serve(handover.stream, peer, activity).await }
}

/// The next connection; never, if nothing is listened on.
async fn accept(listener: Option<&TcpListener>) -> TcpStream {
    let Some(listener) = listener else {
        return std::future::pending().await;
    };
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
        }
    }
}
