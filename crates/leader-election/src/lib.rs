//! Leader election on Leases: of several processes, one works.
//!
//! A [`LeaderElector`] takes part in an election. [`run`](LeaderElector::run) waits until this
//! process leads, and then runs a future with a [`Term`], the time during which it leads. The rules
//! and numbers are client-go's, so that its candidates can take part.
//!
//! It is **not** a distributed lock for single operations, and it does not stop what a lost leader
//! has sent already. A term tells when to stop, before another leader can begin;
//! [`Term::transitions`] lets the receiver of a write refuse old leaders.
//!
//! ```no_run
//! use kubist_leader_election::{LeaderElectionConfig, LeaderElector, LeaseLock};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example(client: kubist_client::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let lock = LeaseLock::new(client, "kube-system", "my-operator");
//! let mut elector = LeaderElector::new(LeaderElectionConfig::new(lock))?;
//! let stop = CancellationToken::new();
//! elector
//!     .run(stop, |term| async move {
//!         println!("leading, term {}", term.transitions());
//!         term.token().cancelled().await; // asked to stop: end soon, the term is still held
//!     })
//!     .await?; // an error if the term was lost: the work was dropped
//! # Ok(())
//! # }
//! ```
//!
//! # Contracts
//!
//! - A term is over before another candidate may take the lease, as long as no clock is faster than
//!   another by more than `lease_duration / renew_deadline`, and the lease is not deleted. Only
//!   monotonic clocks count; the time in the record is for people.
//! - A process that was paused sees at once that its term is over. A term never begins again.
//! - A renewal counts from its beginning: a slow server cannot prolong a term.
//! - A lease is given up only when no work runs any more.
//! - If the server can be reached and nobody holds the lease, somebody leads soon: after at most
//!   the lease duration and 2.2 retry periods.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod config;
mod driver;
mod elector;
mod identity;
mod leader_stats;
mod leader_watch;
mod lock;
mod machine;
mod random;
mod term;
mod timing;

pub use config::LeaderElectionConfig;
pub use elector::{LeaderElectionError, LeaderElector};
pub use leader_stats::LeaderStats;
pub use leader_watch::{LeaderWatch, LeaseOverdue};
pub use lock::{LeaseLock, Lock};
pub use machine::LostReason;
pub use term::{Term, TermEnded};
pub use timing::InvalidConfig;
