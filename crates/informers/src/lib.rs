//! Shared informers: a local copy of part of a cluster, kept in step by one watch, with any number
//! of indexes and handlers.
//!
//! It stands on `kubist-cache` (the store) and `kubist-reflector` (list and watch). It is not a
//! client: objects come through a [`Source`](kubist_cache::Source), which a client or a script in
//! a test implements. It writes nothing to a server and starts no reconciling.
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
//! let lister = pods.synced().await.expect("nobody stops the factory"); // it exists once synced
//! println!("{} Pods on node-7", lister.by_index(&by_node, "node-7").len());
//! factory.shutdown().await;
//! # }
//! ```
//!
//! Contracts:
//! - the store shows a change, and all indexes with it, before any handler hears of it;
//! - a handler's calls come one after the other; for each object in order, and never back;
//! - a handler added late hears of everything in the store first, as additions that say so; it is
//!   synced when it has handled the whole first list;
//! - a handler that is slow, blocks or panics costs the others nothing; what waits for it is
//!   bounded as its [`Delivery`] says;
//! - every error is seen by [`InformerConfig::on_problem`], those in mid-stream too, or logged; who
//!   waits in vain is told the last one;
//! - a kind that the server does not serve is a state, [`InformerState::NotServed`], not an error
//!   loop;
//! - all that holds on either queue ([`QueueKind`]) and for one, several or all namespaces;
//! - nothing runs that nobody owns: [`SharedInformer::run`] is a future, a factory's tasks end
//!   with it, and its informers stop when nobody uses them any more.

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
