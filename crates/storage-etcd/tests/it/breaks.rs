//! Watches and writes across broken connections and restarts of etcd.

use crate::etcd::{Etcd, Release};
use crate::faults::impatient;
use kubist_storage::{
    Expected, FaultKind, KeyRange, KvMaintenance, KvRead, KvWatch, KvWrite, PutRequest, Revision,
    Watch, WatchError,
};
use kubist_storage::{WatchRangeRequest, WriteError};
use kubist_storage_etcd::{Config, EtcdKv};
use kubist_test_support::FaultProxy;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(60);

async fn put(kv: &EtcdKv, at: usize) -> Result<Revision, WriteError> {
    let put = PutRequest::new(format!("/w/{at}"), at.to_string(), Expected::Any);
    Ok(kv.put(put).await?.committed().unwrap())
}

/// As `put`, again after a timeout: a write on a connection that breaks may have been done or not,
/// so the engine does not repeat it.
async fn put_until_known(kv: &EtcdKv, at: usize) -> Revision {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match put(kv, at).await {
            Ok(revision) => return revision,
            Err(WriteError::Fault(fault))
                if fault.kind() == FaultKind::Timeout && Instant::now() < deadline => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Reads until `last`, and checks that no revision is missing.
async fn follow(mut watch: Watch, first: Revision, last: Revision) {
    let mut next = first;
    while next <= last {
        let batch = timeout(PATIENCE, watch.next()).await.unwrap().unwrap();
        for event in batch.unwrap().events {
            assert_eq!(event.revision, next, "nothing is lost, nothing comes twice");
            next = next.next();
        }
    }
}

#[tokio::test]
async fn a_watch_whose_connection_is_cut_continues_where_it_was() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let proxy = FaultProxy::start(etcd.address()).unwrap();
    let watcher = EtcdKv::new(Config::new([proxy.url("http")])).unwrap();
    let writer = etcd.kv();
    let first = writer.revision().await.unwrap().next();
    let all = WatchRangeRequest::new(KeyRange::prefix("/w/")).from(first);
    let watch = watcher.watch(all).await.unwrap();
    let writing = async {
        let mut last = first;
        for at in 0..600 {
            last = put(&writer, at).await.unwrap();
            if at % 60 == 30 {
                proxy.cut();
            }
        }
        last
    };
    let last = Revision(first.0 + 599);
    let (written, ()) = tokio::join!(writing, follow(watch, first, last));
    assert_eq!(written, last);
}

#[tokio::test]
async fn everything_continues_after_a_restart_of_etcd() {
    let Some(mut etcd) = Etcd::start(Release::Packaged).await else {
        return;
    };
    let kv = etcd.kv();
    let first = put(&kv, 0).await.unwrap();
    let request = WatchRangeRequest::new(KeyRange::prefix("/w/")).from(first);
    let watch = kv.watch(request).await.unwrap();
    for at in 1..20 {
        put(&kv, at).await.unwrap();
    }
    etcd.kill();
    let reading = async { kv.revision().await };
    let restarting = async {
        sleep(Duration::from_millis(500)).await;
        assert!(etcd.run().await);
    };
    let (read, ()) = tokio::join!(reading, restarting);
    assert_eq!(read.unwrap(), Revision(first.0 + 19), "the read waits");
    let mut last = first;
    for at in 20..40 {
        last = put_until_known(&kv, at).await;
    }
    follow(watch, first, last).await;
}

#[tokio::test]
async fn a_watch_that_nobody_takes_up_ends_with_a_fault_and_then_nothing() {
    let Some(mut etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let kv = EtcdKv::new(impatient(etcd.url())).unwrap();
    let request = WatchRangeRequest::new(KeyRange::all());
    let mut watch = kv.watch(request).await.unwrap();
    etcd.kill();
    let end = timeout(PATIENCE, watch.next()).await.unwrap().unwrap();
    let Err(WatchError::Fault(fault)) = end else {
        panic!("{end:?}");
    };
    assert!(fault.is_transient(), "{fault:?}");
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn a_watch_that_missed_what_was_compacted_says_so() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let proxy = FaultProxy::start(etcd.address()).unwrap();
    let (kv, direct) = (
        EtcdKv::new(Config::new([proxy.url("http")])).unwrap(),
        etcd.kv(),
    );
    let mut watch = kv
        .watch(WatchRangeRequest::new(KeyRange::all()))
        .await
        .unwrap();
    let mut last = Revision::ZERO;
    proxy.hold();
    for at in 0..10 {
        last = put(&direct, at).await.unwrap();
    }
    direct.compact(last).await.unwrap();
    proxy.cut();
    sleep(Duration::from_millis(200)).await;
    proxy.open();
    let end = timeout(PATIENCE, watch.next()).await.unwrap().unwrap();
    let Err(WatchError::Compacted { compacted, .. }) = end else {
        panic!("{end:?}");
    };
    assert_eq!((compacted, kv.compacted()), (last, last));
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_is_not_made_again() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let proxy = FaultProxy::start(etcd.address()).unwrap();
    let (kv, direct) = (
        EtcdKv::new(Config::new([proxy.url("http")])).unwrap(),
        etcd.kv(),
    );
    let before = kv.revision().await.unwrap();
    proxy.hold();
    let cutting = async {
        sleep(Duration::from_millis(300)).await;
        proxy.cut();
    };
    let (result, ()) = tokio::join!(put(&kv, 1), cutting);
    let Err(WriteError::Fault(fault)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(fault.kind(), FaultKind::Timeout, "it may have happened");
    assert!(direct.revision().await.unwrap() <= before.next());
}
