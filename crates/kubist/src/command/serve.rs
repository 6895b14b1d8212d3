//! `kubist serve`: runs an API server in this process until it is stopped.

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use kubist::{
    Controller, EncryptionFile, Server, ServerConfig, ServerError, is_advertisable,
    read_regular_file,
};
use kubist_apimachinery::with_causes;
use kubist_registry::RuntimeConfig;
use kubist_registry::storage::WatchCacheSizes;
use kubist_registry::transformer::EncryptionConfiguration;
use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;

mod access_options;
mod admission_options;
mod aggregation_options;
mod audit_backend_options;
mod audit_options;
mod authentication_options;
mod authorization_options;
mod etcd_options;
mod feature_gates;
mod key_options;
mod kubelet_options;
mod limit_options;
mod network_options;
mod oidc_options;
mod pem_files;
mod proxy_options;

use self::feature_gates::FeatureGates;
use super::usage::WrongUsage;
use super::{Outcome, logging, signal, system_limits, values};

#[derive(Args, Debug)]
#[command(after_help = "\
Serves the built-in resources of Kubernetes v1.36 and custom resources over TLS. The kubeconfig has
the administrator's client certificate; an existing file is replaced. The certificate authority and
the token key are created at each start, or stored in DIR/pki with --data-dir, or in --cert-dir.
Objects are stored in memory and lost at exit, unless --data-dir names a directory: then every write
is on disk before it is acknowledged, and the next start continues from there, even after a crash.
With --etcd-servers they are stored in an etcd cluster, which other API servers may share.
When the server is ready, it prints one line on standard output:
  ready https://127.0.0.1:6443 kubeconfig=kubist.kubeconfig in 9 ms

Examples:
  kubist serve
  kubist serve --data-dir ./data       # and later: kubist storage check ./data
  kubist serve --data-dir ./data --encryption-provider-config keys.yaml
  kubist serve --etcd-servers http://127.0.0.1:2379
  kubist serve --listen 127.0.0.1:0 --kubeconfig /tmp/k.yaml --simulate
  KUBECONFIG=kubist.kubeconfig kubectl get namespaces
  KUBIST_TOKEN=s3cret kubist serve --controllers none
  kubist serve --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction
  kubist serve --audit-policy-file policy.yaml --audit-log-path -
  kubist serve --audit-policy-file policy.yaml --audit-webhook-config-file webhook.kubeconfig
  kubist serve --admission-control-config-file admission.yaml
  kubist serve -v --logging-format=json 2>requests.log
  kubectl --kubeconfig kubist.kubeconfig get --raw /metrics
  kubist storage backup --kubeconfig kubist.kubeconfig today.backup    # while it runs
  curl --insecure --header 'Authorization: Bearer s3cret' https://127.0.0.1:6443/version

Roles, admission plugins, webhooks, policies, flow schemas and an audit policy are obeyed. The roles
view, edit and admin get their rules from the controller clusterrole-aggregation. A quota limits
nothing until the controller resourcequota has counted what it is about, and warnings about types in
the status of policies come from the controller policy-types. Of upstream's controllers, only
those of --controllers exist: a new namespace has its ServiceAccount default and its ConfigMap
kube-root-ca.crt if serviceaccount and root-ca-cert-publisher are among them.")]
pub(crate) struct Options {
    /// The IP address and port to listen on: :6443 is every IPv4 address, port 0 a free port
    #[arg(
        long,
        value_name = "ADDR",
        default_value = "127.0.0.1:6443",
        value_parser = values::listen_address
    )]
    listen: SocketAddr,
    /// The advertised IPv4 address, for the endpoints of the service kubernetes; by default the
    /// listen address, or the source address of the default route
    #[arg(long, value_name = "IP", value_parser = advertise_address)]
    advertise_address: Option<Ipv4Addr>,
    /// The kubeconfig file to write; none if it is empty
    #[arg(
        long,
        value_name = "FILE",
        default_value = "kubist.kubeconfig",
        value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    kubeconfig: PathBuf,
    /// The data directory; created if it does not exist
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[command(flatten)]
    etcd: etcd_options::EtcdOptions,
    #[command(flatten)]
    keys: key_options::KeyOptions,
    /// The controllers to run
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "gc,namespace,clusterrole-aggregation,resourcequota,policy-types,local-apiservices,storage-version-migrator"
    )]
    controllers: Vec<Choice>,
    /// Simulate workloads, nodes and kubelets, without containers
    #[arg(long)]
    simulate: bool,
    #[command(flatten)]
    access: access_options::AccessOptions,
    #[command(flatten)]
    authentication: authentication_options::AuthenticationOptions,
    #[command(flatten)]
    authorization: authorization_options::AuthorizationOptions,
    #[command(flatten)]
    admission: admission_options::AdmissionOptions,
    #[command(flatten)]
    audit: audit_options::AuditOptions,
    /// How many events the store keeps, except etcd; watches from earlier versions get 410
    #[arg(
        long,
        value_name = "EVENTS",
        default_value_t = 100_000,
        value_parser = values::non_negative::<usize>,
        allow_negative_numbers = true
    )]
    history: usize,
    /// How long the store keeps events; etcd is told to compact at this interval. 0: not limited
    #[arg(
        long = "etcd-compaction-interval",
        value_name = "DURATION",
        default_value = "5m",
        value_parser = values::compaction_interval
    )]
    history_age: Duration,
    /// Upstream's feature gates. CBORServingAndStorage=true offers CBOR to clients; of others it is
    /// said that they have no effect
    #[arg(long, value_name = "GATE=BOOL,...")]
    feature_gates: Vec<FeatureGates>,
    #[command(flatten)]
    network: network_options::NetworkOptions,
    #[command(flatten)]
    kubelets: kubelet_options::KubeletOptions,
    #[command(flatten)]
    aggregation: aggregation_options::AggregationOptions,
    #[command(flatten)]
    limits: limit_options::LimitOptions,
    /// Serve watches and lists from a watch cache per resource; by default only with etcd, and only
    /// if its version supports progress notifications
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set,
        default_missing_value = "true"
    )]
    watch_cache: Option<bool>,
    /// Resources with their cache sizes; size 0 disables the cache, any other is ignored, since
    /// caches adapt their size
    #[arg(long, value_name = "RESOURCE[.GROUP]#SIZE,...", default_value = "")]
    watch_cache_sizes: WatchCacheSizes,
    /// API versions, or resources in them, to enable or disable, such as api/beta=true or
    /// batch/v1/cronjobs=false; by default the stable versions are enabled
    #[arg(long, value_name = "VERSION[/RESOURCE]=BOOL,...", default_value = "")]
    runtime_config: RuntimeConfig,
    /// Upstream's file of resources that are encrypted at rest, with their keys
    #[arg(long, value_name = "FILE")]
    encryption_provider_config: Option<PathBuf>,
    /// Reload that file when it changes, checked every minute; a file that cannot be used is logged
    /// and counted, and has no effect
    #[arg(long, requires = "encryption_provider_config")]
    encryption_provider_config_automatic_reload: bool,
    #[command(flatten)]
    shutdown: ShutdownOptions,
    #[command(flatten)]
    logging: logging::LogOptions,
}

#[derive(Args, Debug)]
struct ShutdownOptions {
    /// At shutdown, keep serving for this long while /readyz fails
    #[arg(
        long = "shutdown-delay-duration",
        value_name = "DURATION",
        default_value = "0s",
        value_parser = values::duration,
        allow_hyphen_values = true
    )]
    delay: Duration,
    /// At shutdown, end watches at random within this time, so that clients do not reconnect all at
    /// once
    #[arg(
        long = "shutdown-watch-termination-grace-period",
        value_name = "DURATION",
        default_value = "1s",
        value_parser = values::duration,
        allow_hyphen_values = true
    )]
    watches: Duration,
    /// The probability that an HTTP/2 request makes its connection receive GOAWAY: 0 to 0.02
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.0,
        value_parser = goaway_chance,
        allow_negative_numbers = true
    )]
    goaway_chance: f64,
}

fn advertise_address(text: &str) -> Result<Ipv4Addr, String> {
    let address: Ipv4Addr = text
        .parse()
        .map_err(|_| "must be an IPv4 address".to_owned())?;
    let is_fine = is_advertisable(address);
    is_fine
        .then_some(address)
        .ok_or_else(|| "must be an address that others can reach".to_owned())
}

fn goaway_chance(text: &str) -> Result<f64, String> {
    let most = kubist_apiserver::GOAWAY_CHANCE_MAX;
    let chance: Option<f64> = text.parse().ok();
    let chance = chance.filter(|it| (0.0..=most).contains(it));
    chance.ok_or_else(|| format!("must be between 0 and {most}"))
}

/// Maximum bytes of an encryption configuration file.
const ENCRYPTION_BYTES_MAX: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// The garbage collector
    Gc,
    /// Namespace deletion
    Namespace,
    /// Roles that combine others
    ClusterroleAggregation,
    /// The usage of resource quotas
    Resourcequota,
    /// The types in expressions of policies
    PolicyTypes,
    /// The service account default of every namespace
    Serviceaccount,
    /// The config map kube-root-ca.crt of every namespace
    RootCaCertPublisher,
    /// The API services of what the server itself serves
    LocalApiservices,
    /// Storing objects anew, on request
    StorageVersionMigrator,
    /// Nothing
    None,
}

impl Options {
    /// Takes what a kube-apiserver has by default, or reads from its directory of certificates.
    pub(super) fn be_upstream(&mut self, listen: SocketAddr) {
        self.listen = listen;
        self.admission.add_upstream_default("ServiceAccount");
        self.keys.take_serving_certificate();
    }
}

pub(crate) async fn run(options: Options) -> Outcome {
    run_after(options, || {}).await
}

/// Runs it; `say` logs what is to be said first.
pub(super) async fn run_after(options: Options, say: impl FnOnce()) -> Outcome {
    let started = Instant::now();
    let mut signals = signal::listen()?;
    options.logging.install();
    say();
    system_limits::survive_file_size()?;
    let followed = options.encryption_provider_config_automatic_reload;
    let decider = options.authorization.decider()?;
    let users_ca_file = options.keys.client_ca_file();
    let mut believed = options
        .authentication
        .authenticators(users_ca_file, decider.allows_all)?;
    let gates = FeatureGates::merged_and_said(options.feature_gates);
    let etcd = options.etcd.servers();
    let in_memory = options.data_dir.is_none() && etcd.is_none();
    let aggregation = options
        .aggregation
        .config(&mut believed.authenticators.request_header, in_memory)?;
    let config = ServerConfig {
        listen: Some(options.listen),
        tokens: options.access.tokens()?,
        user_tokens: options.authentication.user_tokens()?,
        authenticators: believed.authenticators,
        anonymous: believed.anonymous,
        authentication_file: believed.file,
        authorization: decider.authorization,
        authorization_file: decider.file,
        admission_plugins: options.admission.plugins()?,
        allow_privileged: options.admission.allow_privileged(),
        controllers: controllers(&options.controllers)?,
        history_events_max: options.history,
        history_age: options.history_age,
        storage_bytes_max: options.limits.storage_bytes(),
        object_cache_bytes_max: options.limits.object_cache_bytes(),
        advertise_address: options.advertise_address,
        service_network: options.network.service_cluster_ip_range,
        node_ports: options.network.service_node_port_range,
        backends: options.kubelets.backends()?,
        aggregation,
        data_dir: options.data_dir,
        keys: options.keys.keys(),
        watch_cache: options.watch_cache,
        watch_cache_sizes: options.watch_cache_sizes,
        runtime_config: options.runtime_config,
        encryption: encryption(options.encryption_provider_config.as_deref())?,
        encryption_file: followed
            .then_some(options.encryption_provider_config)
            .flatten()
            .map(EncryptionFile::new),
        etcd,
        audit: options.audit.audit()?,
        requests_max: options.limits.requests(),
        mutating_requests_max: options.limits.mutating_requests(),
        priority_and_fairness: options.limits.priority_and_fairness(),
        cbor: gates.cbor(),
        connections_max: options.limits.connections()?,
        shutdown_delay: options.shutdown.delay,
        watch_drain: options.shutdown.watches,
        goaway_chance: options.shutdown.goaway_chance,
        ..ServerConfig::default()
    };
    let mut server = Box::pin(Server::start(config))
        .await
        .map_err(|error| explain(options.listen, error))?;
    if options.simulate {
        simulate(&mut server)?;
    }
    announce_ready(&server, &options.kubeconfig, &decider.modes, started)?;
    run_to_end(server, &mut signals).await
}

/// Waits for a signal, and shuts down.
async fn run_to_end(mut server: Server, signals: &mut signal::Signals) -> Outcome {
    let ended = tokio::select! {
        signal = signals.next() => Ok(signal.exit_code()),
        fault = server.storage_failure() => Err(fault.into()),
    };
    // A second signal ends the process at once. The controllers' connections break, which need not
    // be logged.
    let mut shutdown = pin!(server.shutdown());
    tokio::select! {
        () = &mut shutdown => ended,
        again = signals.next() => {
            logging::end();
            Ok(again.exit_code_at_once())
        }
    }
}

/// Runs the controllers of workloads, and the stand-in for the kubelets, which answers on a port
/// of loopback.
fn simulate(server: &mut Server) -> Result<(), ServerError> {
    let kubelet = kubist_workloads::kubelet::Options {
        listen: Some((Ipv4Addr::LOCALHOST, 0).into()),
        ..kubist_workloads::kubelet::Options::default()
    };
    let options = kubist_workloads::Options {
        kubelet: Some(kubelet),
        ..kubist_workloads::Options::default()
    };
    server.run_controller("simulation", |client, token| {
        kubist_workloads::run(client, options, token)
    })
}

/// Reads the encryption configuration.
fn encryption(file: Option<&Path>) -> Result<Option<EncryptionConfiguration>, Box<dyn Error>> {
    let Some(file) = file else {
        return Ok(None);
    };
    let shown = file.display();
    let text = read_regular_file(file, ENCRYPTION_BYTES_MAX);
    let text = text
        .map_err(|error| format!("--encryption-provider-config: cannot read {shown}: {error}"))?;
    match EncryptionConfiguration::parse(&text) {
        Ok(configuration) => Ok(Some(configuration)),
        Err(error) => Err(format!("{shown}: {}", with_causes(&error)).into()),
    }
}

fn controllers(chosen: &[Choice]) -> Result<BTreeSet<Controller>, Box<dyn Error>> {
    if chosen.contains(&Choice::None) {
        if chosen.len() > 1 {
            return Err(WrongUsage(
                "--controllers: none cannot be combined with others".to_owned(),
            )
            .into());
        }
        return Ok(BTreeSet::new());
    }
    let named = chosen.iter().filter_map(|choice| match choice {
        Choice::Gc => Some(Controller::GarbageCollector),
        Choice::Namespace => Some(Controller::Namespace),
        Choice::ClusterroleAggregation => Some(Controller::ClusterRoleAggregation),
        Choice::Resourcequota => Some(Controller::ResourceQuota),
        Choice::PolicyTypes => Some(Controller::PolicyTypes),
        Choice::Serviceaccount => Some(Controller::ServiceAccount),
        Choice::RootCaCertPublisher => Some(Controller::RootCertificates),
        Choice::LocalApiservices => Some(Controller::LocalApiServices),
        Choice::StorageVersionMigrator => Some(Controller::StorageVersionMigrator),
        Choice::None => None,
    });
    Ok(named.collect())
}

/// Adds advice to an error, where there is some.
fn explain(listen: SocketAddr, error: ServerError) -> Box<dyn Error> {
    let mut cause: Option<&dyn Error> = Some(&error);
    let mut taken = false;
    while let Some(error) = cause {
        let io = error.downcast_ref::<std::io::Error>();
        taken |= io.is_some_and(|io| io.kind() == std::io::ErrorKind::AddrInUse);
        cause = error.source();
    }
    if taken {
        return format!(
            "{listen} is in use: stop what listens there, or choose another address with --listen \
             ({}:0 takes a free port)",
            listen.ip()
        )
        .into();
    }
    error.into()
}

/// Writes the kubeconfig, if one is wanted, and then says that the server is ready.
fn announce_ready(
    server: &Server,
    kubeconfig: &Path,
    modes: &str,
    started: Instant,
) -> Result<(), Box<dyn Error>> {
    let mut shown = String::new();
    if !kubeconfig.as_os_str().is_empty() {
        server.write_kubeconfig(kubeconfig)?;
        shown = format!(" kubeconfig={}", kubeconfig.display());
    }
    announce(&format!(
        "ready {}{shown} authorization={modes} in {} ms",
        server.url(),
        started.elapsed().as_millis()
    ))?;
    Ok(())
}

fn announce(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
