//! Shared informers: a local copy of part of a cluster, kept up to date by one watch, with any
//! number of indexes and handlers.
//!
//! The store is in `kubist-cache`, list and watch in `kubist-reflector`. This crate is not a
//! client: objects come from a [`Source`](kubist_cache::Source), which a client implements, or a
//! script in a test. It writes nothing to a server and runs no reconcilers.
//!
//! ```no_run
//! # async fn example<S: kubist_cache::Source, Pod: kubist_apimachinery::KubeObject>(client: S) {
//! use kubist_cache::{Encoded, Index};
//! use kubist_informers::SharedInformerFactory;
//!
//! let factory = SharedInformerFactory::new(client);
//! let pods = factory.informer::<Encoded<Pod>>();
//! let by_node = pods.add_index(Index::field("spec.nodeName"));
//! pods.add_handler(|change: kubist_cache::ResourceEvent<Encoded<Pod>>| println!("{change:?}"));
//! factory.start();
//! let lister = pods.synced().await.expect("the factory runs"); // it exists once synced
//! println!("{} Pods on node-7", lister.by_index(&by_node, "node-7").len());
//! factory.shutdown().await;
//! # }
//! ```
//!
//! Contracts:
//! - The store and all its indexes show a change before any handler receives its event.
//! - A handler's calls are sequential; the events of each object are in order and never go back in
//!   time.
//! - A handler that is added late first receives every stored object as an initial addition. It has
//!   synced when it has handled the whole first list.
//! - A handler that is slow, blocks or panics does not affect the others. Its pending events are
//!   bounded by its [`Delivery`].
//! - Every error is passed to [`InformerConfig::on_problem`] or logged, including errors in
//!   mid-stream. Waits that fail return the last problem.
//! - A kind that the server does not serve is a state, [`InformerState::NotServed`], not an error
//!   loop.
//! - All of this holds with either queue ([`QueueKind`]) and for one, several or all namespaces.
//! - There are no detached tasks: [`SharedInformer::run`] is a future, a factory's tasks end with
//!   it, and its informers stop when they are no longer used.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod batch;
mod builtin;
mod factory;
mod filtered;
mod generated;
mod handler;
mod handler_calls;
mod informer;
mod informer_config;
mod informer_state;
mod intake;
#[cfg(feature = "kube")]
mod kube_events;
mod listener;
mod listeners;
mod mailbox;
mod name_hash;
mod namespaces;
mod problem;
mod problem_log;
mod processor;
mod resync;
mod shared;
mod shared_informer;
mod subscription;
mod sync;
mod usage;

pub use factory::{
    FactoryConfig, InformerSummary, KindConfig, NotSynced, SharedInformerFactory, SyncResult,
    UNUSED_AFTER, UnknownResource, Unsynced,
};
pub use filtered::Filtered;
#[allow(
    unused_imports,
    unreachable_pub,
    reason = "it is empty without features"
)]
pub use generated::*;
pub use handler::{Delivery, EventHandler, HandlerConfig, Overflow, RESYNC_MIN};
pub use informer::{Informer, InformerEvent};
pub use informer_config::{Budget, InformerConfig, QueueKind};
pub use informer_state::{
    HandlerSummary, InformerState, InformerStats, NOT_STARTED_AFTER, RunError, SyncError,
};
#[cfg(feature = "kube")]
pub use kube_events::KubeEvents;
pub use kubist_reflector::{Config, CoopBudget, InitialSync, Report, Transform};
pub use listener::HandlerState;
pub use problem::{OnProblem, Problem};
pub use problem_log::{LOGGED_EVERY, LOGGED_MAX, ProblemLog};
pub use resync::Resync;
pub use shared_informer::SharedInformer;
pub use subscription::{Registration, RegistrationGuard, Subscription};
