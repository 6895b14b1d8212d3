//! The Kubernetes API client: verbs on typed, dynamic and metadata-only objects, subresources,
//! discovery, and the lists and watches that informers live on.
//!
//! [`Client`] is a cheap handle on one API server; [`Api<K>`] is one resource of it, in one
//! namespace or in all. `Client` also implements [`kubist_cache::Source`], so that a shared
//! informer factory can be built on it.
//!
//! It is **not** a cache, retries nothing but what the server asks to retry, resolves no conflicts,
//! and reads no configuration: `kubist-kubeconfig` makes the [`kubist_transport::Config`].
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
//! - Built-in kinds go over the wire in protobuf, everything else in JSON; a server that refuses
//!   protobuf gets JSON from then on.
//! - Lists and watches are read as they arrive; no body is held. One object that cannot be read is
//!   reported, and the others are delivered.
//! - An answer of 429 or of 500 and above that says after how many seconds to try again is waited
//!   for, at most [`Config::retries_max`] times. Lists and watches made for informers are not
//!   repeated here: a reflector does that, and must see every error.
//! - Every error is an [`ApiError`], which names the request, carries the server's Status or the
//!   place and cause in an answer that cannot be read, and says whether to try again; its text has
//!   the causes. A write that was done is told from one that was not, as far as anybody knows.
//! - Who waits, waits in silence for nothing: what keeps [`Api::wait_until`] and [`Api::watch_on`]
//!   waiting is logged, in one line with cause and advice, and not too often.
//! - Dropping a future or a stream cancels the request. Nothing is spawned.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod answer;
mod api;
mod client;
mod decoder;
mod discovery;
mod endpoint;
mod error;
mod fetch_error;
mod item_stream;
mod lister_watcher;
mod passing;
mod request;
mod retry_on;
mod subresource;
mod warning;
mod watch_event_stream;

pub use api::{Api, DeleteAnswer, PAGE_SIZE, Patch, WaitUntilError, WatchOn};
pub use client::{Client, Config, ServerVersion};
pub use discovery::{DiscoveredResource, Discovery, FailedGroup};
pub use error::{AnswerError, ApiError, RequestError, WrittenObject};
pub use retry_on::{Retries, retry_on, retry_on_conflict};
pub use subresource::Subresource;
pub use warning::{LogWarnings, WarningHandler};
