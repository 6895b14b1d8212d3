//! `InFlight`: how many requests are answered at a time.
//!
//! Requests that read and requests that write are counted apart, as upstream does without priority
//! levels. Beyond the limit they are refused, except those of the system (administrators, nodes,
//! the control plane), which have as many places again: whoever could mend an overload must get
//! through. Requests that last as long as their clients like, and probes, are not counted.
//!
//! A request takes its place once all of its body has come (`admission.rs`), and keeps it until the
//! last byte of the answer was taken. A client that takes nothing for
//! [`STALLED`] loses its place to who needs it, though not its answer: what that costs is bounded
//! by the connection, and it must not keep others out.

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

/// How long a client may take nothing of its answer before its place is given to another.
const STALLED: Duration = Duration::from_secs(1);
/// Users and groups of the system, beside the masters.
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

/// The limits of a server.
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

    /// A place for a request of a user; none if there is no room.
    pub(crate) fn admit(&self, user: &User, labels: &RequestLabels) -> Option<Seat> {
        self.pool(labels).take(is_system(user))
    }

    /// Whether there is a place at this moment: who has none to hope for need not send its body.
    pub(crate) fn has_room(&self, user: &User, labels: &RequestLabels) -> bool {
        let pool = self.pool(labels);
        pool.has_room(&mut pool.taken.lock(), is_system(user))
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
    /// None: no limit.
    max: Option<usize>,
    began: Instant,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    seats: usize,
    /// Of those places the ones whose answers are being sent, by number, with the time at which the
    /// client took something last.
    sending: BTreeMap<u64, Arc<AtomicU64>>,
    next: u64,
}

impl SeatPool {
    /// 0 is no limit, as upstream.
    fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max: (max > 0).then_some(max),
            began: Instant::now(),
            taken: Mutex::default(),
        })
    }

    fn take(self: &Arc<Self>, system: bool) -> Option<Seat> {
        let mut taken = self.taken.lock();
        if !self.has_room(&mut taken, system) {
            return None;
        }
        taken.seats += 1;
        drop(taken);
        Some(Seat {
            pool: Arc::clone(self),
            sending: None,
        })
    }

    fn has_room(&self, taken: &mut Taken, system: bool) -> bool {
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

impl Taken {
    /// Frees the places of clients that do not take their answers.
    fn reclaim_stalled(&mut self, now: u64) {
        let stalled = u64::try_from(STALLED.as_millis()).unwrap_or(u64::MAX);
        let before = self.sending.len();
        self.sending
            .retain(|_, last| now.saturating_sub(last.load(Ordering::Relaxed)) < stalled);
        self.seats -= before - self.sending.len();
    }
}

/// One of the requests that are answered at a time. Dropped, it is free again.
#[derive(Debug)]
pub(crate) struct Seat {
    pool: Arc<SeatPool>,
    /// Once the answer is being sent.
    sending: Option<(u64, Arc<AtomicU64>)>,
}

impl Seat {
    /// The answer is made; from here on its client decides how long it takes.
    pub(crate) fn sending(&mut self) {
        let last = Arc::new(AtomicU64::new(self.pool.millis()));
        let mut taken = self.pool.taken.lock();
        let number = taken.next;
        taken.next += 1;
        taken.sending.insert(number, Arc::clone(&last));
        self.sending = Some((number, last));
    }

    /// The client took something.
    pub(crate) fn took(&self) {
        if let Some((_, last)) = &self.sending {
            last.store(self.pool.millis(), Ordering::Relaxed);
        }
    }
}

impl Drop for Seat {
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
        let others: Vec<Seat> = (0..2).filter_map(|_| pool.take(false)).collect();
        assert_eq!(others.len(), 2);
        assert!(pool.take(false).is_none());
        let system: Vec<Seat> = std::iter::from_fn(|| pool.take(true)).collect();
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
    async fn a_client_that_takes_nothing_loses_its_place_once_another_needs_it() {
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
        let all: Vec<Seat> = (0..1_000).filter_map(|_| pool.take(false)).collect();
        assert_eq!(all.len(), 1_000);
    }
}
