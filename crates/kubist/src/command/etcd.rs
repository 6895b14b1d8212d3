//! `kubist etcd`: serves etcd's v3 API from the project's own storage until it is stopped.
//!
//! The flags are etcd's, so that programs that start an etcd can start it. Those that mean nothing
//! here are accepted, and said.

mod ignored;
mod tls_options;
mod urls;

use self::ignored::OfEtcd;
use self::tls_options::TlsOptions;
use self::urls::{ListenUrl, listen_urls};
use super::foreign_flags::ForeignFlags;
use super::{Outcome, logging, signal, system_limits, values};
use clap::{ArgAction, Args, ValueEnum};
use kubist_etcd::{Config, Engine, Etcd, Tls};
use kubist_storage::Fault;
use kubist_storage::journal::JournaledKv;
use kubist_storage::memory::{self, MemoryKv, TokioClock};
use kubist_storage_redb::{Store, StoreError};
use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::Instant;

/// No age of history matters: a kube-apiserver compacts.
const FOREVER: Duration = Duration::from_secs(1 << 40);

#[derive(Args, Debug)]
#[command(display_name = "etcd", version = "Version: 3.6.0 (of kubist)")]
#[command(after_help = "\
A kube-apiserver, etcdctl and other programs use it as they use etcd: KV with transactions, Watch and
Lease, at version 3.6. Without --data-dir everything is in memory and lost at exit. With it, every
write is on disk before it is acknowledged, except with --unsafe-no-fsync. The directory is the
same as that of `kubist serve --data-dir`, and `kubist storage` checks, compacts and backs it up.

It is one member without users: members, authentication, snapshots in etcd's file format, and the
HTTP gateway are refused. Other flags of etcd are accepted, and a warning names those without
effect. Each write of a transaction has a revision of its own. History ends at a
compaction, or when it needs more than --history-bytes.

When it is ready, it prints one line on standard output:
  ready http://127.0.0.1:2379 in 4 ms

Examples:
  kubist etcd
  kubist etcd --data-dir ./etcd --listen-client-urls http://127.0.0.1:2379
  kube-apiserver --etcd-servers http://127.0.0.1:2379 ...
  etcdctl --endpoints http://127.0.0.1:2379 get / --prefix --keys-only")]
pub(crate) struct Options {
    /// The name of the member
    #[arg(long, value_name = "NAME", default_value = "default")]
    name: String,
    /// The data directory; created if it does not exist
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Do not sync writes to the disk: those of the last seconds are lost if the machine crashes
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = false,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        action = ArgAction::Set
    )]
    unsafe_no_fsync: bool,
    /// The URLs to listen on
    #[arg(
        long,
        value_name = "URL,...",
        default_value = "http://localhost:2379",
        value_parser = listen_urls
    )]
    listen_client_urls: Urls,
    /// The URLs that clients are told
    #[arg(long, value_name = "URL,...", value_delimiter = ',')]
    advertise_client_urls: Vec<String>,
    /// More URLs to listen on, for health and metrics
    #[arg(long, value_name = "URL,...", value_parser = listen_urls)]
    listen_metrics_urls: Option<Urls>,
    #[command(flatten)]
    tls: TlsOptions,
    /// Maximum bytes of the stored data, as 300000, 1G or 1Gi; 0 is the default of 2Gi
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "0",
        value_parser = values::bytes,
        allow_negative_numbers = true
    )]
    quota_backend_bytes: usize,
    /// Maximum bytes that the events of the history keep in memory
    #[arg(long, value_name = "BYTES", default_value = "1Gi", value_parser = values::bytes)]
    history_bytes: usize,
    /// Maximum bytes of a request
    #[arg(long, value_name = "BYTES", default_value = "1572864", value_parser = values::bytes)]
    max_request_bytes: usize,
    /// Maximum operations of a transaction
    #[arg(long, value_name = "OPERATIONS", default_value = "128", value_parser = values::positive)]
    max_txn_ops: u64,
    /// What --auto-compaction-retention counts
    #[arg(long, value_enum, value_name = "MODE", default_value = "periodic")]
    auto_compaction_mode: Mode,
    /// The history to keep: hours, a duration such as 30m, or a number of events; 0 keeps all
    #[arg(long, value_name = "AMOUNT", default_value = "0")]
    auto_compaction_retention: String,
    /// The log level: debug, info, warn, error, panic or fatal
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "warn")]
    log_level: Level,
    #[command(flatten)]
    ignored: ForeignFlags<OfEtcd>,
}

type Urls = Arc<[ListenUrl]>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// By age
    Periodic,
    /// By number
    Revision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Everything, with the reasons of decisions
    Debug,
    /// Errors, warnings and what happens
    Info,
    /// Errors and warnings
    Warn,
    /// Errors only
    Error,
    /// The same as error
    #[value(alias = "dpanic")]
    Panic,
    /// The same as error
    Fatal,
}

/// The store.
#[derive(Clone, Debug)]
enum Kv {
    Memory(MemoryKv),
    Durable(JournaledKv),
}

/// Threads for calls: half as many as cores. The journal and the kernel's share of each call run on
/// the others, and a call that wakes fewer threads costs less. `None` if the cores are unknown.
pub(crate) fn workers() -> Option<usize> {
    let cores = std::thread::available_parallelism().ok()?;
    Some(cores.get().div_ceil(2))
}

pub(crate) async fn run(options: Options) -> Outcome {
    let started = Instant::now();
    let mut signals = signal::listen()?;
    logging::install(options.log_level.filter());
    system_limits::survive_file_size()?;
    options.ignored.say();
    let tls = options.tls.tls()?;
    let limits = options.limits()?;
    let listeners = options.listen(tls.is_some()).await?;
    let kv = options.open(limits.clone()).await?;
    let mut config = options.config(&listeners);
    config.quota_bytes = u64::try_from(limits.data_bytes_max.unwrap_or_default()).unwrap_or(0);
    let etcd = Etcd::new(kv.engine(), config);
    let (stopping, stopped) = watch::channel(());
    let mut servers = JoinSet::new();
    let urls: Vec<_> = listeners.iter().map(|it| it.url.clone()).collect();
    for listener in listeners {
        let tls: Option<Tls> = tls.clone().filter(|_| listener.is_secure);
        let mut stopped = stopped.clone();
        let stop = async move { drop(stopped.changed().await) };
        servers.spawn(etcd.clone().serve(listener.socket, tls, stop));
    }
    let elapsed = started.elapsed().as_millis();
    announce(&format!("ready {} in {elapsed} ms", urls.join(" ")))?;
    let mut engine = JoinSet::new();
    let running = kv.clone();
    engine.spawn(async move { running.run().await });
    let ended = tokio::select! {
        signal = signals.next() => Ok(signal.exit_code()),
        fault = failure(&kv, &mut engine) => Err(fault.into()),
    };
    drop(stopping);
    let shutdown = async {
        while servers.join_next().await.is_some() {}
        kv.close().await;
    };
    // A second signal ends the process at once.
    tokio::select! {
        () = shutdown => ended,
        again = signals.next() => {
            logging::end();
            Ok(again.exit_code_at_once())
        }
    }
}

/// A socket, and its URL with the port that it got.
struct Listener {
    socket: TcpListener,
    url: String,
    is_secure: bool,
    is_for_clients: bool,
}

impl Options {
    async fn listen(&self, has_certificate: bool) -> Result<Vec<Listener>, Box<dyn Error>> {
        let mut listeners = Vec::new();
        let metrics = self.listen_metrics_urls.iter().flat_map(|it| it.iter());
        let all = self.listen_client_urls.iter().map(|it| (it, true));
        for (url, is_for_clients) in all.chain(metrics.map(|it| (it, false))) {
            if url.is_secure && !has_certificate {
                let why = "an https URL needs --cert-file and --key-file";
                return Err(super::WrongUsage(why.to_owned()).into());
            }
            let (socket, url, is_secure) = (url.bind().await?, url.host.clone(), url.is_secure);
            let scheme = if is_secure { "https" } else { "http" };
            let port = socket.local_addr()?.port();
            listeners.push(Listener {
                socket,
                url: format!("{scheme}://{url}:{port}"),
                is_secure,
                is_for_clients,
            });
        }
        Ok(listeners)
    }

    fn config(&self, listeners: &[Listener]) -> Config {
        let own = listeners.iter().filter(|it| it.is_for_clients);
        let client_urls = if self.advertise_client_urls.is_empty() {
            own.map(|it| it.url.clone()).collect()
        } else {
            self.advertise_client_urls.clone()
        };
        Config {
            name: self.name.clone(),
            client_urls,
            request_bytes_max: self.max_request_bytes,
            txn_operations_max: usize::try_from(self.max_txn_ops).unwrap_or(usize::MAX),
            ..Config::default()
        }
    }

    fn limits(&self) -> Result<memory::Config, Box<dyn Error>> {
        /// As etcd.
        const QUOTA_BYTES: usize = 2 << 30;
        let quota = match self.quota_backend_bytes {
            0 => QUOTA_BYTES,
            bytes => bytes,
        };
        let retention = &*self.auto_compaction_retention;
        let hours = || {
            Some(Duration::from_secs(
                retention.parse::<u64>().ok()?.checked_mul(3600)?,
            ))
        };
        let (age, events) = match self.auto_compaction_mode {
            _ if retention == "0" => (FOREVER, usize::MAX),
            Mode::Revision => (FOREVER, values::non_negative(retention).map_err(wrong)?),
            Mode::Periodic => match hours() {
                Some(age) => (age, usize::MAX),
                None => (values::duration(retention).map_err(wrong)?, usize::MAX),
            },
        };
        Ok(memory::Config {
            request_bytes_max: self.max_request_bytes,
            data_bytes_max: Some(quota),
            history_events_max: events,
            history_bytes_max: self.history_bytes,
            history_age: age,
            ..memory::Config::default()
        })
    }

    async fn open(&self, limits: memory::Config) -> Result<Kv, Box<dyn Error>> {
        let clock = Arc::new(TokioClock::start());
        let Some(dir) = self.data_dir.clone() else {
            return Ok(Kv::Memory(MemoryKv::new(limits, clock)));
        };
        // The directory itself, or that in it.
        if dir.join("member").is_dir() || dir.join("snap").is_dir() && dir.join("wal").is_dir() {
            return Err(format!(
                "{} is the data directory of an etcd, whose format this is not: choose another, \
                 and copy the keys with etcdctl",
                dir.display()
            )
            .into());
        }
        let synced = !self.unsafe_no_fsync;
        let opened = spawn_blocking(move || -> Result<JournaledKv, StoreError> {
            let store = if synced {
                Store::open(&dir)
            } else {
                Store::open_unsynced(&dir)
            };
            store?.into_kv(limits, clock)
        });
        let kv = opened.await??;
        kv.on_own_thread()?;
        Ok(Kv::Durable(kv))
    }
}

fn wrong(why: String) -> super::WrongUsage {
    super::WrongUsage(format!("--auto-compaction-retention: {why}"))
}

impl Level {
    fn filter(self) -> tracing::level_filters::LevelFilter {
        use tracing::level_filters::LevelFilter;
        match self {
            Self::Debug => LevelFilter::DEBUG,
            Self::Info => LevelFilter::INFO,
            Self::Warn => LevelFilter::WARN,
            Self::Error | Self::Panic | Self::Fatal => LevelFilter::ERROR,
        }
    }
}

impl Kv {
    fn engine(&self) -> Arc<dyn Engine> {
        match self {
            Self::Memory(kv) => Arc::new(kv.clone()),
            Self::Durable(kv) => Arc::new(kv.clone()),
        }
    }

    async fn run(&self) {
        match self {
            Self::Memory(kv) => kv.run().await,
            Self::Durable(kv) => kv.run().await,
        }
    }

    async fn close(&self) {
        match self {
            Self::Memory(kv) => kv.close(),
            Self::Durable(kv) => kv.close().await,
        }
    }

    fn failure(&self) -> Option<Fault> {
        match self {
            Self::Memory(_) => None,
            Self::Durable(kv) => kv.failure(),
        }
    }
}

/// Waits until the store closes itself, and returns why.
async fn failure(kv: &Kv, engine: &mut JoinSet<()>) -> Fault {
    loop {
        if let Some(fault) = kv.failure() {
            return fault;
        }
        if engine.join_next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

fn announce(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
