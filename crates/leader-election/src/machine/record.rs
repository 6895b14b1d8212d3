//! The record of an election in a lease: what each write makes of it.

use super::Candidate;
use kubist_api::coordination::v1::{Lease, LeaseSpec};
use kubist_apimachinery::{MicroTime, Str};

/// What distinguishes the writes of one term from all others.
#[derive(Debug, PartialEq)]
pub(super) struct Claim {
    holder: Option<Str>,
    transitions: i32,
    acquire_time: Option<MicroTime>,
}

impl Claim {
    pub(super) fn of(lease: &Lease) -> Self {
        Self {
            holder: lease.spec.holder_identity.clone(),
            transitions: transitions(lease),
            acquire_time: lease.spec.acquire_time,
        }
    }

    /// Reports whether this claim, or a renewal of it, made the record.
    pub(super) fn made(&self, lease: &Lease) -> bool {
        *self == Self::of(lease)
    }
}

/// Returns the holder, if there is one.
pub(super) fn holder(lease: &Lease) -> Option<&str> {
    let holder = lease.spec.holder_identity.as_deref();
    holder.filter(|it| !it.is_empty())
}

pub(super) fn transitions(lease: &Lease) -> i32 {
    lease.spec.lease_transitions.unwrap_or_default()
}

/// The first lease; or one after a lease that was deleted, whose count goes on.
pub(super) fn created(candidate: &Candidate, before: Option<&Lease>, time: MicroTime) -> Lease {
    let mut lease = Lease::default();
    hold(candidate, &mut lease, time);
    lease.spec.acquire_time = Some(time);
    let transitions = before.map_or(0, |it| transitions(it).saturating_add(1));
    lease.spec.lease_transitions = Some(transitions);
    lease
}

/// The lease of the present term, which was deleted.
pub(super) fn created_again(candidate: &Candidate, known: &Lease, time: MicroTime) -> Lease {
    let mut lease = Lease {
        spec: known.spec.clone(),
        ..Lease::default()
    };
    hold(candidate, &mut lease, time);
    lease
}

/// A new term. It counts as a transition also if the holder remains the same, so that no two terms
/// have one number.
pub(super) fn acquired(candidate: &Candidate, known: &Lease, time: MicroTime) -> Lease {
    let mut lease = known.clone();
    hold(candidate, &mut lease, time);
    lease.spec.acquire_time = Some(time);
    lease.spec.lease_transitions = Some(transitions(known).saturating_add(1));
    lease
}

/// The same term for longer: its beginning and its number remain.
pub(super) fn renewed(candidate: &Candidate, known: &Lease, time: MicroTime) -> Lease {
    let mut lease = known.clone();
    hold(candidate, &mut lease, time);
    lease
}

fn hold(candidate: &Candidate, lease: &mut Lease, time: MicroTime) {
    lease.spec.holder_identity = Some(candidate.identity.clone());
    lease.spec.lease_duration_seconds = Some(candidate.timing.lease_seconds());
    lease.spec.renew_time = Some(time);
    let labels = candidate.labels.clone();
    lease.metadata.labels.extend(labels);
}

/// Nobody's lease, for one second, as client-go writes it.
pub(super) fn released(known: &Lease, time: MicroTime) -> Lease {
    let mut lease = known.clone();
    lease.spec = LeaseSpec {
        holder_identity: Some(Str::default()),
        lease_duration_seconds: Some(1),
        acquire_time: Some(time),
        renew_time: Some(time),
        ..lease.spec
    };
    lease
}
