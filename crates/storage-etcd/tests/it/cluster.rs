//! A cluster of three members, of which one is killed and restarted.

use crate::etcd::{Etcd, Release};
use kubist_storage::WriteError;
use kubist_storage::conformance::clients::Race;
use kubist_storage::conformance::history::is_linearizable;
use kubist_storage::{Expected, FaultKind, KeyRange, Kv, PutRequest, Revision, WatchRangeRequest};
use kubist_storage::{KvRead, KvWatch, KvWrite};
use kubist_storage_etcd::{Config, EtcdKv};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(90);

/// An engine that starts with the member at `at`.
fn engine(members: &[Etcd], at: usize) -> EtcdKv {
    let mut servers: Vec<_> = members.iter().map(Etcd::url).collect();
    servers.rotate_left(at);
    EtcdKv::new(Config::new(servers)).unwrap()
}

/// Kills and restarts each member in turn, including the leader.
async fn trouble(members: &mut [Etcd]) {
    for member in members {
        sleep(Duration::from_millis(700)).await;
        member.kill();
        sleep(Duration::from_millis(1500)).await;
        assert!(member.run().await);
    }
    sleep(Duration::from_millis(700)).await;
}

#[tokio::test]
async fn a_watch_loses_nothing_while_each_member_in_turn_is_away() {
    let Some(mut members) = Etcd::start_cluster(Release::Current, 3).await else {
        return;
    };
    let (writer, watcher) = (engine(&members, 1), engine(&members, 0));
    let first = writer.revision().await.unwrap().next();
    let request = WatchRangeRequest::new(KeyRange::prefix("/w/")).from(first);
    let mut watch = watcher.watch(request).await.unwrap();
    let (mut done, mut unknown) = (Vec::new(), 0);
    let written = AtomicUsize::new(0);
    let writing = async {
        for at in 0.. {
            let put = PutRequest::new(format!("/w/{at}"), "1", Expected::Absent);
            match writer.put(put).await {
                Ok(outcome) => done.push(outcome.committed().unwrap()),
                Err(WriteError::Fault(fault)) if fault.kind() == FaultKind::Timeout => unknown += 1,
                Err(error) => panic!("{error:?}"),
            }
            written.store(done.len(), Ordering::Relaxed);
            sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        () = writing => {}
        () = async {
            trouble(&mut members).await;
            // A machine that is busy takes longer.
            while written.load(Ordering::Relaxed) <= 100 {
                sleep(Duration::from_millis(50)).await;
            }
        } => {}
    }
    let head = watcher.revision().await.unwrap();
    let mut seen: Vec<Revision> = Vec::new();
    while seen.last().is_none_or(|last| *last < head) {
        let batch = timeout(PATIENCE, watch.next()).await.unwrap().unwrap();
        seen.extend(batch.unwrap().events.iter().map(|event| event.revision));
    }
    let mut pairs = seen.windows(2);
    assert!(pairs.all(|it| it[1] == it[0].next()), "in order: {seen:?}");
    assert_eq!(seen.first(), Some(&first), "from the first on");
    assert!(done.iter().all(|it| seen.binary_search(it).is_ok()));
    // The last write may have completed after the revision was read.
    let under_way = 1;
    assert!(
        seen.len() <= done.len() + unknown + under_way,
        "nothing was written twice"
    );
}

#[tokio::test]
async fn histories_are_linearizable_while_each_member_in_turn_is_away() {
    let Some(mut members) = Etcd::start_cluster(Release::Current, 3).await else {
        return;
    };
    let handles: Vec<Arc<dyn Kv>> = (0..4)
        .map(|at| Arc::new(engine(&members, at % 3)) as Arc<dyn Kv>)
        .collect();
    let races = async {
        for seed in 0.. {
            let race = Race {
                key: format!("/race/{seed}").into(),
                calls: 16,
                seed,
            };
            let calls = race.run(&handles).await;
            assert!(is_linearizable(&calls), "seed {seed}: {calls:#?}");
        }
    };
    tokio::select! {
        () = races => {}
        () = trouble(&mut members) => {}
    }
}

/// Two of three are gone, so there is no leader.
#[tokio::test]
async fn without_a_leader_reads_and_writes_fail_in_time_and_watches_end() {
    let Some(mut members) = Etcd::start_cluster(Release::Current, 3).await else {
        return;
    };
    let config = Config {
        request_timeout: Duration::from_secs(4),
        resume_timeout: Duration::from_secs(4),
        ..Config::new([members[0].url()])
    };
    let kv = EtcdKv::new(config).unwrap();
    let mut watch = kv
        .watch(WatchRangeRequest::new(KeyRange::all()))
        .await
        .unwrap();
    members[1].kill();
    members[2].kill();
    let put = kv.put(PutRequest::new("/a", "1", Expected::Absent)).await;
    let Err(WriteError::Fault(fault)) = put else {
        panic!("{put:?}");
    };
    assert!(fault.is_transient(), "{fault:?}");
    assert!(kv.revision().await.is_err());
    let end = timeout(PATIENCE, watch.next()).await.unwrap().unwrap();
    assert!(
        end.is_err(),
        "a watch without a leader is not left silent: {end:?}"
    );
}
