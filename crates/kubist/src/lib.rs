//! Kubernetes client and API machinery for Rust: the facade crate.
//!
//! It re-exports the crates of the project under short names: those of the client half always,
//! except those that are features of their own, those of the server half with the feature
//! `server`. `kubist-workloads` is not re-exported. It adds [`infer`], a client of the
//! cluster that kubectl would use, and, with the feature `server`, [`Server`], an API server in
//! this process. The crates can also be used individually.
//!
//! It is **not** a framework: it has no global state, spawns no tasks behind the caller's back, and
//! reads no environment variables except those that `kubeconfig` documents.
//!
//! A controller that labels every Pod with the number of its containers:
//!
//! ```no_run
//! use kubist::api::core::v1::Pod;
//! use kubist::apimachinery::{ObjectName, StrOption as _};
//! use kubist::client::{Api, ApiError, Patch};
//! use kubist::controller::{Action, Controller, Manager};
//! use kubist::informers::SharedInformerFactory;
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = kubist::infer()?;
//! let factory = SharedInformerFactory::new(client.clone());
//! let pods = factory.informer::<Pod>();
//! let lister = pods.lister_unsynced(); // complete before the first reconcile
//!
//! let reconcile = move |key: ObjectName| {
//!     let (pod, client) = (lister.get(&key), client.clone());
//!     async move {
//!         let Some(pod) = pod else { return Ok(Action::done()) }; // it is gone
//!         let count = pod.spec.containers.len().to_string();
//!         if !pod.metadata.labels.get("example.com/containers").is(&count) {
//!             let labels = serde_json::json!({"example.com/containers": count});
//!             let patch = Patch::Merge(serde_json::json!({"metadata": {"labels": labels}}));
//!             let pods: Api<Pod> = Api::namespaced(client, key.namespace.clone());
//!             pods.patch(&key.name, &patch).await?; // on an error, retried with backoff
//!         }
//!         Ok::<_, ApiError>(Action::done())
//!     }
//! };
//! let controller = Controller::new("containers", &pods).workers(4);
//! Manager::new(factory).with(controller, reconcile).run(CancellationToken::new()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! And the server it can be tried on:
//!
//! ```
//! # #[cfg(feature = "server")]
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = kubist::Server::start(kubist::ServerConfig::default()).await?;
//! let version = server.client().server_version().await?;
//! assert_eq!(version.minor.as_str(), "36");
//! server.shutdown().await;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "server"))]
//! # fn main() {}
//! ```
//!
//! In `Cargo.toml`, whose default features are those of the command:
//!
//! ```toml
//! [dependencies]
//! kubist = { version = "0.1", default-features = false, features = ["core-v1"] }
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
//! tokio-util = "0.7"          # CancellationToken
//! serde_json = "1"            # patches
//! tracing-subscriber = "0.3"  # to see what is logged
//! ```
//!
//! # Contracts
//!
//! - Features are additive: each group version (`core-v1`, `apps-v1`, …; `full` for all) adds its
//!   types, informer accessors and client methods; `kube` supports the types of k8s-openapi 0.29
//!   and of kube 5's `Resource` derive, `custom-resource` derives kinds and their definitions from
//!   structs, `apply` adds apply configurations, `anyhow` supports its errors in reconcilers,
//!   `leader-election`, `events`, `diagnostics` and `webhook` add the crates of these names, `ws`
//!   and `cp` exec and copies, `opentelemetry` the context of spans in requests, `server` adds the
//!   [`Server`], and `cli` (on by default, to be disabled for libraries) the command `kubist`.
//! - Dropping a [`Server`] stops everything that it started. It writes no files except a kubeconfig
//!   and a data directory, if they are configured.

#![cfg_attr(all(doctest, feature = "core-v1"), doc = include_str!("../README.md"))]

#[cfg(feature = "server")]
mod advertise;
#[cfg(feature = "server")]
mod audit_webhook;
#[cfg(feature = "server")]
mod authentication_file;
#[cfg(feature = "server")]
mod authorization_file;
#[cfg(feature = "server")]
mod encryption_file;
#[cfg(feature = "server")]
mod engine;
#[cfg(feature = "server")]
mod etcd_overrides;
#[cfg(feature = "server")]
mod followed_file;
mod infer;
#[cfg(feature = "server")]
mod membership;
#[cfg(feature = "server")]
mod refusals;
#[cfg(feature = "server")]
mod regular_file;
#[cfg(feature = "server")]
mod remote_kubeconfig;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod server_config;
#[cfg(feature = "server")]
mod server_keys;

pub use kubist_api as api;
pub use kubist_apimachinery as apimachinery;
pub use kubist_cache as cache;
pub use kubist_client as client;
pub use kubist_codec as codec;
pub use kubist_controller as controller;
#[cfg(feature = "custom-resource")]
pub use kubist_custom_resource as custom_resource;
pub use kubist_derive as derive;
#[cfg(feature = "diagnostics")]
pub use kubist_diagnostics as diagnostics;
#[cfg(feature = "server")]
pub use kubist_etcd as etcd;
#[cfg(feature = "events")]
pub use kubist_events as events;
#[cfg(feature = "apply")]
pub use kubist_field_manager as field_manager;
pub use kubist_informers as informers;
pub use kubist_kubeconfig as kubeconfig;
#[cfg(feature = "leader-election")]
pub use kubist_leader_election as leader_election;
pub use kubist_reflector as reflector;
#[cfg(feature = "server")]
pub use kubist_server_controllers as controllers;
#[cfg(feature = "server")]
pub use kubist_storage_etcd as storage_etcd;
#[cfg(feature = "server")]
pub use kubist_storage_redb as storage_redb;
pub use kubist_transport as transport;
#[cfg(feature = "webhook")]
pub use kubist_webhook as webhook;
pub use kubist_workqueue as workqueue;
#[cfg(feature = "server")]
pub use {
    kubist_admission as admission, kubist_apiserver as apiserver,
    kubist_authentication as authentication, kubist_authorization as authorization,
    kubist_kinds as kinds, kubist_registry as registry, kubist_storage as storage,
};

#[cfg(feature = "server")]
pub use advertise::is_advertisable;
#[cfg(feature = "server")]
pub use audit_webhook::{AuditWebhook, AuditWebhookError};
#[cfg(feature = "server")]
pub use authentication_file::{AuthenticationFile, AuthenticationFileError};
#[cfg(feature = "server")]
pub use authorization_file::{
    AuthorizationFile, AuthorizationFileError, AuthorizationModeError, authorization_modes,
};
#[cfg(feature = "server")]
pub use encryption_file::EncryptionFile;
#[cfg(feature = "server")]
pub use engine::{EtcdError, EtcdServers};
#[cfg(feature = "server")]
pub use etcd_overrides::{EtcdOverrides, EtcdOverridesError};
pub use infer::{InferError, infer, infer_with};
#[cfg(feature = "server")]
pub use kubist_admission::{
    AdmissionConfiguration, AdmissionConfigurationError, PluginError, PluginSelection,
};
#[cfg(feature = "server")]
pub use kubist_apiserver::{
    Anonymous, Authenticators, Authorization, AuthorizationMode, StaticToken,
};
#[cfg(feature = "server")]
pub use regular_file::read_regular_file;
#[cfg(feature = "server")]
pub use remote_kubeconfig::{RemoteKubeconfigError, read_remote_kubeconfig};
#[cfg(feature = "server")]
pub use server::{Server, ServerError};
#[cfg(feature = "server")]
pub use server_config::{Controller, ServerConfig};
#[cfg(feature = "server")]
pub use server_keys::{ServerKeys, ServerKeysError};
