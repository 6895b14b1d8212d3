//! Shared leases.

use crate::etcd::{Etcd, Release};
use kubist_storage::{Expected, KvWrite, LeaseError, PutRequest, WriteError};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn objects_that_live_as_long_share_a_lease() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let kv = etcd.kv();
    let first = kv.grant(HOUR).await.unwrap();
    assert_eq!(kv.grant(HOUR).await.unwrap(), first);
    let shorter = kv.grant(HOUR / 2).await.unwrap();
    assert_ne!(shorter, first, "it would outlive its time by far");
    let short = Duration::from_secs(5);
    let (one, other) = (
        kv.grant(short).await.unwrap(),
        kv.grant(short).await.unwrap(),
    );
    assert_ne!(one, other, "five seconds leave no room");
}

#[tokio::test]
async fn a_lease_that_is_gone_is_not_handed_out_again() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let (kv, other) = (etcd.kv(), etcd.kv());
    let gone = kv.grant(HOUR).await.unwrap();
    other.revoke(gone).await.unwrap();
    let put = || PutRequest::new("/a", "1", Expected::Any);
    let result = kv.put(put().lease(gone)).await;
    assert!(matches!(result, Err(WriteError::LeaseNotFound { lease }) if lease == gone));
    let next = kv.grant(HOUR).await.unwrap();
    assert_ne!(next, gone);
    kv.put(put().lease(next)).await.unwrap();
}

#[tokio::test]
async fn a_life_longer_than_etcd_allows_is_refused() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let result = etcd.kv().grant(Duration::from_secs(9_000_000_001)).await;
    assert!(matches!(result, Err(LeaseError::TtlOutOfRange { .. })));
}
