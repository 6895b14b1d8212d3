//! Compaction by several API servers on one cluster.

use crate::etcd::{Etcd, Release};
use kubist_storage::{Expected, KvMaintenance, KvRead, KvWrite, PutRequest, ReadError, Revision};
use kubist_storage_etcd::{Config, EtcdKv};
use std::time::Duration;
use tokio::time::{sleep, timeout};

const EVERY: Duration = Duration::from_millis(200);
const PATIENCE: Duration = Duration::from_secs(20);

fn engine(etcd: &Etcd) -> EtcdKv {
    let config = Config {
        compact_every: Some(EVERY),
        ..Config::new([etcd.url()])
    };
    EtcdKv::new(config).unwrap()
}

async fn put(kv: &EtcdKv) -> Revision {
    let outcome = kv.put(PutRequest::new("/a", "1", Expected::Any)).await;
    outcome.unwrap().committed().unwrap()
}

/// Both compact in turns, both learn the compacted revision, and neither fails.
#[tokio::test]
async fn several_engines_give_up_old_history_together() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let (one, other) = (engine(&etcd), engine(&etcd));
    let first = put(&one).await;
    put(&one).await;
    let compacted = async {
        while one.compacted() <= first || other.compacted() <= first {
            put(&one).await;
            sleep(EVERY / 4).await;
        }
    };
    tokio::select! {
        () = one.run() => panic!("it runs until the store is closed"),
        () = other.run() => panic!("it runs until the store is closed"),
        done = timeout(PATIENCE, compacted) => done.unwrap(),
    }
    let result = one.get(b"/a", Some(first)).await;
    assert!(
        matches!(result, Err(ReadError::Compacted { .. })),
        "{result:?}"
    );
    let key = one.get(b"compact_rev_key", None).await.unwrap().kv;
    assert!(key.is_some(), "upstream's servers take part");
}

#[tokio::test]
async fn a_closed_engine_ends_what_runs_and_refuses_the_rest() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let kv = engine(&etcd);
    let closed = async {
        put(&kv).await;
        kv.close();
    };
    timeout(PATIENCE, async { tokio::join!(kv.run(), closed) })
        .await
        .unwrap();
    let result = kv.get(b"/a", None).await;
    assert!(matches!(result, Err(ReadError::Closed)), "{result:?}");
}
