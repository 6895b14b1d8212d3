//! `ApiServer`: listens, speaks TLS and HTTP, and shuts down in order.
//!
//! One task accepts connections, and one task per connection serves it. Both belong to the running
//! server and end with it. HTTP flow control pulls response bodies, so a slow client costs one
//! chunk. A client loses its connection if it accepts nothing for the write timeout, answers no
//! ping, stops in the middle of a request, or stays idle.

mod acceptor;
mod activity;
mod connection;
mod cork;
mod delivery;
mod eviction;
mod followers;
mod identities;
mod in_process;
mod in_process_stream;
mod running;
mod service;
mod serving_certificate;
mod timed_stream;
mod tls;

use crate::aggregation::Surroundings;
use crate::authentication::authenticator::Authenticator;
use crate::authentication::jwt_issuers::JwtIssuers;
use crate::authentication::token_issuer::TokenIssuer;
use crate::authentication::token_keys::{TokenKeyError, TokenKeys};
use crate::certificates::{CertificateError, PemError, SERVING_NAMES};
use crate::config::{Config, KEEP_ALIVE_PROBES};
use crate::futures::cpu_bound;
use crate::handlers::context::ServerContext;
use crate::metrics::Metrics;
use crate::proxy::Proxies;
use crate::random::Chance;
use crate::server::service::Service;
use crate::shutdown::Shutdown;
use acceptor::Acceptor;
pub use activity::Load;
use connection::Connections;
use eviction::Evictor;
use followers::Followers;
use identities::Identities;
pub use in_process::InProcess;
use kubist_apimachinery::Status;
use kubist_registry::{Registry, User};
pub use running::{RunningServer, ServerEnded};
use rustls::server::danger::ClientCertVerifier;
use serving_certificate::ServingCertificate;
use socket2::TcpKeepalive;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Limit of streams passed to [`RunningServer::serve_stream`] that wait to be served.
const WAITING_STREAMS_MAX: usize = 64;

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Listening on the address failed.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// A certificate could not be created.
    #[error("cannot create the server's certificates")]
    Certificate(#[from] CertificateError),
    /// The key that signs service account tokens could not be created.
    #[error(transparent)]
    TokenKey(#[from] TokenKeyError),
    /// The configured serving certificate cannot be used.
    #[error("cannot use the serving certificate")]
    ServingCertificate(#[from] PemError),
    /// The stored roles, which the server is to obey, could not be read.
    #[error("cannot read the stored roles")]
    Roles(#[source] Box<Status>),
    /// The stored Pods and volumes, which decide about kubelets, could not be read.
    #[error("cannot read the stored Pods and volumes, which decide about kubelets")]
    Nodes(#[source] Box<Status>),
    /// The stored flow schemas and priority levels, which the server is to obey, could not be read.
    #[error("cannot read the stored flow schemas and priority levels")]
    Flows(#[source] Box<Status>),
    /// The stored webhooks and policies, which the server is to obey, could not be read.
    #[error("cannot read the stored webhooks and policies")]
    Admission(#[source] Box<Status>),
    /// A configured authenticator cannot be used.
    #[error("cannot use the configured authenticators")]
    Authenticators(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The authorities of kubelets, or the certificate for them, cannot be used.
    #[error("cannot use the configuration of kubelets")]
    Kubelets(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The TLS configuration was rejected.
    #[error("cannot set up TLS")]
    Tls(#[from] rustls::Error),
}

/// Constructor of a [`RunningServer`].
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "it has no values")]
pub enum ApiServer {}

impl ApiServer {
    /// Serves `registry` until shutdown; if it is to listen, creates certificates and listens. The
    /// server accepts requests as soon as this returns. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The address is in use, or certificates cannot be created.
    pub async fn bind(config: Config, registry: Registry) -> Result<RunningServer, StartError> {
        let listener = match config.listen {
            Some(address) => Some(listen(address).await?),
            None => None,
        };
        let address = listener.as_ref().map(|(_, address)| *address);
        let now = registry.request(User::default()).received;
        let identities = match address {
            Some(_) => Some(Identities::new(&config, address, now)?),
            None => None,
        };
        let chance = Arc::new(Chance::new(config.seed));
        let shutdown = Shutdown::new(config.watch_drain, Arc::clone(&chance));
        let verifier = identities.as_ref().map(|it| Arc::clone(&it.verifier));
        let authenticator = authenticator(&config, verifier)?;
        let definitions = registry.clone();
        let service = Service::new(
            &config,
            registry,
            authenticator,
            address,
            shutdown.clone(),
            (chance, proxies(&config, &shutdown)?),
        );
        let followers = Followers::begin(&config, service.flow_control(), &definitions).await?;
        let (streams, waiting) = mpsc::channel(WAITING_STREAMS_MAX);
        let (own_streams, own_waiting) = mpsc::channel(1);
        let drain_timeout = config.drain_timeout.saturating_add(config.watch_drain);
        let connections = Arc::new(Connections::new(&config, service, shutdown.clone()));
        let acceptor = Acceptor {
            listener: listener
                .zip(identities.as_ref())
                .map(|((listener, _), of)| (listener, of.tls.clone())),
            connections_max: config.connections_max.max(1),
            connections: Arc::clone(&connections),
            keep_alive: TcpKeepalive::new()
                .with_time(config.ping_interval)
                .with_interval(config.ping_interval)
                .with_retries(KEEP_ALIVE_PROBES),
            write_timeout: config.write_timeout,
            waiting,
            own_waiting,
            evictor: Evictor::default(),
            tasks: JoinSet::new(),
            own_tasks: JoinSet::new(),
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(acceptor.run(shutdown.clone(), drain_timeout));
        let issuers = connections.service().jwt_issuers().clone();
        tasks.spawn(find_issuers(shutdown.clone(), issuers));
        tasks.spawn(Box::pin(aggregating(&shutdown, &connections)).await);
        let metrics = Arc::clone(connections.metrics());
        tasks.spawn(followers.run(shutdown.clone(), definitions.clone()));
        let serving = identities.as_ref().map(|it| Arc::clone(&it.serving));
        let upkeep = upkeep(shutdown.clone(), serving, definitions, metrics);
        tasks.spawn(upkeep);
        Ok(RunningServer {
            address,
            identities,
            admin_user: config.admin_user,
            connections,
            streams,
            own_streams,
            shutdown,
            shutdown_delay: config.shutdown_delay,
            drain_timeout,
            tasks,
        })
    }
}

fn proxies(config: &Config, shutdown: &Shutdown) -> Result<Proxies, StartError> {
    let made = Proxies::new(&config.backends, shutdown.clone());
    made.map_err(|error| StartError::Kubelets(Box::new(error)))
}

fn authenticator(
    config: &Config,
    verifier: Option<Arc<dyn ClientCertVerifier>>,
) -> Result<Authenticator, StartError> {
    let others = &config.authenticators;
    let issuer = TokenIssuer::new(token_keys(config)?, &others.service_accounts);
    Authenticator::new(&config.tokens, verifier, issuer, others)
        .map_err(|error| StartError::Authenticators(Box::new(error)))
}

/// Returns the keys of service account tokens. A server that does not listen has none until they
/// are needed.
fn token_keys(config: &Config) -> Result<Option<Arc<TokenKeys>>, TokenKeyError> {
    match (&config.token_keys, config.listen) {
        (Some(keys), _) => Ok(Some(Arc::clone(keys))),
        (None, Some(_)) => Ok(Some(Arc::new(TokenKeys::new()?))),
        (None, None) => Ok(None),
    }
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let fail = |source| StartError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(fail)?;
    let bound = listener.local_addr().map_err(fail)?;
    Ok((listener, bound))
}

/// Finds the issuers of JWTs, until shutdown.
async fn find_issuers(shutdown: Shutdown, issuers: JwtIssuers) {
    if issuers.is_empty() {
        return;
    }
    tokio::select! {
        biased;
        () = shutdown.closing() => {}
        () = issuers.discover() => {}
    }
}

/// Follows, checks and asks the servers of other group versions. Never returns.
async fn keep_up(context: &ServerContext) {
    let surroundings = Surroundings {
        registry: &context.registry,
        proxies: &context.proxies,
    };
    context.aggregation.keep_up(surroundings).await;
}

/// Reads which group versions other servers serve, and returns what checks and asks these until
/// shutdown. If they cannot be read now, they count as soon as they can.
async fn aggregating(
    shutdown: &Shutdown,
    connections: &Arc<Connections>,
) -> impl Future<Output = ()> + Send + use<> {
    let (shutdown, connections) = (shutdown.clone(), Arc::clone(connections));
    let context = connections.service().context();
    if let Err(status) = Box::pin(context.aggregation.load(&context.registry)).await {
        tracing::warn!(why = %status.message, "the stored APIServices cannot be read yet");
    }
    async move {
        tokio::select! {
            biased;
            () = shutdown.closing() => {}
            () = keep_up(connections.service().context()) => {}
        }
    }
}

/// Runs the server's background loops until shutdown.
async fn upkeep(
    shutdown: Shutdown,
    serving: Option<Arc<ServingCertificate>>,
    registry: Registry,
    metrics: Arc<Metrics>,
) {
    // Processing a definition costs time in proportion to its schema, and cache eviction in
    // proportion to what was requested.
    let definitions_loop = cpu_bound::background(Box::pin(registry.run_definitions()));
    let cache_eviction = cpu_bound::background(Box::pin(forget_unused(&registry, &metrics)));
    tokio::select! {
        // The order is fixed, so that simulations are deterministic.
        biased;
        () = shutdown.closing() => {}
        () = definitions_loop => {}
        () = cache_eviction => {}
        () = renew_daily(serving.as_deref(), &registry) => {}
    }
}

/// How long cached encodings of an object are kept without use: at least this long, and at most
/// twice as long.
const REMEMBERED: Duration = Duration::from_secs(10);

/// Evicts unused cached encodings, and what was counted for resources that are no longer served.
/// Never returns.
async fn forget_unused(registry: &Registry, metrics: &Metrics) {
    let (mut known, mut remain) = (registry.groups(), false);
    loop {
        tokio::time::sleep(REMEMBERED).await;
        registry.forget_unused();
        let groups = registry.groups();
        if remain || !Arc::ptr_eq(&known, &groups) {
            remain = metrics.forget_unserved(registry);
            known = groups;
        }
    }
}

/// Renews the serving certificate in time. Never returns.
async fn renew_daily(serving: Option<&ServingCertificate>, registry: &Registry) {
    while let Some(serving) = serving.filter(|it| it.is_renewed()) {
        tokio::time::sleep(serving_certificate::CHECK_INTERVAL).await;
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
