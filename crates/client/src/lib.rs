//! The Kubernetes API client: verbs on typed, dynamic and metadata-only objects, subresources,
//! discovery, and the lists and watches of informers.
//!
//! [`Client`] is a cheap handle for one API server; [`Api<K>`] is one of its resources, in one
//! namespace or in all. `Client` also implements [`kubist_cache::Source`], so a shared informer
//! factory can be built on it.
//!
//! It is **not** a cache. It retries only what the server asks to retry, resolves no conflicts and
//! reads no configuration files: `kubist-kubeconfig` makes the [`kubist_transport::Config`].
//!
//! ```
//! use kubist_api::core::v1::Pod;
//! use kubist_apimachinery::ListOptions;
//! use kubist_client::{Api, Client, Config, Patch};
//! use kubist_transport::Transport;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let server = "https://127.0.0.1:6443".parse()?;
//! let transport = Transport::new(kubist_transport::Config::new(server))?;
//! let client = Client::new(transport, Config::default());
//!
//! let pods: Api<Pod> = Api::namespaced(client, "shop");
//! let web = ListOptions { label_selector: "app=web".parse()?, ..Default::default() };
//! for pod in pods.list(&web).await?.items {
//!     println!("{} on {}", pod.metadata.name, pod.spec.node_name);
//! }
//! let labels = serde_json::json!({"metadata": {"labels": {"seen": "true"}}});
//! match pods.patch("web-0", &Patch::Merge(labels)).await {
//!     Err(error) if error.is_not_found() => println!("there is no web-0"),
//!     other => drop(other?),
//! }
//! # Ok(()) }
//! ```
//!
//! # Contracts
//!
//! - Built-in kinds are sent as protobuf, everything else as JSON. A server that refuses protobuf
//!   gets JSON from then on.
//! - Lists and watches are decoded as they arrive; no body is buffered whole. An object that cannot
//!   be decoded is reported, and the others are delivered.
//! - When a response with 429, or with 500 and above, names a pause in seconds, the client waits
//!   and retries, at most [`Config::retries_max`] times. Lists and watches for informers are not
//!   retried here: the reflector does that and sees every error.
//! - Every error is an [`ApiError`]. It names the request, carries the server's Status or the
//!   position and cause in a response that cannot be read, and says whether to retry; its text
//!   includes the causes. A write that was applied is told apart from one that was not, as far as
//!   that is known.
//! - [`Api::wait_until`] and [`Api::watch_on`] log the problems that keep them waiting, each in one
//!   line with cause and advice, at a limited rate.
//! - Dropping a future or a stream cancels the request. No tasks are spawned.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod advice;
mod ambient;
mod answer;
mod api;
mod client;
mod decoder;
mod discovery;
mod endpoint;
mod error;
mod fetch_error;
mod field_conflict;
mod item_stream;
mod lister_watcher;
mod passing;
mod pods;
mod request;
mod request_span;
mod rest_mapper;
mod retry_on;
mod used_permissions;
mod warning;
mod watch_event_stream;

pub use ambient::Ambient;
pub use api::{
    Api, DeleteAnswer, EditOptions, PAGE_SIZE, Patch, Subresource, WaitUntilError, WatchOn,
};
pub use client::{Client, Config, ServerVersion};
pub use discovery::{DiscoveredResource, Discovery, FailedGroup};
pub use error::{AnswerError, ApiError, RequestError, WrittenObject};
pub use field_conflict::FieldConflict;
/// The figures of a client's connections.
pub use kubist_transport::{REQUEST_TIME_BOUNDS, RequestStats, Stats as TransportStats};
#[cfg(feature = "ws")]
pub use pods::{
    AttachedProcess, ExecOptions, ExitStatus, PodStreamError, PortForwarder, PortStream, Stderr,
    Stdin, Stdout, TerminalSize,
};
#[cfg(feature = "cp")]
pub use pods::{Copied, CopyError, CopyOptions};
pub use pods::{LOG_LINE_BYTES_MAX, LogLine, LogLines, LogOptions, LogSource, LogStream};
pub use rest_mapper::{MappingError, RestMapper, RestMapperConfig};
pub use retry_on::{Retries, retry_on, retry_on_conflict};
pub use used_permissions::{Permission, UsedPermissions};
pub use warning::{LogWarnings, WarningHandler};
