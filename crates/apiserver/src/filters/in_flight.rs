//! `InFlight`: limits the number of requests in flight.
//!
//! Read-only and mutating requests have separate limits, as upstream without priority levels.
//! Beyond the limit requests are refused, except those of system users (administrators, nodes, the
//! control plane), which have as many seats again, so that they can repair an overloaded cluster.
//! Long-running requests and probes are not counted.
//!
//! A request takes its seat when its body is complete (`seat_reservation.rs`), and keeps it until
//! the last byte of its response was accepted. A client that accepts nothing for [`STALLED`] loses
//! its seat to a request that needs it, but not its response: the connection bounds what that
//! costs, and others must not be locked out.

use crate::authentication::authenticator::MASTERS_GROUP;
use crate::config::Config;
use crate::metrics::RequestLabels;
use kubist_registry::User;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// How long a client may accept nothing of its response before its seat may be reused.
pub(crate) const STALLED: Duration = Duration::from_secs(1);
/// System users and groups, in addition to the masters.
const SYSTEM_USERS: [&str; 3] = [
    "system:kube-controller-manager",
    "system:kube-scheduler",
    "system:apiserver",
];
const SYSTEM_GROUPS: [&str; 3] = [
    MASTERS_GROUP,
    "system:nodes",
    "system:serviceaccounts:kube-system",
];

/// The seats of a server.
#[derive(Debug)]
pub(crate) struct InFlight {
    reading: Arc<SeatPool>,
    mutating: Arc<SeatPool>,
}

impl InFlight {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            reading: SeatPool::new(config.requests_max),
            mutating: SeatPool::new(config.mutating_requests_max),
        }
    }

    /// Takes a seat for a request of a user; `None` if all are taken.
    pub(crate) fn admit(&self, user: &User, labels: &RequestLabels) -> Option<PoolSeat> {
        self.pool(labels).take(is_system(user))
    }

    /// Reports whether a seat is free now. A client that cannot get one need not send its body.
    pub(crate) fn has_free_seat(&self, user: &User, labels: &RequestLabels) -> bool {
        let pool = self.pool(labels);
        pool.has_free_seat(&mut pool.taken.lock(), is_system(user))
    }

    fn pool(&self, labels: &RequestLabels) -> &Arc<SeatPool> {
        if labels.mutating {
            &self.mutating
        } else {
            &self.reading
        }
    }
}

fn is_system(user: &User) -> bool {
    SYSTEM_USERS.contains(&&*user.name)
        || user.groups.iter().any(|it| SYSTEM_GROUPS.contains(&&**it))
}

#[derive(Debug)]
struct SeatPool {
    /// `None`: no limit.
    max: Option<usize>,
    began: Instant,
    taken: Mutex<PoolState>,
}

#[derive(Debug, Default)]
struct PoolState {
    seats: usize,
    /// The seats whose responses are being sent, by number, with the time at which the client last
    /// accepted data.
    sending: BTreeMap<u64, Arc<AtomicU64>>,
    next: u64,
}

impl SeatPool {
    /// 0 means no limit, as upstream.
    fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max: (max > 0).then_some(max),
            began: Instant::now(),
            taken: Mutex::default(),
        })
    }

    fn take(self: &Arc<Self>, system: bool) -> Option<PoolSeat> {
        let mut taken = self.taken.lock();
        if !self.has_free_seat(&mut taken, system) {
            return None;
        }
        taken.seats += 1;
        drop(taken);
        Some(PoolSeat {
            pool: Arc::clone(self),
            sending: None,
        })
    }

    fn has_free_seat(&self, taken: &mut PoolState, system: bool) -> bool {
        let Some(max) = self.max else {
            return true;
        };
        let max = if system { max.saturating_mul(2) } else { max };
        if taken.seats >= max {
            taken.reclaim_stalled(self.millis());
        }
        taken.seats < max
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl PoolState {
    /// Frees the seats of stalled clients.
    fn reclaim_stalled(&mut self, now: u64) {
        let stalled = u64::try_from(STALLED.as_millis()).unwrap_or(u64::MAX);
        let before = self.sending.len();
        self.sending
            .retain(|_, last| now.saturating_sub(last.load(Ordering::Relaxed)) < stalled);
        self.seats -= before - self.sending.len();
    }
}

/// A seat in flight. Dropping it frees it.
#[derive(Debug)]
pub(crate) struct PoolSeat {
    pool: Arc<SeatPool>,
    /// Set once the response is being sent.
    sending: Option<(u64, Arc<AtomicU64>)>,
}

impl PoolSeat {
    /// The response is ready; from now on its client determines how long sending takes.
    pub(crate) fn sending(&mut self) {
        let last = Arc::new(AtomicU64::new(self.pool.millis()));
        let mut taken = self.pool.taken.lock();
        let number = taken.next;
        taken.next += 1;
        taken.sending.insert(number, Arc::clone(&last));
        self.sending = Some((number, last));
    }

    /// The client accepted data.
    pub(crate) fn took(&self) {
        if let Some((_, last)) = &self.sending {
            last.store(self.pool.millis(), Ordering::Relaxed);
        }
    }
}

impl Drop for PoolSeat {
    fn drop(&mut self) {
        let mut taken = self.pool.taken.lock();
        let held = match &self.sending {
            Some((number, _)) => taken.sending.remove(number).is_some(),
            None => true,
        };
        if held {
            taken.seats -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(groups: &[&str]) -> User {
        User {
            name: "somebody".into(),
            groups: groups.iter().map(|&it| it.into()).collect(),
            ..User::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_system_gets_through_when_others_are_refused() {
        let pool = SeatPool::new(2);
        let others: Vec<PoolSeat> = (0..2).filter_map(|_| pool.take(false)).collect();
        assert_eq!(others.len(), 2);
        assert!(pool.take(false).is_none());
        let system: Vec<PoolSeat> = std::iter::from_fn(|| pool.take(true)).collect();
        assert_eq!(system.len(), 2);
        drop(others);
        assert!(pool.take(false).is_none(), "the system's seats count");
        drop(system);
        assert!(pool.take(false).is_some());
        assert_eq!(pool.taken.lock().seats, 0);
        assert!(is_system(&user(&["system:nodes"])));
        assert!(is_system(&user(&[MASTERS_GROUP])));
        assert!(!is_system(&user(&["system:authenticated"])));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stalled_client_loses_its_seat_once_another_needs_it() {
        let pool = SeatPool::new(1);
        let mut slow = pool.take(false).expect("there is room");
        tokio::time::advance(STALLED).await;
        assert!(pool.take(false).is_none(), "it is still being answered");
        slow.sending();
        tokio::time::advance(STALLED / 2).await;
        slow.took();
        tokio::time::advance(STALLED / 2).await;
        assert!(pool.take(false).is_none(), "its client is reading");
        tokio::time::advance(STALLED).await;
        let next = pool.take(false).expect("nobody reads the first answer");
        drop(slow);
        assert!(pool.take(false).is_none(), "a seat is given back once");
        drop(next);
        assert_eq!(pool.taken.lock().seats, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn no_limit_is_no_limit() {
        let pool = SeatPool::new(0);
        let all: Vec<PoolSeat> = (0..1_000).filter_map(|_| pool.take(false)).collect();
        assert_eq!(all.len(), 1_000);
    }
}
