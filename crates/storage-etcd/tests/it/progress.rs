//! Progress requests: sent to an etcd that responds correctly, and not to another.

use crate::etcd::{Etcd, Release};
use kubist_storage::{Expected, KeyRange, KvRead, KvWatch, KvWrite, PutRequest, WatchRangeRequest};
use std::time::Duration;
use tokio::time::timeout;

/// Time limit for a progress notification.
const PATIENCE: Duration = Duration::from_secs(10);

/// Requests progress from an idle watch, until it responds or `PATIENCE` is over.
async fn progress_comes(etcd: &Etcd, patience: Duration) -> bool {
    let kv = etcd.kv();
    let put = |key: &'static str| kv.put(PutRequest::new(key, "1", Expected::Any));
    let quiet = WatchRangeRequest::new(KeyRange::prefix("/quiet/"));
    let mut watch = kv.watch(quiet).await.unwrap();
    let written = put("/loud/a").await.unwrap().committed().unwrap();
    let answered = async {
        loop {
            watch.request_progress();
            let batch = timeout(Duration::from_millis(100), watch.next()).await;
            if let Ok(Some(Ok(batch))) = batch {
                assert!(batch.is_progress());
                if batch.revision >= written {
                    return;
                }
            }
        }
    };
    timeout(patience, answered).await.is_ok()
}

#[tokio::test]
async fn an_etcd_that_answers_rightly_is_asked_for_progress() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let kv = etcd.kv();
    assert!(!kv.supports_progress_requests(), "nothing is known yet");
    drop(
        kv.watch(WatchRangeRequest::new(KeyRange::all()))
            .await
            .unwrap(),
    );
    assert!(kv.supports_progress_requests());
    assert!(progress_comes(&etcd, PATIENCE).await);
}

#[tokio::test]
async fn an_etcd_whose_answers_may_be_wrong_is_never_asked_for_progress() {
    let Some(etcd) = Etcd::start(Release::Packaged).await else {
        return;
    };
    let kv = etcd.kv();
    drop(
        kv.watch(WatchRangeRequest::new(KeyRange::all()))
            .await
            .unwrap(),
    );
    assert!(
        !kv.supports_progress_requests(),
        "the version is known, and too old"
    );
    assert!(!progress_comes(&etcd, Duration::from_secs(2)).await);
    // Consistent reads work everywhere.
    let written = kv.put(PutRequest::new("/a", "1", Expected::Absent)).await;
    let written = written.unwrap().committed().unwrap();
    assert!(kv.revision().await.unwrap() >= written);
}

#[tokio::test]
async fn what_runs_beside_the_engine_finds_the_version_without_a_watch() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let kv = etcd.kv();
    let known = async {
        while !kv.supports_progress_requests() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        () = kv.run() => panic!("it runs until the store is closed"),
        known = timeout(PATIENCE, known) => known.unwrap(),
    }
}
