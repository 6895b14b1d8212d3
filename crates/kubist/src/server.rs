//! `Server`: an API server with its store and controllers, in this process.
//!
//! It combines an engine, the registry and the HTTP server, and runs the requested controllers:
//! those without which a cluster does not work, and a simulation of those that run workloads. All
//! tasks belong to the server. It writes no files except its data directory, if it has one, and
//! those of [`Server::write_kubeconfig`]. Without a data directory its objects end with the
//! process; clients of the next server notice, because its resource versions begin above all
//! earlier ones. Several servers can share an etcd cluster.

mod http_settings;
mod own_clients;

use self::http_settings::{announced, client_ca, settings_of_http};
use self::own_clients::{client_of, controller_user, transport_within};
use crate::advertise;
use crate::engine::{ApartEngine, Engine, EtcdError};
use crate::membership::Membership;
use crate::refusals::log_refusals;
use crate::server_config::{Controller, ServerConfig};
use crate::server_keys::ServerKeysError;
use kubist_admission::run_quotas;
use kubist_apimachinery::Status;
use kubist_apiserver::{ApiServer, DynamicAdmission, RunningServer, StartError};
use kubist_client::Client;
use kubist_kubeconfig::{KubeconfigError, NewKubeconfig, NewUser};
use kubist_registry::{Announcement, Registry, User};
use kubist_server_controllers::{
    cluster_role_aggregation, garbage_collector, local_api_services, namespace, policy_types,
    root_certificates, service_accounts, storage_version_migrator,
};
use kubist_storage::{Fault, memory};
use kubist_storage_redb::StoreError;
use kubist_transport::{ConfigError, Transport};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Time limit for controllers to stop.
const CONTROLLERS_DRAIN: Duration = Duration::from_secs(5);
/// The name of the cluster, the context and (with `-admin`) the user in kubeconfig files.
const CLUSTER_NAME: &str = "kubist";

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Listening failed, or its certificates could not be created.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The objects of every cluster could not be created in the store.
    #[error("cannot create the system objects")]
    Registry(#[source] Box<Status>),
    /// Its client could not be created.
    #[error("cannot create a client for the server's own controllers")]
    Client(#[from] ConfigError),
    /// The data directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The etcd cluster cannot be used.
    #[error(transparent)]
    Etcd(#[from] EtcdError),
    /// Its certificates or keys cannot be used.
    #[error(transparent)]
    Keys(#[from] ServerKeysError),
    /// More than one of a data directory, etcd and an in-memory store are configured.
    #[error("a data directory, etcd and an in-memory store cannot be used together")]
    TwoStores,
}

/// A running server. Dropping it stops everything at once; [`shutdown`](Self::shutdown) does it in
/// order.
#[derive(Debug)]
pub struct Server {
    api: RunningServer,
    store: Engine,
    /// The engines of a few resources each.
    apart: Vec<ApartEngine>,
    watch_caches: bool,
    client: Client,
    stopping: CancellationToken,
    membership: Membership,
    registry: Registry,
    /// Whether namespaces are served.
    serves_namespaces: bool,
    /// The controllers; they end before the server.
    controllers: JoinSet<()>,
    /// The engine's background task; it ends last.
    engine: JoinSet<()>,
}

impl Server {
    /// Starts a server, which accepts requests when this returns. Needs a tokio runtime.
    ///
    /// # Errors
    /// The address is in use, certificates cannot be created, or the data directory cannot be used.
    pub async fn start(config: ServerConfig) -> Result<Self, ServerError> {
        let (store, apart) = engines(&config).await?;
        let mut engine = JoinSet::new();
        for each in apart.iter().map(|it| &it.engine).chain([&store]) {
            let (ticking, written) = (each.clone(), each.kv());
            engine.spawn(async move { ticking.run().await });
            // A store that was given has limits that its owner knows.
            if config.store.is_none() {
                engine.spawn(async move { log_refusals(&*written).await });
            }
        }
        let watch_caches = config.has_watch_caches(&store);
        let stored = DynamicAdmission::new();
        let settings = config.registry(store.kv(), &apart, watch_caches, &stored);
        let registry = Registry::new(settings);
        registry
            .start()
            .await
            .map_err(|status| ServerError::Registry(Box::new(status)))?;
        if let (Some(file), Some(live)) = (&config.encryption_file, registry.encryption()) {
            let (file, live, of) = (file.clone(), live.clone(), registry.clone());
            engine.spawn(async move { file.follow(&live, &of).await });
        }
        let mut http = settings_of_http(&config, stored);
        let now = registry.request(User::default()).received;
        if config.listen.is_some() {
            config
                .keys
                .fill(&mut http, config.data_dir.as_deref(), now)?;
        }
        let client_authorities = http.client_authorities.clone();
        let api = ApiServer::bind(http, registry.clone()).await?;
        if let Some(file) = config.authentication_file.clone() {
            engine.spawn(file.follow(api.jwt_issuers()));
        }
        if let Some(file) = config.authorization_file.clone() {
            engine.spawn(file.follow(config.authorization.clone()));
        }
        let announcement = Announcement {
            address: config
                .advertise_address
                .or_else(|| api.address().and_then(advertise::address)),
            port: api.address().map_or(0, |it| it.port()),
            client_ca: client_ca(&api, &client_authorities),
            proxies: config.authenticators.request_header.as_ref().map(announced),
        };
        let serves_namespaces = registry.storage("", "v1", "namespaces").is_some();
        let mut server = Self {
            client: client_of(&api, kubist_client::Config::default())?,
            api,
            store,
            apart,
            watch_caches,
            stopping: CancellationToken::new(),
            membership: Membership::begin(registry.clone(), announcement),
            registry,
            serves_namespaces,
            controllers: JoinSet::new(),
            engine,
        };
        server.start_controllers(&config)?;
        Ok(server)
    }

    /// With separate connections, so that a slow one delays no others.
    fn start_controllers(&mut self, config: &ServerConfig) -> Result<(), ServerError> {
        for controller in &config.controllers {
            let of_namespaces = matches!(
                controller,
                Controller::Namespace | Controller::ServiceAccount | Controller::RootCertificates
            );
            if of_namespaces && !self.serves_namespaces {
                let name = controller.name();
                tracing::warn!("v1 is not served: the {name} controller is disabled");
                continue;
            }
            let client = self.controller_client(controller.account())?;
            let token = self.stopping.clone();
            match controller {
                Controller::GarbageCollector => {
                    let options = garbage_collector::Options::default();
                    let run = garbage_collector::run(client, options, token);
                    self.controllers.spawn(async move {
                        let _stats = run.await;
                    });
                }
                Controller::ClusterRoleAggregation => {
                    let run = cluster_role_aggregation::run(client, token);
                    self.controllers.spawn(watch_over(controller.name(), run));
                }
                Controller::ResourceQuota => {
                    let run = self.resource_quota_controller(token);
                    self.controllers.spawn(run);
                }
                Controller::PolicyTypes => {
                    let run = policy_types::run(client, token);
                    self.controllers.spawn(watch_over(controller.name(), run));
                }
                Controller::ServiceAccount => {
                    let run = service_accounts::run(client, token);
                    self.controllers.spawn(watch_over(controller.name(), run));
                }
                Controller::RootCertificates if self.api.address().is_none() => {}
                Controller::RootCertificates => {
                    let run = root_certificates::run(client, self.api.ca_pem(), token);
                    self.controllers.spawn(watch_over(controller.name(), run));
                }
                Controller::LocalApiServices => {
                    let run = local_api_services::run(client, token);
                    self.controllers.spawn(watch_over(controller.name(), run));
                }
                Controller::StorageVersionMigrator => {
                    let run = storage_version_migrator::run(client, token);
                    self.controllers.spawn(watch_over(controller.name(), run));
                }
                Controller::Namespace => {
                    let run = namespace::run(client, namespace::Options::default(), token);
                    self.controllers.spawn(watch_over(controller.name(), run));
                }
            }
        }
        Ok(())
    }

    /// Counts the usage of resource quotas until the token is cancelled, as
    /// [`Controller::ResourceQuota`] does: for servers that are not configured to run it all the
    /// time. It can be dropped at any time.
    pub fn resource_quota_controller(
        &self,
        token: CancellationToken,
    ) -> impl Future<Output = ()> + Send + 'static {
        let registry = self.registry.clone();
        async move {
            tokio::select! {
                biased;
                () = token.cancelled() => {}
                () = run_quotas(&registry) => {}
            }
        }
    }

    /// Runs a controller beside the server until [`shutdown`](Self::shutdown) cancels its token.
    ///
    /// It has a client of its own, which needs no socket and does not count towards the limits on
    /// requests and connections. It may do everything, as the service account of this name in
    /// `kube-system`. An error of the controller is logged; the server goes on.
    ///
    /// # Errors
    /// The client cannot be created.
    pub fn run_controller<T, E, F>(
        &mut self,
        name: &'static str,
        controller: impl FnOnce(Client, CancellationToken) -> F,
    ) -> Result<(), ServerError>
    where
        T: 'static,
        E: Error + 'static,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let run = controller(self.controller_client(name)?, self.stopping.clone());
        self.controllers.spawn(watch_over(name, run));
        Ok(())
    }

    /// Returns the address that it listens on; 127.0.0.1:0 if it does not listen.
    pub fn address(&self) -> SocketAddr {
        let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        self.api.address().unwrap_or(nowhere)
    }

    /// Returns `https://` and the address; empty if it does not listen.
    pub fn url(&self) -> String {
        self.api.url()
    }

    /// Returns the administrator's client: over TLS and the loopback interface or, if the server
    /// does not listen, within the process. Clones share its connections.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Returns another client of the administrator with separate connections.
    ///
    /// # Errors
    /// The certificates cannot be used, which the start has already checked.
    pub fn connect(&self) -> Result<Client, ServerError> {
        Ok(client_of(&self.api, kubist_client::Config::default())?)
    }

    /// Returns a client of the administrator without sockets: its bytes stay in the process, and
    /// its requests do not count towards the limits on requests and connections.
    ///
    /// It is for tests in virtual time. While tokio's clock is paused, time passes as soon as every
    /// task waits, even if bytes are on their way through a socket; nothing of this client's is
    /// outside of the runtime.
    ///
    /// # Errors
    /// The client cannot be created.
    pub fn in_process_client(&self) -> Result<Client, ServerError> {
        let transport = transport_within(self.api.in_process(), None)?;
        Ok(Client::new(transport, kubist_client::Config::default()))
    }

    /// Returns a client for one of the server's own controllers, so that they do not count towards
    /// the limits. Deprecation warnings are disabled, because these controllers watch whatever is
    /// served.
    fn controller_client(&self, account: &str) -> Result<Client, ServerError> {
        let transport = self.in_process_transport(controller_user(account), None)?;
        let config = kubist_client::Config {
            warnings: Arc::new(|_: &str| {}),
            ..kubist_client::Config::default()
        };
        Ok(Client::new(transport, config))
    }

    /// Returns a transport without sockets for another user, whom requests are authenticated as
    /// unless they have a bearer token. `user_agent` replaces the default one.
    ///
    /// # Errors
    /// `user_agent` is not a valid header.
    pub fn in_process_transport(
        &self,
        user: User,
        user_agent: Option<&str>,
    ) -> Result<Transport, ServerError> {
        let own = self.api.in_process().with_user(user);
        Ok(transport_within(own, user_agent)?)
    }

    /// Returns the HTTP server.
    pub fn api(&self) -> &RunningServer {
        &self.api
    }

    /// Returns the size of its store; `None` for an etcd cluster.
    pub fn storage_stats(&self) -> Option<memory::Stats> {
        self.store.stats()
    }

    /// Reports whether watch caches are enabled.
    pub fn has_watch_caches(&self) -> bool {
        self.watch_caches
    }

    /// Completes when the store has closed itself, as it does when its disk fails, and returns the
    /// reason. The server then refuses everything; acknowledged writes are in the data directory. A
    /// full or read-only disk is not such a failure: writes are refused while it lasts.
    ///
    /// Cancel safe: may be dropped and called again.
    pub async fn storage_failure(&mut self) -> Fault {
        loop {
            if let Some(fault) = self.store.failure() {
                return fault;
            }
            if self.engine.join_next().await.is_none() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Returns a kubeconfig of the administrator, with a client certificate. Without a port it has
    /// no address and no certificate.
    pub fn kubeconfig(&self) -> String {
        let (url, authority) = (self.api.url(), self.api.ca_pem());
        self.new_kubeconfig(&url, &authority).render()
    }

    /// Writes [`Self::kubeconfig`] to a file that only its owner can read.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_kubeconfig(&self, path: &Path) -> Result<(), KubeconfigError> {
        let (url, authority) = (self.api.url(), self.api.ca_pem());
        self.new_kubeconfig(&url, &authority).write(path)
    }

    fn new_kubeconfig<'a>(&'a self, url: &'a str, authority: &'a str) -> NewKubeconfig<'a> {
        let admin = self.api.admin();
        NewKubeconfig {
            name: CLUSTER_NAME,
            server: url,
            certificate_authority: authority,
            tls_server_name: self.api.tls_server_name().unwrap_or_default(),
            user: NewUser::Certificate {
                certificate: admin.map_or("", |it| &it.certificate_pem),
                key: admin.map_or("", |it| &it.key_pem),
            },
            namespace: "",
        }
    }

    /// Announces the shutdown, and leaves the endpoints of the service `kubernetes`; after the
    /// delay stops controllers, sends GOAWAY, ends watches, lets requests finish, and returns when
    /// nothing runs any more.
    ///
    /// Cancel safe: dropping the future stops everything at once.
    pub async fn shutdown(mut self) {
        self.membership.leave();
        self.api.announce_shutdown().await;
        self.membership.left().await;
        self.stopping.cancel();
        let controllers = &mut self.controllers;
        let drained = async { while controllers.join_next().await.is_some() {} };
        // Dropping the set aborts what has not ended.
        drop(tokio::time::timeout(CONTROLLERS_DRAIN, drained).await);
        self.controllers.shutdown().await;
        self.api.shutdown().await;
        self.engine.shutdown().await;
        for apart in &self.apart {
            apart.engine.close().await;
        }
        self.store.close().await;
    }
}

/// Opens the engine of most resources, and those of resources that have their own.
async fn engines(config: &ServerConfig) -> Result<(Engine, Vec<ApartEngine>), ServerError> {
    let limits = memory::Config {
        history_events_max: config.history_events_max,
        history_age: match config.history_age {
            Duration::ZERO => Duration::MAX,
            age => age,
        },
        data_bytes_max: config.storage_bytes_max,
        ..memory::Config::default()
    };
    let store = match (&config.data_dir, &config.etcd, &config.store) {
        (None, None, None) => Engine::in_memory(config.first_revision(), limits),
        (None, None, Some(kv)) => Engine::Memory(kv.clone()),
        (Some(dir), None, None) => Engine::in_folder(dir, limits).await?,
        (None, Some(etcd), None) => Engine::on_etcd(etcd, config.history_age).await?,
        _ => return Err(ServerError::TwoStores),
    };
    let apart = match &config.etcd {
        Some(etcd) => Engine::apart(etcd, config.history_age).await?,
        None => Vec::new(),
    };
    Ok((store, apart))
}

/// The server continues without a failed controller, so the failure is logged.
async fn watch_over<T, E: Error + 'static>(
    name: &'static str,
    run: impl Future<Output = Result<T, E>>,
) {
    if let Err(error) = run.await {
        let error: &dyn Error = &error;
        tracing::error!(controller = name, error, "a controller ended");
    }
}
