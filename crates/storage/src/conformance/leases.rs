//! Checks of leases.

use super::{Subject, events};
use crate::{EventKind, Expected, LeaseError, LeaseId, PutRequest, Revision, WriteError};
use std::time::Duration;
use tokio::time::sleep;

/// A short lifetime. Engines may round it up to a second or two.
const TTL: Duration = Duration::from_secs(2);
/// Long enough for a lease of `TTL` to expire on any engine.
const LONG_ENOUGH: Duration = Duration::from_secs(8);
/// Longer than a check runs.
const LONG_TTL: Duration = Duration::from_secs(3600);

async fn put_under(subject: &Subject, name: &str, lease: LeaseId) -> Revision {
    let request = PutRequest::new(subject.key(name), "leased", Expected::Any).lease(lease);
    subject
        .kv()
        .put(request)
        .await
        .expect("a put works")
        .committed()
        .expect("no condition")
}

async fn grant(subject: &Subject, ttl: Duration) -> LeaseId {
    subject.kv().grant(ttl).await.expect("a lease is granted")
}

/// The keys of an expired lease are deleted, with ordinary delete events.
pub async fn expiry_is_an_ordinary_delete_event(subject: &Subject) {
    let lease = grant(subject, TTL).await;
    put_under(subject, "a", lease).await;
    put_under(subject, "b", lease).await;
    let put = subject.put("stays", "1").await;
    let kv = subject
        .kv()
        .get(&subject.key("a"), None)
        .await
        .expect("a get works")
        .kv;
    assert_eq!(kv.expect("it exists").lease, Some(lease));
    let mut watch = subject.watch_from(put.next()).await;
    sleep(LONG_ENOUGH).await;
    let events = events(&mut watch, 2).await;
    assert!(
        events
            .iter()
            .all(|event| event.kind == EventKind::Delete && event.revision > put)
    );
    assert!(
        events
            .iter()
            .all(|event| event.previous.as_ref().expect("asked").value == "leased")
    );
    assert_eq!(subject.names(&subject.list(None, None).await), ["stays"]);
}

/// An update without a lease detaches the key from its lease.
pub async fn put_without_a_lease_outlives_the_old_one(subject: &Subject) {
    let lease = grant(subject, TTL).await;
    put_under(subject, "a", lease).await;
    let put = subject.put("a", "free").await;
    sleep(LONG_ENOUGH).await;
    assert_eq!(subject.value("a", None).await.expect("it stays"), "free");
    assert_eq!(subject.revision().await, put);
}

/// The newest put determines the lease of a key.
pub async fn put_under_another_lease_outlives_the_first(subject: &Subject) {
    let (short, long) = (grant(subject, TTL).await, grant(subject, LONG_TTL).await);
    put_under(subject, "a", short).await;
    put_under(subject, "a", long).await;
    sleep(LONG_ENOUGH).await;
    assert!(subject.value("a", None).await.is_some());
    subject.kv().revoke(long).await.expect("it is alive");
    assert_eq!(subject.value("a", None).await, None);
}

/// A key that was deleted and written again is not affected by its old lease.
pub async fn deleted_key_is_not_deleted_again_by_its_lease(subject: &Subject) {
    let lease = grant(subject, TTL).await;
    put_under(subject, "a", lease).await;
    subject.delete("a").await;
    let again = subject.put("a", "again").await;
    sleep(LONG_ENOUGH).await;
    assert_eq!(subject.value("a", None).await.expect("it stays"), "again");
    assert_eq!(subject.revision().await, again);
}

/// Only granted, active leases can be used.
pub async fn put_under_an_unknown_lease_is_refused(subject: &Subject) {
    let lease = grant(subject, TTL).await;
    sleep(LONG_ENOUGH).await;
    let before = subject.revision().await;
    let request = PutRequest::new(subject.key("a"), "1", Expected::Any).lease(lease);
    let result = subject.kv().put(request).await;
    assert!(
        matches!(result, Err(WriteError::LeaseNotFound { .. })),
        "{result:?}"
    );
    assert_eq!(subject.revision().await, before);
}

/// Revoking expires at once.
pub async fn revoking_deletes_at_once_and_only_once(subject: &Subject) {
    let lease = grant(subject, LONG_TTL).await;
    put_under(subject, "a", lease).await;
    subject.kv().revoke(lease).await.expect("it is alive");
    assert_eq!(subject.value("a", None).await, None);
    let again = subject.kv().revoke(lease).await;
    assert!(
        matches!(again, Err(LeaseError::NotFound { .. })),
        "{again:?}"
    );
}

/// A lease must have a lifetime.
pub async fn ttl_of_zero_is_refused(subject: &Subject) {
    let result = subject.kv().grant(Duration::ZERO).await;
    assert!(
        matches!(result, Err(LeaseError::TtlOutOfRange { .. })),
        "{result:?}"
    );
}
