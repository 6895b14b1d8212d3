//! Controllers: reconcilers that are fed by shared informers, through a work queue.
//!
//! A [`Controller`] turns changes of objects into names, and calls a [`Reconciler`] with one name
//! at a time until the reconciler says that it is done. A [`Manager`] runs several controllers
//! and the informers under them.
//!
//! It is not a client: what a reconciler reads comes from listers, what it writes goes through
//! whatever the reconciler holds, usually `kubist_client::Api`. It does not tell the reconciler
//! why it is called, because the reason is out of date by then: compare what is with what should
//! be.
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
//! - the first reconcile comes after every informer of the controller has its first list and the
//!   controller has heard of every object in it;
//! - a name is with one worker at a time; changes that arrive meanwhile lead to one more run;
//! - a failure, a panic or a timeout brings the name back, ever later
//!   ([`kubist_workqueue::rate_limiter`]), and no earlier than a server asked for;
//! - real changes go before the names of the first list and of resyncs;
//! - with [`Controller::reads_own_writes`], a name is not reconciled before the cache shows what
//!   was written for it, except after [`Config::own_writes_timeout`]; others are not held up;
//! - cancelling the token stops new runs at once and gives the running ones
//!   [`Config::stop_timeout`]; when the future returns, or is dropped, nothing of the controller
//!   runs and its handlers are removed.

mod action;
mod config;
mod controller;
mod error;
mod event_source;
mod finalizer;
mod histogram;
mod manager;
mod own_writes;
mod predicate;
mod reconciler;
mod run;
mod run_error;
mod stats;
mod worker;

pub use action::Action;
pub use config::Config;
pub use controller::Controller;
pub use error::Error;
pub use event_source::EventSource;
pub use finalizer::Finalizer;
pub use histogram::Histogram;
pub use manager::{Manager, ManagerError, Summary};
pub use predicate::Predicate;
pub use reconciler::Reconciler;
pub use run_error::RunError;
pub use stats::{Monitor, Stats};
