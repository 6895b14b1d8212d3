//! Controllers: reconcilers driven by shared informers through a work queue.
//!
//! A [`Controller`] maps changes of objects to keys, and calls a [`Reconciler`] with one key at a
//! time. A [`Manager`] runs several controllers and their informers.
//!
//! This crate is not a client: a reconciler reads from listers, and writes with a client of its
//! own, usually `kubist_client::Api`. The reconciler does not learn the reason of a call, because
//! the reason is outdated by then: it compares the current with the desired state.
//!
//! ```no_run
//! use kubist_api::apps::v1::{Deployment, ReplicaSet};
//! use kubist_apimachinery::ObjectName;
//! use kubist_controller::{Action, Controller, Error, Manager};
//! use kubist_informers::SharedInformerFactory;
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example(client: kubist_client::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let factory = SharedInformerFactory::new(client);
//! let deployments = factory.informer::<Deployment>();
//! let lister = deployments.lister_unsynced(); // complete before the first reconcile
//!
//! let controller = Controller::new("deployment", &deployments)
//!     .owns(&factory.informer::<ReplicaSet>())
//!     .workers(4);
//! let reconcile = move |key: ObjectName| {
//!     let deployment = lister.get(&key);
//!     async move {
//!         println!("{key} exists: {}", deployment.is_some());
//!         Ok::<_, Error>(Action::done())
//!     }
//! };
//! let summary = Manager::new(factory)
//!     .with(controller, reconcile)
//!     .run(CancellationToken::new())
//!     .await?;
//! # drop(summary);
//! # Ok(())
//! # }
//! ```
//!
//! Contracts:
//! - The first reconcile comes after every informer of the controller has its first list and the
//!   controller has received every object in it.
//! - A key is processed by one worker at a time. Changes that arrive meanwhile lead to one more
//!   reconcile.
//! - After a failure, a panic or a timeout the key is retried with growing delays
//!   ([`kubist_workqueue::rate_limiter`]), and no earlier than a server requested.
//! - Changes have priority over the keys of initial lists and resyncs.
//! - With [`Controller::reads_own_writes`], a key is not reconciled before the cache shows its own
//!   writes, except after [`Config::own_writes_timeout`]. Other keys are not delayed.
//! - Cancelling the token stops new reconciles at once and gives running ones
//!   [`Config::stop_timeout`]. When the future returns or is dropped, nothing of the controller
//!   runs and its handlers are removed.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod action;
mod apply_set;
mod blocked;
mod claim;
mod config;
mod controller;
mod controller_handle;
#[cfg(feature = "leader-election")]
mod election;
mod error;
mod event_source;
mod finalizer;
mod histogram;
mod hot_keys;
mod key;
mod manager;
mod own_writes;
mod owner;
mod predicate;
mod reconciler;
mod run;
mod run_error;
#[cfg(feature = "signal")]
mod shutdown_signal;
mod stats;
mod worker;

pub use action::Action;
pub use apply_set::{ApplySet, ApplySetError, ApplySetOutcome, ApplySetParent, Member, PART_OF};
pub use claim::{Claim, ControllerRefManager};
pub use config::Config;
pub use controller::Controller;
pub use controller_handle::ControllerHandle;
pub use error::Error;
pub use event_source::EventSource;
pub use finalizer::{Finalizer, FinalizerEvent};
pub use histogram::Histogram;
pub use key::{ClusterKey, Key};
pub use manager::{Manager, ManagerError, Summary};
pub use owner::{
    OwnerError, controller_reference, owner_reference, remove_owner_reference,
    set_controller_reference, set_owner_reference,
};
pub use predicate::Predicate;
pub use reconciler::Reconciler;
pub use run_error::RunError;
#[cfg(feature = "signal")]
pub use shutdown_signal::shutdown_on_signal;
pub use stats::{Monitor, Stats};
