//! An informer that is dropped at any point leaves nothing that waits, and the next one converges.

use crate::cluster::{Cluster, pod};
use crate::handlers::Log;
use kubist_api::core::v1::Pod;
use kubist_cache::{FetchError, Selection, Source as _};
use kubist_informers::{
    HandlerState, InformerConfig, InformerState, QueueKind, SharedInformer, SyncError,
};
use std::task::Poll;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

on_both_queues! {
    an_informer_dropped_after_any_poll_ends_all_waits_and_the_next_one_converges
}

fn informer(cluster: &Cluster, queue: QueueKind) -> SharedInformer<Pod> {
    let config = InformerConfig {
        queue,
        seed: Some(1),
        ..InformerConfig::default()
    };
    SharedInformer::new(cluster.lister_watcher(&Selection::all()), config)
}

/// Changes something at each poll.
fn disturb(cluster: &Cluster, poll: usize) {
    match poll % 7 {
        0 => cluster.put(pod("a")),
        1 => cluster.put(pod("b")),
        2 => cluster.delete("b"),
        3 => cluster.cut(None),
        4 => cluster.cut(Some(FetchError::Expired {
            message: "old".into(),
        })),
        5 => cluster.serve(poll.is_multiple_of(2)),
        _ => cluster.serve(true),
    }
}

async fn an_informer_dropped_after_any_poll_ends_all_waits_and_the_next_one_converges(
    queue: QueueKind,
) {
    for polls in 0..100 {
        let cluster = Cluster::with(&["a"]);
        let dropped = informer(&cluster, queue);
        let log = Log::default();
        let registration = dropped.add_handler(log.handler());
        let lister = dropped.lister_unsynced();
        {
            let mut run = std::pin::pin!(dropped.run(CancellationToken::new()));
            for poll in 0..polls {
                std::future::poll_fn(|cx| {
                    assert!(run.as_mut().poll(cx).is_pending());
                    Poll::Ready(())
                })
                .await;
                disturb(&cluster, poll);
                tokio::time::sleep(Duration::from_millis(700)).await;
            }
        }
        if polls > 0 {
            assert_eq!(dropped.state(), InformerState::Stopped);
            assert_eq!(registration.ended().await, HandlerState::Stopped);
            registration.remove_and_wait().await;
            assert!(matches!(
                dropped.synced().await,
                Err(SyncError::Stopped { .. })
            ));
            let mut never = pod("never");
            never.metadata.resource_version = "1000".into();
            let written = kubist_cache::Written::saved(&never);
            let waited = lister
                .wait_for(&written, std::future::pending::<()>())
                .await;
            assert!(waited.is_err());
        }
        cluster.serve(true);
        let next = informer(&cluster, queue);
        let token = CancellationToken::new();
        let child = token.clone();
        tokio::join!(async { next.run(child).await.expect("once") }, async {
            let lister = next.synced().await.expect("it runs");
            assert_eq!(lister.list().len(), cluster.pods().len(), "{polls}");
            token.cancel();
        });
    }
}
